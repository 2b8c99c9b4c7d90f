"""SQLite's log goes back into its file beside the heartbeats, so that none of them waits for it."""

from __future__ import annotations

import shutil
import sqlite3

import pytest
from django.db import connection, connections

from agora_web.database import write_back
from tests import make


def slugs_in_the_file_alone(folder) -> set[str]:
    """What a copy of the file without its log holds."""
    copy = folder / "copy.sqlite3"
    shutil.copy(connections.settings["default"]["TEST"]["NAME"], copy)
    return {slug for (slug,) in sqlite3.connect(copy).execute("SELECT slug FROM roster_agent")}


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL writes its log back itself")
def test_what_was_committed_reaches_the_file_with_the_pulse_and_not_in_a_commit(transactional_db, tmp_path):
    write_back()
    make.agent("echo")
    assert "echo" not in slugs_in_the_file_alone(tmp_path)
    write_back()
    assert "echo" in slugs_in_the_file_alone(tmp_path)
