"""``DATABASE_URL`` to Django's ``DATABASES`` entry: SQLite embedded, PostgreSQL scaled out."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

# WAL lets readers go on while one writes; IMMEDIATE makes a read-then-write transaction wait its turn instead of
# failing at once; FULL costs nothing under group commit and survives a power cut.
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA mmap_size=134217728;PRAGMA cache_size=-20000;"
)
SQLITE_OPTIONS = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": SQLITE_PRAGMAS}
POOL = {"min_size": 1, "max_size": 16, "timeout": 10}


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
            "OPTIONS": {"pool": dict(POOL), **query},
        }
    raise ValueError(f"DATABASE_URL must start with sqlite:// or postgresql://, not {parts.scheme}://")
