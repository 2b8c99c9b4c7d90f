"""The roster's calls, a file for each subject; ``agora_web.api`` mounts their routers."""

from . import conduct, mind, nodes, registry, staff

ROUTERS = (registry.router, staff.router, nodes.router, mind.router, conduct.router)
