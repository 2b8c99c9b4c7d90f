"""The Celery application: the sweeps run on its worker, beat tells it when."""

import os

import django
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agora_web.settings")

app = Celery("agora")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_configure.connect
def set_schedule(sender, **kwargs):
    django.setup()  # beat asks before Celery has done it, and what fails in here is passed over in silence
    from .schedule import BEAT_SCHEDULE

    sender.conf.beat_schedule = BEAT_SCHEDULE
