"""Files in Gambit's extensive form: each is the game that it says."""

import itertools
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.expected_game_score import policy_value
from open_spiel.python.policy import TabularPolicy

import hogeq
from hogeq.rules import rules_from
from hogeq.support.aliases import Floats
from hogeq.support.messages import printable
from hogeq.trees.columns import solve_by_columns
from hogeq.trees.flat import TERMINAL, FlatTree, payoff
from hogeq.trees.forgetting import forget_by_name
from hogeq.trees.gambit import from_efg
from hogeq.trees.openspiel import from_openspiel
from hogeq.trees.rules import from_rules
from hogeq.trees.tree import HogRules, flat_efg, hog_efg
from tests.processes import printed
from tests.slow import fast_and_slow, mostly_slow
from tests.trees import random_games
from tests.trees.efg_files import Maker, Place, Strategy
from tests.trees.efg_texts import GOOD, HEAD, read, worth, written


def rows(tree: FlatTree, strategy: Strategy) -> Floats:
    """Write a strategy by player and number as the tree has it."""
    found = np.zeros((tree.num_rows, tree.num_actions))
    assert tree.states is not None
    for row, (seat, state) in enumerate(zip(tree.seat.tolist(), tree.states, strict=True)):
        chances = strategy[seat, int(state.split("-")[2])]
        found[row, : len(chances)] = [float(one) for one in chances]
        assert tree.num_legal[row] == len(chances)
    return found


# --- random games ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", mostly_slow(range(400), *range(60)))
def test_random_games_are_worth_what_plain_sums_say(seed: int, tmp_path: Path) -> None:
    maker = Maker(seed)
    game = maker.game()
    tree = read(tmp_path, maker.text(game))
    places = game.all()
    assert tree.num_nodes == len(places)
    met = {(one.player, one.number) for one in places if one.player in (0, 1)}
    assert tree.num_rows == len(met)
    for _ in range(3):
        strategy = maker.strategy()
        joint = rows(tree, strategy) if met else tree.uniform()
        if tree.num_rows:  # where nobody moves, nothing is multiplied
            assert payoff(tree, joint, joint) == pytest.approx(
                float(game.value(strategy)), abs=1e-12
            )


Pure = dict[tuple[int, int], int]


def one_hot(place: int, many: int) -> list[Fraction]:
    return [Fraction(at == place) for at in range(many)]


def matrix_value(game: Place, sets: dict[tuple[int, int], int]) -> float:
    """Value of the game between all pure strategies, by a linear program."""
    pure = []
    for player in (0, 1):
        keys = sorted(key for key in sets if key[0] == player)
        choices = itertools.product(*(range(sets[key]) for key in keys))
        pure.append([dict(zip(keys, one, strict=True)) for one in choices])

    def paid(first: Pure, second: Pure) -> float:
        chosen = {**first, **second}.items()
        return float(game.value({key: one_hot(place, sets[key]) for key, place in chosen}))

    return random_games.value(np.array([[paid(one, two) for two in pure[1]] for one in pure[0]]))


@pytest.mark.parametrize("games", fast_and_slow([60], [200]))
def test_equilibria_of_random_games_are_those_of_the_matrix(games: int, tmp_path: Path) -> None:
    tried = 0
    for seed in range(1000, 1000 + games):
        maker = Maker(seed)
        game = maker.game(3)
        sets = {(p.player, p.number): len(p.labels) for p in game.all() if p.player in (0, 1)}
        sizes = [np.prod([n for key, n in sets.items() if key[0] == one]) for one in (0, 1)]
        if not sets or max(sizes) > 60:
            continue
        tried += 1
        solved = solve_by_columns(read(tmp_path, maker.text(game)), 30.0)
        value = matrix_value(game, sets)
        assert solved.is_proved
        assert solved.lower == pytest.approx(value, abs=1e-8)
        assert solved.upper == pytest.approx(value, abs=1e-8)
    assert tried > games / 2


# --- what a file may say --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "uniform"),
    [
        pytest.param(
            'p "" 1 1 "" { "a" "a" } 0 t "" 1 "" { 1, -1 } t "" 2 "" { 2, -2 }', 1.5, id="equal"
        ),
        pytest.param(
            'p "" 1 1 "" { "" "" } 0 t "" 1 "" { 1, -1 } t "" 2 "" { 2, -2 }', 1.5, id="empty"
        ),
        pytest.param(
            'p "" 1 1 "" { "x" "y" } 0 p "" 2 1 "" { "u" "v" } 1 "fee" { -1, 1 } '
            't "" 2 "" { 5, -5 } t "" 3 "" { 4, -4 } t "" 4 "" { 2, -2 }',
            2.75,
            id="paid on the way",
        ),
        pytest.param(
            'p "" 1 1 "" { "x" "y" } 1 "" { 10, 0 } t "" 2 "" { 0, -10 } t "" 3 "" { 1, -11 }',
            10.5,
            id="zero-sum along every path, though no outcome is",
        ),
        pytest.param(
            'c "" 1 "" { "h" 1/2 "t" 1/2 } 0 t "" 1 "bonus" { 5, -5 }'
            'p "" 1 1 "" { "l" "r" } 1 t "" 2 "" { 1, -1 } t "" 3 "" { 2, -2 }',
            5.75,
            id="an outcome by its number",
        ),
        pytest.param('p "" 1 1 "" { "x" "y" } 0 t "" 0 t "" 1 "" { -1, 1 }', -0.5, id="no outcome"),
        pytest.param(
            'p "" 1 9 "" { "x" "y" } 0 p "" 2 1000 "" { "u" "v" } 0 '
            't "" 1 "" {1,-1} t "" 2 "w" {-1 1} p "" 2 1000 0 t "" 1 "again" t "" 7 "" { 9 , -9 }',
            2.5,
            id="gaps, actions named once, outcomes named again",
        ),
        pytest.param(
            'c "" 1 "" { "h" 1/3 "t" 2/3 } 0 t "" 1 "" { 3, -3 }'
            'c "" 1 0 p "" 1 1 "" { "a" } 0 t "" 2 "" { 9, -9 } t "" 3 "" { 0, 0 }',
            3.0,
            id="chance by number, a single action",
        ),
        pytest.param(
            'c "" 1 "" { "u" 0.333333333 "v" 0.333333333 "w" .333333334 } 0 '
            't "" 1 "" { 3, -3 } t "" 2 "" { 6e0, -0.6E+1 } t "" 3 "" { +9., -90e-1 } ',
            6.000000003,
            id="decimals",
        ),
        pytest.param(
            'c "" 1 "" { "u" 0.3333333333 "v" 0.3333333333 "w" 0.3333333333 } 0 '
            't "" 1 "" { 3, -3 } t "" 2 "" { 3, -3 } t "" 3 "" { 3, -3 } ',
            3.0,
            id="decimals are scaled",
        ),
        pytest.param(
            'c "" 1 "" { "one" 1/2 "two" 1/2 "never" 0 } 0 '
            't "" 1 "" { 1, -1 } t "" 2 "" { 2, -2 } t "" 3 "" { 1000, -1000 }',
            1.5,
            id="chance 0",
        ),
        pytest.param(
            f'p "" 1 1 "" {{ "x" }} 0 t "" 1 "" {{ {10**30}/{10**29 * 4}, -5/2 }}',
            2.5,
            id="long fractions",
        ),
        pytest.param('t "" 1 "" { 1, -1 }', 1.0, id="nobody moves"),
    ],
)
def test_what_a_file_may_say(text: str, uniform: float, tmp_path: Path) -> None:
    for full in (HEAD + text, (HEAD + text).replace(" ", "\r\n\t"), "\ufeff" + HEAD + text + "\n"):
        tree = read(tmp_path, full)
        if tree.num_rows:
            assert worth(tree) == pytest.approx(uniform, abs=1e-12)
        else:
            weights = reach_by_chance(tree)
            assert float(weights @ tree.payoff) == pytest.approx(uniform, abs=1e-12)


def reach_by_chance(tree: FlatTree) -> Floats:
    weights = tree.chance.copy()
    for node in range(1, tree.num_nodes):
        weights[node] *= weights[tree.parent[node]]
    return weights


def test_a_number_decides_what_is_one_information_set(tmp_path: Path) -> None:
    text = (
        'c "" 1 "" { "h" 1/2 "t" 1/2 } 0 p "" 1 1 "x" { "l" "r" } 0 t "" 2 "" { 1, -1 }'
        't "" 3 "" { 0, 0 } p "" 1 1 "" { "l" "r" } 0 t "" 4 "" { 0, 0 } t "" 5 "" { 1, -1 }'
    )
    tree = read(tmp_path, HEAD + text)
    assert tree.names == ["x"]
    assert solve_by_columns(tree, 5.0).lower == pytest.approx(0.5)
    apart = read(tmp_path, HEAD + text.replace('p "" 1 1 ""', 'p "" 1 2 "x"'))
    assert apart.names == ["x (1)", "x (2)"]
    assert solve_by_columns(apart, 5.0).lower == pytest.approx(1.0)
    later = text.replace('"x"', '""').replace(
        'p "" 1 1 "" { "l" "r" } 0 t "" 4', 'p "" 1 1 "x" 0 t "" 4'
    )
    assert read(tmp_path, HEAD + later).names == ["x"]
    # Chance and the players number their own.
    assert read(tmp_path, HEAD + text.replace('p "" 1 1 ""', 'p "" 2 1 "x"')).num_rows == 2


def test_a_form_of_more_players_is_read_whole(tmp_path: Path) -> None:
    text = (
        'EFG 2 D "a \\"title\\"" { "One" "" "Three" }\n"a comment"\n'
        'p "" 3 5 "set" { "in" "out" } 2 "fee" { 1/2, -.5 0 }\n\nt "end" 0\n'
        'c "" 5 "" { "x" 1 } 2 t "" 7 "" { 1 2 3 }'
    )
    with pytest.raises(ValueError, match=r"has 3 players; allowed: 1 or 2, or two teams$"):
        read(tmp_path, text)
    rules = text.replace("-.5", "-.5,").replace("{ 1 2 3 }", "{ 1 2 -3 }")
    tree = from_efg(written(tmp_path, rules), teams="01/2")
    assert tree.member.tolist() == [2]
    assert [*map(str, tree.names)] == ["player 2: set"]
    assert tree.payoff[tree.player == TERMINAL].tolist() == [0.0, 3.0]  # the fee is paid first


def test_one_player_far_from_zero_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "one.efg"
    path.write_text(
        'EFG 2 R "" { "A" }\np "" 1 1 "" { "l" "r" } 0\nt "" 1 "" { 10 }\nt "" 2 "" { 11 }\n'
    )
    hogeq.Game(path).write(tmp_path / "again.efg")
    assert hogeq.Game(tmp_path / "again.efg").equilibrium(1.0).lower == 11.0


def test_one_player_against_nature(tmp_path: Path) -> None:
    """The best of 1/3, 1/2 and the lottery of 0 and 3 is the lottery."""
    text = (
        'EFG 2 R "" { "One" } p "" 1 1 "" { "a" "b" "draw" } 0 t "" 1 "" { 1/3 } t "" 2 "" { .5 }'
        'c "" 1 "" { "x" 3/4 "y" 1/4 } 0 t "" 0 t "" 3 "" { 3 }'
    )
    tree = read(tmp_path, text)
    assert (tree.num_players, tree.shift, tree.seat.tolist()) == (1, 0.0, [0])
    solved = solve_by_columns(tree, 5.0)
    assert [solved.lower, solved.upper] == pytest.approx([0.75, 0.75])
    again = from_efg(written(tmp_path, flat_efg(tree)))
    assert (again.num_players, again.digest()) == (1, tree.digest())


def test_names_are_told_apart(tmp_path: Path) -> None:
    """The fourth set is called as the first would be, were it told apart from the second."""
    calls = ("go", "go", "", "go (1)", "\x1b[31m")
    ends = 't "" 0 ' * 4
    sets = "".join(
        f'p "" 1 {number} "{name}" {{ "" "a" "a" "(1)" "\x1b\u202e" }} 0 {ends}'
        for number, name in enumerate(calls, 1)
    )
    tree = read(tmp_path, HEAD + sets + 't "" 0')
    assert tree.names == ["go (1)", "go (2)", "(3)", "go (1) (4)", "\\x1b[31m"]
    words = [tree.history(node)[-1].action for node in range(1, 6)]
    assert words == ["(1)", "a (2)", "a (3)", "(1) (4)", "\\x1b\\u202e"]
    assert len(set(tree.actions_of([0]).tolist())) == 5
    assert len(tree.history(tree.num_nodes - 1)) == 5


# --- size -----------------------------------------------------------------------------------------


def chain(depth: int) -> str:
    ways = [f'p "" {at % 2 + 1} {at // 2 + 1} "" {{ "on" "out" }} 0\n' for at in range(depth)]
    ends = ['t "" 2 "out" { -1, 1 }\n'] * depth
    return "".join([HEAD, *ways, 't "" 1 "end" { 1, -1 }\n', *ends])


def test_a_tree_may_be_deep(tmp_path: Path) -> None:
    path = written(tmp_path, chain(3000))
    start = time.process_time()
    tree = from_efg(path)
    assert time.process_time() - start < 1
    assert (tree.num_nodes, tree.num_rows, len(tree.levels)) == (6001, 3000, 3001)
    assert len(tree.history(6000)) == 3000
    assert payoff(tree, *[np.eye(2)[np.zeros(3000, int)]] * 2) == 1.0


@pytest.mark.slow
def test_a_tree_may_be_deeper_than_any_stack(tmp_path: Path) -> None:
    seconds = []
    for depth in (50_000, 200_000):
        path = written(tmp_path, chain(depth))
        start = time.process_time()
        tree = from_efg(path)
        seconds.append(time.process_time() - start)
    assert seconds[1] < 8.0 * seconds[0]  # four times as deep; 16 if it were quadratic
    assert tree.num_nodes == 400_001
    assert tree.payoff[-2:].tolist() == [1.0, -1.0]


# --- files of our own, and of OpenSpiel's games ---------------------------------------------------

TURNS = "turn_based_simultaneous_game(game={})"

GAMES = (
    *(
        "kuhn_poker",
        "leduc_poker",
        "leduc_poker(suit_isomorphism=True)",
        "misere(game=kuhn_poker())",
    ),
    *("liars_dice(dice_sides=2)", "liars_dice(dice_sides=3)", "liars_dice(numdice=2,dice_sides=2)"),
    *("liars_dice_ir(dice_sides=2)", "liars_dice_ir(dice_sides=3)", "hex(board_size=2)"),
    *("dark_hex(board_size=2)", "dark_hex_ir(board_size=2)", "nim(pile_sizes=1;2)"),
    *("nim(pile_sizes=2;2,is_misere=False)", "add_noise(game=kuhn_poker(),epsilon=1.,seed=1)"),
    *(TURNS.format(f"matrix_{name}()") for name in ("mp", "rps", "rpsw")),
    TURNS.format("goofspiel(num_cards=3,points_order=descending)"),
    TURNS.format("blotto(coins=3,fields=2)"),
    TURNS.format("oshi_zumo(coins=3,size=1,horizon=4)"),
)
LARGE = {"leduc_poker", "leduc_poker(suit_isomorphism=True)", "liars_dice(numdice=2,dice_sides=2)"}


def same(first: FlatTree, second: FlatTree) -> None:
    """Assert that two trees are one, whatever their rows and moves are called."""
    for name in ("player", "parent", "action", "payoff", "chance"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    pairs = set(zip(first.row.tolist(), second.row.tolist(), strict=True))
    assert len(pairs) == len({one for one, _ in pairs}) == len({one for _, one in pairs})


def in_words(tree: FlatTree) -> list[str]:
    return [str(tree.history(node)[-1]) for node in range(1, min(tree.num_nodes, 300))]


@pytest.mark.parametrize("name", mostly_slow(GAMES, *(set(GAMES) - LARGE)))
def test_games_of_openspiel_survive_export_and_import(name: str, tmp_path: Path) -> None:
    game = from_openspiel(name)
    for tree in (game, forget_by_name(game, "last:1")):
        text = flat_efg(tree)
        found = read(tmp_path, text)
        same(tree, found)
        named = {printable(name) for name in tree.names if name}
        assert named == set(found.names) - {"(1)"}
        assert in_words(tree) == in_words(found)
        there = from_openspiel(pyspiel.load_efg_game(text))
        same(found, there)
        assert found.states == there.names


@pytest.mark.parametrize("name", ["leduc_poker", "liars_dice(dice_sides=2)"])
def test_a_policy_of_openspiel_means_the_same_here(name: str, tmp_path: Path) -> None:
    """Its actions have other numbers than in the game that was exported."""
    text = flat_efg(from_openspiel(name))
    game = pyspiel.load_efg_game(text)
    policy = TabularPolicy(game)
    weights = np.random.default_rng(1).random(policy.action_probability_array.shape)
    weights *= policy.legal_actions_mask
    policy.action_probability_array[:] = weights / weights.sum(axis=1, keepdims=True)
    ours = hogeq.Game(read(tmp_path, text))
    there = policy_value(game.new_initial_state(), [policy, policy])[0]
    table = {key: [one for one in row if one[1]] for key, row in policy.to_dict().items()}
    strategy = ours.strategy(table)
    assert ours.value(strategy, strategy).first == pytest.approx(there, abs=1e-12)


def test_a_game_of_hog_survives_whatever_it_is_called(tmp_path: Path) -> None:
    rules = rules_from({"edition": "su20", "goal": 4, "max_dice": 2, "name": 'a"b \\" \u00e4\\'})
    path = written(tmp_path, hog_efg(rules))
    direct = from_rules(HogRules(rules))
    same(direct, from_efg(path))
    assert sorted(from_efg(path).names) == sorted(str(name) for name in direct.names)


@pytest.mark.parametrize("seed", range(50))
def test_files_of_our_own_are_read_alike(seed: int, tmp_path: Path) -> None:
    maker = Maker(seed)
    first = read(tmp_path, maker.text(maker.game()))
    again = read(tmp_path, flat_efg(first))
    np.testing.assert_allclose(first.payoff, again.payoff, rtol=1e-15)
    np.testing.assert_allclose(first.chance, again.chance, rtol=1e-15)
    same(
        replace(
            first,
            terminal_payoffs=again.terminal_payoffs,
            chance_probabilities=again.chance_probabilities,
        ),
        again,
    )
    assert sorted(first.names) == sorted(again.names)
    assert in_words(first) == in_words(again)


@pytest.mark.slow
def test_openspiel_need_not_be_installed(tmp_path: Path) -> None:
    """Nor is it asked for a file by its own name for such games."""
    written(tmp_path, GOOD)
    code = (
        "import sys; sys.modules['pyspiel'] = None; import hogeq;"
        "print(hogeq.Game('game.efg', forget='order').attack('uniform').value)"
    )
    assert float(printed("-c", code, cwd=tmp_path)) == pytest.approx(0.25)
    for name in ("efg_game(filename=game.efg)", "misere(game=efg_game(filename=game.efg))"):
        with pytest.raises(ValueError, match=r"allowed: the name of the file, FILE\.efg"):
            from_openspiel(name)


def test_sets_of_other_actions_are_not_joined(tmp_path: Path) -> None:
    ends = 't "" 0 t "" 0 '
    text = (
        f'p "" 1 1 "" {{ "x" "y" "z" }} 0 p "" 1 2 "" {{ "u" "d" }} 0 {ends}'
        f'p "" 1 3 "" {{ "v" "w" }} 0 {ends} p "" 1 4 "" {{ "u" "d" }} 0 {ends}'
    )
    path = written(tmp_path, HEAD + text)
    tree = from_efg(path, forget="last:0")
    assert sorted(tree.names) == ["(1)", "(2) and 1 more", "(3)"]
    own = {name: tree.row[1 + at] for at, name in enumerate("xyz")}
    assert own["x"] == own["z"] != own["y"]
    table = {"(1)": [0, 0, 1], "(2) and 1 more": [0, 1], "(3)": [1, 0]}  # by the names of the rows
    assert hogeq.Game(tree).strategy(table).policy.sum() == 3
    with pytest.raises(ValueError, match="histories differ in their legal actions"):
        from_efg(path, forget=lambda _, __: "nothing")
