"""Nobody is deleted (design rule 14), history is append-only, and the database itself holds what must hold (R227)."""

from datetime import timedelta
from functools import partial

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import IntegrityError, connection, transaction
from django.db.models import PROTECT, ProtectedError

from roster import access, beats, models
from roster.models import Agent, Anomaly, Event, Node, PresenceHour, Profile, Token
from roster.models.base import KeptModel, NothingIsDeleted
from roster.services import hours
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def one_of_each(now):
    make.agent("echo", now)
    make.node("alder", now)
    make.profile("echo", now)
    Anomaly.objects.create(kind="k", subject="s", opened_at=now)
    hours.count(timedelta(minutes=5), now)


KEPT = [Agent, Node, Profile, Token, Event, Anomaly, PresenceHour, models.Act, models.PresenceEdge]


@pytest.mark.parametrize("table", KEPT, ids=lambda table: table.__name__)
def test_a_row_can_be_deleted_neither_alone_nor_with_others(table, one_of_each):
    before = table.objects.count()
    for delete in (table.objects.first().delete, table.objects.all().delete, table.objects.filter(pk__gt=0).delete):
        with pytest.raises(NothingIsDeleted):
            delete()
    assert table.objects.count() == before > 0


def test_every_table_of_the_fleet_is_kept():
    """What may go is the hub's own pulse and used-up links; a new table must decide."""
    passing = {"Counter", "HubUptime", "SignInLink", "SweepRun"}
    kept = {name for name in models.__all__ if issubclass(getattr(models, name), KeptModel)}
    assert kept | passing == set(models.__all__) and not kept & passing


def test_the_admin_offers_no_delete():
    """Neither for one row nor in bulk, for whatever is registered."""
    for table, page in admin.site._registry.items():
        if table._meta.app_label in ("roster", "inbox") or table.__name__ == "User":
            assert page.has_delete_permission(None) is False, table


def test_a_person_with_an_agent_cannot_be_deleted_past_the_admin(now):
    user = make.person("mira")
    with pytest.raises(ProtectedError):
        user.delete()


def test_events_are_append_only(now):
    make.agent("echo", now)
    event = Event.objects.first()
    with pytest.raises(NothingIsDeleted):
        Event.objects.update(by="somebody else")
    event.by = "somebody else"
    with pytest.raises(NothingIsDeleted):
        event.save()
    assert not Event.objects.filter(by="somebody else").exists()


# ---- constraints in the database ------------------------------------------------------------------------------------


def refused(make_it) -> bool:
    try:
        with transaction.atomic():
            make_it()
    except IntegrityError:
        return True
    return False


def test_a_node_has_exactly_one_node_agent(now):
    node, _, _ = make.node("alder", now)
    assert refused(lambda: Agent.objects.create(slug="second", kind="node", home_node=node))
    assert refused(lambda: Agent.objects.create(slug="homeless", kind="node"))
    assert not refused(lambda: Agent.objects.create(slug="employee", home_node=node))


def test_an_id_is_unique(now):
    make.agent("echo", now)
    assert refused(lambda: Agent.objects.create(slug="echo"))
    make.profile("echo", now)
    assert refused(lambda: Profile.objects.create(slug="echo"))


def test_evidence_has_a_deadline(now):
    assert refused(lambda: Agent.objects.create(slug="odd", evidence_at=now))
    assert not refused(lambda: Agent.objects.create(slug="fine", evidence_at=now, deadline=now))


def test_an_anomaly_is_open_once_a_subject(now):
    """R10: a closed one makes room for the next."""
    Anomaly.objects.create(kind="k", subject="s", opened_at=now)
    assert refused(lambda: Anomaly.objects.create(kind="k", subject="s", opened_at=now))
    Anomaly.objects.update(closed_at=now)
    assert not refused(lambda: Anomaly.objects.create(kind="k", subject="s", opened_at=now))


def test_a_token_has_the_owner_that_its_kind_needs(now):
    agent, _ = make.agent("echo", now)
    node, _, _ = make.node("alder", now)
    owners = [{}, {"agent": agent}, {"node": node}, {"agent": agent, "node": node}]
    needed = {"agent": {"agent": agent}, "person": {"agent": agent}, "node": {"node": node}, "enrolment": {}}
    for kind in Token.KINDS:
        for i, owner in enumerate(owners):
            columns = {"prefix": f"{kind}{i}", "digest": f"{kind}{i}", "created_at": now, "created_by": "test"}
            made = not refused(partial(Token.objects.create, kind=kind, **columns, **owner))
            assert made == (owner == needed[kind]), (kind, owner)


def test_a_raw_token_is_stored_nowhere(now):
    """P58: only its prefix and digest; enough random bits that nobody guesses it."""
    _, raw = make.agent("echo", now)
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            assert raw not in str(cursor.fetchall())
    assert Token.objects.get().digest == access.digest(raw)
    assert len(raw.rpartition("_")[2]) >= 22 or len(raw) >= 43


def test_nothing_that_changes_with_every_beat_is_indexed():
    """performance.md: such an index would be written with each heartbeat."""
    indexed = {field.name for field in Agent._meta.fields if field.db_index or field.unique}
    indexed |= {name for index in Agent._meta.indexes for name in index.fields}
    assert not indexed & set(beats.QUIET)


def test_no_key_between_kept_rows_cascades_f084():
    """Django's own through tables apart, whose rows say nothing by themselves."""
    tables = [table for table in apps.get_models() if table._meta.app_label in ("roster", "inbox")]
    keys = [field for table in tables for field in table._meta.get_fields() if field.many_to_one and field.concrete]
    assert len(keys) > 20
    assert [str(key) for key in keys if key.remote_field.on_delete is not PROTECT] == []
