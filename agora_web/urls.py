"""Which address leads where. Only the health addresses and the sign-in pages answer without a sign-in."""
from django.contrib import admin
from django.urls import include, path

from .api import api

urlpatterns = [
    path("api/", api.urls),
    path("admin/", admin.site.urls),
    path("", include("roster.urls")),
]
