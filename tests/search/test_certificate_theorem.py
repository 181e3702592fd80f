"""No certificate is below the truth, whatever its steps; and its parts are those of the theorem.

Truth and theorem are computed from the twin's turns: the truth by branch and bound, the theorem by
one backward induction for each cell and roll, from what was charged and not from how it came about.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.search.certificate import certify, check_certificate, hog_problems
from hogeq.search.certificate_files import MOST_COVER, Certificate
from hogeq.search.lifted_bound import LiftedBound, Revision, Step
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.aliases import Floats
from tests.search.games import TINY, matrices_of, mixture_of, random_policy, ticks
from tests.twin import Memory, Play, every_matrix_wins
from tests.twin.respond import Process, best_response, process_of, remember

# Games of every kind of memory: points or dice of last turns, turn numbers, extra turns, exchanges
# of the dice by the choice -1, and none.
GAMES: dict[str, dict[str, Any]] = {
    "su20": {"edition": "su20", "goal": 8, "max_dice": 2},
    "fa19": {"edition": "fa19", "goal": 8, "max_dice": 2},
    "su21": {"edition": "su21", "goal": 7, "max_dice": 2},
    "fa18": {"edition": "fa18", "goal": 6, "max_dice": 2},
    "fa13": {"edition": "fa13", "goal": 8, "max_dice": 1},
    "fa22": {"edition": "fa22", "goal": 9, "max_dice": 2},
    "many rolls": {"edition": "su20", "goal": 4, "max_dice": 9},  # the last share a claim
    "tiny": TINY["points and extra turns"],
    "tiny turns": TINY["three sides"],
}
KINDS = "policy", "matrix", "mixture", "extreme", "extreme mixture"
FAST = {
    *(("tiny", kind) for kind in KINDS),
    *(("tiny turns", "mixture"), ("su20", "policy"), ("su21", "mixture"), ("fa22", "matrix")),
}
CASES = pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=[] if (name, kind) in FAST else pytest.mark.slow)
        for name in GAMES
        for kind in KINDS
    ],
)
ENDS = 0.0, 5e-324, 1e-300, 1e-16, 0.5, 1.0 - 2.0**-53, 1.0
COVERS = 0.0, 5e-324, 1e-16, 1.0, 1.2, 1e3, float(MOST_COVER)


class Case(NamedTuple):
    """A game, a strategy, and the win rate of a best response."""

    game: HogEngine
    strategy: Strategy
    process: Process
    truth: float


@cache
def case_of(name: str, kind: str) -> Case:
    game = compile_game(rules_from(GAMES[name]))
    strategy = opponent(game, kind)
    play = Play(game.rules)
    process = process_of(play, strategy.policies, tuple(strategy.chances))
    most = best_response(process)
    assert most.is_exact
    return Case(game, strategy, process, most.win_rate)


def bound_of(case: Case) -> LiftedBound:
    return LiftedBound(hog_problems(case.game.rules, case.strategy))


def opponent(game: HogEngine, kind: str) -> Strategy:
    chance = np.random.default_rng(1)
    if kind == "policy":
        return random_policy(game, 1)
    if kind == "matrix":
        return strategy_of(game, matrices_of(game, 1).parts[0])
    if kind == "mixture":  # whose last component is never drawn
        drawn, unused = mixture_of(game, 2), random_policy(game, 2).array
        return strategy_of(game, Mixture([*drawn.weights, 0.0], [*drawn.parts, unused]))
    # Probabilities as small as they can be, and rows that miss 1 by as much as is allowed.
    rows = chance.choice([0.0, 5e-324, 1e-200, 1e-20], (2, *game.shape))
    main = chance.integers(game.num_actions, size=rows.shape[:-1])
    missed = chance.choice([-9e-10, 0.0, 9e-10], (*main.shape, 1))
    np.put_along_axis(rows, main[..., None], 1.0 + missed, axis=-1)
    return strategy_of(game, rows[0] if kind == "extreme" else Mixture([1.0, 1e-200], rows))


# --- steps ----------------------------------------------------------------------------------------


class Draw:
    """Steps drawn at random, many of them at the ends of what is allowed and of the same cells.

    Half of all draws keep to one weight, so that a wrong one is not made good by others.
    """

    def __init__(self, game: HogEngine, *seed: int) -> None:
        self.game, self.chance = game, np.random.default_rng(seed)
        self.cells = self.chance.integers(game.goal**2, size=6)
        self.weight = self.share() if self.chance.random() < 0.5 else None
        self.claimed: list[Step] = []

    def share(self) -> float:
        chance = self.chance
        return float(chance.choice(ENDS) if chance.random() < 0.6 else chance.random())

    def claim(self) -> Step:
        chance, goal = self.chance, self.game.goal
        cell = chance.choice(self.cells) if chance.random() < 0.5 else chance.integers(goal**2)
        roll = int(chance.integers(self.game.num_actions))
        share = float(chance.choice([0.2, 0.5, 1.0])) if chance.random() < 0.7 else self.share()
        weight = self.share() if self.weight is None else self.weight
        cover = float(chance.choice(COVERS) if chance.random() < 0.7 else 4.0 * chance.random())
        return Step(int(cell), roll, share, self.share(), weight, cover)

    def revision(self) -> Revision:
        row = self.claimed[self.chance.integers(len(self.claimed))].row
        return Revision(row, self.share(), self.share())

    def steps(self) -> Iterator[Step | Revision]:
        """Give claims, and revisions of some of them, some again and again."""
        for _ in range(int(self.chance.integers(1, 25))):
            if self.claimed and self.chance.random() < 0.3:
                yield from [self.revision()] * int(self.chance.choice([1, 1, 3]))
            else:
                self.claimed.append(self.claim())
                yield self.claimed[-1]


def theorem(case: Case, charged: dict[int, list[Floats]]) -> tuple[float, dict[int, Floats]]:
    """Compute the two parts of the bound for what each cell charges, a table for each component.

    The value of the responder that pays, and what each cell charges at most by the roll made there.
    """
    process = case.process
    known = {one: number for number, one in enumerate(Play(case.game.rules).memories())}
    part = [drawn for drawn, _ in process.states]
    cell = np.concatenate([level.cell for level in process.levels])
    memory = [known[Memory(*state.memory)] for _, state in process.states]
    sizes = [len(level.cell) for level in process.levels]

    def by_level(tables: list[Floats]) -> list[Floats]:
        return np.split(np.stack(tables)[part, cell, memory], np.cumsum(sizes)[:-1])

    total = [sum(tables, np.zeros(())) for tables in zip(*charged.values(), strict=True)]
    value = remember(process, None, by_level(total) if total else None).value
    losing = process._replace(
        levels=[
            level._replace(win=0.0 * level.win, other_win=0.0 * level.other_win)
            for level in process.levels
        ]
    )
    refunds = {}
    for one, tables in charged.items():
        collects = by_level([-table for table in tables])
        fixed = np.full(process.cells, -1)
        refunds[one] = np.zeros(process.num_actions)
        for roll in range(process.num_actions):
            fixed[one] = roll
            refunds[one][roll] = remember(losing, fixed, collects).value
    return value, refunds


def prices_of(found: LiftedBound) -> list[Floats]:
    """Copy the prices of each part, by cell: (C, H, K)."""
    tables = []
    responders = found._responder
    for part in responders.responders:
        passes = part.passes
        cells = passes.graph.row[passes.positions]
        table = np.zeros_like(part.arrays.prices)
        table[cells] = part.arrays.prices
        tables.append(table)
    return tables


def check_parts(case: Case, steps: list[Step | Revision]) -> None:
    """Compare what steps lead to with the theorem."""
    found, charged = bound_of(case), dict[int, list[Floats]]()
    before = prices_of(found)
    for step in steps:
        found.take(step)
        now = prices_of(found)
        more = [one - old for one, old in zip(now, before, strict=True)]
        before = now
        old = charged.get(step.row, [np.zeros(())] * len(more))
        charged[step.row] = [x + y for x, y in zip(old, more, strict=True)]
    for one in found._responder.responders:  # what was kept between passes must not matter
        one.arrays.values[:] = one.arrays.way_values[:] = -1.0
    bound = found.bound()
    value, refunds = theorem(case, charged)
    assert found._responder.value == pytest.approx(value, abs=1e-12)
    for cell, worths in refunds.items():
        assert (found._action_maxima[cell] >= worths - 1e-12).all()
    proved = value + sum(float(worths.max()) for worths in refunds.values())
    assert case.truth - 1e-12 <= proved <= bound


def check_draws(case: Case, number: int, seed: int) -> None:
    """Draw certificates, none of which may be below the truth."""
    for one in range(number):
        draw, found = Draw(case.game, seed, one), bound_of(case)
        for step in draw.steps():  # every other certificate has those alone that seem to help
            if isinstance(step, Revision) or one % 2 or np.subtract(*found.gain(step)) > 0.0:
                found.take(step)
            else:
                draw.claimed.remove(step)
        assert found.bound() >= case.truth, found.steps


@CASES
def test_no_certificate_is_below_the_truth(name: str, kind: str) -> None:
    check_draws(case_of(name, kind), 12, 0)


@pytest.mark.slow
@CASES
def test_no_certificate_of_ten_thousand_is_below_the_truth(name: str, kind: str) -> None:
    check_draws(case_of(name, kind), 1 + 10_000 // (len(GAMES) * len(KINDS)), 1)


def adversary(case: Case, seed: int, rounds: int, tries: int) -> None:
    """Take those steps that seem to lower the bound most, so that an error shows most."""
    draw, found = Draw(case.game, seed), bound_of(case)
    for number in range(rounds):
        drawn = [draw.claim() for _ in range(tries)]
        lowered = [fall - refund for fall, refund in map(found.gain, drawn)]
        draw.claimed.append(drawn[int(np.argmax(lowered))])
        found.take(draw.claimed[-1])
        if number % 4 == 3:
            found.take(draw.revision())
        assert found.bound() >= case.truth, found.steps


@CASES
def test_an_adversary_lowers_no_bound_below_the_truth(name: str, kind: str) -> None:
    adversary(case_of(name, kind), 0, 8, 8)


@pytest.mark.slow
@CASES
def test_an_adversary_with_time_lowers_no_bound_below_the_truth(name: str, kind: str) -> None:
    for seed in range(1, 5):
        adversary(case_of(name, kind), seed, 40, 25)


@CASES
def test_a_bound_has_the_parts_of_the_theorem(name: str, kind: str) -> None:
    case = case_of(name, kind)
    for seed in range(3):
        check_parts(case, list(Draw(case.game, seed).steps()))
    check_parts(
        case, list(certify(hog_problems(case.game.rules, case.strategy), 40.0, ticks()).steps)
    )


@CASES
def test_what_is_found_is_read_and_true(tmp_path: Path, name: str, kind: str) -> None:
    case = case_of(name, kind)
    found = certify(hog_problems(case.game.rules, case.strategy), 60.0, ticks())
    bound = found.bound()
    assert bound >= case.truth
    path = tmp_path / "proof.json"
    steps = tuple(found.steps)
    written = Certificate(case.game.rules, case.strategy, min(1.0, bound), found.full_memory, steps)
    written.write(path)
    read = Certificate.read(path)
    assert read.steps == steps
    assert check_certificate(read).bound == pytest.approx(min(1.0, bound), abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_rows_that_miss_1_are_made_good(name: str) -> None:
    case = case_of(name, "matrix")
    game, rows = case.game, case.strategy.policy
    for missed in (-9e-10, 9e-10):
        strategy = strategy_of(game, (1.0 + missed) * rows)
        assert LiftedBound(hog_problems(game.rules, strategy)).bound() > case.truth


@pytest.mark.parametrize("name", ["tiny", "tiny turns"])
def test_the_truth_is_that_of_every_matrix(name: str) -> None:
    case = case_of(name, "policy")
    wins = every_matrix_wins(Play(case.game.rules), case.strategy.policy)[2]
    assert case.truth == pytest.approx(wins.max(), abs=1e-12)


def test_the_functions_that_the_page_names_are_there() -> None:
    page = (Path(__file__).parents[2] / "docs" / "exact-response.md").read_text("utf-8")
    named = re.findall(r"`([\w.]+)`\s+in\s+`(hogeq/[\w/]+)\.py`", page)
    assert {name for name, _ in named} >= {"LiftedBound.bound", "remember", "value_rise", "revise"}
    for name, path in named:
        assert callable(attrgetter(name)(import_module(path.replace("/", "."))))
