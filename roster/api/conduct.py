"""Rules of conduct: what was reported, what an agent was warned of, and its dismissal."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import ConfigDict, Field

from roster import access, auth
from roster.offload import in_database
from roster.plans import WARNING_AGE
from roster.queries import employment
from roster.replies import reply
from roster.services import conduct
from roster.services.switch import LONGEST_REASON
from roster.stamps import stamp

from . import staff

router = Router(tags=["conduct"])


class NewViolation(Schema):
    model_config = ConfigDict(extra="forbid")

    agent: str
    rule: str
    evidence: str = Field(..., min_length=1, max_length=conduct.LONGEST_EVIDENCE)
    evidence_key: str = Field(..., min_length=1, max_length=conduct.LONGEST_KEY)


class Withdrawal(Schema):
    model_config = ConfigDict(extra="forbid")

    reason: str = Field(..., max_length=LONGEST_REASON)


class Dismissal(Schema):
    model_config = ConfigDict(extra="forbid")

    rule: str
    reason: str = Field(..., max_length=LONGEST_REASON)


@router.post("/violations", auth=auth.reader, summary="Report that an agent broke a rule")
async def post_violation(request: HttpRequest, body: NewViolation):
    """Needs the permission `dismiss`. The first time the agent is warned; again, its dismissal is proposed. The same
    `evidence_key` once more changes nothing: 200 with `counted` false."""
    told = (body.agent, body.rule, body.evidence, body.evidence_key)
    report = await in_database(conduct.report, request.auth, *told, request.received_at, WARNING_AGE)
    return reply(_report(report), 201 if report.counted else 200)


def _report(report: conduct.Report) -> dict:
    broken, warning = report.violation, report.warning
    return {
        "violation": broken.pk,
        "agent": broken.agent.slug,
        "rule": broken.rule.slug,
        "evidence_key": broken.evidence_key,
        "counted": report.counted,
        "warning": warning.pk if warning else None,
        "dismissal_proposed": report.proposed,
        "at": stamp(broken.at),
    }


@router.get("/agents/{id}/warnings", auth=auth.reader, summary="What an agent was warned of, newest first")
async def get_warnings(request: HttpRequest, id: str):
    """For persons, the agent itself and its node."""
    return reply(await in_database(_read_warnings, request, id))


def _read_warnings(request: HttpRequest, slug: str) -> dict:
    agent, _ = access.inner(request.auth, slug, "viewer", request.META.get("HTTP_AGORA_AGENT"))
    found = employment.warnings(agent, request.received_at, WARNING_AGE)
    return {"agent": agent.slug, "warnings": [_warning(each) for each in found]}


def _warning(warned: employment.Warned) -> dict:
    """``withdrawn`` is null, or who did it, when and why."""
    told = asdict(warned)
    at, by, reason = (told.pop(f"withdrawn_{name}") for name in ("at", "by", "reason"))
    withdrawn = {"at": stamp(at), "by": by, "reason": reason} if at else None
    again = [{"at": stamp(each.at), "evidence": each.evidence} for each in warned.again]
    return told | {"at": stamp(warned.at), "until": stamp(warned.until), "again": again, "withdrawn": withdrawn}


@router.post("/warnings/{warning}/withdraw", auth=auth.reader, summary="Withdraw a warning")
async def post_withdraw(request: HttpRequest, warning: Annotated[int, Path(ge=1, le=2**63 - 1)], body: Withdrawal):
    """Needs the permission `dismiss`. It counts no more, and the agent is told so."""
    act = (request.auth, warning, body.reason, request.received_at, WARNING_AGE)
    gone = await in_database(conduct.withdraw, *act)
    withdrawn = {"at": stamp(gone.withdrawn_at), "by": gone.withdrawn_by, "reason": gone.withdrawn_reason}
    return reply({"warning": gone.pk, "agent": gone.agent.slug, "rule": gone.rule.slug, "withdrawn": withdrawn})


@router.post("/agents/{id}/dismiss", auth=auth.reader, summary="Dismiss an agent that was warned")
async def post_dismiss(request: HttpRequest, id: str, body: Dismissal):
    """For a person with the permission `dismiss`. The agent drains; 409 `no_warning` without a warning for the rule."""
    return reply(await in_database(_dismissed, request, id, body))


def _dismissed(request: HttpRequest, slug: str, body: Dismissal) -> dict:
    act = (request.auth, slug, body.rule, body.reason, request.received_at, WARNING_AGE)
    return staff.told(conduct.dismiss(*act), request)
