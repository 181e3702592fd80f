"""Base class of purifiers that search in rounds, which can be saved and go on."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.purification.base import Purifier
from hogeq.search.population import CounterPool
from hogeq.search.trails import CROSSED, Trails
from hogeq.strategies.strategy import Strategy, StrategyLike
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.numbers import percent
from hogeq.support.progress import phase


class RoundState(Protocol):
    """State of a search: a named tuple of arrays, with what it has found so far."""

    def _asdict(self) -> dict[str, Any]:
        """Its arrays by name."""

    @property
    def matrix(self) -> Matrix:
        """(G, G), the best so far."""

    @property
    def rate(self) -> Any:
        """Win rate of the best counter known against it."""

    @property
    def pool(self) -> Matrix:
        """(n, G, G), the counters known."""

    @property
    def iteration(self) -> NDArray[Any]:
        """Rounds done."""


State = TypeVar("State", bound=RoundState)


class SearchPurifier(Purifier, Generic[State]):
    """A purifier whose rounds begin with a state of arrays, and end with another.

    A state that was saved goes on with the same bits, so that nothing else is remembered.

    Attributes
    ----------
    rounds : int
        Number of rounds.
    kicks, life : int
        Kicks of each trail at a time, and after which it ends.
    STATE : type
        Named tuple of the arrays.
    """

    STATE: ClassVar[type[Any]]
    rounds: int
    kicks: int
    life: int

    @abstractmethod
    def init(self, game: Engine, strategy: StrategyLike) -> State:
        """State before the first round, from a policy (G, G, K) or a matrix (G, G)."""

    @abstractmethod
    def step(self, game: Engine, state: State) -> State:
        """Do one round."""

    def rounds_from(self, game: Engine, state: State) -> Iterator[State]:
        """Do the rounds that are left, and give the state after each."""
        done = int(state.iteration)
        with phase("searching near it", self.rounds, "rounds", done=done) as told:
            for _ in range(done, self.rounds):
                state = self.step(game, state)
                told.measured(f"attack {percent(float(state.rate))}, pool {len(state.pool)}")
                told.step()
                yield state

    def _attacked(
        self, pool: CounterPool, policy: Floats, trails: Trails, seed: tuple[int, ...]
    ) -> Trails:
        """Search for counters to a policy and add them to the pool; give where the trails are."""
        known = pool.members[pool.strongest(policy, CROSSED)]
        target = Strategy.unchecked(policy)
        trails = trails.followed(pool.game, target, known, self.kicks, self.life, seed)
        pool.add(trails.matrices)
        return trails

    def _withstood(
        self,
        pool: CounterPool,
        policy: Floats,
        trails: Trails,
        rate: float,
        seeds: Iterable[tuple[int, ...]],
    ) -> tuple[Trails, bool]:
        """Attack a policy until a counter wins so much; give whether none did."""
        for seed in seeds:
            trails = self._attacked(pool, policy, trails, seed)
            if pool.rates_against(policy).max() >= rate:
                return trails, False
        return trails, True

    def matrix(self, game: Engine, policy: StrategyLike) -> Matrix:
        """Matrix (G, G), the best of all rounds."""
        state = self.init(game, policy)
        for later in self.rounds_from(game, state):
            state = later
        return state.matrix
