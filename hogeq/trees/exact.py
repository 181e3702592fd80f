"""Best responses and equilibria under imperfect recall, exact or bounded, by HiGHS."""

from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import block_array, coo_array, csr_array, eye_array, hstack, kron

from hogeq.search.results import Equilibrium, Response
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.trees.enumeration import enumerated
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm, sequence_form
from hogeq.trees.strategies import tree_strategy

MEETING = 1e-9  # largest gap at which bounds meet, a share of the stakes
LEAST_STAKES = 1e-150  # as a share of the largest payoff: what is divided by it keeps its digits
METHODS = ("full memory", "enumeration", "integer program")
STARTS = 15
FEW = 64  # shared rows, up to which responses are enumerated first
FINE = 2.0**16
"""What shares of payoffs are multiplied by for HiGHS, whose tolerances are absolute: it ends a
search at a gap of 1e-6, and takes coefficients below 1e-9 for 0."""
SOLVED = 0
ENDED = (SOLVED, 1)  # 1: at a limit of time


class Answer(NamedTuple):
    """A response of one player, its payoff, and a bound on any."""

    strategy: Floats  # (R, K), a pure one; rows of the other player are not used
    payoff: float  # a share, as are the payoffs responded to; so is the bound
    bound: float
    method: str
    """What the bound is of, as in :class:`~hogeq.search.results.Response`."""

    @property
    def is_proved(self) -> bool:
        """Whether no response is better."""
        return self.bound - self.payoff <= MEETING


def payoffs_against(strategy: Strategy, form: SequenceForm) -> Floats:
    """Share of the stakes that every sequence of a responder ends in, on average."""
    parts = zip(strategy.chances, strategy.policies, strict=True)
    worth = np.sum([weight * form.payoffs(one) for weight, one in parts], axis=0)
    return np.asarray(worth / form.tree.expected)


def stakes(tree: FlatTree) -> float:
    """Most that players can expect: a payoff counts by the chance that it comes with."""
    if tree.expected < LEAST_STAKES:
        raise ValueError(
            f"{tree.name}: players can expect {tree.expected:g} of the largest payoff at most;"
            f" allowed: {LEAST_STAKES:g} of it or more"
        )
    return tree.expected * tree.largest_payoff


def best_response(
    original: SequenceForm, payoffs: Floats, seconds: float, begin: Floats | None = None
) -> Answer:
    """Find the best pure response of a player, and a bound that no response exceeds.

    With A-loss recall full memory is the bound, and is met. Elsewhere ascents are followed by
    enumeration if few rows are shared, and that by an integer program. `begin`, (R, K), is where
    the first ascent begins.
    """
    tree, player = original.tree, original.player
    if next(original.met_again(), None) is not None:  # a pure response need not be best
        raise ValueError(
            f"{tree.name}: player {player} can meet an information set twice in a play; allowed:"
            " games without absent-mindedness"
        )
    form, pure = original.inflated, np.eye(tree.num_actions)
    full, found, best = _by_ascent(original, payoffs, begin)
    method = METHODS[0]
    if full - best > MEETING and len(form.shared) <= FEW and form.rank is not None:
        found, best, bound = enumerated(form, payoffs, found, best)
        if bound < full:
            full, method = bound, METHODS[1]
    if full - best > MEETING:
        strategy, bound = _by_program(form, payoffs, seconds)
        if strategy is not None and form.realisation(strategy) @ payoffs > best:
            found, best = strategy, float(form.realisation(strategy) @ payoffs)
        if best - MEETING <= bound < full:  # else the response found refutes it, or it is none
            full, method = bound, METHODS[2]
    # Of the parts of a row one at most is reached: the row acts as that does.
    acts = original.by_rows(form.realisation(found))
    strategy = pure[np.where(tree.legal, acts, -1.0).argmax(axis=1)]
    return Answer(strategy, best, max(best, full), method)


def _by_ascent(
    original: SequenceForm, payoffs: Floats, begin: Floats | None
) -> tuple[float, Floats, float]:
    """Give what full memory wins, the best response of ascents to inflated rows, and its payoff."""
    form, tree = original.inflated, original.tree
    num_legal = form.tree.num_legal
    full, chosen = form.respond_with_full_memory(payoffs)
    pure, random = np.eye(tree.num_actions), np.random.default_rng(0)
    start = np.zeros(len(num_legal), np.int64)
    start[form.row] = chosen
    found, best = pure[start], -np.inf
    starts = [pure[start]]
    if begin is not None:
        rows = np.arange(len(num_legal))
        rows[form.row] = original.row  # that each is a part of
        starts = [begin[rows], pure[start]]
    while len(starts) <= STARTS:
        starts.append(pure[random.integers(num_legal)])
    for one in starts:
        response = form.ascend(one, payoffs)
        worth = float(form.realisation(response) @ payoffs)
        if worth > best:
            found, best = response, worth
        if full - best <= LEAST_GAIN:  # always, if nothing was forgotten
            break
    return full, found, best


def _by_program(form: SequenceForm, worth: Floats, seconds: float) -> tuple[Floats | None, float]:
    """Give the best strategy met within a time limit, or None, and the proved bound.

    The payoff is linear in the realisation weights of sequences. One binary for each action of a
    shared row makes the player act alike in all its refined information sets; without binaries
    the player has full memory.
    """
    tree, shared, actions = form.tree, form.shared, form.tree.num_actions
    sequences, binaries = len(worth), len(shared) * actions
    flow = form.flow()
    once = (np.arange(flow.shape[0]) == 0).astype(float)
    constraints = [LinearConstraint(hstack([flow, csr_array((len(once), binaries))]), once, once)]
    if len(shared):
        one = kron(eye_array(len(shared)), np.ones((1, actions)))  # action of every shared row
        one = hstack([csr_array((len(shared), sequences)), one])
        # No weight goes to an action that the row does not play; and pasts of a chain share it.
        chains, number = form.chains, np.searchsorted(shared, [form.row[c[0]] for c in form.chains])
        each = np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])
        lines = (each[:, None] * actions + np.arange(actions)).ravel()
        weights = (1 + np.concatenate(chains)[:, None] * actions + np.arange(actions)).ravel()
        choices = (number[:, None] * actions + np.arange(actions)).ravel()
        size = len(choices)
        coupled = hstack(
            [
                coo_array((np.ones(len(lines)), (lines, weights)), (size, sequences)),
                coo_array((-np.ones(size), (np.arange(size), choices)), (size, binaries)),
            ]
        )
        constraints += [LinearConstraint(one, 1.0, 1.0), LinearConstraint(coupled, -np.inf, 0.0)]
    legal = np.concatenate([[True], tree.legal[form.row].ravel(), tree.legal[shared].ravel()])
    answer = milp(
        np.concatenate([-FINE * worth, np.zeros(binaries)]),
        integrality=(np.arange(len(legal)) >= sequences).astype(int),
        bounds=Bounds(0.0, legal.astype(float)),
        constraints=constraints,
        options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
    )
    # A program may end without any of these, or fail.
    bound, chosen = np.inf, answer.x
    if answer.status in ENDED and answer.mip_dual_bound is not None:
        bound = -float(answer.mip_dual_bound) / FINE
    bound = bound if np.isfinite(bound) else np.inf
    if chosen is None or not np.isfinite(chosen).all():
        return None, bound
    played = form.by_rows(chosen[:sequences]) + 1e-6 * (np.arange(actions) == 0)  # if not reached
    played[shared] = chosen[sequences:].reshape(-1, actions)
    return np.eye(actions)[np.where(tree.legal, played, -1.0).argmax(axis=1)], bound


def respond(
    tree: FlatTree, given: Strategy | Floats, seconds: float, begin: Floats | None = None
) -> Response:
    """Find the best response to a strategy, in either seat, by a program of so many seconds.

    `begin`, (R, K), is a strategy from which it is sought.
    """
    target, unit, begun = tree_strategy(tree, given), stakes(tree), perf_counter()
    answers, memory = [], []
    for player in (0, 1):
        form = sequence_form(tree, player)
        payoffs = payoffs_against(target, form)
        memory.append(form.respond_with_full_memory(payoffs)[0])
        left = (begun + seconds - perf_counter()) / (2 - player)
        answers.append(best_response(form, payoffs, left, begin))
    first, second = answers
    rows = np.where(tree.seat[:, None] == 0, first.strategy, second.strategy)
    value, bound = (first.payoff + second.payoff) / 2, (first.bound + second.bound) / 2
    full_memory = sum(memory) / 2
    return Response(
        strategy=tree_strategy(tree, rows.argmax(axis=1)),
        value=value * unit + tree.shift,
        bound=bound * unit + tree.shift,
        full_memory=full_memory * unit + tree.shift,
        is_proved=bound - value <= MEETING,
        method=max((one.method for one in answers), key=METHODS.index),
        seconds=perf_counter() - begun,
        seats=(
            first.payoff * unit + tree.shift + tree.centre,
            second.payoff * unit + tree.shift - tree.centre,
        ),
        units=tree.units,
    )


class Side:
    """Strategies of one player in the restricted game: all, or mixtures of a pool if it has one."""

    def __init__(self, form: SequenceForm) -> None:
        self.form, self.inner = form, form.inflated
        self.pool: list[Floats] = []

    def plans(self) -> csr_array:
        """Realisation weights by variable: of the pool's strategies, or of all sequences."""
        if self.pool:
            return csr_array(np.array([self.form.realisation(one) for one in self.pool]).T)
        size = 1 + len(self.form.row) * self.form.tree.num_actions
        return eye_array(size, format="csr")

    def equations(self) -> csr_array:
        """Equations of the variables, with (1, 0, 0, ...) on the other side."""
        return csr_array(np.ones((1, len(self.pool)))) if self.pool else self.form.flow()

    def allowed(self) -> NDArray[np.bool_]:
        """Mark variables that can be positive: no sequence ends with an illegal action."""
        if self.pool:
            return np.ones(len(self.pool), bool)
        return np.append(True, self.form.tree.legal[self.form.row])

    def mixture(self, chosen: Floats) -> Strategy:
        """Strategies to be drawn from; with perfect recall one strategy that has the weights."""
        if not self.pool:
            return self.drawn(chosen)
        weights = np.maximum(chosen, 0.0) / np.maximum(chosen, 0.0).sum()
        played = weights > 0.0
        return Strategy.unchecked(np.array(self.pool)[played], weights[played])

    def drawn(self, plan: Floats) -> Strategy:
        """Strategies that together have a plan's weights, where inflated rows forget nothing.

        Before a row that has parts, acts are drawn once and for all: so one part at most is
        reached, and the row can act as that does. Each strategy takes as much of the plan as it
        can, so that some action before such a row has nothing left.
        """
        inner = self.inner
        strategy = played(inner, plan)
        left, kept = inner.realisation(strategy), np.zeros(len(inner.row), bool)
        up = np.flatnonzero(np.isin(self.form.row, self.form.shared))
        while len(up := np.unique(inner.above[up][inner.above[up] >= 0])):
            kept[up] = True
        counts = np.append(True, np.repeat(kept, inner.tree.num_actions))
        weights, strategies = [], []
        while kept.any():
            acts = np.where(inner.tree.legal, inner.by_rows(left), -1.0).argmax(axis=1)
            one = strategy.copy()
            one[inner.row[kept]] = np.eye(inner.tree.num_actions)[acts[inner.row[kept]]]
            reached = inner.realisation(one)
            shares = np.full(len(left), np.inf)
            np.divide(left, reached, out=shares, where=counts & (reached > 0.0))
            if shares.min() <= LEAST_GAIN:
                break
            weights.append(shares.min())
            strategies.append(played(self.form, reached))
            left = np.maximum(left - weights[-1] * reached, 0.0)
            left[shares.argmin()] = 0.0
        if left[0] > 0.0:  # all, or what rounding left
            weights.append(left[0])
            strategies.append(played(self.form, left))
        return Strategy.unchecked(np.array(strategies), np.array(weights) / sum(weights))

    def grows(self, answer: Answer, mixture: Strategy, worth: Floats) -> bool:
        """Take a response into the pool if it is better than the mixture, and new."""
        mine = zip(mixture.chances, mixture.policies, strict=True)
        value = sum(weight * (self.form.realisation(one) @ worth) for weight, one in mine)
        is_known = any(np.array_equal(answer.strategy, one) for one in self.pool)
        if not self.pool or is_known or answer.payoff - value <= MEETING:
            return False
        self.pool.append(answer.strategy)
        return True


def played(form: SequenceForm, plan: Floats) -> Floats:
    """Strategy whose rows average a plan over their refined information sets."""
    weights = form.by_rows(plan)
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 1e-14, weights / np.maximum(total, 1e-14), form.tree.uniform())


def sequence_payoffs(first: SequenceForm, second: SequenceForm) -> csr_array:
    """Share of the stakes by the sequences of both, chance's probability included."""
    tree = first.tree
    ends = tree.player == TERMINAL
    # Nobody's actions but chance's: every action of player 0 counts 1, and so do those of 1.
    chance = reach(tree, np.ones((tree.num_rows, tree.num_actions)), 0)
    size = [1 + len(form.row) * tree.num_actions for form in (first, second)]
    worth = (chance * tree.shares)[ends] / tree.expected
    return csr_array((worth, (first.at[ends], second.at[ends])), size)


def solve_restricted(
    payoffs: csr_array, sides: tuple[Side, Side], seconds: float
) -> tuple[Floats, Floats] | None:
    """Solve the game restricted to the strategies of two sides.

    None if HiGHS fails, or is not done within so many seconds.
    """
    first, second = sides
    # Chosen by one, chosen by the other.
    worth = FINE * (first.plans().T @ payoffs @ second.plans())
    mine, theirs = first.equations(), second.equations()
    once = [np.concatenate([[1.0], np.zeros(one.shape[0] - 1)]) for one in (mine, theirs)]
    # Maximise the least payoff, written by its dual: `theirs` transposed times q is at most worth.
    allowed = second.allowed()
    upper = block_array([[-worth.T, theirs.T]]).tocsr()[allowed]
    solve = partial(
        linprog,
        np.concatenate([np.zeros(mine.shape[1]), -once[1]]),
        A_ub=upper,
        b_ub=np.zeros(upper.shape[0]),
        A_eq=block_array([[mine, csr_array((mine.shape[0], theirs.shape[0]))]]),
        b_eq=once[0],
        bounds=[(0.0, None if can else 0.0) for can in first.allowed()]
        + [(None, None)] * theirs.shape[0],
    )
    end = perf_counter() + seconds
    for method in ("highs", "highs-ipm"):  # near ties can be too much for the first
        answer = solve(method=method, options={"time_limit": max(end - perf_counter(), 0.01)})
        if answer.status in ENDED:
            break
    if answer.status != SOLVED:
        return None
    chosen = np.zeros(len(allowed))
    chosen[allowed] = -answer.ineqlin.marginals
    both = answer.x[: mine.shape[1]], chosen
    return both if all(np.isfinite(one).all() for one in both) else None


def equilibrium(tree: FlatTree, seconds: float) -> Equilibrium:
    """Solve a game in mixtures; when the time is over, the bounds reached so far are given.

    With perfect recall the sequence form has all strategies (Koller, Megiddo and von Stengel 1996);
    A-loss recall is perfect after inflation. A player who forgets more mixes a pool of pure
    strategies, which grows by best responses (McMahan, Gordon and Blum, "Planning in the presence
    of cost functions controlled by an adversary", ICML 2003; of teams, Celli and Gatti 2018).
    Bounds are what best responses win from mixtures, however these were found.
    """
    begun, unit = perf_counter(), stakes(tree)
    end = begun + seconds
    sides = (Side(sequence_form(tree, 0)), Side(sequence_form(tree, 1)))
    payoffs = sequence_payoffs(sides[0].form, sides[1].form)
    bounds = [np.inf, np.inf]  # what each player's opponent allows, to that player
    # Pools begin with what both would do if they forgot nothing, as far as rows can say it.
    chosen = solve_restricted(payoffs, sides, seconds)
    best = []
    for player, side in enumerate(sides):
        start = tree.uniform() if chosen is None else played(side.form, chosen[player])
        best.append(Strategy.unchecked(start))
        if len(side.inner.shared):
            side.pool.append(start)
    iterations, grows = 0, True
    while grows:
        iterations += 1
        if any(side.pool for side in sides):
            chosen = solve_restricted(payoffs, sides, end - perf_counter())
        mixtures = best if chosen is None else [*map(Side.mixture, sides, chosen)]
        grows = False
        for player, side in enumerate(sides):
            left = max(end - perf_counter(), 0.0) / (2 - player)
            worth = payoffs_against(mixtures[1 - player], side.form)
            answer = best_response(side.form, worth, left)
            if answer.bound < bounds[player]:
                bounds[player], best[1 - player] = answer.bound, mixtures[1 - player]
            grows |= side.grows(answer, mixtures[player], worth)
        lower, upper = sorted((-bounds[1], bounds[0]))  # they may cross by rounding
        is_proved = upper - lower <= MEETING
        grows &= not is_proved and perf_counter() < end
    return Equilibrium(
        lower=lower * unit + tree.shift + tree.centre,
        upper=upper * unit + tree.shift + tree.centre,
        strategies=(best[0], best[1]),
        is_proved=is_proved,
        method="columns" if any(side.pool for side in sides) else "lp",
        effort={"iterations": iterations, "components": [len(one.weights) for one in best]},
        seconds=perf_counter() - begun,
        units=tree.units,
    )
