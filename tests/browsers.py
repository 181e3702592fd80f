"""A page in a real browser, and what went wrong there."""

from pathlib import Path
from time import monotonic
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Tab:
    """A page that is open, without a network."""

    def __init__(self, browser: Any, path: Path, place: str = "", **device: Any) -> None:
        self.page = browser.new_context(offline=True, **device).new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri() + place)
        self.page.wait_for_selector("body[data-ready]")

    def text(self, selector: str) -> str:
        """Give what an element shows."""
        return str(self.page.inner_text(selector))


def wait_until(page: Any, expression: str, seconds: float = 30.0) -> None:
    """Wait for an expression to hold.

    Asked from outside: pages forbid the evaluation of text, which `wait_for_function` would do.
    """
    end = monotonic() + seconds
    while not page.evaluate(expression):
        assert monotonic() < end, f"never held: {expression}"
        page.wait_for_timeout(20)
