"""Signs a person in at the store of the environment and prints the cookie, as ``name=value``."""

import _lib

_lib.set_up_django()

from django.contrib.auth.models import Group, User  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from roster.services import people  # noqa: E402


def client() -> Client:
    """A client that is signed in as a viewer."""
    people.make_roles()
    user = User.objects.create_user("viewer")
    user.groups.add(Group.objects.get(name="viewer"))
    people.welcome(user, by="benchmark", now=timezone.now())
    signed_in = Client(headers={"host": "localhost"})
    signed_in.force_login(user)
    return signed_in


if __name__ == "__main__":
    print(*(f"{name}={morsel.value}" for name, morsel in client().cookies.items()), sep="; ")
