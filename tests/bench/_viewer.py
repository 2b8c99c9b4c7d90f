"""Signs a person in at the store of the environment and prints the cookie, as ``name=value``."""

import _lib

_lib.set_up_django()

from django.contrib.auth.models import Group, User  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from roster.services import people  # noqa: E402

people.make_roles()
user = User.objects.create_user("viewer")
user.groups.add(Group.objects.get(name="viewer"))
people.welcome(user, by="benchmark", now=timezone.now())
client = Client(headers={"host": "localhost"})
client.force_login(user)
print(*(f"{name}={morsel.value}" for name, morsel in client.cookies.items()), sep="; ")
