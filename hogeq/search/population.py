"""A population of strategies that one policy plays: opponents of a responder, or responders to it.

Unless positions recur, a win rate is linear in each row of a policy, so one pass gives the exact
effect of every change of a single cell. Effects of several cells do not add up: such changes are
evaluated before they count.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import Counterfactual, counterfactual_values, gains_alone
from hogeq.model.protocol import Engine, WinRate
from hogeq.model.rows import soften
from hogeq.model.shared import quick_workspace, shared_duels, shared_workspace
from hogeq.search.ascent import TEMPERATURES
from hogeq.search.counter_search import CounterSearch
from hogeq.search.matrix_games import contains
from hogeq.strategies.arrays import StrategyError, at_actions, one_hot, zero_matrices
from hogeq.strategies.conversion import StrategyLike, strategy_of, table_of
from hogeq.strategies.files import read_strategy, sizes_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints, Matrix, matrix_type
from hogeq.support.archives import open_archive, read_member
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.files import opened
from hogeq.support.messages import (
    HogeqError,
    Table,
    Text,
    pp,
    printable,
    unreadable,
)
from hogeq.support.workers import compute

MEMBERS_PER_BATCH: Final = 32  # passes whose tables are held in memory together
MOST_POOL_BYTES: Final = 2**32  # of a file of counters
MOST_LISTED: Final = 10  # cells of a counter-matrix that gain most
POOL_NAMES: Final = ("pool", "state.pool", "state.counters")
"""Names of the array in checkpoints, of searches and of the solvers that keep counters."""


class Measured(NamedTuple):
    """Results of passes of a policy against all members, summed over the mixture."""

    values: Floats  # (G, G, K), weighted sum of counterfactual values
    infoset_reach: Floats  # (G, G), weighted sum of reach probabilities
    rates: Floats  # (n,), win rate of the policy against every member


class Population:
    """A mixture of valid matrices (G, G) or policies (G, G, K), by weights or equally likely."""

    def __init__(
        self,
        game: Engine,
        members: Sequence[NDArray[Any]] | NDArray[Any],
        weights: Floats | None = None,
    ) -> None:
        self.game = game
        self.members = members
        number = len(members)
        self.weights = np.full(number, 1.0 / max(1, number)) if weights is None else weights

    @property
    def policies(self) -> Floats:
        """The members as policies, (n, G, G, K)."""
        return np.stack([_to_policy(self.game, member) for member in self.members])

    def rates_of(self, policy: Floats, deadline: Deadline = FOREVER) -> Floats:
        """Compute the exact win rate of a policy (G, G, K) against every member, float64 (n,).

        Raises `TimeoutError` if the time does not suffice for all.
        """
        rate = partial(_win_rate_against_member, self.game, policy)
        rates = list[float]()
        for batch in self._batches(deadline):
            rates += compute(rate, batch, local=True)
        return np.array(rates)

    def rates_against(self, policy: Floats, deadline: Deadline = FOREVER) -> Floats:
        """Exact win rate of every member against a policy (G, G, K), quicker if it is pure.

        Raises `TimeoutError` if the time does not suffice for all.
        """
        matrix = policy.argmax(axis=-1)
        is_pure = np.count_nonzero(policy) == matrix.size
        rate = partial(_win_rate_of_member, self.game, policy, matrix if is_pure else None)
        rates = list[float]()
        for batch in self._batches(deadline):
            rates += compute(rate, batch, local=True)
        return np.array(rates)

    def _batches(self, deadline: Deadline) -> Iterator[Sequence[NDArray[Any]] | NDArray[Any]]:
        """Give the members in batches.

        Raises `TimeoutError` if less time is left for one than the longest before it took.
        """
        longest = 0.0  # seconds of a batch
        for start in range(0, len(self.members), MEMBERS_PER_BATCH):
            if deadline.is_over or deadline.left <= longest:
                raise TimeoutError
            begun = deadline.spent
            yield self.members[start : start + MEMBERS_PER_BATCH]
            longest = max(longest, deadline.spent - begun)

    def values_against_each(
        self, policy: Floats, *, exact: bool = True, deadline: Deadline = FOREVER
    ) -> Iterator[Counterfactual]:
        """Give counterfactual values and reach of a policy (G, G, K) against each member, in turn.

        They are exact, or else in the precision of searches. Raises `TimeoutError` if the time does
        not suffice for all.
        """
        # In batches, so that not all tables are in memory at once.
        for batch in self._batches(deadline):
            yield from compute(
                partial(_value_against_member, self.game, policy, exact), batch, local=True
            )

    def measure(
        self, policy: Floats, weights: Floats | None = None, deadline: Deadline = FOREVER
    ) -> Measured:
        """Counterfactual values and reach of a policy (G, G, K) against the mixture of all members.

        Both are sums over the n members by weight: `weights` (n,), by default those of the mixture.
        The win rates against the single members are given, too. Raises `TimeoutError` as
        `values_against_each` does.
        """
        values = np.zeros_like(policy)
        infoset_reach = np.zeros(policy.shape[:-1])
        rates = []
        weights = self.weights if weights is None else weights
        passes = self.values_against_each(policy, deadline=deadline)
        for weight, against_member in zip(weights, passes, strict=True):
            values += weight * against_member.values
            infoset_reach += weight * against_member.infoset_reach
            rates.append(WinRate.from_starts(*against_member.starts).win_rate)
        return Measured(values, infoset_reach, np.array(rates))

    def anneal(
        self,
        policy: Floats,
        steps: int,
        damping: float,
        *,
        weights: Floats | None = None,
        progress: Callable[[], object] = lambda: None,
    ) -> None:
        """Anneal a softmax responder (G, G, K) to the mixture, in place, all cells at once.

        The temperature falls geometrically in so many steps. Each moves the responder by the share
        `damping` towards the softmax of its counterfactual values, and calls `progress`. `weights`
        (n,) of the members replace those of the mixture.
        """
        for temperature in np.geomspace(*TEMPERATURES, steps):
            measured = self.measure(policy, weights)
            # Changes the policy in place.
            soften(policy, measured.values, measured.infoset_reach, temperature, damping)
            progress()


class CounterPool(Population):
    """A growing pool of counter-matrices, (n, G, G), which computes no win rate twice."""

    members: Matrix

    def __init__(self, game: Engine, matrices: Matrix | None = None) -> None:
        empty = zero_matrices(0, game.shape)
        super().__init__(game, empty if matrices is None else np.array(matrices, empty.dtype))
        self._known_rates: dict[bytes, Floats] = {}  # of the first members, by digest of policy

    def rates_against(self, policy: Floats, deadline: Deadline = FOREVER) -> Floats:
        """Exact win rate of every member against a policy (G, G, K), float64 (n,).

        Only members that were added since the last call with this policy are played. Raises
        `TimeoutError` if the time is over before the last ones are begun.
        """
        digest = sha256(np.ascontiguousarray(policy).data).digest()
        known_rates = self._known_rates.get(digest, np.zeros(0))
        new_members = self.members[len(known_rates) :]
        new_rates = Population(self.game, new_members).rates_against(policy, deadline)
        self._known_rates[digest] = np.concatenate([known_rates, new_rates])
        return self._known_rates[digest].copy()

    def strongest(
        self, policy: Floats, most: int, deadline: Deadline = FOREVER
    ) -> NDArray[np.int64]:
        """Give the indices of the `most` counters that win most, the oldest on ties.

        Raises `TimeoutError` as `rates_against` does.
        """
        return np.argsort(-self.rates_against(policy, deadline), kind="stable")[:most]

    def climb(self, policy: Floats, warm: int, deadline: Deadline = FOREVER) -> None:
        """Ascend from the `warm` strongest counters to a policy (G, G, K), and add the results.

        Raises `TimeoutError` if the time is over before these are known.
        """
        searches = [
            CounterSearch(self.members[index], deadline=deadline)
            for index in self.strongest(policy, warm, deadline)
        ]
        climb = partial(CounterSearch.run, game=self.game, strategy=Strategy.unchecked(policy))
        self.add(state.matrix for state in compute(climb, searches, local=True))

    def add(self, matrices: Iterable[Matrix]) -> None:
        """Add the matrices that it does not hold, each once."""
        for matrix in matrices:
            if not contains(self.members, matrix):
                self.members = np.concatenate([self.members, matrix[None]])


def find_overlooked(rates: Floats, above: float, known: Ints, most: int) -> Ints:
    """List the strongest counter-matrices that win more than a limit and are not known.

    `rates` (n,) are the counters' win rates, `above` the limit, and `known` the indices of those
    known. Returns at most `most` indices.
    """
    unknown = np.setdiff1d(np.flatnonzero(rates > above), known)
    best_first = np.argsort(-rates[unknown], kind="stable")
    return unknown[best_first[:most]]


def _to_policy(game: Engine, member: NDArray[Any]) -> Floats:
    """Give a matrix (G, G) or a policy (G, G, K) as a policy."""
    is_policy = member.ndim == len(game.shape)
    return member if is_policy else one_hot(member, game.num_actions)


def _win_rate_against_member(game: Engine, policy: Floats, member: NDArray[Any]) -> float:
    """Exact win rate of a policy (G, G, K) against a member."""
    policies = np.stack([policy, _to_policy(game, member)])
    return shared_workspace(game, 2).win_rate(policies).win_rate


def _win_rate_of_member(
    game: Engine, policy: Floats, matrix: NDArray[np.int64] | None, member: NDArray[Any]
) -> float:
    """Win rate of a member, a matrix (G, G) or a policy (G, G, K), against a policy (G, G, K).

    `matrix` is the policy as a matrix (G, G) if it is pure, else None. Two matrices are played by a
    faster engine, if the game has one.
    """
    member_is_matrix = member.ndim == len(game.shape) - 1
    if matrix is not None and member_is_matrix:
        duels = shared_duels(game)
        if duels is not None:
            return duels.win_rate(np.stack([member, matrix]).astype(np.int64)).win_rate
    return _win_rate_against_member(game, _to_policy(game, member), policy)


def _value_against_member(
    game: Engine, policy: Floats, exact: bool, member: NDArray[Any]
) -> Counterfactual:
    """Counterfactual values and reach of a policy (G, G, K) against a member."""
    workspace = shared_workspace(game, 2) if exact else quick_workspace(game, 2)
    return counterfactual_values(workspace, np.stack([policy, _to_policy(game, member)]))


def read_counters(path: Path, game: Engine) -> Matrix:
    """Read counter-matrices (n, G, G) for the start of a search.

    A file ``.npz`` may be a checkpoint, or another file with a pool of counters. Any other file has
    one matrix, so n = 1.
    """
    cells = game.shape[:-1]  # shape of a matrix
    dtype = matrix_type(game.num_actions)
    is_archive = path.suffix.lower() == ".npz"
    counters = _read_pool(path, dtype, 1 + len(cells)) if is_archive else None
    if counters is None:
        strategy = read_strategy(path, **sizes_of(game))
        if strategy.kind != "matrix":
            raise StrategyError(f"{printable(path)}: a {strategy.kind}; allowed: matrices")
        return strategy.array[None]
    if counters.shape[1:] != cells:
        raise StrategyError(
            f"{printable(path)}: got counters {counters.dtype} {counters.shape}; "
            f"allowed: {dtype.__name__} (n, {', '.join(map(str, cells))})"
        )
    if counters.size and not 0 <= counters.min() <= counters.max() < game.num_actions:
        last_action = game.num_actions - 1
        raise StrategyError(f"{printable(path)}: a roll out of range; allowed: 0 to {last_action}")
    return counters


def _read_pool(path: Path, dtype: npt.DTypeLike, axes: int) -> Matrix | None:
    """Read the pool of counters, of so many axes, in an ``.npz`` file; None if it has none."""
    try:
        with opened(path, MOST_POOL_BYTES) as (file, _), open_archive(file) as archive:
            arrays = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            pool = next((arrays[name] for name in POOL_NAMES if name in arrays), None)
            if pool is None:
                return None
            if pool.file_size > MOST_POOL_BYTES:
                raise StrategyError(f"holds more than the {MOST_POOL_BYTES >> 20} MiB allowed")
            return read_member(archive, pool, dtype, axes)
    except HogeqError as error:
        raise StrategyError(f"{printable(path)}: {error}") from error
    except (OSError, ValueError) as error:
        raise StrategyError(unreadable(path, error)) from error


class CellGain(NamedTuple):
    """Gain of one cell of a counter-matrix."""

    score: int
    opponent: int  # the opponent's score
    usual: int  # most probable roll of the strategy attacked
    counter: int  # roll of the counter-matrix
    gain: float  # of that roll over the usual one, in win rate


class Gains(NamedTuple):
    """Gain of every cell of a counter-strategy over the usual roll of the strategy attacked.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> three = game.strategy("always_roll:3")
    >>> found = game.gains(game.attack(three).matrix, three)
    >>> own, opponent = divmod(int(found.gains.argmax()), 20)
    >>> int(found.usual[own, opponent])  # what is rolled there by `three`
    3
    """

    usual: Matrix
    """(G, G), most probable roll of the strategy attacked, the lower on ties."""
    gains: Floats
    """(G, G), win rate that would be lost by rolling the usual dice at this cell alone."""
    reach: Floats
    """(G, G), probability that the counter-strategy comes to move there; the expected number of
    visits where positions recur."""

    def __repr__(self) -> str:
        """Say how much can be gained: the arrays would fill pages."""
        rows, columns = self.gains.shape
        largest_gain = self.gains.max(initial=0.0)
        return f"Gains({rows} x {columns} cells, of which one gains at most {largest_gain:.3g})"

    def changes(self, counter: Matrix, choices: Sequence[int]) -> NDArray[Any]:
        """Give how many more dice a counter-matrix (G, G) rolls at each position, (G, G)."""
        dice = np.array(choices)
        return np.asarray(dice[counter] - dice[self.usual])

    def by_gain(self, counter: Matrix) -> Iterator[CellGain]:
        """Give the cells of a counter-matrix (G, G) that gain anything, those that gain most first.

        Raises `StrategyError` for a counter of another shape.
        """
        if counter.shape != self.gains.shape:
            raise StrategyError(f"counter: shape is {counter.shape}; allowed: {self.gains.shape}")
        best_first = (-self.gains).argsort(axis=None, kind="stable")
        number = np.count_nonzero(self.gains > 0.0)
        for flat_index in best_first[:number].tolist():
            score, opponent = divmod(flat_index, len(counter))
            cell = score, opponent
            usual_roll = int(self.usual[cell])
            yield CellGain(score, opponent, usual_roll, int(counter[cell]), float(self.gains[cell]))

    def to_json(self, counter: Matrix, choices: Sequence[int]) -> dict[str, Any]:
        """Return it as plain values, of a counter-matrix (G, G) of actions.

        `choices` has the number of dice of each action. The values are ``reached`` and
        ``deviates``, the numbers of positions that the counter-strategy comes to and of those where
        it rolls other dice; ``gains`` (score, opponent, usual, counter, gain), the largest. Raises
        `StrategyError` for a counter of another shape.
        """
        cells = [  # first, since this refuses a counter of another shape
            cell._replace(usual=choices[cell.usual], counter=choices[cell.counter])
            for cell in islice(self.by_gain(counter), MOST_LISTED)
        ]
        is_reached = self.reach > 0.0
        deviates = is_reached & (self.changes(counter, choices) != 0)
        return {
            "reached": int(is_reached.sum()),
            "deviates": int(deviates.sum()),
            "gains": [cell._asdict() for cell in cells],
        }

    def text(self, counter: Matrix, choices: Sequence[int]) -> Text:
        """Lay out where a counter-matrix (G, G) rolls other dice, and its largest gains."""
        facts = self.to_json(counter, choices)
        share = f"{facts['deviates']} of the {facts['reached']}"
        lines: Text = [f"other dice at {share} positions that it comes to"]
        rows = [
            (cell["score"], cell["opponent"], cell["usual"], cell["counter"], pp(cell["gain"]))
            for cell in facts["gains"]
        ]
        if rows:
            header = ("score", "opponent", "S rolls", "counter rolls", "win rate gained")
            lines += ["", Table(rows, header, left=0)]
        return lines


def gains(game: Engine, counter: StrategyLike, strategy: StrategyLike) -> Gains:
    """Exact gain of every cell of a counter-strategy over the usual rolls of the strategy attacked.

    The gain of a cell is the win rate lost if it alone makes the usual roll: the most probable one,
    of a mixture in the mean of its components.
    """
    target = strategy_of(game, strategy)
    policy = table_of(game, counter).policy
    measured = Population(game, target.policies, target.chances).measure(policy)
    usual_rolls = target.likeliest
    counter_values = (measured.values * policy).sum(axis=-1)
    is_same = at_actions(policy, usual_rolls) == 1.0
    policies = np.concatenate([policy[None], target.policies])
    usual_policy = one_hot(usual_rolls, game.num_actions)
    losses = at_actions(measured.values, usual_rolls) - counter_values
    # By differences of values where a win rate is linear in a cell; where positions recur, anew.
    losses_alone = gains_alone(game, policies, target.chances, usual_policy, losses)
    cell_gains = 0.0 - losses_alone  # a minus sign would make -0.0 of 0.0
    cell_gains = np.where(is_same, 0.0, cell_gains)
    return Gains(usual_rolls, cell_gains, measured.infoset_reach)
