"""The roster's calls, a file for each subject; ``agora_web.api`` mounts their routers."""

from . import registry

ROUTERS = (registry.router,)
