"""The games of the papers are theirs: sizes, and OpenSpiel's own games history by history."""

from typing import Any

import pyspiel
import pytest

import hogeq
from hogeq.trees.families import full_name
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, payoff
from hogeq.trees.rules import GameRules, from_rules, named_rules, node_of
from tests.slow import fast_and_slow

SAME = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker(suit_isomorphism=True)",
    "2K3": "kuhn_poker",
    "3K4": "kuhn_poker(players=3)",
    "4K5": "kuhn_poker(players=4)",
    "2L232": "leduc_poker(suit_isomorphism=True)",
    "liars(players=2,wild=true,first=number)": "liars_dice(dice_sides=3)",
    "liars(players=2,wild=true)": "liars_dice(dice_sides=3,bidding_rule=reset-quantity)",
    "gops(players=3)": "goofspiel(players=3,num_cards=3,points_order=descending,{points})",
    "gops(players=3,order=random)": "goofspiel(players=3,num_cards=3,points_order=random,{points})",
    "gops(players=2,cards=3,order=ascending)": "goofspiel(num_cards=3,points_order=ascending,"
    "{points})",
    "gops(players=3,cards=4,turns=2,hidden=true)": "goofspiel(players=3,num_cards=4,num_turns=2,"
    "points_order=descending,imp_info=True,{points})",
    "gops(players=3,order=random,hidden=true)": "goofspiel(players=3,num_cards=3,imp_info=True,"
    "{points})",
}
SLOW = {"3L242": "leduc_poker(players=3,suit_isomorphism=True)"}


def rules(name: str) -> GameRules:
    found = named_rules(full_name(name))
    assert found is not None
    return found


@pytest.mark.parametrize(("ours", "theirs"), fast_and_slow(SAME.items(), SLOW.items()))
def test_a_game_is_openspiels_history_by_history(ours: str, theirs: str) -> None:
    """Both trees at once: who moves, chances, payoffs; information sets are one to one."""
    game, spiel = (
        rules(ours),
        pyspiel.load_game(theirs.format(points="returns_type=point_difference")),
    )
    if spiel.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        spiel = pyspiel.convert_to_turn_based(spiel)
    there: dict[Any, Any] = {}
    back: dict[Any, Any] = {}
    stack = [(game.initial(), spiel.new_initial_state())]
    while stack:
        mine, state = stack.pop()
        node = node_of(game, mine)
        if state.is_terminal():
            assert node.player == TERMINAL
            assert node.payoffs == pytest.approx(state.returns())
            continue
        if state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            assert node.player == CHANCE
            assert [chance for _, chance, _ in node.moves] == pytest.approx(chances)
        else:
            actions, player = state.legal_actions(), state.current_player()
            known = player, state.information_state_string(player)
            assert node.player == player
            assert there.setdefault(known, node.infoset) == node.infoset
            assert back.setdefault((player, node.infoset), known) == known
        stack += [
            (after, state.child(action))
            for (_, _, after), action in zip(node.moves, actions, strict=True)
        ]


# Ends, as Zhang, Farina and Sandholm (arXiv 2202.00789) and the papers before have them.
ENDS = {
    "3K3": 78,
    "3K4": 312,
    "3K6": 1560,
    "3K8": 4368,
    "3K12": 17160,
    "3L133": 6477,
    "3L143": 20856,
    "3L151": 10020,
    "3L223": 8762,
    "3D2": 504,
    "3D3": 13797,
}
LARGE = {"3L153": 51215, "3D4": 262080, "3L523": 775148}


@pytest.mark.parametrize(("name", "ends"), fast_and_slow(ENDS.items(), LARGE.items()))
def test_games_have_the_sizes_of_the_papers(name: str, ends: int) -> None:
    game, found = rules(name), 0
    stack = [game.initial()]
    while stack:
        node = node_of(game, stack.pop())
        found += node.player == TERMINAL
        stack += [after for _, _, after in node.moves]
    assert found == ends


@pytest.mark.slow
def test_sizes_in_docstrings_are_so() -> None:
    for name in ("3K4", "3L133", "3D3", "die_roll_poker"):
        tree = hogeq.Game(name, teams=None if name == "die_roll_poker" else "01/2").tree
        about = " ".join(str(type(rules(name)).__doc__).split())
        ends = int((tree.player == TERMINAL).sum())
        assert f"{name if name[0].isdigit() else 'It'} has {tree.num_nodes:,} nodes" in about
        assert name == "die_roll_poker" or f"{ends:,} ends" in about
        assert name == "die_roll_poker" or f"{tree.num_rows:,} information sets" in about


def uniform(tree: FlatTree) -> float:
    return payoff(tree, tree.uniform(), tree.uniform())


def test_values_of_two_players_are_those_known() -> None:
    assert hogeq.Game("2K3").equilibrium().lower == pytest.approx(-1 / 18)  # Kuhn 1950
    leduc = hogeq.Game("leduc(players=2,bets=2,suits=2)")
    assert leduc.equilibrium().lower == pytest.approx(-0.0856064, abs=5e-8)  # OpenSpiel's LP
    assert uniform(hogeq.Game("2L232").tree) == pytest.approx(
        uniform(hogeq.Game("leduc_poker").tree)
    )


# Value to the first team in mixtures, TMECor: arXiv 2109.05284 and 2202.00789, to three digits;
# where more stand, by other code that builds the paper's DAG.
VALUES = {
    ("3K3", "01/2"): (0.0, 1e-9),
    ("3K4", "01/2"): (-1 / 24, 1e-9),
    ("3D2", "01/2"): (0.25, 1e-9),
}
LONG = {
    ("3K6", "01/2"): (-0.023650, 5e-7),
    ("4K5", "01/23"): (-7 / 190, 1e-9),
    ("3K8", "01/2"): (-0.019281, 5e-7),
    ("3L133", "01/2"): (0.214843, 5e-7),
    ("3D3", "01/2"): (0.284, 5e-4),
    ("liars(players=3,first=number)", "01/2"): (0.321, 5e-4),  # by OpenSpiel's order of bids
}


@pytest.mark.parametrize(("game", "value"), fast_and_slow(VALUES.items(), LONG.items()))
def test_teams_have_the_values_of_the_papers(
    game: tuple[str, str], value: tuple[float, float]
) -> None:
    solved = hogeq.Game(game[0], teams=game[1]).equilibrium(seconds=300)
    assert solved.is_proved
    assert solved.lower == pytest.approx(value[0], abs=value[1])
    assert solved.upper == pytest.approx(value[0], abs=value[1])


def test_die_roll_poker_forgets_dice() -> None:
    tree, forgets = (
        hogeq.Game(f"die_roll_poker(sides=2,forgets={one})").tree for one in (False, True)
    )
    assert tree.num_nodes == forgets.num_nodes
    assert (tree.seat == 0).sum() > (forgets.seat == 0).sum()
    known, sums = hogeq.Game(tree).audit()[0], hogeq.Game(forgets).audit()[0]
    assert known.findings["perfect recall"].holds
    assert not sums.findings["perfect recall"].holds


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("3K2", "game kuhn: ranks: got 2; allowed: 3 or more, one a player"),
        ("3L131", "game leduc: suits: got 1; allowed: more than 3 cards, ranks times suits"),
        ("kuhn(players=1)", "game kuhn: players: got 1; allowed: whole numbers from 2 to 9"),
        ("liars(first=bid)", "game liars: first: got 'bid'; allowed: face or number"),
        ("3K4", "3K4: has 3 players; allowed: 1 or 2, or two teams"),
        ("3K999", "game kuhn: has more than 20,000,000 nodes; allowed: smaller parameters"),
        ("3L13", "game: got '3L13'; allowed: an edition of Hog"),
        ("kuhns", "kuhn"),
    ],
)
def test_what_is_no_such_game_is_refused(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        hogeq.Game(name)


def test_a_name_of_the_papers_is_one_of_a_registered_game() -> None:
    assert full_name("3K12") == "kuhn(players=3,ranks=12)"
    assert full_name("3l133") == "leduc(players=3,bets=1,ranks=3,suits=3)"
    assert full_name("2D6") == "liars(players=2,sides=6)"
    assert full_name("kuhn_poker") == "kuhn_poker"
    assert full_name("liar") == "liars"
    assert full_name("liar(players=3,sides=2)") == "liars(players=3,sides=2)"
    assert full_name("liars_dice") == "liars_dice"
    assert full_name("goofspiel(players=2,cards=4)") == "gops(players=2,cards=4)"
    assert full_name("goofspiel(num_cards=4)") == "goofspiel(num_cards=4)"  # of OpenSpiel
    assert hogeq.Game("2k3").tree.digest() == hogeq.Game("kuhn(players=2,ranks=3)").tree.digest()


def test_rules_have_no_limit_of_players_of_their_own() -> None:
    tree = from_rules(rules("kuhn(players=5,ranks=5)"), teams="0123/4")
    assert tree.num_rows == 5 * 5 * 16  # each card, and each way to come to bet or to answer
