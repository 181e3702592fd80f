"""The same bound against mixtures: what was drawn is one more thing that a responder remembers."""

from itertools import count
from typing import Any

import numpy as np
import pytest
from research.branch_and_bound import best_response

from hogeq.evaluation.hidden import reach
from hogeq.evaluation.win_rates import win_rate
from hogeq.model import priced
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.search.bounds import mixture_bound
from hogeq.search.certificate import as_proved, certified_bound, check_certificate, is_about
from hogeq.search.certifying import certify
from hogeq.search.lifted_bound import LiftedBound, Revision, replay
from hogeq.strategies.strategy import Mixture
from tests.search.test_lifted_bound import random_policy, random_steps, small
from tests.search.test_mixture_bounds import matrices_of, mixture_of
from tests.search.test_respond import TINY
from tests.twin import Play, every_matrix_wins


def ticks() -> Any:
    """Give a clock by which every look takes a second."""
    return count().__next__


def test_a_mixture_of_one_is_its_policy_to_the_last_bit() -> None:
    game = small(11, 3)
    policy = random_policy(game, 0)
    alone = certify(game.rules, policy, 400.0, ticks())
    drawn = certify(game.rules, Mixture([1.0], policy[None]), 400.0, ticks())
    assert drawn.steps == alone.steps
    assert alone.steps
    assert (drawn.full_memory, drawn.bound()) == (alone.full_memory, alone.bound())


def test_parts_that_are_alike_are_one() -> None:
    game = small(11, 3)
    policy = random_policy(game, 0)
    alone = certify(game.rules, policy, 400.0, ticks())
    three = replay(game.rules, Mixture([0.5, 0.3, 0.2], [policy] * 3), alone.steps)
    assert three.value == pytest.approx(alone.value, abs=1e-12)


@pytest.mark.parametrize("edition", ["su20", "su21", "fa18", "fa19", "fa22"])
def test_without_steps_the_draw_is_told(edition: str) -> None:
    game = small(11, 3, edition)
    for mixture in (mixture_of(game, 3), matrices_of(game, 2)):
        found = LiftedBound(game.rules, mixture)
        assert found.full_memory == pytest.approx(mixture_bound(game, mixture), abs=1e-12)


@pytest.mark.parametrize("parts", TINY.values(), ids=TINY)
def test_no_matrix_wins_more(parts: dict[str, Any]) -> None:
    game = compile_game(rules_from(parts))
    for seed in range(3):
        mixture = mixture_of(game, 2, seed)
        wins = [every_matrix_wins(Play(game.rules), part)[2] for part in mixture.parts]
        most = (mixture.weights @ wins).max()
        assert replay(game.rules, mixture, random_steps(game, seed, 5)).bound() >= most
        assert certify(game.rules, mixture, 40.0, ticks()).bound() >= most


@pytest.mark.parametrize("edition", ["su20", "fa19", "su21", "fa22"])
def test_any_steps_are_a_bound(edition: str) -> None:
    game = small(9, 2, edition)
    for mixture in (mixture_of(game, 2, 1), matrices_of(game, 3, 2)):
        most = best_response(game, mixture)
        assert most.is_exact
        assert certify(game.rules, mixture, 200.0, ticks()).bound() >= most.win_rate
        for seed in range(3):
            found = LiftedBound(game.rules, mixture)
            for step in random_steps(game, seed, 20):
                found.take(step)
                assert found.bound() >= most.win_rate
            assert found.value == pytest.approx(found.bound(), abs=1e-9)


def test_no_matrix_pays_more_than_the_refund() -> None:
    game = small(9, 3)
    mixture = mixture_of(game, 2, 2)
    found = LiftedBound(game.rules, mixture)
    responder = found._responder
    matrices = np.random.default_rng(3).integers(0, game.num_actions, (12, 9, 9))
    rows = np.arange(81)
    reached = [
        [reach(game, matrix, part).reshape(81, -1) for part in mixture.parts] for matrix in matrices
    ]
    rates = [win_rate(game, matrix, mixture).win_rate for matrix in matrices]

    def prices() -> list[Any]:
        return [part.prices.copy() for part in responder.parts]

    def paid(asked: list[Any]) -> list[float]:
        return [
            sum(
                float((weight * price[rows, :, matrix.ravel()] * there).sum())
                for weight, price, there in zip(mixture.weights, asked, here, strict=True)
            )
            for matrix, here in zip(matrices, reached, strict=True)
        ]

    totals, revised = np.zeros((len(matrices), 81)), 0
    for step in random_steps(game, 4, 100):
        before = prices()
        found.take(step)
        cell = step.score * 9 + step.opponent
        totals[:, cell] += paid([after - old for after, old in zip(prices(), before, strict=True)])
        rolls = matrices[:, step.score, step.opponent]
        assert (totals[:, cell] <= found._refunded[cell, rolls] + 1e-12).all()
        revised += isinstance(step, Revision)
    assert revised > 20
    for rate, price in zip(rates, paid(prices()), strict=True):
        assert rate - price <= responder.value + 1e-12


def test_it_takes_off_what_knowing_the_draw_is_worth() -> None:
    game = small(11, 2, "fa22")  # nothing is hidden but the draw
    mixture = matrices_of(game, 2, 5)
    most = best_response(game, mixture)
    assert most.is_exact
    told, untold = (mixture_bound(game, mixture, resolution) for resolution in (1, 4))
    assert most.win_rate < untold < told
    found = certified_bound(game, mixture, 1.0)
    assert most.win_rate <= found.bound < told - 0.5 * (told - most.win_rate)
    again = check_certificate(found)
    assert again.bound == pytest.approx(found.bound, abs=1e-12)


def test_what_a_certificate_of_a_mixture_is_about() -> None:
    game = small(8, 2)
    mixture = matrices_of(game, 2)
    found = certified_bound(game, mixture, 0.1)
    assert is_about(found, as_proved(game, mixture))
    assert not is_about(found, as_proved(game, mixture.parts[0]))
    other = Mixture(mixture.weights[::-1], mixture.parts)
    assert not is_about(found, as_proved(game, other))
    unused = Mixture([0.0, *mixture.weights], [mixture.parts[1], *mixture.parts])
    assert is_about(found, as_proved(game, unused))  # what is never drawn is left out
    assert isinstance(as_proved(game, Mixture([1.0], mixture.parts[:1])), np.ndarray)


def test_more_parts_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    game = small(8, 2)
    monkeypatch.setattr(priced, "MEMORY_LIMIT", 2**18)
    with pytest.raises(ValueError, match=r"mixture: 3 parts need .* GiB .*; allowed: 0: fewer"):
        certified_bound(game, mixture_of(game, 3), 0.1)
