"""Ids are listed, compared with cursors and merged in the order of their characters, in the database as in Python."""

from django.db import migrations

TABLES = ("agent", "node", "profile")


def order_by_bytes(apps, editor):
    if editor.connection.vendor != "postgresql":
        return  # SQLite compares bytes unless told otherwise; PostgreSQL's languages pass over '-', '.' and '_'
    for table in TABLES:
        editor.execute(f'ALTER TABLE roster_{table} ALTER COLUMN slug TYPE varchar(64) COLLATE "C"')


class Migration(migrations.Migration):
    dependencies = [("roster", "0001_initial")]
    operations = [migrations.RunPython(order_by_bytes, migrations.RunPython.noop)]
