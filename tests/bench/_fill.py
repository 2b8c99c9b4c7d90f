"""Fills the store of the environment with agents that were just heard. A script of its own, so that each store has its
own Django: python tests/bench/_fill.py AGENTS"""

import os
import sys
from datetime import timedelta

import _lib
import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agora_web.settings")


def agents(count: int, first: int = 0, **columns):
    """Inserts the agents ``first`` to ``first + count - 1``, async, live since now; ``columns`` overrides."""
    from django.utils import timezone

    from roster.models import Agent

    now = timezone.now()
    common = {
        "liveness_mode": "async", "status": "working", "task": "measuring", "recorded": "live",
        "last_seen": now, "evidence_at": now, "live_since": now, "last_seen_source": "heartbeat",
        "deadline": now + timedelta(hours=1), "check_after": now + timedelta(hours=1), "created_at": now,
    } | columns  # fmt: skip
    rows = (Agent(slug=_lib.slug(number), **common) for number in range(first, first + count))
    return Agent.objects.bulk_create(rows, batch_size=500)


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
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    tokens(agents(int(sys.argv[1])))


if __name__ == "__main__":
    main()
