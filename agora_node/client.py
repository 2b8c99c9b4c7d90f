"""Calls to the hub: JSON over HTTP(S), one error class, and a token that never leaves the hub's own address."""

import http.client
import json
import socket
import time
from collections import namedtuple
from contextlib import suppress
from datetime import datetime, timezone
from urllib.parse import urlencode, urljoin, urlsplit

from agora_node import __version__
from agora_node.errors import HubError, UsageError

CONNECT_AND_READ = 10.0
WHOLE_CALL = 30.0
LARGEST_ANSWER = 16 * 1024 * 1024
REDIRECTS = 3


class Answer(namedtuple("Answer", "status body date took headers")):
    """`date` is the hub's clock when it answered (aware datetime or None), `took` the seconds until it was here.
    `headers.get(name)` reads a header."""

    @property
    def now(self):
        """The moment to tell ages against: the hub's clock, ours only where a hub does not tell its own."""
        return self.date or datetime.now(timezone.utc)


def parse_hub_url(text):
    """Return the hub's address without a trailing slash; raises UsageError when it is not a plain http(s) address."""
    try:
        parts = urlsplit(text)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_fine = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine:
        raise UsageError(f"{text!r} is not a hub's address: expected http://HOST[:PORT] or https://HOST[:PORT]")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError("a hub's address has no user name, password, query or fragment")
    return text.rstrip("/")


class Hub:
    """One hub, one token.

    `acting_as` names the agent that a node token speaks for. `timeout` (seconds) bounds connecting and each read.
    `patience` (seconds) is how long a call may wait in all when the hub asks for it by Retry-After; 0 = never.
    """

    def __init__(self, url, token=None, acting_as=None, *, timeout=CONNECT_AND_READ, patience=0.0):
        self.url = parse_hub_url(url)
        self.token, self.acting_as = token, acting_as
        self.timeout, self.patience = timeout, patience
        self._under_way, self._hung_up = None, False

    def get(self, path, query=None):
        """GET; returns an Answer, raises HubError."""
        return self.call("GET", f"{path}?{urlencode(query)}" if query else path)

    def pages(self, path, query):
        """GET a list page by page, along each answer's `next`; yields the Answers, raises HubError."""
        seen = set()
        while True:
            answer = self.get(path, query)
            yield answer
            cursor = answer.body.get("next")
            if cursor is None:
                return
            if cursor in seen:
                raise HubError("cursor_repeats", f"the list {path} of the hub goes round in circles")
            seen.add(cursor)
            query = {**query, "after": cursor}

    def post(self, path, body, headers=None):
        """POST `body` as JSON, with more `headers` when given; returns an Answer, raises HubError."""
        return self.call("POST", path, body, headers)

    def put(self, path, body):
        """PUT `body` as JSON; returns an Answer, raises HubError."""
        return self.call("PUT", path, body)

    def call(self, method, path, body=None, headers=None):
        """One call, repeated only where the hub asked for a pause that patience allows."""
        left = self.patience
        while True:
            try:
                return self._follow(method, self.url + path, body, headers)
            except HubError as error:
                pause = max(error.retry_after or 0.0, 0.5)
                if error.retry_after is None or pause > left:
                    raise
            left -= pause
            time.sleep(pause)

    def hang_up(self):
        """Let the hub know that the call under way, and any after it, is not waited for. Fit for a signal handler.

        Only our end of the line is closed: what the hub has answered by then still arrives.
        """
        self._hung_up = True
        line = self._under_way and self._under_way.sock
        if line:
            with suppress(OSError):
                # Not the method of a TLS socket, which could read nothing more after it.
                socket.socket.shutdown(line, socket.SHUT_WR)

    def _follow(self, method, url, body, headers):
        for _ in range(REDIRECTS):
            response, raw, took = self._exchange(method, url, body, headers)
            target = response.headers.get("Location")
            keeps_method = response.status in (307, 308) or method == "GET"
            if not (300 <= response.status < 400 and target and keeps_method):
                return _read(response, raw, took)
            url = urljoin(url, target)
            self._refuse_elsewhere(url, response.status)
        raise HubError("redirect_loop", f"{self.url} redirects in circles")

    def _refuse_elsewhere(self, target, status):
        """A token must not travel to whoever a Location header names, nor from https to http."""
        if _origin(target) != _origin(self.url):
            raise HubError(
                "redirected_elsewhere",
                f"{self.url} redirects to {target}, which is another address; the "
                "token is not sent there (if that is the hub, log in with that address)",
                status=status,
            )

    def _exchange(self, method, url, body, headers):
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        connection_class = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connection_class(parts.hostname, parts.port, timeout=self.timeout)
        begun = time.monotonic()
        self._under_way = connection
        try:
            target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
            connection.request(method, target, *self._payload(body, headers))
            if self._hung_up:
                self.hang_up()
            response = connection.getresponse()
            raw = _read_all(response, begun + WHOLE_CALL)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise HubError("unreachable", f"{self.url} cannot be reached: {_reason(error)}") from None
        finally:
            self._under_way = None
            connection.close()
        return response, raw, time.monotonic() - begun

    def _payload(self, body, more):
        usual = {"Accept": "application/json", "User-Agent": f"agora/{__version__}", "Connection": "close"}
        headers = {**usual, **(more or {})}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.acting_as:
            headers["Agora-Agent"] = self.acting_as
        if body is None:
            return None, headers
        headers["Content-Type"] = "application/json"
        return json.dumps(body).encode("ascii"), headers


def listed(body, name):
    """The list of objects under `name` in an answer's body; raises HubError when there is none."""
    found = body.get(name)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise HubError("not_a_hub", f"something answered there, but not with a list of {name}")
    return found


def _origin(url):
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, port


def _read_all(response, deadline):
    """The whole body; a hub that trickles bytes past the deadline or sends without end counts as not reachable."""
    chunks, size = [], 0
    while chunk := response.read1(65536):
        size += len(chunk)
        if size > LARGEST_ANSWER:
            raise OSError("its answer is too large")
        if time.monotonic() > deadline:
            raise TimeoutError("its answer took too long")
        chunks.append(chunk)
    return b"".join(chunks)


def _reason(error):
    if isinstance(error, TimeoutError):
        return str(error) or "timed out"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text[:200]


def _read(response, raw, took):
    try:
        body = json.loads(raw) if raw else {}
    except (ValueError, RecursionError):
        body = None
    if 200 <= response.status < 300 and isinstance(body, dict):
        return Answer(response.status, body, _date(response.headers.get("Date")), took, response.headers)
    if 200 <= response.status < 400:
        raise HubError("not_a_hub", "something answered there, but not in the words of an Agora hub")
    raise _refusal(response, body)


def _refusal(response, body):
    body = body if isinstance(body, dict) else {}
    told = body.get("error")
    told = told if isinstance(told, dict) else {"detail": body}
    return HubError(
        str(told.get("code") or f"http_{response.status}"),
        str(told.get("message") or f"the hub answered {response.status} {response.reason}"),
        status=response.status,
        request_id=told.get("request_id"),
        retry_after=_retry_after(response.headers),
        detail=told.get("detail"),
    )


def _retry_after(headers):
    """Seconds asked for by Retry-After, or None. A date is read against the hub's own clock, not against ours."""
    asked = (headers.get("Retry-After") or "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    until, since = _date(asked), _date(headers.get("Date"))
    return max(0.0, (until - since).total_seconds()) if until and since else None


def _date(text):
    from email.utils import parsedate_to_datetime

    try:
        found = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else None
