"""The hub's database under the middleware of a fresh ``startproject``."""

from agora_web.settings import *  # noqa: F403
from agora_web.settings import DATABASES

DATABASES["default"]["OPTIONS"].pop("pool", None)  # a first view has Django's default: a connection a request
ROOT_URLCONF = "naive.urls"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
