"""Games that are refused: they could go on for ever, or remember too much where positions recur."""

import numpy as np
import pytest

from hogeq.model.components import MOST_UNKNOWNS
from hogeq.model.game import compile_game
from hogeq.rules import Rules
from hogeq.rules.parts import ZERO_DICE


def test_a_game_that_could_go_on_for_ever_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ZERO_DICE, "nothing", lambda *_: 0)
    with pytest.raises(
        ValueError, match=r"rules: a game could go on .* 0 dice .* nothing"
    ) as refusal:
        compile_game(Rules(goal=9, max_dice=2, zero_dice="nothing"))
    assert "\n" not in str(refusal.value)
    # Nothing is given for no dice, so Piggy Back does not end it.
    with pytest.raises(ValueError, match="could go on for ever"):
        compile_game(Rules(goal=9, max_dice=2, zero_dice="nothing", pig_out=0, piggy_back=True))


def test_too_much_memory_of_a_turn_that_scores_nothing_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"rules: 440 unknowns .* 256.* feral_hogs dice"
    ) as refusal:
        compile_game(Rules(goal=20, pig_out=0, feral_hogs="dice"))
    assert "\n" not in str(refusal.value)
    most = compile_game(Rules(goal=20, pig_out=0, feral_hogs="points")).tables.cycles
    assert 2 * np.diff(most.entry_start).max() <= MOST_UNKNOWNS
