"""Two teams: members of one team are one player who forgets."""

from itertools import count, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.support.teams import teams_text
from hogeq.trees.rules import from_rules
from hogeq.trees.teams import side_names, sides_of
from tests.cli.calls import ask, ok, refused
from tests.own_rules import Moves
from tests.refusals import refuses


class Bits(Moves):
    """All say a bit at once; the first two win 1 if both say the bit that the last one says."""

    players = 3
    movers: tuple[int, ...] = (0, 1, 2)
    choices = (0, 1)
    total: float = 0.0

    def payoffs(self, state: Any) -> list[float]:
        won = float(len(set(state)) == 1)
        return [won / 4, 3 * won / 4, self.total - won]


def kuhn(cards: int) -> str:
    """File of three-player Kuhn poker, 3Kr: one chip each, one bet of one chip."""
    hands = [*permutations(range(cards), 3)]
    outcomes = count(1)

    def node(hand: tuple[int, ...], acts: str) -> str:
        first = acts.find("b") % 4  # 3 if nobody bets
        if len(acts) < (3 if "b" not in acts else first + 3):
            seat = len(acts) % 3
            number = 1 + hand[seat] * 100 + HISTORIES.index(acts)
            below = "".join(node(hand, acts + act) for act in "pb")
            return f'p "" {seat + 1} {number} "" {{ "p" "b" }} 0\n{below}'
        paid = [1, 1, 1]
        for turn, act in enumerate(acts):
            paid[turn % 3] += act == "b"
        best = max((paid[seat], hand[seat], seat) for seat in range(3))[2]
        won = [sum(paid) * (seat == best) - paid[seat] for seat in range(3)]
        return f't "" {next(outcomes)} "" {{ {won[0]} {won[1]} {won[2]} }}\n'

    deals = " ".join(f'"{a}{b}{c}" 1/{len(hands)}' for a, b, c in hands)
    text = "".join(node(hand, "") for hand in hands)
    return f'EFG 2 R "" {{ "A" "B" "C" }}\nc "" 1 "" {{ {deals} }} 0\n{text}'


HISTORIES = ("", "p", "pp", "ppb", "ppbp", "ppbb", "pb", "pbp", "pbb", "b", "bp", "bb")


@pytest.mark.parametrize(("cards", "value"), [(3, 0.0), (4, -1 / 24)])
@pytest.mark.parametrize("method", ["auto", "dag", "columns"])
def test_three_players_at_kuhn_poker(cards: int, value: float, method: str, tmp_path: Path) -> None:
    """Values of 3K3 and 3K4: Zhang, Farina and Sandholm, arXiv 2202.00789, -0.042 in its table."""
    path = tmp_path / "kuhn.efg"
    path.write_text(kuhn(cards))
    solved = hogeq.Game(path, teams="01/2").equilibrium(60.0, method)
    assert solved.is_proved
    assert solved.lower == pytest.approx(value, abs=1e-9)


def test_openspiel_has_the_same_game(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    path = tmp_path / "kuhn.efg"
    path.write_text(kuhn(4))
    ours = hogeq.Game(path, teams="01/2").tree
    theirs = hogeq.Game("kuhn_poker(players=3)", teams=[[0, 1], [2]]).tree
    assert theirs.num_rows == ours.num_rows == 48
    solved = hogeq.Game(theirs).equilibrium()
    assert solved.lower == pytest.approx(-1 / 24, abs=1e-9)


@pytest.mark.parametrize(("teams", "value"), [("01/2", 0.5), ("2/01", -0.5), ("0/12", 0.0)])
def test_a_team_draws_together(teams: str, value: float) -> None:
    """Both say the same bit, at random; alone a member can do nothing against the other two."""
    game = hogeq.Game(Bits(), teams=teams)
    solved = game.equilibrium()
    if teams == "0/12":  # the payoff of player 0 is 1/4 at most, and the others need not give it
        value = 0.0
    assert solved.is_proved
    assert solved.lower == pytest.approx(value, abs=1e-9)
    drawn = solved.strategies[0 if teams == "01/2" else 1]
    assert game.exploitability(game.joined(*solved.strategies)).upper < 1e-9
    assert len(drawn.weights) == 2 or teams == "0/12"


def test_policies_secure_what_all_plays_share(tmp_path: Path) -> None:
    """Matching pennies for 9 or 5, paid by the second player: 7."""
    path = tmp_path / "pennies.efg"
    path.write_text(
        'EFG 2 R "pennies" { "a" "b" }\np "" 1 1 "" { "h" "t" } 0\np "" 2 1 "" { "h" "t" } 0\n'
        't "" 1 "" { 9 -9 }\nt "" 2 "" { 5 -5 }\np "" 2 1 "" { "h" "t" } 0\n'
        't "" 2 "" { 5 -5 }\nt "" 1 "" { 9 -9 }\n'
    )
    found = hogeq.Game(path).in_policies(0.2)
    assert (found.lower, found.upper) == pytest.approx((7.0, 7.0), abs=0.1)
    assert found.lower <= 7.0 + 1e-9 <= found.upper + 2e-9


def test_the_sum_of_payoffs_may_be_any_constant() -> None:
    rules = Bits()
    rules.total = 7.0
    solved = hogeq.Game(rules, teams="01/2").equilibrium()
    assert (solved.lower, solved.upper) == pytest.approx((0.5, 0.5), abs=1e-9)
    other = hogeq.Game(rules, teams="2/01").equilibrium()
    assert (other.lower, other.upper) == pytest.approx((6.5, 6.5), abs=1e-9)


@pytest.mark.parametrize("total", [1e9, -1e12])
def test_a_sum_far_from_0_takes_no_digits_of_the_first_team(total: float) -> None:
    rules = Bits()
    rules.total = total
    game = hogeq.Game(rules, teams="01/2")
    solved = game.equilibrium()
    assert (solved.lower, solved.upper) == pytest.approx((0.5, 0.5), abs=1e-9)
    assert game.value("uniform", "uniform").first == pytest.approx(0.25, abs=1e-12)
    assert game.attack("uniform").seats[0] == pytest.approx(0.5, abs=1e-12)


def test_rows_keep_the_member() -> None:
    tree = from_rules(Bits(), teams="02/1")
    assert [str(name) for name in tree.names] == [
        "player 0: nothing", "player 2: nothing", "player 1: nothing",
    ]  # fmt: skip
    assert (tree.seat.tolist(), tree.member.tolist()) == ([0, 0, 1], [0, 2, 1])
    assert [str(step) for step in tree.history(tree.num_nodes - 1)] == [
        "player 0: 1", "player 1: 1", "player 2: 1",
    ]  # fmt: skip
    assert repr(tree) == "FlatTree(Bits, teams 02/1: 15 nodes, 3 infosets)"


class Remembers(Bits):
    """The first player moves twice, and is told nothing."""

    movers = (0, 1, 2, 0)

    def knows(self, state: Any, player: int) -> Any:
        return len(state), state[0] if player else None

    def payoffs(self, state: Any) -> list[float]:
        return super().payoffs(state[1:])


def test_members_forget_their_own_actions_alone() -> None:
    """The second sees what the first did; to forget own actions takes that from the first only."""
    tree = from_rules(Remembers(), teams="01/2", forget="own_actions")
    assert tree.num_rows == 1 + 2 + 2 + 1


def test_an_audit_speaks_of_teams_and_of_members() -> None:
    team, other = hogeq.Game(Bits(), teams="01/2").audit()
    assert not team.findings["perfect recall"].holds
    assert [one.player for one in team.members] == [0, 1]
    assert all(one.findings["perfect recall"].holds for one in team.members)
    assert not other.members
    found = team.to_json()["members"]["1"]["perfect_recall"]
    assert found["holds"]


def test_a_saved_game_keeps_its_members(tmp_path: Path) -> None:
    game = hogeq.Game(Bits(), teams="02/1")
    game.write(tmp_path / "bits.npz")
    again = hogeq.Game(tmp_path / "bits.npz")
    assert game.tree is not None
    assert again.tree is not None
    assert again.tree.digest() == game.tree.digest()
    assert (again.tree.sides, again.tree.member.tolist()) == ((0, 1, 0), [0, 2, 1])
    assert list(map(str, again.tree.names)) == list(map(str, game.tree.names))
    assert [one.to_json() for one in again.audit()] == [one.to_json() for one in game.audit()]
    with np.load(tmp_path / "bits.npz") as file:
        arrays = dict(file)
    for sides, says in (
        ((0, 0, 0), "names of sets that begin with a"),
        ((0, 1, 2), r"\[2\]: .* 0 or 1"),
    ):
        np.savez(tmp_path / "bad.npz", **{**arrays, "sides": np.array(sides, np.int8)})
        refuses(lambda: hogeq.Game(tmp_path / "bad.npz"), says)


def test_a_file_of_gambit_has_the_members(tmp_path: Path) -> None:
    """The first member has what its team is paid."""
    rules = Bits()
    rules.total = 7.0
    game = hogeq.Game(rules, teams="02/1")
    game.write(tmp_path / "bits.efg")
    again = hogeq.Game(tmp_path / "bits.efg", teams="02/1")
    assert game.tree is not None
    assert again.tree is not None
    assert np.array_equal(again.tree.payoff, game.tree.payoff)
    assert (again.tree.shift, again.tree.sides) == (3.5, (0, 1, 0))
    assert again.tree.member.tolist() == [0, 2, 1]


def test_sides_have_names() -> None:
    assert side_names(None) == ("player 0", "player 1")
    assert side_names((1, 0, 1)) == ("team 0 (player 1)", "team 1 (players 0, 2)")
    solved = hogeq.Game(Bits(), teams="1/02").equilibrium(5.0)
    meanings = [meaning for *_, meaning in solved.rows()]
    assert meanings[0] == "payoff that team 0 (player 1) secures; proved"
    assert meanings[1] == "payoff that team 1 (players 0, 2) allows"


@pytest.mark.parametrize(
    ("teams", "says"),
    [
        (None, "Bits: has 3 players; allowed: 1 or 2, or two teams"),
        ("0/1/2", "Bits: teams: got '0/1/2'; allowed: two teams that share players 0 to 2 out"),
        ("01/1", "Bits: teams: got '01/1'; allowed: two teams that share players 0 to 2 out"),
        ("0/1", "Bits: teams: got '0/1'; allowed: .*, 01/2 say"),
        ("012/", "Bits: teams: got '012/'; allowed: two teams that share players 0 to 2 out"),
        ([[0, 1]], "Bits: teams: got '01'; allowed: two teams"),
        ([[0, 1], ["2"]], "teams: got .*; allowed: numbers of players in two teams"),
        ("01/\N{ARABIC-INDIC DIGIT TWO}", "teams: got .*; allowed: numbers of players"),
        ("first/second", "teams: got 'first/second'; allowed: numbers of players"),
    ],
)
def test_what_are_no_two_teams_is_refused_in_a_line(teams: Any, says: str) -> None:
    refuses(lambda: hogeq.Game(Bits(), teams=teams), f"^{says}")


def test_payoffs_of_teams_of_no_constant_sum_are_refused() -> None:
    rules = Bits()
    rules.payoffs = lambda state: [*map(float, state)]  # type: ignore[method-assign]
    with pytest.raises(ValueError, match=r"^Bits: after .* is not zero-sum: payoffs sum to 1"):
        hogeq.Game(rules, teams="01/2")


def test_teams_are_of_games_other_than_hog_that_are_not_built() -> None:
    with pytest.raises(ValueError, match="teams: got '0/1'; allowed: for games other than Hog"):
        hogeq.Game("su20", teams="0/1")
    with pytest.raises(ValueError, match="teams: got '0/1'; allowed: none for a tree that is b"):
        hogeq.Game(from_rules(Bits(), teams="01/2"), teams="0/1")


def test_ten_players_are_told_apart() -> None:
    assert teams_text([[10, 2], [0]]) == "2,10/0"
    assert teams_text("2, 10/0") == "2,10/0"
    sides = sides_of([[*range(10)], [10]], 11, "many")
    assert sides == (0,) * 10 + (1,)


@pytest.mark.slow
def test_a_run_brings_its_teams(in_folder: Path) -> None:
    (in_folder / "kuhn.efg").write_text(kuhn(3))
    (in_folder / "team.yaml").write_text(
        "{name: team, game: kuhn.efg, teams: [[0, 1], [2]],"
        " solver: {name: dag_cfr, iterations: 20}}"
    )
    made = ask("run", "team.yaml")
    assert made["mixture"]["attack"] is not None
    assert "teams: 01/2" in Path("results/team/config.yaml").read_text()
    found = ask("attack", "results/team")
    assert (found["game"], found["teams"]) == ("kuhn.efg", "01/2")
    line = refused("attack", "results/team", "--teams", "0/12")
    assert "teams: got '0/12'; allowed: 01/2, as the run does" in line
    tree = hogeq.Game("results/team").tree
    assert tree is not None
    assert tree.sides == (0, 0, 1)


PARTNERS = """EFG 2 R "partners" { "Ann" "Bob" }
c "" 1 "" { "sun" 1/2 "rain" 1/2 } 0
p "" 1 1 "sun" { "up" "down" } 0
p "" 2 1 "up" { "walk" "stay" } 0
t "" 1 "" { 3, 3 }
t "" 2 "" { 1, 1 }
p "" 2 2 "down" { "walk" "stay" } 0
t "" 1
t "" 2
p "" 1 2 "rain" { "up" "down" } 0
p "" 2 1 "up" { "walk" "stay" } 0
t "" 3 "" { 0, 0 }
t "" 4 "" { 2, 2 }
p "" 2 2 "down" { "walk" "stay" } 0
t "" 3
t "" 4
"""
"""Ann signals the weather; Bob walks in the sun for 3, and stays in the rain for 2: 5/2."""


def test_partners_play_against_chance(in_folder: Path) -> None:
    """Tiny Hanabi's optimum is 10: Foerster and others, "Bayesian action decoder", ICML 2019."""
    Path("partners.efg").write_text(PARTNERS)
    for name, value in (("partners.efg", 2.5), ("tiny_hanabi", 10.0)):
        game = hogeq.Game(name, teams="01")
        assert len(game.audit()) == 2
        solved = game.equilibrium(10.0)
        assert solved.is_proved
        assert solved.lower == solved.upper == value
        assert game.value(solved).first == pytest.approx(value)
        policies = game.in_policies(10.0)
        assert policies.lower == pytest.approx(value, abs=1e-6)
        game.write("game.npz")
        again = hogeq.Game("game.npz")
        assert again.equilibrium(10.0).lower == value
        told = ok("equilibrium", "--game", name, "--teams", "01")
        assert f"{name}, teams 01: payoff of the team (players 0, 1)" in told
        assert "payoff that chance allows" in told
        assert "is not zero-sum" in refused("equilibrium", "--game", name)


def test_a_team_of_all_gets_the_mean_of_its_members() -> None:
    """Nobody else decides: the mean of Bits' payoffs is the same at all ends."""
    game = hogeq.Game(Bits(), teams="012")
    assert game.equilibrium(5.0).lower == pytest.approx(0.0)
    paid = {"01/2": 0.5, "012": 0.0}
    for teams, value in paid.items():
        found = hogeq.Game(Bits(), teams=teams).equilibrium(5.0)
        assert (found.lower, found.upper) == pytest.approx((value, value), abs=1e-9)
