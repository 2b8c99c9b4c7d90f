from django.apps import AppConfig


class AgoraWebConfig(AppConfig):
    name = "agora_web"

    def ready(self):
        from . import checks  # noqa: F401  registers the start-up checks
