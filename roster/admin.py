"""The admin: edits go through the services that the API uses, what computes itself is read-only, nothing is deleted."""

from __future__ import annotations

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.template.response import TemplateResponse
from django.utils import timezone

from . import access, directory, rows, states
from .errors import HubError
from .models import Act, Agent, Anomaly, HubUptime, Node, PresenceEdge, Profile, SweepRun, Token
from .services import guard, people, profiles, registry, tokens

admin.site.site_title = admin.site.site_header = "Agora"
admin.site.index_title = "Administration"


class KeptAdmin(admin.ModelAdmin):
    """Rows that nobody can delete, one by one or in bulk."""

    list_per_page = 50
    show_full_result_count = False

    def has_delete_permission(self, request, obj=None):
        return False


class ReadOnlyAdmin(KeptAdmin):
    """Rows that the hub writes and people only read."""

    def has_add_permission(self, request):
        return False

    def has_change_permission(self, request, obj=None):
        return False


class OpenFormAdmin(KeptAdmin):
    """Rows that others may write while a form lies open: the form carries what it showed, so that its
    ``changed_data`` is what the person changed and not what changed meanwhile."""

    def get_form(self, request, obj=None, change=False, **kwargs):
        form = super().get_form(request, obj, change=change, **kwargs)
        for field in form.base_fields.values():
            field.show_hidden_initial = change
        return form


def legal_new_id(slug: str) -> str:
    """``slug`` if it can be a new agent's id; the admin's kind of error otherwise."""
    try:
        return access.valid_slug(slug)
    except HubError as why:
        raise ValidationError(why.message) from None


@admin.register(Agent)
class AgentAdmin(OpenFormAdmin):
    """An edit changes what is declared, never what was seen; its presence is the same computed word as everywhere."""

    list_display = ("slug", "presence", "liveness_mode", "lifecycle", "kind", "modality", "home_node", "last_seen")
    list_filter = ("liveness_mode", "lifecycle", "kind", "modality", "enabled", "trust_posture")
    list_select_related = ("home_node",)
    search_fields = ("slug", "display_name")
    ordering = ("slug",)
    computed = ("presence", "why", "lifecycle", "lifecycle_since", "kind", "modality", "home_node", "enabled", "status",
                "task", "meta", "heard", "last_seen", "last_seen_source", "evidence_at", "deadline", "signed_off_at",
                "created_at")  # fmt: skip
    fieldsets = (
        (None, {"fields": ("slug", *registry.EDITABLE)}),
        ("Seen and computed, never edited", {"fields": computed}),
    )

    def get_fieldsets(self, request, obj=None):
        return self.fieldsets if obj else self.fieldsets[:1]

    def get_readonly_fields(self, request, obj=None):
        return ("slug", *self.computed) if obj else ()

    def get_form(self, request, obj=None, change=False, **kwargs):
        form = super().get_form(request, obj, change=change, **kwargs)
        if "slug" in form.base_fields:
            form.clean_slug = lambda self: legal_new_id(self.cleaned_data["slug"])
        return form

    @admin.display(description="presence")
    def presence(self, agent):
        return rows.of_agent(agent, timezone.now(), self._profile(agent)).presence.word

    @admin.display(description="because")
    def why(self, agent):
        return rows.of_agent(agent, timezone.now(), self._profile(agent)).presence.reason

    def _profile(self, agent):
        return directory.at(directory.versions()[1]).by_slug.get(agent.slug)

    def save_model(self, request, agent, form, change):
        wanted = {name: getattr(agent, name) for name in registry.EDITABLE}
        by, now = request.user.username, timezone.now()
        if change:
            registry.edit(agent, {name: wanted[name] for name in wanted if name in form.changed_data}, by=by, now=now)
        else:
            agent.pk = registry.enrolled_by_hand(agent.slug, wanted, by=by, now=now).pk


@admin.register(Node)
class NodeAdmin(ReadOnlyAdmin):
    list_display = ("slug", "name", "lifecycle", "enrolled_at")
    search_fields = ("slug", "name")
    ordering = ("slug",)


class ProfileForm(forms.ModelForm):
    capabilities = forms.CharField(required=False, help_text="Words, separated by commas.")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.initial["capabilities"] = ", ".join(map(str, self.instance.capabilities))

    def clean_capabilities(self):
        return [word.strip() for word in self.cleaned_data["capabilities"].split(",") if word.strip()]


@admin.register(Profile)
class ProfileAdmin(OpenFormAdmin):
    form = ProfileForm
    list_display = ("slug", "title", "role", "liveness_mode", "public", "updated_at", "updated_by")
    list_filter = ("liveness_mode", "public")
    search_fields = ("slug", "title", "role")
    ordering = ("slug",)
    readonly_fields = ("updated_at", "updated_by", "parse_error")

    def get_readonly_fields(self, request, obj=None):
        return ("slug", *self.readonly_fields) if obj else self.readonly_fields

    def save_model(self, request, profile, form, change):
        columns = form.changed_data if change else profiles.COLUMNS
        profiles.save(profile, by=request.user.username, now=timezone.now(), columns=columns)


@admin.register(Token)
class TokenAdmin(KeptAdmin):
    """Issue, rotate and revoke. A new token is shown on the answer's own page, once, and stored nowhere raw."""

    list_display = ("prefix", "kind", "owner", "state", "label", "created_at")
    list_filter = ("kind", ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("agent", "node")
    search_fields = ("prefix", "agent__slug", "node__slug", "label")
    ordering = ("-pk",)
    actions = ("revoke", "rotate")
    fields = ("kind", "agent", "node", "label")
    autocomplete_fields = ("agent", "node")

    def get_fields(self, request, obj=None):
        return (*self.list_display, "created_by", "revoked_at", "revoked_by") if obj else self.fields

    @admin.display(description="state")
    def state(self, token):
        return f"revoked by {token.revoked_by}" if token.revoked_at else "valid"

    def has_change_permission(self, request, obj=None):
        return obj is None and super().has_change_permission(request)

    @admin.display(description="for")
    def owner(self, token):
        return token.agent or token.node or "new agents"

    def save_model(self, request, token, form, change):
        by, now = request.user.username, timezone.now()
        owner = {"agent": token.agent, "node": token.node}
        request.raw_token = tokens.issue(token.kind, by=by, now=now, label=token.label, **owner)
        token.pk = Token.objects.get(digest=access.digest(request.raw_token)).pk

    def log_addition(self, request, obj, message):
        """The journal has it already, with more."""

    def response_add(self, request, token, post_url_continue=None):
        return self._shown(request, [(str(self.owner(token)), request.raw_token)])

    def _shown(self, request, new):
        context = {**self.admin_site.each_context(request), "title": "New token", "new": new, "opts": self.opts}
        return TemplateResponse(request, "admin/roster/token/shown.html", context)

    @admin.action(description="Revoke: the next call with it is refused", permissions=["change"])
    def revoke(self, request, chosen):
        ended = sum(tokens.revoke(each, by=request.user.username, now=timezone.now()) for each in chosen)
        self.message_user(request, f"{ended} revoked.", messages.SUCCESS)

    @admin.action(description="Rotate: revoke and issue another for the same owner", permissions=["change"])
    def rotate(self, request, chosen):
        by, now = request.user.username, timezone.now()
        valid = [each for each in chosen if each.revoked_at is None]
        if not valid:
            return self.message_user(request, "These were revoked before: nothing was rotated.", messages.WARNING)
        return self._shown(request, [(str(self.owner(each)), tokens.rotate(each, by=by, now=now)) for each in valid])


class EventAdmin(ReadOnlyAdmin):
    list_display = ("at", "kind", "agent", "by", "before", "after", "reason")
    list_select_related = ("agent",)
    list_filter = ("kind",)
    search_fields = ("=agent__slug", "=by")
    ordering = ("-pk",)


@admin.register(PresenceEdge)
class PresenceEdgeAdmin(EventAdmin):
    list_filter = ()

    def get_queryset(self, request):
        return super().get_queryset(request).filter(kind="presence")


@admin.register(Act)
class ActAdmin(EventAdmin):
    def get_queryset(self, request):
        return super().get_queryset(request).exclude(kind__in=["presence", "activity"])


@admin.register(Anomaly)
class AnomalyAdmin(ReadOnlyAdmin):
    list_display = ("kind", "subject", "opened_at", "closed_at", "evidence")
    list_filter = ("kind", ("closed_at", admin.EmptyFieldListFilter))
    search_fields = ("subject",)
    ordering = ("-pk",)
    actions = ("release",)

    @admin.action(description="Release held presence edges now")
    def release(self, request, chosen):
        released = guard.release(by=request.user.username, now=timezone.now())
        self.message_user(request, f"{released} holds released; the next sweep records the edges.", messages.SUCCESS)


@admin.register(SweepRun)
class SweepRunAdmin(ReadOnlyAdmin):
    list_display = ("name", "started_at", "outcome", "looked_at", "edges", "errors", "note")
    list_filter = ("name", "outcome")
    ordering = ("-pk",)


@admin.register(HubUptime)
class HubUptimeAdmin(ReadOnlyAdmin):
    list_display = ("up_at", "alive_at", "down_at", "moved")
    ordering = ("-pk",)


class RoleForm(forms.ModelForm):
    """What a person may do is one word, not a set of flags."""

    role = forms.ChoiceField(
        choices=[("", "none: may not look"), *((name, name) for name in access.RANKS)], required=False
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
        self.fields["username"].help_text = f"The person's id in the fleet: {states.SLUG_RULE}."

    def clean_username(self):
        name = super().clean_username()
        if name is None:
            return None  # taken by a user already, and the form says so
        if Agent.objects.filter(slug=legal_new_id(name)).exists():
            raise ValidationError(f"The id '{name}' is taken.")
        return name


class PersonChangeForm(RoleForm, UserChangeForm):
    def clean(self):
        told = super().clean()
        stays = told.get("is_active") and told.get("role") == "admin"
        if not stays and people.is_last_admin(User.objects.get(pk=self.instance.pk)):
            raise ValidationError("This is the last admin. Make somebody else an admin first.")
        return told


admin.site.unregister(User)
admin.site.unregister(Group)  # the three roles are fixed


@admin.register(User)
class PersonAdmin(KeptAdmin, UserAdmin):
    """People: a user to sign in with and an agent row of the same name. Someone who leaves is made inactive."""

    add_form, form = PersonForm, PersonChangeForm
    list_display = ("username", "role", "is_active", "last_login")
    list_filter = ("is_active", "groups")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Who", {"fields": ("first_name", "last_name", "email")}),
        ("May", {"fields": ("is_active", "role")}),
        ("Seen", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "usable_password", "password1", "password2", "role")}),)
    readonly_fields = ("last_login", "date_joined")

    @admin.display(description="role")
    def role(self, user):
        return access.role_of(user) or "none"

    def get_readonly_fields(self, request, obj=None):
        return ("username", *self.readonly_fields) if obj else self.readonly_fields

    def save_model(self, request, user, form, change):
        super().save_model(request, user, form, change)
        by, now = request.user.username, timezone.now()
        people.welcome(user, by=by, now=now)
        people.give_role(user, form.cleaned_data["role"], by=by, now=now)
        if change and form.changed_data:
            people.edited(user, form.changed_data, by=by, now=now)
