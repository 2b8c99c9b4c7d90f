"""One open page and what went wrong in it."""

from __future__ import annotations

import re

PATIENCE = 10_000  # milliseconds that a change may take where its speed is not what is tested


class Look:
    """A page in a context of its own; ``complaints`` gathers console errors, violations and foreign requests.

    ``expected`` holds how messages begin that the test itself brings about; ``answers`` is all that was fetched.
    """

    def __init__(self, context, url: str):
        self.url, self.complaints, self.refused, self.expected, self.answers = url, [], 0, (), []
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", self._asked)
        self.page.on("response", self._heard)
        self.page.on("dialog", self._popped)

    def go(self, path: str, live: bool = True, refused: int = 0) -> Look:
        """Opens ``path``. ``refused`` is the 4xx that is expected of it, which the browser notes in its console too."""
        self.refused = refused
        self.answer = self.page.goto(self.url + path)
        if live:
            self.sees("#connection", "live")
        return self

    def sees(self, selector: str, text: str | re.Pattern, seconds: float = PATIENCE / 1000) -> None:
        """Waits until the element is there and holds ``text``."""
        from playwright.sync_api import expect

        expect(self.page.locator(selector).first).to_contain_text(text, timeout=seconds * 1000)

    def row(self, slug: str):
        """The table row of the agent ``slug``."""
        return self.page.locator("#rows > tr").filter(has=self.page.locator(f'a.id[href="/agents/{slug}/"]'))

    def row_says(self, slug: str, text: str, seconds: float = PATIENCE / 1000) -> None:
        from playwright.sync_api import expect

        expect(self.row(slug)).to_contain_text(text, timeout=seconds * 1000)

    def rows(self, count: int) -> None:
        """Waits until the table has ``count`` rows."""
        from playwright.sync_api import expect

        expect(self.page.locator("#rows > tr")).to_have_count(count)

    def same_page(self) -> None:
        """Marks the loaded document; ``was_reloaded`` tells whether it is another one by now."""
        self.page.evaluate("window.marked = true")

    def was_reloaded(self) -> bool:
        return not self.page.evaluate("window.marked === true")

    def _said(self, message) -> None:
        refusal = f"Failed to load resource: the server responded with a status of {self.refused} "
        if message.type == "error" and not message.text.startswith((refusal, *self.expected)):
            self.complaints.append(f"console: {message.text} ({self.page.url})")

    def _asked(self, request) -> None:
        if not request.url.startswith((self.url, "data:", self.url.replace("http", "ws", 1))):
            self.complaints.append(f"foreign request: {request.url}")

    def _heard(self, response) -> None:
        self.answers.append(response)

    def _popped(self, dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()
