"""The sessions an agent named in its heartbeats: pure functions over a small mapping, standard library only.

The mapping is ``{key: {"host", "first", "last"}}`` with times in RFC 3339; an entry is marked ``called`` while its
session was heard by other calls alone. It answers three questions: does a sign-off really end the agent (P16), do two
processes share one identity (P15), and does a heartbeat begin a session (F072)?
"""

from __future__ import annotations

from datetime import datetime, timedelta

REMEMBERED = 8  # sessions; enough to name the rivals, small enough for every heartbeat to carry along
RECENT = timedelta(minutes=10)


def hear(heard: dict, key: str | None, host: str | None, at: datetime, beat: bool = True) -> dict:
    """The mapping after a heartbeat, or else another call, from session ``key``; without a key nothing is known and
    nothing changes."""
    if not key:
        return heard
    now = at.isoformat()
    known = heard.get(key)
    entry = {"host": host or (known or {}).get("host", ""), "first": known["first"] if known else now, "last": now}
    if not beat and not (known and greeted(heard, key)):
        entry["called"] = True
    kept = sorted((item for item in heard.items() if item[0] != key), key=lambda item: item[1]["last"])
    return dict(kept[-(REMEMBERED - 1) :]) | {key: entry}


def greeted(heard: dict, key: str) -> bool:
    """Whether session ``key`` has sent a heartbeat."""
    return key in heard and "called" not in heard[key]


def latest(heard: dict) -> str:
    """The session that was heard last, of at least one."""
    return max(heard, key=lambda key: heard[key]["last"])


def sign_off(heard: dict, key: str | None) -> tuple[dict, bool]:
    """The mapping after session ``key`` left, and whether the agent left with it.

    It stays where another session has been heard since the leaving one began, or where the leaving one is not known
    while others are: a late goodbye never hides a newer hello. A sign-off that names no session ends them all.
    """
    if not key:
        return {}, True
    others = {name: entry for name, entry in heard.items() if name != key}
    if key not in heard:
        return others, not others
    began = _time(heard[key]["first"])
    return others, not any(_time(entry["last"]) > began for entry in others.values())


def rivals(heard: dict, now: datetime, allowed: int = 1) -> list[dict]:
    """The sessions that speak at once as one agent: an older one was heard after the newest had begun.

    Empty unless there are more than are ``allowed``. A plain restart is no rivalry: the old session falls silent.
    """
    if len(heard) <= allowed:
        return []
    newest = max(_time(entry["first"]) for entry in heard.values())
    speaking = [
        {"session": name, "host": entry["host"]}
        for name, entry in heard.items()
        if _time(entry["last"]) >= newest and now - _time(entry["last"]) <= RECENT
    ]
    return speaking if len(speaking) > allowed else []


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
