"""The inbox's calls, a file for each subject; ``agora_web.api`` mounts their routers."""

from . import mail, prompts

ROUTERS = (mail.router, prompts.router)
