"""The addresses of the pages and of the hub's health."""

from django.urls import path

from . import health, views

urlpatterns = [
    path("", views.roster, name="roster"),
    path("agents/<str:slug>/", views.agent, name="agent"),
    path("guard/", views.held, name="held"),
    path("guard/release/", views.release, name="release"),
    path("sign-in/", views.sign_in, name="sign-in"),
    path("sign-in/link/<str:secret>/", views.sign_in_link, name="sign-in-link"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.exposition, name="metrics"),
]
