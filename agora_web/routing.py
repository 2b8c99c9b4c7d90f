"""Which protocol and address goes where: the API's short way, Django for the pages, the websockets of the live pages."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agora_web.settings")

from django.core.asgi import get_asgi_application  # noqa: E402

from .bodies import bounded  # noqa: E402

pages = bounded(get_asgi_application())  # loads the apps that the imports below need

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from roster.live.origin import same_origin  # noqa: E402
from roster.live.routes import routes  # noqa: E402

from .lean import is_lean, lean  # noqa: E402


async def http(scope, receive, send):
    await (lean if is_lean(scope["path"]) else pages)(scope, receive, send)


application = ProtocolTypeRouter({"http": http, "websocket": same_origin(AuthMiddlewareStack(URLRouter(routes)))})
