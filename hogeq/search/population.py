"""A population of strategies that one policy plays: opponents of a responder, or responders to it.

A win rate is linear in each row of a policy, so one pass gives the exact effect of every change of
a single cell. Effects of several cells do not add up: such changes are evaluated before they count.
"""

import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import Counterfactual, counterfactual_values
from hogeq.model.protocol import Engine, WinRate
from hogeq.model.rows import soften
from hogeq.model.shared import quick_workspace, shared_duels, shared_workspace
from hogeq.search.ascent import TEMPERATURES
from hogeq.search.counter_search import CounterSearch
from hogeq.strategies.arrays import StrategyError, one_hot, zero_matrices
from hogeq.strategies.files import read_strategy, sizes_of
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of, table_of
from hogeq.support.aliases import Floats, Ints, Matrix, matrix_type
from hogeq.support.messages import HogeqError, Table, Text, pp, printable, refusal, unreadable
from hogeq.support.workers import compute

BATCH: Final = 32  # passes whose tables are held in memory together

POOLS: Final = ("pool", "state.pool", "state.counters")
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
        equal = np.full(len(members), 1.0 / max(1, len(members)))
        self.weights = equal if weights is None else weights

    @property
    def policies(self) -> Floats:
        """The members as policies, (n, G, G, K)."""
        return np.stack([_policy(self.game, member) for member in self.members])

    def rates_of(self, policy: Floats) -> Floats:
        """Exact win rate of a policy (G, G, K) against every member, float64 (n,)."""
        return np.array(compute(partial(_rate, self.game, policy), self.members, local=True))

    def rates_against(self, policy: Floats) -> Floats:
        """Exact win rate of every member against a policy (G, G, K), quicker if it is pure."""
        rolls = policy.argmax(axis=-1)
        is_pure = np.count_nonzero(policy) == rolls.size
        rate = partial(_rate_of_member, self.game, policy, rolls if is_pure else None)
        return np.array(compute(rate, self.members, local=True))

    def passes(self, policy: Floats, *, exact: bool = True) -> Iterator[Counterfactual]:
        """Pass with a policy (G, G, K) against each member; or in the precision of searches."""
        for start in range(0, len(self.members), BATCH):
            batch = self.members[start : start + BATCH]
            yield from compute(partial(_pass, self.game, policy, exact), batch, local=True)

    def measure(self, policy: Floats, weights: Floats | None = None) -> Measured:
        """Counterfactual values and reach of a policy (G, G, K) against the mixture."""
        values, infoset_reach = np.zeros_like(policy), np.zeros(policy.shape[:-1])
        rates = []
        shares = self.weights if weights is None else weights
        for share, one in zip(shares, self.passes(policy), strict=True):
            values += share * one.values
            infoset_reach += share * one.infoset_reach
            rates.append(WinRate.from_starts(*one.starts).win_rate)
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
        """Anneal a softmax responder to the mixture, all cells at once."""
        for temperature in np.geomspace(*TEMPERATURES, steps):
            found = self.measure(policy, weights)
            soften(policy, found.values, found.infoset_reach, temperature, damping)
            progress()


class CounterPool(Population):
    """A growing pool of counter-matrices, (n, G, G), which computes no win rate twice."""

    members: Matrix

    def __init__(self, game: Engine, matrices: Matrix | None = None) -> None:
        empty = zero_matrices(0, game.shape)
        super().__init__(game, empty if matrices is None else np.array(matrices, empty.dtype))
        self._rates: dict[bytes, Floats] = {}  # of the first members, by a digest of the policy

    def rates_against(self, policy: Floats) -> Floats:
        """Exact win rate of every member against a policy (G, G, K), float64 (n,)."""
        key = sha256(np.ascontiguousarray(policy).data).digest()
        known = self._rates.get(key, np.zeros(0))
        new = Population(self.game, self.members[len(known) :]).rates_against(policy)
        self._rates[key] = np.concatenate([known, new])
        return self._rates[key].copy()

    def strongest(self, policy: Floats, most: int) -> NDArray[np.int64]:
        """Give the indices of the `most` counters that win most, the oldest on ties."""
        return np.argsort(-self.rates_against(policy), kind="stable")[:most]

    def climb(self, policy: Floats, warm: int) -> None:
        """Climb from the `warm` strongest counters, and add the results."""
        searches = [CounterSearch(self.members[one]) for one in self.strongest(policy, warm)]
        climb = partial(CounterSearch.run, game=self.game, strategy=Strategy.unchecked(policy))
        self.add(state.matrix for state in compute(climb, searches, local=True))

    def add(self, matrices: Iterable[Matrix]) -> None:
        """Add the matrices that it does not hold, each once."""
        for matrix in matrices:
            if not any(np.array_equal(member, matrix) for member in self.members):
                self.members = np.concatenate([self.members, matrix[None]])


def overlooked(rates: Floats, above: float, known: Ints, most: int) -> Ints:
    """List at most `most` counters that win more than a limit and are not known, the best first."""
    new = np.setdiff1d(np.flatnonzero(rates > above), known)
    return new[np.argsort(-rates[new], kind="stable")[:most]]


def _policy(game: Engine, member: NDArray[Any]) -> Floats:
    is_policy = member.ndim == len(game.shape)
    return member if is_policy else one_hot(member, game.num_actions)


def _rate(game: Engine, policy: Floats, member: NDArray[Any]) -> float:
    policies = np.stack([policy, _policy(game, member)])
    return shared_workspace(game, 2).win_rate(policies).win_rate


def _rate_of_member(
    game: Engine, policy: Floats, matrix: NDArray[np.int64] | None, member: NDArray[Any]
) -> float:
    if matrix is not None and member.ndim == matrix.ndim:
        duels = shared_duels(game)
        if duels is not None:
            return duels.win_rate(np.stack([member, matrix]).astype(np.int64)).win_rate
    return _rate(game, _policy(game, member), policy)


def _pass(game: Engine, policy: Floats, exact: bool, member: NDArray[Any]) -> Counterfactual:
    work = (shared_workspace if exact else quick_workspace)(game, 2)
    return counterfactual_values(work, np.stack([policy, _policy(game, member)]))


def read_counters(path: Path, game: Engine) -> Matrix:
    """Read counter-matrices, (n, G, G), that a search begins with."""
    found = _pool(path) if path.suffix.lower() == ".npz" else None
    if found is None:
        read = read_strategy(path, **sizes_of(game))
        if read.kind != "matrix":
            raise StrategyError(f"{printable(path)}: a {read.kind}; allowed: matrices")
        return read.array[None]
    cells, kind = game.shape[:-1], matrix_type(game.num_actions)
    if found.ndim != 1 + len(cells) or found.shape[1:] != cells or found.dtype != kind:
        raise StrategyError(
            f"{printable(path)}: got counters {found.dtype} {found.shape}; "
            f"allowed: {kind.__name__} (n, {', '.join(map(str, cells))})"
        )
    if found.size and not 0 <= found.min() <= found.max() < game.num_actions:
        most = game.num_actions - 1
        raise StrategyError(f"{printable(path)}: a roll out of range; allowed: 0 to {most}")
    return found


def _pool(path: Path) -> Matrix | None:
    """Array of an ``.npz`` that holds a pool; None if it holds none."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            names = [name for name in POOLS if name in arrays]
            return arrays[names[0]] if names else None
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise StrategyError(unreadable(path, error)) from error


class CellGain(NamedTuple):
    """Gain of one cell of a counter-matrix."""

    score: int
    opponent: int
    usual: int  # most probable roll of the strategy countered
    counter: int
    gain: float  # of that roll over the usual one, in win rate


class Gains(NamedTuple):
    """Gain of every cell of a counter-strategy over the usual roll of the strategy countered.

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
    """(G, G), most probable roll of the strategy countered, the lower on ties."""
    gains: Floats
    """(G, G), win rate that would be lost by rolling the usual dice at this cell alone."""
    reach: Floats
    """(G, G), probability that the counter-strategy comes to move there; the expected number of
    visits where positions recur."""

    def __repr__(self) -> str:
        """Say how much can be gained: the arrays would fill pages."""
        rows, columns = self.gains.shape
        most = self.gains.max(initial=0.0)
        return f"Gains({rows} x {columns} cells, of which one gains at most {most:.3g})"

    def changes(self, counter: Matrix, choices: Sequence[int]) -> NDArray[Any]:
        """Give the dice that a counter-strategy rolls more at each position, (G, G)."""
        dice = np.array(choices)
        return np.asarray(dice[counter] - dice[self.usual])

    def to_json(self, counter: Matrix, choices: Sequence[int]) -> dict[str, Any]:
        """Return it as plain values, of a counter-strategy with dice to choose from.

        ``reached`` and ``deviates``, positions that it comes to and those where it rolls other
        dice; ``gains`` (score, opponent, usual, counter, gain), the largest.
        """
        reached = self.reach > 0.0
        cells = [
            cell._replace(usual=choices[cell.usual], counter=choices[cell.counter])
            for cell in largest_gains(self, counter)
        ]
        return {
            "reached": int(reached.sum()),
            "deviates": int((reached & (self.changes(counter, choices) != 0)).sum()),
            "gains": [cell._asdict() for cell in cells],
        }

    def text(self, counter: Matrix, choices: Sequence[int], worth: str = "win rate gained") -> Text:
        """Lay out the same; `worth` heads the gains."""
        facts = self.to_json(counter, choices)
        of = f"{facts['deviates']} of the {facts['reached']} positions that it comes to"
        rows = [(*list(cell.values())[:-1], pp(cell["gain"])) for cell in facts["gains"]]
        header = ("score", "opponent", "S rolls", "counter rolls", worth)
        table: Text = ["", Table(rows, header, left=0)] if rows else []
        return [f"other dice at {of}", *table]


def gains(game: Engine, counter: StrategyLike, strategy: StrategyLike) -> Gains:
    """Exact gain of every cell of a counter-strategy over the rolls of the strategy countered.

    Each with the other cells as they are. Where positions can recur a cell may be met twice, and
    gains are exact only to first order. What is usual of a mixture is the mean of its components.
    """
    target = strategy_of(game, strategy)
    policy = table_of(game, counter).policy
    values, infoset_reach, _ = Population(game, target.policies, target.chances).measure(policy)
    usual = target.likeliest
    chosen = usual[..., None].astype(np.int64)
    as_usual = np.take_along_axis(values, chosen, axis=-1)[..., 0]
    won = (values * policy).sum(axis=-1)
    same = np.take_along_axis(policy, chosen, axis=-1)[..., 0] == 1.0
    return Gains(usual, np.where(same, 0.0, won - as_usual), infoset_reach)


def largest_gains(
    gained: Gains, counter: Strategy | NDArray[Any], count: int = 10
) -> list[CellGain]:
    """List the cells of a counter-strategy that gain most, at most `count`, if they gain at all."""
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 0:
        raise HogeqError(refusal("count", count, "whole numbers from 0"))
    rolls = np.asarray(counter.likeliest if isinstance(counter, Strategy) else counter)
    if rolls.shape != gained.gains.shape:
        raise StrategyError(f"counter: shape is {rolls.shape}; allowed: {gained.gains.shape}")
    order = (-gained.gains).argsort(axis=None, kind="stable")[:count]
    cells = [divmod(int(place), len(rolls)) for place in order]
    return [
        CellGain(*cell, int(gained.usual[cell]), int(rolls[cell]), float(gained.gains[cell]))
        for cell in cells
        if gained.gains[cell] > 0.0
    ]
