"""Games with more actions than a byte counts: solvers, purifiers, attacks and what is written."""

import tracemalloc
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
import pytest

import hogeq
from hogeq.figures.text import infosets
from hogeq.purification.base import PURIFIERS
from hogeq.solvers import SOLVERS
from hogeq.strategies.arrays import likeliest, one_hot
from hogeq.support.aliases import matrix_type
from hogeq.support.messages import lines_of
from hogeq.trees import rows
from hogeq.trees.absent import Decision
from hogeq.trees.pasts import pose_problems

ACTIONS: Final = 300  # numbers from 256 on come back, in a byte, to actions that are legal
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "cfr_br": {"responders": 2, "newcomers": 1},
    "bundle": {"trails": 2, "kicks": 2, "life": 4},
    "mixture_bundle": {"parts": 2, "trails": 2, "kicks": 2, "life": 4},
}


def hide_and_seek(path: Path, actions: int) -> Path:
    """Write a game: of the hider's many places the last two alone are any good."""
    names = " ".join(f'"{one}"' for one in range(actions))
    lines = ['EFG 2 R "wide" { "hider" "seeker" } ""', f'p "" 1 1 "" {{ {names} }} 0']
    for place in range(actions):
        lines.append('p "" 2 1 "" { "left" "right" } 0')
        for looks in range(2):
            paid = 10 * (place == actions - 1 - looks)
            lines.append(f't "" {2 * place + looks + 1} "" {{ {paid} {-paid} }}')
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return hogeq.Game(hide_and_seek(tmp_path_factory.mktemp("wide") / "wide.efg", ACTIONS))


@pytest.mark.parametrize(
    ("actions", "kind"), [(11, np.int8), (128, np.int8), (129, np.int32), (200_000, np.int32)]
)
def test_matrices_hold_every_action(actions: int, kind: Any) -> None:
    last = one_hot([actions - 1], actions)
    assert matrix_type(actions) is kind
    assert likeliest(last).dtype == kind
    assert likeliest(last).tolist() == [actions - 1]


@pytest.mark.parametrize("name", sorted(SOLVERS.keys()))
def test_solvers_find_the_last_actions(wide: Any, name: str) -> None:
    """Half of the two last actions is the equilibrium: another action wins nothing."""
    solved = wide.solve(name, 40, **OPTIONS.get(name, {}))
    hider = np.atleast_2d(solved.strategy.mean)[0]
    assert hider[-2:].sum() > 0.9
    assert wide.exploitability(solved.strategy).upper < 2.5  # of 2.5 if one of the two is played


@pytest.mark.parametrize("method", sorted(PURIFIERS))
def test_purifiers_keep_the_last_action(wide: Any, method: str) -> None:
    policy = wide.strategy("uniform").policy.copy()
    policy[0] = one_hot(ACTIONS - 1, ACTIONS)
    matrix = wide.purify(policy, method)
    assert matrix.array[0] == ACTIONS - 1
    assert wide.value(matrix, matrix).first in {0.0, 10.0}


def test_a_response_wins_what_the_attack_says(wide: Any, tmp_path: Path) -> None:
    found = wide.attack("uniform")
    assert found.is_proved
    assert found.seats[0] == pytest.approx(5.0)
    path = tmp_path / "response.npz"
    found.strategy.write(path)
    again = wide.strategy(path)
    assert wide.value(again, "uniform").first == pytest.approx(found.seats[0], abs=1e-12)
    mixture = hogeq.Mixture([0.5, 0.5], [again, again])
    assert wide.value(mixture, "uniform").first == pytest.approx(found.seats[0], abs=1e-12)


@pytest.fixture(scope="module")
def wider(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return hogeq.Game(hide_and_seek(tmp_path_factory.mktemp("wider") / "wider.efg", 40_000))


@pytest.mark.slow
def test_optimal_play_takes_no_table_of_positions_by_actions(wider: Any) -> None:
    assert wider.graph.positions == 40_001
    assert wider.tablebase().value == 0.0  # the seeker sees where the hider is


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["efg", "npz"])
def test_actions_are_named_without_counting_their_siblings(
    wider: Any, tmp_path: Path, suffix: str
) -> None:
    game = wider
    if suffix == "npz":
        wider.write(tmp_path / "wider.npz")
        game = hogeq.Game(tmp_path / "wider.npz")
    uniform = game.strategy("uniform")
    assert list(uniform[uniform.rows.keys[0]])[-1] == "39999"
    assert game.diff(uniform, uniform).changes == ()


@pytest.mark.slow
def test_teams_may_have_more_players_than_a_byte_counts(tmp_path: Path) -> None:
    """One after the other goes on or out; who is last of all is paid against the others."""
    players = 200
    names = " ".join(f'"{one}"' for one in range(players))

    def end(number: int, paid: int) -> str:
        return f't "" {number} "" {{ {" ".join([str(paid), *["0"] * (players - 2), str(-paid)])} }}'

    lines = [f'EFG 2 R "many" {{ {names} }} ""']
    lines += [f'p "" {one + 1} 1 "" {{ "on" "out" }} 0' for one in range(players)]
    lines += [end(1, players), *(end(one + 2, one) for one in reversed(range(players)))]
    path = tmp_path / "many.efg"
    path.write_text("\n".join(lines))
    teams = [list(range(players - 1)), [players - 1]]
    game: Any = hogeq.Game(path, teams=teams)
    assert [one.player for one in game.audit()[0].members] == teams[0]
    assert game.strategy("uniform")[0, "player 150: (1)"]["on"] == 0.5
    written = tmp_path / "again.efg"
    game.write(written)
    again: Any = hogeq.Game(written, teams=teams)
    # The last player chooses between 199, by going out, and 200.
    assert again.equilibrium(5.0).lower == pytest.approx(players - 1)


def test_an_audit_takes_no_table_by_sets_and_actions(tmp_path: Path) -> None:
    """The second player sees one of many choices: as many sets of two as one has actions."""
    choices = 1_000
    names = " ".join(f'"{one}"' for one in range(choices))
    lines = ['EFG 2 R "seen" { "one" "two" } ""', f'p "" 1 1 "" {{ {names} }} 0']
    for choice in range(choices):
        lines.append(f'p "" 2 {choice + 1} "" {{ "left" "right" }} 0')
        lines += [f't "" {2 * choice + side + 1} "" {{ {side} {-side} }}' for side in range(2)]
    path = tmp_path / "seen.efg"
    path.write_text("\n".join(lines))
    game: Any = hogeq.Game(path)
    assert [one.findings["perfect recall"].holds for one in game.audit()] == [True, True]
    tree = game.tree
    assert tree.num_rows * tree.num_actions > 1_000_000
    assert len(tree.action_numbers) == 3 * choices
    held = [value for value in vars(tree).values() if isinstance(value, np.ndarray)]
    assert max(array.size for array in held) <= 2 * tree.num_nodes


def test_no_line_of_a_text_lists_all_actions(wide: Any) -> None:
    policy = wide.strategy("uniform").policy.copy()
    policy[0] = one_hot(ACTIONS - 1, ACTIONS)
    last = wide.strategy(policy)
    found = wide.diff("uniform", last)
    lines = lines_of(found.text("uniform", "last", wide.name, ["uniform"], wide.units))
    assert sum("and 200 more  299 100.00 %" in line for line in lines) == 1
    _, text = infosets(last, wide.rows)
    shown = [line for line in lines_of(text) if "299 100.00 %, and 200 more" in line]
    assert len(shown) == 1
    assert len(shown[0]) < 2000


@pytest.mark.slow
def test_full_information_takes_a_time_linear_in_a_wide_game(wide: Any, tmp_path: Path) -> None:
    """Each of 60,001 positions looked at as many actions, though it has two: 4 billion looks."""
    game = hogeq.Game(hide_and_seek(tmp_path / "wide.efg", 60_000))
    wide.tablebase()  # compiles
    begun = process_time()
    assert game.tablebase().value == 0.0  # the seeker sees where the hider is
    assert process_time() - begun < 1.5


@pytest.mark.parametrize("method", ["equilibrium", "in_policies", "exploitability", "audit"])
def test_a_wide_set_beside_many_has_no_table(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of all sets by all actions is refused before it is asked for, by all who need one."""
    narrow, wide_set = 300, 5_000
    chain = "".join(f'p "" 1 {row} "" {{ "l" "r" }} 0\nt "" 0\n' for row in range(1, narrow + 1))
    ends = 't "" 0\n' * wide_set
    last = 'p "" 2 1 "" { ' + '"" ' * wide_set + "} 0\n" + ends
    path = tmp_path / "wide.efg"
    path.write_text('EFG 2 R "wide" { "a" "b" } ""\n' + chain + last)
    game = hogeq.Game(path)
    monkeypatch.setattr(rows, "MOST_CELLS", narrow * wide_set)
    arguments = ["uniform"] if method == "exploitability" else []
    tracemalloc.start()
    try:
        if method == "audit":
            assert len(game.audit()) == 2
        else:
            with pytest.raises(
                hogeq.HogeqError, match=r"one has 5,000 actions; allowed: a product"
            ):
                getattr(game, method)(*arguments)
        assert tracemalloc.get_traced_memory()[1] < 8 * narrow * wide_set
    finally:
        tracemalloc.stop()


def test_a_certificate_takes_no_table_of_pasts_by_actions(tmp_path: Path) -> None:
    """Who forgets which of many actions was taken has as many pasts; they are not laid out."""
    actions = 4_000
    names = " ".join(f'"{one}"' for one in range(actions))
    lines = ['EFG 2 R "forgets" { "one" "two" } ""', f'p "" 1 1 "" {{ {names} }} 0']
    for first in range(actions):
        lines.append('p "" 1 2 "" { "left" "right" } 0')
        lines += [f't "" {2 * first + side + 1} "" {{ {side} {-side} }}' for side in range(2)]
    path = tmp_path / "forgets.efg"
    path.write_text("\n".join(lines))
    game: Any = hogeq.Game(path)
    uniform = game.strategy("uniform")
    tracemalloc.start()
    with pytest.raises(hogeq.HogeqError, match="has 4,000 actions; allowed: 64"):
        game.certify(uniform, seconds=1.0)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 16_000_000  # pasts by actions are 16 million numbers


class TwoDoors(hogeq.GameRules):
    """A player chooses a door twice, and does not know which time it is; some pairs pay."""

    players = 1
    doors = 300

    def initial(self) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return 0 if len(state) < 2 else hogeq.END

    def actions(self, state: Any) -> list[int]:  # noqa: ARG002 - the same ones always
        return list(range(self.doors))

    def next(self, state: Any, action: Any) -> Any:
        return (*state, action)

    def knows(self, state: Any, player: int) -> str:  # noqa: ARG002
        return "a corridor"

    def payoffs(self, state: Any) -> tuple[int]:
        first, second = state
        return (first * second % self.doors,)


def test_a_line_search_takes_no_table_of_pasts_by_lines() -> None:
    """Of one set that is met again, each action has a line, and each past payoffs on all lines."""
    game: Any = hogeq.Game(TwoDoors())
    decision = Decision.of(game.tree, game.tree.uniform())
    tracemalloc.start()
    decision._line_search(game.tree.uniform(), 0)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 400_000_000  # 90,000 sequences on 300 lines of three policies take more


def test_a_certificate_takes_no_table_of_components_by_nodes() -> None:
    rules = TwoDoors()
    rules.doors = 60
    game: Any = hogeq.Game(rules)
    components = 1_000
    policies = np.random.default_rng(0).dirichlet(np.ones(60), (components, 1))
    mixture = game.strategy(hogeq.Mixture([1 / components] * components, [*policies]))
    tracemalloc.start()
    pose_problems(game.tree, mixture.whole())
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 8 * components * game.tree.num_nodes / 4
