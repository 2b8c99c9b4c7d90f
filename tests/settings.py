"""Settings of the tests: a data folder and a Valkey of their own, started before Django reads anything.

With DATABASE_URL set the same tests run on PostgreSQL.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from tests.services import Valkey

_folder = Path(tempfile.mkdtemp(prefix="agora-test-"))
_owner = os.getpid()
os.environ["AGORA_DATA"] = str(_folder)
(_folder / "static").mkdir()
_valkey = Valkey(_folder)
os.environ["REDIS_URL"] = _valkey.url


@atexit.register
def _tidy():
    if os.getpid() == _owner:  # not in a forked child
        _valkey.stop()
        shutil.rmtree(_folder, ignore_errors=True)


from agora_web.settings import *  # noqa: E402, F403
from agora_web.settings import DATABASES  # noqa: E402

if "sqlite" in DATABASES["default"]["ENGINE"]:
    # a file, since the writer thread and the database threads have connections of their own
    DATABASES["default"]["TEST"] = {"NAME": str(_folder / "test.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
RATES = {"api": (1e6, 10**6), "heartbeat": (1e6, 10**6), "refused": (1e6, 10**6)}
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "agora_session", "csrftoken"  # by their plain names, for the tests
