"""A body that no call takes is refused, and leaves nothing of its size on the machine."""

import http.client
import os
from urllib.parse import urlsplit

MEGABYTE = b"x" * 1024 * 1024


def spooled(pid: int) -> int:
    """The bytes of the nameless temporary files that the process holds open."""
    held = [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
    return sum(os.stat(path).st_size for path in held if os.readlink(path).endswith("(deleted)"))


def test_a_stranger_cannot_fill_the_disk_with_one_request(hub):
    line = http.client.HTTPConnection(urlsplit(hub.url).netloc, timeout=30)
    line.putrequest("POST", "/api/heartbeat")
    line.putheader("Transfer-Encoding", "chunked")
    line.endheaders()
    for _ in range(32):
        line.send(b"%x\r\n%s\r\n" % (len(MEGABYTE), MEGABYTE))
    assert 0 < spooled(hub.up["processes"]["web"]) <= 4 * len(MEGABYTE)
    line.send(b"0\r\n\r\n")
    assert line.getresponse().status == 413
