from django.apps import AppConfig


class RosterConfig(AppConfig):
    name = "roster"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Roster"
