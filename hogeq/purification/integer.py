"""Rounding by integer programs: rows become pure together, against counters to every candidate.

A *candidate* is a matrix that the policy may be rounded to, a *counter* a matrix that wins against
it. A row is *open* if several rolls are to choose from; all others make their likeliest roll. A
*choice* is an x (v,) that is 1 at one roll of each open row.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.purification.base import Purifier, argmax, purifier
from hogeq.purification.linear_models import (
    linear_models,
    mean_reach,
    nearest_choice,
    require_time,
)
from hogeq.search.counter_search import MOST_CROSSED_COUNTERS, OngoingSearches
from hogeq.search.matrix_games import contains
from hogeq.search.population import CounterPool, Population, find_overlooked, read_counters
from hogeq.search.results import write_rate
from hogeq.strategies.arrays import likeliest, one_hot
from hogeq.strategies.conversion import StrategyLike, policy_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints, Matrix, Singles
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.parameters import Count, Natural, PositiveShare, Seed, Share, parameters
from hogeq.support.progress import phase

LEAST_MEAN_REACH: Final = 1e-7  # below it, a row is left at its likeliest roll
MOST_PROGRAMS: Final = 8  # most programs for one candidate
OVERLOOKED_COUNTERS: Final = 40  # most counters that each program adds to the next
FALL_OF_CAUTION: Final = 0.05  # fall of `caution` when a candidate is the best
RISE_OF_CAUTION: Final = 0.02  # rise of `caution` when it is not
RANGE_OF_CAUTION: Final = (0.4, 0.95)  # range of `caution`
REACH_COUNTERS: Final = 64  # strongest counters, whose mean reach of a row is its weight
LEAST_EXCESS: Final = 1e-6  # a counter is overlooked that wins so much more than the known ones
SHARE_FACTOR: Final = 0.4  # factor of the policy's share in `centre` when models are taken anew
LEAST_SHARE: Final = 0.15  # least share of the policy in `centre`


class RoundingState(NamedTuple):
    """State of a search: n counters, m candidates, v rolls to choose from, t ongoing searches."""

    policy: Floats  # (G, G, K), to be rounded
    centre: Floats  # (G, G, K), policy at which the models are taken
    choices: Ints  # (v,), indices in the flat policy of the rolls of open rows
    pool: Matrix  # (n, G, G), counters
    rates: Floats  # (n,), modelled win rate of every counter if no open row rolled anything ...
    changes: Singles  # (n, v), ... and what each roll adds
    reach: Floats  # (v,), mean reach probability of the row of each roll
    tried: Matrix  # (m, G, G), the best candidates so far, in no order
    worst: Floats  # (m,), win rate of the best counter of the pool against each candidate
    bound: Floats  # (), modelled win rate that no choice of rolls is known to get below
    caution: Floats  # (), share of the way from the bound to the best candidate, of the next level
    trails: Matrix  # (t, G, G), current matrices of ongoing searches against the new candidates
    kicks_left: NDArray[np.int64]  # (t,), kicks that each has left; negative where it is to begin
    long_trails: Matrix  # (t, G, G), the same of searches against the best candidate ...
    long_kicks_left: NDArray[np.int64]  # (t,), ... and their kicks
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

    A level method (Lemarechal, Nemirovskii and Nesterov 1995, "New variants of bundle methods",
    section 2) in integers. Linear models, taken at the policy, say what every choice of rolls loses
    to every counter, interactions of rows left out: few games pass the rows that are still mixed
    when a rising price of entropy (`bundle`'s `sharpen`) has made the others pure. A round:

    1. Find the candidate nearest to the best one so far against which no counter wins more than a
       level between what the models allow and what the best one loses.
    2. Attack it. What is found joins the pool, with models.
    3. Make the level stricter if the candidate is the best one, else laxer.
    4. Every `anew` rounds, take all models anew, nearer to the best candidate.

    Cost: at most 8 integer programs of `nodes` nodes, the attacks, and a pass for each new counter.

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

    STATE = RoundingState  # of its rounds

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
        """Best candidate (G, G) after all rounds."""
        return self.matrix_in_time(game, policy, FOREVER)

    def matrix_in_time(self, game: Engine, policy: StrategyLike, deadline: Deadline) -> Matrix:
        """Best candidate (G, G) after the rounds that end in time; before the first, the argmax."""
        try:
            state = self.init(game, policy, deadline)
        except TimeoutError:
            return argmax(game, policy)
        for following in self.rounds_from(game, state, deadline):
            state = following
        return state.matrix

    def rounds_from(
        self, game: Engine, state: RoundingState, deadline: Deadline = FOREVER
    ) -> Iterator[RoundingState]:
        """Do the rounds that are left and end in time, and give the state after each."""
        done = int(state.iteration)
        with phase("searching near it", self.rounds, "rounds", done=done) as progress:
            for _ in range(done, self.rounds):
                try:
                    state = self.step(game, state, deadline)
                except TimeoutError:
                    return
                rate = write_rate(game, float(state.rate))
                progress.measured(f"attack {rate}, pool {len(state.pool)}")
                progress.step()
                yield state

    def init(
        self, game: Engine, strategy: StrategyLike, deadline: Deadline = FOREVER
    ) -> RoundingState:
        """State before the first round, from a policy (G, G, K) or a matrix (G, G).

        1. Read or search the first counters, matrices that win against the policy.
        2. List the rolls to choose from: in rows that the strongest counters let play reach, and
           that mix. Take linear models of the counters' win rates by the choice of these rolls.
        3. The first candidates, to which the policy may be rounded, are the most probable rolls and
           a linear program's choice, at which the strongest counter wins least. The program's value
           bounds the win rates of all choices.

        Raises `TimeoutError` if the time is over before.
        """
        policy = policy_of(game, strategy)
        with phase("models of the counters", 3, "steps") as progress:
            counters_of_file = read_counters(Path(self.counters), game) if self.counters else None
            pool = CounterPool(game, counters_of_file)
            ongoing = OngoingSearches.to_begin(game, self.trails, self.life)
            ongoing = self._attack(pool, policy, ongoing, (self.seed, 0), deadline)
            progress.step()
            strongest = pool.members[np.sort(pool.strongest(policy, REACH_COUNTERS, deadline))]
            reach = mean_reach(Population(game, strongest), policy, deadline)
            choices = self._list_choices(policy, reach)
            rates, changes = linear_models(pool, policy, choices, deadline)
            progress.step()
            rows = choices // game.num_actions  # of each roll
            start = policy.ravel()[choices]
            chosen, bound = self._choose_relaxed(rates, changes, rows, start, deadline)
            both = np.stack([argmax(game, policy), _make_matrix(policy, choices[chosen])])
            candidates = np.unique(both, axis=0)
            policies = one_hot(candidates, game.num_actions)
            highest_rates = [
                pool.rates_against(candidate, deadline).max() for candidate in policies
            ]
            progress.step()
        long_ongoing = OngoingSearches.to_begin(game, self.trails, self.long_life)
        return RoundingState(
            policy=policy,
            centre=policy,
            choices=choices,
            pool=pool.members,
            rates=rates,
            changes=changes,
            reach=reach.ravel()[rows],
            tried=candidates,
            worst=np.array(highest_rates),
            bound=np.array(bound),
            caution=np.array(self.caution),
            trails=ongoing.matrices,
            kicks_left=ongoing.kicks_left,
            long_trails=ongoing.matrices,
            long_kicks_left=long_ongoing.kicks_left,
            iteration=np.array(0),
        )

    def _list_choices(self, policy: Floats, reach: Floats) -> Ints:
        """List the rolls to choose from: the likely ones of rows that mix and that play reaches.

        `reach` (G, G) is the mean reach of the rows of a policy (G, G, K). Returns indices in the
        flat policy, (v,), ascending.
        """
        is_likely = policy > self.least
        is_mixed = is_likely.sum(axis=-1, keepdims=True) > 1
        is_reached = (reach > LEAST_MEAN_REACH)[..., None]
        return np.flatnonzero(is_likely & is_mixed & is_reached)

    def step(
        self, game: Engine, state: RoundingState, deadline: Deadline = FOREVER
    ) -> RoundingState:
        """Do one round of a level method in integers: a candidate matrix, and attacks on it.

        A counter is a matrix that wins against the candidate, a model its win rate as a linear
        function of the rolls; ongoing searches for counters continue from round to round.

        1. Find the next candidate by integer programs.
        2. Attack it, until a counter wins as much as against the best candidate so far; search
           further for counters to the best candidate, too. Counters join the pool, with models.
        3. Rank the candidates. Make the level stricter if the new one is the best, else laxer.
        4. Every `anew` rounds, take all models anew, nearer to the best candidate.

        Raises `TimeoutError` if the time is over before the round ends.
        """
        iteration = int(state.iteration) + 1
        matrix = self._next_candidate(game, state, deadline)
        candidate = one_hot(matrix, game.num_actions)
        pool = CounterPool(game, state.pool)
        # Searches for counters to the candidate, and to the best one, add them to the pool.
        pool.climb(candidate, self.warm, deadline)
        ongoing = OngoingSearches(state.trails, state.kicks_left)
        seeds = [(self.seed, iteration, trial) for trial in range(1 + self.trials)]
        ongoing, is_better = self._attack_until_beaten(
            pool, candidate, ongoing, state.rate, seeds, deadline
        )
        best = candidate if is_better else one_hot(state.matrix, game.num_actions)
        strongest = pool.members[pool.strongest(candidate, MOST_CROSSED_COUNTERS, deadline)]
        seed = (self.seed, iteration, 1 + self.trials)
        long_ongoing = OngoingSearches(state.long_trails, state.long_kicks_left).run(
            game,
            Strategy.unchecked(best),
            strongest,
            self.long_kicks,
            self.long_life,
            seed,
            deadline,
        )
        require_time(deadline)
        pool.add(long_ongoing.matrices)
        new_counters = Population(game, pool.members[len(state.pool) :])
        new_rates, new_changes = linear_models(new_counters, state.centre, state.choices, deadline)
        candidates, highest_rates = self._rank(pool, new_counters, state, matrix, deadline)
        caution = float(state.caution) + (-FALL_OF_CAUTION if is_better else RISE_OF_CAUTION)
        state = state._replace(
            pool=pool.members,
            rates=np.concatenate([state.rates, new_rates]),
            changes=np.concatenate([state.changes, new_changes]),
            tried=candidates,
            worst=highest_rates,
            caution=np.array(np.clip(caution, *RANGE_OF_CAUTION)),
            trails=ongoing.matrices,
            kicks_left=ongoing.kicks_left,
            long_trails=long_ongoing.matrices,
            long_kicks_left=long_ongoing.kicks_left,
            iteration=np.array(iteration),
        )
        if iteration % self.anew == 0:
            state = self._with_new_models(game, state, deadline)
        return state

    def _attack(
        self,
        pool: CounterPool,
        policy: Floats,
        ongoing: OngoingSearches,
        seed: tuple[int, ...],
        deadline: Deadline,
    ) -> OngoingSearches:
        """Go on with the searches for counters to a policy, and add what they find to the pool."""
        strongest = pool.members[pool.strongest(policy, MOST_CROSSED_COUNTERS, deadline)]
        target = Strategy.unchecked(policy)
        ongoing = ongoing.run(pool.game, target, strongest, self.kicks, self.life, seed, deadline)
        require_time(deadline)
        pool.add(ongoing.matrices)
        return ongoing

    def _attack_until_beaten(
        self,
        pool: CounterPool,
        policy: Floats,
        ongoing: OngoingSearches,
        rate: float,
        seeds: Iterable[tuple[int, ...]],
        deadline: Deadline,
    ) -> tuple[OngoingSearches, bool]:
        """Attack a policy once for each seed, until a counter wins `rate`.

        Returns the searches, as they then are, and whether no counter wins so much.
        """
        for seed in seeds:
            ongoing = self._attack(pool, policy, ongoing, seed, deadline)
            if pool.rates_against(policy, deadline).max() >= rate:
                return ongoing, False
        return ongoing, True

    def _rank(
        self,
        pool: CounterPool,
        new_counters: Population,
        state: RoundingState,
        matrix: Matrix,
        deadline: Deadline,
    ) -> tuple[Matrix, Floats]:
        """Rank the candidates of the state and a new one, `matrix` (G, G); keep the best.

        Returns them, (m, G, G), and the win rate of the pool's best counter against each, (m,). The
        state has that of all counters but the `new_counters`.
        """
        actions = pool.game.num_actions
        candidates = state.tried
        new_rates = [
            new_counters.rates_against(one_hot(candidate, actions), deadline).max(initial=0.0)
            for candidate in candidates
        ]
        highest_rates = np.maximum(state.worst, new_rates)
        if not contains(candidates, matrix):
            rate = pool.rates_against(one_hot(matrix, actions), deadline).max()
            candidates = np.concatenate([candidates, matrix[None]])
            highest_rates = np.append(highest_rates, rate)
        best = np.argsort(highest_rates, kind="stable")[: self.kept]
        return candidates[best], highest_rates[best]

    def _with_new_models(
        self, game: Engine, state: RoundingState, deadline: Deadline
    ) -> RoundingState:
        """Take all models anew at a policy between the one to be rounded and the best candidate.

        That is nearer to the candidate each time, since models are exact only where they are taken.
        """
        share = max(LEAST_SHARE, SHARE_FACTOR ** (int(state.iteration) // self.anew))
        centre = share * state.policy + (1.0 - share) * one_hot(state.matrix, game.num_actions)
        population = Population(game, state.pool)
        rates, changes = linear_models(population, centre, state.choices, deadline)
        rows = state.choices // game.num_actions
        centre_choice = centre.ravel()[state.choices]
        _, bound = self._choose_relaxed(rates, changes, rows, centre_choice, deadline)
        modelled = rates + changes @ centre_choice
        strongest = np.argsort(-modelled, kind="stable")[:REACH_COUNTERS]
        reach = mean_reach(Population(game, state.pool[strongest]), centre, deadline)
        return state._replace(
            centre=centre,
            rates=rates,
            changes=changes,
            reach=reach.ravel()[rows],
            bound=np.array(bound),
        )

    def _next_candidate(self, game: Engine, state: RoundingState, deadline: Deadline) -> Matrix:
        """Find the next candidate, (G, G): the nearest to the best one so far under a level.

        No counter wins more than the level by its model. It lies between the bound on all choices
        and the win rate of the best counter to the best candidate, at the share `caution`. Nearest
        means that the candidate keeps most of the gains: those of the best candidate's rolls are
        the square root of their row's reach, all others 0.
        """
        rows = state.choices // game.num_actions
        is_best = state.matrix.ravel()[rows] == state.choices % game.num_actions
        bound = float(state.bound)
        modelled = state.rates + state.changes @ is_best
        # If the models flatter the best candidate, it could be below the level itself, and so be
        # the nearest one.
        best_rate = min(state.rate, modelled.max())
        level = bound + float(state.caution) * (best_rate - bound)
        gain = np.sqrt(state.reach) * is_best
        chosen, _ = self._choose(
            state.rates, state.changes, rows, is_best, gain, level, self.nodes, deadline
        )
        return _make_matrix(state.policy, state.choices[chosen])

    def _choose_relaxed(
        self, rates: Floats, changes: Singles, rows: Ints, start: Floats, deadline: Deadline
    ) -> tuple[NDArray[np.bool_], float]:
        """Choice at which the strongest counter wins least if rows may mix, and how much."""
        no_gain = 0.0 * start
        return self._choose(
            rates, changes, rows, start, no_gain, level=0.0, nodes=0, deadline=deadline
        )

    def _choose(
        self,
        rates: Floats,
        changes: Singles,
        rows: Ints,
        start: NDArray[Any],
        gain: Floats,
        level: float,
        nodes: int,
        deadline: Deadline,
    ) -> tuple[NDArray[np.bool_], float]:
        """Choose a roll in each row: those of the largest gain, with no counter above a level.

        Solves integer programs of few counters; `nearest_choice` has their arguments. The first has
        the counters that win most against the choice `start`, (v,). Counters that it overlooked,
        which win more than the level against its choice, join the next. Returns the choice, a bool
        for each roll (v,), and a bound on the win rate of all choices.
        """
        active = np.argsort(-(rates + changes @ start), kind="stable")[: self.active]
        for _ in range(MOST_PROGRAMS):
            program = rates[active], changes[active], rows, gain, level, nodes
            chosen, bound = nearest_choice(*program, deadline)
            require_time(deadline)
            modelled = rates + changes @ chosen.astype(changes.dtype)
            largest_known = max(level, modelled[active].max(initial=0.0))
            limit = largest_known + LEAST_EXCESS
            overlooked_counters = find_overlooked(modelled, limit, active, OVERLOOKED_COUNTERS)
            if len(overlooked_counters) == 0:
                break
            active = np.append(active, overlooked_counters)
        return chosen, bound


def _make_matrix(policy: Floats, chosen: Ints) -> Matrix:
    """Matrix (G, G) of the chosen rolls, indices in the flat policy; else of the likeliest ones."""
    rolls = likeliest(policy)
    rolls.ravel()[chosen // policy.shape[-1]] = chosen % policy.shape[-1]
    return rolls
