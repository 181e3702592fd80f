"""A board of two games in a browser."""

from typing import Any

from tests.browsers import Tab

HIDDEN: dict[str, Any] = {"edition": "su20", "goal": 24, "max_dice": 4}

OPEN = {"edition": "fa23", "goal": 30, "max_dice": 5}


class Played(Tab):
    """A board on which somebody plays."""

    def begin(self, opponent: str, seed: int, first: str = "you") -> None:
        self.page.keyboard.press("n")
        self.page.select_option("#opponent", opponent)
        self.page.select_option("#first", first)
        self.page.fill("#seed", str(seed))
        self.page.click("dialog button[type=submit]")

    def wait(self) -> bool:
        """Wait for the person's turn, or for the end; tell whether the game goes on."""
        self.page.wait_for_selector(".choice:not([disabled]), .ending:not([hidden])")
        return not self.page.is_visible(".ending")

    def scores(self) -> tuple[int, int]:
        return int(self.text(".you .score")), int(self.text(".them .score"))

    def turns(self) -> list[str]:
        return list(self.page.locator(".moves li").all_inner_texts())

    def odds(self) -> list[float]:
        found = self.page.eval_on_selector_all(
            "#play .odds tbody tr", "rows => rows.map((row) => Number(row.dataset.value))"
        )
        return list(found)
