"""The admin's pages that have to stay usable at any size, by address (see ``tests/volume.py`` for what they show)."""

from __future__ import annotations

from inbox.models import Delivery, MailGroup, Message
from roster.models import Act, Agent, Anomaly, Node, PresenceEdge, Profile, Token

MEMBERS = {  # as many rows as the fleet has members: a search looks at each of them once
    "agent": ("", "?q=agent-000777", "?q=nobody-at-all", "?lifecycle__exact=retired", "?o=7", "?o=-7", "?p=20"),
    "profile": ("", "?q=Title+990", "?q=nobody-at-all", "?liveness_mode__exact=always-on"),
    "node": ("", "?q=node-0"),
    "token": ("", "?kind__exact=enrolment", "?state=revoked", "?p=10"),
    "anomaly": ("", "?kind=silent_always_on", "?state=open", "?q=agent-000770"),
}
HISTORY = {  # as many rows as the hub has had days: nothing may depend on their number
    "act": ("", "?kind=edited", "?kind=hold_released", "?by=boss", "?by=nobody", "?q=agent-000007", "?p=3",
            "?q=agent-000007&by=boss", "?q=nobody-at-all", "?o=0", "?_facets=True"),
    "presenceedge": ("", "?p=200", "?q=agent-000777", "?q=nobody-at-all", "?until={day}", "?until=2000-01-01",
                     "?q=agent-000007&until={day}"),
    "engramrevision": ("", "?q=agent-000777"),
    "memoryentry": ("", "?q=agent-000777", "?q=nobody-at-all"),
    "violation": ("", "?q=agent-000777"),
    "warning": ("", "?q=agent-000777", "?state=standing"),
    "grant": ("", "?permission=hire", "?q=agent-000777"),
    "token": ("?q=agent-000777", "?q=agora_a_000777", "?q=nobody-at-all"),
}  # fmt: skip
MAIL = {  # as many rows as the fleet has written letters: nothing may depend on their number
    "message": ("", "?p=2", "?p=3", "?from=agent-000000", "?from=agent-000077", "?from=hub", "?from=nobody-at-all",
                "?to=agent-000000", "?to=agent-000077", "?to=agent-000000&from=agent-000000",
                "?q=report", "?q=build-000123", "?q=nightly+passed+build-000123", "?q=nobody-at-all", "?q=%2377",
                "?q=report&from=agent-000077"),
    "delivery": ("", "?p=2", "?p=3", "?of=agent-000000", "?of=agent-000077", "?of=agent-000077&p=2",
                 "?of=nobody-at-all", "?state=dead", "?state=waiting", "?state=leased", "?of=agent-000000&state=dead",
                 "?of=agent-000000&state=archived", "?message=77", "?message=9999999999"),
    "mailgroup": ("", "?q=ops"),
    "exchange": ("", "?target=agent-000000", "?caller=agent-000077", "?state=queued", "?target=nobody-at-all"),
}  # fmt: skip
COMPLETION = "/admin/autocomplete/?app_label=roster&model_name=token&field_name=agent&term=agent-0007"
OTHERS = ("/admin/", "/admin/auth/user/", "/admin/roster/sweeprun/", "/admin/roster/hubuptime/",
          "/admin/roster/token/add/", "/admin/roster/agent/add/", "/admin/roster/agenttemplate/", "/admin/roster/surgerule/add/",
          "/admin/roster/rule/", "/admin/roster/grant/add/")  # fmt: skip


def lists(of: dict[str, tuple[str, ...]], room: str = "roster", **more: str) -> list[str]:
    return [f"/admin/{room}/{model}/{asked.format(**more)}" for model, asks in of.items() for asked in asks]


def details() -> list[str]:
    """The form of one row of each table, and the history of an agent's form."""
    edge = PresenceEdge.objects.filter(kind="presence").earliest("pk").pk
    rows = {"agent": Agent, "node": Node, "profile": Profile, "token": Token, "anomaly": Anomaly}
    keys = {name: model.objects.order_by("pk").first().pk for name, model in rows.items()}
    keys |= {"act": Act.objects.filter(Act.IS_ONE).order_by("pk").first().pk, "presenceedge": edge}
    return [f"/admin/roster/{model}/{key}/change/" for model, key in keys.items()]


def of_members() -> list[str]:
    return [COMPLETION, *lists(MEMBERS)]


def of_history() -> list[str]:
    oldest = PresenceEdge.objects.filter(kind="presence").earliest("pk")
    return [*OTHERS, *lists(HISTORY, day=f"{oldest.at:%Y-%m-%d}"), *details()]


def of_mail() -> list[str]:
    rows = {"message": Message, "delivery": Delivery, "mailgroup": MailGroup}
    keys = {name: model.objects.order_by("pk").first().pk for name, model in rows.items()}
    return [
        "/admin/inbox/mailgroup/add/",
        *lists(MAIL, "inbox"),
        *(f"/admin/inbox/{model}/{key}/change/" for model, key in keys.items()),
    ]
