"""daphne, with a bound on what one request may leave on this machine. Run as ``python -m agora_web.server``.

daphne keeps a whole body, in a temporary file if it is large, before the application is asked about anything, so the
bound of ``bodies`` has to hold here too. And it reads each POST as if it were a form, which Django does again where it
is one: a seventh of a heartbeat's CPU.
"""

from daphne import http_protocol
from daphne.cli import CommandLineInterface

from .bodies import KEPT


class BoundedRequest(http_protocol.WebRequest):
    """Reads a body to its end, keeps no more of it than the application needs to refuse it, and hands it on as it is."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, parsePOSTFormSubmission=False, **kwargs)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802  the name is Twisted's
        room = KEPT - self.content.tell()
        if room > 0:
            super().handleContentChunk(data[:room])


http_protocol.WebRequest = BoundedRequest  # daphne's factory looks it up by this name

if __name__ == "__main__":
    CommandLineInterface.entrypoint()
