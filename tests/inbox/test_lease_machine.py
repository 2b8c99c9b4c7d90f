"""P21: whatever sessions, time and sweeps do to an inbox in whatever order, it stands as a plain story of it says.

The story knows nothing of the product's rules: in it a lease that lapses gives its letters back at that very moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import hypothesis
import pytest
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from inbox import queries
from inbox.models import Delivery, Message
from inbox.services import leases, sweeping
from roster.errors import Conflict
from roster.models import Agent
from tests import make
from tests.inbox import post
from tests.inbox.crowd import Reader, write
from tests.roster.fleet import seconds

START = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)
ARCHIVED_AFTER, LONGEST = timedelta(minutes=20), timedelta(hours=12)
NO_LEASE, NO_LETTER = "nobodys", 10**9


@dataclass
class Told:
    """A letter of the story."""

    expires: datetime | None
    holder: str | None = None
    failed: int = 0
    end: str = ""  # acked, dead or archived
    acked_by: str | None = None
    acked_at: datetime | None = None

    @property
    def word(self) -> str:
        return self.end or ("leased" if self.holder else "waiting")


@dataclass
class Loan:
    """A lease of the story."""

    session: str
    began: datetime
    until: datetime
    given: list[int]
    end: str = ""  # lapsed or emptied


@dataclass
class Story:
    """One inbox."""

    now: datetime
    letters: dict[int, Told] = field(default_factory=dict)
    loans: dict[str, Loan] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)  # who ever gave a name
    greeted: set[str] = field(default_factory=set)  # who ever sent a heartbeat
    enabled: bool = True

    def all(self, word: str) -> list[int]:
        return sorted(seq for seq, letter in self.letters.items() if letter.word == word)

    def held(self, key: str) -> list[Told]:
        return [letter for letter in self.letters.values() if letter.holder == key]

    def pass_time(self, span: timedelta) -> None:
        self.now += span
        for key, loan in self.loans.items():
            if not loan.end and loan.until <= self.now:
                self.lapse(key)
        for letter in self.letters.values():
            self._perhaps_too_late(letter)

    def lapse(self, key: str) -> None:
        self.loans[key].end = "lapsed"
        for letter in self.held(key):
            letter.holder = None
            letter.failed += 1
            if letter.failed == 5:
                letter.end = "dead"
            self._perhaps_too_late(letter)

    def _perhaps_too_late(self, letter: Told) -> None:
        if letter.word == "waiting" and letter.expires and letter.expires <= self.now:
            letter.end = "dead"

    def emptied(self, key: str) -> None:
        if key in self.loans and not self.loans[key].end and not self.held(key):
            self.loans[key].end = "emptied"

    def hello(self, session: str) -> None:
        """The first heartbeat of a session takes over from all others that gave a name."""
        if session not in self.greeted and self.sessions - {session}:
            for key, loan in self.loans.items():
                if not loan.end and loan.session not in ("", session):
                    self.lapse(key)
        self.sessions.add(session)
        self.greeted.add(session)

    def ack(self, seqs: list[int], key: str | None) -> list[tuple[int, str]] | set[str]:
        """What an ack answers, or the words one of which refuses it."""
        if key == NO_LEASE:
            return {"foreign_lease"}
        known = {seq: self.letters[seq] for seq in seqs if seq in self.letters}
        refused = {self._refusal(letter, key) for letter in known.values()} - {None}
        if refused:
            return {"lease_expired"} if key and self.loans[key].end else refused
        results = []
        for seq in seqs:
            letter = known.get(seq)
            if letter and not letter.end:
                letter.end, letter.holder, letter.acked_by, letter.acked_at = "acked", None, key, self.now
                results.append((seq, "acked"))
            else:
                results.append(
                    (seq, {"": "unknown", "dead": "dead"}.get(letter.end if letter else "", "already_acked"))
                )
        self.emptied(key)
        return results

    @staticmethod
    def _refusal(letter: Told, key: str | None) -> str | None:
        if letter.holder:
            return "held" if letter.holder != key else None
        mine = letter.end in ("acked", "archived") and letter.acked_by == key
        return "lease_expired" if key and not mine else None

    def release(self, key: str, seqs: list[int] | None) -> list[tuple[int, str]] | set[str]:
        if key == NO_LEASE:
            return {"foreign_lease"}
        if self.loans[key].end == "lapsed":
            return {"lease_expired"}
        if seqs is None:
            seqs = sorted(seq for seq, letter in self.letters.items() if key in (letter.holder, letter.acked_by))
        results = [(seq, self._released(self.letters.get(seq), key)) for seq in dict.fromkeys(seqs)]
        self.emptied(key)
        return results

    def _released(self, letter: Told | None, key: str) -> str:
        if letter is None:
            return "unknown"
        if letter.holder == key:
            letter.holder = None
            self._perhaps_too_late(letter)
            return "released"
        return "already_acked" if letter.acked_at else "not_held"


newest = st.integers(0, 4)  # a lease or a letter, by age, and nobody's where there are not so many
SEQS = st.lists(newest, min_size=1, max_size=4)
SESSIONS = st.sampled_from(["", "one", "two", "three"])
SPANS = st.sampled_from([1, 10, 30, 600, 12 * 3600])


class Inbox(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.undone = transaction.atomic()
        self.undone.__enter__()
        self.story = Story(START)
        self.sender, _ = make.agent("scribe", START)
        self.reader = Reader("echo", START)

    def teardown(self):
        transaction.set_rollback(True)
        self.undone.__exit__(None, None, None)

    def hand(self) -> leases.Hand:
        return self.reader.at(self.story.now)

    def seq(self, age: int) -> int:
        return (sorted(self.story.letters, reverse=True) + [NO_LETTER] * 5)[age]

    def key(self, age: int) -> str:
        return ([*reversed(self.story.loans)] + [NO_LEASE] * 5)[age]

    @initialize()
    def two_at_work(self):
        """Three hands at once and a letter that nobody has yet: what most of the rules are about."""
        self.send(None, 4)
        self.heartbeat("one")
        self.drain(1, 30, "one")
        self.drain(1, 600, "two")
        self.drain(1, 600, "")

    @rule(lasts=st.sampled_from([None, None, 1, 10, 40]), count=st.integers(1, 3))
    def send(self, lasts, count):
        for _ in range(count):
            expires = self.story.now + seconds(lasts) if lasts else None
            seq = write(self.sender, ["echo"], self.story.now, expires_at=expires).seq
            assert seq > max(self.story.letters, default=0)
            self.story.letters[seq] = Told(expires)

    @rule(limit=st.integers(1, 3), span=SPANS, session=SESSIONS)
    def drain(self, limit, span, session):
        given = self.reader.drain(self.story.now, limit, span, session)
        expected = self.story.all("waiting")[:limit] if self.story.enabled else []
        counts = [(seq, self.story.letters[seq].failed + 1) for seq in expected]
        assert post.counts(given) == counts and bool(given["lease"]) == bool(expected)
        if expected:
            self.story.loans[given["lease"]] = Loan(session, self.story.now, self.story.now + seconds(span), expected)
            for seq in expected:
                self.story.letters[seq].holder = given["lease"]
        self.story.sessions |= {session} - {""}
        assert given["waiting"] == len(self.story.all("waiting"))

    @rule(times=st.integers(1, 5))
    def crash(self, times):
        """The reader takes all and dies of it, so many times."""
        for _ in range(times):
            self.drain(3, 1, "")
            self.pass_time(1)

    @rule(ages=SEQS, lease=st.none() | newest)
    def ack(self, ages, lease):
        self.acks([self.seq(age) for age in ages], None if lease is None else self.key(lease))

    @rule(lease=st.integers(0, 2), count=st.integers(1, 3))
    def finish(self, lease, count):
        """The reader is done with what it was given, or a part; or says so once more, or too late."""
        key = self.key(lease)
        self.acks(self.story.loans[key].given[:count], key)

    def acks(self, seqs, key) -> None:
        self.agrees(self.story.ack(seqs, key), lambda: leases.ack(self.hand(), seqs, key)[0])

    @rule(lease=newest, ages=st.none() | SEQS)
    def release(self, lease, ages):
        key, seqs = self.key(lease), None if ages is None else [self.seq(age) for age in ages]
        self.agrees(self.story.release(key, seqs), lambda: leases.release(self.hand(), key, seqs)[0])

    @rule(lease=newest, span=SPANS)
    def extend(self, lease, span):
        key, loan = self.key(lease), self.story.loans.get(self.key(lease))
        if loan and not loan.end:
            loan.until = max(loan.until, min(self.story.now + seconds(span), loan.began + LONGEST))
        refused = {"lease_expired"} if loan else {"foreign_lease"}
        expected = loan.until if loan and not loan.end else refused
        self.agrees(expected, lambda: leases.extend(self.hand(), key, span).until)

    def agrees(self, expected, act) -> None:
        try:
            with transaction.atomic():
                outcome = act()
        except Conflict as refusal:
            assert isinstance(expected, set) and refusal.code in expected, (refusal.code, expected)
        else:
            assert outcome == expected

    @rule(span=st.sampled_from([1, 9, 30, 600, 1200]))
    def pass_time(self, span):
        self.story.pass_time(seconds(span))

    @rule(session=SESSIONS.filter(bool))
    def heartbeat(self, session):
        make.beat(self.reader.token, self.story.now, session=session)
        self.story.hello(session)

    @rule(enabled=st.booleans())
    def switch(self, enabled):
        Agent.objects.filter(slug="echo").update(enabled=enabled)
        self.story.enabled = enabled

    @rule()
    def sweep(self):
        plan = sweeping.Plan(seconds(3), 500, ARCHIVED_AFTER)
        assert sweeping.run(plan, self.story.now).errors == 0
        for letter in self.story.letters.values():
            if letter.end == "acked" and letter.acked_at <= self.story.now - ARCHIVED_AFTER:
                letter.end = "archived"
        assert Agent.objects.get(slug="echo").waiting == len(self.story.all("waiting"))
        told = Message.objects.filter(kind="system").values_list("in_reply_to", flat=True).order_by("in_reply_to")
        assert list(told) == self.story.all("dead"), "the sender is told of each death, once"

    @invariant()
    def stands_as_the_story_says(self):
        box = queries.peek(self.reader.agent, self.story.now, state="all", limit=500)
        assert {each.seq: each.state for each in box.headers} == {
            seq: letter.word for seq, letter in self.story.letters.items()
        }
        counts = {word: len(self.story.all(word)) for word in ("waiting", "leased", "dead")}
        assert box.counts == counts | {"unread": counts["waiting"] + counts["leased"]}
        for each in box.headers:
            letter = self.story.letters[each.seq]
            assert each.delivery_count == letter.failed + bool(letter.holder or letter.acked_by)
            assert each.until == (self.story.loans[letter.holder].until if letter.holder else None)

    @invariant()
    def the_roster_counts_what_is_stored_as_waiting(self):
        stored = Delivery.objects.filter(recipient=self.reader.agent, state="waiting").count()
        assert Agent.objects.values_list("waiting", flat=True).get(slug="echo") == stored


@pytest.mark.core
@pytest.mark.django_db
def test_an_inbox_stands_as_its_story_says_P21(soak):
    """10,000 steps with --soak, where a failure is also made as short as can be; 300 otherwise."""
    examples, steps = (200, 50) if soak else (12, 25)
    phases = [hypothesis.Phase.generate, *[hypothesis.Phase.shrink] * soak]
    run_state_machine_as_test(
        Inbox,
        settings=hypothesis.settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, database=None, derandomize=True,
            phases=phases, suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )  # fmt: skip
