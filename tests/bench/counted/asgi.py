"""The hub, with a count of the rows that its feed renders. ``GET /rendered`` tells it."""

from agora_web.asgi import application as hub  # first, since it loads the apps
from roster.live import consumers, feed

render, rendered = feed.render, [0]
consumers.RECHECK = 3600.0  # seconds: what a look at a page's session costs goes by time, not by change


def counting(rows):
    rendered[0] += len(rows)
    return render(rows)


feed.render = counting


async def application(scope, receive, send):
    if scope["type"] != "http" or scope["path"] != "/rendered":
        return await hub(scope, receive, send)
    body = str(rendered[0]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"Content-Length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})
