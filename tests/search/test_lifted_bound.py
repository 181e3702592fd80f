"""A bound below full memory at any size: never below a best response, whatever its steps.

Against mixtures what was drawn is one more thing that a responder remembers.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq import Hog
from hogeq.model import priced
from hogeq.model.compiling import missing
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.priced import Problem
from hogeq.rules import rules_from
from hogeq.search import certificate, lifted_bound
from hogeq.search.bounds import full_memory_bound, upper_bound
from hogeq.search.certificate import certify, check_certificate, hog_problems
from hogeq.search.certificate_files import Certificate
from hogeq.search.lifted_bound import LiftedBound, Revision, Step, replay
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Mixture, Strategy
from tests.search.games import best_response, matrices_of, mixture_of, random_policy, small, ticks

ROOT = Path(__file__).parents[2]


def random_claims(game: HogEngine, seed: int, number: int) -> list[Step]:
    chance = np.random.default_rng(seed)
    return [
        Step(
            int(chance.integers(game.goal**2)),
            int(chance.integers(game.num_actions)),
            float(chance.random()),
            float(chance.random()),
            float(chance.random()),
            4.0 * float(chance.random()),
        )
        for _ in range(number)
    ]


def problems(game: HogEngine, strategy: Strategy) -> list[Problem]:
    return hog_problems(game.rules, strategy)


Make = Callable[[HogEngine, int], Strategy]
MAKE: dict[str, Make] = {
    "policy": random_policy,
    "mixture": lambda game, seed: strategy_of(game, mixture_of(game, 2, seed)),
    "matrices": lambda game, seed: strategy_of(game, matrices_of(game, 3, seed)),
}
STRATEGIES = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)


@pytest.mark.parametrize("edition", ["su20", "su21", "fa18", "fa19", "fa22", "sp21"])
@STRATEGIES
def test_without_steps_it_is_full_memory_and_the_draw_is_told(edition: str, make: Make) -> None:
    game = small(11, 3, edition)
    strategy = make(game, 0)
    told = full_memory_bound(game, strategy)
    assert LiftedBound(problems(game, strategy)).full_memory == pytest.approx(told, abs=1e-12)


@pytest.mark.slow
def test_a_mixture_of_one_is_its_policy_to_the_last_bit() -> None:
    game = small(11, 3)
    policy = random_policy(game, 0)
    alone = certify(problems(game, policy), 400.0, ticks())
    one, three = (
        strategy_of(game, Mixture(weights, [policy.array] * len(weights)))
        for weights in ([1.0], [0.5, 0.3, 0.2])
    )
    drawn = certify(problems(game, one), 400.0, ticks())
    assert drawn.steps == alone.steps
    assert alone.steps
    assert (drawn.full_memory, drawn.bound()) == (alone.full_memory, alone.bound())
    replayed = replay(problems(game, three), alone.steps)
    assert replayed.value == pytest.approx(alone.value, abs=1e-12)


@pytest.mark.parametrize(
    ("size", "make"),
    [
        pytest.param((12, 3), lambda game: random_policy(game, 3), marks=pytest.mark.slow),
        ((11, 2, "fa22"), lambda game: matrices_of(game, 2, 5)),  # the draw alone is hidden
    ],
)
def test_it_closes_most_of_the_gap_on_a_small_game(size: Any, make: Any) -> None:
    game = small(*size)
    strategy = make(game)
    exact, full = best_response(game, strategy), full_memory_bound(game, strategy)
    assert exact.is_exact
    untold = upper_bound(game, strategy, 4)
    assert exact.win_rate < untold
    assert (untold < full - 1e-4) is isinstance(strategy, Mixture)
    found = Hog(game.rules).certify(strategy, 3.0)
    assert found.full_memory == pytest.approx(full, abs=1e-12)
    assert exact.win_rate <= found.bound < full - 0.5 * (full - exact.win_rate)
    again = check_certificate(found)
    assert again.bound == pytest.approx(found.bound, abs=1e-12)
    assert again.steps == found.steps


@pytest.mark.slow
def test_more_steps_are_only_taken_if_they_lower_the_bound() -> None:
    game = small(12, 3)
    policy = random_policy(game, 4)
    found = certify(problems(game, policy), 2.0)
    bounds = [
        replay(problems(game, policy), found.steps[:number]).bound()
        for number in range(0, len(found.steps) + 1, 5)
    ]
    assert len(bounds) > 2
    assert (np.diff(bounds) < 1e-9).all()


def test_its_kernels_are_compiled_ahead_once_for_all_games() -> None:
    for kernel in missing(small(8, 2), "certificates"):
        kernel.compile()
    assert not list(missing(small(9, 3, "fa19"), "certificates"))


def test_what_has_no_such_bound() -> None:
    still = {"edition": "su20", "goal": 8, "max_dice": 2, "pig_out": 0}
    recurring = compile_game(rules_from(still))
    with pytest.raises(ValueError, match="positions recur"):
        Hog(recurring.rules).certify(random_policy(recurring, 0), 0.1)


def test_a_revision_never_raises_the_bound() -> None:
    game = small(14, 3)
    found = certify(problems(game, random_policy(game, 3)), 0.5)
    rows = [row for row in range(14 * 14) if found.can_revise(row)]
    lowest = start = found.bound()
    for share in (0.0, 0.3, 1.0):
        for row in rows:
            found.take(Revision(row, share, 1.0 - 0.5 * share))
            assert found.value <= lowest + 1e-12
            lowest = found.value
    assert found.bound() == pytest.approx(lowest, abs=found.margin() + 1e-12)  # values are true
    assert lowest < start - 1e-7


def test_the_margin_counts_the_passes_and_the_largest_number() -> None:
    """N and M of the theorem: (N + 2) * levels * M * error, M with prices, refunds and worths."""
    game = small(8, 2)
    found = LiftedBound(problems(game, random_policy(game, 1)))
    before = found.margin() / (2 * max(2.0, found._responder.largest_value()))
    for number, step in enumerate(random_claims(game, 1, 12), 1):
        found.take(step)
        refunded = float(np.abs(found._action_maxima).max())
        assert found._largest >= max(refunded, found._responder.largest_price())
        largest = max(2.0, found._largest, found._responder.largest_value())
        assert found.margin() == pytest.approx(before * (number + 2) * largest, rel=1e-9)
    found._responder.largest_price = lambda: 0.0  # type: ignore[method-assign]
    found._action_maxima += 50.0
    found.take(random_claims(game, 2, 1)[0])
    assert found._largest >= 50.0
    assert found.margin() >= before * 15 * 50.0 * (1.0 - 1e-9)


def test_a_row_that_claims_nothing_has_nothing_to_revise() -> None:
    game = small(10, 3)
    policy = random_policy(game, 5)
    with pytest.raises(ValueError, match="allowed where claims are kept"):
        replay(problems(game, policy), [Revision(34, 0.1, 0.25)])


def test_more_claims_than_fit_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    game = small(12, 3)
    policy = random_policy(game, 4)
    monkeypatch.setattr(lifted_bound, "MOST_STORED_BYTES", 200_000)
    found = certify(problems(game, policy), 0.5)
    claimed = {step.row for step in found.steps}
    kept = {row for row in range(144) if found.can_revise(row)}
    assert kept
    assert kept < claimed
    assert {step.row for step in found.steps if isinstance(step, Revision)} <= kept
    # Whoever checks knows which rows are revised, and keeps all of them.
    monkeypatch.setattr(lifted_bound, "MOST_STORED_BYTES", 0)
    assert replay(problems(game, policy), found.steps).bound() == found.bound()
    monkeypatch.setattr(lifted_bound, "MOST_REPLAYED_BYTES", 100_000)
    with pytest.raises(ValueError, match=r"^steps: claims of \d+ revised rows need up to "):
        replay(problems(game, policy), found.steps)


def test_a_certificate_has_no_more_steps_than_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "MOST_STEPS", 15)
    game = small(12, 3)
    found = certify(problems(game, random_policy(game, 4)), 5.0)
    assert 13 < len(found.steps) <= 15


@pytest.mark.slow
def test_the_shipped_certificate_begins_as_it_says() -> None:
    given = Certificate.read(ROOT / "results" / "certificate_su20.json.gz")
    found = LiftedBound(hog_problems(given.rules, given.strategy))
    assert found.full_memory == pytest.approx(given.full_memory, abs=1e-12)
    before = found.value
    for step in given.steps[:8]:
        found.take(step)
        assert given.bound < found.value < before
        before = found.value
    assert found.bound() == pytest.approx(before, abs=1e-9)


def test_what_a_certificate_of_a_mixture_is_about() -> None:
    game = small(8, 2)
    mixture = matrices_of(game, 2)
    found = Hog(game.rules).certify(mixture, 0.1)
    assert found.is_about(strategy_of(game, mixture))
    assert not found.is_about(strategy_of(game, mixture.parts[0]))
    other = Mixture(mixture.weights[::-1], mixture.parts)
    assert not found.is_about(strategy_of(game, other))
    unused = Mixture([0.0, *mixture.weights], [mixture.parts[1], *mixture.parts])
    assert found.is_about(strategy_of(game, unused))  # what is never drawn is left out


def test_more_parts_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    game = small(8, 2)
    monkeypatch.setattr(priced, "MEMORY_LIMIT", 2**18)
    with pytest.raises(ValueError, match=r"mixture: 3 parts need .* GiB .*; allowed: 0: fewer"):
        Hog(game.rules).certify(mixture_of(game, 3), 0.1)


def test_a_certificate_ends_while_losses_of_rows_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of all of Hog they take as long as the responder; here each of 400 takes a second."""
    game = small(20, 3)
    seconds = 0.0
    loss_of_row = LiftedBound.loss

    def slow_loss(bound: LiftedBound, row: int) -> Any:
        nonlocal seconds
        seconds += 1.0
        return loss_of_row(bound, row)

    monkeypatch.setattr(LiftedBound, "loss", slow_loss)
    found = certify(problems(game, random_policy(game, 1)), 150.0, lambda: seconds)
    assert 150.0 <= seconds <= 200.0
    assert not found.steps
    assert found.bound() >= found.full_memory
