"""A game against an engine: what rolls are worth, what is taken back, how games end."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.analysis.turns import ENGINE, YOU, Engine, Session, Turn
from hogeq.baselines.simple import always_roll
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, rules_from
from hogeq.rules.turn import play_turn
from hogeq.strategies.conversion import policy_of
from tests.refusals import refuses
from tests.slow import FEW_EDITIONS, mostly_slow
from tests.twin import Match, Play, State


@cache
def small(edition: str) -> HogEngine:
    return compile_game(rules_from({"edition": edition, "goal": 20, "max_dice": 3}))


@cache
def engine(edition: str, kind: str) -> Engine:
    game = small(edition)
    if kind == "matrix":
        return Engine(game, always_roll(game, 2))
    return Engine(game, policy(game) if kind == "policy" else None)


def policy(game: HogEngine) -> NDArray[np.float64]:
    return np.random.default_rng(5).dirichlet(np.ones(game.num_actions), game.shape[:2])


def begin(edition: str, kind: str = "optimal", first: Any = "coin", seed: int = 0) -> Session:
    return Session(small(edition), engine(edition, kind), first, seed)


def advance(session: Session, random: np.random.Generator) -> Turn:
    if session.yours:
        return session.play(session.game.choices[random.integers(session.game.num_actions)])
    return session.play()


KINDS = ("optimal", "matrix", "policy")


# --- what rolls are worth -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edition", "kind"),
    [*product(("su20", "su21"), KINDS), ("fa18", "optimal"), ("fa15", "optimal")],
)
def test_rolls_are_worth_what_the_rules_text_says(edition: str, kind: str) -> None:
    rules = rules_from({"edition": edition, "goal": 8, "max_dice": 2})
    game = compile_game(rules)
    table = {"optimal": None, "matrix": always_roll(game, 1), "policy": policy(game)}[kind]
    shares = None if table is None else policy_of(game, table)
    plain = Match(Play(rules), shares, shares)
    for seed in range(3):
        session = Session(game, Engine(game, table), "coin", seed)
        random = np.random.default_rng(seed)
        while not session.over:
            state = State(*session.situation.view, session.situation.memory)
            want = {dice: plain.action_value(0, state, dice) for dice in game.choices}
            best = max(want.values())
            assert sorted(entry.dice for entry in session.odds()) == list(game.choices)
            for entry in session.odds():
                assert entry.win_probability == pytest.approx(want[entry.dice], abs=1e-12)
                assert entry.loss == pytest.approx(best - want[entry.dice], abs=1e-12)
            move = advance(session, random)
            assert move.value == pytest.approx(want[move.dice], abs=1e-12)
            assert move.best_value == pytest.approx(best, abs=1e-12)


def test_the_engine_plays_the_best_roll_or_its_policy() -> None:
    session = begin("su20", "optimal", "engine")
    move = session.play()
    assert move.dice == move.best[0]
    assert move.loss == 0.0
    assert begin("su20", "matrix", "engine").play().dice == 2
    game = small("fa22")
    rows = np.zeros(game.shape)
    rows[..., 1], rows[..., 3] = 0.25, 0.75 - 1e-10  # as far off 1 as a policy may be
    mixed = Engine(game, rows)
    dice = [Session(game, mixed, "engine", seed).play().dice for seed in range(200)]
    assert set(dice) == {1, 3}
    assert 0.15 < dice.count(1) / 200 < 0.35  # four deviations of sqrt(.25 * .75 / 200) = 0.03


# --- taking back ----------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", ["su20", "su21", "fa22"])
def test_undo_restores_exactly(edition: str) -> None:
    session, random = begin(edition, "policy", seed=7), np.random.default_rng(2)
    before: list[tuple[Any, Any, Any]] = []
    while not session.over and len(before) < 6:
        if session.yours:
            before.append((session.situation, session.odds(), session.record()))
        advance(session, random)
    after, moves = session.record(), session.turns
    for situation, odds, record in reversed(before):
        taken = session.undo()
        assert taken[0].before == situation
        assert all(move.before.mover == ENGINE for move in taken[1:])
        assert session.situation == situation
        assert session.odds() == odds
        assert session.record() == record
    assert session.undo() == ()
    for move in moves[len(session.turns) :]:
        if move.before.mover == YOU:
            session.play(move.dice)
        else:
            session.play()
    assert session.record() == after


def test_what_the_engine_played_first_is_not_taken_back() -> None:
    session = begin("fa22", "optimal", "engine")
    opening = session.play()
    assert session.undo() == ()
    assert session.turns == (opening,)


# --- the mistake meter ----------------------------------------------------------------------------


def test_the_meter_sums_what_was_given_away() -> None:
    session, random = begin("su20", first="you"), np.random.default_rng(0)
    while not session.over:
        advance(session, random)
    costs = [move.best_value - move.value for move in session.turns if move.before.mover == YOU]
    tally, meter = session.tally, session.record()["meter"]
    assert (meter["total"], meter["moves"]) == (pytest.approx(sum(costs), abs=1e-12), len(costs))
    assert (meter["mistakes"], meter["grades"]) == (tally.grades["mistake"], tally.grades)
    assert tally.grades["best"] == sum(cost <= 1e-12 for cost in costs) < len(costs) - 1
    # The engine plays optimally: nothing of the total is its own.
    assert all(move.loss == 0.0 for move in session.turns if move.before.mover == ENGINE)
    session.undo()
    assert session.tally.loss == pytest.approx(sum(costs[:-1]), abs=1e-12)


# --- whole games ----------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", mostly_slow(EDITIONS, *FEW_EDITIONS))
def test_every_edition_plays_to_the_end(edition: str) -> None:
    for seed, kind in enumerate(KINDS):
        session, random = begin(edition, kind, seed=seed), np.random.default_rng(seed)
        while not session.over:
            here = session.situation
            rules = session.game.rules
            move = advance(session, random)
            again = play_turn(rules, *here.view, here.memory, move.dice, move.faces)
            landed = again.landing.score, again.landing.opponent
            assert move.outcome == again
            assert move.after.view == (landed if move.after.mover == here.mover else landed[::-1])
        situation = session.situation
        assert situation.winner is not None
        assert situation.scores[situation.winner] >= 20
        record = session.record()
        assert len(record["turns"]) == situation.turns
        assert record["winner"] == ("you", "engine")[situation.winner]


def test_extra_turns_stay_with_the_mover_and_use_their_dice() -> None:
    found = 0
    for seed in range(20):
        session, random = begin("su21", "matrix", seed=seed), np.random.default_rng(seed)
        while not session.over:
            session_sides, extra = session.sides, session.situation.memory.extra
            assert session_sides == (8 if extra else 6)
            move = advance(session, random)
            if move.outcome.again:
                assert move.after.mover == move.before.mover
                found += 1
    assert found > 10


def test_chance_follows_from_the_seed() -> None:
    def played(seed: int) -> dict[str, Any]:
        session, random = begin("hw13", "policy", seed=seed), np.random.default_rng(0)
        while not session.over:
            advance(session, random)
        return session.record()

    assert played(5) == played(5)
    assert played(5)["turns"] != played(6)["turns"]
    firsts = [begin("hw13", "matrix", seed=seed).situation.mover for seed in range(200)]
    assert 70 < sum(firsts) < 130  # four deviations of sqrt(200) / 2 = 7
    faces = [
        face for seed in range(300) for face in begin("fa22", "matrix", "you", seed).play(3).faces
    ]
    counts = np.bincount(faces, minlength=7)[1:]
    assert counts.sum() == 900
    assert np.abs(counts - 150).max() < 50  # four deviations of sqrt(900 * 5 / 36) = 11


# --- refusals -------------------------------------------------------------------------------------


def test_what_cannot_be_is_refused() -> None:
    refuses(lambda: begin("fa22", seed=-1), "seed: got -1")
    mine = begin("fa22", first="you")
    refuses(lambda: mine.play(4), "dice is 4; allowed: 0 to 3")
    while not mine.over:
        advance(mine, np.random.default_rng(0))
    refuses(mine.play, "the game is over")
