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
        code = importlib.import_module(f"agora_node.commands.{args.command.replace('-', '_')}").run(args)
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
    for add in (_add_login, _add_heartbeat, _add_agents, _add_status, *MAIL, _add_run_node):
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
    _add_as(beat)


def _add_agents(commands):
    agents = _command(commands, "agents", "Show the roster.")
    shape = agents.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="the list as the hub gave it")
    shape.add_argument("--watch", action="store_true", help="keep showing it; piped: a line for each change")
    agents.add_argument("--presence", metavar="WORD", help="live, silent, dormant, expired, unknown or disabled")
    agents.add_argument("--q", metavar="TEXT", help="only those that match this text")


def _add_status(commands):
    _command(commands, "status", "Check the hub, the clock, the token and the agent's own entry.")


def _add_send(commands):
    send = _command(commands, "send", "Write to others; kept and sent later when the hub is away.")
    send.add_argument("to", type=recipients, metavar="TO", help="an id, several ID,ID,..., group:NAME, or live")
    send.add_argument("-s", "--subject", type=text, help="what it is about")
    send.add_argument("-m", "--message", type=text, metavar="TEXT", help="the text; - or left out: standard input")
    send.add_argument("--reply", type=seq, metavar="SEQ", help="the message this one answers")
    send.add_argument("--importance", choices=("low", "normal", "high"))
    send.add_argument("--expires", type=duration, metavar="DURATION", help="worth nothing after that (45s, 30m, 2h)")
    send.add_argument("--json", action="store_true", help="the answer as the hub gave it")
    _add_as(send)


def _add_inbox(commands):
    inbox = _command(commands, "inbox", "Show what is in the own inbox; looking consumes nothing.")
    inbox.add_argument("--json", action="store_true", help="the inbox as the hub gave it")
    inbox.add_argument("--all", action="store_true", help="what is acked, dead and archived too")
    _add_as(inbox)


def _add_read(commands):
    read = _command(commands, "read", "Print one message and mark it as read; it stays until it is acked.")
    read.add_argument("seq", type=seq, metavar="SEQ", help="the message's number")
    read.add_argument("--json", action="store_true", help="the message as the hub gave it")
    _add_as(read)


def _add_ack(commands):
    ack = _command(commands, "ack", "Say that messages are done with.")
    ack.add_argument("seqs", type=seq, nargs="+", metavar="SEQ", help="the messages' numbers")
    _add_as(ack)


def _add_outbox(commands):
    outbox = _command(commands, "outbox", "Show the messages that are kept here for the hub, or send them now.")
    does = outbox.add_mutually_exclusive_group()
    does.add_argument("--json", action="store_true", help="everything, the texts too")
    does.add_argument("--send", nargs="*", metavar="ID", help="send what is kept; with ID also what was refused")
    does.add_argument("--forget", nargs="+", metavar="ID", help="remove messages that will not be sent")
    _add_as(outbox)


def _add_run_node(commands):
    runs = _command(commands, "run-node", "Have each prompt to a node's agent, or to another, answered by a command.")
    runs.usage = "agora run-node [options] -- COMMAND [ARGUMENT ...]"
    runs.add_argument(
        "argv", nargs="+", metavar="COMMAND", help="reads the prompt as JSON, prints the answer; no shell"
    )
    runs.add_argument(
        "--lease",
        type=duration,
        default=120,
        metavar="DURATION",
        help="how long the hub waits for a sign of this process before it fails the prompt (default: 2m)",
    )
    runs.add_argument(
        "--timeout", type=duration, default=1800, metavar="DURATION", help="how long COMMAND may take (default: 30m)"
    )
    runs.add_argument(
        "--interval", type=duration, default=60, metavar="DURATION", help="declare how often it beats (default: 1m)"
    )
    _add_as(runs)


def _add_as(command):
    command.add_argument("--as", dest="as_slug", type=slug, metavar="SLUG", help="the agent a node token speaks for")


MAIL = (_add_send, _add_inbox, _add_read, _add_ack, _add_outbox)


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


def recipients(said):
    """What the hub takes as `to`: an id or an address of many as it is, several ids as a list."""
    if said.startswith("group:") and "," not in said:
        return f"group:{slug(said.removeprefix('group:'))}"
    names = [each.strip() for each in said.split(",")]
    for name in names if len(names) > 1 else ():
        if name == "live" or name.startswith("group:"):
            raise argparse.ArgumentTypeError(f"{harmless(name)} stands alone: it is many already; send twice")
    ids = [slug(name) for name in names]
    return ids if len(ids) > 1 else ids[0]


def text(said):
    """Text that can be sent on; bytes that are no text reach Python as surrogates."""
    if any("\ud800" <= char <= "\udfff" for char in said):
        raise argparse.ArgumentTypeError("that is not UTF-8 text")
    return said


def seq(said):
    """A message's number."""
    if not (said.isascii() and said.isdigit() and 0 < int(said[:20]) < 2**63):
        raise argparse.ArgumentTypeError(f"{harmless(said)!r} is not a message's number")
    return int(said)


def duration(text):
    """Seconds; the argparse face of parse_duration."""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
