"""Moves of a search for a response, and a bandit that chooses among them.

A move changes a matrix that coordinate ascent ended in, near moves a little and far moves a lot; an
ascent follows. Most change what the responder sees for a sweep or a few: whom it meets, how likely
it believes each memory to be, how sharply it chooses. ``docs/attack.md`` lists them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from math import ceil, log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.model.protocol import Role
from hogeq.search.ascent import (
    TEMPERATURES,
    SearchContext,
    log_uniform,
    to_pure,
    with_random_rolls,
)
from hogeq.strategies.arrays import draw_actions, likeliest, one_hot
from hogeq.support.aliases import Floats, Ints, Matrix

PERTURBED_SWEEPS: Final = 2  # sweeps of ascent against a perturbed opponent
STEPS_PER_E_FOLD: Final = 3.0  # steps of annealing while the temperature falls by a factor of e
COOLING_DAMPING: Final = 0.5
SHORT_COOLING: Final = (3e-3, 1e-3)  # temperatures of annealing against a perturbed opponent ...
SHORT_STEPS: Final = 3  # ... its steps ...
SHORT_DAMPING: Final = 0.6  # ... and its damping

CELLWISE_PROBABILITY: Final = 0.25  # how often an opponent is changed in some cells only
CELLWISE_SHARES: Final = (0.01, 0.5)  # the share of these cells

EARLY_SHARE_OF_GOAL: Final = 0.2  # share of the goal up to which scores are early ones
MOST_OPENING_CELLS: Final = 3  # most early cells that make other rolls

PRIOR_SHARE: Final = 0.3  # share of the choices that are made by weight, whatever the gains
DISCOUNT: Final = 0.98  # factor by which a bandit discounts earlier gains and sweeps at each choice


class Move(NamedTuple):
    """A perturbation of the responder, and the ranges that its strength is drawn from."""

    apply: Callable[[SearchContext, float], int]  # change row 0 by a strength; give the sweeps
    near: tuple[float, float] | None  # strengths as a near move; None: it is none
    far: tuple[float, float] | None  # strengths as a far move; None: it is none
    weight: float = 1.0  # how often it is chosen at first, relative to others
    by_roll: bool = False  # whether it is about one roll, which a bandit of its own chooses


def stay(context: SearchContext, strength: float) -> int:  # noqa: ARG001
    """Change nothing: near moves go on from the best matrix."""
    return 0


def random_rolls(context: SearchContext, share: float) -> int:
    """Put random rolls into a share of the cells of the responder."""
    num_actions = context.game.num_actions
    matrix = likeliest(context.policies[0])
    changed = with_random_rolls(matrix, share, num_actions, context.random)
    context.policies[0] = one_hot(changed, num_actions)
    return 0


def perturbed_opponent(context: SearchContext, share: float) -> int:
    """Ascend for two sweeps against opponents blended with a random strategy, by a share."""
    opponents = context.policies[1:].copy()
    context.policies[1:] = _blended_opponents(context, share)
    _, sweeps = context.ascend(PERTURBED_SWEEPS)
    context.policies[1:] = opponents
    return sweeps


def annealed_to_perturbed(context: SearchContext, share: float) -> int:
    """Take a few softmax steps against opponents blended with a random strategy, by a share."""
    opponents = context.policies[1:].copy()
    context.policies[1:] = _blended_opponents(context, share)
    context.anneal(SHORT_STEPS, SHORT_DAMPING, SHORT_COOLING)
    to_pure(context.policies[0])
    context.policies[1:] = opponents
    return SHORT_STEPS


def perturbed_beliefs(context: SearchContext, share: float) -> int:
    """Sweep once, memories being as likely as if the responder had played a blended policy."""
    return _ascend_with_beliefs_of(context, share, _random_strategy(context))


def believed_roll(context: SearchContext, share: float) -> int:
    """Sweep once, as if the responder had blended its play with one roll in some cells.

    The blend, by `share`, changes only how likely each hidden memory is. The roll is that of the
    context; the cells are all, those in a band of sums of both scores, or a random part.
    """
    # A roll of certain points tells the next turn what is hidden. So cells that use that change
    # first, and then cells that lead there gain by it.
    shape = context.policies.shape[1:-1]
    random = context.random
    kind_of_cells = random.integers(3)
    if kind_of_cells == 0:
        cells = np.ones(shape, bool)
    elif kind_of_cells == 1:
        low, high = np.sort(random.integers(0, sum(shape), 2))
        sums = np.indices(shape).sum(axis=0)
        cells = (low <= sums) & (sums <= high)
    else:
        cells = random.random(shape) < random.random()
    believed_policy = one_hot(context.roll, context.game.num_actions)
    return _ascend_with_beliefs_of(context, share * cells[..., None], believed_policy)


def believed_opponent(context: SearchContext, share: float) -> int:
    """Sweep once, memories being as likely as if the responder had played as an opponent does."""
    opponent = context.random.integers(1, len(context.policies))
    return _ascend_with_beliefs_of(context, share, context.policies[opponent])


def drawn_rolls(context: SearchContext, temperature: float) -> int:
    """Draw every roll anew by the softmax of its values: where rolls are near ties, they change."""
    # One whole step to the softmax.
    context.anneal(steps=1, damping=1.0, cooling=(temperature, temperature))
    rolls = draw_actions(context.policies[0], context.random)
    context.policies[0] = one_hot(rolls, context.game.num_actions)
    return 1


def annealed_again(context: SearchContext, temperature: float) -> int:
    """Anneal once more, from a temperature that leaves most rolls as they are."""
    steps = ceil(STEPS_PER_E_FOLD * log(temperature / TEMPERATURES[1]))
    context.anneal(steps, COOLING_DAMPING, cooling=(temperature, TEMPERATURES[1]))
    to_pure(context.policies[0])
    return steps


def other_opening(context: SearchContext, temperature: float) -> int:
    """Anneal once more, quickly, while the first cell or a few early ones make other rolls.

    These cells hold their other rolls through all steps and at the end.
    """
    random = context.random
    num_actions = context.game.num_actions
    responder = context.policies[0]
    cells = _early_cells(responder.shape[:-1], random)
    rolls = responder[cells].argmax(axis=-1)
    shifts = random.integers(1, num_actions, size=len(rolls))  # never to the same roll
    other_rolls = one_hot((rolls + shifts) % num_actions, num_actions)
    steps = ceil(log(temperature / TEMPERATURES[1]))
    for step_temperature in np.geomspace(temperature, TEMPERATURES[1], steps):
        responder[cells] = other_rolls
        cooling = step_temperature, step_temperature
        context.anneal(steps=1, damping=COOLING_DAMPING, cooling=cooling)
    to_pure(responder)
    responder[cells] = other_rolls
    return steps


def _early_cells(shape: tuple[int, ...], random: np.random.Generator) -> tuple[Ints, ...]:
    """Draw a few cells of early scores, or the first cell as often, as an index for each axis.

    All their scores are below a bound that is drawn first, small ones more often.
    """
    largest_bound = max(1.0, EARLY_SHARE_OF_GOAL * min(shape))
    score_bound = ceil(log_uniform(random, (1.0, largest_bound)) - 0.5)
    number = int(random.integers(1, MOST_OPENING_CELLS + 1))
    cells = random.integers(score_bound, size=(len(shape), number))
    is_first_cell = random.random() >= 0.5
    return tuple(np.zeros_like(cells) if is_first_cell else cells)


def crossover(context: SearchContext, share: float) -> int:
    """Take a part of the table from another start's matrix; without one, random rolls."""
    if not context.partners:
        return random_rolls(context, share)
    cells = _crossed_cells(context.policies.shape[1:-1], share, context.random)
    rolls = _partner(context)[cells]
    context.policies[0][cells] = one_hot(rolls, context.game.num_actions)
    return 0


def _crossed_cells(
    shape: tuple[int, ...], share: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw the cells (G, G) of a table that take the rolls of another matrix.

    They are all cells from a sum of both scores on, or all before it; those in a band of one
    player's scores; or a random part of size `share`.
    """
    scores = np.indices(shape)  # of both players, at every cell
    kind_of_cells = random.integers(3)
    if kind_of_cells == 0:
        largest_sum = sum(shape) - len(shape)
        is_late = scores.sum(axis=0) >= random.integers(1, max(2, largest_sum))
        return is_late if random.random() < 0.5 else ~is_late
    if kind_of_cells == 1:
        low, high = np.sort(random.integers(0, min(shape) + 1, 2))
        player_scores = scores[-1] if random.random() < 0.5 else scores[0]
        return (low <= player_scores) & (player_scores < high)
    return random.random(shape) < share


def relinked(context: SearchContext, temperature: float) -> int:
    """Anneal from a blend of the matrix with another start's; without one, from the matrix."""
    if context.partners:
        partner = one_hot(_partner(context), context.policies.shape[-1])
        share = context.random.uniform(0.3, 0.7)  # of the partner
        context.policies[0] += share * (partner - context.policies[0])
    return annealed_again(context, temperature)


def restarted(context: SearchContext, share: float) -> int:  # noqa: ARG001
    """Begin anew at a random matrix."""
    num_actions = context.game.num_actions
    matrix = context.random.integers(num_actions, size=context.policies.shape[1:-1])
    context.policies[0] = one_hot(matrix, num_actions)
    return 0


STAY: Final = "stay"

MOVES: Final[Mapping[str, Move]] = {
    STAY: Move(stay, near=None, far=(1.0, 1.0), weight=3.0),
    "random_rolls": Move(random_rolls, near=(0.01, 0.3), far=(0.1, 0.7), weight=4.0),
    "perturbed_opponent": Move(perturbed_opponent, near=(0.02, 0.3), far=(0.1, 0.8), weight=2.0),
    "annealed_to_perturbed": Move(annealed_to_perturbed, near=None, far=(0.02, 0.5)),
    "perturbed_beliefs": Move(perturbed_beliefs, near=(0.02, 0.7), far=None, weight=3.0),
    "believed_roll": Move(
        believed_roll, near=(0.05, 0.98), far=(0.3, 0.98), weight=4.0, by_roll=True
    ),
    "believed_opponent": Move(believed_opponent, near=(0.03, 0.9), far=None, weight=2.0),
    "drawn_rolls": Move(drawn_rolls, near=(3e-4, 3e-2), far=None),
    "annealed_again": Move(annealed_again, near=(3e-4, 1e-2), far=(3e-3, 5e-2), weight=0.5),
    "other_opening": Move(other_opening, near=None, far=(5e-3, 1e-1), weight=4.0),
    "crossover": Move(crossover, near=None, far=(0.05, 0.5)),
    "relinked": Move(relinked, near=None, far=(1e-3, 5e-3)),
    "restarted": Move(restarted, near=None, far=(1.0, 1.0), weight=40.0),
}
"""All moves, by their names."""

HOG_MOVES: Final = tuple(name for name in MOVES if name != "restarted")
"""Moves of Hog: at its size a random matrix is no place to begin anew, but in trees it is."""

NEAR_MOVES: Final = tuple(name for name, move in MOVES.items() if move.near)  # moves that refine
FAR_MOVES: Final = tuple(name for name, move in MOVES.items() if move.far)  # moves that lead far


def _random_strategy(context: SearchContext) -> Floats:
    """Policy (G, G, K) to blend with: a random matrix, a random policy or one constant roll."""
    random = context.random
    shape = context.policies.shape[1:]
    num_actions = shape[-1]
    kind_of_strategy = random.integers(3)
    if kind_of_strategy == 0:
        return one_hot(random.integers(num_actions, size=shape[:-1]), num_actions)
    if kind_of_strategy == 1:
        return random.dirichlet(np.ones(num_actions), shape[:-1])
    constant_roll = one_hot(random.integers(num_actions), num_actions)
    return np.broadcast_to(constant_roll, shape)


def _ascend_with_beliefs_of(
    context: SearchContext, share: float | Floats, believed_policy: Floats
) -> int:
    """Ascend for one sweep, with beliefs about the hidden memory of a blended policy (G, G, K).

    Blended is the responder's, row 0 of the policies, with `believed_policy`. Returns 1 sweep.
    """
    believed = context.policies.copy()
    believed[0] += share * (believed_policy - believed[0])
    reach = context.work.forward(believed, context.weights)
    context.work.backward(reach, context.policies, Role.ASCEND)
    return 1


def _blended_opponents(context: SearchContext, share: float) -> Floats:
    """Blend the opponents (n, G, G, K) with one random strategy: by a share, or half in some cells.

    A perturbation: a response to them is then improved against the true ones. Returns the blended
    opponents; those of the context stay.
    """
    opponents = context.policies[1:]
    change = _random_strategy(context) - opponents
    if context.random.random() < CELLWISE_PROBABILITY:
        uniform = context.random.random(opponents.shape[1:-1])
        cells = uniform < log_uniform(context.random, CELLWISE_SHARES)
        return opponents + 0.5 * cells[..., None] * change
    return opponents + share * change


def _partner(context: SearchContext) -> Matrix:
    """Draw one of the matrices (G, G) to cross with."""
    return context.partners[int(context.random.integers(len(context.partners)))]


class Bandit:
    """Probability matching: a move is chosen in proportion to its recent gain for each sweep.

    Earlier gains fade with every choice, and a part of all choices is made by fixed weights, so
    that a move that gains late is noticed (Thierens 2005, "An adaptive pursuit strategy for
    allocating operator probabilities"). Seconds do not count, so all machines choose alike.
    """

    def __init__(self, moves: Sequence[str], weights: ArrayLike | None = None) -> None:
        self.moves = tuple(moves)  # names, n of them
        prior = np.ones(len(moves)) if weights is None else np.array(weights, np.float64)
        self._default = prior / prior.sum()  # (n,), probabilities before anything has paid
        self._gains = np.zeros(len(moves))  # (n,), discounted sum of the win rate gained
        self._sweeps = np.zeros(len(moves))  # (n,), discounted sum of the sweeps spent

    def chances(self) -> Floats:
        """Probabilities of the moves, (n,), by gain per sweep; untried moves count as the best."""
        is_tried = self._sweeps > 0.0
        gain_per_sweep = np.zeros(len(self.moves))
        np.divide(self._gains, self._sweeps, out=gain_per_sweep, where=is_tried)
        if not gain_per_sweep.any():
            return self._default
        gain_per_sweep[~is_tried] = gain_per_sweep.max()
        return (
            PRIOR_SHARE * self._default
            + (1.0 - PRIOR_SHARE) * gain_per_sweep / gain_per_sweep.sum()
        )

    def draw(self, random: np.random.Generator) -> str:
        """Choose a move."""
        return self.moves[int(random.choice(len(self.moves), p=self.chances()))]

    def report(self, move: str, gain: float, sweeps: int) -> None:
        """Learn from the gain of a choice, in win rate, and its sweeps."""
        index = self.moves.index(move)
        self._gains *= DISCOUNT
        self._sweeps *= DISCOUNT
        self._gains[index] += gain
        self._sweeps[index] += sweeps


def bandits(num_actions: int, moves: Collection[str] = HOG_MOVES) -> dict[str, Bandit]:
    """Make the three bandits of a search, by the kind of their choices.

    "near" chooses moves that change a matrix a little, "far" moves that change it a lot, and "roll"
    the roll for moves that make more of one roll. `moves` are the names of all moves allowed.
    """
    near = [name for name in NEAR_MOVES if name in moves]
    far = [name for name in FAR_MOVES if name in moves]
    # To roll no dice gives certain points, so that comes as often as all other rolls together.
    other_rolls = num_actions - 1
    roll_weights = [max(other_rolls, 1)] + [1] * other_rolls
    return {
        "near": Bandit(near, [MOVES[name].weight for name in near]),
        "far": Bandit(far, [MOVES[name].weight for name in far]),
        "roll": Bandit([str(roll) for roll in range(num_actions)], roll_weights),
    }
