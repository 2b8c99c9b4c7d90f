"""People: who may sign in, and what they may do."""

from __future__ import annotations

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError

from roster import access, clock, states
from roster.models import Agent
from roster.services import people

from .base import KeptAdmin, legal_new_id


class RoleForm(forms.ModelForm):
    """What a person may do is one word, not a set of flags."""

    role = forms.ChoiceField(
        choices=[("", "none: may not look"), *((name, name) for name in access.RANKS)],
        required=False,
        help_text=(
            "A viewer looks at the roster and has mail; a manager also enrols nodes and looks into inboxes, which is"
            " journaled; an admin also comes in here."
        ),
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["role"] = access.role_of(self.instance) or ""


class PersonForm(RoleForm, AdminUserCreationForm):
    """A person's user name is an id like every other in the fleet."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.initial.setdefault("role", "viewer")
        self.initial.setdefault("usable_password", "false")
        self.fields["username"].help_text = f"The person's id in the fleet: {states.SLUG_RULE}."
        self.fields["usable_password"].help_text = "Disabled: they come in by one-time links from the hub's machine."

    def clean_username(self):
        name = super().clean_username()
        if name is None:
            return None  # taken by a user already, and the form says so
        if Agent.objects.filter(slug=legal_new_id(name)).exists():
            raise ValidationError(f"The id '{name}' is taken.")
        return name


class PersonChangeForm(RoleForm, UserChangeForm):
    class Meta(UserChangeForm.Meta):
        help_texts = {"username": "The person's id in the fleet; it stays."}

    def clean(self):
        told = super().clean()
        stays = told.get("is_active") and told.get("role") == "admin"
        if not stays and people.is_last_admin(User.objects.get(pk=self.instance.pk)):
            raise ValidationError("This is the last admin. Make somebody else an admin first.")
        return told


apps.get_app_config("auth").verbose_name = "People"
admin.site.unregister(User)
admin.site.unregister(Group)  # the three roles are fixed


@admin.register(User)
class PersonAdmin(KeptAdmin, UserAdmin):
    """People: a user to sign in with and an agent row of the same name. Someone who leaves is made inactive."""

    add_form, form = PersonForm, PersonChangeForm
    about = "Who may sign in, with one role each. Somebody who leaves is made inactive and stays in the records."
    list_display = ("username", "role", "is_active", "last_login")
    list_filter = ("is_active", "groups")
    search_help_text = "Finds any part of a user name, a name or an address."
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Who", {"fields": ("first_name", "last_name", "email")}),
        ("May", {"fields": ("is_active", "role")}),
        ("Seen", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "usable_password", "password1", "password2", "role")}),)
    readonly_fields = ("last_login", "date_joined")

    def get_queryset(self, request):
        return super().get_queryset(request).prefetch_related("groups")

    @admin.display(description="role")
    def role(self, user):
        return access.role_of(user) or "none"

    def get_readonly_fields(self, request, obj=None):
        return ("username", *self.readonly_fields) if obj else self.readonly_fields

    def save_model(self, request, user, form, change):
        super().save_model(request, user, form, change)
        by, now = request.user.username, clock.now()
        people.welcome(user, by=by, now=now)
        people.give_role(user, form.cleaned_data["role"], by=by, now=now)
        if change and form.changed_data:
            people.edited(user, form.changed_data, by=by, now=now)

    def response_add(self, request, user, post_url_continue=None):
        if not user.has_usable_password():
            said = f"{user} comes in by a one-time link: manage.py sign-in {user}, on the hub's machine, prints one."
            self.message_user(request, said, messages.INFO)
        return super().response_add(request, user, post_url_continue)
