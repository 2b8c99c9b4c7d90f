"""Nodes and agents: one row is one identity, for good."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower, Trim
from django.utils import timezone

from roster import employment, states

from .base import KeptModel, KeptQuerySet, NothingIsDeleted

slug_rule = RegexValidator(rf"\A{states.SLUG.pattern}\Z", f"An id has {states.SLUG_RULE}.")
BOUNDS = [MinValueValidator(states.SHORTEST), MaxValueValidator(states.LONGEST)]
CAP_BOUNDS = [MinValueValidator(employment.FEWEST_SESSIONS), MaxValueValidator(employment.MOST_SESSIONS)]


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
    interval = models.PositiveIntegerField(
        default=30,
        validators=BOUNDS,
        help_text="Seconds between two calls of the node; three of them missed is out of contact.",
    )
    contact_at = models.DateTimeField(null=True, blank=True, editable=False)  # its last call, to about five seconds

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


FIXED = ("lifecycle", "home_node", "home_node_id", "kind")  # of a node's own agent while its node is enrolled


class NodeAgentStays(NothingIsDeleted):
    """Code tried to retire or to move a node's own agent while its node exists."""

    def __init__(self):
        super().__init__(f"Refused: {employment.OF_ITS_NODE}.")


class AgentQuerySet(KeptQuerySet):
    def update(self, **kwargs):
        if kwargs.keys() & set(FIXED) and self.filter(kind="node", home_node__lifecycle="enrolled").exists():
            raise NodeAgentStays()
        return super().update(**kwargs)


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
    waiting = models.PositiveIntegerField(default=0, editable=False)  # these three are written by inbox's services only
    queued = models.PositiveIntegerField(default=0, editable=False)
    running = models.PositiveIntegerField(default=0, editable=False)

    max_sessions = models.PositiveSmallIntegerField(
        default=1, validators=CAP_BOUNDS, help_text="How many prompts it may run at once."
    )
    tool_scope = models.JSONField(
        null=True, blank=True, help_text='The tools it may use, e.g. ["read", "search"]; empty for the usual ones.'
    )
    workspace = models.CharField(max_length=500, blank=True, editable=False)
    workspace_state = models.CharField(
        max_length=6, blank=True, choices=choices("", *employment.WORKSPACES), editable=False
    )
    workspace_error = models.CharField(max_length=500, blank=True, editable=False)
    lifecycle_reason = models.CharField(max_length=500, blank=True, editable=False)
    successor = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="+", editable=False
    )
    template = models.ForeignKey(
        "AgentTemplate", null=True, blank=True, on_delete=models.PROTECT, related_name="clones", editable=False
    )
    expires_at = models.DateTimeField(null=True, blank=True, editable=False)

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

    objects = AgentQuerySet.as_manager()

    class Meta:
        # by what it says, as states.parse_status reads it; it moves with news only
        indexes = [
            models.Index(Lower(Trim("status")), name="agent_says"),
            # the few that the employment sweep looks for every few seconds
            models.Index(fields=["lifecycle_since"], condition=Q(lifecycle=states.DRAINING), name="agent_draining"),
            models.Index(fields=["expires_at"], condition=Q(expires_at__isnull=False), name="agent_expires"),
        ]
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
            models.CheckConstraint(
                condition=Q(max_sessions__gte=employment.FEWEST_SESSIONS, max_sessions__lte=employment.MOST_SESSIONS),
                name="agent_cap_in_bounds",
            ),
            models.CheckConstraint(condition=~Q(kind="node") | Q(max_sessions=1), name="node_agent_does_one_thing"),
        ]

    facts = facts

    def save(self, *args, update_fields=None, **kwargs):
        """Refuses what no path may do to a node's own agent (P34): not even a shell."""
        touched = set(FIXED) if update_fields is None else set(FIXED) & set(update_fields)
        if self.pk and touched:
            stored = Agent.objects.filter(pk=self.pk, kind="node", home_node__lifecycle="enrolled")
            moved = stored.exclude(lifecycle=self.lifecycle, home_node=self.home_node_id, kind=self.kind)
            if moved.exists():
                raise NodeAgentStays()
        super().save(*args, update_fields=update_fields, **kwargs)

    @property
    def home_slug(self) -> str | None:
        return self.home_node.slug if self.home_node_id else None

    def __str__(self):
        return self.slug
