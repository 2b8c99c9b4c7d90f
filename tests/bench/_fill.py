"""Fills the store of the environment with agents that were just heard. A script of its own, so that each store has its
own Django: python tests/bench/_fill.py AGENTS"""

import hashlib
import sys
from datetime import timedelta

import _lib


def agents(count: int):
    """Inserts ``count`` agents, async, live since now; tasks and times differ as they do in a real fleet."""
    from django.utils import timezone

    from roster.models import Agent

    now = timezone.now()
    same = {"liveness_mode": "async", "status": "working", "recorded": "live", "live_since": now, "created_at": now,
            "deadline": now + timedelta(hours=1), "check_after": now + timedelta(hours=1),
            "last_seen_source": "heartbeat"}  # fmt: skip

    def agent(number: int) -> Agent:
        slug, seen = _lib.slug(number), now - timedelta(milliseconds=number % 600_000)
        task = f"step {hashlib.sha256(slug.encode()).hexdigest()[:12]}"
        return Agent(slug=slug, task=task, last_seen=seen, evidence_at=seen, **same)

    return Agent.objects.bulk_create(map(agent, range(count)), batch_size=500)


def tokens(rows) -> None:
    from django.utils import timezone

    from roster import access
    from roster.models import Token

    now = timezone.now()
    made = (
        Token(kind="agent", agent=agent, prefix=f"bench-{number:06}", digest=access.digest(_lib.token(number)),
              created_at=now, created_by="benchmark")
        for number, agent in enumerate(rows)
    )  # fmt: skip
    Token.objects.bulk_create(made, batch_size=500)


def main() -> None:
    _lib.set_up_django()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    tokens(agents(int(sys.argv[1])))


if __name__ == "__main__":
    main()
