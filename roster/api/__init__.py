"""The roster's calls, a file for each subject; ``agora_web.api`` mounts their routers."""

from . import conduct, mind, nodes, registry, staff, templates

ROUTERS = (registry.router, staff.router, nodes.router, mind.router, templates.router, conduct.router)
