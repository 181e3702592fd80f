"""Games in which a turn can leave the total score as it was, against plain linear algebra.

The slow twin lists every hidden state of a game, plays every roll from it by the rules alone, and
solves the Markov chain of two strategies as one system of linear equations.
"""

from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.hidden import hidden_action_values, reach, values
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.interpreter import Interpreter
from hogeq.model.workspace import TIE, Role
from hogeq.rules import Rules, rules_from
from hogeq.rules.memory import Memory, next_memory, record
from hogeq.rules.parts import ZERO_DICE
from hogeq.rules.points import points_distribution, zero_points
from hogeq.rules.turn import bonus, dice_sides, given, land, trots
from hogeq.search.ascent import ascend
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.arrays import one_hot

Floats = NDArray[np.float64]

FA15 = rules_from({"edition": "fa15", "piggy_back": False})
SMALL = {
    "fall 2015": rules_from(
        {"edition": "fa15", "piggy_back": False, "goal": 15, "max_dice": 3, "name": "small"}
    ),
    "one cell": Rules(goal=1, max_dice=2, pig_out=0),
    "many dice": Rules(goal=6, max_dice=12, sides=3, pig_out=0),
    "double swap": Rules(goal=13, max_dice=3, pig_out=0, swap="double", hog_wild=True),
    "extra turns": Rules(
        goal=14, max_dice=2, pig_out=0, zero_dice="one_plus_max_digit", more_boar="digit_range"
    ),
    "extra dice": Rules(
        goal=12, max_dice=2, pig_out=0, more_boar="both_digits_smaller", extra_turn_sides=4
    ),
    "no way back": Rules(goal=11, max_dice=2, pig_out=0, square_swine=True, swap="double"),
    "time trot": Rules(
        goal=7, max_dice=3, pig_out=0, time_trot=True, time_trot_period=3, extra_turn_sides=3
    ),
    "points": Rules(
        goal=5,
        max_dice=2,
        pig_out=0,
        feral_hogs="points",
        swap="double",
        zero_dice="digit_gap_plus_four",
    ),
    "dice": Rules(goal=7, max_dice=3, pig_out=0, feral_hogs="dice", zero_dice="one_plus_max_digit"),
    "everything": Rules(
        goal=5,
        max_dice=1,
        sides=3,
        pig_out=0,
        feral_hogs="dice",
        time_trot=True,
        time_trot_period=2,
        more_boar="digit_range",
        swap="reversed_digits",
        zero_dice="twice_tens_minus_ones",
    ),
}
MEMORYLESS = [name for name in SMALL if not compile_game(SMALL[name]).has_memory]


class Twin:
    """A game's hidden states, numbered ``(own * G + opponent) * H + memory``, and its rolls.

    For every roll: the probability that its mover wins at once (S,), that the mover moves again and
    that the other moves next, from state to state (S, S).
    """

    def __init__(self, game: HogEngine) -> None:
        self.game = game
        rules, goal, count = game.rules, game.goal, game.memory_size
        self.size = goal * goal * count
        place = {memory: index for index, memory in enumerate(game.memories)}
        self.start = place[Memory()]
        landing = cache(lambda score, opponent: land(rules, score, opponent))
        dice = cache(
            lambda roll, sides: [
                (points, float(chance))
                for points, chance in points_distribution(rules, roll, sides).items()
            ]
        )
        self.win = np.zeros((game.num_actions, self.size))
        moves: dict[tuple[int, bool], list[tuple[int, int, float]]] = {
            key: [] for key in product(range(game.num_actions), (False, True))
        }
        for own, opponent, memory in product(range(goal), range(goal), game.memories):
            state = (own * goal + opponent) * count + place[memory]
            for roll in range(game.num_actions):
                ways = [(zero_points(rules, own, opponent), 1.0)]
                if roll:
                    ways = dice(roll, dice_sides(rules, own, opponent, memory))
                extra, trot = bonus(rules, memory, roll), trots(rules, memory, roll)
                for points, chance in ways:
                    gift = given(rules, roll, points)
                    after = landing(own + points + extra, opponent + gift)
                    if after.winner is not None:
                        self.win[roll, state] += chance * (after.winner == 0)
                        continue
                    again = after.again or trot
                    kept = next_memory(rules, memory, record(rules, roll, points), again)
                    pair = (after.score, after.opponent)
                    cell = pair[0] * goal + pair[1] if again else pair[1] * goal + pair[0]
                    moves[roll, again].append((state, cell * count + place[kept], chance))
        self.again = [self._matrix(moves[roll, True]) for roll in range(game.num_actions)]
        self.other = [self._matrix(moves[roll, False]) for roll in range(game.num_actions)]

    def _matrix(self, moves: list[tuple[int, int, float]]) -> csr_array:
        source, target, chance = np.array(moves).reshape(-1, 3).T
        index = (source.astype(int), target.astype(int))
        return coo_array((chance, index), shape=(self.size, self.size)).tocsr()

    def rows(self, policy: Floats) -> Floats:
        """Probability of every roll in every state, (K, S)."""
        flat = np.repeat(policy.reshape(-1, self.game.num_actions), self.game.memory_size, axis=0)
        return np.asarray(flat.T, np.float64)

    def chain(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """List moves between all states with a player to move, a's first, and wins of a at once.

        The rolls of each player are given by state, (K, S).
        """
        n = self.size
        moves, wins = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        for player, rows in enumerate((a, b)):
            mine, yours = (
                slice(player * n, player * n + n),
                slice(n - player * n, 2 * n - player * n),
            )
            for roll, weight in enumerate(rows):
                again, other = self.again[roll].toarray(), self.other[roll].toarray()
                moves[mine, mine] += weight[:, None] * again
                moves[mine, yours] += weight[:, None] * other
                ends = 1.0 - again.sum(axis=1) - other.sum(axis=1)
                won = self.win[roll] if player == 0 else ends - self.win[roll]
                wins[mine] += weight * won
        return moves, wins

    def solve(self, a: Floats, b: Floats) -> Floats:
        """Win probability of a in all states with a player to move, (2 * S,)."""
        moves, wins = self.chain(a, b)
        return np.asarray(np.linalg.solve(np.eye(len(wins)) - moves, wins), np.float64)

    def visits(self, a: Floats, b: Floats) -> Floats:
        """Count the expected visits to all states with a player to move, (2 * S,)."""
        moves, wins = self.chain(a, b)
        start = np.zeros_like(wins)
        start[[self.start, self.size + self.start]] = 0.5
        return np.asarray(np.linalg.solve((np.eye(len(wins)) - moves).T, start), np.float64)

    def roll_values(self, won: Floats) -> Floats:
        """Win probability of a by its roll, (K, S), from those of all states."""
        mine, yours = won[: self.size], won[self.size :]
        pairs = zip(self.again, self.other, strict=True)
        after = np.array([again @ mine + other @ yours for again, other in pairs])
        return np.asarray(self.win + after, np.float64)

    def win_rate(self, won: Floats) -> float:
        return float(won[self.start] + won[self.size + self.start]) / 2.0

    def best_response(self, b: Floats) -> Floats:
        """Win probability of the best player that remembers, by policy iteration, (2 * S,)."""
        rolls = np.zeros(self.size, int)
        while True:
            won = self.solve(np.eye(self.game.num_actions)[:, rolls], b)
            found = self.roll_values(won)
            better = found.max(axis=0) > found[rolls, np.arange(self.size)] + 1e-13
            if not better.any():
                return won
            rolls[better] = found.argmax(axis=0)[better]

    def optimal(self) -> Floats:
        """Win probability of the mover under optimal play, by value iteration, (S,)."""
        value = np.full(self.size, 0.5)
        while True:
            following = self.roll_values(np.concatenate([value, 1.0 - value])).max(axis=0)
            if np.abs(following - value).max() < 1e-15:
                return np.asarray(following, np.float64)
            value = following


@cache
def twin_of(name: str) -> Twin:
    return Twin(compile_game(SMALL[name]))


def random_policy(game: HogEngine, seed: int) -> Floats:
    return np.random.default_rng(seed).dirichlet(np.ones(game.num_actions), game.shape[:2])


def random_matrix(game: HogEngine, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(game.num_actions, size=game.shape[:2])


def random_one_hot(game: HogEngine, seed: int) -> Floats:
    return one_hot(random_matrix(game, seed), game.num_actions)


Strategies = Callable[[HogEngine, int], Floats]
PLAYS = pytest.mark.parametrize("play", [random_policy, random_one_hot])
GAMES = pytest.mark.parametrize("name", SMALL)


# --- what the arrays say --------------------------------------------------------------------------


@GAMES
def test_components_are_the_cells_that_can_reach_each_other_on_a_diagonal(name: str) -> None:
    twin = twin_of(name)
    game = twin.game
    assert game.recurrence is not None
    found = game.recurrence.loops
    goal, count = game.goal, game.memory_size
    cells = np.arange(goal * goal)
    total = cells // goal + cells % goal
    joined = np.zeros((goal * goal, goal * goal), bool)
    for moves in (*twin.again, *twin.other):
        source, target = (axis // count for axis in moves.tocoo().coords)
        stays = total[source] == total[target]
        joined[source[stays], target[stays]] = True
    reached = np.linalg.matrix_power(np.eye(goal * goal) + joined, 4) > 0  # pairs are the longest
    order = found.cells
    assert sorted(order) == list(cells)
    component = np.zeros(goal * goal, int)
    component[order] = np.repeat(np.arange(len(found.start) - 1), np.diff(found.start))
    assert ((component[:, None] == component) == (reached & reached.T)).all()
    assert (component[:, None] >= component)[
        joined
    ].all()  # solved backward, what a cell needs comes first
    assert (np.diff(total[order]) <= 0).all()


# --- exact evaluation -----------------------------------------------------------------------------


@GAMES
@PLAYS
def test_values_and_reach_solve_the_linear_equations(name: str, play: Strategies) -> None:
    twin = twin_of(name)
    game = twin.game
    a, b = play(game, 1), play(game, 2)
    rows = twin.rows(a), twin.rows(b)
    won, visits = twin.solve(*rows), twin.visits(*rows)
    shape = (game.goal, game.goal, game.memory_size)
    assert values(game, a, b).ravel() == pytest.approx(won[: twin.size], abs=1e-12)
    found = twin.roll_values(won).T.reshape(*shape, game.num_actions)
    assert hidden_action_values(game, a, b).ravel() == pytest.approx(found.ravel(), abs=1e-12)
    here = visits[: twin.size]
    assert reach(game, a, b).ravel() == pytest.approx(here, rel=1e-12, abs=1e-13)
    rate = win_rate(game, a, b)
    assert rate.win_rate == pytest.approx(twin.win_rate(won), abs=1e-13)
    assert rate.first == pytest.approx(won[twin.start], abs=1e-13)
    assert rate.win_rate + win_rate(game, b, a).win_rate == pytest.approx(1.0, abs=1e-13)
    measured = counterfactual_values(game.workspace(2), np.stack([a, b]))
    weighed = (found * here.reshape(shape)[..., None]).sum(axis=2)
    assert measured.values == pytest.approx(weighed, rel=1e-12, abs=1e-13)
    assert measured.infoset_reach == pytest.approx(
        here.reshape(shape).sum(axis=2), rel=1e-12, abs=1e-13
    )


@GAMES
@PLAYS
def test_self_play_is_play_against_the_same_strategy(name: str, play: Strategies) -> None:
    twin = twin_of(name)
    game = twin.game
    a = play(game, 3)
    won = twin.solve(twin.rows(a), twin.rows(a))
    assert values(game, a).ravel() == pytest.approx(won[: twin.size], abs=1e-12)
    assert win_rate(game, a, a, endless_is_draw=True).first == pytest.approx(
        won[twin.start], abs=1e-13
    )
    work = game.workspace(1)
    work.forward(a[None])
    visits = twin.visits(twin.rows(a), twin.rows(a))
    both = visits[: twin.size] + visits[twin.size :]
    found = work.hidden_reach().ravel()
    assert found == pytest.approx(both, rel=1e-12, abs=1e-13)
    assert isinstance(work._passes, Interpreter)
    assert not work._passes._masses.any()  # left as they were: clean
    assert not work._passes._flows.any()


def test_a_game_that_hardly_ever_moves_loses_no_digits() -> None:
    # Fifty coins score nothing unless all show 2, once in 2**50 turns, and then they win.
    game = compile_game(Rules(goal=2, max_dice=50, sides=2, pig_out=0))
    patient = np.full((2, 2), 50)
    rate = win_rate(game, patient, patient)
    assert rate.first == pytest.approx(1.0 / (2.0 - 2.0**-50), abs=1e-15)
    hasty = np.full((2, 2), 49)  # twice as likely to win on each turn
    first = 2.0 / (3.0 - 2.0**-49)
    assert win_rate(game, hasty, patient).first == pytest.approx(first, rel=1e-12)
    turns = reach(game, hasty, patient)[0, 0, 0]
    assert turns * (2.0**-49 + 2.0**-50 - 2.0**-99) == pytest.approx(1.0 - 2.0**-51, rel=1e-12)


# --- optimal play ---------------------------------------------------------------------------------


@GAMES
def test_optimal_play_is_the_limit_of_value_iteration(name: str) -> None:
    twin = twin_of(name)
    game = twin.game
    work = game.workspace(1)
    choice = np.zeros((game.goal, game.goal, game.memory_size), np.int8)
    value, _, _ = work.backward(np.zeros((1, *game.shape)), Role.FULL_MEMORY, choice=choice)
    optimal = twin.optimal()
    assert value == pytest.approx(optimal[twin.start], abs=1e-12)
    found = np.concatenate(
        [work.hidden_values(own, opponent) for own, opponent in product(range(game.goal), repeat=2)]
    )
    assert found.max(axis=1) == pytest.approx(optimal, abs=1e-12)
    enough = found >= found.max(axis=1, keepdims=True) - TIE
    assert (choice.ravel() == enough.argmax(axis=1)).all()


@GAMES
def test_full_memory_wins_what_policy_iteration_finds(name: str) -> None:
    twin = twin_of(name)
    policy = random_policy(twin.game, 7)
    best = twin.win_rate(twin.best_response(twin.rows(policy)))
    assert full_memory_bound(twin.game, policy) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("name", MEMORYLESS)
def test_without_memory_the_attack_is_a_best_response(name: str) -> None:
    twin = twin_of(name)
    game = twin.game
    policy = random_policy(game, 8)
    found = attack(game, policy, SearchBudget(starts=2, anneal_steps=5))
    best = twin.win_rate(twin.best_response(twin.rows(policy)))
    assert found.win_rate == pytest.approx(best, abs=1e-12)
    assert win_rate(game, found.matrix, policy).win_rate == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("feral", ["none", "points"])
def test_the_attack_finds_the_best_of_all_matrices(feral: str) -> None:
    game = compile_game(
        Rules(
            goal=3, max_dice=2, sides=3, pig_out=0, feral_hogs=feral, zero_dice="one_plus_max_digit"
        )
    )
    policy = random_policy(game, 9)
    work = game.workspace(2)
    best = max(
        work.win_rate(
            np.stack([one_hot(np.reshape(rolls, (3, 3)), game.num_actions), policy])
        ).win_rate
        for rolls in product(range(3), repeat=9)
    )
    found = attack(game, policy)
    assert found.win_rate == pytest.approx(best, abs=1e-12)
    assert found.win_rate <= full_memory_bound(game, policy) + 1e-12


@pytest.mark.parametrize("name", ["fall 2015", "extra dice", "time trot", "points", "everything"])
def test_no_sweep_of_the_ascent_loses(name: str) -> None:
    game = compile_game(SMALL[name])
    work = game.workspace(2)
    for seed in range(20):
        policies = np.stack([random_one_hot(game, seed), random_policy(game, 99 - seed)])
        rate = work.win_rate(policies).win_rate
        for _ in range(100):
            work.forward(policies)
            first, other, changes = work.backward(policies, Role.ASCEND)
            again = work.win_rate(policies).win_rate
            assert (first + 1.0 - other) / 2.0 == pytest.approx(again, abs=1e-14)
            assert again > rate or changes == 0
            if changes == 0:
                break
            rate = again
        assert changes == 0


def test_softening_follows_the_softmax_of_exact_values() -> None:
    game = compile_game(Rules(goal=1, max_dice=2, pig_out=0))
    policies = np.stack([random_policy(game, 10), random_policy(game, 11)])
    old = policies[0, 0, 0].copy()
    found = hidden_action_values(game, policies[0], policies[1])[0, 0]
    work = game.workspace(2)
    work.forward(policies)
    first, other, _ = work.backward(policies, Role.SOFTMAX, temperature=0.1, damping=0.3)
    soft = np.exp(found / 0.1) / np.exp(found / 0.1).sum()
    assert policies[0, 0, 0] == pytest.approx(old + 0.3 * (soft - old), abs=1e-13)
    rate = win_rate(game, policies[0], policies[1]).win_rate
    assert (first + 1.0 - other) / 2.0 == pytest.approx(rate, abs=1e-14)


def test_a_roll_that_stays_for_certain_is_no_harm_where_nothing_leads_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ZERO_DICE, "nothing_on_four", lambda _, opponent: int(opponent != 4))
    game = compile_game(Rules(goal=8, max_dice=1, zero_dice="nothing_on_four", square_swine=True))
    assert game.recurrence is not None
    assert len(game.recurrence.loops.member) == 0
    twin = Twin(game)
    a, b = random_policy(game, 15), random_policy(game, 16)
    won = twin.solve(twin.rows(a), twin.rows(b))
    assert values(game, a, b).ravel() == pytest.approx(won[: twin.size], abs=1e-13)


# --- fall 2015 without Piggy Back, whole ----------------------------------------------------------


def test_fall_2015_without_piggy_back_satisfies_its_own_equations() -> None:
    game = compile_game(FA15)
    whole = Twin(game)
    work = game.workspace(1)
    choice = np.zeros((*game.shape[:2], 1), np.int8)
    value, _, _ = work.backward(np.zeros((1, *game.shape)), Role.FULL_MEMORY, choice=choice)
    found = [work.hidden_values(*cell)[0].max() for cell in product(range(100), repeat=2)]
    optimal = np.array(found)
    assert value == pytest.approx(optimal[0], abs=1e-14)
    equations = whole.roll_values(np.concatenate([optimal, 1.0 - optimal]))
    assert np.abs(equations.max(axis=0) - optimal).max() < 1e-12
    # Without memory the tablebase's matrix is a solution: nothing wins against it.
    matrix = choice[:, :, 0]
    assert win_rate(game, matrix, matrix, endless_is_draw=True).first == pytest.approx(
        value, abs=1e-12
    )
    assert full_memory_bound(game, matrix) == pytest.approx(0.5, abs=1e-12)
    work = game.workspace(2)
    policies = np.stack([random_policy(game, 12), one_hot(matrix, game.num_actions)])
    assert ascend(work, policies)[0] == pytest.approx(0.5, abs=1e-12)
