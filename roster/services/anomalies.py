"""Opening and closing what a person should know about. Each is open at most once per subject (R10)."""

from __future__ import annotations

from datetime import datetime

from roster.models import Agent, Anomaly


def open_anomaly(kind: str, subject: str, now: datetime, *, agent: Agent | None = None, **evidence) -> bool:
    """Opens the anomaly unless it is open already; True when it was opened by this call."""
    if Anomaly.objects.filter(kind=kind, subject=subject, closed_at=None).exists():
        return False
    row = Anomaly(kind=kind, subject=subject, agent=agent, opened_at=now, evidence=evidence)
    Anomaly.objects.bulk_create([row], ignore_conflicts=True)  # two writers at once: the constraint lets one through
    return True


def keep_anomaly(kind: str, subject: str, now: datetime, *, agent: Agent | None = None, **evidence) -> None:
    """Opens the anomaly, or brings the evidence of the open one up to date."""
    if not open_anomaly(kind, subject, now, agent=agent, **evidence):
        Anomaly.objects.filter(kind=kind, subject=subject, closed_at=None).update(evidence=evidence)


def close_anomaly(kind: str, subject: str, now: datetime) -> bool:
    """Closes the open anomaly, if there is one; True when it was closed by this call."""
    return bool(Anomaly.objects.filter(kind=kind, subject=subject, closed_at=None).update(closed_at=now))
