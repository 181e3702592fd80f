"""What responses are worth where a lottery dwarfs every decision."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import hogeq


def between_lotteries(path: Path, lotteries: Sequence[Sequence[float]]) -> hogeq.Game:
    """Write a game of one decision, whose actions are lotteries with even chances."""
    names = " ".join(f'"{one}"' for one in range(len(lotteries)))
    lines = ['EFG 2 R "lotteries" { "one" "two" } ""', f'p "" 1 1 "" {{ {names} }} 0']
    for number, prizes in enumerate(lotteries):
        chances = " ".join(f'"{prize}" 1/{len(prizes)}' for prize in range(len(prizes)))
        lines.append(f'c "" {number + 1} "" {{ {chances} }} 0')
        for prize in prizes:
            lines.append(f't "" {len(lines)} "" {{ {prize!r} {-prize!r} }}')
    path.write_text("\n".join(lines))
    return hogeq.Game(path)


def cancelling(random: np.random.Generator, size: int) -> list[list[float]]:
    """Draw lotteries whose large prizes cancel; all are doubles without rounding."""
    lotteries = []
    for _ in range(3):
        large = random.integers(size, size=3).astype(float).tolist()
        small = float(random.integers(1, 64)) / 64.0
        lotteries.append([*large, *(-one for one in large), small])
    return lotteries


@pytest.mark.parametrize("seed", range(30))
def test_the_bound_of_full_memory_holds_whatever_was_rounded(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    lotteries = cancelling(random, 10 ** int(random.integers(6, 14)))
    game = between_lotteries(tmp_path / "lotteries.efg", lotteries)
    mean = [sum(map(Fraction, prizes)) / len(prizes) for prizes in lotteries]
    # In the other seat there is nothing to decide, and the uniform strategy plays.
    known = (max(mean) - sum(mean) / 3) / 2
    assert Fraction(game.bound("uniform")) >= known
    assert game.bound("uniform") >= game.attack("uniform").value


@pytest.mark.parametrize("size", [1.0, 1e9, 1e15])
def test_exploitability_is_that_of_what_is_decided(tmp_path: Path, size: float) -> None:
    game = between_lotteries(tmp_path / "lotteries.efg", [[size, -size, 1.0, 1.0], [0.0] * 4])
    found = game.exploitability("uniform", hogeq.Budget(exact_seconds=0))
    assert (found.lower, found.upper) == (0.125, 0.125)
    assert found.rows()[0][1] == "0.125000000 to 0.125000000"
    assert found.to_json()["lower"] == found.to_json()["upper"] == 0.125


@pytest.mark.parametrize("seed", range(20))
def test_what_a_policy_lacks_lies_in_its_interval_beside_any_lottery(
    tmp_path: Path, seed: int
) -> None:
    random = np.random.default_rng(seed)
    lotteries = cancelling(random, 10 ** int(random.integers(0, 14)))
    game = between_lotteries(tmp_path / "lotteries.efg", lotteries)
    mean = [sum(map(Fraction, prizes)) / len(prizes) for prizes in lotteries]
    known = max(mean) - sum(mean) / 3
    first, second = game.gaps("uniform")
    for least, most in (first.edt, first.ex_ante):
        assert Fraction(least) <= known <= Fraction(most)
        assert most - least < 1e-12, "what nobody can change is taken off first"
    assert first.kkt == pytest.approx(float(known), abs=1e-12)
    assert second == (0.0, (0.0, 0.0), (0.0, 0.0))
    alone, nobody = game.nash_conv("uniform").members
    assert Fraction(alone.lower) <= known <= Fraction(alone.upper)
    assert alone.upper - alone.lower < 1e-12
    assert (nobody.lower, nobody.upper) == (0.0, 0.0)
    value = game.value("uniform")
    assert value.first == pytest.approx(float(sum(mean) / 3), abs=1e-15)


@pytest.mark.parametrize("choice", ["", 'p "" 1 1 "" { "only" } 0\n'], ids=["none", "of one"])
def test_a_response_without_a_choice_needs_no_search(tmp_path: Path, choice: str) -> None:
    """Ends that are not one number in ten digits are no reason to look for a better response."""
    payoffs = Fraction(100_000_072_178_397, 10**8), Fraction(-103_828_313, 125 * 10**6)
    path = tmp_path / "lottery.efg"
    path.write_text(
        'EFG 2 R "lottery" { "A" "B" }\n'
        + choice
        + 'c "" 1 "" { "high" 5/6 "low" 1/6 } 0\n'
        + "".join(f't "" {place} "" {{ {one}, {-one} }}\n' for place, one in enumerate(payoffs, 1))
    )
    mean = (5 * payoffs[0] + payoffs[1]) / 6
    found = hogeq.Game(path).attack("uniform")
    assert found.seats is not None
    assert found.seat_bounds is not None
    for seat, value in enumerate((mean, -mean)):
        assert found.seats[seat] <= value <= found.seat_bounds[seat]
        assert found.seat_bounds[seat] - found.seats[seat] <= 1e-13 * mean
