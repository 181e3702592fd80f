"""The numbers of the page of `hogeq report`, before they are on it."""

import base64
import zlib
from typing import Any

import numpy as np
import pytest

from hogeq.baselines.simple import always_roll
from hogeq.evaluation.values import belief, hidden_action_values, reach, win_rate
from hogeq.model.game import compile_game
from hogeq.pages import frame
from hogeq.pages.report import explore, region_gains
from hogeq.rules import memory, rules_from
from hogeq.search.attack import SearchBudget


def unpacked(packed: dict[str, Any]) -> Any:
    """Unpack number by number, as slowly as can be."""
    data = zlib.decompress(base64.b64decode(packed["data"]))
    planes, length = packed["planes"], len(data) // packed["planes"]
    found = []
    for i in range(length):
        whole = int.from_bytes(bytes(data[p * length + i] for p in range(planes)), "little")
        found.append(np.nan if whole == 256**planes - 1 else whole / packed["per"])
    return np.array(found)


@pytest.mark.parametrize(
    ("values", "digits", "planes"),
    [
        ([0.0, 254.0], 0, 1),
        ([0.0, 255.0], 0, 2),
        ([0.1234567, 1.0, np.nan], 6, 3),
        ([], 2, 1),
    ],
)
def test_fractions_come_back_rounded(values: list[float], digits: int, planes: int) -> None:
    packed = frame.pack_fractions(values, digits)
    assert packed["planes"] == planes
    np.testing.assert_array_equal(unpacked(packed), np.round(values, digits))


@pytest.mark.parametrize("edition", ["su20", "su21"])
def test_explored_values_are_those_of_every_position(edition: str) -> None:
    game = compile_game(rules_from({"edition": edition, "goal": 12, "max_dice": 2}))
    policy = np.random.default_rng(1).dirichlet(np.ones(game.num_actions), game.shape[:2])
    policy[:, :, 1] = 0.0  # so that some positions are out of reach
    policy /= policy.sum(axis=2, keepdims=True)
    found = explore(game, policy, SearchBudget(1, 3))
    rows, columns = memory.axes(game.rules)
    assert found.belief.shape[2:] == (len(rows.ticks), len(columns.ticks))
    unreached = 0
    for own in range(game.goal):
        for other in range(game.goal):
            shares = belief(game, policy, None, own, other)
            if shares is None:
                unreached += 1
                assert np.isnan(found.values[own, other]).all()
                assert not found.belief[own, other].any()
                continue
            by_memory = hidden_action_values(game, policy, None, [(own, other)])[0]
            np.testing.assert_allclose(found.values[own, other], shares @ by_memory, atol=1e-12)
            for index, row in enumerate(found.belief[own, other].sum(axis=1)):
                part = "own" if edition == "su20" else "turn"
                told = [getattr(state, part) == index for state in game.memories]
                assert row == pytest.approx(shares[told].sum(), abs=1e-12)
    assert unreached > 0
    np.testing.assert_allclose(found.reach, reach(game, policy).sum(axis=2), atol=1e-15)


def test_gains_of_regions_are_exact() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 20, "max_dice": 3}))
    matrix, usual = always_roll(game, 3), always_roll(game, 2)
    usual[:10, 10:] = 3
    rival = np.full(game.shape, 1.0 / game.num_actions)
    found = region_gains(game, matrix, usual, rival)
    assert found.shape == (2, 2)
    assert found[0, 1] == 0.0
    changed = matrix.copy()
    changed[10:, :10] = 2
    lost = win_rate(game, matrix, rival).win_rate - win_rate(game, changed, rival).win_rate
    assert abs(lost) > 1e-4
    assert found[1, 0] == pytest.approx(lost, abs=1e-13)
