"""The admin edits through the services, shows what is computed, and deletes nothing."""

import hashlib
import re
from base64 import urlsafe_b64decode

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from roster import access
from roster.admin import shown_once
from roster.admin.tokens import TokenAdmin
from roster.models import Agent, Event, Profile, Token
from tests import make, volume

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = ("agent", "profile", "token", "node", "act", "presenceedge", "anomaly", "sweeprun", "hubuptime", "grant",
          "engramrevision", "memoryentry", "agenttemplate", "surgerule", "rule", "violation", "warning")  # fmt: skip
MAIL = ("message", "delivery", "mailgroup")
AGENT = {"display_name": "Nova", "liveness_mode": "async", "expected_interval": "60", "ttl": "60",
         "trust_posture": "hardened", "max_sessions": "1"}  # fmt: skip


@pytest.fixture
def boss(client):
    client.force_login(make.person("boss", "admin"))
    return client


@pytest.mark.parametrize("model", [*(f"roster_{name}" for name in MODELS), *(f"inbox_{name}" for name in MAIL)])
def test_every_list_opens_and_offers_no_deletion(boss, model):
    make.agent("echo")
    answer = boss.get(reverse(f"admin:{model}_changelist"))
    assert answer.status_code == 200
    assert "delete_selected" not in answer.content.decode()


def test_an_agent_can_be_entered_by_hand_but_not_deleted(boss):
    assert boss.post("/admin/roster/agent/add/", {"slug": "nova", **AGENT}).status_code == 302
    nova = Agent.objects.get(slug="nova")
    assert boss.post(f"/admin/roster/agent/{nova.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Agent.objects.filter(slug="nova").exists()


@pytest.mark.parametrize(("slug", "told"), [("NOVA", "taken"), ("two words", "legal id"), ("é", "legal id")])
def test_an_illegal_or_taken_id_is_refused_with_the_reason(boss, slug, told):
    boss.post("/admin/roster/agent/add/", {"slug": "nova", **AGENT})
    answer = boss.post("/admin/roster/agent/add/", {"slug": slug, **AGENT})
    assert answer.status_code == 200
    assert told in answer.content.decode()


def test_an_edit_changes_the_interval_and_never_counts_as_being_seen(boss):
    agent, _ = make.agent("echo", liveness_mode="async")
    seen = Agent.objects.get(pk=agent.pk).last_seen
    boss.post(f"/admin/roster/agent/{agent.pk}/change/", {**AGENT, "expected_interval": "600"})
    after = Agent.objects.get(pk=agent.pk)
    assert (after.expected_interval, after.last_seen) == (600, seen)
    assert Event.objects.get(kind="edited").by == "boss"


def opened(boss, address: str) -> dict[str, str]:
    """The fields of the form at ``address`` as a browser would send them back unchanged, the hidden ones with them."""
    page = boss.get(address)
    fields = [page.context["adminform"].form[name] for name in page.context["adminform"].form.fields]
    sent = {each.html_name: each.value() or "" for each in fields}
    assert all(f'name="initial-{name}"' in page.content.decode() for name in sent)
    return sent | {f"initial-{name}": value for name, value in sent.items()}


def test_a_form_that_lay_open_changes_only_what_was_changed_in_it(boss):
    """Meanwhile the agent itself asked for another mode and interval; the admin only gives it a name."""
    agent, token = make.agent("echo", liveness_mode="async", expected_interval=60)
    address = f"/admin/roster/agent/{agent.pk}/change/"
    form = opened(boss, address)
    make.beat(token, timezone.now(), liveness_mode="always-on", expected_interval=600)
    boss.post(address, {**form, "display_name": "Echo"})
    after = Agent.objects.get(pk=agent.pk)
    assert (after.display_name, after.liveness_mode, after.expected_interval) == ("Echo", "always-on", 600)
    boss.post(address, {**form, "ttl": "77"})
    assert Event.objects.filter(kind="edited").latest("pk").after == {"ttl": 77}
    assert Agent.objects.get(pk=agent.pk).display_name == "Echo"


def test_two_admins_who_edit_one_profile_at_once_keep_each_others_changes(boss):
    profile = make.profile("scribe", title="Scribe", body="One line.")
    address = f"/admin/roster/profile/{profile.pk}/change/"
    first, second = opened(boss, address), opened(boss, address)
    assert boss.post(address, {**first, "body": "Two lines."}).status_code == 302
    assert boss.post(address, {**second, "role": "writes"}).status_code == 302
    after = Profile.objects.get()
    assert (after.title, after.role, after.body, after.capabilities) == ("Scribe", "writes", "Two lines.", [])
    assert Event.objects.filter(kind="profile_edited").latest("pk").after == {"role": "writes"}


def test_presence_and_lifecycle_cannot_be_posted(boss):
    agent, _ = make.agent("echo")
    boss.post(f"/admin/roster/agent/{agent.pk}/change/", {**AGENT, "lifecycle": "retired", "recorded": "dormant"})
    after = Agent.objects.get(pk=agent.pk)
    assert (after.lifecycle, after.recorded) == ("active", "live")


@pytest.mark.parametrize("model", ["act", "presenceedge"])
def test_acts_and_presence_events_are_read_and_never_written(boss, model):
    make.agent("echo")
    found = Event.objects.filter(kind="presence" if model == "presenceedge" else "registered")
    address = f"/admin/roster/{model}/{found.latest('pk').pk}/change/"
    before = list(Event.objects.order_by("pk").values())
    assert boss.get(address).status_code == 200
    for refused in (boss.post(address, {"by": "nobody"}), boss.post(f"/admin/roster/{model}/add/", {"by": "nobody"})):
        assert refused.status_code == 403
    assert list(Event.objects.order_by("pk").values()) == before


def test_a_profile_lists_its_agent_with_the_next_answer(boss):
    form = {"slug": "analyst", "title": "Analyst", "capabilities": "", "liveness_mode": "async", "body": "# Hi"}
    assert boss.post("/admin/roster/profile/add/", form).status_code == 302
    assert Profile.objects.get(slug="analyst").updated_by == "boss"
    assert "analyst" in boss.get("/").content.decode()


NEW_TOKEN = {"kind": "enrolment", "agent": "", "node": "", "label": "ci"}


def shown(page) -> list[str]:
    return re.findall(r"agora_\w_[\w-]{43}", page.content.decode())


def test_a_token_is_shown_once_and_works_and_is_stored_nowhere_raw(boss):
    page = boss.post("/admin/roster/token/add/", NEW_TOKEN, follow=True)
    (raw,) = shown(page)
    assert access.caller(access.digest(raw)).kind == "enrolment"
    assert raw not in boss.get("/admin/roster/token/").content.decode()
    assert not any(raw in str(row) for row in Token.objects.values())


def test_a_reload_of_the_page_after_shows_no_token_and_makes_none_F107(boss):
    address = boss.post("/admin/roster/token/add/", NEW_TOKEN)["Location"]
    assert len(shown(boss.get(address))) == 1
    again = boss.get(address)
    assert (shown(again), Token.objects.count()) == ([], 1)
    assert "rotate it" in again.content.decode()


def test_on_its_way_to_its_page_a_token_is_in_neither_the_session_nor_the_cookie_P58(boss):
    boss.post("/admin/roster/token/add/", NEW_TOKEN)
    pad = next(value for name, value in boss.session.items() if name.startswith("shown_once_"))
    half = boss.cookies[shown_once.COOKIE]
    assert half["httponly"] and half["samesite"] == "Strict" and half["path"].startswith("/admin/roster/token/new/")
    known = {row.digest for row in Token.objects.all()}
    for each in (urlsafe_b64decode(pad), urlsafe_b64decode(half.value)):
        assert b"agora_e_" not in each and hashlib.sha256(each).hexdigest() not in known
    whole = bytes(one ^ other for one, other in zip(urlsafe_b64decode(pad), urlsafe_b64decode(half.value), strict=True))
    assert hashlib.sha256(whole).hexdigest() in known


def test_two_forms_sent_before_either_answer_is_opened_show_each_its_own(boss):
    first = boss.post("/admin/roster/token/add/", {**NEW_TOKEN, "label": "first"})
    kept = boss.cookies[shown_once.COOKIE].value  # a browser keeps one cookie a path, the test's client one in all
    second = boss.post("/admin/roster/token/add/", {**NEW_TOKEN, "label": "second"})
    (of_second,) = shown(boss.get(second["Location"]))
    boss.cookies[shown_once.COOKIE] = kept
    (of_first,) = shown(boss.get(first["Location"]))
    assert Token.objects.get(digest=access.digest(of_first)).label == "first"
    assert Token.objects.get(digest=access.digest(of_second)).label == "second"


@pytest.mark.parametrize("foreign", ["", "not base64!", "QUJD"])
def test_a_cookie_that_is_not_the_other_half_shows_nothing_and_breaks_nothing(boss, foreign):
    address = boss.post("/admin/roster/token/add/", NEW_TOKEN)["Location"]
    boss.cookies[shown_once.COOKIE] = foreign
    assert shown(boss.get(address)) == []
    assert boss.get("/admin/roster/token/new/unknown/").status_code == 200


def test_a_page_of_tokens_fits_into_the_cookie_that_carries_them(boss):
    volume.members(range(TokenAdmin.list_per_page), timezone.now())
    chosen = list(Token.objects.values_list("pk", flat=True))
    rotated = boss.post("/admin/roster/token/", {"action": "rotate", "_selected_action": chosen})
    whole = boss.cookies[shown_once.COOKIE].OutputString()
    assert len(whole) <= 4096  # the most that every browser keeps (RFC 6265, 6.1)
    assert len(shown(boss.get(rotated["Location"]))) == len(chosen) == TokenAdmin.list_per_page


def test_a_token_without_its_owner_is_refused(boss):
    answer = boss.post("/admin/roster/token/add/", {"kind": "agent", "agent": "", "node": "", "label": ""})
    assert answer.status_code == 200
    assert not Token.objects.exists()


def test_revoke_and_rotate_end_the_old_token(boss):
    make.agent("echo")
    token = Token.objects.get()
    rotated = boss.post("/admin/roster/token/", {"action": "rotate", "_selected_action": [token.pk]}, follow=True)
    assert "agora_a_" in rotated.content.decode()
    new = Token.objects.get(revoked_at=None)
    boss.post("/admin/roster/token/", {"action": "revoke", "_selected_action": [new.pk]})
    assert not Token.objects.filter(revoked_at=None).exists()


def test_a_person_gets_an_agent_row_a_role_and_a_new_role(boss):
    form = {"username": "mira", "usable_password": "true", "password1": "correct horse b", "role": "manager"}
    assert boss.post("/admin/auth/user/add/", {**form, "password2": "correct horse b"}).status_code == 302
    mira = User.objects.get(username="mira")
    assert (mira.agent.slug, mira.agent.modality, mira.groups.get().name) == ("mira", "human", "manager")
    boss.post(f"/admin/auth/user/{mira.pk}/change/", {"is_active": "on", "role": "admin"})
    assert User.objects.get(username="mira").is_superuser
    assert Event.objects.filter(kind="role_given", after="admin", by="boss").exists()


def test_a_person_without_a_password_is_what_the_form_offers_and_how_they_come_in_is_said(boss):
    form = boss.get("/admin/auth/user/add/").context["adminform"].form
    offered = {name: form[name].value() or "" for name in form.fields}
    assert (offered["usable_password"], offered["role"]) == ("false", "viewer")
    said = boss.post("/admin/auth/user/add/", {**offered, "username": "mira"}, follow=True).content.decode()
    assert "manage.py sign-in mira, on the hub" in said
    assert not User.objects.get(username="mira").has_usable_password()


def test_who_is_no_admin_is_told_so_instead_of_being_sent_in_a_circle(client):
    client.force_login(make.person("vera", "manager"))
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 403
    assert "role admin" in answer.content.decode()


def test_a_held_edge_can_be_released_by_a_manager_and_not_by_a_viewer(client):
    from roster.services import guard

    guard.holds("dormancy_and_silence", 3, timezone.now(), guard.Limits(share=0.0))
    client.force_login(make.person("vera", "viewer"))
    assert client.post("/guard/release/").status_code == 403
    client.force_login(make.person("mira", "manager"))
    assert "held by" in client.get("/guard/").content.decode()
    assert client.post("/guard/release/").status_code == 302
    assert guard.held() == []


def test_a_name_that_somebody_has_is_a_form_error_and_not_a_broken_page(boss):
    form = {"username": "boss", "usable_password": "true", "password1": "correct horse b", "role": "viewer"}
    answer = boss.post("/admin/auth/user/add/", {**form, "password2": "correct horse b"})
    assert (answer.status_code, "already exists" in answer.content.decode()) == (200, True)


@pytest.mark.parametrize(
    "form", [{"is_active": "on", "role": "viewer"}, {"role": "admin"}], ids=["demoted", "inactive"]
)
def test_the_last_admin_cannot_be_locked_out(boss, form):
    me = User.objects.get(username="boss")
    answer = boss.post(f"/admin/auth/user/{me.pk}/change/", form)
    assert "last admin" in answer.content.decode()
    make.person("second", "admin")
    assert boss.post(f"/admin/auth/user/{me.pk}/change/", form).status_code == 302


def test_a_token_that_was_rotated_is_not_rotated_again_by_a_reload(boss):
    make.agent("echo")
    rotate = {"action": "rotate", "_selected_action": [Token.objects.get().pk]}
    boss.post("/admin/roster/token/", rotate)
    boss.post("/admin/roster/token/", rotate)
    assert Token.objects.filter(revoked_at=None).count() == 1


def test_capabilities_are_typed_as_words(boss):
    boss.post("/admin/roster/profile/add/", {"slug": "nova", "capabilities": "review, release ,", "body": ""})
    assert Profile.objects.get().capabilities == ["review", "release"]


def test_a_viewer_sees_who_is_held_back_but_no_button(client):
    from datetime import timedelta

    from roster.services import guard

    now = timezone.now()
    make.agent("nova", now - timedelta(hours=2), liveness_mode="async")
    guard.holds("dormancy_and_silence", 1, now, guard.Limits(share=0.0, least=1))
    client.force_login(make.person("vera", "viewer"))
    page = client.get("/guard/").content.decode()
    assert ("/agents/nova/" in page, "/guard/release/" in page) == (True, False)


def test_an_unexpected_error_shows_the_id_that_the_log_has(boss, caplog, monkeypatch):
    monkeypatch.setattr("roster.views.roster.queries.page", lambda *args: 1 / 0)
    boss.raise_request_exception = False
    answer = boss.get("/")
    assert answer.status_code == 500
    assert answer["X-Request-Id"] in answer.content.decode()
    assert answer["X-Request-Id"] in caplog.text


def test_the_form_for_a_token_says_whose_it_will_be_and_leads_to_its_page_only(boss):
    form = boss.get("/admin/roster/token/add/").content.decode()
    assert "an enrolment token is nobody" in form
    assert "_continue" not in form and "_addanother" not in form
