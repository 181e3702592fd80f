"""Limits of time: whenever it is over, what was valid so far is given, and nothing is refused."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import count
from threading import Thread, current_thread
from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest

import hogeq
from hogeq.search.attack import attack
from hogeq.search.results import Budget
from hogeq.solvers import dags
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline
from hogeq.trees import (
    beliefs,
    boxes,
    integer_program,
    policy_values,
    responses,
    restricted,
    sequences,
)
from hogeq.trees.absent import Decision
from hogeq.trees.absent_results import gaps_of
from hogeq.trees.beliefs import TooSlowError, build_belief_dag, spanned_dag
from hogeq.trees.best_response import CONVERGED_GAP, best_response
from hogeq.trees.columns import Solving
from hogeq.trees.enclosures import Payoffs
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import FlatTree
from hogeq.trees.maxmin import Maxmin
from hogeq.trees.sequence_payoffs import stakes
from hogeq.trees.sequences import SequenceForm, sequence_form
from hogeq.trees.strategies import tree_strategy
from tests.own_rules import Moves, States
from tests.slow import mostly_slow
from tests.trees.test_inflation import payoffs_against

FORGETFUL: Final = "liars_dice_ir(dice_sides=3)"
LOOKS: Final = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 10_000)


class Partners(hogeq.GameRules):
    """Partners who hold a number each bid higher in turn until one stops."""

    players = 1

    def __init__(self, numbers: int, top: int) -> None:
        self.numbers, self.top = numbers, top

    def initial(self) -> tuple[object, ...]:
        return ()

    def to_move(self, state: tuple[object, ...]) -> int:
        if len(state) < 2:
            return hogeq.CHANCE
        ended = len(state) > 2 and state[-1] in {"stop", self.top}
        return hogeq.END if ended else 0

    def actions(self, state: tuple[object, ...]) -> list[object]:
        if len(state) < 2:
            return list(range(self.numbers))
        low = int(str(state[-1])) + 1 if len(state) > 2 else 1
        return [*range(low, self.top + 1), "stop"]

    def next(self, state: tuple[object, ...], action: object) -> tuple[object, ...]:
        return (*state, action)

    def knows(self, state: tuple[object, ...], player: int) -> str:  # noqa: ARG002
        return f"partner {len(state) % 2} holds {state[len(state) % 2]} bids {state[2:]}"

    def payoffs(self, state: tuple[object, ...]) -> tuple[float]:
        bids = [int(str(one)) for one in state[2:] if one != "stop"]
        level = bids[-1] if bids else 0
        first, second = int(str(state[0])), int(str(state[1]))
        made = (first * second + first + 2 * second) % (self.top + 3)
        return (float(level if level <= made else -level),)


class Driver(States):
    """Piccione and Rubinstein's driver: exits look alike, the second is home."""

    players = 1
    known = "an exit"

    def __init__(self) -> None:
        exits = {0: (0, {"go on": 1, "exit": 10}), 1: (0, {"go on": 2, "exit": 11})}
        super().__init__(exits, {10: [0.0], 11: [4.0], 2: [1.0]})


def ticking(looks: float) -> Deadline:
    """Give a deadline that is over after so many looks at its clock."""
    return Deadline(looks, count().__next__)


def tree_of(game: object) -> FlatTree:
    tree = hogeq.Game(game).tree
    assert tree is not None
    return tree


@pytest.fixture(scope="module")
def trees() -> dict[str, tuple[FlatTree, float]]:
    """Games of one player and of two who forget, with their values."""
    known = {"liar": tree_of(FORGETFUL), "partners": tree_of(Partners(3, 3))}
    found = {}
    for name, tree in known.items():
        solved = dags.solve_tree(tree, 100.0)
        assert solved.is_proved
        found[name] = tree, solved.lower
    return found


@pytest.mark.parametrize("method", dags.METHODS)
@pytest.mark.parametrize("name", mostly_slow(["liar", "partners"], "partners"))
def test_bounds_hold_whenever_an_equilibrium_ends(
    trees: dict[str, tuple[FlatTree, float]], name: str, method: str
) -> None:
    tree, value = trees[name]
    for looks in LOOKS:
        sequences.sequence_form.cache_clear()
        solved = dags.solve_tree(tree, ticking(looks), method)
        ends = [solved.lower, solved.upper, *(solved.secured or ())]
        assert solved.lower - 1e-9 <= value <= solved.upper + 1e-9, looks
        assert np.isfinite(ends).all()
        for one, end in zip(solved.strategies, (ends[-2], ends[-1]), strict=True):
            sign = 1.0 if one is solved.strategies[0] else -1.0
            form = sequence_form(tree, 0 if sign < 0.0 else 1)
            payoffs = payoffs_against(one, form)
            best = best_response(form, payoffs, 60.0)
            level = sign * -best.payoff * stakes(tree) + tree.shift + tree.centre
            assert sign * (level - end) >= -1e-9, (looks, "what is given secures its end")


def test_bounds_hold_whenever_a_response_ends(trees: dict[str, tuple[FlatTree, float]]) -> None:
    for tree, _ in trees.values():
        form = sequence_form(tree, 0)
        worth = form.payoffs_against(tree.uniform())
        best = best_response(form, worth, 100.0)
        assert best.bound - best.payoff <= CONVERGED_GAP
        for looks in LOOKS:
            sequences.sequence_form.cache_clear()
            fresh = sequence_form(tree, 0)
            limit = ticking(looks)
            answer = best_response(fresh, worth, limit, deadline=limit)
            assert answer.payoff <= best.payoff + 1e-12
            assert best.payoff <= answer.bound + 1e-12, looks


def test_an_attack_ends_with_a_true_rate_whenever_it_ends() -> None:
    game = hogeq.Game(FORGETFUL)
    engine, uniform = TreeEngine(tree_of(FORGETFUL)), game.strategy("uniform")
    for looks in LOOKS:
        found = attack(engine, uniform, Budget(starts=2, kicks=2), deadline=ticking(looks))
        matrix = engine.legal(np.eye(engine.num_actions)[found.matrix])
        value = game.value(matrix, "uniform").mean
        assert engine.tree.units.value(found.win_rate) == pytest.approx(value, abs=1e-11)


@pytest.mark.parametrize("seconds", [0.0, 0.01])
def test_no_command_of_a_game_is_refused_for_want_of_time(seconds: float) -> None:
    game = hogeq.Game(FORGETFUL)
    best = game.attack("uniform", Budget(starts=1, kicks=1)).value
    response = game.attack("uniform", Budget(seconds=seconds))
    assert response.value - 1e-12 <= best <= response.bound + 1e-12
    apart = game.in_policies(seconds)
    assert apart.lower <= apart.upper + 1e-12
    first, _ = game.gaps("uniform", seconds)
    assert first.edt[0] <= first.edt[1] + 1e-12
    assert first.ex_ante[0] <= first.ex_ante[1] + 1e-12


@pytest.mark.parametrize("ask", ["attack", "exploitability"])
def test_a_player_alone_has_all_the_time(monkeypatch: pytest.MonkeyPatch, ask: str) -> None:
    given: list[float] = []
    solve = Decision.solve

    def noted(decision: Decision, limit: Any, *rest: Any, **more: Any) -> Any:
        given.append(Deadline.of(limit).left)
        return solve(decision, 0.0, *rest, **more)

    monkeypatch.setattr(Decision, "solve", noted)
    getattr(hogeq.Game(Driver()), ask)("uniform", Budget(seconds=50.0))
    assert max(given) > 40.0


def test_an_equilibrium_of_full_hog_needs_no_time() -> None:
    solved = hogeq.Game({"edition": "su20", "goal": 30}).equilibrium(seconds=0)
    assert 0.0 <= solved.lower <= 0.5 <= solved.upper <= 1.0
    assert solved.method == "dcfr"


def test_no_seconds_make_no_integer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a program was written")

    monkeypatch.setattr(integer_program, "milp", refuse)
    monkeypatch.setattr(sequences, "chains_of", refuse)
    game = hogeq.Game(Partners(4, 3))
    found = game.attack("uniform", Budget(starts=1, kicks=0, exact_seconds=0.0))
    assert found.value <= found.bound
    assert game.bound("uniform") == pytest.approx(found.full_memory, abs=1e-12)


@pytest.mark.parametrize(
    ("module", "solver", "ask"),
    [
        (integer_program, "milp", lambda game: game.attack("uniform", Budget(starts=1, kicks=0))),
        (restricted, "linprog", lambda game: game.equilibrium(60.0, "columns")),
        (boxes, "linprog", lambda game: Maxmin(game.tree, 0, 60.0).solve([], np.inf)),
    ],
)
def test_programs_can_be_interrupted(
    module: ModuleType, solver: str, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[Thread] = []

    def noted(*_: Any, **__: Any) -> None:
        threads.append(current_thread())
        raise EOFError

    monkeypatch.setattr(module, solver, noted)
    with pytest.raises(EOFError):
        ask(hogeq.Game("leduc_poker", forget="last:1"))
    assert threads != [current_thread()]


def test_a_search_whose_effort_is_not_given_ends_in_the_time_of_its_proof() -> None:
    assert Budget(exact_seconds=5.0).limit == Budget(exact_seconds=5.0, seed=0).limit == 5.0
    assert Budget(exact_seconds=5.0, kicks=3).limit == Budget().limit == np.inf
    assert Budget(exact_seconds=5.0, until_saturated=True).limit == np.inf
    assert Budget(exact_seconds=0.0).limit == np.inf  # no proof
    assert Budget(seconds=2.0, exact_seconds=5.0).limit == 2.0


def test_parts_of_a_row_are_not_parted_again() -> None:
    tree = tree_of(FORGETFUL)
    sequences.sequence_form.cache_clear()
    for player in (0, 1):
        form = sequence_form(tree, player)
        again, _ = form.inflated._split(Deadline())
        inflated = form.inflated
        assert len(np.unique(again.row_of_refined)) == len(np.unique(inflated.row_of_refined))
        assert form.inflated.inflated is form.inflated


# --- chains and inflation -------------------------------------------------------------------------


def chosen_chains(form: SequenceForm) -> int:
    """Count the chains of all shared rows, slowly: the most pasts that others can choose among."""
    following: dict[int, list[int]] = defaultdict(list)
    for past, sequence in enumerate(form.parent_sequence.tolist()):
        following[sequence].append(past)

    def number(sequence: int, row: int) -> int:
        return sum(at(past, row) for past in following[sequence])

    def at(past: int, row: int) -> int:
        if form.row_of_refined[past] == row:
            return 1
        begin, end = form.sequence_offsets[past : past + 2].tolist()
        return max(number(one, row) for one in range(begin, end))

    return sum(number(0, row) for row in form.shared_rows.tolist())


def is_chain(form: SequenceForm, chain: Ints) -> bool:
    """Whether own actions exclude any two pasts: a play meets one at most."""
    steps = [[(int(form.parent_sequence[past]), past)] for past in chain.tolist()]
    for way in steps:
        while way[-1][0]:
            above = int(form.refined_of_sequence[way[-1][0]])
            way.append((int(form.parent_sequence[above]), above))
        way.reverse()
    for number, one in enumerate(steps):
        for other in steps[:number]:
            pairs = zip(one, other, strict=False)
            first = next(pair for pair in pairs if pair[0] != pair[1])
            if first[0][0] == first[1][0]:  # others chose what followed
                return False
    return True


@pytest.mark.parametrize("game", [FORGETFUL, Partners(4, 4), "liars_dice_ir(dice_sides=4)"])
def test_chains_cover_all_pasts_once_and_are_as_few_as_can_be(game: object) -> None:
    for player in (0, 1):
        form = sequence_form(tree_of(game), player).inflated
        if not len(form.shared_rows):
            continue
        chains = form.chains_within(Deadline())
        assert chains is not None
        pasts = np.sort(np.concatenate(chains))
        assert np.array_equal(pasts, np.flatnonzero(np.isin(form.row_of_refined, form.shared_rows)))
        assert all(len({*form.row_of_refined[chain].tolist()}) == 1 for chain in chains)
        assert len(chains) == chosen_chains(form)
        assert all(is_chain(form, chain) for chain in chains)


def test_rows_that_there_is_no_time_to_split_stay_whole() -> None:
    tree = tree_of(FORGETFUL)
    sequences.sequence_form.cache_clear()
    form = sequence_form(tree, 0)
    assert np.array_equal(form.inflate(ticking(0)).row_of_refined, form.row_of_refined)
    whole = sequences.inflated_forms(tree, Deadline())[0]  # anew
    assert whole is not form
    assert len(whole.inflated.shared_rows) <= len(form.inflated.shared_rows)


def test_a_part_of_a_dag_for_which_there_is_no_time_is_a_draw() -> None:
    form = sequence_form(tree_of(Partners(3, 3)), 0)
    assert len(form.inflated.shared_rows)
    with pytest.raises(TooSlowError):
        build_belief_dag(form, deadline=ticking(0))
    pure = np.eye(form.tree.num_actions)[np.zeros((2, form.tree.num_rows), np.int64)]
    assert spanned_dag(form, pure, ticking(0)).row_of_decision.tolist() == [-1]
    assert (spanned_dag(form, pure).row_of_decision >= 0).all()


def test_no_policy_is_improved_once_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("an ascent")

    monkeypatch.setattr(Maxmin, "ascend", refuse)
    monkeypatch.setattr(policy_values, "ENTRIES_PER_NODE", 0)  # a search begins in any time
    found = hogeq.Game("leduc_poker", forget="last:1").in_policies(0.0)
    assert found.lower < found.upper


@pytest.mark.parametrize("game", [Partners(3, 3), Driver()])
def test_without_time_for_a_search_the_mixture_is_the_policy(
    monkeypatch: pytest.MonkeyPatch, game: object
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a search")

    tree = tree_of(game)
    solved = dags.solve_tree(tree, 0.0)
    searched = policy_values.in_policies(tree, solved, 10.0)
    monkeypatch.setattr(Maxmin, "__init__", refuse)
    found = policy_values.in_policies(tree, solved, ticking(1))
    assert found.strategy.policy.tolist() == solved.strategies[0].policy.tolist()
    assert searched.second is not None
    assert found.second is not None
    for wide, narrow in ((found, searched), (found.second, searched.second)):
        assert wide.lower <= narrow.upper + 1e-9
        assert narrow.lower <= wide.upper + 1e-9
        assert not wide.is_proved or wide.upper - wide.lower <= 1e-7


@pytest.mark.parametrize("left", [1.0, 1e-9])
def test_a_round_is_begun_if_there_is_time_to_value_it(left: float) -> None:
    solving = Solving(tree_of(Partners(3, 3)), 100.0)
    solving.run_double_oracle(Deadline(0.0))
    assert solving.iterations == 1
    solving.run_double_oracle(Deadline(left, lambda: 0.0))  # a clock that stands still
    assert (solving.iterations > 1) == (left == 1.0)


def test_a_part_of_a_dag_that_is_too_large_is_a_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beliefs, "build_belief_dag", partial(build_belief_dag, most=1))
    form = sequence_form(tree_of(Partners(3, 3)), 0)
    pure = np.eye(form.tree.num_actions)[np.zeros((2, form.tree.num_rows), np.int64)]
    assert spanned_dag(form, pure).row_of_decision.tolist() == [-1]
    found = hogeq.Game("leduc_poker", forget="last:1").in_policies(0.2)
    assert found.lower <= found.upper


def test_gaps_of_rows_that_are_not_looked_at_are_those_of_all_rows() -> None:
    made = hogeq.Game(Partners(2, 2)).tree
    assert made is not None
    decision = Decision.of(made, made.uniform())
    decision.repeatable_rows = decision.own_rows  # as if all were met again
    for looks in LOOKS:
        gaps = decision.gaps(made.uniform(), ticking(looks))
        assert gaps.edt[0] <= gaps.edt[1] <= gaps.ex_ante[1] + 1e-12


class Wide(Moves):
    """One player has an information set of many actions, the other as many sets of two."""

    knows = hogeq.GameRules.knows

    def __init__(self, actions: int) -> None:
        self.many = actions

    def actions(self, state: Any) -> range:
        return range(2 if state else self.many)

    def payoffs(self, state: Any) -> tuple[float, float]:
        paid = (7919 * state[0] + 104729 * state[1]) % 1000 / 1000
        return paid, -paid


def test_gaps_of_a_player_take_no_table_of_the_rows_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shapes: list[tuple[int, ...]] = []
    measure = Decision.gaps

    def noted(decision: Decision, policy: Any, *rest: Any) -> Any:
        shapes.append(policy.shape)
        return measure(decision, policy, *rest)

    monkeypatch.setattr(Decision, "gaps", noted)
    game = hogeq.Game(Wide(40))
    gaps, conv = game.gaps("uniform"), game.nash_conv("uniform")
    assert shapes == [(1, 40), (40, 2)]
    for one, member in zip(gaps, conv.members, strict=True):
        assert one.ex_ante[0] <= member.lower <= member.upper <= one.ex_ante[1]
        assert one.ex_ante[1] - one.ex_ante[0] < 1e-6


def test_gaps_inflate_the_other_player_in_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Deadline] = []
    inflate = SequenceForm.inflate

    def noted(form: SequenceForm, deadline: Deadline) -> SequenceForm:
        limits.append(deadline)
        return inflate(form, deadline)

    monkeypatch.setattr(SequenceForm, "inflate", noted)
    sequences.sequence_form.cache_clear()
    tree = tree_of(FORGETFUL)
    policy = tree_strategy(tree, "uniform")
    gaps_of(tree, policy, 0, Deadline(7.0, lambda: 0.0))
    assert limits[0].seconds < 7.0


def test_what_an_absent_minded_player_found_is_valued_once(monkeypatch: pytest.MonkeyPatch) -> None:
    game, valued, solved = hogeq.Game(Driver()), [], []
    least_payoff, solve = Payoffs.least_payoff, Decision.solve

    def counted(payoffs: Payoffs, policy: Floats) -> Fraction:
        valued.append(payoffs.form.player)
        return least_payoff(payoffs, policy)

    def noted(decision: Decision, *given: Any, **more: Any) -> Any:
        solved.append(decision)
        return solve(decision, *given, **more)

    monkeypatch.setattr(Payoffs, "least_payoff", counted)
    monkeypatch.setattr(Decision, "solve", noted)
    responses.respond_in_both_seats(game.tree, game.strategy("uniform"), 0.0)
    assert valued.count(0) == len(solved)


@pytest.mark.parametrize(("seconds", "number"), [(19.0, 1), (21.0, 2), (np.inf, 2)])
def test_responses_are_sought_again_if_they_can_be_valued(
    monkeypatch: pytest.MonkeyPatch, seconds: float, number: int
) -> None:
    game, clock, calls = hogeq.Game(Driver()), [0.0], []
    respond = responses.respond_in_both_seats

    def slow(*given: Any, **more: Any) -> Any:
        calls.append(given)
        clock[0] += 10.0
        return replace(respond(*given, **more), is_proved=False)

    monkeypatch.setattr(responses, "respond_in_both_seats", slow)
    monkeypatch.setattr(Deadline, "usual_clock", staticmethod(lambda: clock[0]))
    game.attack("uniform", Budget(seconds=seconds) if seconds < np.inf else Budget())
    assert len(calls) == number


def test_a_search_that_would_not_end_in_time_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of(Driver())
    decision, start = Decision.of(tree, tree.uniform()), np.array([[0.25, 0.75]])
    assert not np.array_equal(decision.search(decision.own_rows, start, Deadline()), start)
    monkeypatch.setattr(Decision, "values", lambda *_: pytest.fail("a pass was made"))
    assert decision.search(decision.own_rows, start, Deadline(1e-6, lambda: 0.0)) is start
