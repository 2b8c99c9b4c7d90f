"""One sync view: look the token up, read the body, save the changed columns, answer."""

import hashlib
import json
from datetime import timedelta

from django.http import JsonResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from roster.models import Token

COLUMNS = ["status", "task", "last_seen", "last_seen_source", "evidence_at", "deadline"]


@csrf_exempt
def heartbeat(request):
    _, _, raw = request.headers.get("Authorization", "").partition(" ")
    digest = hashlib.sha256(raw.encode()).hexdigest()
    token = Token.objects.select_related("agent").filter(digest=digest, revoked_at=None).first()
    if token is None:
        return JsonResponse({"error": "unauthorized"}, status=401)
    body, agent, now = json.loads(request.body), token.agent, timezone.now()
    agent.status, agent.task = body.get("status", agent.status), body.get("task")
    agent.last_seen = agent.evidence_at = now
    agent.last_seen_source = "heartbeat"
    agent.deadline = now + timedelta(seconds=2 * agent.expected_interval)
    agent.save(update_fields=COLUMNS)
    return JsonResponse({"presence": "live", "waiting": agent.waiting, "next_heartbeat_in": agent.expected_interval})


urlpatterns = [path("api/heartbeat", heartbeat)]
