"""A Chromium for the tests of the live region, and a page server without Django's own stack behind it."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def chromium_path():
    """The Chromium to start: CHROMIUM, or the first one on the PATH."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium on this machine")
    return path
