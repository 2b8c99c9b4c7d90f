"""Where this machine keeps the hub's address and its token, and who may override them.

The file is `$XDG_CONFIG_HOME/agora/config.toml`, readable by its owner alone; `AGORA_HUB` and `AGORA_TOKEN` win.
Beside them: where this machine keeps what it has still to send.
"""

import os

from agora_node.errors import UsageError

KEYS = ("hub", "token", "kind", "agent")


class Config:
    """The hub's address, the token, the token's kind, and the agent it speaks as; None where not known."""

    def __init__(self, hub=None, token=None, kind=None, agent=None, token_from="file"):
        self.hub, self.token, self.kind, self.agent = hub, token, kind, agent
        self.token_from = token_from

    def require(self):
        """Return self, or raise UsageError saying what is missing."""
        if not self.hub:
            raise UsageError("no hub is known here: run `agora login --hub URL --token-file F`, or set AGORA_HUB")
        if not self.token:
            raise UsageError("no token is known here: run `agora login --token-file F`, or set AGORA_TOKEN")
        return self


def config_path(environ=os.environ):
    """The path of config.toml."""
    return os.path.join(_xdg(environ, "XDG_CONFIG_HOME", ".config"), "agora", "config.toml")


def outbox_path(environ=os.environ):
    """The path of the file that holds the outbox, in the state folder `$AGORA_STATE` (`$XDG_STATE_HOME/agora`)."""
    own = environ.get("AGORA_STATE", "")
    folder = own if os.path.isabs(own) else os.path.join(_xdg(environ, "XDG_STATE_HOME", ".local", "state"), "agora")
    return os.path.join(folder, "agora.db")


def _xdg(environ, name, *fallback):
    folder = environ.get(name, "")
    # The XDG rules say that a relative path is to be ignored.
    return folder if os.path.isabs(folder) else os.path.join(os.path.expanduser("~"), *fallback)


def load(environ=os.environ):
    """Read the file and the environment into a Config; raises UsageError for a file that cannot be read."""
    stored = read_file(config_path(environ))
    hub, token = environ.get("AGORA_HUB"), environ.get("AGORA_TOKEN")
    if token:
        # The stored id belongs to the stored token; whose this one is, only the hub knows.
        return Config(hub or stored.get("hub"), check_token(token, "AGORA_TOKEN"), token_from="AGORA_TOKEN")
    if hub and stored.get("token") and hub.rstrip("/") != stored.get("hub"):
        raise UsageError(
            f"AGORA_HUB names {hub}, but the stored token belongs to {stored.get('hub')} and is not sent elsewhere: "
            "set AGORA_TOKEN too, or log in there"
        )
    return Config(**stored) if stored else Config(hub=hub)


def read_file(path):
    """The known keys of config.toml as a dict of strings; empty when there is no such file."""
    try:
        with open(path, "rb") as file:
            import tomllib

            found = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    return {key: found[key] for key in KEYS if isinstance(found.get(key), str)}


def prepare(path):
    """Make the folder of `path` (0700); raises UsageError when nothing can be written there."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{folder} is not writable: nothing could be stored there")


def save(config, path):
    """Replace `path` by this config in one step, mode 0600 from its first byte on."""
    prepare(path)
    beside = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(_as_toml(config))
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        if os.path.exists(beside):
            os.unlink(beside)
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _as_toml(config):
    import json

    # Inside double quotes, TOML reads every escape that JSON writes once non-ASCII is left as it is.
    values = ((key, getattr(config, key)) for key in KEYS)
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values if value)


def check_token(text, where):
    """Return the token in `text`; raises UsageError (never repeating the text) unless it is a printable ASCII word."""
    token = text.strip()
    if not token:
        raise UsageError(f"{where} holds no token")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"{where} does not hold one token: expected a single word of printable ASCII characters")
    return token
