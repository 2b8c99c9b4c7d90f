from django.apps import AppConfig


class AgoraWebConfig(AppConfig):
    name = "agora_web"

    def ready(self):
        from . import checks, fleet_check  # noqa: F401  they register the start-up checks
