"""The admin: edits go through the services that the API uses, what computes itself is read-only, nothing is deleted.

Every list is read through ``paging``: its cost does not follow the size of its table.
"""

from django.contrib import admin

from . import conduct, grants, history, members, mind, people, templates, tokens

__all__ = ["conduct", "grants", "history", "members", "mind", "people", "templates", "tokens"]

admin.site.site_title = admin.site.site_header = "Agora"
admin.site.index_title = "Administration"
admin.site.enable_nav_sidebar = False  # the lists stand in one line above the page
