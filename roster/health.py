"""Whether the hub itself is well: for load balancers, service managers and Prometheus. Public, counts only."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import redis
from django.conf import settings
from django.db import connection
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse

from . import clock, metrics, queries
from .models import Anomaly, HubUptime, SweepRun
from .offload import in_database
from .plans import PERIODS
from .services import uptime

PATIENCE = 5.0  # seconds; who asks for health will not wait longer


async def healthz(request: HttpRequest) -> HttpResponse:
    """This web process answers."""
    return JsonResponse({"status": "ok"})


async def readyz(request: HttpRequest) -> HttpResponse:
    """200 when the hub does its whole work; 503 with the reasons when it does not."""
    try:
        async with asyncio.timeout(PATIENCE):
            reasons = await in_database(_reasons)
    except TimeoutError:  # a database that stands still refuses nothing: it never answers
        reasons = ["the database does not answer"]
    return JsonResponse(
        {"status": "degraded" if reasons else "ready", "reasons": reasons}, status=503 if reasons else 200
    )


def _reasons() -> list[str]:
    reasons = []
    try:
        redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1).ping()
    except redis.RedisError:
        reasons.append("the broker does not answer")
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if since := _unmarked():
            reasons.append(f"nothing could be written since {since:%Y-%m-%dT%H:%M:%SZ}")
        late = queries.late_sweeps(PERIODS, clock.now())
        reasons += [f"the sweep {name} last began at {since:%Y-%m-%dT%H:%M:%SZ}" for name, since in late.items()]
    except Exception:
        reasons.append("the database does not answer")
    return reasons


def _unmarked() -> datetime | None:
    """The last mark of a web process where the next ones are missing: a full disk still reads, and takes no heartbeat."""
    marked = HubUptime.objects.order_by("-id").values_list("alive_at", flat=True).first()
    patience = timedelta(seconds=uptime.MISSED_MARKS * settings.UPTIME_MARK)
    return marked if marked and clock.now() - marked > patience else None


async def exposition(request: HttpRequest) -> HttpResponse:
    """Prometheus metrics of this process and of the fleet."""
    return HttpResponse(await in_database(_measure), content_type="text/plain; version=0.0.4; charset=utf-8")


def _measure() -> bytes:
    now = clock.now()
    for count in queries.counts(now):
        metrics.agents.labels(count.word).set(count.n)
    metrics.anomalies.clear()
    for kind, n in Anomaly.objects.filter(closed_at=None).values_list("kind").annotate(n=Count("pk")):
        metrics.anomalies.labels(kind).set(n)
    for name in PERIODS:
        began = SweepRun.objects.filter(name=name).order_by("-started_at").values_list("started_at", flat=True).first()
        if began:
            metrics.sweep_age.labels(name).set((now - began).total_seconds())
    return metrics.exposition()
