"""What the API takes and gives. Machine reports ignore fields they do not know; everything else refuses them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from . import beats, states
from .errors import Invalid
from .models import Anomaly, Event
from .queries import Employment
from .rows import Row
from .services.batch import LARGEST as BATCH_LARGEST
from .services.batch import Entry as BatchEntry
from .stamps import stamp

META_LIMIT = 16 * 1024  # bytes of JSON

Seconds = Annotated[int, Field(ge=states.SHORTEST, le=states.LONGEST, description="Seconds, 5 to 30 days.")]
Mode = Literal["ephemeral", "async", "always-on"]
_seconds = TypeAdapter(Seconds)


def _bounded(meta: dict) -> dict:
    if len(json.dumps(meta)) > META_LIMIT:
        raise ValueError(f"meta may hold {META_LIMIT // 1024} KiB of JSON at most")
    return meta


def aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class Beat(BaseModel):
    """``POST /api/heartbeat``. Without ``status`` the last one stays; a status without a task clears the task.

    A plain model: ninja's ``Schema`` would look each field up through a getter that only model instances need.
    """

    model_config = ConfigDict(extra="ignore")

    status: str | None = Field(None, min_length=1, max_length=200)
    task: str | None = Field(None, max_length=1000)
    expected_interval: Seconds | None = None
    work_mode: str | None = Field(None, max_length=64)
    session: str | None = Field(None, max_length=128)
    host: str | None = Field(None, max_length=255)
    sent_at: Annotated[datetime, AfterValidator(aware)] | None = None

    def said(self) -> beats.Said:
        return beats.Said(**self.model_dump(), given=frozenset(self.model_fields_set))


class Put(Beat):
    """``PUT /api/agents/{id}``: registers, or replaces status, task and meta and keeps mode and interval."""

    status: str = Field(..., min_length=1, max_length=200)
    meta: Annotated[dict[str, Any], AfterValidator(_bounded)] = {}
    permanent: bool | None = None
    liveness_mode: Mode | None = None
    ttl: Seconds | None = None

    def said(self) -> beats.Said:
        told = self.model_dump() | {"expected_interval": self._interval()}
        return beats.Said(**told, replace=True, given=frozenset(self.model_fields_set))

    def _interval(self) -> int | None:
        """``meta.expected_interval`` is accepted too and lifted into the field (R71)."""
        lifted = self.meta.get("expected_interval")
        if self.expected_interval is not None or lifted is None:
            return self.expected_interval
        try:
            return _seconds.validate_python(lifted)
        except ValidationError as why:
            raise Invalid("meta.expected_interval", why.errors()[0]["msg"]) from None


class SignOff(Schema):
    model_config = ConfigDict(extra="forbid")

    session: str | None = Field(None, max_length=128)


class NewNode(Schema):
    model_config = ConfigDict(extra="forbid")

    slug: str
    name: str = Field("", max_length=200)


_line = {
    "type": "object",
    "required": ["agent"],
    "properties": {
        "agent": {"type": "string"},
        "status": {"type": "string", "minLength": 1, "maxLength": 200},
        "task": {"type": "string", "maxLength": 1000},
    },
}
_lines = {"type": "array", "items": _line, "maxItems": BATCH_LARGEST}
# Told by hand, since the lines of a batch are checked by hand: see ``_line_problem``.
BATCH_BODY = {"anyOf": [{"type": "object", "properties": {"heartbeats": _lines}, "required": ["heartbeats"]}, _lines]}


def disabled(row: Row) -> dict | None:
    if row.disabled is None:
        return None
    return {"reason": row.disabled.reason, "by": row.disabled.by, "since": stamp(row.disabled.since)}


def agent(row: Row) -> dict:
    """One agent as the API gives it (design section 5)."""
    doing = row.activity
    return {
        "id": row.id,
        "display_name": row.display_name,
        "kind": row.kind,
        "modality": row.modality,
        "lifecycle": row.lifecycle,
        "enabled": row.enabled,
        "disabled": disabled(row),
        "liveness_mode": row.mode,
        "permanent": row.mode == states.ALWAYS_ON,
        "presence": row.presence.word,
        "presence_since": stamp(row.presence.since),
        "presence_reason": row.presence.reason,
        "status": states.old_word(doing.value, row.task, row.presence.word),
        "activity": {
            "value": doing.value,
            "raw": doing.raw,
            "source": doing.source,
            "verified": doing.verified,
            "as_of": stamp(doing.as_of),
            "since": stamp(doing.since),
        },
        "task": row.task,
        "work_mode": row.work_mode,
        "attention": row.attention,
        "meta": row.meta,
        "expected_interval": row.expected_interval,
        "ttl": row.ttl,
        "last_seen": stamp(row.last_seen),
        "last_seen_source": row.last_seen_source or None,
        "last_heartbeat": stamp(row.last_heartbeat),
        "heartbeats_failing": row.heartbeats_failing,
        "last_worked": stamp(row.last_worked),
        "home_node": row.home_node,
        "sessions": [
            {
                "session": each.key,
                "host": each.host,
                "first_seen": stamp(each.first_at),
                "last_seen": stamp(each.last_at),
            }
            for each in row.sessions
        ],
        "duplicate_sessions": row.duplicate_sessions,
        "clock_skew_s": row.clock_skew,
        "waiting": row.waiting,
        "synthesized": row.synthesized,
        "source": row.presence.source,
        "listed": row.listed,
        "profile_error": row.profile_error or None,
        "trust_posture": row.trust_posture,
        "expires_at": stamp(row.expires_at),
    }


def employment(found: Employment) -> dict:
    """How an agent is employed, beside what every list says of it."""
    return {
        "since": stamp(found.since),
        "reason": found.reason,
        "successor": found.successor,
        "allowed": found.allowed,
        "max_sessions": found.max_sessions,
        "in_use": found.in_use,
        "queued": found.queued,
        "workspace": {
            "state": found.workspace_state or None,
            "path": found.workspace or None,
            "error": found.workspace_error or None,
        },
        "template": found.template,
        "tools": found.tools,
        "warnings": found.warnings,
    }


def event(row: Event) -> dict:
    return {
        "id": row.pk,
        "at": stamp(row.at),
        "kind": row.kind,
        "agent": row.agent.slug if row.agent_id else None,
        "by": row.by,
        "before": row.before,
        "before_since": stamp(row.before_since),
        "after": row.after,
        "reason": row.reason,
    }


def anomaly(row: Anomaly) -> dict:
    return {
        "kind": row.kind,
        "subject": row.subject,
        "opened_at": stamp(row.opened_at),
        "closed_at": stamp(row.closed_at),
        "evidence": row.evidence,
    }


def batch_entries(body: Any) -> tuple[list[BatchEntry], list[dict]]:
    """The lines of a node's batch, and those that cannot be one with the reason. Raises Invalid for a wrong whole."""
    lines = body.get("heartbeats") if isinstance(body, dict) else body
    if not isinstance(lines, list):
        raise Invalid("heartbeats", "expected a list of {agent, status, task}")
    if len(lines) > BATCH_LARGEST:
        raise Invalid("heartbeats", f"at most {BATCH_LARGEST} in one call, not {len(lines)}")
    good, bad = [], []
    for line in lines:
        problem = _line_problem(line)
        if problem:
            name = line.get("agent") if isinstance(line, dict) else None
            bad.append({"agent": name if isinstance(name, str) else None, "code": "invalid", "message": problem})
        else:
            good.append(BatchEntry(line["agent"], line.get("status"), line.get("task")))
    return good, bad


def _line_problem(line: Any) -> str:
    """Checked by hand, and by exact type: a model a line would cost more than writing the whole batch."""
    if type(line) is not dict:
        return "expected an object with agent, status and task"
    name, status, task = line.get("agent"), line.get("status"), line.get("task")
    if type(name) is not str:
        return "agent: expected an id"
    if status is not None and (type(status) is not str or not 0 < len(status) <= 200):
        return "status: expected 1 to 200 characters"
    if task is not None and (type(task) is not str or len(task) > 1000):
        return "task: expected at most 1000 characters"
    return ""
