"""The index of the words in messages; ``inbox/queries/wordindex.py`` asks it.

Messages never change, so SQLite's needs one trigger. SQLite drops a table's triggers whenever a later migration makes
the table anew: one that alters ``Message`` has to run this trigger's statement again (the tests of the index say so).
"""

import unicodedata
from collections import defaultdict

from django.db import migrations

# The tokenizer knows the signs of 2012, and takes younger ones for letters of the word they stand at.
SIGNS = "".join(map(chr, [*range(0x1F000, 0x1FB00), *range(0xFE00, 0xFE10)]))
SQLITE = (
    # Its own copy of the text would double the database; where a word stands is needed for phrases, the lengths of
    # the texts for nothing.
    f"""CREATE VIRTUAL TABLE inbox_words USING fts5(
        subject, body, content='inbox_message', content_rowid='seq', columnsize=0,
        tokenize="unicode61 remove_diacritics 2 categories 'L* Mn Mc Nd Nl' separators '{SIGNS}'"
    )""",
    """CREATE TRIGGER inbox_message_words AFTER INSERT ON inbox_message BEGIN
        INSERT INTO inbox_words (rowid, subject, body) VALUES (new.seq, new.subject, new.body);
    END""",
    "INSERT INTO inbox_words (inbox_words) VALUES ('rebuild')",
)

# What PostgreSQL's parser makes of punctuation it makes in its own way: addresses, paths, hyphenated words, tags. Some
# of that takes time in the square of the text (256 kB of "<!--" take 40 s) or more room than an entry may have. So it
# gets words and spaces only, without the marks that stand beside their letters. Its normalize() would take the others
# off, but needs 90 s for 256 kB of marks: each Latin letter loses its own, in texts that have any.
TEXT = r"regexp_replace(subject || ' ' || body, '[\u0300-\u036f]+', '', 'g')"
TEXT = rf"regexp_replace({TEXT}, '[!-/:-@[-`{{-~\u2000-\u206f\u20d0-\u20ff\ufe00-\ufe0f]+', ' ', 'g')"


def unmarked(text: str) -> str:
    """The SQL of the SQL ``text`` with Latin letters without their marks."""
    marked = defaultdict(str)
    for char in map(chr, [*range(0xC0, 0x250), *range(0x1E00, 0x1F00)]):
        base, *marks = unicodedata.normalize("NFD", char)
        if marks and base.isascii():
            marked[base.lower()] += char
    for base, chars in marked.items():
        text = f"regexp_replace({text}, '[{chars}]', '{base}', 'g')"
    return text


WORDS = rf"""CASE WHEN subject || body ~ '[\u00c0-\u024f\u1e00-\u1eff]'
    THEN to_tsvector('simple', {unmarked(TEXT)}) ELSE to_tsvector('simple', {TEXT}) END"""
POSTGRESQL = (
    # Stored, since a frequent word is looked for along the messages, and parsing each of them anew takes far longer.
    f"ALTER TABLE inbox_message ADD COLUMN words tsvector GENERATED ALWAYS AS ({WORDS}) STORED",
    # What is new is gathered and indexed together, which halves what a send costs; in small heaps, since one send in
    # so many waits for it.
    "CREATE INDEX inbox_message_words ON inbox_message USING gin (words) WITH (gin_pending_list_limit = 256)",
)


def index(apps, schema_editor):
    for statement in SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
        schema_editor.execute(statement, params=None)


def drop(apps, schema_editor):
    """The way back: the messages stay as they are."""
    sqlite = ("DROP TRIGGER inbox_message_words", "DROP TABLE inbox_words")
    postgresql = ("ALTER TABLE inbox_message DROP COLUMN words",)  # and its index with it
    for statement in sqlite if schema_editor.connection.vendor == "sqlite" else postgresql:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("inbox", "0002_delivery_undone")]

    operations = [migrations.RunPython(index, drop)]
