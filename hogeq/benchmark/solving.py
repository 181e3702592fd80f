"""What hogeq finds on an instance of the benchmark, and what it proves without questions."""

from typing import NamedTuple

from hogeq.benchmark.catalogue import Entry
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.bounds import full_memory_bound
from hogeq.trees.exact import best_response, equilibrium
from hogeq.trees.sequences import sequence_form


class Solved(NamedTuple):
    """What player 0 can get, at least, and what no strategy exceeds."""

    value: float
    bound: float


def solve(entry: Entry, kicks: int, seconds: float) -> Solved:
    """Search for a best strategy, and bound it.

    In Hog an attack gives each of its starts some kicks, and the bound is that of a player who
    forgets nothing. In a game tree a program has some seconds; a game of two players is solved in
    mixtures.
    """
    if entry.tree is None:
        game, opponent = entry.match()
        found = attack(game, opponent, SearchBudget(perturbations=kicks))
        return Solved(found.win_rate, full_memory_bound(game, opponent))
    tree = entry.tree()
    if entry.family == "game":
        solved = equilibrium(tree, seconds)
        return Solved(solved.lower, solved.upper)
    form = sequence_form(tree, entry.seat or 0)
    response = best_response(form, form.payoffs(tree.uniform()), seconds)
    return Solved(response.payoff, response.bound)
