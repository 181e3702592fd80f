"""Games in which a turn can leave the total score as it was: components, limits, ascent."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from hogeq import CHANCE, END, Budget, Game, GameRules
from hogeq.evaluation.values import hidden_action_values, reach, values, win_rate
from hogeq.kernels import recurring_reach, recurring_values
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.graph_passes import GraphPasses
from hogeq.model.protocol import Role
from hogeq.rules import Rules
from hogeq.rules.parts import ZERO_DICE
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats
from tests.evaluation.players import RECURRING
from tests.twin import Match, Play, arrays, parts


def random_policy(game: HogEngine, seed: int) -> Floats:
    return np.random.default_rng(seed).dirichlet(np.ones(game.num_actions), game.shape[:2])


def random_one_hot(game: HogEngine, seed: int) -> Floats:
    rolls = np.random.default_rng(seed).integers(game.num_actions, size=game.shape[:2])
    return one_hot(rolls, game.num_actions)


@pytest.mark.parametrize("name", RECURRING)
def test_levels_are_the_cells_that_can_reach_each_other_on_a_diagonal(name: str) -> None:
    game, play = compile_game(RECURRING[name]), Play(RECURRING[name])
    graph, goal = game.graph, game.goal
    joined = np.zeros((goal * goal, goal * goal), bool)
    for state, roll in product(play.states(), play.rolls()):
        for branch in play.staying(state, roll):
            source, target = (one.own * goal + one.opponent for one in (state, branch.state))
            joined[source, target] = True
    reached = np.linalg.matrix_power(np.eye(goal * goal) + joined, 4) > 0  # pairs are the longest
    level = np.zeros(goal * goal, int)
    level[graph.row] = graph.level_of  # of both players alike
    assert (level[graph.row] == graph.level_of).all()
    moves: Any = joined.any(axis=1)
    together = (reached & reached.T) & (moves[:, None] | np.eye(goal * goal, dtype=bool))
    same: Any = level[:, None] == level
    assert same[together].all()
    recurs: Any = graph.recurring[level] == (joined & reached.T).any(axis=1)
    assert recurs.all()
    # Solved backward, what a cell needs comes first.
    assert (level[:, None] <= level)[joined].all()
    assert (np.diff(np.add(*divmod(graph.row, goal))) >= 0).all()


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


@pytest.mark.parametrize("probability", [3e-308, 1e-308, 5e-324])
def test_an_ascent_ends_where_hardly_any_turn_leaves_a_position(probability: float) -> None:
    game = Game({"goal": 3, "max_dice": 1, "sides": 2, "zero_dice": 0, "pig_out": 0})
    never, rarely = np.tile([1.0, 0.0], (3, 3, 1)), np.tile([1.0, probability], (3, 3, 1))
    assert 1.0 <= reach(game.engine, never, rarely).sum() < np.inf
    assert game.attack(rarely, Budget(starts=1, kicks=0)).value >= 0.5


def test_iteration_where_hardly_any_turn_scores_ends_within_rounding() -> None:
    # Nine coins win once in 512 turns; who remembers points, all 0 till then, gains nothing by it.
    game = compile_game(Rules(goal=2, max_dice=9, sides=2, pig_out=0, feral_hogs="points"))
    nine, chance = np.full((2, 2), 9), 2.0**-9
    assert win_rate(game, nine, nine).first == pytest.approx(1.0 / (2.0 - chance), abs=1e-13)
    turns = reach(game, nine, nine)[0, 0].sum()
    assert turns * (2.0 - chance) * chance == pytest.approx(1.0 - chance / 2.0, rel=1e-12)


@pytest.mark.parametrize("feral", ["none", "points"])
def test_the_attack_finds_the_best_of_all_matrices(feral: str) -> None:
    game = compile_game(
        Rules(
            goal=3, max_dice=1, sides=3, pig_out=0, feral_hogs=feral, zero_dice="one_plus_max_digit"
        )
    )
    policy = random_policy(game, 9)
    best = max(
        win_rate(game, np.reshape(rolls, (3, 3)), policy).win_rate
        for rolls in product(range(2), repeat=9)
    )
    found = attack(game, policy)
    assert found.win_rate == pytest.approx(best, abs=1e-12)
    assert found.win_rate <= full_memory_bound(game, policy) + 1e-12


@pytest.mark.parametrize("name", ["primes", "extra dice", "time trot", "points", "everything"])
def test_no_sweep_of_the_ascent_loses(name: str) -> None:
    game = compile_game(RECURRING[name])
    work = game.workspace(2)
    for seed in range(20):
        policies = np.stack([random_one_hot(game, seed), random_policy(game, 99 - seed)])
        rate = work.win_rate(policies).win_rate
        for _ in range(100):
            swept = work.backward(work.forward(policies), policies, Role.ASCEND)
            again = work.win_rate(policies).win_rate
            assert swept.win_rate == pytest.approx(again, abs=1e-14)
            assert again > rate or swept.changes == 0
            if swept.changes == 0:
                break
            rate = again
        assert swept.changes == 0


def test_softening_follows_the_softmax_of_exact_values() -> None:
    game = compile_game(Rules(goal=1, max_dice=2, pig_out=0))
    policies = np.stack([random_policy(game, 10), random_policy(game, 11)])
    old = policies[0, 0, 0].copy()
    found = hidden_action_values(game, policies[0], policies[1])[0, 0]
    work = game.workspace(2)
    reach = work.forward(policies)
    swept = work.backward(reach, policies, Role.SOFTMAX, temperature=0.1, damping=0.3)
    soft = np.exp(found / 0.1) / np.exp(found / 0.1).sum()
    assert policies[0, 0, 0] == pytest.approx(old + 0.3 * (soft - old), abs=1e-13)
    rate = win_rate(game, policies[0], policies[1]).win_rate
    assert swept.win_rate == pytest.approx(rate, abs=1e-14)


def test_a_roll_that_stays_for_certain_is_no_harm_where_nothing_leads_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ZERO_DICE, "nothing_on_four", lambda _, opponent: int(opponent != 4))
    monkeypatch.setitem(parts.ZERO_DICE, "nothing_on_four", ZERO_DICE["nothing_on_four"])
    game = compile_game(Rules(goal=8, max_dice=1, zero_dice="nothing_on_four", square_swine=True))
    assert not game.positions_recur
    assert not game.totals_rise
    a, b = random_policy(game, 15), random_policy(game, 16)
    match = Match(Play(game.rules), a, b)
    expected = arrays(match.play, lambda state: match.value(0, state))
    assert values(game, a, b) == pytest.approx(expected, abs=1e-13)


class Ruin(GameRules):
    """One who is ruined at 0 and rich at `goal`: each bet wins or loses 1, with equal chances."""

    players = 1

    def __init__(self, goal: int) -> None:
        self.goal = goal

    def initial(self) -> int:
        return 2 * (self.goal // 2)

    def to_move(self, state: int) -> int:
        return END if state in {0, 2 * self.goal} else CHANCE if state % 2 else 0

    def actions(self, _: int) -> list[str]:
        return ["bet", "bet the same"]

    def chances(self, _: int) -> list[tuple[int, float]]:
        return [(1, 0.5), (-3, 0.5)]

    def next(self, state: int, move: int | str) -> int:
        return state + move if isinstance(move, int) else state + 1

    def knows(self, state: int, _: int) -> int:
        return state

    def payoffs(self, state: int) -> list[float]:
        return [float(state > 0)]


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.COUNTERFACTUAL, Role.FULL_MEMORY])
def test_a_pass_over_a_large_block_can_be_interrupted(
    role: Role, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 278 positions, which take thousands of rounds to come to rest: several slices of a kernel.
    goal = 140
    graph = Game(Ruin(goal)).graph
    passes = GraphPasses(graph)
    policies = np.full((2, graph.rows, 2), 0.5)
    fortune = np.flatnonzero(graph.player == 0)

    def run() -> list[Floats]:
        played = policies.copy()
        visits = passes.forward(played).copy()
        passes.backward(role, played, np.ones(1))
        return [visits, passes.values[0].copy(), passes.action_values.copy(), played]

    whole = run()
    # From k, rich with probability k / goal; from the middle it is met goal / 2 times (Feller).
    fortunes = np.sort(whole[1][fortune, 0])
    assert fortunes == pytest.approx(np.arange(1, goal) / goal, abs=1e-9)
    assert whole[0].max() == pytest.approx(goal / 2, rel=1e-9)
    for module, name in ((recurring_values, "iterate"), (recurring_reach, "circulate")):
        kernel = getattr(module, name)
        calls: list[int] = []

        def interrupted(*arrays: Any, kernel: Any = kernel, calls: list[int] = calls) -> bool:
            calls.append(1)
            if len(calls) == 2:
                raise KeyboardInterrupt
            return bool(kernel(*arrays))

        with monkeypatch.context() as patch:
            patch.setattr(module, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                run()
        for first, again in zip(whole, run(), strict=True):
            assert (first == again).all()
