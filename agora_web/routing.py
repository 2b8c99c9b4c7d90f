"""Which protocol and address goes where: the API's short way, Django for the pages, the websockets of the live pages."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agora_web.settings")

from django.core.asgi import get_asgi_application  # noqa: E402

from .bodies import bounded  # noqa: E402

pages = bounded(get_asgi_application())  # loads the apps that the imports below need

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import SessionMiddlewareStack  # noqa: E402

from roster.live.origin import same_origin  # noqa: E402
from roster.live.routes import routes  # noqa: E402

from .lean import is_lean, lean  # noqa: E402


async def http(scope, receive, send):
    await (lean if is_lean(scope["path"]) else pages)(scope, receive, send)


# Only the session's key: who it stands for is looked up once the handshake is answered, which has to be at once even
# where many pages come back together. channels would ask for the person first, for all pages on one thread.
websocket = same_origin(SessionMiddlewareStack(URLRouter(routes)))
application = ProtocolTypeRouter({"http": http, "websocket": websocket})
