"""The frame of all pages."""

import dataclasses
import json

import pytest

import hogeq
from hogeq.pages import frame, tree_page
from hogeq.trees.tree import _quoted


def test_what_is_not_seen_in_a_name_is_written_out() -> None:
    """A terminal would obey it, and a browser turn the text around."""
    name = "a\x1b[31m\u202eb\u2028\x00\x85 \u00e9\n"
    page = frame.page(name, f"<p>{name}</p>", styles="", scripts="", data={"name": name})
    assert not set(page) & set("\x1b\u202e\u2028\x00\x85")
    assert page.count("\\x1b[31m\\u202eb\\u2028\\x00\\x85 \u00e9") == 2
    assert _quoted('\x1b\u202e"\\') == r'"\\x1b\\u202e\"\\"'


def test_the_page_of_a_game_rounds_bounds_that_are_not_one_number_outward(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = hogeq.TreeGame("kuhn(players=2,ranks=3)")
    solved = game.equilibrium()
    for lower, upper, is_proved, written in (
        (0.12345678971, 0.34567891221, False, ["0.123456789", "0.345678913"]),
        (0.12345678971, 0.12345678972, True, ["0.123456790", "0.123456790"]),
    ):
        ends = dataclasses.replace(solved, lower=lower, upper=upper, is_proved=is_proved)
        monkeypatch.setattr(hogeq.TreeGame, "equilibrium", lambda _, ends=ends: ends)
        page = tree_page.make(game, "bounds")
        assert f'"value":{json.dumps(written, separators=(",", ":"))}' in page
