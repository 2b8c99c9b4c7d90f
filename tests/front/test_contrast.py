import re
from pathlib import Path

import pytest

CSS = (Path(__file__).parents[2] / "static/css/agora.css").read_text()
ROLES = dict(re.findall(r"--([a-z]+): light-dark\(([^)]*)\)", CSS))
TEXT = ["ink", "muted", "live", "silent", "dormant", "expired", "unknown", "disabled", "alarm"]


def luminance(colour):
    def linear(part):
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(colour[i : i + 2]) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other, theme):
    lighter, darker = sorted((luminance(ROLES[role].split(", ")[theme]) for role in (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "card", "hover"])
@pytest.mark.parametrize("role", TEXT)
def test_text_is_readable_in_both_themes(role, ground, theme):
    assert contrast(role, ground, theme) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("role", ["edge", "focus"])
def test_edges_of_controls_and_the_focus_ring_are_visible(role, theme):
    assert contrast(role, "page", theme) >= 3 and contrast(role, "card", theme) >= 3
