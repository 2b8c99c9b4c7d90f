"""From a command line to the command: `up` and `test` are ours, everything else is Django's."""

import os
import sys
from pathlib import Path

from . import bootstrap
from .errors import Refusal

HELP = """\
The Agora hub. Each command makes its environment at its first call.

  manage.py up [--port N] [--host H] [--data DIR]   run the hub on this machine
  manage.py demo [--seconds N]                      a small fleet to look at, beside a running hub
  manage.py sign-in NAME                            a one-time sign-in link for a person
  manage.py token create KIND [NAME]                a new token: enrolment, agent ID, node NAME or person NAME
  manage.py token revoke PREFIX                     end a token
  manage.py test [--soak] [pytest's arguments]      run the tests
  manage.py COMMAND                                 every other Django command, such as migrate, check or shell

Commands beside a hub with another data folder take its --data DIR too, or AGORA_DATA.
"""


def dispatch(root: str, argv: list[str]) -> int:
    """Run one command inside the checkout's environment.

    root: the checkout's folder. argv: the whole command line, the program's name first.
    Returns the exit code; a refusal is one sentence on stderr and 1.
    """
    command = argv[1] if len(argv) > 1 else ""
    if command in ("", "help", "-h", "--help") and len(argv) <= 2:
        print(HELP, end="")
        return 0
    try:
        bootstrap.ensure(Path(root), "requirements-test.txt" if command == "test" else "requirements.txt")
        if command == "up":
            from . import up

            return up.run(Path(root), argv[2:])
        if command == "test":
            from . import test

            return test.run(Path(root), argv[2:])
    except Refusal as refusal:
        print(f"agora: {refusal}", file=sys.stderr)
        return 1
    return _django(_without_data(argv))


def _without_data(argv: list[str]) -> list[str]:
    """The command line without `--data DIR`, which any command takes like `up` does; it goes into AGORA_DATA."""
    for at, word in enumerate(argv):
        if word == "--data" and at + 1 < len(argv):
            os.environ["AGORA_DATA"] = argv[at + 1]
            return argv[:at] + argv[at + 2 :]
        if word.startswith("--data="):
            os.environ["AGORA_DATA"] = word.partition("=")[2]
            return argv[:at] + argv[at + 1 :]
    return argv


def _django(argv: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agora_web.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(argv)
    return 0
