"""Hub downtime is nobody's fault (design rule 8): what had not passed when the hub went down gets a new window."""

import pytest
from django.db import OperationalError, connection

from agora_web.pulse import Pulse
from roster import glance, queries, states
from roster.models import Agent, Event, HubUptime
from roster.services import registry, uptime
from tests import make

from .fleet import TICK, Fleet, edges, hours, listed, many, minutes, seconds, shown, sweep_all, word

pytestmark = pytest.mark.django_db

MARK = 5  # seconds between two marks


def up(now, until) -> None:
    """The hub is up from ``now`` and marked last at ``until``."""
    uptime.begin(now, MARK)
    uptime.mark(until)


def forty(now) -> dict[str, list[str]]:
    """The scenario's fleet: 20 async, 10 ephemeral, 10 always-on."""
    return {
        "async": many(20, now, prefix="async"),
        "ephemeral": many(10, now, mode="ephemeral", prefix="short"),
        "always-on": many(10, now, mode="always-on", prefix="watcher"),
    }


@pytest.mark.core
def test_hub_downtime_is_nobodys_fault_F001(now):
    """40 agents heard a minute before t0; the hub is away for 2 h; the first sweep comes 5 s after its return, before
    any heartbeat: 0 edges, each deadline moved once, to one own limit after the return."""
    forty(now - minutes(1))
    up(now - minutes(1), now)
    back = now + hours(2)
    stretch = uptime.begin(back, MARK)
    assert sweep_all(back + seconds(5)) == 0
    assert (stretch.down_at, stretch.moved) == (now, 40)
    assert set(Agent.objects.values_list("deadline", flat=True)) == {back + hours(1)}
    assert len(listed(back + seconds(5), presence="live")) == 40
    assert sweep_all(back + hours(1)) == 0


def test_a_deadline_that_had_passed_before_is_not_moved_P01(now):
    """100 agents, 20 of them past their deadline when the hub went down: these stay as they were."""
    many(80, now)
    many(20, now - hours(3), prefix="gone")
    up(now - hours(3), now + minutes(1))
    before = dict(Agent.objects.filter(slug__startswith="gone").values_list("slug", "deadline"))
    back = now + hours(2)
    assert uptime.begin(back, MARK).moved == 80
    assert dict(Agent.objects.filter(slug__startswith="gone").values_list("slug", "deadline")) == before
    assert all(word(slug, back) == "dormant" for slug in before)
    for at in (back + seconds(5), back + minutes(30), back + hours(1)):
        sweep_all(at)
    told = set(Event.objects.filter(kind="presence").values_list("agent__slug", flat=True))
    assert told <= set(before) and len(edges()) in (0, 20)  # the guard may hold all of them, and never some
    assert not Agent.objects.filter(deadline__gt=back + hours(1)).exists()


def test_the_deadline_of_the_very_moment_of_the_last_mark_is_moved(now):
    """Exactly at the last mark it had not passed; a microsecond before it had."""
    many(1, now - hours(1), prefix="just")
    many(1, now - hours(1) - TICK, prefix="late")
    up(now - hours(2), now)
    assert uptime.begin(now + hours(2), MARK).moved == 1
    assert (word("just-00000", now + hours(2)), word("late-00000", now + hours(2))) == ("live", "dormant")


def test_each_agent_gets_its_own_limit(now):
    """One outage, four limits: interval and ttl each count for the modes that use them."""
    limits = [("async", 60, 3600), ("always-on", 600, 3600), ("ephemeral", 1800, 90), ("async", 1800, 5)]
    for i, (mode, interval, ttl) in enumerate(limits):
        many(2, now, mode=mode, interval=interval, ttl=ttl, prefix=f"kind{i}")
    up(now - minutes(1), now + seconds(1))
    back = now + hours(5)
    assert uptime.begin(back, MARK).moved == 8
    for i, limit in enumerate(limits):
        found = set(Agent.objects.filter(slug__startswith=f"kind{i}").values_list("deadline", flat=True))
        assert found == {back + states.window(*limit)}


def test_an_outage_is_credited_once_however_many_processes_start(now):
    """Four web processes begin one after the other, later ones long into the stretch: one outage, one event."""
    many(10, now)
    up(now, now + minutes(1))
    back = now + hours(2)
    stretches = [uptime.begin(back + seconds(i), MARK) for i in range(4)]
    assert len({each.pk for each in stretches}) == 1
    uptime.mark(back + minutes(10))
    assert uptime.begin(back + minutes(10), MARK).pk == stretches[0].pk
    assert set(Agent.objects.values_list("deadline", flat=True)) == {back + hours(1)}
    assert Event.objects.filter(kind="hub_started", at=back).count() == 1


def test_two_outages_in_a_row_are_two_credits_but_never_more_than_one_limit_each(now):
    many(5, now)
    up(now, now + minutes(1))
    for outage in (1, 2):
        back = now + hours(3 * outage)
        uptime.begin(back, MARK)
        uptime.mark(back + minutes(1))
        assert set(Agent.objects.values_list("deadline", flat=True)) == {back + hours(1)}
    assert sweep_all(back + hours(1)) == 0
    assert len(listed(back + hours(1) + TICK, presence="dormant")) == 5


def test_a_quick_restart_is_no_outage_F127(now):
    """100 healthy agents, the hub is back within three marks, 10 min of sweeps: nothing about anybody's presence, and
    no word about an outage."""
    fleet = Fleet(now)
    slugs = many(100, now)
    up(now, now + minutes(1))
    known = Event.objects.count()
    uptime.begin(now + minutes(1) + seconds(3 * MARK), MARK)
    for i in range(10):
        fleet.beat(slugs, now + minutes(2 + i))
        assert sweep_all(now + minutes(2 + i)) == 0
    assert Event.objects.count() == known
    assert queries.last_outage(now + minutes(12)) is None


def test_a_reboot_brings_one_entry_and_no_other_F127(now):
    """The same after an outage of an hour: 'hub started' is all there is to say."""
    fleet = Fleet(now)
    slugs = many(100, now)
    up(now, now + minutes(1))
    known = Event.objects.count()
    back = now + hours(1)
    uptime.begin(back, MARK)
    for i in range(10):
        sweep_all(back + minutes(i))
        fleet.beat(slugs, back + minutes(i))
    assert list(Event.objects.order_by("pk").values_list("kind", flat=True))[known:] == ["hub_started"]


def test_a_redeploy_flips_nobody_and_never_is_told_apart_from_once_F120(now):
    """Interval 6 h, a redeploy, a look a minute later: the last known word with its last_seen; who was never heard
    reads dormant with last_seen null."""
    many(3, now, interval=6 * 3600)
    make.profile("member", now, liveness_mode="async")
    up(now, now + hours(1))
    back = now + hours(2)
    uptime.begin(back, MARK)
    assert sweep_all(back + minutes(1)) == 0
    known, never = shown("agent-00000", back + minutes(1)), shown("member", back + minutes(1))
    assert (known["presence"], known["status"], known["last_seen"] is not None) == ("live", "idle", True)
    assert (never["presence"], never["last_seen"], never["presence_reason"]) == ("dormant", None, "never seen")


def test_a_backup_of_yesterday_brings_no_wave_of_edges_P51(now):
    """A database of 24 h ago is started again: 0 edges in the first interval; who does not come back is told then."""
    fleet = Fleet(now)
    slugs = many(50, now)
    up(now, now + seconds(30))
    back = now + hours(24)
    uptime.begin(back, MARK)
    for i in range(12):
        assert sweep_all(back + minutes(5 * i)) == 0
    fleet.beat(slugs[:48], back + minutes(55))
    assert sweep_all(back + minutes(61)) == 2


def test_who_was_dormant_before_stays_dormant(now):
    make.agent("analyst", now, liveness_mode="async")
    uptime.begin(now, MARK)
    sweep_all(now + hours(2))
    uptime.mark(now + hours(3))
    uptime.begin(now + hours(5), MARK)
    assert word("analyst", now + hours(5)) == "dormant"
    assert edges("analyst")[1:] == [("live", "dormant")]


def test_a_goodbye_before_the_outage_is_not_taken_back(now):
    make.agent("analyst", now, liveness_mode="async", status="dormant")
    up(now, now + minutes(1))
    uptime.begin(now + hours(5), MARK)
    assert shown("analyst", now + hours(5))["presence_reason"] == "signed off"


def test_a_heartbeat_after_the_return_opens_a_plain_window(now):
    _, token = make.agent("analyst", now, liveness_mode="async")
    up(now, now + minutes(1))
    back = now + hours(2)
    uptime.begin(back, MARK)
    make.beat(token, back + minutes(1))
    assert Agent.objects.get().deadline == back + minutes(61)


def test_broken_rows_do_not_stop_the_credit(now):
    """The rest gets its window although one interval is absurd."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL lets nobody write broken rows")
    slugs = many(3, now)
    up(now, now + minutes(1))
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        Agent.objects.filter(slug=slugs[0]).update(expected_interval=10**12)
        cursor.execute("PRAGMA ignore_check_constraints = OFF")
    assert uptime.begin(now + hours(2), MARK).moved == 2


def test_the_page_tells_of_the_outage_for_a_day(now):
    up(now, now + minutes(1))
    back = now + hours(2)
    uptime.begin(back, MARK)
    assert [each.key for each in glance.notices(back + minutes(1)) if each.key == "outage"] == ["outage"]
    assert queries.last_outage(back + hours(25)) is None
    assert HubUptime.objects.count() == 2


def test_an_edit_keeps_the_credit_of_an_outage(now):
    """An admin shortens the interval after the outage: the window is measured anew from where it was opened, which is
    the hub's return and not the heartbeat before it."""
    agent, _ = make.agent("analyst", now, liveness_mode="async")
    up(now, now + minutes(1))
    back = now + hours(6)
    uptime.begin(back, MARK)
    registry.edit(agent, {"expected_interval": 600}, by="mira", now=back)
    assert Agent.objects.get().deadline == back + minutes(20)
    assert word("analyst", back + minutes(1)) == "live"


@pytest.mark.parametrize("away", ["the database", "the process"])
def test_a_hub_that_ran_but_could_not_hear_was_down_too(now, away, monkeypatch):
    """For two hours its database was gone, or it stood still: deadlines are moved as after a restart, and once."""
    monkeypatch.setattr("agora_web.pulse.close_old_connections", lambda: None)  # the test's own goes on being used
    pulse, steady = Pulse(), 1000.0
    pulse.beat(now - minutes(1), steady)
    many(5, now - minutes(1))
    pulse.beat(now - seconds(57), steady + 3)
    with monkeypatch.context() as gone:
        for n in range(12 if away == "the database" else 0):
            gone.setattr(uptime, "mark", _no_database)
            gone.setattr(uptime, "begin", _no_database)
            pulse.beat(now + minutes(10 * n), steady + 60 + 600 * n)
    pulse.beat(now + hours(2), steady + 60 + 7200)
    assert HubUptime.objects.latest("pk").moved == 5
    assert set(Agent.objects.values_list("deadline", flat=True)) == {now + hours(3)}
    pulse.beat(now + hours(2) + seconds(5), steady + 60 + 7205)
    assert HubUptime.objects.count() == 2
    assert HubUptime.objects.latest("pk").alive_at == now + hours(2) + seconds(5)


def test_the_reason_does_not_claim_that_an_agent_was_heard_in_time(now):
    """Live by the credit of an outage: the page says so instead of "heard within 1 h"."""
    many(1, now)
    uptime.begin(now, 5)
    uptime.begin(now + hours(2), 5)
    found = states.presence(Agent.objects.get().facts(), now + hours(2) + minutes(30))
    assert (found.word, found.reason) == ("live", "heard within 1 h, the hub's own absence not counted")


def test_a_database_that_was_locked_for_a_while_moves_no_deadline_F019(now, monkeypatch):
    """The hub did not restart; what would flip meanwhile the guard holds."""
    monkeypatch.setattr("agora_web.pulse.close_old_connections", lambda: None)
    pulse, steady = Pulse(), 1000.0
    pulse.beat(now, steady)
    many(5, now)
    before = set(Agent.objects.values_list("deadline", flat=True))
    with monkeypatch.context() as locked:
        locked.setattr(uptime, "mark", _no_database)
        pulse.beat(now + seconds(5), steady + 5)
    pulse.beat(now + seconds(95), steady + 95)
    assert (HubUptime.objects.count(), set(Agent.objects.values_list("deadline", flat=True))) == (1, before)


def _no_database(*args):
    raise OperationalError("gone")
