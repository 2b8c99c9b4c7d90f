"""Known faults of the ground we stand on stay mended (P74)."""

from __future__ import annotations

import re
import time

import django
import pytest

from tests.hubs import ROOT
from tests.make import bearer

# The first release of each line with the mends for CVE-2024-39329 and CVE-2025-13473 (names told by time) and for
# CVE-2025-14550 (repeated headers).
MENDED = {(5, 2): (5, 2, 11), (6, 0): (6, 0, 2)}


@pytest.mark.core
def test_django_is_at_least_the_mended_release_of_its_line_P74():
    assert django.VERSION[:3] >= MENDED[django.VERSION[:2]]


def test_what_is_declared_and_pinned_is_mended_too_P74():
    declared = re.search(r'"django>=(\d+)\.(\d+)\.(\d+),<(\d+)\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    least = tuple(map(int, declared.groups()[:3]))
    assert least >= MENDED[least[:2]]
    for name in ("requirements.txt", "requirements-test.txt"):
        for pin in re.findall(r"^django==(\d+)\.(\d+)(?:\.(\d+))?", (ROOT / name).read_text(), re.M | re.I):
            pinned = tuple(int(part or 0) for part in pin)
            assert pinned >= MENDED[pinned[:2]], name


async def test_thousands_of_repeated_headers_cost_little_P74(api, fleet):
    """The class of CVE-2025-14550: joining them must not take the square of their number."""
    spans = []
    for count in (2_000, 20_000):
        headers = [*bearer(fleet.agent).items(), *[("X-Many", "a" * 50)] * count]
        began = time.perf_counter()
        assert (await api.get("/api/whoami", headers=headers)).status_code == 200
        spans.append(time.perf_counter() - began)
    assert spans[1] < max(40 * spans[0], 2.0)
