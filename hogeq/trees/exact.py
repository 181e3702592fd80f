"""Best responses and equilibria under imperfect recall, exact or bounded, by HiGHS."""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache, partial
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import block_array, coo_array, csr_array, eye_array, hstack, kron

from hogeq.kernels.row_search import Progress, search_rows
from hogeq.search.results import Equilibrium, Response
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.trees.beliefs import (
    MOST,
    BeliefDag,
    Choices,
    TooLargeError,
    belief_dag,
    drawing,
    remembering,
    spanned,
)
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm, sequence_form
from hogeq.trees.strategies import tree_strategy
from hogeq.trees.teams import side_names

MEETING = 1e-9  # largest gap at which bounds meet, a share of the stakes
LEAST_STAKES = 1e-150  # as a share of the largest payoff: what is divided by it keeps its digits
METHODS = ("full memory", "belief DAG", "enumeration", "integer program")
STARTS = 15
MOST_DRAWN = 1000  # strategies of a mixture that are given
MOST_WEIGHED = 5_000  # decisions of a player against whom a part of them is weighed anew
LONGEST = 60.0  # seconds of that
FEW = 64  # shared rows, up to which responses are enumerated first
PARTS = 2**22  # of an enumeration: about a second
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
    if tree.expected < LEAST_STAKES:
        raise ValueError(
            f"{tree.name}: players can expect {tree.expected:g} of the largest payoff at most;"
            f" allowed: {LEAST_STAKES:g} of it or more"
        )
    return tree.expected * tree.largest_payoff


def best_response(
    original: SequenceForm,
    payoffs: Floats,
    seconds: float,
    begin: Floats | None = None,
    enough: float = np.inf,
    dag: BeliefDag | None = None,
) -> Answer:
    """Find the best pure response of a player, and a bound that no response exceeds.

    With the whole belief DAG one pass does. With A-loss recall full memory is the bound, and is
    met. Elsewhere ascents are followed by enumeration if few rows are shared, and that by an
    integer program. `begin`, (R, K), is where the first ascent begins. After an ascent to more than
    `enough` nothing else is tried.
    """
    tree = original.tree
    if dag is not None:
        best, chosen = dag.respond(payoffs)
        flow = dag.flow(chosen)
        return Answer(pure_rows(original, dag.sequences @ flow), best, best, METHODS[1], flow > 0.0)
    if next(original.met_again(), None) is not None:  # a pure response need not be best
        raise ValueError(
            f"{tree.name}: {original.side} can meet an information set twice in a play; allowed:"
            " games without absent-mindedness"
        )
    form = original.inflated
    full, found, best = _by_ascent(original, payoffs, begin)
    method, is_small = METHODS[0], len(form.shared) <= FEW and form.rank is not None
    if full - best > MEETING and best <= enough and is_small:
        found, best, bound = enumerated(form, payoffs, found, best)
        if bound < full:
            full, method = bound, METHODS[2]
    if full - best > MEETING and best <= enough:
        strategy, bound = by_program(form, payoffs, seconds)
        if strategy is not None and form.realisation(strategy) @ payoffs > best:
            found, best = strategy, float(form.realisation(strategy) @ payoffs)
        if best - MEETING <= bound < full:  # else the response found refutes it, or it is none
            full, method = bound, METHODS[3]
    return Answer(pure_rows(original, form.realisation(found)), best, max(best, full), method)


def pure_rows(form: SequenceForm, plan: Floats) -> Floats:
    """Pure strategy, (R, K), that has a plan; of parts of a row it comes to one at most."""
    acts = np.where(form.tree.legal, form.by_rows(plan), -1.0).argmax(axis=1)
    return np.asarray(np.eye(form.tree.num_actions)[acts])


def _by_ascent(
    original: SequenceForm, payoffs: Floats, begin: Floats | None
) -> tuple[float, Floats, float]:
    """Give the payoff of full memory, and of the best response of ascents to inflated rows."""
    form, actions = original.inflated, original.tree.num_actions
    worth, chosen = form.remember(payoffs)
    full, pure, random = float(worth[0]), np.eye(actions), np.random.default_rng(0)
    start = np.zeros(form.tree.num_rows, np.int64)
    start[form.row] = chosen
    starts = [*([] if begin is None else [begin[original.origin]]), pure[start]]
    starts += [pure[random.integers(form.tree.num_legal)] for _ in range(STARTS + 1 - len(starts))]
    found, best = pure[start], -np.inf
    for one in starts:
        response = form.ascend(one, payoffs)
        gained = float(form.realisation(response) @ payoffs)
        if gained > best:
            found, best = response, gained
        if full - best <= LEAST_GAIN:  # always, if nothing was forgotten
            break
    return full, found, best


def enumerated(
    form: SequenceForm, payoffs: Floats, response: Floats, value: float
) -> tuple[Floats, float, float]:
    """Improve a response, (R, K), as long as enumeration can; give its payoff, and a bound on all.

    Rows are set depth first, in the order in which plays meet them. Those that are set say which
    refined information sets are met next, of those between which no row is open. A row acts alike
    in all of these; so the most that one action is worth there, to a player who remembers
    everything from then on, bounds what the row can still add. What follows an open row counts in
    the worth of its actions. The sum over rows bounds all responses that begin so, and none of them
    is looked at if it is no more than the best response known; when all rows are set, it is exact.

    The bound is infinite if that takes too long.
    """
    plays, legal = form.plays, form.tree.legal
    count, actions = plays.legal.shape
    worth = form.remember(payoffs)[0][1:].reshape(-1, actions)
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
        end = search_rows(plays, progress, payoffs, worth, chosen, bound, target, PARTS)
        if end < count:
            return response, value, max(value, float(bound[0])) if end < 0 else np.inf
        found = response.copy()
        is_met = plays.legal[np.arange(count), chosen]
        found[plays.rows] = np.eye(actions)[np.where(is_met, chosen, plays.legal.argmax(axis=1))]
        gained = float(form.realisation(found) @ payoffs)
        if gained <= value:  # it is above the target by rounding alone
            return response, value, np.inf
        response, value = found, gained


def by_program(form: SequenceForm, worth: Floats, seconds: float) -> tuple[Floats | None, float]:
    """Give the best strategy met within a time limit, or None, and the proved bound.

    The payoff is linear in the realisation weights of sequences. One binary for each action of a
    shared row makes the player act alike in all its refined information sets; without binaries
    the player has full memory.
    """
    tree, shared, actions = form.tree, form.shared, form.tree.num_actions
    sequences, binaries = len(worth), len(shared) * actions
    flow = remembering(form).equations()
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
    tree: FlatTree,
    given: Strategy | Floats,
    seconds: float,
    begin: Floats | None = None,
    wholes: Sequence["BeliefDag | None"] = (None, None),
) -> Response:
    """Find the best response to a strategy, in either seat, by a program of so many seconds.

    `begin`, (R, K), is a strategy from which it is sought. Belief DAGs need no program.
    """
    target, unit, begun = tree_strategy(tree, given), stakes(tree), perf_counter()
    answers, memory = [], []
    for player in (0, 1):
        form = sequence_form(tree, player)
        payoffs = payoffs_against(target, form)
        memory.append(float(form.remember(payoffs)[0][0]))
        left = (begun + seconds - perf_counter()) / (2 - player)
        answers.append(best_response(form, payoffs, left, begin, dag=wholes[player]))
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
    """Strategies of one player in the restricted game: flows of its belief DAG, or of a part."""

    def __init__(self, form: SequenceForm, whole: BeliefDag | None, kept: Choices | None) -> None:
        self.form, self.whole, self.kept = form, whole, kept
        self.pool = np.zeros((0, form.tree.num_rows), np.int64)
        self.dag = self._part()

    def _part(self) -> BeliefDag:
        if self.whole is None:
            return spanned(self.form, self.pool)
        return self.whole if self.kept is None else self.whole.restricted(self.kept)[0]

    def best(self, payoffs: Floats, value: float, seconds: float) -> Answer:
        """Respond: exactly by the whole DAG; else a program runs if no ascent gains on a value."""
        return best_response(self.form, payoffs, seconds, None, value + MEETING, self.whole)

    def takes(self, answer: Answer) -> bool:
        """Take a response into the restricted game, if it is new there."""
        acts = answer.strategy.argmax(axis=1)
        is_new = not (self.pool == acts).all(axis=1).any()
        if self.whole is None:
            self.pool = np.concatenate([self.pool, acts[None]])
        elif self.kept is not None and answer.choices is not None:
            is_new = bool((answer.choices & ~self.kept).any())
            self.kept = self.kept | answer.choices
        else:
            return False
        if is_new:
            self.dag = self._part()
        return is_new


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

    def strategies(self, end: float = np.inf) -> tuple[Strategy, float]:
        """Strategies to be drawn from, with their weights; and the share of the flow they are.

        `MOST_DRAWN` at most, and after a time `end` no more.
        """
        weights: list[float] = []
        rows: list[Floats] = []
        share = 1.0
        for weight, plan in self.dag.mixture(self.flow):
            if len(rows) == MOST_DRAWN or (rows and perf_counter() > end):
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
    """Share of the stakes by the sequences of both, chance's probability included."""
    tree = first.tree
    ends = tree.player == TERMINAL
    # Nobody's actions but chance's: every action of player 0 counts 1, and so do those of 1.
    chance = reach(tree, np.ones((tree.num_rows, tree.num_actions)), 0)
    size = [1 + len(form.row) * tree.num_actions for form in (first, second)]
    worth = (chance * tree.shares)[ends] / tree.expected
    return csr_array((worth, (first.at[ends], second.at[ends])), size)


def solve_restricted(
    payoffs: csr_array, dags: Sequence[BeliefDag], seconds: float
) -> tuple[Floats, Floats] | None:
    """Solve the game restricted to the strategies of two DAGs.

    None if HiGHS fails, or is not done within so many seconds.
    """
    first, second = dags
    # Chosen by one, met by the other's sequences, chosen by the other.
    met = FINE * (first.sequences.T @ payoffs)
    mine, theirs = first.equations(), second.equations()
    once = [np.concatenate([[1.0], np.zeros(one.shape[0] - 1)]) for one in (mine, theirs)]
    # Maximise the least payoff, written by its dual: `theirs` transposed times q is at most worth.
    allowed = second.allowed
    worth = (met @ second.sequences).T
    upper = block_array([[-worth, theirs.T]]).tocsr()[allowed]
    solve = partial(
        linprog,
        np.concatenate([np.zeros(mine.shape[1]), -once[1]]),
        A_ub=upper,
        b_ub=np.zeros(upper.shape[0]),
        A_eq=block_array([[mine, csr_array((mine.shape[0], theirs.shape[0]))]]),
        b_eq=once[0],
        bounds=[(0.0, None if can else 0.0) for can in first.allowed]
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


@lru_cache(maxsize=4)
def dags_of(tree: FlatTree, most: int) -> tuple[BeliefDag | None, BeliefDag | None]:
    """Build the belief DAG of each player once; None where it is too large."""
    return whole_dag(sequence_form(tree, 0), most), whole_dag(sequence_form(tree, 1), most)


def whole_dag(form: SequenceForm, most: int = MOST) -> BeliefDag | None:
    """Build the belief DAG of a player; None where it is too large or rows have no order."""
    if form.inflated.rank is None:
        return None
    with suppress(TooLargeError):
        return belief_dag(form, most=most if len(form.inflated.shared) else len(form.at) ** 2)
    return None


def equilibrium(
    tree: FlatTree,
    seconds: float,
    method: str = "auto",
    *,
    wholes: Sequence[BeliefDag | None] | None = None,
    start: Sequence[Choices] | None = None,
) -> Equilibrium:
    """Solve a game in mixtures; when the time is over, the bounds reached so far are given.

    Flows of the belief DAG are all mixtures of a player (:mod:`hogeq.trees.beliefs`); with perfect
    recall, also after inflation, they are the sequence form (Koller, Megiddo and von Stengel 1996).
    One linear program over both is ``dag``. Where a DAG is too large, and for ``columns``, a player
    has the part of it that a pool of pure strategies comes to, which grows by best responses
    (McMahan, Gordon and Blum, "Planning in the presence of cost functions controlled by an
    adversary", ICML 2003; of teams, Celli and Gatti 2018; of DAGs, Zhang, An and Zeng 2024).

    Column generation uses whole DAGs, if given, for responses, and begins with choices `start`.
    Bounds are what best responses win from mixtures. These are made of probabilities at decisions,
    so whatever program those came from, a bound is one on the value of the game.
    """
    begun = perf_counter()
    stakes(tree)  # refuses stakes too small
    end = begun + seconds
    forms = sequence_form(tree, 0), sequence_form(tree, 1)
    sides = _sides(forms, method, wholes, start)
    payoffs = sequence_payoffs(*forms)
    for player, side in enumerate(sides):  # pools begin with responses to the uniform strategy
        worth = against(payoffs, forms[1 - player].realisation(tree.uniform()), player)
        side.takes(side.best(worth, -np.inf, 0.0))
    bounds = [np.inf, np.inf]  # what each player's opponent allows, to that player
    forgetful = any(len(form.inflated.shared) for form in forms)
    has_dags = all(side.whole is not None for side in sides)
    mixed = None if has_dags else _remembered(payoffs, forms, seconds / 4.0)
    iterations, grows, best = 0, True, list[Mixed]()
    while grows:
        begins = iterations == 0 and mixed is not None
        if not begins:
            chosen = solve_restricted(payoffs, [side.dag for side in sides], end - perf_counter())
            grows = chosen is not None
            if chosen is not None:
                mixed = [Mixed.of(side.dag, one) for side, one in zip(sides, chosen, strict=True)]
        mixed = mixed or [Mixed.of(side.dag, np.zeros(len(side.dag.allowed))) for side in sides]
        best = best or [*mixed]
        iterations += 1
        gains = begins
        for player, side in enumerate(sides):
            left = max(end - perf_counter(), 0.0) / (2 - player)
            worth = against(payoffs, mixed[1 - player].plan, player)
            value = float(mixed[player].plan @ worth)
            answer = side.best(worth, value, left)
            if answer.bound < bounds[player]:
                bounds[player], best[1 - player] = answer.bound, mixed[1 - player]
            gains |= answer.payoff - value > MEETING and side.takes(answer)
        lower, upper = sorted((-bounds[1], bounds[0]))  # they may cross by rounding
        is_proved = upper - lower <= MEETING
        grows &= gains and not is_proved and perf_counter() < end
    found = ("dag" if method == "dag" else "columns") if forgetful else "lp"
    return solved(sides, payoffs, (lower, upper), best, found, iterations, begun)


def _sides(
    forms: Sequence[SequenceForm],
    method: str,
    wholes: Sequence[BeliefDag | None] | None,
    start: Sequence[Choices] | None,
) -> tuple[Side, Side]:
    """Make the restricted game, or refuse one that a method cannot have."""
    if wholes is None:
        wholes = [whole_dag(form, MOST if method == "dag" else 0) for form in forms]
    parts: list[Choices | None] = [None, None]
    for player, (form, whole) in enumerate(zip(forms, wholes, strict=True)):
        if whole is not None and method != "dag" and len(form.inflated.shared):
            parts[player] = np.arange(len(whole.allowed)) == 0 if start is None else start[player]
    if method == "dag" and None in wholes:
        raise ValueError(
            f"{forms[0].tree.name}: method dag: player {wholes.index(None)} has a belief DAG of"
            f" more than {MOST:,} entries, or information sets in no order; allowed: columns"
        )
    return Side(forms[0], wholes[0], parts[0]), Side(forms[1], wholes[1], parts[1])


def _remembered(
    payoffs: csr_array, forms: Sequence[SequenceForm], seconds: float
) -> list[Mixed] | None:
    """Give the strategies of both if they forgot nothing, as far as rows can say them."""
    dags = [remembering(form) for form in forms]
    chosen = solve_restricted(payoffs, dags, seconds)
    if chosen is None:
        return None
    plans = [Mixed.of(dag, one).plan for dag, one in zip(dags, chosen, strict=True)]
    rows = [played(form, plan)[None] for form, plan in zip(forms, plans, strict=True)]
    drawn = [drawing(form, one) for form, one in zip(forms, rows, strict=True)]
    return [Mixed.of(dag, np.ones(2)) for dag in drawn]


def solved(
    sides: Sequence[Side],
    payoffs: csr_array,
    ends: tuple[float, float],
    best: Sequence[Mixed],
    method: str,
    iterations: int,
    begun: float,
    end: float = np.inf,
) -> Equilibrium:
    """Make the result of the mixtures of both players, and of shares of the stakes.

    The ends are of whole flows. Where strategies are fewer, best responses are to these again. The
    player with the larger DAG has what is left of the time until `end`.
    """
    tree, unit = sides[0].form.tree, stakes(sides[0].form.tree)
    order = sorted((0, 1), key=lambda player: len(best[player].dag.row))
    half = (perf_counter() + end) / 2.0
    found = {player: best[player].strategies(half) for player in order}
    strategies, shares = [found[0][0], found[1][0]], [found[0][1], found[1][1]]
    secured = [*ends]
    for player, share in enumerate(shares):
        if share < 1.0:
            part = weighed(sides, payoffs, player, strategies[player], end - perf_counter())
            strategies[player], secured[player] = part
    both = [end * unit + tree.shift + tree.centre for end in (*ends, *secured)]
    return Equilibrium(
        lower=both[0],
        upper=both[1],
        strategies=(strategies[0], strategies[1]),
        is_proved=secured[1] - secured[0] <= MEETING,
        method=method,
        effort={
            "iterations": iterations,
            "components": [len(one.weights) for one in strategies],
            "decisions": [len(one.dag.row) for one in best],
            **({"shares": shares} if min(shares) < 1.0 else {}),
        },
        seconds=perf_counter() - begun,
        units=tree.units,
        sides=side_names(tree.sides),
        secured=(both[2], both[3]) if min(shares) < 1.0 else None,
    )


def weighed(
    sides: Sequence[Side], payoffs: csr_array, player: int, drawn: Strategy, seconds: float
) -> tuple[Strategy, float]:
    """Weigh a part of a mixture anew where that secures more; give how much it then does.

    A linear program finds the weights, unless the other player's DAG is too large for one.
    """
    other, dag = sides[1 - player], drawing(sides[player].form, drawn.policies)
    weights = [drawn.chances]
    if len(other.dag.row) <= MOST_WEIGHED:
        dags = [dag, other.dag] if player == 0 else [other.dag, dag]
        chosen = solve_restricted(payoffs, dags, min(seconds, LONGEST))
        if chosen is not None:
            weights.append(Mixed.of(dag, chosen[player]).flow[1:])
    plans = [dag.sequences @ np.append(1.0, one) for one in weights]
    answers = [other.best(against(payoffs, plan, 1 - player), np.inf, 1.0) for plan in plans]
    least = min(range(len(answers)), key=lambda one: answers[one].bound)
    used, bound = weights[least] > 0.0, answers[least].bound
    part = Strategy.unchecked(drawn.policies[used], weights[least][used])
    return part, bound if player else -bound
