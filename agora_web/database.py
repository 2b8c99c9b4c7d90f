"""``DATABASE_URL`` to Django's ``DATABASES`` entry: SQLite embedded, PostgreSQL scaled out."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

from django.db import connection

# WAL lets readers go on while one writes; IMMEDIATE makes a read-then-write transaction wait its turn instead of
# failing at once; FULL costs nothing under group commit and survives a power cut. The pulse writes the log back, so
# that no heartbeat waits for it; a commit does so only where the log has grown to 16,000 pages (64 MiB) meanwhile.
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA wal_autocheckpoint=16000;"
    "PRAGMA mmap_size=134217728;PRAGMA cache_size=-20000;"
)
SQLITE_OPTIONS = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": SQLITE_PRAGMAS}
# Seconds and milliseconds after which a database that stands still is given up, instead of holding a thread for ever.
POSTGRES_OPTIONS = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "options": "-c statement_timeout=30s -c idle_in_transaction_session_timeout=60s",
}
# For each process. A web process cannot use more at once; two of them and a worker of four threads stay at 20 together.
# A pool gives up one idle connection each `max_idle` seconds, so after a storm it is small again within half a minute;
# and by itself it would try a server that is away ever more rarely, up to minutes after its return.
POOL = {"min_size": 1, "max_size": 8, "timeout": 10, "max_idle": 3, "reconnect_timeout": 5}


def database(url: str) -> dict:
    """The settings entry for ``sqlite:///path`` or ``postgresql://user:password@host:port/name?option=value``.

    Raises ValueError on any other scheme.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": unquote(parts.path), "OPTIONS": dict(SQLITE_OPTIONS)}
    if parts.scheme in ("postgres", "postgresql"):
        query = dict(parse_qsl(parts.query))
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path.lstrip("/")),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": query.pop("host", parts.hostname or ""),
            "PORT": str(parts.port or query.pop("port", "")),
            "CONN_HEALTH_CHECKS": True,  # else each idle connection fails one caller after the server was restarted
            "OPTIONS": {"pool": dict(POOL), **POSTGRES_OPTIONS, **query},
        }
    raise ValueError(f"DATABASE_URL must start with sqlite:// or postgresql://, not {parts.scheme}://")


def write_back() -> None:
    """Brings SQLite's log back into its file beside readers and writers, waiting for none; PostgreSQL does so itself."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
