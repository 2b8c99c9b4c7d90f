"""Start-up checks: what would make the hub lie or leak is said before it runs."""

import sqlite3
from contextlib import closing

from django.conf import settings
from django.core.checks import Error, Tags, register
from redis.connection import parse_url

from roster import plans, tools

from .spans import MOST_DAYS


@register(Tags.compatibility)
def times_are_utc(app_configs, **kwargs):
    """Naive local times shift every deadline by the offset and by daylight saving (F014)."""
    if settings.USE_TZ and settings.TIME_ZONE == "UTC":
        return []
    return [Error("USE_TZ must be on and TIME_ZONE must be UTC: all stored times are aware UTC.", id="agora.E001")]


@register(Tags.compatibility)
def pushes_cross_processes(app_configs, **kwargs):
    """The sweeps run in another process than the pages; an in-memory layer would lose every push (F042)."""
    if "InMemory" not in settings.CHANNEL_LAYERS["default"]["BACKEND"]:
        return []
    return [Error("The channel layer must be shared between processes, not in memory.", id="agora.E002")]


@register(Tags.security, deploy=True)
def hosts_are_named(app_configs, **kwargs):
    """With a wildcard the Host header proves nothing, and the websocket's origin check rests on it (F063)."""
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [Error("ALLOWED_HOSTS must name the hosts of the hub, not '*'.", id="agora.E003")]


@register(Tags.compatibility)
def the_broker_has_an_address(app_configs, **kwargs):
    """An address that no client can read would come up only later, as pushes and sweeps that never happen."""
    try:
        parse_url(settings.REDIS_URL)
    except ValueError:
        return [Error("REDIS_URL must be redis://…, rediss://… or unix:///path.", id="agora.E004")]
    return []


@register(Tags.compatibility)
def connections_are_not_kept(app_configs, **kwargs):
    """Under ASGI each request has a thread of its own, and what that thread keeps is never used again (F094)."""
    database = settings.DATABASES["default"]
    pooled = database["ENGINE"] != "django.db.backends.postgresql" or database.get("OPTIONS", {}).get("pool")
    if database.get("CONN_MAX_AGE") == 0 and pooled:
        return []
    return [Error("CONN_MAX_AGE must be 0, and PostgreSQL must have its pool.", id="agora.E005")]


@register(Tags.compatibility)
def sqlite_has_full_text(app_configs, **kwargs):
    """Some builds of SQLite lack it, and there the first migration that needs it would fail half way."""
    if settings.DATABASES["default"]["ENGINE"] != "django.db.backends.sqlite3":
        return []
    with closing(sqlite3.connect(":memory:")) as line:
        try:
            line.execute("CREATE VIRTUAL TABLE words USING fts5(body)")
        except sqlite3.OperationalError:
            return [
                Error("Python's SQLite must have its FTS5 extension, or DATABASE_URL name PostgreSQL.", id="agora.E006")
            ]
    return []


@register(Tags.compatibility)
def the_archive_has_its_days(app_configs, **kwargs):
    """Without them the sweep of the inboxes would fail each time."""
    if settings.ARCHIVE_AFTER is not None:
        return []
    return [Error(f"AGORA_ARCHIVE_DAYS must be a number of days, from 0 to {MOST_DAYS:,}.", id="agora.E007")]


@register(Tags.compatibility)
def warnings_have_their_days(app_configs, **kwargs):
    """Without them nobody could be warned or dismissed."""
    if settings.WARNING_AGE is not None:
        return []
    return [Error(f"AGORA_WARNING_DAYS must be a number of days, from 0 to {MOST_DAYS:,}.", id="agora.E008")]


@register(Tags.compatibility)
def a_nodes_agent_has_fewer_tools_than_a_person(app_configs, **kwargs):
    """It answers whoever asks, and nobody watches it (R140)."""
    problem = tools.fault(plans.TOOLS)
    return [Error(f"AGORA_TOOLS, AGORA_NODE_TOOLS: {problem}.", id="agora.E009")] if problem else []
