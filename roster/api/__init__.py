"""The roster's calls, a file for each subject; ``agora_web.api`` mounts their routers."""

from . import conduct, mind, registry

ROUTERS = (registry.router, mind.router, conduct.router)
