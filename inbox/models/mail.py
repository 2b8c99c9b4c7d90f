"""Messages, which never change, and their deliveries, which do: one for each message and recipient."""

from django.db import models
from django.db.models import Q

from inbox import rules
from roster.models import Agent
from roster.models.agent import choices, slug_rule
from roster.models.base import KeptModel, KeptQuerySet, NothingIsDeleted

IS_PENDING = Q(state__in=rules.PENDING)
# waiting, leased or dead; written as two comparisons, since SQLite does not see that a list of states is that of an index
IS_UNDONE = ~Q(state=rules.ACKED) & ~Q(state=rules.ARCHIVED)
IS_UNTOLD = Q(dead_at__isnull=False, told=False)  # given up, wherever it lies by now, and its sender does not know


class MessageQuerySet(KeptQuerySet):
    def update(self, **kwargs):
        raise NothingIsDeleted("A message never changes; a correction is a new message.")


class Message(KeptModel):
    """One letter. ``seq`` is taken from the counter ``mail`` under its lock, so the order of the numbers is the order
    of the commits. ``thread`` is the number of the message that began it. A system notice has no sender."""

    seq = models.PositiveBigIntegerField(primary_key=True)
    sender = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT, related_name="sent", db_index=False)
    kind = models.CharField(max_length=8, choices=choices(*rules.KINDS), default=rules.MAIL)
    subject = models.CharField(max_length=rules.LONGEST_SUBJECT, blank=True)
    body = models.TextField()
    size = models.PositiveIntegerField(help_text="Bytes of the body.")
    thread = models.PositiveBigIntegerField()
    in_reply_to = models.ForeignKey(
        "self", null=True, on_delete=models.PROTECT, related_name="answers", db_index=False
    )  # answers are found through their thread
    importance = models.CharField(max_length=6, choices=choices(*rules.IMPORTANCE), default="normal")
    sent_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["sender", "-seq"]),
            models.Index(fields=["thread", "seq"]),
        ]

    def __str__(self):
        return f"#{self.seq}"

    def save(self, *args, **kwargs):
        if not kwargs.get("force_insert"):
            raise NothingIsDeleted("A message never changes; a correction is a new message.")
        super().save(*args, **kwargs)


class Lease(KeptModel):
    """Who took messages out of an inbox, and until when. Closed once it holds none any more."""

    key = models.CharField(max_length=32, unique=True)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="leases")
    session = models.CharField(max_length=200, blank=True)
    began_at = models.DateTimeField()
    until = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["until"], condition=Q(closed_at=None), name="lease_open")]

    def holds(self, now) -> bool:
        """Whether it may still hold something at ``now``."""
        return self.closed_at is None and self.until > now

    def ran_out(self, now) -> bool:
        """Whether it lapsed, rather than being emptied before: the same before and after a sweep closes it."""
        return self.until <= now and (self.closed_at is None or self.closed_at >= self.until)

    def __str__(self):
        return f"{self.key} until {self.until:%Y-%m-%d %H:%M:%S}"


class Delivery(KeptModel):
    """A message in one inbox. ``lease`` is the one that holds it or held it last; ``attempts`` counts those that
    lapsed. ``read_at`` is the recipient's own and nobody else's business. ``told`` says that a sender need not, or need
    no longer, be told of its death."""

    message = models.ForeignKey(Message, on_delete=models.PROTECT, related_name="deliveries")
    recipient = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="deliveries", db_index=False)
    addressed_as = models.CharField(max_length=72)
    state = models.CharField(max_length=8, choices=choices(*rules.STATES), default=rules.WAITING)
    lease = models.ForeignKey(Lease, null=True, on_delete=models.PROTECT, related_name="deliveries")
    attempts = models.PositiveSmallIntegerField(default=0)
    size = models.PositiveIntegerField()
    expires_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    acked_at = models.DateTimeField(null=True)
    archived_at = models.DateTimeField(null=True)
    dead_at = models.DateTimeField(null=True)
    dead_reason = models.CharField(max_length=200, blank=True)
    told = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["recipient", "message"], name="one_delivery_per_recipient"),
            models.CheckConstraint(condition=Q(state__in=rules.STATES), name="delivery_state_known"),
            models.CheckConstraint(
                condition=~Q(state=rules.LEASED) | Q(lease__isnull=False), name="delivery_leased_has_lease"
            ),
        ]
        indexes = [
            # the size beside it, so that counting what an inbox holds reads the index alone
            models.Index(fields=["recipient", "state", "message", "size"], name="delivery_box"),
            models.Index(
                fields=["expires_at"],
                condition=Q(state=rules.WAITING, expires_at__isnull=False),
                name="delivery_expires",
            ),
            models.Index(fields=["acked_at"], condition=Q(state=rules.ACKED), name="delivery_acked"),
            models.Index(fields=["id"], condition=IS_UNTOLD, name="delivery_untold"),
            models.Index(fields=["state", "message"], condition=IS_UNDONE, name="delivery_undone"),
        ]

    def __str__(self):
        return f"#{self.message_id} to {self.addressed_as}: {self.state}"

    def facts(self) -> rules.Facts:
        """What its state depends on; reads the lease, so select it with the row."""
        lease = self.lease
        return rules.Facts(self.state, self.attempts, lease and lease.key, lease and lease.until, self.expires_at)


class SendKey(KeptModel):
    """A send that came under an Idempotency-Key, and what was answered: the same letter gets the same answer again."""

    sender = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="send_keys", db_index=False)
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    message = models.ForeignKey(Message, on_delete=models.PROTECT, related_name="+", db_index=False)
    receipt = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sender", "key"], name="one_send_per_key")]

    def __str__(self):
        return f"#{self.message_id}"


class MailGroup(KeptModel):
    """Agents that are written to together, as ``group:NAME``."""

    name = models.CharField(max_length=64, unique=True, validators=[slug_rule])
    members = models.ManyToManyField(Agent, blank=True, related_name="mail_groups")

    class Meta:
        verbose_name = "group"

    def __str__(self):
        return self.name
