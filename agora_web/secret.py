"""The hub's signing key, made once and kept in the data folder."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def secret_key(folder: Path) -> str:
    """The key in ``folder/secret.key``; makes it (mode 0600) at first need, safely beside another process."""
    path = folder / "secret.key"
    try:
        return path.read_text()
    except FileNotFoundError:
        pass
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = folder / f".secret.{os.getpid()}"
    made.touch(mode=0o600)
    made.write_text(secrets.token_urlsafe(48))
    try:
        os.link(made, path)  # the first of two processes wins, the other reads what it made
    except FileExistsError:
        pass
    made.unlink()
    return path.read_text()
