"""The websocket addresses."""

from django.urls import path, re_path

from .box import BoxPage
from .consumers import AgentPage, Nowhere, RosterPage
from .nodes import NodesPage

routes = [
    path("live/roster/", RosterPage.as_asgi()),
    path("live/agents/<int:pk>/", AgentPage.as_asgi()),
    path("live/mail/<int:pk>/", BoxPage.as_asgi()),
    path("live/nodes/", NodesPage.as_asgi()),
    path("live/nodes/<str:slug>/", NodesPage.as_asgi()),
    re_path("", Nowhere.as_asgi()),
]
