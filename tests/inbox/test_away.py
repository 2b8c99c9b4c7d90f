"""Whoever is away finds all of its mail on its return (R6, R72-R76, P23, F027)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from inbox.models import Delivery
from roster.models import Agent
from roster.services import uptime
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.roster.fleet import TICK, hours, minutes, seconds, sweep, sweep_all, word


async def test_the_analyst_comes_back_to_its_mail_s1(api):
    """Async, silent for an hour and a second: dormant, its task null, its last_seen kept. Three mails come, each with
    the word that it is dormant. It returns with ``busy``, takes the three in order, and acks them."""
    now = timezone.now()
    seen = now - hours(1) - seconds(1)
    _, analyst = await sync_to_async(make.agent)("analyst", seen, liveness_mode="async", status="working: q3")
    _, scribe = await sync_to_async(make.agent)("scribe", now)
    for at, presence in ((seen + hours(1), "live"), (seen + hours(1) + TICK, "dormant")):
        assert await sync_to_async(word)("analyst", at) == presence
    await sync_to_async(sweep)(now)
    own, other = bearer(analyst), bearer(scribe)
    told = (await api.get("/api/agents/analyst", headers=other)).json()
    assert (told["presence"], told["status"], told["task"]) == ("dormant", "dormant", None)
    listed = (await api.get("/api/agents", headers=other)).json()["agents"]
    assert [each["last_seen"] for each in listed if each["id"] == "analyst"] == [told["last_seen"]]

    sent = []
    for n in range(3):
        body = {"to": "analyst", "subject": f"part {n}", "body": f"numbers of week {n}"}
        answer = await api.post("/api/messages", json=body, headers=other)
        (line,) = answer.json()["deliveries"]
        assert (answer.status_code, line["state"], line["recipient_presence"]) == (201, "waiting", "dormant")
        assert line["note"].startswith("queued; analyst is dormant since ")
        sent.append(answer.json()["seq"])
    assert sent == sorted(set(sent))
    after = (await api.get("/api/agents/analyst", headers=other)).json()
    assert (after["waiting"], after["last_seen"], after["presence"]) == (3, told["last_seen"], "dormant")

    back = (await api.post("/api/heartbeat", json={"status": "busy"}, headers=own)).json()
    assert (back["presence"], back["waiting"], back["rejoined"]["was"]) == ("live", 3, "dormant")
    held = (await api.post("/api/agents/analyst/inbox/drain", json={"session": "s1"}, headers=own)).json()
    assert post.counts(held) == [(seq, 1) for seq in sent]
    assert [each["body"] for each in held["messages"]] == [f"numbers of week {n}" for n in range(3)]
    again = (await api.post("/api/agents/analyst/inbox/drain", headers=own)).json()
    assert (again["agent"], again["lease"], again["messages"]) == ("analyst", None, [])
    for result in ("acked", "already_acked"):
        acked = await api.post(
            "/api/agents/analyst/inbox/ack", json={"lease": held["lease"], "seqs": sent}, headers=own
        )
        assert (acked.status_code, acked.json()["waiting"]) == (200, 0)
        assert acked.json()["results"] == [{"seq": seq, "result": result} for seq in sent]
    end = (await api.get("/api/agents/analyst", headers=other)).json()
    assert (end["presence"], end["status"], end["waiting"]) == ("live", "busy", 0)
    edges = (await api.get("/api/events?agent=analyst&kind=presence", headers=other)).json()["events"]
    assert [each["after"] for each in edges] == ["live", "dormant", "live"]
    history = (await api.get("/api/events?agent=analyst&kind=activity", headers=other)).json()["events"]
    assert history[0]["after"] == {"activity": "working", "task": "q3"}


@pytest.mark.django_db
def test_what_was_in_hand_and_what_came_later_is_all_there_after_three_hours_f027(now):
    """Killed while it held ten; fifteen more came while the roster still said that it is idle, and took each as for a
    live one. After its return the ten have been delivered twice, the fifteen once, all in their order."""
    _, scribe = make.agent("scribe", now)
    _, echo = make.agent("echo", now, liveness_mode="async", session="one")
    held = [post.send(scribe, "echo", now, f"{n}").seq for n in range(10)]
    assert post.seqs(post.drain(echo, "echo", now + seconds(1), session="one")) == held
    later = []
    for n in range(15):
        at = now + minutes(1 + n)
        sent = post.send(scribe, "echo", at, f"later {n}")
        assert post.line(sent)["code"] == "live"
        later.append(sent.seq)
        post.sweep(at)
    back = now + hours(3)
    sweep_all(back)
    assert word("echo", back) == "dormant"
    make.beat(echo, back, session="two")
    assert post.counts(post.drain(echo, "echo", back, session="two")) == [
        *((seq, 2) for seq in held), *((seq, 1) for seq in later),
    ]  # fmt: skip


@pytest.mark.django_db
def test_mail_of_a_month_is_all_there_p23(now, soak):
    """Thirty days away. Sweeps go on, the hub is down three times, for an hour, a day and a week; what was sent before,
    between and after is waiting in order, none lost and none twice."""
    a_day = 24 if soak else 2
    _, echo = make.agent("echo", now, liveness_mode="async")
    writers = [make.agent(f"writer-{n}", now, liveness_mode="async")[1] for n in range(3)]
    down = {3: hours(1), 10: hours(24), 20: hours(24 * 7)}
    uptime.begin(now, 5)
    at, sent = now, []
    for day in range(30):
        for part in range(a_day):
            at = max(at, now + timedelta(days=day, hours=24 * part / a_day))
            sent.append(post.send(writers[len(sent) % 3], "echo", at, f"{len(sent)}").seq)
        uptime.mark(at)
        post.sweep(at)
        sweep_all(at)
        if day in down:
            at += down[day]
            assert uptime.begin(at, 5).up_at == at
    back = max(at, now + timedelta(days=30))
    assert word("echo", back) == "dormant" and Agent.objects.get(slug="echo").waiting == len(sent)
    make.beat(echo, back)
    got = []
    while (held := post.drain(echo, "echo", back, limit=50))["messages"]:
        got += [(each["seq"], int(each["body"]), each["delivery_count"]) for each in held["messages"]]
        assert set(post.ack(echo, "echo", back, post.seqs(held), held["lease"])) == {"acked"}
    assert got == [(seq, n, 1) for n, seq in enumerate(sent)]
    assert not Delivery.objects.exclude(state="acked").exists()
