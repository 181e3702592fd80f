"""A bound below full memory at any size: never below a best response, whatever its steps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from research.branch_and_bound import best_response

from hogeq.evaluation.hidden import reach
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.compiling import missing
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.priced import Board, PricedResponder
from hogeq.rules import rules_from
from hogeq.search import certifying, lifted_bound
from hogeq.search.bounds import full_memory_bound
from hogeq.search.certificate import certified_bound, check_certificate, read_certificate
from hogeq.search.certifying import certify, improve
from hogeq.search.lifted_bound import LiftedBound, Revision, Step, replay
from tests.search.test_respond import TINY
from tests.twin import Play, every_matrix_wins

ROOT = Path(__file__).parents[2]


def small(goal: int, dice: int, edition: str = "su20") -> HogEngine:
    return compile_game(rules_from({"edition": edition, "goal": goal, "max_dice": dice}))


def random_policy(game: HogEngine, seed: int) -> Any:
    return np.random.default_rng(seed).dirichlet(np.ones(game.num_actions), game.shape[:2])


def random_claims(game: HogEngine, seed: int, number: int) -> list[Step]:
    chance = np.random.default_rng(seed)
    return [
        Step(
            int(chance.integers(game.goal)),
            int(chance.integers(game.goal)),
            int(chance.integers(game.num_actions)),
            float(chance.random()),
            float(chance.random()),
            float(chance.random()),
            4.0 * float(chance.random()),
        )
        for _ in range(number)
    ]


def random_steps(game: HogEngine, seed: int, number: int) -> list[Step | Revision]:
    """Claims, and revisions of some of them at once and later."""
    chance = np.random.default_rng(seed + 1000)
    steps: list[Step | Revision] = []
    for claim in random_claims(game, seed, number):
        steps.append(claim)
        for step in (claim, steps[chance.integers(len(steps))]):
            if chance.random() < 0.3:
                lowered, lent = chance.random(2)
                steps.append(Revision(step.score, step.opponent, lowered, lent))
    return steps


@pytest.mark.parametrize("edition", ["su20", "su21", "fa18", "fa19", "fa22", "sp21"])
def test_the_lists_are_the_game(edition: str) -> None:
    game = small(11, 3, edition)
    policy = random_policy(game, 0)
    responder = PricedResponder(Board(game.rules), policy)
    responder.begin()
    assert responder.value == pytest.approx(full_memory_bound(game, policy), abs=1e-12)
    cells = responder.infoset_reach().sum(axis=1)
    assert cells[0] == pytest.approx(0.5)


@pytest.mark.parametrize("parts", TINY.values(), ids=TINY)
def test_no_matrix_wins_more(parts: dict[str, Any]) -> None:
    game = compile_game(rules_from(parts))
    for seed in range(3):
        policy = random_policy(game, seed)
        most = every_matrix_wins(Play(game.rules), policy)[2].max()
        assert replay(game.rules, policy, random_steps(game, seed, 5)).bound() >= most
        assert certify(game.rules, policy, 0.2).bound() >= most


@pytest.mark.parametrize("edition", ["su20", "fa19", "su21"])
def test_any_steps_are_a_bound(edition: str) -> None:
    game = small(10, 3, edition)
    policy = random_policy(game, 1)
    most = best_response(game, policy)
    assert most.is_exact
    for seed in range(4):
        found = LiftedBound(game.rules, policy)
        for step in random_steps(game, seed, 30):
            found.take(step)
            assert found.bound() >= most.win_rate
        assert found.value == pytest.approx(found.bound(), abs=1e-9)  # passes leave values true


def test_no_matrix_pays_more_than_the_refund() -> None:
    game = small(9, 3)
    policy = random_policy(game, 2)
    found = LiftedBound(game.rules, policy)
    (responder,) = found._responder.parts
    matrices = np.random.default_rng(3).integers(0, game.num_actions, (12, 9, 9))
    rows = np.arange(81)
    # Reach by the game's own kernels: nothing of the lists is in it.
    reached = [reach(game, matrix, policy).reshape(81, -1) for matrix in matrices]
    rates = [win_rate(game, matrix, policy).win_rate for matrix in matrices]

    def paid(prices: Any) -> list[float]:
        return [
            float((prices[rows, :, matrix.ravel()] * here).sum())
            for matrix, here in zip(matrices, reached, strict=True)
        ]

    lent = returned = 0
    totals = np.zeros((len(matrices), 81))
    for step in random_steps(game, 4, 200):
        before, refunded = responder.prices.copy(), found._refunded.copy()
        found.take(step)
        cell = step.score * 9 + step.opponent
        claimed = np.array(paid(responder.prices - before))
        totals[:, cell] += claimed
        rolls = matrices[:, step.score, step.opponent]
        assert (totals[:, cell] <= found._refunded[cell, rolls] + 1e-12).all()
        elsewhere = responder.prices - before
        elsewhere[cell] = 0.0
        if isinstance(step, Revision):
            returned += int((elsewhere > 1e-6).any())
        else:
            assert (claimed <= (found._refunded - refunded)[cell, rolls] + 1e-12).all()
            lent += int((elsewhere < -1e-6).any())
    assert lent > 20
    assert returned > 20
    for rate, price in zip(rates, paid(responder.prices), strict=True):
        assert rate - price <= responder.value + 1e-12


def test_a_cell_leaves_slack_that_it_can_do_without() -> None:
    game = small(12, 3)
    found = LiftedBound(game.rules, random_policy(game, 3))
    score, opponent = divmod(int(found.losses().min(axis=1).argmax()), 12)
    cell = score * 12 + opponent
    roll = int(found.losses()[cell].argmin())
    here = found._responder.infoset_reach()[cell]
    whole, tight = (
        found.claim(Step(score, opponent, roll, 1.0, 1.0, 1.0, cover)) for cover in (1e9, 1.0)
    )
    assert (whole.rolls == tight.rolls).all()
    more, less = (whole.claims.clip(0) @ here, -whole.claims.clip(max=0) @ here)
    assert (tight.claims >= whole.claims).all()
    assert (tight.claims.clip(0) == whole.claims.clip(0)).all()
    assert tight.claims @ here == pytest.approx((more - less).clip(0), abs=1e-15)
    assert (more < less).any()  # of a roll that is worse over all something is left


def test_keeping_slack_pays() -> None:
    game = small(12, 3)
    policy = random_policy(game, 3)
    exact, full = best_response(game, policy), full_memory_bound(game, policy)
    bound = certify(game.rules, policy, 2.0).bound()
    assert full - bound > 0.9 * (full - exact.win_rate)


def test_it_closes_most_of_the_gap_on_a_small_game() -> None:
    game = small(12, 3)
    policy = random_policy(game, 3)
    exact, full = best_response(game, policy), full_memory_bound(game, policy)
    assert exact.is_exact
    found = certified_bound(game, policy, 5.0)
    assert found.full_memory == pytest.approx(full, abs=1e-12)
    assert exact.win_rate <= found.bound < full - 0.5 * (full - exact.win_rate)
    again = check_certificate(found)
    assert again.bound == pytest.approx(found.bound, abs=1e-12)
    assert again.steps == found.steps


@pytest.mark.slow
def test_more_steps_are_only_taken_if_they_lower_the_bound() -> None:
    game = small(12, 3)
    policy = random_policy(game, 4)
    found = certify(game.rules, policy, 2.0)
    bounds = [
        replay(game.rules, policy, found.steps[:number]).bound()
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
    with pytest.raises(ValueError, match="total score"):
        certified_bound(recurring, random_policy(recurring, 0), 0.1)


def test_a_revision_never_raises_the_bound() -> None:
    game = small(14, 3)
    found = LiftedBound(game.rules, random_policy(game, 3))
    improve(found, 0.5)
    cells = {divmod(cell, 14) for cell in range(14 * 14) if found.is_kept(cell)}
    lowest = start = found.bound()
    for share in (0.0, 0.3, 1.0):
        for score, opponent in sorted(cells):
            found.take(Revision(score, opponent, share, 1.0 - 0.5 * share))
            assert found.value <= lowest + 1e-12
            lowest = found.value
    assert found.bound() == pytest.approx(lowest, abs=found.margin() + 1e-12)  # values are true
    assert lowest < start - 1e-7


def test_what_is_revised_is_worth_what_a_claim_says() -> None:
    game = small(10, 3)
    found = LiftedBound(game.rules, random_policy(game, 5))
    step = random_claims(game, 8, 1)[0]._replace(score=6, opponent=5, share=1.0, weight=1.0)
    found.take(step)
    refunded, value = found.refunds().copy(), found.value
    found.take(Revision(6, 5, 0.0, 0.0))  # nothing is lent or lowered: only given back
    assert found.refunds() == pytest.approx(refunded, abs=1e-12)
    assert found.value <= value


def test_a_cell_that_claims_nothing_has_nothing_to_revise() -> None:
    game = small(10, 3)
    policy = random_policy(game, 5)
    with pytest.raises(ValueError, match="allowed where claims are kept"):
        replay(game.rules, policy, [Revision(3, 4, 0.1, 0.25)])


def test_more_claims_than_fit_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    game = small(12, 3)
    policy = random_policy(game, 4)
    monkeypatch.setattr(lifted_bound, "KEPT", 200_000)
    found = certify(game.rules, policy, 0.5)
    claimed = {(step.score, step.opponent) for step in found.steps}
    kept = {divmod(cell, 12) for cell in range(144) if found.is_kept(cell)}
    assert kept
    assert kept < claimed
    assert {step[:2] for step in found.steps if isinstance(step, Revision)} <= kept
    # Whoever checks knows which cells are revised, and keeps all of them.
    monkeypatch.setattr(lifted_bound, "KEPT", 0)
    assert replay(game.rules, policy, found.steps).bound() == found.bound()
    monkeypatch.setattr(lifted_bound, "REPLAYED", 100_000)
    with pytest.raises(ValueError, match=r"^steps: claims of \d+ revised cells need up to "):
        replay(game.rules, policy, found.steps)


@pytest.mark.parametrize("most", [15, 60])
def test_a_certificate_has_no_more_steps_than_are_read(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certifying, "MOST_STEPS", most)
    game = small(12, 3)
    found = certify(game.rules, random_policy(game, 4), 5.0)
    assert most - 2 < len(found.steps) <= most


def test_the_shipped_certificate_begins_as_it_says() -> None:
    given = read_certificate(ROOT / "results" / "certificate_su20.json.gz")
    found = LiftedBound(given.rules, given.strategy)
    assert found.full_memory == pytest.approx(given.full_memory, abs=1e-12)
    before = found.value
    for step in given.steps[:8]:
        found.take(step)
        assert given.bound < found.value < before
        before = found.value
    assert found.bound() == pytest.approx(before, abs=1e-9)
