"""The words of ``roster.states`` as SQL, for reads over the whole fleet; property tests hold the two equal (P04)."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Case, CharField, Exists, F, OuterRef, Q, Value, When
from django.db.models.functions import Lower, Trim

from roster import states
from roster.models import Profile

OUT_OF_BOUNDS = (
    ~Q(liveness_mode__in=states.MODES)
    | ~Q(expected_interval__range=(states.SHORTEST, states.LONGEST))
    | ~Q(ttl__range=(states.SHORTEST, states.LONGEST))
    | Q(expected_interval=None)
    | Q(ttl=None)
    | Q(evidence_at__isnull=False, deadline=None)
)


MEMBER = Exists(Profile.objects.filter(slug=OuterRef("slug"), liveness_mode__in=states.PERSISTENT))
PERSISTENT = Q(liveness_mode__in=states.PERSISTENT)


def presence_word(now: datetime) -> Case:
    """The word of ``states.presence`` as one SQL expression, for lists and counts (held equal by a property test)."""
    gone = Q(signed_off_at__gte=F("evidence_at")) | Q(deadline__lt=now)
    return Case(
        When(OUT_OF_BOUNDS, then=Value(states.UNKNOWN)),
        When(Q(evidence_at=None) & (PERSISTENT | MEMBER), then=Value(states.DORMANT)),
        When(Q(evidence_at=None), then=Value(states.UNKNOWN)),
        When(gone & Q(liveness_mode=states.ASYNC), then=Value(states.DORMANT)),
        When(gone & Q(liveness_mode=states.ALWAYS_ON), then=Value(states.SILENT)),
        When(gone & MEMBER, then=Value(states.DORMANT)),
        When(gone, then=Value(states.EXPIRED)),
        default=Value(states.LIVE),
        output_field=CharField(),
    )


def is_listed(now: datetime) -> Q:
    """``rows.Row.listed`` in SQL: an ephemeral agent only while it is live, unless its profile makes it a member."""
    here = Q(signed_off_at=None) | Q(signed_off_at__lt=F("evidence_at"))
    live = Q(evidence_at__isnull=False, deadline__gte=now) & here
    return PERSISTENT | live | OUT_OF_BOUNDS | MEMBER


SAYS = Lower(Trim("status"))  # as the index ``agent_says`` has it
URGENT = [word for word, value in states.CANONICAL.items() if states.attention(value) == "high"]


def is_urgent() -> Q:
    """Attention high, beside the annotations ``word`` and ``says`` (= ``SAYS``): a claim counts while it holds."""
    return Q(says__in=URGENT, word__in=(states.LIVE, states.SILENT))
