"""Which address leads where. Without a sign-in or a token only the health addresses, the sign-in pages and the
description of the API answer."""

from django.contrib import admin
from django.urls import include, path

from roster.views import signing

from .api import api

urlpatterns = [
    path("api/", api.urls),
    # one way in, with its limits and its log: the admin has none of its own
    path("admin/login/", signing.admin_sign_in),
    path("admin/", admin.site.urls),
    path("inbox/", include("inbox.urls")),
    path("nodes/", include("inbox.node_urls")),
    path("agents/", include("inbox.agent_urls")),
    path("", include("roster.urls")),
]

handler403 = "roster.views.refused.forbidden"
handler500 = "agora_web.middleware.broken"
