"""What an ASGI server loads: the application, and the pulse of the process that serves it."""

from .routing import application  # first, since it loads the apps

from .pulse import start_pulse  # isort: skip

__all__ = ["application"]

start_pulse()
