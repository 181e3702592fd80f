"""Strategies by name: an information set's probabilities, dictionaries, frames, and text files."""

import json
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.strategy import Strategy
from hogeq.support.messages import ExplainedError
from tests.own_rules import Moves, Pennies, States

KUHN = "kuhn(players=2,ranks=3)"
MINUS = {"edition": "fa13", "goal": 6, "max_dice": 2}


class Coins(Pennies):
    """Both players call a coin, and both know only what coin it is: its name is in both seats."""

    known = "penny"


class Toss(States):
    """Either player may hand a coin over or keep it for ever: a game held by its positions."""

    endless = 0.0

    def __init__(self) -> None:
        moves = {0: (0, {"over": 1, "stop": 2}), 1: (1, {"over": 0, "stop": 3})}
        super().__init__(moves, {2: (1, -1), 3: (-1, 1)})


def drawn(game: Any, seed: int = 0) -> Strategy:
    """Draw a policy of a game, whose probabilities are no short fractions."""
    shape = game.strategy(uniform(game)).shape
    weights = np.random.default_rng(seed).random(shape) + 0.1
    if not isinstance(game, hogeq.Hog):
        weights *= game.strategy("uniform").policy > 0.0
    policy = weights / weights.sum(axis=-1, keepdims=True)
    made: Strategy = game.strategy(policy / policy.sum(axis=-1, keepdims=True))
    return made


def uniform(game: Any) -> Any:
    return "always_roll:0" if isinstance(game, hogeq.Hog) else "uniform"


GAMES: dict[str, Any] = {
    "Hog": MINUS,
    "Kuhn": KUHN,
    "one name in both seats": Coins(),
    "by positions": Toss(),
}


@pytest.fixture(params=GAMES)
def game(request: pytest.FixtureRequest) -> Any:
    return hogeq.Game(GAMES[request.param])


def test_an_infoset_gives_the_probabilities_by_action(game: Any) -> None:
    policy = drawn(game)
    every = policy.to_dict()
    assert len(every) == np.prod(policy.shape[:-1])
    rows = policy.policy.reshape(-1, policy.shape[-1])
    for (key, chances), row in zip(every.items(), rows, strict=True):
        assert policy[key] == chances
        assert [*chances.values()] == row[: len(chances)].tolist()
        assert {type(one) for one in chances.values()} == {float}
    pure = game.strategy(uniform(game) if isinstance(game, hogeq.Hog) else np.zeros(len(rows), int))
    assert pure.kind == "matrix"
    assert {max(chances, key=chances.__getitem__) for chances in pure.to_dict().values()} == {
        next(iter(chances)) for chances in every.values()
    }


def test_names_are_those_of_the_game() -> None:
    hog = hogeq.Game(MINUS)
    made = hog.strategy(lambda own, other: -1 if own > other else 2)
    assert made[3, 1] == {0: 0.0, 1: 0.0, 2: 0.0, -1: 1.0}
    assert made[1, 3] == {0: 0.0, 1: 0.0, 2: 1.0, -1: 0.0}
    assert made[np.int64(1), 3] == made[1, 3]
    kuhn = hogeq.Game(KUHN).strategy("uniform")
    assert kuhn[kuhn.rows.names[0]] == {"check": 0.5, "bet": 0.5}  # type: ignore[union-attr]
    both = hogeq.Game(Coins()).strategy(np.array([[0.25, 0.75], [1.0, 0.0]]))
    assert both[0, "penny"] == {"h": 0.25, "t": 0.75}
    assert both[1, "penny"] == {"h": 1.0, "t": 0.0}
    with pytest.raises(StrategyError, match=r"^infoset: got 'penny'; allowed: \(0, 'penny'\) or "):
        _ = both["penny"]
    team = hogeq.Game("3K3", teams="01/2").strategy("uniform")
    names = [*team.to_dict()]
    assert team[str(names[0])] == team[names[0]]


def test_results_know_their_names(game: Any) -> None:
    solved = game.equilibrium(seconds=5)
    found = [solved.profile, game.attack(solved).strategy]
    found += [game.solve("bundle", 2).policy, game.purify(drawn(game))]
    for one in found:
        part = one if one.kind != "mixture" else game.strategy(one.components[0])
        assert part.to_dict().keys() == drawn(game).to_dict().keys()


def test_a_strategy_of_one_seat_has_the_rows_of_its_seat() -> None:
    game = hogeq.Game(KUHN)
    first, second = game.equilibrium().strategies
    names = [[*one.to_dict()] for one in (first, second)]
    assert len({*names[0], *names[1]}) == 12
    with pytest.raises(StrategyError, match="allowed: those of the first seat, which the strategy"):
        _ = first[names[1][0]]


@pytest.mark.parametrize(
    ("given", "key", "says"),
    [
        (MINUS, (6, 0), r"^scores: got \(6, 0\); allowed: two, own and other, 0 to 5$"),
        (MINUS, (-1, 0), "allowed: two"),
        (MINUS, 3, "allowed: two"),
        (MINUS, (1.0, 2), "allowed: two"),
        (MINUS, (1, 2, 3), "allowed: two"),
        (KUHN, "nothing", "^infoset: got 'nothing'; allowed: one of this game, "),
        (KUHN, "0", r"'0 ' say; nearest: '0 '; game\.rows\.names lists them$"),
        (KUHN, ["0"], "^infoset: got"),
        (KUHN, 0, "^infoset: got 0; allowed: one of this game"),
    ],
)
def test_an_infoset_that_is_none_is_refused(given: Any, key: Any, says: str) -> None:
    game = hogeq.Game(given)
    with pytest.raises(StrategyError, match=says) as refused:
        _ = drawn(game)[key]
    assert "\n" not in str(refused.value)


def test_what_has_no_names_and_what_is_drawn_is_refused() -> None:
    game = hogeq.Game(KUHN)
    policy = drawn(game)
    with pytest.raises(StrategyError, match="have no names; allowed: "):
        Strategy.unchecked(policy.policy).to_dict()
    both = game.strategy(hogeq.Mixture([0.5, 0.5], [policy, "uniform"]))
    with pytest.raises(StrategyError, match="is a mixture of 2 strategies"):
        both.to_dict()
    with pytest.raises(TypeError, match="not iterable"):
        iter(policy)


def test_names_cost_nothing_before_they_are_asked_for() -> None:
    game = hogeq.Game(KUHN)
    policy = drawn(game)
    assert game.strategy(policy) is policy
    assert np.shares_memory(policy.named("it").array, policy.array)
    assert {"keys", "places"}.isdisjoint(game.tree.__dict__)
    again = pickle.loads(pickle.dumps(policy))  # noqa: S301 - our own
    assert again.rows is None
    assert game.strategy(again).to_dict() == policy.to_dict()


ROUND_TRIPS: dict[str, Any] = {
    **GAMES,
    "whole numbers as actions": lambda: hogeq.Game(Nim()),
    "a team": lambda: hogeq.Game("3K3", teams="01/2"),
    "forgetting": lambda: hogeq.Game(KUHN, forget="own_actions"),
    "names alike": lambda: hogeq.Game(Alike()),
}


class Nim(hogeq.GameRules):
    """Take one or two of five matches in turn."""

    def initial(self) -> Any:
        return 5, 0

    def to_move(self, state: Any) -> int:
        return int(state[1]) if state[0] else hogeq.END

    def actions(self, state: Any) -> list[int]:
        return [take for take in (2, 1) if take <= state[0]]

    def next(self, state: Any, action: Any) -> Any:
        return state[0] - action, 1 - state[1]

    def payoffs(self, state: Any) -> tuple[int, int]:
        return (-1, 1) if state[1] == 0 else (1, -1)


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_a_policy_is_read_from_its_dictionary(name: str, tmp_path: Path) -> None:
    made = ROUND_TRIPS[name]
    game = made() if callable(made) else hogeq.Game(made)
    policy = drawn(game)
    every = policy.to_dict()
    np.testing.assert_array_equal(game.strategy(every).array, policy.array)
    backwards = {key: dict([*row.items()][::-1]) for key, row in [*every.items()][::-1]}
    np.testing.assert_array_equal(game.strategy(backwards).array, policy.array)
    first = next(iter(every))
    if len(every) > 2:  # elsewhere the other seat's is a strategy of that
        with pytest.raises(StrategyError, match=r"missing|allowed"):
            game.strategy({key: row for key, row in every.items() if key != first})
    with pytest.raises(StrategyError, match="probabilities of"):
        game.strategy({**every, first: dict.fromkeys(every[first], "1")})
    with pytest.raises(StrategyError, match="probabilities of"):
        game.strategy({**every, first: dict.fromkeys(every[first], 10**400)})
    for suffix in (".npz", ".csv", ".json"):
        if name == "names alike" and suffix == ".json":
            continue
        policy.write(tmp_path / f"p{suffix}")
        again = game.strategy(tmp_path / f"p{suffix}")
        np.testing.assert_array_equal(again.array, policy.array)
    if all(isinstance(key, str) for key in every):
        (tmp_path / "d.json").write_text(json.dumps(every))
        np.testing.assert_array_equal(game.strategy(tmp_path / "d.json").array, policy.array)
    if not isinstance(game, hogeq.Hog) and (game.rows.seat > 0).any():
        for one in game.equilibrium(seconds=5).strategies:
            if one.kind == "policy":
                read = game.strategy(one.to_dict())
                assert (read.seat, read.to_dict()) == (one.seat, one.to_dict())


def test_actions_that_are_written_alike_are_numbered() -> None:
    class Twice(Alike):
        def actions(self, state: Any) -> Any:
            return [1, "1"] if state else [0, 1]

        def payoffs(self, state: Any) -> Any:
            return [int(state[1])]

    game = hogeq.Game(Twice())
    policy = game.strategy([[0.25, 0.75], [0.5, 0.5]])
    assert policy[0] == {"1": 0.25, "1 (2)": 0.75}
    np.testing.assert_array_equal(game.strategy(policy.to_dict()).array, policy.array)


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".json", ".csv", ".npz"])
def test_a_policy_is_read_as_it_was_written(game: Any, suffix: str, tmp_path: Path) -> None:
    policy = drawn(game)
    policy.write(tmp_path / f"p{suffix}")
    again = game.strategy(tmp_path / f"p{suffix}")
    assert again.kind == "policy"
    np.testing.assert_array_equal(again.array, policy.array)
    if suffix != ".npz" and not isinstance(game, hogeq.Hog):
        pure = game.strategy(np.zeros(policy.shape[0], int))
        pure.write(tmp_path / f"m{suffix}")
        np.testing.assert_array_equal(game.strategy(tmp_path / f"m{suffix}").policy, pure.policy)


def test_json_is_what_openspiel_gives(tmp_path: Path) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="needs the extra 'openspiel'")
    from open_spiel.python.policy import TabularPolicy

    game = hogeq.Game("kuhn_poker")
    policy = drawn(game)
    policy.write(tmp_path / "p.json")
    written = json.loads((tmp_path / "p.json").read_text("utf-8"))
    theirs = TabularPolicy(pyspiel.load_game("kuhn_poker"))
    assert written.keys() == theirs.state_lookup.keys()
    for state, pairs in written.items():
        for action, chance in pairs:
            theirs.policy_for_key(state)[action] = chance
    as_dict = {state: [*map(tuple, pairs)] for state, pairs in written.items()}
    assert theirs.to_dict() == as_dict
    np.testing.assert_array_equal(game.strategy(theirs).array, policy.array)


class Alike(Moves):
    """A player sees one of two draws, whose names print alike."""

    players = 1
    movers = (hogeq.CHANCE, 0)

    def actions(self, state: Any) -> Any:
        return [0, 1] if state else [1, "1"]

    def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002 - there is one
        return state[0]

    def payoffs(self, state: Any) -> Any:
        return [state[1]]


def test_states_that_print_alike_are_not_written_to_json(tmp_path: Path) -> None:
    game: Any = hogeq.Game(Alike())
    policy = game.strategy([[0.25, 0.75], [0.5, 0.5]])
    with pytest.raises(StrategyError, match=r"^Alike: several .* named 'player 0: 1'; allowed: "):
        policy.write(tmp_path / "p.json")
    assert list(tmp_path.iterdir()) == []
    for suffix in (".csv", ".npz"):  # lines and rows have an order
        policy.write(tmp_path / f"p{suffix}")
        again = game.strategy(tmp_path / f"p{suffix}")
        np.testing.assert_array_equal(again.policy, policy.policy)


def test_a_policy_of_full_size_is_a_file(tmp_path: Path) -> None:
    """At no size is the game walked to read it: all scores are there."""
    game = hogeq.Game({"edition": "su20", "goal": 50, "max_dice": 2})
    policy = drawn(game)
    policy.write(tmp_path / "p.json")
    np.testing.assert_array_equal(game.strategy(tmp_path / "p.json").array, policy.array)
    lines = (tmp_path / "p.json").read_text("utf-8").splitlines()
    (tmp_path / "less.json").write_text("\n".join([*lines[:1], *lines[3:]]), "utf-8")
    with pytest.raises(StrategyError, match="with one goal up to 40"):
        game.strategy(tmp_path / "less.json")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("0,0,0,", "0,0,9,", r"line 2: got '0,0,9,.*; allowed: score, opponent and dice of this"),
        ("0,0,1,", "0,0,0,", "line 3: '0,0,0' is there twice"),
        ("0,0,0,0.", "0,0,0,7.", "line 2: probability: got '7"),
        ("score,opponent,dice,probability\n", "score,opponent,dice,probability\n\n", "line 2: got"),
        ("0,0,0,0.", "0,0,0,0.0000", r"row 0, column 0"),
    ],
)
def test_a_table_that_is_no_policy_is_refused(
    old: str, new: str, says: str, tmp_path: Path
) -> None:
    game = hogeq.Game(MINUS)
    drawn(game).write(tmp_path / "p.csv")
    text = (tmp_path / "p.csv").read_text("utf-8")
    assert old in text
    (tmp_path / "p.csv").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(StrategyError, match=says) as refused:
        game.strategy(tmp_path / "p.csv")
    assert str(refused.value).startswith(str(tmp_path / "p.csv"))
    assert "\n" not in str(refused.value)


def test_a_minus_before_zero_is_read(tmp_path: Path) -> None:
    policy = hogeq.Game(KUHN).strategy("uniform").policy.copy()
    policy[0] = 1.0, -0.0
    path = tmp_path / "p.csv"
    hogeq.Game(KUHN).strategy(policy).write(path)
    assert "-0.0" in path.read_text("utf-8")
    np.testing.assert_array_equal(hogeq.Game(KUHN).strategy(path).policy, policy)
    path.write_text(path.read_text("utf-8").replace("-0.0", "-0.5"), "utf-8")
    with pytest.raises(StrategyError, match=r"probability: got .-0\.5.; allowed: 0 to 1"):
        hogeq.Game(KUHN).strategy(path)


def test_a_mixture_and_a_strategy_of_one_seat_are_arrays(tmp_path: Path) -> None:
    game = hogeq.Game(KUHN)
    for suffix in (".json", ".csv"):
        with pytest.raises(StrategyError, match=r"of one seat can be written to \.npz, not"):
            game.equilibrium().strategies[0].write(tmp_path / f"p{suffix}")
    assert list(tmp_path.iterdir()) == []


# --- pandas ---------------------------------------------------------------------------------------


def test_a_frame_has_a_line_for_each_action(game: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pandas is given, whether it is installed or not."""
    given: dict[str, Any] = {}
    frame = SimpleNamespace(
        DataFrame=lambda rows, columns: given.update(rows=rows, columns=columns)
    )
    monkeypatch.setitem(sys.modules, "pandas", frame)
    policy = drawn(game)
    policy.to_frame()
    hog = isinstance(game, hogeq.Hog)
    named = ["score", "opponent", "dice"] if hog else ["player", "infoset", "action"]
    assert given["columns"] == [*named, "probability"]
    chances = [chance for row in policy.to_dict().values() for chance in row.values()]
    assert [row[-1] for row in given["rows"]] == chances


def test_without_pandas_one_line_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ExplainedError, match=r"^pandas: not installed, .*pip install pandas"):
        hogeq.Game(KUHN).strategy("uniform").to_frame()


def test_a_notebook_shows_the_first_information_sets(game: Any) -> None:
    text = drawn(game)._repr_html_()
    assert text is not None
    if not isinstance(game, hogeq.Hog):
        assert "information set" in text
        assert text.count("<tr>") == 1 + min(20, drawn(game).shape[0])
    assert game.strategy(hogeq.Mixture([1.0], [drawn(game)]))._repr_html_() is None or isinstance(
        game, hogeq.Hog
    )


@pytest.mark.parametrize("given", [KUHN, {"edition": "su20", "goal": 3, "max_dice": 2}])
def test_a_strategy_is_asked_by_the_information_sets_that_its_game_lists(given: Any) -> None:
    game = hogeq.Game(given)
    strategy = game.purify(np.full(game.engine.shape, 1.0 / game.engine.num_actions))
    assert {sum(strategy[infoset].values()) for infoset in game.infosets} == {1.0}
    assert list(strategy.to_dict()) == game.infosets
