"""Best responses and equilibria under imperfect recall, exact or bounded, by HiGHS."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import block_array, coo_array, csr_array, eye_array, hstack, kron

from hogeq.kernels.row_search import Progress, search_rows
from hogeq.search.results import Equilibrium, Response
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.absent import FINEST, Decision, settled
from hogeq.trees.beliefs import (
    MOST,
    BeliefDag,
    Choices,
    TooLargeError,
    TooSlowError,
    belief_dag,
    drawing,
    remembering,
    spanned,
)
from hogeq.trees.enclosures import (
    Payoffs,
    Plan,
    above,
    below,
    fits,
    gamma,
    numbers_of,
    plan_of,
    plan_of_flow,
    shortened,
)
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm, inflated_forms, sequence_form
from hogeq.trees.shuffling import solving_form
from hogeq.trees.strategies import seated, tree_strategy
from hogeq.trees.teams import side_names

MEETING = 2.0**-36  # largest gap at which searches and programs end, a share of the stakes
LARGEST_GAP = 1e-9  # of ends that are proved
COARSE = 1000  # times what a response loses, beyond which losses are cut off
MOST_ENTRIES = 2_000_000  # of a belief DAG that bounds what an integer program found
LEAST_NEW = MEETING / 8.0  # by which a response must gain to be new
SHARE = 1 / 64  # of the gap that an absent-minded response must gain, or prove that none does
LEAST_STAKES = 1e-150  # as a share of the largest payoff: what is divided by it keeps its digits
METHODS = ("full memory", "belief DAG", "enumeration", "integer program", "branch and bound")
STARTS = 15
MOST_DRAWN = 1000  # strategies of a mixture that are given
MOST_WEIGHED = 5_000  # decisions of a player against whom a part of them is weighed anew
LONGEST = 60.0  # seconds of that
FEW = 64  # shared rows, up to which responses are enumerated first
PARTS = 2**22  # of an enumeration: about a second
SLICE = 2**23  # numbers of parts that are set before the time is looked at
SEARCHING = 0.9  # share of the time after which what was found is valued
SPANNING = 0.25  # share of the time left in which the part of a DAG is built
DRAWN = 0.1  # share of the time in which strategies are drawn, though it is over
RESPONDING = 1.0  # seconds of a response to these
CHAINING = 0.5  # share of a program's time in which chains of pasts are found
PRESOLVED = 16  # entries in the time that HiGHS takes to begin, for each sequence of a program
WRITTEN = 4  # entries of a program in the time of an entry of what it is made of
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
    choices: Choices | None = None  # that it comes to in a belief DAG, (1 + D * K,)

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
    if tree.expected < LEAST_STAKES and not fits(tree):
        raise ValueError(
            f"{tree.name}: players can expect {tree.expected:g} of the largest payoff at most;"
            f" allowed: {LEAST_STAKES:g} of it or more"
        )
    return tree.expected * tree.largest_payoff


def best_response(
    original: SequenceForm,
    payoffs: Floats,
    limit: float | Deadline,
    begin: Floats | None = None,
    enough: float = np.inf,
    dag: BeliefDag | None = None,
    deadline: Deadline = FOREVER,
) -> Answer:
    """Find the best response of a player, and a bound that no response exceeds.

    It is pure unless the player is absent-minded. With the whole belief DAG one pass does. With
    A-loss recall full memory is the bound, and is met. Elsewhere ascents are followed by
    enumeration if few rows are shared, and that by an integer program. `begin`, (R, K), is where
    the first ascent begins. After an ascent to more than `enough` nothing else is tried.

    `limit` is that of the program, which 0 seconds leave out; `deadline` that of all before it.
    When that is over, one ascent and full memory are left.
    """
    limit = Deadline.of(limit)
    if dag is not None:
        best, chosen = dag.respond(payoffs)
        flow = dag.flow(chosen)
        return Answer(pure_rows(original, dag.sequences @ flow), best, best, METHODS[1], flow > 0.0)
    if original.is_absent_minded:
        solved = Decision(original, payoffs).solve(limit, begin, enough=enough)
        return Answer(solved.policy, solved.value, solved.bound, METHODS[4])
    form = original.inflate(deadline)
    full, found, best = _by_ascent(original, payoffs, begin, deadline)
    method, is_small = METHODS[0], len(form.shared) <= FEW and form.rank is not None
    if full - best > MEETING and best <= enough and is_small and not deadline.is_over:
        found, best, bound = enumerated(form, payoffs, found, best, deadline)
        if bound < full:
            full, method = bound, METHODS[2]
    if full - best > MEETING and best <= enough:
        strategy, bound = by_program(form, payoffs, limit)
        if strategy is not None and form.realisation(strategy) @ payoffs > best:
            found, best = strategy, float(form.realisation(strategy) @ payoffs)
        if best - MEETING <= bound < full:  # else the response found refutes it, or it is none
            full, method = bound, METHODS[3]
    return Answer(pure_rows(original, form.realisation(found)), best, max(best, full), method)


def pure_rows(form: SequenceForm, plan: Floats) -> Floats:
    """Pure strategy, (R, K), that has a plan; of parts of a row it comes to one at most."""
    acts = np.where(form.tree.legal, form.by_rows(plan), -1.0).argmax(axis=1)
    return one_hot(acts, form.tree.num_actions)


def _by_ascent(
    original: SequenceForm, payoffs: Floats, begin: Floats | None, deadline: Deadline
) -> tuple[float, Floats, float]:
    """Give the payoff of full memory, and of the best response of ascents to inflated rows."""
    form, actions = original.inflated, original.tree.num_actions
    _, chosen = form.remember(payoffs)
    full, random = form.most(payoffs), np.random.default_rng(0)
    pure = partial(one_hot, num_actions=actions)
    start = np.zeros(form.tree.num_rows, np.int64)
    start[form.row] = chosen
    starts = [*([] if begin is None else [begin[original.origin]]), pure(start)]
    starts += [pure(random.integers(form.tree.num_legal)) for _ in range(STARTS + 1 - len(starts))]
    found, best = pure(start), -np.inf
    for one in starts:
        response = form.ascend(one, payoffs, deadline)
        gained = float(form.realisation(response) @ payoffs)
        if gained > best:
            found, best = response, gained
        if full - best <= LEAST_GAIN or deadline.is_over:  # the first, if nothing was forgotten
            break
    return full, found, best


def enumerated(
    form: SequenceForm,
    payoffs: Floats,
    response: Floats,
    value: float,
    deadline: Deadline = FOREVER,
) -> tuple[Floats, float, float]:
    """Improve a response, (R, K), as long as enumeration can; give its payoff, and a bound on all.

    Rows are set depth first, in the order in which plays meet them. Those that are set say which
    refined information sets are met next, of those between which no row is open. A row acts alike
    in all of these; so the most that one action is worth there, to a player who remembers
    everything from then on, bounds what the row can still add. What follows an open row counts in
    the worth of its actions. The sum over rows bounds all responses that begin so, and none of them
    is looked at if it is no more than the best response known; when all rows are set, it is exact.

    The bound is infinite if that takes too long. It holds whatever is rounded: what is added up are
    the payoffs of one plan of a player with perfect recall, in fewer than four steps for each of
    its refined information sets and two for each row.
    """
    plays, legal = form.plays, form.tree.legal
    count, actions = plays.legal.shape
    worth = form.remember(payoffs)[0][1:].reshape(-1, actions)
    size = float(form.remember(np.abs(payoffs))[0][0])  # of the payoffs of any plan
    margin = 2.0 * gamma(4 * len(form.row) + 2 * count + 8) * size
    worth = np.where(legal[form.row], worth, -np.inf)
    while True:
        progress = Progress(
            np.zeros(len(plays.row), np.int64),
            np.zeros((count + 1, count), np.int64),
            np.zeros((count + 1, count, actions)),
            np.zeros(count + 1),
        )
        chosen, bound = np.full(count, -1), np.full(1, -np.inf)
        target = value + LEAST_GAIN
        end, left, most = -1, PARTS, max(1, SLICE // (count * actions))
        while left > 0:
            part = min(most, left)
            end = search_rows(plays, progress, payoffs, worth, chosen, bound, target, end, part)
            left = 0 if end < 0 or end == count or deadline.is_over else left - part
        if end < count:
            return response, value, max(value, float(bound[0]) + margin) if end < 0 else np.inf
        found = response.copy()
        is_met = plays.legal[np.arange(count), chosen]
        acts = np.where(is_met, chosen, plays.legal.argmax(axis=1))
        found[plays.rows] = one_hot(acts, actions)
        gained = float(form.realisation(found) @ payoffs)
        if gained <= value:  # it is above the target by rounding alone
            return response, value, np.inf
        response, value = found, gained


def by_program(
    form: SequenceForm, worth: Floats, limit: float | Deadline
) -> tuple[Floats | None, float]:
    """Give the best strategy met within a time limit, or None, and the proved bound.

    The payoff is linear in the realisation weights of sequences. One binary for each action of a
    shared row makes the player act alike in all its refined information sets; without binaries
    the player has full memory.
    """
    tree, shared, actions = form.tree, form.shared, form.tree.num_actions
    sequences, binaries = len(worth), len(shared) * actions
    limit = Deadline.of(limit)
    chains = form.chains_within(limit.share(CHAINING))
    if limit.is_over or chains is None or not limit.allows(PRESOLVED * sequences):
        return None, np.inf
    flow = remembering(form).equations()
    once = (np.arange(flow.shape[0]) == 0).astype(float)
    constraints = [LinearConstraint(hstack([flow, csr_array((len(once), binaries))]), once, once)]
    if len(shared):
        one = kron(eye_array(len(shared)), np.ones((1, actions)))  # action of every shared row
        one = hstack([csr_array((len(shared), sequences)), one])
        # No weight goes to an action that the row does not play; and pasts of a chain share it.
        number = np.searchsorted(shared, [form.row[chain[0]] for chain in chains])
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
        options={"time_limit": max(limit.left, 0.01), "mip_rel_gap": 0.0},
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
    return one_hot(np.where(tree.legal, played, -1.0).argmax(axis=1), actions), bound


class Settled(NamedTuple):
    """A response, and ends between which the best payoff lies."""

    answer: Answer
    least: Fraction  # what the response gets, at least
    most: Fraction  # what no response exceeds
    full_memory: Fraction  # nor a player who remembers the own past
    is_certain: bool  # whether `most` is by a theorem; else HiGHS says so
    method: str


def settle(
    payoffs: Payoffs,
    limit: float | Deadline,
    begin: Floats | None = None,
    dag: BeliefDag | None = None,
    deadline: Deadline = FOREVER,
    finer: float = 1.0,
) -> Settled:
    """Find the best response to a strategy, and ends that hold whatever is rounded.

    Searches take payoffs in float64, with losses that are beyond all good responses cut off. What
    they find is valued anew. `limit` and `deadline` are those of `best_response`; ends for an
    absent-minded player are `finer` times as far apart as is usual, at most.
    """
    form, limit = payoffs.form, Deadline.of(limit)
    full = payoffs.most(remembering(form))

    def value(strategy: Floats) -> Fraction:
        return payoffs.least_of(plan_of(form, Strategy.unchecked(strategy), payoffs.deadline))

    can_rescale = payoffs.exact is not None and dag is None and not form.is_absent_minded
    while can_rescale and not deadline.is_over:
        strategy = _by_ascent(form, payoffs.most_each, begin, deadline)[1]
        begin = pure_rows(form, form.inflated.realisation(strategy))
        loss = full - value(begin)
        if not 0 < COARSE * loss < payoffs.unit:
            break
        payoffs.rescale(loss)
    if form.is_absent_minded and dag is None:  # until both ends are written alike
        found, *_ = settled(payoffs, limit, form.tree.units, finer, begin)
        answer = Answer(found.policy, found.value, found.bound, METHODS[4])
    else:
        answer = best_response(form, payoffs.most_each, limit, begin, dag=dag, deadline=deadline)
    least, most, is_certain, method = value(answer.strategy), full, True, METHODS[0]
    if dag is not None:
        most, method = payoffs.most(dag), METHODS[1]
    elif least < full and answer.method == METHODS[3]:
        most, method = payoffs.payoff(answer.bound), METHODS[3]
        whole = _bounding(form, limit)
        is_certain = whole is not None
        if whole is not None:
            most, method = payoffs.most(whole), METHODS[1]
    elif least < full and answer.method != METHODS[0]:
        most, method = payoffs.payoff(answer.bound), answer.method
    if most >= full:
        most, is_certain, method = full, True, METHODS[0]
    return Settled(answer, least, max(most, least), full, is_certain, method)


def respond(
    tree: FlatTree,
    given: Strategy | Floats,
    limit: float | Deadline,
    begin: Floats | None = None,
    wholes: Sequence["BeliefDag | None"] = (None, None),
    deadline: Deadline = FOREVER,
) -> Response:
    """Find the best response to a strategy, in either seat, by a program within a limit.

    `begin`, (R, K), is a strategy from which it is sought. Belief DAGs need no program. `deadline`
    is that of all before it.
    """
    target, unit, limit = tree_strategy(tree, given), stakes(tree), Deadline.of(limit)
    inflated_forms(tree, deadline)

    def in_seat(player: int, begin: Floats | None, finer: float) -> Settled:
        form, plain = solving_form(tree, player), sequence_form(tree, player)
        proof, search = (one.share(1.0 / (2 - player)) for one in (limit, deadline))
        plan = plan_of(solving_form(tree, 1 - player), target, search)
        payoffs, search = Payoffs(tree, player, plan, search), search.share(SEARCHING)
        one = settle(payoffs, proof, begin, wholes[player], search, finer)
        if form is not plain:  # full memory is of the order in which rows are met
            memory = Payoffs(tree, player, plan, deadline, plain).most(remembering(plain))
            one = one._replace(full_memory=memory)
        return one

    finer = 1.0
    while True:
        first, second = (in_seat(player, begin, finer) for player in (0, 1))
        rows = np.where(tree.seat[:, None] == 0, first.answer.strategy, second.answer.strategy)
        value, bound = (first.least + second.least) / 2, (first.most + second.most) / 2
        # Ends of each seat may be written alike, and those of the mean not.
        is_met = bound - value <= LARGEST_GAP * Fraction(unit)
        is_one = tree.units.are_one(below(value), above(bound))
        can_be_finer = METHODS[4] in (first.method, second.method) and finer > FINEST
        if is_one or not is_met or not can_be_finer or limit.is_over:
            break
        finer, begin = finer / 16.0, rows
    is_pure = bool((rows.max(axis=1, initial=0.0) == 1.0).all())
    seats = below(first.least), below(second.least)
    seat_bounds = above(first.most), above(second.most)
    is_proved = first.is_certain and second.is_certain and is_met and is_one
    return Response(
        strategy=tree_strategy(tree, rows.argmax(axis=1) if is_pure else rows),
        value=below(value),
        bound=above(bound),
        full_memory=above((first.full_memory + second.full_memory) / 2),
        is_proved=is_proved and all(map(tree.units.are_one, seats, seat_bounds)),
        method=max((first.method, second.method), key=METHODS.index),
        seconds=limit.spent,
        seats=seats,
        seat_bounds=seat_bounds,
        units=tree.units,
    )


def full_memory(tree: FlatTree, target: Strategy) -> float:
    """Payoff of a responder with perfect recall, in the mean of both seats."""
    forms = (sequence_form(tree, player) for player in (0, 1))
    worth = [float(form.remember(payoffs_against(target, form))[0][0]) for form in forms]
    return sum(worth) / 2 * stakes(tree) + tree.shift


class Side:
    """Strategies of one player in the restricted game: flows of its belief DAG, or of a part.

    The part is what a pool of pure strategies comes to, or some choices of a whole DAG. Of an
    absent-minded player the pool has policies, one of which is drawn.
    """

    def __init__(self, form: SequenceForm, whole: BeliefDag | None = None) -> None:
        self.form, self.whole = form, whole
        self.kept: Choices | None = None
        dtype = np.float64 if form.is_absent_minded else np.bool_
        self.pool: Floats = np.zeros((0, form.tree.num_rows, form.tree.num_actions), dtype)
        self.dag = drawing(form, self.pool) if whole is None else whole

    def restrict(self, kept: Choices) -> None:
        """Keep some choices of the whole DAG."""
        assert self.whole is not None  # noqa: S101 - callers have it
        self.kept, self.dag = kept, self.whole.restricted(kept)[0]

    def best(
        self,
        payoffs: Floats,
        value: float,
        limit: Deadline,
        gap: float = 0.0,
        deadline: Deadline | None = None,
    ) -> Answer:
        """Respond: exactly by the whole DAG; else a program runs if no ascent gains on a value.

        That of an absent-minded player ends when a share of the gap is gained, or cannot be.
        `deadline` is that of all before the program, by default the same.
        """
        begin, enough = None, value + LEAST_NEW
        if self.form.is_absent_minded and len(self.pool):
            begin = self.pool[(self.dag.sequences.T @ payoffs)[1:].argmax()]
            enough = max(enough, value + SHARE * gap) if np.isfinite(gap) else -np.inf
        return best_response(
            self.form, payoffs, limit, begin, enough, self.whole, deadline or limit
        )

    def takes(self, answer: Answer, deadline: Deadline = FOREVER) -> bool:
        """Take a response into the restricted game, if it is new there."""
        if self.whole is None:
            if (self.pool == answer.strategy).all(axis=(1, 2)).any():
                return False
            self.pool = np.append(self.pool, answer.strategy[None].astype(self.pool.dtype), axis=0)
            # One part that is not done in time is the last to be begun: those after it are larger.
            begun, is_one = self.dag.row[:1] < 0, len(self.pool) == 1
            if is_one or not begun.any():
                self.dag = spanned(self.form, self.pool, deadline)
            else:
                self.dag = drawing(self.form, self.pool)
            return True
        if self.kept is None or answer.choices is None or not (answer.choices & ~self.kept).any():
            return False
        self.restrict(self.kept | answer.choices)
        return True


class Met(NamedTuple):
    """Payoffs of sequences that a search responded to, and its bound."""

    payoffs: Floats  # shares of the stakes
    bound: float
    method: str


class Mixed(NamedTuple):
    """A mixture of a player, as a flow."""

    dag: BeliefDag
    flow: Floats  # (1 + D * K,)

    @classmethod
    def of(cls, dag: BeliefDag, weights: Floats) -> "Mixed":
        """Make one of weights of choices, which need not be a flow."""
        return cls(dag, dag.flow(dag.normalised(weights)))

    @property
    def plan(self) -> Floats:
        """Weights of sequences, (1 + J * K,)."""
        return np.asarray(self.dag.sequences @ self.flow)

    def strategies(self, deadline: Deadline = FOREVER) -> tuple[Strategy, float]:
        """Strategies to be drawn from, with their weights; and the share of the flow they are.

        `MOST_DRAWN` at most, and when the time is over no more, but one at least.
        """
        weights: list[float] = []
        rows: list[Floats] = []
        share = 1.0
        for weight, plan in self.dag.mixture(self.flow):
            if len(rows) == MOST_DRAWN or (rows and deadline.is_over):
                share = sum(weights)
                break
            weights.append(weight)
            rows.append(played(self.dag.form, plan))
        return Strategy.unchecked(np.array(rows), np.array(weights) / sum(weights)), share


def against(payoffs: csr_array, plan: Floats, player: int) -> Floats:
    """Share of the stakes that each sequence of a player ends in, against the other's plan."""
    return np.asarray(payoffs @ plan if player == 0 else -(payoffs.T @ plan))


def played(form: SequenceForm, plan: Floats) -> Floats:
    """Strategy whose rows average a plan over their refined information sets."""
    weights = form.by_rows(plan)
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 1e-14, weights / np.maximum(total, 1e-14), form.tree.uniform())


def sequence_payoffs(first: SequenceForm, second: SequenceForm) -> csr_array:
    """Share of the stakes by the sequences of both, chance's probability included.

    What comes without any move of a player is left out, since nobody can change it.
    """
    tree, numbers = first.tree, numbers_of(first.tree)
    ends = np.flatnonzero(tree.player == TERMINAL)
    size = [1 + len(form.row) * tree.num_actions for form in (first, second)]
    moved = ends[(first.at[ends] > 0) | (second.at[ends] > 0)]
    pairs = first.at[moved], second.at[moved]
    if numbers is None:
        # Nobody's actions but chance's: every action of player 0 counts 1, and so do those of 1.
        chance = reach(tree, np.ones((tree.num_rows, tree.num_actions)), 0)
        worth = (chance * tree.shares)[moved] / tree.expected
        return csr_array((worth, pairs), size)
    sums: dict[tuple[int, int], Fraction] = {}
    level, unit = Fraction(tree.shift + tree.centre), Fraction(stakes(tree))
    places = np.searchsorted(ends, moved).tolist()
    for place, pair in zip(places, zip(*(one.tolist() for one in pairs), strict=True), strict=True):
        worth = numbers.chance[place] * (numbers.paid[place] - level)
        sums[pair] = sums.get(pair, Fraction()) + worth
    rows, columns = np.array([*sums], np.int64).reshape(-1, 2).T
    shares = np.array([float(worth / unit) for worth in sums.values()])
    return csr_array((shares, (rows, columns)), size)


def unmoved(first: SequenceForm, second: SequenceForm) -> tuple[Fraction, Fraction]:
    """Least and most payoff to player 0, less the level, that comes without a move of a player.

    `sequence_payoffs` leaves it out.
    """
    tree, numbers = first.tree, numbers_of(first.tree)
    ends = np.flatnonzero(tree.player == TERMINAL)
    places = np.flatnonzero((first.at[ends] == 0) & (second.at[ends] == 0))
    if numbers is not None:
        level = Fraction(tree.shift + tree.centre)
        worth = (numbers.chance[place] * (numbers.paid[place] - level) for place in places.tolist())
        total = sum(worth, Fraction())
        return total, total
    chance = reach(tree, np.ones((tree.num_rows, tree.num_actions)), 0)
    shares = (chance * tree.shares)[ends[places]]
    middle, size = math.fsum(shares.tolist()), math.fsum(np.abs(shares).tolist())
    off = Fraction(gamma(3 * len(tree.levels) + 8) * size)
    largest = Fraction(tree.largest_payoff)
    return largest * (Fraction(middle) - off), largest * (Fraction(middle) + off)


def solve_restricted(
    payoffs: csr_array, dags: Sequence[BeliefDag], deadline: Deadline
) -> tuple[Floats, Floats] | None:
    """Solve the game restricted to the strategies of two DAGs.

    None if HiGHS fails, or is not done in time.
    """
    first, second = dags
    plans = [
        dag.sequences @ (np.arange(len(dag.allowed)) == 0).astype(float) for dag in dags
    ]  # of who decides nothing
    if not len(second.row):
        return first.flow(first.respond(against(payoffs, plans[1], 0))[1]), np.ones(1)
    if not len(first.row):
        return np.ones(1), second.flow(second.respond(against(payoffs, plans[0], 1))[1])
    # Products of sparse arrays: for each sequence, entries before it times entries after it.
    size = sum(len(one.allowed) + one.sequences.nnz for one in dags) + payoffs.nnz
    if deadline.is_over or not deadline.allows(WRITTEN * size):
        return None
    # Chosen by one, met by the other's sequences, chosen by the other.
    met = csr_array(FINE * (first.sequences.T @ payoffs))
    mine, theirs = first.equations(), second.equations()
    once = [np.concatenate([[1.0], np.zeros(one.shape[0] - 1)]) for one in (mine, theirs)]
    # Maximise the least payoff, written by its dual: `theirs` transposed times q is at most worth.
    allowed = second.allowed
    entries = np.bincount(met.indices, minlength=met.shape[1]) @ np.diff(second.sequences.indptr)
    if not deadline.allows(WRITTEN * float(entries)):
        return None
    worth = (met @ second.sequences).T
    upper = block_array([[-worth, theirs.T]]).tocsr()[allowed]
    free = np.full(theirs.shape[0], np.inf)
    lower = np.append(np.zeros(len(first.allowed)), -free)
    upper_bounds = np.append(np.where(first.allowed, np.inf, 0.0), free)
    solve = partial(
        linprog,
        np.concatenate([np.zeros(mine.shape[1]), -once[1]]),
        A_ub=upper,
        b_ub=np.zeros(upper.shape[0]),
        A_eq=block_array([[mine, csr_array((mine.shape[0], theirs.shape[0]))]]),
        b_eq=once[0],
        bounds=np.array([lower, upper_bounds]).T,
    )
    for method in ("highs", "highs-ipm"):  # near ties can be too much for the first
        answer = solve(method=method, options={"time_limit": max(deadline.left, 0.01)})
        if answer.status in ENDED or deadline.is_over:
            break
    if answer.status != SOLVED:
        return None
    chosen = np.zeros(len(allowed))
    chosen[allowed] = -answer.ineqlin.marginals
    both = answer.x[: mine.shape[1]], chosen
    return both if all(np.isfinite(one).all() for one in both) else None


def whole_dag(
    form: SequenceForm, most: int = MOST, deadline: Deadline = FOREVER
) -> BeliefDag | None:
    """Build the belief DAG of a player once; None if it is too large or rows have no order."""
    known = vars(form)  # beside its cached properties
    inner = form.inflate(deadline)
    if inner.rank is not None and "dag" not in known and known.get("most", -1) < most:
        try:
            known["dag"] = belief_dag(form, most=most, deadline=deadline)
        except TooSlowError:
            pass
        except TooLargeError:
            known["most"] = most
    return known.get("dag")


def _bounding(form: SequenceForm, deadline: Deadline) -> BeliefDag | None:
    """Build a DAG that bounds what an integer program found: of beliefs, or a draw of anything."""
    rows, counts = np.unique(form.row), form.tree.num_legal
    if form.inflated.rank is not None or math.prod(counts[rows].tolist()) > MOST_DRAWN:
        return whole_dag(form, MOST_ENTRIES, deadline)
    acts = np.zeros((1, form.tree.num_rows), np.int64)
    for row in rows.tolist():
        acts = np.repeat(acts, counts[row], axis=0)
        acts[:, row] = np.arange(len(acts)) % counts[row]
    return drawing(form, one_hot(acts, form.tree.num_actions))


def dags_of(
    tree: FlatTree, most: int = MOST, deadline: Deadline = FOREVER
) -> list[BeliefDag | None]:
    """Build the belief DAG of each player once, until some time at most."""
    return [whole_dag(solving_form(tree, player), most, deadline) for player in (0, 1)]


class Solving:
    """A game while it is solved in mixtures: bounds on its value, and mixtures that prove them.

    Bounds are what best responses win from mixtures. These are made of probabilities at decisions,
    so whatever program those came from, a bound is one on the value of the game.
    """

    def __init__(self, tree: FlatTree, limit: float | Deadline) -> None:
        self.deadline = Deadline.of(limit)
        self.tree, self.unit = tree, stakes(tree)
        inflated_forms(tree, self.deadline)
        self.forms = solving_form(tree, 0), solving_form(tree, 1)
        self.payoffs = sequence_payoffs(*self.forms)
        self.bounds = [np.inf, np.inf]  # what each player's opponent allows, to that player
        self.met: list[Met | None] = [None, None]  # that a search bounded
        self.best: list[Mixed] = []
        self.iterations, self.has_begun = 0, False
        self.is_absent_minded = any(form.is_absent_minded for form in self.forms)

    @property
    def is_forgetful(self) -> bool:
        """Whether a player forgets more than inflation gives back."""
        return any(len(form.inflated.shared) for form in self.forms)

    @property
    def ends(self) -> tuple[float, float]:
        """Bounds on the value; by rounding they may cross."""
        lower, upper = sorted((-self.bounds[1], self.bounds[0]))
        return lower, upper

    @property
    def is_proved(self) -> bool:
        """Whether the bounds meet."""
        return self.ends[1] - self.ends[0] <= MEETING

    def without_dags(self) -> list[Side]:
        """Begin with nothing of players who forget, and all of others."""
        return [
            Side(form, None if len(form.inflated.shared) else remembering(form))
            for form in self.forms
        ]

    def learn(
        self, mixed: Sequence[Mixed], player: int, bound: float, met: "Met | None" = None
    ) -> None:
        """Take a bound on what a player wins from the other's mixture."""
        self.best = self.best or [*mixed]
        if bound < self.bounds[player]:
            self.bounds[player], self.best[1 - player] = bound, mixed[1 - player]
            self.met[player] = met

    def columns(self, sides: Sequence[Side], deadline: Deadline) -> None:
        """Grow a restricted game by best responses until none gains.

        Without time one round is left: what is played at random, or drawn from the pools.
        """
        if self.best and deadline.is_over:
            return
        for player, side in enumerate(sides):  # pools begin with responses to the uniform strategy
            if len(side.pool):
                continue
            plan = self.forms[1 - player].realisation(self.tree.uniform())
            answer = side.best(against(self.payoffs, plan, player), -np.inf, deadline)
            side.takes(answer, deadline.share(SPANNING))
        start, gains = None, True
        if not self.has_begun and any(side.whole is None for side in sides):
            start = self._remembered(deadline.share(0.25))
            self.has_begun = start is not None
        while gains:
            mixed, gains = start, start is not None
            if mixed is None:
                dags = [side.dag for side in sides]
                chosen = solve_restricted(self.payoffs, dags, deadline)
                if chosen is None and self.best:
                    break
                flows = chosen or [np.zeros(len(dag.allowed)) for dag in dags]
                mixed = [Mixed.of(dag, one) for dag, one in zip(dags, flows, strict=True)]
            self.iterations, start = self.iterations + 1, None
            gap = sum(self.bounds) if self.is_absent_minded else 0.0
            for player, side in enumerate(sides):
                left = deadline.share(1.0 / (2 - player))
                worth = against(self.payoffs, mixed[1 - player].plan, player)
                value = float(mixed[player].plan @ worth)
                answer = side.best(worth, value, left, gap)
                self.learn(mixed, player, answer.bound, Met(worth, answer.bound, answer.method))
                time = deadline.share(SPANNING)
                gains |= answer.payoff - value > LEAST_NEW and side.takes(answer, time)
            # A smaller share of a smaller gap can be sought.
            gains |= self.is_absent_minded and sum(self.bounds) < gap / 2.0
            gains &= not self.is_proved and not deadline.is_over

    def _remembered(self, deadline: Deadline) -> list[Mixed] | None:
        """Give the strategies of both if they forgot nothing, as far as rows can say them.

        In some games they are all but an equilibrium, as in imperfect-recall liar's dice.
        """
        dags = [remembering(form) for form in self.forms]
        chosen = solve_restricted(self.payoffs, dags, deadline)
        if chosen is None:
            return None
        mixed = []
        for dag, one in zip(dags, chosen, strict=True):
            drawn = drawing(dag.form, played(dag.form, Mixed.of(dag, one).plan)[None])
            mixed.append(Mixed.of(drawn, np.ones(2)))
        return mixed

    def result(self, sides: Sequence[Side], method: str) -> Equilibrium:
        """Make the result of the mixtures of both players.

        The ends are of whole flows. Where strategies are fewer, best responses are to these again.
        Large mixtures are drawn from until the time is over, the smaller one first, and for a tenth
        of it in any case.
        """
        time, tree, best = self.deadline, self.tree, self.best
        drawing_time = Deadline(max(time.left, DRAWN * time.seconds), time.clock)
        order = sorted((0, 1), key=lambda player: len(best[player].dag.row))
        half = drawing_time.share(0.5)
        found = {player: best[player].strategies(half) for player in order}
        strategies, shares = [found[0][0], found[1][0]], [found[0][1], found[1][1]]
        whole, given, certain = [Fraction(), Fraction()], [Fraction(), Fraction()], True
        for player, share in enumerate(shares):
            met, other = self.met[1 - player], sides[1 - player]
            if share < 1.0:
                plan = plan_of_flow(best[player].dag, best[player].flow, drawing_time)
                whole[player], _ = self._secured(player, plan, other, met, drawing_time)
                drawn = strategies[player]
                strategies[player], met = self._weighed(sides, player, drawn, drawing_time)
            plan = plan_of(self.forms[player], strategies[player], drawing_time)
            given[player], is_certain = self._secured(player, plan, other, met, drawing_time)
            whole[player] = given[player] if share == 1.0 else whole[player]
            certain &= is_certain
        if min(shares) == 1.0 and not self._are_one(given) and fits(tree):
            for player, drawn in enumerate(strategies):
                short = shortened(drawn)
                plan, met = plan_of(self.forms[player], short), self.met[1 - player]
                ends = self._secured(player, plan, sides[1 - player], met, drawing_time)
                if ends[1] and (ends[0] > given[0] if player == 0 else ends[0] < given[1]):
                    given[player] = whole[player] = ends[0]
                    strategies[player] = short
        certain &= given[0] <= given[1]  # else a bound of a search is false
        (first, last), (least_given, most_given) = sorted(whole), sorted(given)
        lower, upper = below(first), above(last)
        least, most = below(least_given), above(most_given)
        is_proved = certain and given[1] - given[0] <= LARGEST_GAP * Fraction(self.unit)
        return Equilibrium(
            lower=lower,
            upper=upper,
            strategies=(seated(tree, strategies[0], 0), seated(tree, strategies[1], 1)),
            is_proved=is_proved and tree.units.are_one(least, most),
            method=method,
            effort={
                "iterations": self.iterations,
                "components": [len(one.weights) for one in strategies],
                "decisions": [len(one.dag.row) for one in best],
                **({"shares": shares} if min(shares) < 1.0 else {}),
            },
            seconds=self.deadline.spent,
            units=tree.units,
            sides=side_names(tree.sides),
            secured=(least, most) if min(shares) < 1.0 else None,
            seats=tree.seat,
        )

    def _are_one(self, given: Sequence[Fraction]) -> bool:
        """Whether ends are written alike."""
        least, most = sorted(given)
        return self.tree.units.are_one(below(least), above(most))

    def _secured(
        self, player: int, plan: Plan, other: Side, met: "Met | None", deadline: Deadline
    ) -> tuple[Fraction, bool]:
        """Payoff to player 0 that a plan secures to its player, and whether by a theorem.

        The other player gets no more than with perfect recall, or by the whole belief DAG, or than
        a search allows that met nearly the same plan.
        """
        payoffs, certain = Payoffs(self.tree, 1 - player, plan, deadline), True
        most = payoffs.most(remembering(other.form))
        if len(other.form.inflated.shared):
            whole = other.whole
            if whole is None and met is not None and met.method == METHODS[3]:
                whole = _bounding(other.form, deadline)
            if whole is not None:
                most = min(most, payoffs.most(whole))
            elif met is not None:
                moved = payoffs.moved(met.payoffs, self.unit, met.bound)
                certain = met.method != METHODS[3] or moved >= most
                most = min(most, moved)
        return (most if player else payoffs.total - most), certain

    def _weighed(
        self, sides: Sequence[Side], player: int, drawn: Strategy, deadline: Deadline
    ) -> tuple[Strategy, "Met"]:
        """Weigh a part of a mixture anew where that secures more; give what the other can get.

        A linear program finds the weights, unless the other player's DAG is too large for one.
        """
        other, dag = sides[1 - player], drawing(self.forms[player], drawn.policies)
        weights = [drawn.chances]
        if len(other.dag.row) <= MOST_WEIGHED:
            dags = [dag, other.dag] if player == 0 else [other.dag, dag]
            chosen = solve_restricted(self.payoffs, dags, deadline.within(LONGEST))
            if chosen is not None:
                weights.append(Mixed.of(dag, chosen[player]).flow[1:])
        plans = [dag.sequences @ np.append(1.0, one) for one in weights]
        worths = [against(self.payoffs, plan, 1 - player) for plan in plans]
        answers = [other.best(worth, np.inf, deadline.within(RESPONDING)) for worth in worths]
        place = int(np.argmin([one.bound for one in answers]))
        used, met = weights[place], Met(worths[place], answers[place].bound, answers[place].method)
        part = Strategy.unchecked(drawn.policies[used > 0.0], used[used > 0.0])
        return part, met


def equilibrium(tree: FlatTree, limit: float | Deadline, method: str = "columns") -> Equilibrium:
    """Solve a game in mixtures; when the time is over, the bounds reached so far are given.

    Flows of the belief DAG are all mixtures of a player (:mod:`hogeq.trees.beliefs`); with perfect
    recall, also after inflation, they are the sequence form (Koller, Megiddo and von Stengel 1996).
    One linear program over both is ``dag``. For ``columns``, a player who forgets has the part of
    it that a pool of pure strategies comes to, which grows by best responses (McMahan, Gordon and
    Blum, "Planning in the presence of cost functions controlled by an adversary", ICML 2003; of
    teams, Celli and Gatti 2018; of DAGs, Zhang, An and Zeng 2024). Absent-minded players respond by
    policies, which are not finite in number: bounds meet in the limit (Adam, Horčík, Kasl and
    Kroupa, "Double oracle algorithm for computing equilibria in continuous games", AAAI 2021).
    """
    solving = Solving(tree, limit)
    sides = solving.without_dags()
    if method == "dag":
        dags = require_dags(tree, dags_of(tree, deadline=solving.deadline))
        method = "dag" if dags else "columns"
        sides = [*map(Side, solving.forms, dags)] or sides
    solving.columns(sides, solving.deadline)
    return solving.result(sides, method if solving.is_forgetful else "lp")


def require_dags(tree: FlatTree, dags: Sequence[BeliefDag | None]) -> list[BeliefDag]:
    """Refuse a game without a DAG of each side; give none if there was no time to build one."""
    for player, dag in enumerate(dags):
        form = sequence_form(tree, player)
        if dag is None and (form.inflated.rank is None or vars(form).get("most", -1) >= MOST):
            raise ValueError(
                f"{tree.name}: {side_names(tree.sides)[player]} has a belief DAG of more than"
                f" {MOST:,} entries, or information sets in no order; allowed: columns"
            )
    return [] if None in dags else [dag for dag in dags if dag is not None]
