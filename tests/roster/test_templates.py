"""Templates are blueprints and no agents; a clone is a real agent that ends by draining; a growing queue makes one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from roster import access, plans, states, tools
from roster.errors import Conflict, Forbidden, Invalid, NotFound, Retired
from roster.models import Agent, AgentTemplate, Event, Node, SurgeRule, SweepRun
from roster.queries.employment import engram
from roster.services import conduct, finishing, grants, hiring, surge, templates, tokens
from tests import make
from tests.inbox import asking
from tests.roster.fleet import hours, listed, minutes, seconds, shown
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
ADA = access.Caller("person", "ada", role="admin")
MIRA = make.MANAGER
MINUTE = timedelta(minutes=1)


@pytest.fixture
def alder(now) -> Node:
    return make.node("alder", now)[0]


@pytest.fixture
def scribe(alder, now) -> AgentTemplate:
    return template(now, node=alder, tool_scope=["read", "mail"], engram="You keep the notes.", max_sessions=2)


def template(now, slug: str = "scribe", **columns) -> AgentTemplate:
    return templates.save(ADA, AgentTemplate(slug=slug, lifetime=3600, **columns), plans.TOOLS, now)


def clone(now, **more) -> Agent:
    return templates.clone(MIRA, "scribe", now, **more)[0]


def ready(agent: Agent, now) -> None:
    """Its node reports its workspace."""
    node = access.Caller("node", "alder", node_id=agent.home_node_id)
    hiring.report_workspace(node, agent.slug, "ready", f"/srv/{agent.slug}", "", now)


def finish(now) -> None:
    """The employment sweep at ``now``."""
    finishing.run(timedelta(seconds=5), timedelta(days=1), now)


def test_a_template_is_no_agent_and_cannot_be_written_to_r106(scribe, now):
    assert not Agent.objects.filter(slug="scribe").exists() and "scribe" not in listed(now)
    with pytest.raises(Conflict):
        template(now, "alder")  # an agent's id, or a node's, is nobody's to confuse
    with pytest.raises(Conflict):
        template(now)


@pytest.mark.parametrize("role", [None, "viewer", "manager"])
def test_only_an_admin_makes_a_template_and_a_manager_clones_it_r103(scribe, now, role):
    who = access.Caller("person", "vera", role=role)
    with pytest.raises(Forbidden):
        templates.save(who, AgentTemplate(slug="other"), plans.TOOLS, now)
    with pytest.raises(Forbidden):
        templates.archive(who, "scribe", now)
    if role != "manager":
        with pytest.raises(Forbidden) as refusal:
            templates.clone(who, "scribe", now)
        assert refusal.value.code == "no_permission"


def test_a_clone_is_a_real_agent_with_name_node_and_end_r107_r108_r110(scribe, now):
    agent, raw = templates.clone(MIRA, "scribe", now)
    told = shown("scribe-1", now)
    assert (told["kind"], told["lifecycle"], told["home_node"]) == ("employee", "hired", "alder")
    assert told["expires_at"] == "2026-03-02T13:00:00.000Z"
    assert (agent.template_id, agent.max_sessions, agent.workspace_state) == (scribe.pk, 2, "wanted")
    assert engram(agent).text == "You keep the notes." and tools.of(agent, plans.TOOLS) == ["read", "mail"]
    assert access.caller(access.digest(raw)).name == "scribe-1"
    event = Event.objects.get(kind="cloned")
    assert (event.agent.slug, event.by, event.after["template"]) == ("scribe-1", "mira", "scribe")
    assert "scribe-1" in listed(now)
    ready(agent, now)
    assert shown("scribe-1", now)["lifecycle"] == "active"


def test_clones_are_numbered_and_a_number_is_never_used_again_r84(scribe, now):
    assert [clone(now).slug for _ in range(2)] == ["scribe-1", "scribe-2"]
    make.agent("scribe-3", now)
    make.profile("scribe-4", now, liveness_mode="async")
    assert clone(now).slug == "scribe-5"
    assert clone(now, id="nib", lifetime=60).slug == "nib"
    with pytest.raises(Conflict):
        clone(now, id="nib")


def test_two_who_clone_at_once_get_two_f084(scribe, now):
    slugs = at_once(lambda: clone(now).slug, lambda: clone(now).slug)
    assert sorted(slugs) == ["scribe-1", "scribe-2"]


@pytest.mark.parametrize("lifetime", [59, 0, -1, 365 * 24 * 3600 + 1])
def test_a_lifetime_out_of_range_is_refused(scribe, now, lifetime):
    with pytest.raises(Invalid) as refusal:
        clone(now, lifetime=lifetime)
    assert refusal.value.detail["field"] == "lifetime" and not Agent.objects.filter(kind="employee").exists()


@pytest.mark.parametrize(
    ("columns", "field"),
    [({"lifetime": 59}, "lifetime"), ({"engram": "x" * 65_537}, "engram"), ({"tool_scope": ["No"]}, "tools"),
     ({"slug": "x" * 49}, "id")],
)  # fmt: skip
def test_a_template_that_could_not_be_cloned_is_not_stored(now, columns, field):
    with pytest.raises(Invalid) as refusal:
        templates.save(ADA, AgentTemplate(**{"slug": "scribe", "lifetime": 3600} | columns), plans.TOOLS, now)
    assert refusal.value.detail["field"] == field and not AgentTemplate.objects.exists()


def test_what_cannot_be_cloned_is_told(alder, now):
    template(now, "homeless")
    with pytest.raises(Invalid) as refusal:
        templates.clone(MIRA, "homeless", now)
    assert refusal.value.detail["field"] == "node"
    assert templates.clone(MIRA, "homeless", now, node="alder")[0].slug == "homeless-1"
    with pytest.raises(NotFound):
        templates.clone(MIRA, "homeless", now, node="nowhere")
    with pytest.raises(NotFound):
        templates.clone(MIRA, "nobody", now)
    templates.archive(ADA, "homeless", now)
    with pytest.raises(Conflict) as refusal:
        templates.clone(MIRA, "homeless", now, node="alder")
    assert refusal.value.code == "archived"


def test_a_clone_has_no_more_tools_or_rights_than_its_template_r114(scribe, now):
    agent = clone(now)
    with pytest.raises(Invalid):
        hiring.change_terms(MIRA, agent.slug, {"tool_scope": ["read", "shell"]}, plans.TOOLS, now)
    hiring.change_terms(MIRA, agent.slug, {"tool_scope": ["read"]}, plans.TOOLS, now)
    scribe.tool_scope = ["mail"]
    templates.save(ADA, scribe, plans.TOOLS, now, ["tool_scope"])
    assert tools.of(Agent.objects.get(slug=agent.slug), plans.TOOLS) == []
    with pytest.raises(Invalid):
        grants.give(ADA, agent.slug, "hire", now)


def test_an_edit_of_a_template_changes_no_clone_that_is_there(scribe, now):
    agent = clone(now)
    scribe.engram, scribe.lifetime, scribe.max_sessions = "Write poems.", 60, 9
    templates.save(ADA, scribe, plans.TOOLS, now, ["engram", "lifetime", "max_sessions"])
    kept = Agent.objects.get(slug=agent.slug)
    assert (engram(kept).text, kept.max_sessions, kept.expires_at) == ("You keep the notes.", 2, now + hours(1))
    event = Event.objects.filter(kind="template_edited").latest("pk")
    assert (event.before["lifetime"], event.after["lifetime"]) == (3600, 60)
    assert "poems" not in str(event.after), "everybody reads the journal, and an engram is not for everybody"


def test_a_clone_that_works_when_its_life_ends_drains_and_is_retired_when_it_is_done_f159(scribe, now):
    """R109. Its inbox is not empty either; that is put away and told, and the row stays."""
    from inbox.letters import Letter
    from inbox.services.leases import Hand, ack, drain
    from inbox.services.sending import Outgoing, record

    agent, raw = templates.clone(MIRA, "scribe", now)
    ready(agent, now)
    sender, _ = make.agent("echo", now, liveness_mode="async")
    for n in range(2):
        sent = record([Outgoing(Letter(to=("scribe-1",), body=f"note {n}"), now + seconds(n), sender=sender.pk)])[0]
        assert not isinstance(sent, Exception), sent
    who, end = access.caller(access.digest(raw)), now + hours(1)
    taken = drain(Hand(who, "scribe-1", end - minutes(1)), 1, 3600, "")
    finish(end - seconds(1))
    assert Agent.objects.get(pk=agent.pk).lifecycle == "active"
    finish(end)
    drained = Agent.objects.get(pk=agent.pk)
    assert (drained.lifecycle, drained.lifecycle_reason) == ("draining", finishing.EXPIRED)
    finish(end + minutes(2))
    assert Agent.objects.get(pk=agent.pk).lifecycle == "draining", "what it holds is not taken from it"
    ack(Hand(who, "scribe-1", end + minutes(3)), [header.seq for header, _ in taken.letters], taken.lease.key)
    finish(end + minutes(4))
    gone = Agent.objects.get(pk=agent.pk)
    assert (gone.lifecycle, gone.waiting) == ("retired", 0)
    with pytest.raises(Retired):
        make.beat(raw, end + minutes(5))  # its token ends with it


# ---- surge ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def rule(scribe, now) -> SurgeRule:
    """Watches echo: three looks in a row with more than two prompts."""
    echo, _ = make.agent("echo", now, liveness_mode="async")
    wanted = SurgeRule(template=scribe, agent=echo, above=2, samples=3, cooldown=600, most=2)
    return surge.save_rule(ADA, wanted, now)


def look(at, queued: int | None = None) -> SweepRun | None:
    if queued is not None:
        Agent.objects.filter(slug="echo").update(queued=queued)
    return surge.run(MINUTE, at)


def clones() -> list[str]:
    return list(Agent.objects.exclude(template=None).order_by("pk").values_list("slug", flat=True))


def play(now, *lengths: int, first: int = 0) -> None:
    for n, queued in enumerate(lengths):
        run = look(now + (first + n) * MINUTE, queued)
        assert (run.outcome, run.errors) == ("ok", 0), run.note


@pytest.mark.parametrize(
    ("lengths", "made"),
    [
        ((3, 4), 0),  # too few looks
        ((3, 4, 5), 1),
        ((5, 3, 6), 1),  # longer than it was, whatever happened between
        ((5, 5, 5), 0),  # one stuck prompt and those behind it
        ((5, 4, 3), 0),
        ((2, 4, 6), 0),  # once it was short enough
        ((3, 4, 1, 5, 6), 0),
        ((3, 4, 1, 5, 6, 7), 1),
    ],
)
def test_only_a_queue_that_has_grown_for_so_many_looks_makes_a_clone_r111(rule, now, lengths, made):
    play(now, *lengths)
    assert len(clones()) == made


def test_the_clone_names_the_event_that_caused_it_r108(rule, now):
    play(now, 3, 4, 5)
    cause = Event.objects.get(kind="surge")
    assert (cause.agent.slug, cause.by, cause.after["queued"]) == ("echo", "hub", [3, 4, 5])
    made = Event.objects.get(kind="cloned")
    assert (made.agent.slug, made.by, made.after["cause"]) == ("scribe-1", "hub", cause.pk)
    assert Agent.objects.get(slug="echo").queued == 5, "nobody's work is given to another"


def test_a_surge_rests_for_its_cooldown_and_ends_at_its_maximum_r111(rule, now):
    play(now, *range(3, 15))  # the third look clones; the cooldown is ten minutes
    assert clones() == ["scribe-1"]
    play(now, 20, 21, 22, first=12)
    assert clones() == ["scribe-1", "scribe-2"]
    play(now, *range(30, 60), first=15)
    assert clones() == ["scribe-1", "scribe-2"], "two of them may live at once"
    Agent.objects.filter(slug="scribe-1").update(lifecycle="retired")
    play(now, 70, 71, first=45)
    assert clones() == ["scribe-1", "scribe-2", "scribe-3"]


def test_two_beat_workers_take_one_sample_a_look_r112(rule, now):
    """Each look is made twice at once, and once more two seconds later."""
    for n, queued in enumerate((3, 4, 5, 6)):
        Agent.objects.filter(slug="echo").update(queued=queued)
        at = now + n * MINUTE
        at_once(lambda at=at: surge.run(MINUTE, at), lambda at=at: surge.run(MINUTE, at + seconds(1)))
        look(at + seconds(2))
    assert clones() == ["scribe-1"]
    assert Event.objects.filter(kind="surge").count() == 1
    assert SurgeRule.objects.get().seen == [4, 5, 6], "each look is one sample"


def test_a_growing_queue_brings_one_clone_that_works_drains_while_busy_and_stays_known_s12(rule, now):
    """Prompts are asked for real; two beat workers look each minute."""
    asker = make.agent("ada", now)[1]
    for n, wait in enumerate((3, 1, 1)):
        at = now + n * MINUTE
        for _ in range(wait):
            asking.ask(asker, "echo", at)
        at_once(lambda at=at: surge.run(MINUTE, at), lambda at=at: surge.run(MINUTE, at + seconds(1)))
    assert clones() == ["scribe-1"]
    agent = Agent.objects.get(slug="scribe-1")
    raw = tokens.issue("agent", by="ada", now=now, agent=agent)
    ready(agent, now + minutes(3))

    end = agent.expires_at
    asking.ask(asker, "scribe-1", end - minutes(2))
    asking.ask(asker, "scribe-1", end - minutes(2), "And you?")
    first = asking.turn(raw, "scribe-1", end - minutes(1), seconds=600)
    finish(end)
    with pytest.raises(Conflict) as refusal:
        asking.ask(asker, "scribe-1", end + seconds(1))
    assert refusal.value.code == "draining"
    finish(end + minutes(1))
    assert Agent.objects.get(pk=agent.pk).lifecycle == "draining", "it finishes what it was asked before"
    for turn in (first, asking.turn(raw, "scribe-1", end + minutes(2))):
        asking.answer(raw, turn, end + minutes(3))
    finish(end + minutes(4))
    gone = Agent.objects.get(slug="scribe-1")
    assert (gone.lifecycle, gone.lifecycle_reason, gone.template) == ("retired", finishing.EXPIRED, rule.template)
    with pytest.raises(Retired):
        asking.ask(asker, "scribe-1", end + minutes(5))


def test_two_looks_at_one_rule_at_once_make_one_clone_r112(rule, now):
    """Past the sweep's own lock: the rule's row decides."""
    play(now, 3, 4)
    Agent.objects.filter(slug="echo").update(queued=5)
    causes = at_once(*[lambda: surge.look(rule.pk, now + 2 * MINUTE)] * 2)
    assert sorted(map(bool, causes)) == [False, True]


@pytest.mark.parametrize("columns", [{"enabled": False, "disabled_at": "now"}, {"lifecycle": "draining"}])
def test_a_disabled_or_draining_agent_is_never_helped_by_a_clone_p31(rule, now, columns):
    play(now, 3, 4)
    columns = {name: now if value == "now" else value for name, value in columns.items()}
    Agent.objects.filter(slug="echo").update(**columns)
    play(now, 5, 6, first=2)
    assert clones() == []
    Agent.objects.filter(slug="echo").update(enabled=True, lifecycle="active")
    play(now, 7, first=4)
    assert clones() == [], "its looks begin anew"


def test_a_rule_that_is_off_or_whose_template_was_put_away_does_nothing(rule, now):
    play(now, 3, 4)
    templates.archive(ADA, "scribe", now)
    play(now, 5, first=2)
    templates.archive(ADA, "scribe", now, archived=False)
    rule.active = False
    surge.save_rule(ADA, rule, now)
    play(now, 3, 4, 5, first=3)
    assert clones() == []


def test_a_clone_that_cannot_be_hired_is_counted_and_stops_no_other_rule(rule, scribe, alder, now):
    birch, node = make.agent("birch", now, liveness_mode="async")[0], make.node("cedar", now)[0]
    other = template(now, "helper", node=node)
    surge.save_rule(ADA, SurgeRule(template=other, agent=birch, above=2, samples=2, most=1), now)
    Node.objects.filter(pk=alder.pk).update(lifecycle="retiring")
    for n, queued in enumerate((3, 4, 5)):
        Agent.objects.filter(slug__in=("echo", "birch")).update(queued=queued)
        run = look(now + n * MINUTE)
    assert (run.outcome, run.errors, clones()) == ("partial", 1, ["helper-1"])


def test_a_clone_is_warned_and_dismissed_like_anybody_r110(scribe, now):
    agent = clone(now)
    make.rule("review", now)
    make.report(agent.slug, "review", "1a2b", now)
    assert conduct.dismiss(MIRA, agent.slug, "review", "again", now, make.WARNING_AGE).lifecycle == states.DRAINING


async def test_templates_and_clones_over_http_r106_r114(api, transactional_db):
    from roster.offload import in_database

    await in_database(make.node, "alder")
    echo = make.bearer((await in_database(make.agent, "echo"))[1])
    ada = make.bearer(await in_database(make.person_token, "ada", "admin"))
    mira = make.bearer(await in_database(make.person_token, "mira", "manager"))
    wanted = {"id": "scribe", "node": "alder", "tools": ["read"], "lifetime": 3600}
    assert (await api.post("/api/templates", json=wanted, headers=mira)).status_code == 403
    assert (await api.post("/api/templates", json=wanted, headers=ada)).status_code == 201
    again = await api.post("/api/templates", json=wanted, headers=ada)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "taken")
    hinted = await api.post("/api/templates", json=wanted | {"id": "x", "max_instances": 2}, headers=ada)
    assert hinted.status_code == 422 and "max_sessions" in hinted.json()["error"]["message"]
    assert [each["id"] for each in (await api.get("/api/templates", headers=mira)).json()["templates"]] == ["scribe"]
    assert (await api.get("/api/templates", headers=echo)).status_code == 403
    made = await api.post("/api/templates/scribe/clone", json={"lifetime": 60}, headers=mira)
    told = made.json()
    assert (made.status_code, told["id"], told["employment"]["template"]) == (201, "scribe-1", "scribe")
    assert told["employment"]["tools"] == ["read"] and told["expires_at"]
    assert (await api.get("/api/whoami", headers=make.bearer(told["token"]))).json()["id"] == "scribe-1"
    mail = {"to": "scribe", "body": "hello"}
    assert (await api.post("/api/messages", json=mail, headers=echo)).json()["error"]["code"] == "unknown_recipient"
    assert (await api.post("/api/agents/scribe/prompt", json={"body": "hi"}, headers=echo)).status_code == 404


async def test_each_prompt_is_handed_out_with_the_engram_and_the_tools_of_now_r139_r114(api, transactional_db):
    """A clone, asked twice; between the two an admin edits its engram and narrows its template."""
    from roster.offload import in_database

    node = make.bearer((await in_database(make.node, "alder"))[2])
    ada = make.bearer(await in_database(make.person_token, "ada", "admin"))
    wanted = {"id": "scribe", "node": "alder", "engram": "Keep the notes.", "tools": ["read", "mail"]}
    assert (await api.post("/api/templates", json=wanted, headers=ada)).status_code == 201
    made = (await api.post("/api/templates/scribe/clone", headers=ada)).json()
    own = make.bearer(made["token"])
    await api.post("/api/agents/scribe-1/workspace", json={"state": "ready"}, headers=node)

    async def turn() -> tuple[str, list[str]]:
        await api.post("/api/agents/scribe-1/prompt", json={"body": "What is new?"}, headers=ada)
        given = (await api.post("/api/agents/scribe-1/queue/claim", headers=own)).json()
        done = {"lease": given["lease"], "body": "Nothing."}
        assert (await api.post(f"/api/exchanges/{given['exchange']}/answer", json=done, headers=own)).status_code == 200
        return given["engram"], given["tools"]

    assert await turn() == ("Keep the notes.", ["read", "mail"])
    await api.put("/api/agents/scribe-1/engram", json={"text": "Write poems."}, headers=ada)
    await in_database(narrow)
    assert await turn() == ("Write poems.", ["read"])


def narrow() -> None:
    scribe = AgentTemplate.objects.get(slug="scribe")
    scribe.tool_scope = ["read"]
    templates.save(ADA, scribe, plans.TOOLS, scribe.created_at, ["tool_scope"])
