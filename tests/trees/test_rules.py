"""Games by rules of one's own in Python, and those of OpenSpiel that need turns or histories."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest

import hogeq
from hogeq.strategies.infosets import policy_csv, read_policy_csv
from hogeq.support.aliases import Floats
from hogeq.support.plugins import load_plugin
from hogeq.trees import building
from hogeq.trees.columns import solve_by_columns
from hogeq.trees.flat import FlatTree, payoff
from hogeq.trees.openspiel import from_openspiel
from hogeq.trees.rules import GameRules, from_rules, named_rules
from hogeq.trees.tree import flat_efg
from tests.own_rules import Choice
from tests.refusals import refuses

KUHN = Path(__file__).parents[2] / "examples" / "own_game.py"


class Coins(GameRules):
    """One side names a coin, the other guesses it; at some states a method answers wrongly."""

    def __init__(self, *faults: tuple[str, str, Any]) -> None:
        self.faults = faults

    def initial(self) -> Any:
        return self.call("initial", "")

    def to_move(self, state: str) -> Any:
        return self.call("to_move", hogeq.END if len(state) == 3 else len(state) - 1, state)

    def actions(self, state: str) -> Any:
        return self.call("actions", ["h", "t"], state)

    def chances(self, state: str) -> Any:
        return self.call("chances", [("x", 0.25), ("y", 0.75)], state)

    def next(self, state: str, action: Any) -> Any:
        return self.call("next", state + action, state)

    def knows(self, state: str, player: int) -> Any:  # noqa: ARG002 - sees what is first
        return self.call("knows", f"{state[:1]}", state)

    def payoffs(self, state: str) -> Any:
        won = 1.0 if state[1] == state[2] else 0.0
        return self.call("payoffs", (won, 1.0 - won), state)

    def call(self, name: str, right: Any, state: str = "") -> Any:
        """Answer rightly, but for one question at one state."""
        for where, at, wrong in self.faults:
            if (name, state) == (where, at):
                return wrong() if callable(wrong) else wrong
        return right


def kuhn() -> GameRules:
    found: dict[str, Any] = {"__name__": "own_game"}
    exec(KUHN.read_text("utf-8"), found)  # noqa: S102 - ours
    rules: GameRules = found["Kuhn"]()
    return rules


def test_kuhn_poker_is_that_of_openspiel_node_by_node() -> None:
    ours, theirs = from_rules(kuhn()), from_openspiel("kuhn_poker")
    assert ours.num_nodes == 58
    for name in ("player", "parent", "row", "action", "chance", "payoff", "seat", "num_legal"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), name)
    assert ours.names == theirs.names
    assert ours.digest() == theirs.digest()
    assert [*map(str, ours.history(57))][2:] == ["player 0: p", "player 1: b", "player 0: b"]
    assert solve_by_columns(ours, 10.0).lower == pytest.approx(-1 / 18)  # Kuhn 1950


def test_a_zero_keeps_its_sign() -> None:
    """The digest has it, and one of an earlier version must not change."""
    zeros = from_rules(Choice(1, [0.0], [-0.0]))
    assert np.signbit(zeros.terminal_payoffs).tolist() == [False, True]


def test_games_that_differ_have_other_digests() -> None:
    known = {from_rules(Coins()).digest()}
    for fault in (
        ("chances", "", [("x", 0.5), ("y", 0.5)]),
        ("knows", "x", "both"),
        ("payoffs", "xhh", (0.0, 1.0)),
    ):
        known.add(from_rules(Coins(fault)).digest())
    assert len(known) == 4
    assert from_rules(Coins(), name="other").digest() in known
    assert from_rules(Coins()).name == "Coins"


def broken() -> None:
    raise KeyError("coin")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (("initial", "", broken), "Coins: at the start: KeyError: 'coin' (test_rules.py, line "),
        (("to_move", "x", broken), "Coins: after chance: x: KeyError: 'coin' (test_rules.py, "),
        (("to_move", "x", 2), "after chance: x: to_move: got 2; allowed: a player from 0 to 1, h"),
        (("to_move", "x", "A"), "after chance: x: to_move: got 'A'; allowed: a player from 0 to 1"),
        (("actions", "xh", [["h"], "t"]), "player 0: h: actions: got (['h'], 't'); allowed: what"),
        (("actions", "xh", []), "player 0: h: information state x: has no action; allowed: one"),
        (("actions", "xh", "tt"), "information state x: has two equal actions; allowed: differ"),
        (("actions", "xt", "th"), "player 0: t: information state x: histories differ in their"),
        (("chances", "", {"x": 0.5}), "Coins: at the start: probabilities of chance sum to 0.5"),
        (
            ("chances", "", {"x": 2, "y": -1}),
            "Coins: at the start: an action of chance is of probability 2",
        ),
        (("chances", "", {"x": "a"}), "Coins: at the start: chances: got 'a'; allowed: numbers"),
        (("next", "x", broken), "Coins: after chance: x: KeyError: 'coin'"),
        (("knows", "xh", []), "after chance: x; player 0: h: knows: got []; allowed: what a d"),
        (("payoffs", "xth", (1, 1)), "player 1: h: is not zero-sum: payoffs sum to 2, at the"),
        (("payoffs", "xth", (1,)), "player 1: h: 1 payoffs; allowed: 2, one for each player"),
        (("payoffs", "xth", (np.nan, 0)), "player 1: h: payoff nan; allowed: numbers from"),
        (("payoffs", "xth", None), "player 1: h: payoffs: got None; allowed: a list of numbers"),
        (("payoffs", "xth", (1j, 0)), "player 1: h: payoffs: got 1j; allowed: a list of numbers"),
        (
            ("payoffs", "xth", (10**400, -(10**400))),
            "player 1: h: payoff <whole number of 1329 bits>; allowed: numbers from -1e+300",
        ),
        (
            ("payoffs", "xth", (Fraction(10**400, 3), 0)),
            "player 1: h: payoff <whole number of 1329 bits>/3; allowed: numbers from -1e+300",
        ),
        (
            ("chances", "", {"x": 10**400, "y": 1}),
            "at the start: an action of chance is of probability <whole number of 1329 bits>; all",
        ),
        (("chances", "", 5), "at the start: chances: got 5; allowed: a dictionary, or pairs of an"),
        (
            ("chances", "", [("x", 0.5), ("x", 1.0)]),
            "at the start: chances: got [('x', 0.5), ('x', 1.0)]; allowed: a dictionary, or pairs",
        ),
    ],
)
def test_rules_that_break_down_are_refused_by_the_history(fault: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^Coins: [^\n]*{re.escape(message[7:])}") as refused:
        from_rules(Coins(fault))
    assert message in str(refused.value)


OWN = """
import json
import hogeq

class Own(hogeq.GameRules):
    def initial(self): return 0
    def to_move(self, state): return 0
    def actions(self, state):
        return json.loads("{")  # line 9
    def next(self, state, action): return state
    def payoffs(self, state): return 0, 0
"""


def test_an_error_names_the_line_of_the_rules_and_none_of_a_library(tmp_path: Path) -> None:
    path, found = tmp_path / "own.py", dict[str, Any]()
    exec(compile(OWN, str(path), "exec"), found)  # noqa: S102 - ours
    with pytest.raises(ValueError, match=r"^Own: at the start: JSONDecodeError: .*") as refused:
        from_rules(found["Own"]())
    assert str(refused.value).endswith(" (own.py, line 9, in actions)")


class Endless(GameRules):
    """Player 0 alone, who never forgets how often nothing happened."""

    moves: tuple[str, ...] = ("h", "t")

    def initial(self) -> int:
        return 0

    def to_move(self, state: int) -> int:  # noqa: ARG002 - always
        return 0

    def actions(self, state: int) -> tuple[str, ...]:  # noqa: ARG002 - always
        return self.moves

    def next(self, state: int, action: str) -> int:  # noqa: ARG002 - whatever it is
        return state + 1

    def payoffs(self, state: int) -> list[int]:
        raise NotImplementedError


@pytest.mark.slow
def test_a_game_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = Endless()
    with monkeypatch.context() as patch:
        patch.setattr(building, "MOST_NODES", 1000)
        refuses(lambda: from_rules(rules), r"Endless: has more than 1,000 nodes$")
    monkeypatch.setattr(building, "memory", lambda: 10**4)
    refuses(lambda: from_rules(rules), r"more memory than the 0\.0 GiB of this machine$")
    monkeypatch.setattr(building, "memory", lambda: 10**12)
    rules.moves = ("h",)
    refuses(lambda: from_rules(rules), r"Endless: has plays of more than 100,000 moves$")


def test_more_players_than_two_are_refused() -> None:
    rules = Coins()
    rules.players = 3
    refuses(lambda: from_rules(rules), r"^Coins: has 3 players; allowed: 1 or 2, or two teams$")


def test_players_forget_in_games_of_their_own() -> None:
    def nothing(player: int, known: Any) -> str:
        return "nothing"

    assert from_rules(Coins(), forget=nothing).num_rows == 2
    assert from_rules(Coins()).num_rows == 4
    assert from_rules(Coins(), forget="own_actions").num_rows == 4


# --- OpenSpiel ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["goofspiel(num_cards=3,points_order=descending)", "matrix_rps", "blotto(coins=3,fields=2)"],
)
def test_moves_at_once_become_turns(name: str) -> None:
    tree = from_openspiel(name)
    turns = from_openspiel(pyspiel.convert_to_turn_based(pyspiel.load_game(name)))
    assert tree.digest() == turns.digest()
    assert tree.name == str(pyspiel.load_game(name))
    assert solve_by_columns(tree, 10.0).lower == pytest.approx(0.0, abs=1e-9)  # symmetric


def nim(piles: tuple[int, ...]) -> int:
    """Misère nim: who moves wins, 1, or loses, -1."""
    after = [
        (*piles[:at], left, *piles[at + 1 :])
        for at, many in enumerate(piles)
        for left in range(many)
    ]
    return max((-nim(one) for one in after), default=1)


@pytest.mark.parametrize(
    ("text", "piles"), [("2;2", (2, 2)), ("1;2", (1, 2)), ("1;1;1", (1, 1, 1))]
)
def test_perfect_information_needs_no_names_of_states(text: str, piles: tuple[int, ...]) -> None:
    game = pyspiel.load_game(f"nim(pile_sizes={text})")
    tree = from_openspiel(game)
    assert tree.num_rows == int((tree.player >= 0).sum())
    assert solve_by_columns(tree, 10.0).lower == pytest.approx(nim(piles))


def test_one_player_of_openspiel() -> None:
    tree = from_openspiel("catch(rows=3,columns=2)")  # two moves suffice to be where the ball is
    assert (tree.num_players, set(tree.seat.tolist())) == (1, {0})
    solved = solve_by_columns(tree, 10.0)
    assert [solved.lower, solved.upper] == pytest.approx([1.0, 1.0])


# --- plugins --------------------------------------------------------------------------------------

NIM = """
import hogeq

@hogeq.register_game("matches")
class Matches(hogeq.GameRules):
    "The player who takes the last match wins."
    matches: int = 4
    most: int = 2

    def initial(self):
        return self.matches, 0

    def to_move(self, state):
        return state[1] if state[0] else hogeq.END

    def actions(self, state):
        return range(1, 1 + min(self.most, state[0]))

    def next(self, state, action):
        return state[0] - action, 1 - state[1]

    def payoffs(self, state):
        return (-1, 1) if state[1] == 0 else (1, -1)
"""
THEIRS = """
import pyspiel
from open_spiel.python.games import kuhn_poker

kind = kuhn_poker._GAME_TYPE
given = {name: getattr(kind, name) for name in dir(kind) if name in (
    "dynamics", "chance_mode", "information", "utility", "reward_model", "max_num_players",
    "min_num_players", "provides_information_state_string", "provides_information_state_tensor",
    "provides_observation_string", "provides_observation_tensor", "parameter_specification",
    "provides_factored_observation_string")}
TYPE = pyspiel.GameType(short_name="my_kuhn", long_name="Mine", **given)

class Game(kuhn_poker.KuhnPokerGame):
    def __init__(self, params=None):
        pyspiel.Game.__init__(self, TYPE, kuhn_poker._GAME_INFO, params or {})

pyspiel.register_game(TYPE, Game)
"""


@pytest.mark.usefixtures("registries")
def test_a_plugin_registers_a_game(tmp_path: Path) -> None:
    (tmp_path / "nim.py").write_text(NIM)
    load_plugin(tmp_path / "nim.py", trust=True)
    rules = named_rules("matches(matches=3, most=2)")
    assert rules is not None
    tree = from_rules(rules)
    assert tree.name == "Matches(matches=3, most=2)"
    assert solve_by_columns(tree, 5.0).lower == pytest.approx(-1.0)  # three lose
    assert named_rules("no_such_game") is None
    for text, why in {
        "matches(heaps=3)": "game matches: heaps: unknown key, given 3; allowed: matches, most",
        "matches(most=x)": "game matches: most: got 'x'; allowed: whole numbers",
        "matches(3)": "game matches: 3: unknown key, given None; allowed: matches, most",
        "matches(most=[)": "game matches: line 1, column 9: not plain YAML: got",
        "matches(most=3": "game: got 'matches(most=3'; allowed: matches(parameter=value,...)",
    }.items():
        with pytest.raises(ValueError, match=re.escape(why)):
            named_rules(text)
    with pytest.raises(ValueError, match="game matches: name is taken by Matches"):
        hogeq.register_game("matches")(type(rules))
    with pytest.raises(ValueError, match=r"game other: got .* without actions, initial"):
        hogeq.register_game("other")(type("Other", (GameRules,), {}))


@pytest.mark.usefixtures("registries")
def test_a_plugin_may_register_with_openspiel(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(THEIRS)
    load_plugin(tmp_path / "theirs.py", trust=True)
    tree = from_openspiel("my_kuhn")
    same: FlatTree = from_openspiel("python_kuhn_poker")
    assert tree.digest() == same.digest()
    assert payoff(tree, tree.uniform(), tree.uniform()) == pytest.approx(0.125)
    assert flat_efg(tree).startswith('EFG 2 R "my_kuhn()"')


# --- policies with names --------------------------------------------------------------------------


def read_checked(tree: FlatTree, text: str) -> Floats:
    return tree.check_strategy(read_policy_csv(tree, text, "policy.csv"), "policy.csv")


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "goofspiel(num_cards=3)", "own"])
def test_a_policy_is_read_as_it_was_written(name: str) -> None:
    tree = from_rules(Coins()) if name == "own" else from_openspiel(name)
    weights = np.random.default_rng(1).random(tree.legal.shape) * tree.legal
    policy = tree.check_strategy(weights / weights.sum(axis=1, keepdims=True))
    text = policy_csv(tree, policy)
    assert len(text.splitlines()) == 1 + tree.num_legal.sum()
    np.testing.assert_array_equal(read_checked(tree, text), policy)
    first, *lines = text.splitlines()
    shuffled = "\n".join([first, *lines[::-1]])
    np.testing.assert_array_equal(read_checked(tree, shuffled), policy)
    if name == "kuhn_poker":
        assert lines[3] == f"0,0pb,Bet,{float(policy[1, 1])!r}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "player,",
            "seat,",
            "line 1: columns: got 'seat,infoset,action,probability'; allowed: playe",
        ),
        ("0,x,h", "0,x,z", "line 2: got '0,x,z,0.5'; allowed: player, infoset and action of this"),
        ("0,x,h,0.5", "0,x,h", "line 2: got '0,x,h'; allowed: player, infoset and action of this"),
        ("0,x,t", "0,x,h", "line 3: '0,x,h' is there twice"),
        ("0,x,h,0.5", "0,x,h,1.5", "line 2: probability: got '1.5'; allowed: 0 to 1"),
        ("0,x,h,0.5", "0,x,h,half", "line 2: probability: got 'half'; allowed: 0 to 1"),
        ("0,x,h,0.5", "0,x,h,nan", "line 2: probability: got 'nan'; allowed: 0 to 1"),
        ("0,x,h,0.5", '"0,x', "line 2: got '\"0,x'; allowed: cells with"),
        ("0,x,h,0.5\n", "", "information set 0 (x): allowed: probabilities of legal actions"),
    ],
)
def test_a_policy_of_another_game_is_refused(old: str, new: str, message: str) -> None:
    tree = from_rules(Coins())
    text = policy_csv(tree, tree.uniform())
    assert old in text
    with pytest.raises(ValueError, match=re.escape(f"policy.csv: {message}")):
        read_checked(tree, text.replace(old, new, 1))
