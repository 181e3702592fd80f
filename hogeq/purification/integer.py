"""Rounding by integer programs: rows become pure together, against counters to every answer.

The program is ``min EXCESS * t - share``, where ``t >= 0`` and ``rates + changes @ x <= level + t``
for a choice ``x`` of rolls, and ``share`` is the share of what is dear that it keeps. With 0 nodes
it is a linear program, and each row makes the roll of the largest share.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine, WinRate
from hogeq.purification.base import Purifier, argmax, purifier
from hogeq.search.counter_search import CROSSED, Trails, no_trails
from hogeq.search.population import CounterPool, Population, overlooked, read_counters
from hogeq.search.results import write_rate
from hogeq.strategies.arrays import likeliest, one_hot
from hogeq.strategies.strategy import Strategy, StrategyLike, policy_of
from hogeq.support.aliases import Floats, Ints, Matrix, Singles
from hogeq.support.files import redirected
from hogeq.support.parameters import Count, Natural, PositiveShare, Seed, Share, parameters
from hogeq.support.progress import phase

REACHED: Final = 1e-7  # mean reach probability below which a row is left at its likeliest roll
CUTS: Final = 8  # most programs for one candidate
CUT: Final = 40  # counters that each adds to the next
STRICTER, LAXER = 0.05, 0.02  # change of `caution` when a candidate is the best, and when it is not
CAUTIONS: Final = (0.4, 0.95)
JUDGES: Final = 64  # strongest counters whose mean reach decides
OVERLOOKED: Final = 1e-6  # win rate above those that a program knew
EXCESS: Final = 1e3  # price of win rate above a level, in shares of what is dear
GAP: Final = 1e-4  # relative gap at which an integer program ends
PATIENCE: Final = 60.0  # seconds; only where it ends so, one in 360, does the machine matter
NEARER: Final = 0.4  # of the policy's share where models are taken, each time that they are
NEAREST: Final = 0.15  # share of the policy below which it does not fall


class RoundingState(NamedTuple):
    """State of a search; n counters, m candidates, v rolls to choose from."""

    policy: Floats  # (G, G, K), what is rounded
    centre: Floats  # (G, G, K), where the models are taken
    choices: Ints  # (v,), indices in the flat policy of the rolls of the rows that are open
    pool: Matrix  # (n, G, G)
    rates: Floats  # (n,), modelled win rate of every counter if no open row rolled anything ...
    changes: Singles  # (n, v), ... and what each roll adds.
    reach: Floats  # (v,), mean reach probability of the row of each roll, likewise
    tried: Matrix  # (m, G, G), the best candidates so far, in no order
    worst: Floats  # (m,), win rate of the best counter of the pool against each
    bound: Floats  # (), modelled win rate that no choice of rolls is known to get below
    caution: Floats  # (), where between the bound and the best candidate the next one is looked for
    trails: Matrix  # (t, G, G), where the trails are
    kicks_left: NDArray[np.int64]  # (t,), kicks that each has left; negative where it is to begin
    long_trails: Matrix  # (t, G, G), where those are that stay with the best candidate ...
    long_kicks_left: NDArray[np.int64]  # (t,), ... and their kicks.
    iteration: NDArray[np.int64]  # (), rounds done

    @property
    def matrix(self) -> Matrix:
        """The best candidate, (G, G)."""
        return self.tried[self.worst.argmin()]

    @property
    def rate(self) -> float:
        """Win rate of the best counter of the pool against it."""
        return float(self.worst.min())


@purifier("integer")
@parameters
class IntegerRounding(Purifier):
    """Choose the rolls of all mixed rows at once by an integer program, attack, and repeat.

    Linear models, taken at the policy, say what every choice of rolls loses to every counter,
    interactions of rows left out: few games pass the rows that are still mixed when a rising price
    of entropy (`bundle`'s `sharpen`) has made the others pure. A level method (Lemarechal,
    Nemirovskii and Nesterov 1995, "New variants of bundle methods", section 2) in integers: each
    round asks for the candidate nearest to the best one so far against which no counter wins more
    than a level between what the models allow and what the best one loses. What an attack finds
    against it joins the pool. Now and then models are taken anew, nearer to the best candidate.

    Attributes
    ----------
    rounds : int
        Number of rounds.
    anew : int
        Rounds from one taking of the models to the next.
    least : float
        Probability above which a roll is to choose from; rows with one such roll make it.
    caution : float
        First share of the way from the bound to the best candidate at which the level is.
    nodes : int
        Most nodes of the tree of one program, which also ends after a minute.
    kept : int
        Number of candidates that new counters are tried on.
    warm : int
        Number of the strongest counters that climb further in each round.
    trails, kicks, life : int
        Searches for counters, kicks of each at a time, and kicks after which it begins anew.
    trials : int
        Times more that a candidate is attacked while nothing found beats it.
    long_kicks, long_life : int
        The same kicks of as many trails that stay with the best candidate.
    counters : str
        File of counters that the pool starts with: a checkpoint of `bundle` or a search, a matrix.
    active : int
        Strongest counters that a candidate's first program is given; what it overlooks is added.
    seed : int
        Seed of the attacks.
    """

    rounds: Count = 40
    anew: Count = 20
    least: Share = 1e-3
    caution: PositiveShare = 0.65
    nodes: Count = 50
    kept: Count = 12
    warm: Natural = 6
    trails: Count = 8
    kicks: Count = 8
    life: Count = 8
    trials: Natural = 4
    long_kicks: Natural = 16
    long_life: Count = 160
    counters: str = ""
    active: Count = 300
    seed: Seed = 0

    def matrix(self, game: Engine, policy: StrategyLike) -> Matrix:
        state = self.init(game, policy)
        for later in self.rounds_from(game, state):
            state = later
        return state.matrix

    def rounds_from(self, game: Engine, state: RoundingState) -> Iterator[RoundingState]:
        """Do the rounds that are left, and give the state after each."""
        done = int(state.iteration)
        with phase("searching near it", self.rounds, "rounds", done=done) as progress:
            for _ in range(done, self.rounds):
                state = self.step(game, state)
                rate = write_rate(game, float(state.rate))
                progress.measured(f"attack {rate}, pool {len(state.pool)}")
                progress.step()
                yield state

    def init(self, game: Engine, strategy: StrategyLike) -> RoundingState:
        """State before the first round, from a policy (G, G, K) or a matrix (G, G)."""
        policy = policy_of(game, strategy)
        with phase("models of the counters", 3, "steps") as progress:
            pool, trails = self._begun(game, policy)
            progress.step()
            strongest = pool.members[np.sort(pool.strongest(policy, JUDGES))]
            reach = _mean_reach(Population(game, strongest), policy)
            wide = policy > self.least
            wide &= (reach > REACHED)[..., None] & (wide.sum(axis=-1, keepdims=True) > 1)
            choices = np.flatnonzero(wide)
            rates, changes = _models(pool, policy, choices)
            progress.step()
            rows, here = choices // game.num_actions, policy.ravel()[choices]
            chosen, bound = self._choice(rates, changes, rows, here, 0.0 * here, 0.0, 0)
            tried = np.stack([argmax(game, policy), _matrix(policy, choices[chosen])])
            tried = np.unique(tried, axis=0)
            worst = [pool.rates_against(one_hot(one, game.num_actions)).max() for one in tried]
            progress.step()
        return RoundingState(
            policy=policy,
            centre=policy,
            choices=choices,
            pool=pool.members,
            rates=rates,
            changes=changes,
            reach=reach.ravel()[rows],
            tried=tried,
            worst=np.array(worst),
            bound=np.array(bound),
            caution=np.array(self.caution),
            trails=trails.matrices,
            kicks_left=trails.left,
            long_trails=trails.matrices,
            long_kicks_left=no_trails(game, self.trails, self.long_life).left,
            iteration=np.array(0),
        )

    def step(self, game: Engine, state: RoundingState) -> RoundingState:
        """Do one round."""
        iteration = int(state.iteration) + 1
        matrix = self._candidate(game, state)
        candidate = one_hot(matrix, game.num_actions)
        pool, trails = CounterPool(game, state.pool), Trails(state.trails, state.kicks_left)
        pool.climb(candidate, self.warm)
        seeds = [(self.seed, iteration, trial) for trial in range(1 + self.trials)]
        trails, better = self._withstood(pool, candidate, trails, state.rate, seeds)
        best = candidate if better else one_hot(state.matrix, game.num_actions)
        long = Trails(state.long_trails, state.long_kicks_left)
        known = pool.members[pool.strongest(candidate, CROSSED)]
        seed = (self.seed, iteration, 1 + self.trials)
        target = Strategy.unchecked(best)
        long = long.followed(game, target, known, self.long_kicks, self.long_life, seed)
        pool.add(long.matrices)
        new = Population(game, pool.members[len(state.pool) :])
        rates, changes = _models(new, state.centre, state.choices)
        tried, worst = self._ranked(pool, new, state, matrix)
        caution = float(state.caution) + (-STRICTER if better else LAXER)
        state = state._replace(
            pool=pool.members,
            rates=np.concatenate([state.rates, rates]),
            changes=np.concatenate([state.changes, changes]),
            tried=tried,
            worst=worst,
            caution=np.array(np.clip(caution, *CAUTIONS)),
            trails=trails.matrices,
            kicks_left=trails.left,
            long_trails=long.matrices,
            long_kicks_left=long.left,
            iteration=np.array(iteration),
        )
        return state if iteration % self.anew else self._modelled_anew(game, state)

    def _begun(self, game: Engine, policy: Floats) -> tuple[CounterPool, Trails]:
        """Pool of the file of counters, and the first trails, which have attacked the policy."""
        known = read_counters(Path(self.counters), game) if self.counters else None
        pool, trails = CounterPool(game, known), no_trails(game, self.trails, self.life)
        return pool, self._attacked(pool, policy, trails, (self.seed, 0))

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

    def _ranked(
        self, pool: CounterPool, new: Population, state: RoundingState, matrix: Matrix
    ) -> tuple[Matrix, Floats]:
        """Best candidates, with a new one, and their losses, the new counters included."""
        actions = pool.game.num_actions
        met = [new.rates_against(one_hot(one, actions)).max(initial=0.0) for one in state.tried]
        tried, worst = state.tried, np.maximum(state.worst, met)
        if not any(np.array_equal(one, matrix) for one in tried):
            reached = pool.rates_against(one_hot(matrix, actions)).max()
            tried, worst = np.concatenate([tried, matrix[None]]), np.append(worst, reached)
        best = np.argsort(worst, kind="stable")[: self.kept]
        return tried[best], worst[best]

    def _modelled_anew(self, game: Engine, state: RoundingState) -> RoundingState:
        """Take the models nearer to the best candidate."""
        share = max(NEAREST, NEARER ** (int(state.iteration) // self.anew))
        centre = share * state.policy + (1.0 - share) * one_hot(state.matrix, game.num_actions)
        rates, changes = _models(Population(game, state.pool), centre, state.choices)
        rows, here = state.choices // game.num_actions, centre.ravel()[state.choices]
        _, bound = self._choice(rates, changes, rows, here, 0.0 * here, 0.0, 0)
        modelled = rates + changes @ here
        strongest = np.argsort(-modelled, kind="stable")[:JUDGES]
        reach = _mean_reach(Population(game, state.pool[strongest]), centre)
        return state._replace(
            centre=centre,
            rates=rates,
            changes=changes,
            reach=reach.ravel()[rows],
            bound=np.array(bound),
        )

    def _candidate(self, game: Engine, state: RoundingState) -> Matrix:
        """Choice nearest to the best candidate whose models stay below the level, (G, G)."""
        rows = state.choices // game.num_actions
        here = state.matrix.ravel()[rows] == state.choices % game.num_actions
        bound, modelled = float(state.bound), state.rates + state.changes @ here
        # Where its models flatter the best candidate, it would be the nearest one to itself.
        level = bound + float(state.caution) * (min(state.rate, modelled.max()) - bound)
        dear = np.sqrt(state.reach) * here
        chosen, _ = self._choice(state.rates, state.changes, rows, here, dear, level, self.nodes)
        return _matrix(state.policy, state.choices[chosen])

    def _choice(
        self,
        rates: Floats,
        changes: Singles,
        rows: Ints,
        here: NDArray[Any],
        dear: Floats,
        level: float,
        nodes: int,
    ) -> tuple[NDArray[np.bool_], float]:
        """Solve the program of few counters: those that win most `here`, and those overlooked.

        With 0 nodes rows are free to mix, so that its bound holds for all choices.
        """
        active = np.argsort(-(rates + changes @ here), kind="stable")[: self.active]
        for _ in range(CUTS):
            few = rates[active], changes[active]
            chosen, bound = nearest_choice(*few, rows, dear, level, nodes)
            modelled = rates + changes @ chosen.astype(changes.dtype)
            seen = max(level, modelled[active].max(initial=0.0)) + OVERLOOKED
            new = overlooked(modelled, seen, active, CUT)
            if len(new) == 0:
                break
            active = np.append(active, new)
        return chosen, bound


def _mean_reach(pool: Population, policy: Floats) -> Floats:
    """Reach probability of the policy's cells, the mean over counters, float64 (G, G)."""
    return np.mean([one.infoset_reach for one in pool.passes(policy, exact=False)], axis=0)


def _models(pool: Population, policy: Floats, choices: Ints) -> tuple[Floats, Singles]:
    """Linear models of win rates by the choice of each open row; others make their likeliest."""
    width = policy.shape[-1]
    flat = policy.reshape(-1, width)
    likeliest = width * np.arange(len(flat)) + flat.argmax(axis=1)
    closed = np.delete(likeliest, np.unique(choices // width))
    rates, changes = np.zeros(len(pool.members)), np.zeros((len(pool.members), len(choices)), "f4")
    for place, one in enumerate(pool.passes(policy, exact=False)):
        given = (one.values * policy).sum(axis=-1, keepdims=True) - one.values
        changes[place] = given.ravel()[choices]
        lost = 1.0 - WinRate.from_starts(*one.starts).win_rate
        rates[place] = lost + given.ravel()[closed].sum()
    return rates, changes


def _matrix(policy: Floats, chosen: Ints) -> Matrix:
    """Matrix (G, G) of the rolls chosen, elsewhere the policy's likeliest."""
    rolls = likeliest(policy)
    rolls.ravel()[chosen // policy.shape[-1]] = chosen % policy.shape[-1]
    return rolls


def nearest_choice(
    rates: Floats, changes: NDArray[np.floating], rows: Ints, dear: Floats, level: float, nodes: int
) -> tuple[NDArray[np.bool_], float]:
    """Choose a roll in each row (v,): those most dear, with no counter (n,) above a level.

    Also gives the win rate that no choice gets below where nothing is dear.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack

    size, total = len(rows), dear.sum()
    if size == 0:
        return np.zeros(0, np.bool_), float(rates.max())
    _, place = np.unique(rows, return_inverse=True)
    once = csr_array((np.ones(size), (place, np.arange(size))))
    below = csr_array(np.column_stack([changes, -np.ones(len(rates))]))
    with redirected(1):  # HiGHS leaves a line of its developers' there
        result = milp(
            np.append(-dear / total if total else dear, EXCESS),
            constraints=[
                LinearConstraint(below, ub=level - rates),
                LinearConstraint(hstack([once, csr_array((once.shape[0], 1))]), 1.0, 1.0),
            ],
            integrality=np.append(np.full(size, nodes > 0), False),
            bounds=Bounds(0.0, 1.0),
            options={"node_limit": max(1, nodes), "mip_rel_gap": GAP, "time_limit": PATIENCE},
        )
    if result.x is None and nodes:  # stalled before any choice: that of its relaxation, rounded
        return nearest_choice(rates, changes, rows, dear, level, nodes=0)
    if result.x is None:
        raise RuntimeError(f"purify: integer program of {size} rolls: {result.message}")
    chosen = np.zeros(size, np.bool_)
    for here in np.split(np.arange(size), np.flatnonzero(np.diff(place)) + 1):
        chosen[here[result.x[here].argmax()]] = True
    least = result.mip_dual_bound if nodes else result.fun
    return chosen, level + float(least or 0.0) / EXCESS
