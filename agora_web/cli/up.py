"""`manage.py up`: the whole hub on this machine, under one small supervisor."""

import argparse
import os
import resource
import sys
import time
from pathlib import Path

from . import address, bootstrap
from .environment import Environment, running_version
from .errors import Stopped
from .handle import Claim
from .hub import Hub
from .output import Output

DESCRIPTORS = 8192
PORT, HOST = 8000, "127.0.0.1"


def run(root: Path, argv: list[str]) -> int:
    """Start the hub and stay until it is stopped.

    root: the checkout. argv: the arguments after `up`. Returns 0 after a stop that was asked for.
    Raises Refusal, one sentence, when the hub cannot start or one of its processes cannot be kept alive.
    """
    options = _options(root, argv)
    output = Output(sys.stdout.fileno())
    claim = Claim(options.data)
    listener = address.listen(options.host, options.port)
    environment = Environment(bootstrap.place(root), running_version())
    if environment.is_running():
        environment.hold()
    _raise_descriptor_limit(output)
    hub = Hub(root, claim, listener, options.host, output)
    claim.sign(hub.url)
    return _serve(hub, output)


def _serve(hub: Hub, output: Output) -> int:
    started = time.monotonic()
    output.say(f"agora: starting on {hub.url}, data in {hub.data}")
    try:
        hub.start()
        output.say(_welcome(hub, time.monotonic() - started))
        hub.supervisor.wait(lambda: False)
    except Stopped:
        output.say("agora: stopping")
        return 0
    finally:
        hub.stop()
    return 0


def _welcome(hub: Hub, seconds: float) -> str:
    return "\n".join(
        (
            f"  address           {hub.url}/",
            f"  sign in as admin  {hub.secrets['sign_in_url']}  (works once)",
            f"  enrolment token   {hub.secrets['enrolment_token']}  (for new agents; good until the next start)",
            f"agora: ready in {seconds:.1f} s; Ctrl-C stops it",
        )
    )


def _options(root: Path, argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="manage.py up", description="Run the whole hub on this machine.")
    parser.add_argument("--port", type=_port, default=PORT, help=f"port to listen on (default {PORT}; 0 picks one)")
    parser.add_argument("--host", default=HOST, help=f"address or name to listen on (default {HOST})")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("AGORA_DATA") or root / "data"),
        help="folder for everything the hub writes (default: AGORA_DATA, else `data` in the checkout)",
    )
    options = parser.parse_args(argv)
    options.data = options.data.expanduser().absolute()
    return options


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: give a number from 0 to 65535")
    return int(text)


def _raise_descriptor_limit(output: Output) -> None:
    """Each browser and each agent holds a descriptor, so the usual 1,024 run out first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < DESCRIPTORS:
        most = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        if most < DESCRIPTORS:
            output.say(f"agora: only {most} open files are allowed (`ulimit -n`); {DESCRIPTORS} are better")
