"""The addresses of the pages of nodes."""

from django.urls import path

from .views import nodes

urlpatterns = [
    path("", nodes.nodes, name="nodes"),
    path("<str:slug>/ask/", nodes.ask, name="node-ask"),
    path("<str:slug>/", nodes.node, name="node"),
]
