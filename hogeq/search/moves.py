"""Moves of a search for a response, and a bandit that chooses among them.

A move changes a matrix that coordinate ascent ended in, near moves a little and far moves a lot; an
ascent follows. Most change what the responder sees for a sweep or a few: whom it meets, how likely
it believes each memory to be, how sharply it chooses. ``docs/attack.md`` lists them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.model.protocol import Engine, Passes, Role
from hogeq.model.shared import quick_workspace
from hogeq.search.ascent import (
    SWEEP_LIMIT,
    TEMPERATURES,
    anneal,
    ascend,
    log_uniform,
    to_pure,
    with_random_rolls,
)
from hogeq.strategies.arrays import likeliest, one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import FOREVER, Deadline

MET: Final = 2  # sweeps against a perturbed opponent
COOLING: Final = 3.0  # steps of annealing while the temperature falls by a factor of e
COOLING_DAMPING: Final = 0.5
SOFT: Final = (3e-3, 1e-3, 3, 0.6)  # temperatures, steps and damping against a perturbed opponent

IN_CELLS: Final = 0.25  # how often an opponent is changed in some cells only
CELLS: Final = (0.01, 0.5)  # the share of these cells

EARLY: Final = 0.2  # share of the goal up to which scores are early ones
OPENING: Final = 3  # most early cells that make other rolls

FLOOR: Final = 0.3  # share of the choices that are dealt by weight, whatever has paid
UNUSED: Final = np.random.default_rng(0)  # where nothing is left to chance
MEMORY: Final = 0.98  # how much of what it knows of pay the bandit keeps from choice to choice


@dataclass
class SearchContext:
    """Game, passes and random numbers of a search, in one thread."""

    game: Engine
    weights: Floats | None  # (n,), of the strategies met, of which one is drawn; None if it is one
    work: Passes  # the passes of the search
    policies: Floats  # (1 + n, G, G, K): the responder, rewritten in place, and whom it meets
    random: np.random.Generator
    mates: Sequence[Matrix] = ()  # matrices (G, G) of other searches, to cross with
    roll: int = 0  # the roll of which a move by one roll makes more
    deadline: Deadline = FOREVER  # after which every part ends as soon as it can

    @classmethod
    def of(
        cls,
        game: Engine,
        strategy: Strategy,
        seed: Sequence[int] = (),
        mates: Sequence[Matrix] = (),
    ) -> "SearchContext":
        """Meet a strategy, in the precision of searches."""
        weights = strategy.chances if len(strategy.chances) > 1 else None
        policies = np.concatenate([np.empty((1, *game.shape)), strategy.policies])
        work = quick_workspace(game, len(policies))
        random = np.random.default_rng(seed) if seed else UNUSED
        return cls(game, weights, work, policies, random, mates)

    def ascend(
        self, limit: int = SWEEP_LIMIT, least_gain: float = -1.0, to_beat: float = -1.0
    ) -> tuple[float, int]:
        """Let the responder ascend; its win rate, and the sweeps."""
        how = limit, least_gain, to_beat, self.weights, self.deadline
        return ascend(self.work, self.policies, *how)

    def anneal(
        self,
        steps: int,
        damping: float,
        cooling: tuple[float, float],
        progress: Callable[[], object] = lambda: None,
    ) -> None:
        """Anneal the responder."""
        how = steps, damping, cooling, progress, self.weights, self.deadline
        anneal(self.work, self.policies, *how)


class Move(NamedTuple):
    """A move and its ranges."""

    go: Callable[[SearchContext, float], int]  # change the responder, so strongly; sweeps it took
    near: tuple[float, float] | None  # strengths, drawn log-uniformly, to refine; None: never
    far: tuple[float, float] | None  # strengths when it is to lead far; None: it never is
    weight: float = 1.0  # how often it is chosen at first, relative to others
    by_roll: bool = False  # whether it makes more of one roll, which then is paid too


def stay(at: SearchContext, strength: float) -> int:  # noqa: ARG001
    """Change nothing: near moves go on from the best matrix."""
    return 0


def random_rolls(at: SearchContext, share: float) -> int:
    """Put random rolls into a share of the cells: the uniform kick."""
    matrix = with_random_rolls(likeliest(at.policies[0]), share, at.game.num_actions, at.random)
    at.policies[0] = one_hot(matrix, at.game.num_actions)
    return 0


def perturbed_opponent(at: SearchContext, share: float) -> int:
    """Ascend for two sweeps against the opponent blended with another strategy, to a share."""
    met = at.policies[1:].copy()
    at.policies[1:] = _blended(at, share)
    _, sweeps = at.ascend(MET)
    at.policies[1:] = met
    return sweeps


def annealed_to_perturbed(at: SearchContext, share: float) -> int:
    """Take a few softmax steps against the opponent blended with another strategy, to a share."""
    met = at.policies[1:].copy()
    at.policies[1:] = _blended(at, share)
    hot, cold, steps, damping = SOFT
    at.anneal(steps, damping, (hot, cold))
    to_pure(at.policies[0])
    at.policies[1:] = met
    return steps


def perturbed_beliefs(at: SearchContext, share: float) -> int:
    """Sweep once, memories being as likely as if the responder had played a blended policy."""
    return _believing(at, share, _stranger(at))


def believed_roll(at: SearchContext, share: float) -> int:
    """Sweep once, memories being as likely as if the responder had made one roll, to a share."""
    # In all cells, a band of sums of scores, or some at random. A roll of certain points tells the
    # next turn what is hidden: cells that use it come first, those that lead there then find it
    # worth more.
    shape, random = at.policies.shape[1:-1], at.random
    kind = random.integers(3)
    if kind == 0:
        cells = np.ones(shape, bool)
    elif kind == 1:
        low, high = np.sort(random.integers(0, sum(shape), 2))
        sums = np.indices(shape).sum(axis=0)
        cells = (low <= sums) & (sums <= high)
    else:
        cells = random.random(shape) < random.random()
    made = one_hot(at.roll, at.game.num_actions)
    return _believing(at, share * cells[..., None], made)


def believed_opponent(at: SearchContext, share: float) -> int:
    """Sweep once, memories being as likely as if the responder had played as an opponent does."""
    return _believing(at, share, at.policies[at.random.integers(1, len(at.policies))])


def drawn_rolls(at: SearchContext, temperature: float) -> int:
    """Draw every roll anew by the softmax of its values: where rolls are near ties, they change."""
    at.anneal(1, 1.0, (temperature, temperature))
    sums = at.policies[0].cumsum(axis=-1)
    drawn = at.random.random(sums.shape[:-1]) * sums[..., -1]
    rolls = np.minimum((sums <= drawn[..., None]).sum(axis=-1), sums.shape[-1] - 1)
    at.policies[0] = one_hot(rolls, sums.shape[-1])
    return 1


def annealed_again(at: SearchContext, temperature: float) -> int:
    """Anneal once more, from a temperature that leaves most rolls as they are."""
    steps = ceil(COOLING * log(temperature / TEMPERATURES[1]))
    at.anneal(steps, COOLING_DAMPING, (temperature, TEMPERATURES[1]))
    to_pure(at.policies[0])
    return steps


def other_opening(at: SearchContext, temperature: float) -> int:
    """Anneal once more, quickly, while the first cell or a few early ones make other rolls."""
    axes, num_actions = at.policies.shape[1:-1], at.game.num_actions
    early = ceil(log_uniform(at.random, (1.0, max(1.0, EARLY * min(axes)))) - 0.5)
    number = int(at.random.integers(1, OPENING + 1))
    cells = tuple(at.random.integers(early, size=(len(axes), number)) * (at.random.random() < 0.5))
    rolls = at.policies[0][cells].argmax(axis=-1)
    rolls = (rolls + at.random.integers(1, num_actions, size=number)) % num_actions
    other = one_hot(rolls, num_actions)
    steps = ceil(log(temperature / TEMPERATURES[1]))
    for now in np.geomspace(temperature, TEMPERATURES[1], steps):
        at.policies[0][cells] = other
        at.anneal(1, COOLING_DAMPING, (now, now))
    to_pure(at.policies[0])
    at.policies[0][cells] = other
    return steps


def crossover(at: SearchContext, share: float) -> int:
    """Take a part of the table from another start's matrix; without one, random rolls."""
    # All cells from a sum of scores on, or before it; a band of one score; or a share at random.
    if not at.mates:
        return random_rolls(at, share)
    shape, random = at.policies.shape[1:-1], at.random
    places = np.indices(shape)
    kind = random.integers(3)
    if kind == 0:
        last = sum(shape) - len(shape)
        part = places.sum(axis=0) >= random.integers(1, max(2, last))
        part = part if random.random() < 0.5 else ~part
    elif kind == 1:
        low, high = np.sort(random.integers(0, min(shape) + 1, 2))
        along = places[-1] if random.random() < 0.5 else places[0]
        part = (low <= along) & (along < high)
    else:
        part = random.random(shape) < share
    at.policies[0][part] = one_hot(_mate(at)[part], at.game.num_actions)
    return 0


def relinked(at: SearchContext, temperature: float) -> int:
    """Anneal from the mean of the matrix and another start's; without one, from the matrix."""
    if at.mates:
        rows = one_hot(_mate(at), at.policies.shape[-1])
        at.policies[0] += at.random.uniform(0.3, 0.7) * (rows - at.policies[0])
    return annealed_again(at, temperature)


def restarted(at: SearchContext, share: float) -> int:  # noqa: ARG001
    """Begin anew at a random matrix."""
    actions = at.game.num_actions
    at.policies[0] = one_hot(at.random.integers(actions, size=at.policies.shape[1:-1]), actions)
    return 0


STAY: Final = "stay"

MOVES: Final[Mapping[str, Move]] = {
    STAY: Move(stay, None, (1.0, 1.0), 3.0),
    "random_rolls": Move(random_rolls, (0.01, 0.3), (0.1, 0.7), 4.0),
    "perturbed_opponent": Move(perturbed_opponent, (0.02, 0.3), (0.1, 0.8), 2.0),
    "annealed_to_perturbed": Move(annealed_to_perturbed, None, (0.02, 0.5)),
    "perturbed_beliefs": Move(perturbed_beliefs, (0.02, 0.7), None, 3.0),
    "believed_roll": Move(believed_roll, (0.05, 0.98), (0.3, 0.98), 4.0, by_roll=True),
    "believed_opponent": Move(believed_opponent, (0.03, 0.9), None, 2.0),
    "drawn_rolls": Move(drawn_rolls, (3e-4, 3e-2), None),
    "annealed_again": Move(annealed_again, (3e-4, 1e-2), (3e-3, 5e-2), 0.5),
    "other_opening": Move(other_opening, None, (5e-3, 1e-1), 4.0),
    "crossover": Move(crossover, None, (0.05, 0.5)),
    "relinked": Move(relinked, None, (1e-3, 5e-3)),
    "restarted": Move(restarted, None, (1.0, 1.0), 40.0),
}
"""All moves, by their names."""

USUAL: Final = tuple(name for name in MOVES if name != "restarted")
"""Moves of Hog: at its size a random matrix is no place to begin anew, but in trees it is."""

NEAR: Final = tuple(name for name, move in MOVES.items() if move.near)  # moves that refine
FAR: Final = tuple(name for name, move in MOVES.items() if move.far)  # moves that lead far


def _stranger(at: SearchContext) -> Floats:
    """Policy (G, G, K) to blend with: a random matrix, a random policy or one constant roll."""
    shape = at.policies.shape[1:]
    kind = at.random.integers(3)
    if kind == 0:
        return one_hot(at.random.integers(shape[-1], size=shape[:-1]), shape[-1])
    if kind == 1:
        return at.random.dirichlet(np.ones(shape[-1]), shape[:-1])
    return np.broadcast_to(one_hot(at.random.integers(shape[-1]), shape[-1]), shape)


def _believing(at: SearchContext, share: float | Floats, played: Floats) -> int:
    """Sweep once, reach being that of the responder blended with a policy (G, G, K)."""
    believed = at.policies.copy()
    believed[0] += share * (played - believed[0])
    at.work.backward(at.work.forward(believed, at.weights), at.policies, Role.ASCEND)
    return 1


def _blended(at: SearchContext, share: float) -> Floats:
    """Opponents (n, G, G, K) blended with a strategy by a share, or by half in some cells."""
    met = at.policies[1:]
    change = _stranger(at) - met
    if at.random.random() < IN_CELLS:
        cells = at.random.random(met.shape[1:-1]) < log_uniform(at.random, CELLS)
        return met + 0.5 * cells[..., None] * change
    return met + share * change


def _mate(at: SearchContext) -> Matrix:
    return at.mates[int(at.random.integers(len(at.mates)))]


class Bandit:
    """Probability matching: a move is chosen as often as it has paid lately, by the sweep.

    What is known fades with every choice, and a part of all choices is dealt by weight, so that a
    move whose time comes late is noticed (Thierens 2005, "An adaptive pursuit strategy for
    allocating operator probabilities"). Seconds do not count, so all machines choose alike.
    """

    def __init__(self, moves: Sequence[str], weights: ArrayLike | None = None) -> None:
        self.moves = tuple(moves)
        known = np.ones(len(moves)) if weights is None else np.array(weights, np.float64)
        self._default = known / known.sum()
        self._gains = np.zeros(len(moves))
        self._sweeps = np.zeros(len(moves))

    def chances(self) -> Floats:
        """Probabilities of the moves; one never chosen counts as the best."""
        known = self._sweeps > 0.0
        pay = np.divide(self._gains, self._sweeps, out=np.zeros(len(known)), where=known)
        if not pay.any():
            return self._default
        pay[~known] = pay.max()
        return FLOOR * self._default + (1.0 - FLOOR) * pay / pay.sum()

    def draw(self, random: np.random.Generator) -> str:
        """Choose a move."""
        return self.moves[int(random.choice(len(self.moves), p=self.chances()))]

    def report(self, move: str, gain: float, sweeps: int) -> None:
        """Learn from the gain of a choice, in win rate, and its sweeps."""
        at = self.moves.index(move)
        self._gains *= MEMORY
        self._sweeps *= MEMORY
        self._gains[at] += gain
        self._sweeps[at] += sweeps


def bandits(num_actions: int, moves: Collection[str] = USUAL) -> dict[str, Bandit]:
    """Bandits of near moves, of far moves and of the rolls of moves by one roll."""
    near = [name for name in NEAR if name in moves]
    far = [name for name in FAR if name in moves or name == STAY]
    made = {
        kind: Bandit(names, [MOVES[name].weight for name in names])
        for kind, names in (("near", near), ("far", far))
    }
    # No dice give certain points, so they come as often as all others together.
    others = num_actions - 1
    made["roll"] = Bandit([*map(str, range(num_actions))], [max(others, 1)] + [1] * others)
    return made
