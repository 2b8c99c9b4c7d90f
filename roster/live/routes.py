"""The websocket addresses."""

from django.urls import path

from .consumers import AgentPage, RosterPage

routes = [
    path("live/roster/", RosterPage.as_asgi()),
    path("live/agents/<int:pk>/", AgentPage.as_asgi()),
]
