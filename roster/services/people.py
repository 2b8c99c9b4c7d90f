"""People: agents of modality human, each with a user of the same name to sign in as."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q

from roster import access, states
from roster.errors import NotFound
from roster.models import Agent, SignInLink

from . import journal, presence

LINK_AGE = timedelta(hours=24)
FORGOTTEN = 1000  # rows of each table at a time
PAGE_WINDOW = 90  # seconds a person counts as here after the last sign of an open page
PAGE_TOUCH = timedelta(seconds=15)  # how exactly the last sign is kept: a hundred pages of one person write like one


def make_roles() -> None:
    for name in access.RANKS:
        Group.objects.get_or_create(name=name)


@transaction.atomic
def welcome(user: User, *, by: str, now: datetime) -> Agent:
    """Gives ``user`` the agent row that makes a person addressable like anybody else. Does nothing a second time."""
    if hasattr(user, "agent"):
        return user.agent
    slug = access.valid_slug(user.username)
    if Agent.objects.filter(slug=slug).exists():
        raise access.taken(slug)
    agent = Agent.objects.create(
        slug=slug, user=user, modality="human", liveness_mode=states.ASYNC, trust_posture="person",
        expected_interval=PAGE_WINDOW // states.DORMANT_FACTOR, lifecycle_since=now, created_at=now,
    )  # fmt: skip
    journal.write(journal.happened("registered", by, now, agent=agent, after={"modality": "human"}), changed=[agent.pk])
    return agent


@transaction.atomic
def first_admin(now: datetime) -> User:
    """Whom the link of a start signs in: ``admin``, made at the first start without a password, as long as that is an
    admin; after that the admin who came first; and where there is none any more, ``admin`` becomes one again."""
    user, made = User.objects.get_or_create(username="admin", defaults={"is_staff": True, "is_superuser": True})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
        user.groups.add(Group.objects.get(name="admin"))
    welcome(user, by="hub", now=now)
    if access.role_of(user) == "admin":
        return user
    return User.objects.filter(is_active=True, is_superuser=True).order_by("pk").first() or _restored(user, now)


def _restored(user: User, now: datetime) -> User:
    user.is_active = True
    user.save(update_fields=["is_active"])
    edited(user, ["is_active"], by="hub", now=now)
    give_role(user, "admin", by="hub", now=now)
    return user


@transaction.atomic
def sign_in_link(username: str, *, by: str, now: datetime) -> str:
    """A one-time secret that signs ``username`` in within a day. Raises NotFound for an unknown or inactive person."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise NotFound(
            f"No active person has the user name '{username[:80]}'. People are added at /admin/, under Users."
        )
    secret = secrets.token_urlsafe(32)
    SignInLink.objects.create(user=user, digest=access.digest(secret), expires_at=now + LINK_AGE)
    journal.write(journal.happened("sign_in_link", by, now, agent=getattr(user, "agent", None)))
    return secret


def use_link(secret: str, now: datetime) -> User | None:
    """The person a one-time link stands for, once: None when it is unknown, used, too old, or the person inactive."""
    link = SignInLink.objects.select_related("user").filter(digest=access.digest(secret)).first()
    if link is None or link.expires_at < now or not link.user.is_active:
        return None
    if not SignInLink.objects.filter(pk=link.pk, used_at=None).update(used_at=now):
        return None
    return link.user


def forget_ended(now: datetime) -> None:
    """Removes sign-ins that ended by themselves and links that nobody can use any more, a bounded number at a time.
    The journal keeps who signed in when."""
    for table, ended in ((Session, Q(expire_date__lt=now)), (SignInLink, Q(expires_at__lt=now))):
        old = table.objects.filter(ended).order_by("pk").values("pk")[:FORGOTTEN]
        table.objects.filter(pk__in=old).delete()


@transaction.atomic
def signed_in(user: User, now: datetime) -> None:
    """Somebody came in. A user made outside of the admin gets the agent row of a person now, if the name can be one."""
    if states.SLUG.fullmatch(user.username) and user.username not in states.RESERVED:
        welcome(user, by="hub", now=now)
    journal.write(journal.happened("signed_in", user.username, now, agent=getattr(user, "agent", None)))


@transaction.atomic
def give_role(user: User, role: str, *, by: str, now: datetime) -> None:
    """Makes ``role`` ("" for none) the one role of ``user``; the admin is open to admins and to nobody else."""
    before = access.role_of(user) or ""
    if role == before and user.is_superuser == (role == "admin"):
        return
    user.groups.set(Group.objects.filter(name=role))
    user.is_staff = user.is_superuser = role == "admin"
    user.save(update_fields=["is_staff", "is_superuser"])
    agent = getattr(user, "agent", None)
    journal.write(journal.happened("role_given", by, now, agent=agent, before=before, after=role))


def is_last_admin(user: User) -> bool:
    """Whether nobody else could open the admin any more if ``user`` could not."""
    return access.role_of(user) == "admin" and not (
        User.objects.filter(is_active=True, is_superuser=True).exclude(pk=user.pk).exists()
    )


@transaction.atomic
def edited(user: User, fields: list[str], *, by: str, now: datetime) -> None:
    """An admin changed a person; what is journaled are the names of the fields, since one of them is the password."""
    after = {"fields": fields, "active": user.is_active}
    journal.write(journal.happened("person_edited", by, now, agent=getattr(user, "agent", None), after=after))


@transaction.atomic
def at_a_page(user: User, now: datetime) -> None:
    """A person's page is open at ``now``: their own evidence, like any other writing call of an agent."""
    if Agent.objects.filter(user=user, evidence_at__range=(now - PAGE_TOUCH, now)).exists():
        return  # their other pages said so just now
    agent = Agent.objects.select_for_update(no_key=True).filter(user=user, lifecycle=states.ACTIVE).first()
    if agent is None:
        return
    written = presence.Work()
    presence.called(agent, now, written)
    written.write()
