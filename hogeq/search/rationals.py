"""Policies and their win rates in rational numbers."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from math import lcm
from typing import Final

import numpy as np

from hogeq.search.branching import ResponseGraph, ResponseProblem
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, refusal

Policy = list[list[Fraction]]
"""Probabilities of the actions of each row."""

BEST_IN_EACH_STATE = -1  # in place of a row's action: the best one in each of its states
MOST_DENOMINATOR: Final = 2**40
"""Largest common denominator of chances whose numerators follow from doubles: up to there a chance
times it is off by less than 1/2, by many roundings too; beyond 2**53 each double is whole."""


def to_fractions(policy: Floats, largest_denominator: int) -> Policy:
    """Round probabilities (R, K) to fractions of denominators up to the largest one.

    The most probable action of a row takes what the others leave, so that the row sums to 1.
    """
    rows = [
        [Fraction(probability).limit_denominator(largest_denominator) for probability in row]
        for row in policy.tolist()
    ]
    for row, likeliest in zip(rows, policy.argmax(axis=1).tolist(), strict=True):
        row[likeliest] += 1 - sum(row)
    return rows


def to_floats(policy: Policy) -> Floats:
    """Round a policy of fractions to floating point, (R, K)."""
    return np.array([[float(probability) for probability in row] for row in policy])


class ExactStates:
    """The states of a graph, and passes over them in whole numbers, without rounding.

    Chances are multiples of 1 / `denominator`. The value of a state that has h turns ahead at most
    is a whole number of (D d)**-h, where D is that denominator and d the common denominator of the
    policy.
    """

    def __init__(self, graph: ResponseGraph, denominator: int) -> None:
        """Convert chances and payoffs to whole multiples of 1 / `denominator`.

        Raises `HogeqError` if they are none, or if the denominator is above `MOST_DENOMINATOR`.
        """
        if denominator > MOST_DENOMINATOR:
            raise HogeqError(refusal("denominator", denominator, f"at most {MOST_DENOMINATOR}"))
        states = graph.states
        self._legal_actions = [np.flatnonzero(legal).tolist() for legal in graph.legal]
        self.denominator = denominator
        self.row = states.row_of_state.tolist()
        self.is_own = states.is_own.tolist()
        self.start = states.start_state.tolist()
        self.actions = states.immediate_payoff.shape[1]
        chances = states.outcome_probability * denominator
        payoffs = states.immediate_payoff * denominator
        misses = [np.abs(array - np.round(array)).max(initial=0.0) for array in (chances, payoffs)]
        starts_are_alike = (states.start_probability == 1 / len(self.start)).all()
        if max(misses) > 1e-3 or not starts_are_alike:
            raise HogeqError(f"denominator: got {denominator}; allowed: one of all chances")
        numerators = np.round(chances).astype(np.int64).tolist()
        self.won = np.round(payoffs).astype(np.int64).tolist()
        next_states = states.outcome_state.tolist()
        # Outcomes of action k in state s are at s * K + k; `outcomes` gives them.
        self.edges = [
            list(zip(numerators[first:end], next_states[first:end], strict=True))
            for first, end in pairwise(states.outcome_offsets.tolist())
        ]
        self.height = [0] * len(self.row)  # most turns ahead of each state
        # Next states have larger numbers, so their heights are known.
        for state in range(len(self.row) - 1, -1, -1):
            edges = self.edges[state * self.actions : (state + 1) * self.actions]
            heights = [self.height[next_state] for edge in edges for _, next_state in edge]
            self.height[state] = 1 + max(heights, default=0)

    def outcomes(self, state: int, action: int) -> list[tuple[int, int]]:
        """List the outcomes of an action in a state: numerator of the chance, and next state."""
        return self.edges[state * self.actions + action]

    def value(self, opponents: Policy, members: Sequence[int], fixed: Sequence[int]) -> Fraction:
        """Payoff against a policy of all other rows, by backward induction in whole numbers.

        A row is an information set. `members` are the states that play can come to, ascending. A
        row of the player takes its action in `fixed`, (R,), or where that is `BEST_IN_EACH_STATE`
        the best one in each of its states.
        """
        common = lcm(*(probability.denominator for row in opponents for probability in row))
        numerators = [[int(probability * common) for probability in row] for row in opponents]
        # The value of a state with h turns ahead at most is a whole number over power[h].
        base = self.denominator * common
        power = [base**height for height in range(max(self.height) + 1)]
        values = [0] * len(self.row)  # numerators
        for state in reversed(members):
            row = self.row[state]
            height = self.height[state] - 1  # most turns after this one
            # Actions, each with the numerator of its probability; own ones have probability 1.
            if not self.is_own[state]:
                probabilities = enumerate(numerators[row])
                weighted = [(weight, action) for action, weight in probabilities if weight]
            elif fixed[row] == BEST_IN_EACH_STATE:
                weighted = [(common, action) for action in self._legal_actions[row]]
            else:
                weighted = [(common, fixed[row])]
            action_values = []
            for weight, action in weighted:
                total = self.won[state][action] * power[height]
                for chance, next_state in self.outcomes(state, action):
                    scale = power[height - self.height[next_state]]
                    total += chance * values[next_state] * scale
                action_values.append(weight * total)
            values[state] = max(action_values) if self.is_own[state] else sum(action_values)
        start_values = [Fraction(values[state], power[self.height[state]]) for state in self.start]
        return sum(start_values, Fraction(0)) / len(start_values)

    def reach(self, matrix: Sequence[int], opponents: Policy) -> list[Fraction]:
        """Reach probability of each row if the player takes the actions of a matrix, (R,)."""
        state_reach = [Fraction(0)] * len(self.row)
        row_reach = [Fraction(0)] * len(matrix)
        for state in self.start:
            state_reach[state] += Fraction(1, len(self.start))
        for state, reach in enumerate(state_reach):
            if not reach:
                continue
            row = self.row[state]
            if self.is_own[state]:
                row_reach[row] += reach
                probabilities = [Fraction(0)] * self.actions
                probabilities[matrix[row]] = Fraction(1)
            else:
                probabilities = opponents[row]
            for action, probability in enumerate(probabilities):
                if probability:
                    for chance, next_state in self.outcomes(state, action):
                        outcome_reach = reach * probability * Fraction(chance, self.denominator)
                        state_reach[next_state] += outcome_reach
        return row_reach

    def is_at_most(
        self,
        bound: Fraction,
        opponents: Policy,
        problem: ResponseProblem,
        tree: Ints,
        deadline: Deadline = FOREVER,
    ) -> bool:
        """Whether no leaf of a proof by branch and bound gets more than a bound, exactly.

        A node of the proof fixes the corners of some rows: distributions over actions that
        information sets may play. The other rows take the best one in each state. `tree` lists the
        nodes of the proof depth first: the row that a node branches on, or -1 for a leaf. Leaves
        are valued in floating point first, and in fractions if they are near the bound. False, too,
        if the time is over before.
        """
        members = problem.others.member_state.tolist()
        for fixed in _leaves(problem, tree):
            is_near = problem.value(fixed) + problem.error >= bound
            if is_near and deadline.is_over:
                return False
            if is_near and self.value(opponents, members, fixed.tolist()) > bound:
                return False
        return True


def _leaves(problem: ResponseProblem, tree: Ints) -> Iterator[Ints]:
    """Walk through a proof by branch and bound, and give the fixed corners (R,) at each leaf.

    `tree` lists the nodes depth first: the row that a node branches on, or a negative number for a
    leaf. Rows that are not fixed at a leaf have `BEST_IN_EACH_STATE`. One array is given each time.
    """
    fixed = problem.unfixed
    num_corners = np.diff(problem.corners.corner_offsets)
    branched = list[int]()  # rows fixed on the way to the present node
    for row in tree.tolist():
        if row >= 0:
            branched.append(row)
            fixed[row] = 0
            continue
        yield fixed
        # The next node fixes the next corner of the last row that has one left.
        while branched:
            fixed[branched[-1]] += 1
            if fixed[branched[-1]] < num_corners[branched[-1]]:
                break
            fixed[branched.pop()] = BEST_IN_EACH_STATE


def exact_kuhn(exact: ExactStates, matrices: Ints, deadline: Deadline = FOREVER) -> Policy | None:
    """Kuhn's policy of the mixture in which all these matrices (n, R) win 1/2, in fractions.

    1. Compute the win rates of all pairs of matrices.
    2. Solve for weights by which every matrix wins 1/2 against the mixture.
    3. A row of the policy is the mean of the matrices' actions, by weight times reach.

    None if there is no such mixture or several, if a weight is not positive, or without time.
    """
    count = len(matrices)
    half = Fraction(1, 2)
    rates = _win_rates_of_pairs(exact, matrices, deadline)
    if rates is None:
        return None
    equations = [[rate - half for rate in row] + [Fraction(0)] for row in rates]
    sum_to_1 = [Fraction(1)] * (count + 1)
    weights = solve_equations([*equations, sum_to_1])
    if weights is None or min(weights) <= 0:
        return None
    pure_policies = [_pure_policy(matrix.tolist(), exact.actions) for matrix in matrices]
    # Own reach is against opponents who play the unweighted mean of the matrices.
    mean = [
        [sum(probabilities, Fraction(0)) / count for probabilities in zip(*rows, strict=True)]
        for rows in zip(*pure_policies, strict=True)
    ]
    policy = [[Fraction(0)] * exact.actions for _ in mean]
    for weight, matrix in zip(weights, matrices, strict=True):
        for row, reach in enumerate(exact.reach(matrix.tolist(), mean)):
            policy[row][matrix[row]] += weight * reach
    return [
        [mass / sum(masses) for mass in masses] if any(masses) else pure_policies[0][row]
        for row, masses in enumerate(policy)
    ]


def _win_rates_of_pairs(
    exact: ExactStates, matrices: Ints, deadline: Deadline
) -> list[list[Fraction]] | None:
    """Win rate of each matrix (n, R) against each other, n rows of n; None without time."""
    all_states = range(len(exact.row))
    rates = [[Fraction(1, 2)] * len(matrices) for _ in matrices]
    for first, second in combinations(range(len(matrices)), 2):
        if deadline.is_over:
            return None
        opponent = _pure_policy(matrices[first].tolist(), exact.actions)
        rates[second][first] = exact.value(opponent, all_states, matrices[second].tolist())
        rates[first][second] = 1 - rates[second][first]
    return rates


def _pure_policy(matrix: Sequence[int], num_actions: int) -> Policy:
    """Policy that takes the actions of a matrix (R,) for certain."""
    return [[Fraction(int(a == action)) for a in range(num_actions)] for action in matrix]


def solve_equations(equations: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve linear equations by Gauss-Jordan elimination; None unless one solution exists.

    An equation is a list of its coefficients and, last, of its right side.
    """
    equations = [list(equation) for equation in equations]
    unknowns = len(equations[0]) - 1
    for column in range(unknowns):
        candidates = range(column, len(equations))
        pivot_line = next((line for line in candidates if equations[line][column]), None)
        if pivot_line is None:
            return None
        pivot_equation = equations[pivot_line]
        equations[pivot_line] = equations[column]
        pivot = pivot_equation[column]
        pivot_equation = [coefficient / pivot for coefficient in pivot_equation]
        equations[column] = pivot_equation
        for line, equation in enumerate(equations):
            if line != column and equation[column]:
                factor = equation[column]
                pairs = zip(equation, pivot_equation, strict=True)
                equations[line] = [own - factor * other for own, other in pairs]
    if any(equation[-1] for equation in equations[unknowns:]):
        return None
    return [equation[-1] for equation in equations[:unknowns]]
