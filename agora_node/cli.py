"""The `agora` command line: reads the arguments, loads the one module asked for, turns errors into exit codes."""

import argparse
import importlib
import os
import sys

from agora_node import __version__
from agora_node.errors import FINE, HubError, UsageError
from agora_node.words import harmless, parse_duration

EXIT_CODES = "Exit codes: 0 fine, 1 refused by the hub, 2 wrong usage, 3 the hub cannot be reached or cannot serve now."
SLUG_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
MODES = ("ephemeral", "async", "always-on")


def main(argv=None):
    """Run one command; returns its exit code. `argv` defaults to the process's own arguments."""
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")
    args = build_parser().parse_args(argv)
    try:
        code = importlib.import_module(f"agora_node.commands.{args.command}").run(args)
        sys.stdout.flush()
        return code
    except (HubError, UsageError) as error:
        print(f"agora: {harmless(error)}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # Whoever read our output has enough; Python must not complain about it while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except KeyboardInterrupt:
        return 130


def build_parser():
    """The parser of every command."""
    parser = argparse.ArgumentParser(prog="agora", description="Speak to the Agora hub.", epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"agora {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_add_login, _add_heartbeat, _add_agents, _add_status):
        add(commands)
    return parser


def _command(commands, name, help_text):
    return commands.add_parser(name, help=help_text, description=help_text, epilog=EXIT_CODES, allow_abbrev=False)


def _add_login(commands):
    login = _command(commands, "login", "Check a token with the hub and store both, or register a new agent.")
    login.add_argument("--hub", metavar="URL", help="the hub's address; default: AGORA_HUB, or the one stored")
    source = login.add_mutually_exclusive_group(required=True)
    source.add_argument("--token-file", metavar="FILE", help="read the token from this file")
    source.add_argument("--token-stdin", action="store_true", help="read the token from standard input")
    source.add_argument("--token", nargs="?", action=_RefuseToken, help=argparse.SUPPRESS)
    speaks = login.add_mutually_exclusive_group()
    speaks.add_argument("--as", dest="as_slug", type=slug, metavar="SLUG", help="the agent this token speaks for")
    speaks.add_argument("--enrol", type=slug, metavar="SLUG", help="register SLUG by an enrolment token; keep its own")
    login.add_argument("--mode", choices=MODES, help="with --enrol: the liveness mode (default: async)")
    login.add_argument("--interval", type=duration, metavar="DURATION", help="with --enrol: how often it will beat")


def _add_heartbeat(commands):
    beat = _command(commands, "heartbeat", "Say that an agent is there.")
    beat.add_argument("--status", help="idle, working, error, ...; left out: keeps what was said before")
    beat.add_argument("--task", help="what it is working on")
    beat.add_argument("--interval", type=duration, metavar="DURATION", help="declare how often it beats (45s, 30m, 2h)")
    beat.add_argument("--session", metavar="KEY", help="the session this beat belongs to")
    beat.add_argument(
        "--every",
        nargs="?",
        const=0,
        type=duration,
        metavar="DURATION",
        help="go on until stopped, then sign off; without DURATION as often as the hub suggests",
    )
    beat.add_argument("--as", dest="as_slug", type=slug, metavar="SLUG", help="the agent a node token speaks for")


def _add_agents(commands):
    agents = _command(commands, "agents", "Show the roster.")
    shape = agents.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="the list as the hub gave it")
    shape.add_argument("--watch", action="store_true", help="keep showing it; piped: a line for each change")
    agents.add_argument("--presence", metavar="WORD", help="live, silent, dormant, expired, unknown or disabled")
    agents.add_argument("--q", metavar="TEXT", help="only those that match this text")


def _add_status(commands):
    _command(commands, "status", "Check the hub, the clock, the token and the agent's own entry.")


class _RefuseToken(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        parser.error(
            "a token on the command line would be visible to everybody in the process list and in the shell's "
            "history; use --token-file FILE or --token-stdin"
        )


def slug(text):
    """An agent's id, checked before it is put into a header or a path."""
    if not (0 < len(text) <= 64 and SLUG_CHARACTERS.issuperset(text) and text[0].isalnum()):
        raise argparse.ArgumentTypeError(
            f"{harmless(text)!r} is not an id: lower-case letters, digits, '.', '_', '-', at most 64, "
            "starting with a letter or digit"
        )
    return text


def duration(text):
    """Seconds; the argparse face of parse_duration."""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
