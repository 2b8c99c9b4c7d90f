from django.apps import AppConfig


class InboxConfig(AppConfig):
    name = "inbox"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Inbox"

    def ready(self):
        """Tells the roster, which never imports the inbox, of its sweep and of who holds work."""
        from roster import plans, work

        from .plans import PLAN
        from .services import port, sweeping

        work.register(port.Port())
        plans.add(sweeping.NAME, PLAN.period, "inbox.tasks.drain_ack")
