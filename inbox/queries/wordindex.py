"""The databases' own indexes of the words in messages: FTS5 in SQLite, a GIN index in PostgreSQL.

Migration 0003 makes them. They are asked for plain words only, and propose messages; ``phrases`` decides.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection

from inbox.phrases import Phrase

ASK = {
    "sqlite": "SELECT rowid FROM inbox_words WHERE inbox_words MATCH %s AND rowid < %s ORDER BY rowid DESC LIMIT %s",
    "postgresql": "SELECT seq FROM inbox_message WHERE words @@ to_tsquery('simple', %s) AND seq < %s"
    " ORDER BY seq DESC LIMIT %s",
}


def proposed(phrases: Iterable[Phrase], below: int, limit: int) -> list[int]:
    """The newest ``limit`` messages with numbers below ``below`` that may have all ``phrases``, whoever's they are."""
    expression = _fts5 if connection.vendor == "sqlite" else _tsquery
    with connection.cursor() as cursor:
        cursor.execute(ASK[connection.vendor], [expression(phrases), below, limit])
        return [seq for (seq,) in cursor.fetchall()]


def _fts5(phrases: Iterable[Phrase]) -> str:
    return " ".join(f'"{" ".join(phrase.words)}"' + " *" * phrase.begins for phrase in phrases)


def _tsquery(phrases: Iterable[Phrase]) -> str:
    """Without the order of the words: PostgreSQL counts no place beyond the 16,383rd word of a text."""
    return " & ".join(" & ".join(f"'{word}'" for word in phrase.words) + ":*" * phrase.begins for phrase in phrases)
