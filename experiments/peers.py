"""Free solvers beside hogeq: SCIP, toulbar2 and CP-SAT on instances of the benchmark.

    pip install --constraint constraints.txt '.[peers]'
    python experiments/peers.py                      # 30 seconds each, one thread
    python experiments/peers.py --only random --seconds 60

All get the payoffs of one player's sequences, and one limit of time. Where a play meets no
information set twice, the best pure strategy is sought: toulbar2 has a variable for each
information set and each refined one, whose values are actions, and ternary functions that tie them;
CP-SAT has a Boolean for each action and each sequence, which is the product of the actions on it.
In absent-minded problems SCIP has a variable for each probability and each sequence, whose weight
is the product of the weight before it and a probability.

Values are those that hogeq computes of the strategies that the solvers return. Bounds are theirs,
raised by the rounding of costs to whole numbers. Prints a Markdown table and writes
results/peers.md; a solver that is not installed is said to be missing.
"""

import math
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from threading import Event, Thread
from typing import Any, Final, NamedTuple, cast

import numpy as np
import problems  # noqa: F401 - registers games
from absent_minded import OWN
from common import arguments, publish

import hogeq
from hogeq.benchmark.catalogue import catalogue
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.trees.absent import Decision
from hogeq.trees.sequences import SequenceForm, sequence_form

PURE: Final = (
    "trials-6x2x2",
    "interview-8x3x4",
    "random-4x3x8",
    "random-5x3x4",
    "random-6x2x8",
    "random-6x3x16",
    "leduc_poker-last_1-seat_0",
    "liars_dice_ir-4-seat_0",
)
"""Instances of the benchmark for which a pure strategy is sought."""

ABSENT_MINDED: Final = OWN[1:]  # the first is the second on a smaller scale

PACKAGES: Final = {"SCIP": "pyscipopt", "toulbar2": "pytoulbar2", "CP-SAT": "ortools"}
PLACES: Final = 12  # decimal places of a cost, which is a whole number
PROVED: Final = 1e-6  # a bound this close to the value meets it
SHOWN: Final = 10**7  # digits of values, which are rounded down, and of bounds, rounded up
NEARLY: Final = 0.8  # of the limit is used: it ended the search

Ends = tuple[float, float]
"""Value and bound."""

Solve = Callable[[], Ends]


class Found(NamedTuple):
    """What a solver found: a strategy, and a bound on all strategies."""

    strategy: Any
    """Actions, (R,), or probabilities, (R, K); None if it found nothing."""
    bound: float


class Past(NamedTuple):
    """A refined information set."""

    before: int
    """Sequence that leads to it."""
    row: int
    after: slice
    """Sequences that end with its actions."""


def pasts_of(form: SequenceForm) -> list[Past]:
    """List the refined information sets, each after those on the way to it."""
    ends = pairwise(form.sequence_offsets.tolist())
    found = zip(form.parent_sequence.tolist(), form.row_of_refined.tolist(), ends, strict=True)
    return [Past(before, row, slice(*after)) for before, row, after in found]


# --- the best pure strategy -----------------------------------------------------------------------


def by_cp_sat(form: SequenceForm, payoffs: Floats, seconds: float) -> Found:
    """Maximise over Booleans: actions of rows, and sequences that are played."""
    from ortools.sat.python import cp_model

    model, legal = cp_model.CpModel(), form.tree.num_legal
    rows = np.unique(form.row_of_refined).tolist()
    actions = {row: [model.new_bool_var("") for _ in range(legal[row])] for row in rows}
    played = [model.new_constant(1), *(model.new_bool_var("") for _ in payoffs[1:])]
    for row in rows:
        model.add_exactly_one(actions[row])
    for before, row, after in pasts_of(form):
        model.add(sum(played[after]) == played[before])
        for sequence, action in zip(played[after], actions[row], strict=True):
            model.add_implication(sequence, action)
    costs = np.rint(payoffs * 10**PLACES).astype(np.int64)
    model.maximize(sum(int(cost) * one for cost, one in zip(costs, played, strict=True) if cost))
    solver, is_done = cp_model.CpSolver(), Event()
    solver.parameters.num_workers = 1
    watch = Thread(target=stop_after, args=(solver, seconds, is_done))
    watch.start()
    status = solver.solve(model)
    is_done.set()
    watch.join()
    if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
        return Found(None, np.inf)  # its bound says nothing then
    bound = solver.best_objective_bound / 10**PLACES + rounding(payoffs)
    strategy = np.zeros(len(legal), np.int64)
    for row in rows:
        strategy[row] = [solver.value(one) for one in actions[row]].index(1)
    return Found(strategy, bound)


def stop_after(solver: Any, seconds: float, is_done: Event) -> None:
    """Stop a solver after so many seconds of the processor; its own limit is by the clock."""
    end = time.process_time() + seconds
    while time.process_time() < end and not is_done.wait(0.05):
        pass
    solver.stop_search()


def by_toulbar2(form: SequenceForm, payoffs: Floats, seconds: float) -> Found:
    """Minimise costs: value 1 + a of a refined information set plays a, 0 is not to reach it."""
    from pytoulbar2 import CFN

    network, legal = CFN(resolution=PLACES), form.tree.num_legal
    rows = np.unique(form.row_of_refined).tolist()
    row_variable = {row: network.AddVariable(f"row {row}", range(legal[row])) for row in rows}
    past_variable = [
        network.AddVariable(f"past {past}", range(1 + legal[row]))
        for past, row in enumerate(form.row_of_refined)
    ]
    for here, (before, row, after) in zip(past_variable, pasts_of(form), strict=True):
        plays = np.arange(1 + legal[row])
        network.AddFunction([here], [0.0, *(-payoffs[after]).tolist()])
        acts = plays == plays[None, 1:].T  # (actions of the row, values here)
        if not before:
            network.AddFunction([row_variable[row], here], costs(acts))
            continue
        parent = form.refined_of_sequence[before]
        is_led_here = np.arange(1 + legal[form.row_of_refined[parent]]) == (
            1 + form.action_of_sequence[before]
        )
        allowed = np.where(is_led_here[:, None, None], acts, plays == 0)
        network.AddFunction([past_variable[parent], row_variable[row], here], costs(allowed))
    answer = network.Solve(timeLimit=max(1, round(seconds)))
    bound = float(payoffs[0]) - network.GetDDualBound() + rounding(payoffs)
    if answer is None:
        return Found(None, bound)
    strategy = np.zeros(len(legal), np.int64)
    strategy[rows] = answer[0][: len(rows)]
    return Found(strategy, bound)


def costs(is_allowed: Any) -> list[float]:
    """Write a constraint as a function: nothing where it holds, infinite elsewhere."""
    flat: list[float] = np.where(is_allowed, 0.0, np.inf).ravel().tolist()
    return flat


def rounding(payoffs: Floats) -> float:
    """Bound what costs in whole numbers may miss of the sum of payoffs."""
    return np.count_nonzero(payoffs) * 10.0**-PLACES


# --- absent-minded problems -----------------------------------------------------------------------


def by_scip(decision: Decision, seconds: float) -> Found:
    """Maximise over probabilities and weights of sequences: w(past, a) = w(before) p(row, a)."""
    from pyscipopt import Model, quicksum

    form, model = decision.form, Model()
    # The decision has a place for each action of a past, legal or not.
    places = 1 + form.refined_of_sequence * form.tree.num_actions + form.action_of_sequence
    payoffs = decision.payoffs[np.append(0, places[1:])]
    model.hideOutput()
    model.setParam("limits/time", seconds)
    model.setParam("timing/clocktype", 1)  # of the processor
    model.setParam("limits/gap", 0.0)
    legal, rows = form.tree.num_legal, np.unique(form.row_of_refined).tolist()
    policy = {row: [model.addVar(lb=0.0, ub=1.0) for _ in range(legal[row])] for row in rows}
    weight = [model.addVar(lb=1.0, ub=1.0), *(model.addVar(lb=0.0, ub=1.0) for _ in payoffs[1:])]
    for row in rows:
        model.addCons(quicksum(policy[row]) == 1.0)
    for before, row, after in pasts_of(form):
        model.addCons(quicksum(weight[after]) == weight[before])
        for product, chance in zip(weight[after], policy[row], strict=True):
            model.addCons(product == weight[before] * chance)
    terms = (float(pay) * one for pay, one in zip(payoffs, weight, strict=True) if pay)
    model.setObjective(quicksum(terms), "maximize")
    model.optimize()
    bound, best, strategy = float(model.getDualbound()), model.getBestSol(), form.tree.uniform()
    if not model.getNSols():
        return Found(None, bound)
    for row in rows:
        chances = np.clip([best[one] for one in policy[row]], 0.0, 1.0)
        strategy[row, : legal[row]] = chances / chances.sum()
    return Found(strategy, bound)


# --- the table ------------------------------------------------------------------------------------


def main() -> None:
    """Print and write the table."""
    given = arguments(__doc__, only=("",), seconds=30.0)
    header = ["problem", "method", "value", "proved bound", "gap", "seconds", "limit"]
    publish(given.out, "peers", header, lines(given))


def lines(given: Namespace) -> Iterator[list[object]]:
    """Compare solvers on one problem after the other."""
    Deadline.usual_clock = staticmethod(time.process_time)  # type: ignore[method-assign]
    for names, solvers_of in ((PURE, pure_solvers), (ABSENT_MINDED, absent_minded_solvers)):
        for name in names:
            if any(part in name for part in given.only):
                for method, solve in solvers_of(name, given.seconds).items():
                    yield [name, method, *figures(method, solve, given.seconds)]


def pure_solvers(name: str, seconds: float) -> dict[str, Solve]:
    """Name what solves an instance of the benchmark."""
    entry = catalogue()[name]
    game, seat = cast("hogeq.TreeGame", entry.load()), entry.seat
    tree, original = game.tree, sequence_form(game.tree, seat)
    form, payoffs = original.inflated, original.payoffs_against(tree.uniform())

    def by_hogeq() -> Ends:
        response = game.attack("uniform", hogeq.Budget(seconds=seconds))
        return response.seats[seat], (response.seat_bounds or (np.inf, np.inf))[seat]

    def by_peer(peer: Callable[[SequenceForm, Floats, float], Found]) -> Ends:
        found = peer(form, payoffs, seconds)
        value = -np.inf
        if found.strategy is not None:
            value = float(form.pure_realisation(found.strategy) @ payoffs)
        return value * tree.largest_payoff, found.bound * tree.largest_payoff

    return {
        "hogeq": by_hogeq,
        "toulbar2": partial(by_peer, by_toulbar2),
        "CP-SAT": partial(by_peer, by_cp_sat),
    }


def absent_minded_solvers(name: str, seconds: float) -> dict[str, Solve]:
    """Name what solves an absent-minded problem."""
    tree = hogeq.Game(name).tree
    decision = Decision.of(tree, tree.uniform())

    def by_hogeq() -> Ends:
        solved = decision.solve(seconds)
        return solved.value, solved.bound

    def by_peer() -> Ends:
        found = by_scip(decision, seconds)
        value = -np.inf if found.strategy is None else decision.value(found.strategy)
        return value, found.bound

    return {"hogeq": by_hogeq, "SCIP": by_peer}


def figures(method: str, solve: Solve, limit: float) -> list[str]:
    """Write what a method finds and proves, and the seconds of the processor that it takes."""
    if method in PACKAGES and find_spec(PACKAGES[method]) is None:
        return ["not installed", "", "", "", ""]
    began = time.process_time()
    value, bound = solve()
    spent = time.process_time() - began
    gap = "0" if bound - value < PROVED else f"{bound - value:.1e}"
    low = f"{math.floor(value * SHOWN) / SHOWN:.7f}" if value > -np.inf else "none"
    high = f"{math.ceil(bound * SHOWN) / SHOWN:.7f}" if bound < np.inf else "none"
    return [low, high, gap, f"{spent:.1f}", "time limit" if spent > NEARLY * limit else ""]


if __name__ == "__main__":
    main()
