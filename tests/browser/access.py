"""Whether a page can be used by everybody, as far as axe-core can see it: WCAG 2.2 A and AA and its good practices."""

from __future__ import annotations

from pathlib import Path

AXE = (Path(__file__).parent / "vendor" / "axe-4.14.1.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]
DESK, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
# A theme changes colours only and a width changes the layout, so that half of the views ask for the colours alone.
VIEWS = [("light", DESK, RULES), ("dark", PHONE, RULES), ("dark", DESK, COLOURS), ("light", PHONE, COLOURS)]
RUN = """rules => {
  for (const moving of document.getAnimations()) moving.finish(); // a colour on its way to another one is neither
  return axe.run(document, {runOnly: rules, resultTypes: ["violations"]}).then(({violations}) =>
    violations.map(({id, nodes}) => `${id}: ${nodes.length} times, first at ${nodes[0].target}, ${nodes[0].html}`))
}"""


def accessible(look) -> None:
    """Asserts that axe finds nothing on the page as it stands, in both themes, on a desk and on a phone."""
    look.page.evaluate(AXE)
    look.expected = ("Applying inline style violates",)  # axe tries some out, and the policy refuses them
    found = [each for view in VIEWS for each in _violations(look.page, *view)]
    assert not found, "\n".join(found)


def _violations(page, theme: str, size: dict, rules: list[str]) -> list[str]:
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(size)
    return [f"{theme}, {size['width']} px: {each}" for each in page.evaluate(RUN, rules)]
