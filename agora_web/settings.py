"""Settings, read from the environment. ``DATABASE_URL`` and ``REDIS_URL`` are all that tells small from large.

Every variable is described in docs/settings.md; a test holds the page complete.
"""

import hashlib
import os
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

from roster.tools import named

from .cli.valkey import address
from .database import database
from .secret import secret_key
from .spans import days

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("AGORA_DATA") or BASE_DIR / "data").absolute()  # as the supervisor spells it

SECRET_KEY = os.environ.get("AGORA_SECRET_KEY") or secret_key(DATA_DIR)
DEBUG = False
PUBLIC_URL = os.environ.get("AGORA_URL", "").rstrip("/")
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *filter(None, os.environ.get("AGORA_HOSTS", "").split(","))]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []
if PUBLIC_URL:
    ALLOWED_HOSTS.append(PUBLIC_URL.split("://", 1)[-1].partition(":")[0])
HTTPS = PUBLIC_URL.startswith("https://")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "ninja",
    "agora_web.apps.AgoraWebConfig",
    "roster.apps.RosterConfig",
    "inbox.apps.InboxConfig",
]

MIDDLEWARE = [
    "agora_web.middleware.RequestId",
    "agora_web.middleware.OneEncoding",
    "agora_web.middleware.DatabaseAway",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "agora_web.middleware.ContentSecurityPolicy",
    "agora_web.middleware.NotKept",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "agora_web.middleware.SessionLimits",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "agora_web.urls"
ASGI_APPLICATION = "agora_web.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "roster.views.around.around",
                "inbox.views.news.mailbox",
            ],
        },
    }
]

DATABASES = {"default": database(os.environ.get("DATABASE_URL") or f"sqlite://{quote(str(DATA_DIR))}/hub.sqlite3")}
DATABASES["default"]["CONN_MAX_AGE"] = 0  # kept connections leak under ASGI; PostgreSQL has its pool instead
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = os.environ.get("REDIS_URL") or address(DATA_DIR)
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        # redis-py's own read time-out of 5 s would tear down every quiet subscriber.
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": None, "socket_connect_timeout": 5}]},
    }
}
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 900, "socket_keepalive": True}
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "agora_web.schedule:InMemoryScheduler"
CELERY_TIMEZONE = "UTC"

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = "agora_web.formats"

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/sign-in/"
# Cookies know no ports: with one name, signing in at a second hub on the same host would end the first one's session.
_MARK = hashlib.sha256(SECRET_KEY.encode()).hexdigest()[:8]
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"agora_session_{_MARK}", f"agora_csrf_{_MARK}"
SESSION_COOKIE_AGE = int(timedelta(hours=12).total_seconds())  # idle limit; SESSION_ABSOLUTE_AGE bounds the rest
SESSION_SAVE_EVERY_REQUEST = False
SESSION_ABSOLUTE_AGE = timedelta(days=7)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "roster.views.signing.csrf_failure"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
X_FRAME_OPTIONS = "DENY"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "agora_web.logs.OneLine", "format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "daphne": {"level": "WARNING"},
        "django.channels.server": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        "django.request": {"level": "CRITICAL"},  # our own line has the request's id
    },
}

# ---- the hub's own numbers (requirements, part C) -------------------------------------------------------------------

DORMANCY_SWEEP = 300  # seconds between two looks at async and always-on agents
EXPIRY_SWEEP = 60  # seconds between two looks at ephemeral agents
HOUR_COUNT = 300  # seconds between two counts of the fleet for the present hour of the band
SWEEP_WATCH = 60  # seconds between two looks at the sweeps themselves
EMPLOYMENT_SWEEP = 5  # seconds between two looks at who drains and at clones whose lifetime ended
DRAIN_LATE = timedelta(days=1)  # after this an agent that still drains is an anomaly; nothing else happens to it
SWEEP_BATCH = 500  # rows a transaction
DRAIN_ACK = 3  # seconds between two looks at leases that lapsed and mail that expired
ARCHIVE_AFTER = days(os.environ.get("AGORA_ARCHIVE_DAYS", "30"))  # after its ack, mail moves to the archive
SURGE_SWEEP = 60  # seconds between two looks at the queues that surge rules watch
WARNING_AGE = days(os.environ.get("AGORA_WARNING_DAYS", "90"))  # how long a warning counts
PERSON_TOOLS = named(os.environ.get("AGORA_TOOLS", "read,write,edit,shell,search,fetch,mail"))
NODE_TOOLS = named(os.environ.get("AGORA_NODE_TOOLS", "read,search,mail"))
GUARD_SHARE = 0.15  # of the live agents in one sweep; more than this, and at least GUARD_LEAST, holds the edges
GUARD_LEAST = 3
GUARD_HOLD = timedelta(minutes=14, seconds=30)  # 15 min at most: a tick may be early, and the one after it too late
UPTIME_MARK = 5  # seconds between two marks of a web process that it can hear
BODY_LIMIT = 64 * 1024  # bytes of one request
_PROMPT, _ENGRAM = 2 * 1024 * 1024, 512 * 1024  # 256 kB and 64 kB, each character perhaps written as an escape
BODY_LIMITS = {  # of the calls that carry more, by the last part of their address
    "heartbeats": 1024 * 1024,
    **dict.fromkeys(("messages", "prompt", "answer"), _PROMPT),
    **dict.fromkeys(("engram", "memory", "templates", "agents"), _ENGRAM),
}

# Requests a second and the burst above it, for each caller. A heartbeat has a bucket of its own.
RATES = {
    "api": (float(os.environ.get("AGORA_RATE_API", 50)), 300),
    "heartbeat": (float(os.environ.get("AGORA_RATE_HEARTBEAT", 200)), 2000),
    "refused": (float(os.environ.get("AGORA_RATE_REFUSED", 5)), 200),
}
SIGN_IN_TRIES = 8  # failures of one person from one address before a pause
SIGN_IN_PAUSE = timedelta(minutes=15)
