"""The other ASGI server: the same application with the same bounds, beside a daphne on the same stores."""

from __future__ import annotations

import http.client
import subprocess
import sys
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from tests import hubs
from tests.flows.test_large_bodies import MEGABYTE, spooled
from tests.make import bearer
from tests.scaled.pages import all_show, open_page, open_pages

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def uvicorn(scaled):
    with scaled.web("uvicorn") as web:
        yield web


async def test_uvicorn_and_daphne_serve_one_hub_and_pages_of_both_hear_of_a_change(pair, uvicorn):
    token = pair.hub.register(uvicorn, "served")
    async with open_pages((uvicorn, pair.cookie, "q=served"), (pair.one, pair.cookie, "q=served")) as pages:
        for web in (uvicorn, pair.one):
            with web.client(token) as client:
                client.post("/api/heartbeat", json={"status": f"working: through {web.server}"})
            await all_show(pages, f"through {web.server}")


async def test_a_page_is_told_to_come_back_when_uvicorn_is_stopped(pair, scaled):
    with scaled.web("uvicorn") as web:
        page = await open_page(web, pair.cookie)
        web.processes[0].terminate()
        assert await page.closed_with() == 1012


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
async def test_under_uvicorn_too_no_foreign_page_gets_a_websocket_P64(pair, uvicorn, origin):
    with pytest.raises(InvalidStatus) as refusal:
        await open_page(uvicorn, pair.cookie, origin=origin)
    assert refusal.value.response.status_code == 403


async def test_under_uvicorn_too_the_answers_are_the_same(pair, uvicorn):
    """The status and the headers of a page, a call, a refusal and a body that is too large."""
    asked = [("GET", "/", None), ("GET", "/api/agents", None), ("GET", "/api/nowhere", None),
             ("POST", "/api/heartbeat", b"x" * 70_000), ("GET", "/static/css/agora.css", None)]  # fmt: skip
    headers = bearer(pair.hub.admin_token, Cookie=pair.cookie)
    changing = {"content-length", "date", "etag", "server", "set-cookie", "x-request-id"}
    async with httpx.AsyncClient(headers=headers, timeout=30) as client:
        for method, path, body in asked:
            answers = [await client.request(method, web.url + path, content=body) for web in (uvicorn, pair.one)]
            one, other = ({("status", answer.status_code), *answer.headers.items()} for answer in answers)
            assert [told for told in one ^ other if told[0] not in changing] == [], path


@pytest.mark.parametrize("path", ["/sign-in/", "/api/heartbeat"])
def test_under_uvicorn_too_a_stranger_cannot_fill_the_disk_with_one_request(uvicorn, path):
    line = http.client.HTTPConnection(urlsplit(uvicorn.url).netloc, timeout=60)
    line.putrequest("POST", path)
    line.putheader("Transfer-Encoding", "chunked")
    line.endheaders()
    for _ in range(32):
        line.send(b"%x\r\n%s\r\n" % (len(MEGABYTE), MEGABYTE))
    assert spooled(uvicorn.processes[0].pid) <= 4 * len(MEGABYTE)
    line.send(b"0\r\n\r\n")
    assert line.getresponse().status in (403, 413)


def test_a_server_that_loads_the_hub_inside_its_event_loop_begins_its_uptime_all_the_same(scaled):
    """The deadlines that an outage moves have to be moved before the first answer, not some seconds after it."""
    program = "import asyncio\nasync def main(): import agora_web.asgi\nasyncio.run(main())"
    ran = subprocess.run([sys.executable, "-c", program], cwd=hubs.ROOT, env=scaled.env, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
