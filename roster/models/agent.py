"""Nodes and agents: one row is one identity, for good."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower, Trim
from django.utils import timezone

from roster import states

from .base import KeptModel

slug_rule = RegexValidator(rf"\A{states.SLUG.pattern}\Z", f"An id has {states.SLUG_RULE}.")
BOUNDS = [MinValueValidator(states.SHORTEST), MaxValueValidator(states.LONGEST)]


def choices(*values):
    return [(value, value) for value in values]


class Node(KeptModel):
    """A machine that belongs to the fleet. Its node agent is the agent row with the same name."""

    slug = models.CharField(max_length=64, unique=True, validators=[slug_rule])
    name = models.CharField(max_length=200, blank=True)
    lifecycle = models.CharField(
        max_length=10, choices=choices("enrolled", "retiring", "retired"), default="enrolled", editable=False
    )
    enrolled_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self):
        return self.slug


def facts(agent, profile_mode: str | None = None) -> states.Facts:
    """What presence depends on, as stored; ``profile_mode`` is the mode its profile declares, if any.

    ``agent`` is an ``Agent``, or just the columns of one that ``rows.stored`` reads.
    """
    return states.Facts(
        mode=agent.liveness_mode,
        expected_interval=agent.expected_interval,
        ttl=agent.ttl,
        evidence_at=agent.evidence_at,
        evidence_source=agent.last_seen_source,
        deadline=agent.deadline,
        signed_off_at=agent.signed_off_at,
        live_since=agent.live_since,
        profile_mode=profile_mode,
    )


class Agent(KeptModel):
    """A persistent member of the fleet: an AI, a person or a node's own agent.

    Times of evidence are the hub's receive times (design rule 2). ``recorded`` is the presence word of the last
    recorded edge, never an answer by itself: what is shown is computed by ``states.presence``. ``changed`` is the
    roster version of the last change anybody could see; ``check_after`` tells the sweep when to look again and is
    moved lazily. ``heartbeat_at`` is the last heartbeat among the evidence. ``activity_since`` is when it began to say what it says, ``worked_at`` when it last stopped working.
    No column that changes with every heartbeat is indexed.
    """

    slug = models.CharField("id", max_length=64, unique=True, validators=[slug_rule])
    display_name = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=10, choices=choices("employee", "node"), default="employee", editable=False)
    modality = models.CharField(max_length=5, choices=choices("ai", "human"), default="ai", editable=False)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.PROTECT, related_name="agent"
    )
    lifecycle = models.CharField(
        max_length=10, choices=choices(*states.LIFECYCLES), default=states.ACTIVE, editable=False
    )
    lifecycle_since = models.DateTimeField(default=timezone.now, editable=False)
    liveness_mode = models.CharField(max_length=10, choices=choices(*states.MODES), default=states.EPHEMERAL)
    expected_interval = models.PositiveIntegerField(
        default=states.DEFAULT_INTERVAL, validators=BOUNDS, help_text="Seconds between heartbeats while live."
    )
    ttl = models.PositiveIntegerField(
        default=states.DEFAULT_TTL, validators=BOUNDS, help_text="Seconds an ephemeral agent stays after a heartbeat."
    )
    trust_posture = models.CharField(
        max_length=14, choices=choices("hardened", "untrusted-host", "person"), default="untrusted-host"
    )
    home_node = models.ForeignKey(
        Node, null=True, blank=True, on_delete=models.PROTECT, related_name="agents", editable=False
    )
    enabled = models.BooleanField(default=True, editable=False)
    disabled_reason = models.CharField(max_length=500, blank=True, editable=False)
    disabled_by = models.CharField(max_length=64, blank=True, editable=False)
    disabled_at = models.DateTimeField(null=True, blank=True, editable=False)
    waiting = models.PositiveIntegerField(default=0, editable=False)  # written by inbox's services only

    status = models.CharField(max_length=200, blank=True, editable=False)
    task = models.CharField(max_length=1000, null=True, blank=True, editable=False)
    work_mode = models.CharField(max_length=64, null=True, blank=True, editable=False)
    meta = models.JSONField(default=dict, blank=True, editable=False)
    heard = models.JSONField(default=dict, blank=True, editable=False)
    activity_since = models.DateTimeField(null=True, blank=True, editable=False)
    worked_at = models.DateTimeField(null=True, blank=True, editable=False)
    clock_skew = models.FloatField(null=True, blank=True, editable=False)

    last_seen = models.DateTimeField(null=True, blank=True, editable=False)
    last_seen_source = models.CharField(max_length=12, blank=True, editable=False)
    evidence_at = models.DateTimeField(null=True, blank=True, editable=False)
    heartbeat_at = models.DateTimeField(null=True, blank=True, editable=False)
    deadline = models.DateTimeField(null=True, blank=True, editable=False)
    signed_off_at = models.DateTimeField(null=True, blank=True, editable=False)
    live_since = models.DateTimeField(null=True, blank=True, editable=False)

    recorded = models.CharField(max_length=8, default=states.UNKNOWN, editable=False)
    check_after = models.DateTimeField(null=True, blank=True, db_index=True, editable=False)
    changed = models.PositiveBigIntegerField(default=0, db_index=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        # by what it says, as states.parse_status reads it; it moves with news only
        indexes = [models.Index(Lower(Trim("status")), name="agent_says")]
        constraints = [
            models.CheckConstraint(condition=Q(liveness_mode__in=states.MODES), name="agent_mode_known"),
            models.CheckConstraint(condition=Q(lifecycle__in=states.LIFECYCLES), name="agent_lifecycle_known"),
            models.CheckConstraint(
                condition=Q(expected_interval__gte=states.SHORTEST, expected_interval__lte=states.LONGEST),
                name="agent_interval_in_bounds",
            ),
            models.CheckConstraint(
                condition=Q(ttl__gte=states.SHORTEST, ttl__lte=states.LONGEST), name="agent_ttl_in_bounds"
            ),
            models.CheckConstraint(
                condition=Q(evidence_at__isnull=True) | Q(deadline__isnull=False), name="agent_evidence_has_deadline"
            ),
            models.UniqueConstraint(fields=["home_node"], condition=Q(kind="node"), name="one_node_agent_per_node"),
            models.CheckConstraint(condition=~Q(kind="node") | Q(home_node__isnull=False), name="node_agent_has_node"),
        ]

    facts = facts

    @property
    def home_slug(self) -> str | None:
        return self.home_node.slug if self.home_node_id else None

    def __str__(self):
        return self.slug
