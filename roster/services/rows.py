"""Writing many rows with one prepared statement: named columns only, never whole rows."""

from __future__ import annotations

from typing import Any

from django.db import connection, models

from roster.models import Agent


def update_rows(columns: tuple[str, ...], agents: list[Agent]) -> None:
    """Writes the named ``columns`` of ``agents``, and no other."""
    if not agents:
        return
    fields = [Agent._meta.get_field(name) for name in columns]
    assignments = ", ".join(f'"{each.column}" = %s' for each in fields)
    rows = [[*(_adapted(each, agent) for each in fields), agent.pk] for agent in sorted(agents, key=lambda a: a.pk)]
    with connection.cursor() as cursor:
        cursor.executemany(f'UPDATE "{Agent._meta.db_table}" SET {assignments} WHERE "id" = %s', rows)


def insert(rows: list[models.Model]) -> None:
    """Inserts ``rows`` of one model, with one statement however many there are; SQLite's ``bulk_create`` needs one for
    every hundred or so. A row whose key the database gives does not learn it."""
    if not rows:
        return
    model = type(rows[0])._meta
    fields = [each for each in model.concrete_fields if not isinstance(each, models.AutoField)]
    names, places = ", ".join(f'"{each.column}"' for each in fields), ", ".join("%s" for _ in fields)
    with connection.cursor() as cursor:
        cursor.executemany(
            f'INSERT INTO "{model.db_table}" ({names}) VALUES ({places})',
            [[_adapted(each, row) for each in fields] for row in rows],
        )


def _adapted(field: models.Field, row: models.Model) -> Any:
    return field.get_db_prep_save(getattr(row, field.attname), connection)
