"""What would make the hub fail later is said before it starts."""

import sqlite3
from datetime import timedelta
from types import SimpleNamespace

import pytest

from agora_web import checks
from agora_web.database import database
from agora_web.spans import days


@pytest.mark.parametrize("address", ["nonsense", "http://hub.example", "redis://:secret@127.0.0.1:port/0", ""])
def test_a_broker_address_that_nobody_can_read_is_refused_at_the_start_without_its_password(settings, address):
    settings.REDIS_URL = address
    (refusal,) = checks.the_broker_has_an_address(None)
    assert refusal.id == "agora.E004" and "secret" not in str(refusal)


@pytest.mark.parametrize(
    "address", ["redis://:secret@127.0.0.1:6379/0", "rediss://hub.example", "unix:///a%20b/v.sock"]
)
def test_one_that_can_be_read_is_not(settings, address):
    settings.REDIS_URL = address
    assert checks.the_broker_has_an_address(None) == []


@pytest.mark.parametrize("change", [{"CONN_MAX_AGE": 60}, {"CONN_MAX_AGE": None}, {"OPTIONS": {}}])
def test_connections_that_would_be_kept_are_refused_at_the_start_F094(monkeypatch, change):
    ours = {**database("postgresql://agora@/hub"), "CONN_MAX_AGE": 0}
    monkeypatch.setattr(checks, "settings", SimpleNamespace(DATABASES={"default": ours}))
    assert checks.connections_are_not_kept(None) == []
    ours |= change
    (refusal,) = checks.connections_are_not_kept(None)
    assert refusal.id == "agora.E005"


def test_a_sqlite_without_full_text_is_refused_at_the_start_unless_it_is_not_used(monkeypatch):
    monkeypatch.setattr(checks, "settings", SimpleNamespace(DATABASES={"default": database("sqlite:///hub.sqlite3")}))
    assert checks.sqlite_has_full_text(None) == []

    class Lacking(sqlite3.Connection):
        def execute(self, statement):
            raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr(sqlite3, "connect", lambda name: Lacking(name))
    (refusal,) = checks.sqlite_has_full_text(None)
    assert refusal.id == "agora.E006"
    monkeypatch.setattr(checks, "settings", SimpleNamespace(DATABASES={"default": database("postgresql://agora@/hub")}))
    assert checks.sqlite_has_full_text(None) == []


@pytest.mark.parametrize("typed", ["", "a week", "-1", "nan", "inf", "1e9", "36501"])
def test_days_that_no_archive_can_wait_are_refused_at_the_start(settings, typed):
    settings.ARCHIVE_AFTER = days(typed)
    (refusal,) = checks.the_archive_has_its_days(None)
    assert refusal.id == "agora.E007"


@pytest.mark.parametrize(("typed", "hours"), [("30", 720), ("0.5", 12), ("0", 0), ("36500", 876_000)])
def test_days_that_one_can_are_not_fractions_and_none_included(settings, typed, hours):
    settings.ARCHIVE_AFTER = days(typed)
    assert settings.ARCHIVE_AFTER == timedelta(hours=hours) and checks.the_archive_has_its_days(None) == []
