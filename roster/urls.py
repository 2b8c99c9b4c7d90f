"""The addresses of the pages and of the hub's health."""

from django.urls import path

from . import health
from .views import agent, employment, ending, engram, held, hiring, history, roster, signing

urlpatterns = [
    path("", roster.roster, name="roster"),
    path("agents/<str:slug>/", agent.agent, name="agent"),
    path("agents/<str:slug>/engram/", engram.engram, name="engram"),
    path("agents/<str:slug>/<str:name>/", employment.verb, name="verb"),
    path("hire/", hiring.hire, name="hire"),
    path("hire/<str:key>/", hiring.hired, name="hired"),
    path("nodes/<str:slug>/retire/", ending.retire, name="node-retire"),
    path("warnings/<int:pk>/withdraw/", ending.withdraw, name="withdraw"),
    path("events/", history.events, name="events"),
    path("events/newer/", history.newer_events, name="newer-events"),
    path("anomalies/", history.anomalies, name="anomalies"),
    path("anomalies/newer/", history.newer_anomalies, name="newer-anomalies"),
    path("guard/", held.held, name="held"),
    path("guard/release/", held.release, name="release"),
    path("sign-in/", signing.sign_in, name="sign-in"),
    path("sign-in/link/<str:secret>/", signing.sign_in_link, name="sign-in-link"),
    path("sign-out/", signing.sign_out, name="sign-out"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.exposition, name="metrics"),
]
