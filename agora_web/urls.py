"""Which address leads where. Without a sign-in or a token only the health addresses, the sign-in pages and the
description of the API answer."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from .api import api

urlpatterns = [
    path("api/", api.urls),
    # one way in, with its limits and its log: the admin has none of its own
    path("admin/login/", RedirectView.as_view(pattern_name="sign-in", query_string=True)),
    path("admin/", admin.site.urls),
    path("", include("roster.urls")),
]
