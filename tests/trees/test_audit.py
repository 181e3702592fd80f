"""The audit of recall: on toys whose properties are known, and on small games by brute force."""

import doctest
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hogeq
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.turn import total_rises
from hogeq.trees.audit import MOST_NODES, audit, audit_tree, history_text, replay, shows, small
from hogeq.trees.decision_problems import RandomTree
from hogeq.trees.flat import CHANCE, FlatTree, History, HistoryStep
from hogeq.trees.recall import Recall
from hogeq.trees.recall_results import Audit, Witness
from hogeq.trees.rules import from_rules, node_of
from hogeq.trees.tree import HogRules, count_nodes
from tests.cli.calls import ok, refused
from tests.slow import mostly_slow
from tests.trees.openspiel_games import ENDING


class Toy(hogeq.GameRules):
    """A tree of nested tuples.

    ``("A", infoset, {action: subtree})`` is a choice, ``{label: (probability, subtree)}`` a random
    move, "A" or "B" the winner, a float a payoff. A state is the place of a subtree in a list.
    """

    def __init__(self, root: Any) -> None:
        self._known: list[Any] = [root]

    def initial(self) -> int:
        return 0

    def to_move(self, state: int) -> int:
        what = self._known[state]
        if isinstance(what, float | str):
            return hogeq.END
        return hogeq.CHANCE if isinstance(what, dict) else "AB".index(what[0])

    def actions(self, state: int) -> list[str]:
        return list(self._known[state][2])

    def chances(self, state: int) -> dict[str, Fraction]:
        return {label: Fraction(chance) for label, (chance, _) in self._known[state].items()}

    def next(self, state: int, action: str) -> int:
        what = self._known[state]
        self._known.append(what[action][1] if isinstance(what, dict) else what[2][action])
        return len(self._known) - 1

    def knows(self, state: int, player: int) -> Hashable:  # noqa: ARG002
        return self._known[state][1]

    def payoffs(self, state: int) -> tuple[float, float]:
        what = self._known[state]
        won = what if isinstance(what, float) else 1.0 - 2.0 * "AB".index(what)
        return won, -won


def verdicts(found: Audit) -> list[bool | None]:
    """Of all properties but the last, which says less than the one before, and shuffles."""
    findings = {name: one for name, one in found.findings.items() if "shuffled" not in name}
    *verdicts, skew, relaxed = [finding.holds for finding in findings.values()]
    assert relaxed or not skew
    return [*verdicts, skew]


PENNY = ("A", "penny", {"heads": "A", "tails": "B"})
PENNY_TURNED = ("A", "penny", {"heads": "B", "tails": "A"})


def test_nothing_is_forgotten_where_every_move_is_seen() -> None:
    found = audit_tree(
        Toy(("A", 0, {"l": ("A", 1, {"l": "A", "r": "B"}), "r": ("A", 2, {"l": "B"})}))
    )
    assert verdicts(found) == [True] * 5
    assert not any(loss.infosets for loss in found.forgets.values())
    assert found.infosets == {0, 1, 2}
    assert found.histories == 3


def test_two_rooms_that_are_alike_and_forgotten() -> None:
    """Imperfect recall of what does not matter is well-formed."""
    found = audit_tree(Toy(("A", "door", {"left": PENNY, "right": PENNY})))
    assert verdicts(found) == [False, True, True, True, True]
    assert found.forgets["own action"].infosets == {"penny"}
    assert not found.forgets["own observation"].infosets
    witness = found.findings["perfect recall"].witness
    assert witness is not None
    assert witness.infoset == "penny"
    assert witness.first == (HistoryStep(0, "door", "left"),)
    assert witness.second == (HistoryStep(0, "door", "right"),)


def test_two_rooms_that_differ_are_only_skew_well_formed() -> None:
    """Utilities differ between the only two parts there can be; by no more than 2, to be sure."""
    found = audit_tree(Toy(("A", "door", {"left": PENNY, "right": PENNY_TURNED})))
    assert verdicts(found) == [False, True, True, False, True]
    assert found.findings["well-formed"].note == "whatever the refinement"


def test_a_forgotten_observation_is_no_loss_of_acts() -> None:
    def seen(first: Any, second: Any, chance: str = "1/2") -> Audit:
        rest = str(1 - Fraction(chance))
        sign = {
            "red": (chance, ("A", "red", {"go": first})),
            "green": (rest, ("A", "green", {"go": second})),
        }
        return audit_tree(Toy(sign))

    assert verdicts(seen(PENNY, PENNY)) == [False, False, True, True, True]
    # Chance's probabilities may differ by a factor.
    assert verdicts(seen(PENNY, PENNY, "1/3")) == [False, False, True, True, True]
    assert verdicts(seen(PENNY, PENNY_TURNED)) == [False, False, True, False, True]
    assert seen(PENNY, PENNY).forgets["own observation"].infosets == {"penny"}
    assert not seen(PENNY, PENNY).forgets["own action"].infosets

    def dice(chance: str) -> Any:
        rest = str(1 - Fraction(chance))
        return ("A", "penny", {"heads": {"1": (chance, "A"), "2": (rest, "B")}, "tails": "B"})

    # But what comes later must be as likely.
    assert verdicts(seen(dice("1/2"), dice("1/2"))) == [False, False, True, True, True]
    unlike = seen(dice("1/2"), dice("1/3"))
    assert verdicts(unlike) == [False, False, True, False, False]
    assert unlike.findings["chance-relaxed skew well-formed"].holds
    # And what can happen at all must be the same: one may go on, another not.
    longer = ("A", "penny", {"heads": ("A", "more", {"go": "A"}), "tails": "B"})
    found = seen(PENNY, longer)
    assert verdicts(found) == [False, False, True, False, False]
    witness = found.findings["skew well-formed"].witness
    assert witness is not None
    assert witness.note.startswith("no play with the own past of the second")


@pytest.mark.parametrize("apart", ["0", "1/1000000", "1/1000", "1/300"])
def test_chance_that_differs_by_little_differs(apart: str) -> None:
    def room(more: Fraction) -> Any:
        half = Fraction(1, 2)
        return ("A", "room", {"go": {"heads": (half + more, "A"), "tails": (half - more, "B")}})

    found = audit_tree(
        Toy(("A", "door", {"left": room(Fraction(0)), "right": room(Fraction(apart))}))
    )
    same = apart == "0"
    names = ("well-formed", "skew well-formed", "chance-relaxed skew well-formed")
    assert [found.findings[name].holds for name in names] == [same, same, True]


@pytest.mark.parametrize(("high", "low"), [(2.0, -2.0), (3.0, -3.0), (0.5, -0.5), (2.0, -1.0)])
def test_utilities_may_differ_by_a_factor_alone(high: float, low: float) -> None:
    """Those of either room may well sum to 0."""

    def room(heads: float, tails: float) -> Any:
        return ("A", "room", {"heads": heads, "tails": tails})

    found = audit_tree(Toy(("A", "door", {"left": room(1.0, -1.0), "right": room(high, low)})))
    assert found.findings["well-formed"].holds is (high == -low)
    assert found.findings["skew well-formed"].holds


def test_what_the_opponent_knows_must_go_with_either_past() -> None:
    """After the left door the opponent has moved, after the right one not."""
    left = ("B", "bell", {"ring": PENNY})
    for ranked in (False, True):
        found = audit_tree(Toy(("A", "door", {"left": left, "right": PENNY})), ranked=ranked)
        assert verdicts(found) == [False, True, True, False, False]
        assert found.findings["well-formed"].note == "whatever the refinement"


def test_a_finer_refinement_may_be_needed() -> None:
    """After the left door two coins fall unseen, equally likely: two plays to match with one."""
    coins = {"0": ("1/2", PENNY), "1": ("1/2", PENNY)}
    found = audit_tree(Toy(("A", "door", {"left": coins, "right": PENNY})))
    assert verdicts(found) == [False, True, True, True, True]
    assert found.findings["well-formed"].note == "with respect to perfect information"
    mixed = {"0": ("1/2", PENNY), "1": ("1/2", PENNY_TURNED)}
    found = audit_tree(Toy(("A", "door", {"left": mixed, "right": PENNY})))
    assert verdicts(found) == [False, True, True, None, True]
    assert "neither" in found.findings["well-formed"].note


def test_the_absent_minded_driver() -> None:
    """Piccione and Rubinstein 1997: two exits that look the same."""
    second = ("A", "exit", {"leave": "A", "drive on": "B"})
    found = audit_tree(Toy(("A", "exit", {"leave": "B", "drive on": second})))
    assert verdicts(found)[:3] == [False, False, False]
    witness = found.findings["no absent-mindedness"].witness
    assert witness == Witness("exit", (), (HistoryStep(0, "exit", "drive on"),))


def test_two_sets_of_one_text_that_are_met_again_are_both_in_json() -> None:
    """A player knows the number 1 or the text "1"; the first is met three times."""

    def road(exits: Hashable, left: int) -> Any:
        return ("A", exits, {"leave": "B", "on": road(exits, left - 1) if left else "A"})

    found = audit_tree(Toy({"a": (0.5, road(1, 2)), "b": (0.5, road("1", 1))}))
    assert found.met_again == {1: 3, "1": 2}
    assert found.to_json()["absent_minded"]["infosets"] == {"1": 3, "1 (2)": 2}


def test_the_other_player_is_audited_alike() -> None:
    hidden = ("B", "guess", {"heads": "A", "tails": "B"})
    tree = Toy(("A", "coin", {"heads": hidden, "tails": hidden}))
    found = audit_tree(tree, player=1)
    assert found.player == 1
    assert found.infosets == {"guess"}
    assert found.histories == 2
    assert verdicts(found) == [True] * 5
    assert found.forgets["opponent's action"].infosets == {"guess"}
    assert audit_tree(tree).infosets == {"coin"}


# --- Hog, by brute force --------------------------------------------------------------------------


def past(history: History, player: int) -> list[tuple[Hashable, str]]:
    return [(move.infoset, move.action) for move in history if move.player == player]


def all_histories(rules: Rules) -> dict[Hashable, list[History]]:
    """Histories at which player A moves, depth first."""
    tree = HogRules(rules)
    found: dict[Hashable, list[History]] = {}

    def walk(state: Hashable, history: History) -> None:
        node = node_of(tree, state)
        if node.player == 0:
            found.setdefault(node.infoset, []).append(history)
        mover = None if node.player == CHANCE else node.player
        for label, _, after in node.moves:
            walk(after, (*history, HistoryStep(mover, node.infoset, str(label))))

    walk(tree.initial(), ())
    return found


def lost_between(infoset: Hashable, one: History, two: History) -> set[str]:
    """Say in which respects two histories of one information set differ, by the definitions."""
    lost = set()
    mine = [part for step in past(one, 0) for part in step] + [infoset]
    other = [part for step in past(two, 0) for part in step] + [infoset]
    for place, (a, b) in enumerate(zip(mine, other, strict=False)):
        if a != b:
            lost.add("own action" if place % 2 else "own observation")
            break
    theirs = [part for step in past(one, 1) for part in step]
    others = [part for step in past(two, 1) for part in step]
    for place, (a, b) in enumerate(zip(theirs, others, strict=False)):
        if a != b:
            lost |= {"opponent's action"} if place % 2 else set()
            break
    if one[0] != two[0]:
        lost.add("seat")
    elif [m[::2] for m in one if m.player is not None] == [
        m[::2] for m in two if m.player is not None
    ]:
        lost.add("chance")
    return lost


def same_acts_where_both_were(one: History, two: History) -> bool:
    return all(
        act == also
        for infoset, act in past(one, 0)
        for there, also in past(two, 0)
        if infoset == there
    )


@pytest.mark.slow
@settings(max_examples=60)
@given(st.sampled_from(sorted(EDITIONS)), st.integers(2, 5), st.integers(1, 2), st.integers(2, 4))
def test_findings_are_those_of_all_pairs_of_histories(
    edition: str, goal: int, max_dice: int, sides: int
) -> None:
    rules = replace(EDITIONS[edition], goal=goal, max_dice=max_dice, sides=sides)
    sizes = count_nodes(HogRules(rules), most=6000)
    if not sizes.exact or sizes.choices > 300 or not total_rises(rules):
        return  # of games that might not end only the first turns are looked at
    found, histories = audit(rules), all_histories(rules)
    assert found.whole
    assert found.infosets == set(histories)
    assert found.histories == sum(map(len, histories.values())) == sizes.choices / 2
    lost: dict[str, set[Hashable]] = {what: set() for what in found.forgets}
    smallest: dict[str, int] = {}
    for infoset, here in histories.items():
        for one, two in combinations(here, 2):
            kinds = lost_between(infoset, one, two)
            for what in kinds:
                lost[what].add(infoset)
            names = set(kinds)
            if past(one, 0) != past(two, 0):
                names.add("perfect recall")
                if same_acts_where_both_were(one, two):
                    names.add("A-loss recall")
            for name in names:
                smallest[name] = min(smallest.get(name, 999), len(one) + len(two))
    witnesses = {what: loss.witness for what, loss in found.forgets.items()}
    witnesses |= {what: finding.witness for what, finding in found.findings.items()}
    assert {what: loss.infosets for what, loss in found.forgets.items()} == lost
    for name in (*found.forgets, "perfect recall", "A-loss recall"):
        witness = witnesses[name]
        assert (witness is None) is (name not in smallest)
        if witness is not None:
            assert len(witness.first) + len(witness.second) == smallest[name]
            assert {witness.first, witness.second} <= set(histories[witness.infoset])
    assert found.findings["no absent-mindedness"].holds
    recall, a_loss, _, strict, skew = verdicts(found)
    assert recall is not any(lost[what] for what in ("own action", "own observation"))
    assert not recall or a_loss
    assert not strict or skew
    assert not recall or strict  # one part each


LARGE = ("fa13", "fa18", "sp19", "su15_contest", "su18", "hog12", "sp13")  # to 6


@pytest.mark.parametrize("edition", mostly_slow(ENDING, "fa22", "su20"))
def test_the_usual_goal_is_the_highest_that_can_be_walked(edition: str) -> None:
    full = EDITIONS[edition]
    sizes = [count_nodes(HogRules(small(full, goal, 2)), most=MOST_NODES) for goal in range(4, 7)]
    fits = [goal for goal, size in enumerate(sizes, 4) if size.exact]
    assert small(full, None, 2).goal == fits[-1]
    assert fits[-1] == 6 - (edition in LARGE)


def test_histories_tell_the_choice_minus_one() -> None:
    rules = rules_from({"edition": "fa13", "goal": 4, "max_dice": 1})
    found = audit(rules)
    witness = found.forgets["own action"].witness
    assert witness is not None
    # 0 against 1 scores 2, and 2 is double 1: a swap.
    after = "B rolls 0 for 2: 2-1."
    assert history_text(rules, witness.first) == f"A begins. A rolls 0 for 1: 1-0. {after}"
    assert history_text(rules, witness.second) == f"A begins. A chooses -1 for 1: 1-0. {after}"


@pytest.mark.parametrize("edition", mostly_slow(ENDING, "fa22", "su20", "fa18", "fa15"))
def test_what_a_small_game_shows_is_so_in_the_full_game(edition: str) -> None:
    full = EDITIONS[edition]
    walked = small(full, 5 if edition != "fa18" else 4, 2)
    found = audit(walked)
    assert verdicts(found) == [False, False, True, False, False]
    witnesses = [loss.witness for loss in found.forgets.values()]
    witnesses += [finding.witness for finding in found.findings.values()]
    for witness in filter(None, witnesses):
        assert shows(full, witness)
        assert shows(walked, witness)
        assert witness.first != witness.second
        ends = [replay(full, history)[-1] for history in witness[1:3]]
        assert {(end.own, end.opponent) for end in ends} == {witness.infoset}
        assert {end.mover for end in ends} == {0}


def test_a_witness_of_another_game_shows_nothing() -> None:
    witness = audit(small(EDITIONS["fa22"], 5, 2)).findings["perfect recall"].witness
    assert witness is not None
    assert shows(EDITIONS["fa22"], witness)
    assert not shows(EDITIONS["su20"], witness)
    assert not shows(EDITIONS["fa22"], witness._replace(infoset=(0, 0)))
    assert not shows(small(EDITIONS["fa22"], 4, 2), witness)
    with pytest.raises(ValueError, match="not possible under su20"):
        replay(EDITIONS["su20"], (HistoryStep(None, None, "C begins"),))


def test_with_memory_nothing_is_forgotten() -> None:
    rules = rules_from({"edition": "su20", "goal": 4, "max_dice": 2, "sides": 3})
    found = audit_tree(HogRules(rules, memory=True))
    assert verdicts(found) == [True] * 5
    assert not any(loss.infosets for loss in found.forgets.values())
    assert found.histories == len(found.infosets)


def test_scores_after_a_game_that_stands_still_are_met_again() -> None:
    """fa15 without Piggy Back: a rolled 1 scores 0, and 0-0 comes once more."""
    rules = replace(small(EDITIONS["fa15"], 5, 1), piggy_back=False)
    found = audit(rules)
    assert not found.whole
    witness = found.findings["no absent-mindedness"].witness
    assert witness is not None
    assert history_text(rules, witness.first) == "A begins."
    assert history_text(rules, witness.second) == (
        "A begins. A rolls 1 for 0: 0-0. B rolls 1 for 0: 0-0."
    )
    assert found.findings["well-formed"].holds is None


def test_a_position_that_comes_twice_far_into_a_game_is_found() -> None:
    full = EDITIONS["sp22"]
    found = audit(small(full, 6, 2), full=full).findings["no absent-mindedness"]
    assert (found.holds, found.note) == (False, "in the game to 100 with 0 to 2 dice")
    assert found.witness is not None
    assert shows(full, found.witness)
    before, after = found.witness.first, found.witness.second
    assert after[: len(before)] == before
    # Between them both roll no dice for nothing, by the digits of the rules' text.
    assert [move.action for move in after[len(before) :]] == ["0", "0"]
    assert found.witness.infoset == (10, 29)  # 10 > 10 > 30, and 29 > 30 > 900: 0 modulo 30
    for zero_dice, holds in (
        ("[[0,1,1],[1,0,1],[1,1,1]]", False),  # 0-0 again, if both roll none
        ("[[1,0,1],[1,1,1],[1,1,1]]", True),  # no points at 0-1, but some at 1-0
    ):
        rules = Rules(goal=3, max_dice=1, zero_dice=zero_dice)
        assert audit(rules).findings["no absent-mindedness"].holds is holds


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_audit_of_su20_stands_in_the_docs() -> None:
    root, printed = Path(__file__).parents[2], ok("audit", "--rules", "su20")
    text = (root / "results" / "audit_su20.md").read_text("utf-8")
    assert text == f"```console\n$ hogeq audit --rules su20\n{printed}```\n"
    page = (root / "docs" / "recall.md").read_text("utf-8")
    shown = page.split("$ hogeq audit --rules su20\n")[1].split("```")[0]
    assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ("--rules", "su20", "--goal", "9", "--max-dice", "4"),
            "more than 1,",
            marks=pytest.mark.slow,
        ),
        (("--rules", "su16"), "'su16' is not here: no text of its rules was found"),
        (("--goal", "0"), "--goal"),
    ],
)
def test_the_command_refuses_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    assert message in refused("audit", *arguments)


def test_an_audit_is_printed_in_a_line() -> None:
    first, _ = hogeq.Game("kuhn_poker", forget="own_actions").audit()
    assert repr(first).startswith(
        "Audit(player 0: 6 information sets, 12 histories; perfect recall, "
    )
    tiny = hogeq.rules_from({"edition": "su20", "goal": 5, "max_dice": 2})
    assert "; not perfect recall, not A-loss recall, no absent-mindedness, not " in repr(
        audit(tiny)
    )
    assert len(repr(audit(tiny))) < 250


def pairwise_untraced(tree: FlatTree, player: int) -> tuple[int, int, int] | None:
    """Compare all pasts of each row in pairs: moves and both nodes of the shortest pair."""
    recall = Recall(tree, player)
    form, best = recall.form, None
    for parts in recall.shared.values():
        nodes = form.first_node[parts].tolist()
        acts = [dict(form.steps(int(form.parent_sequence[part]))) for part in parts]
        for two in range(len(nodes)):
            for one in range(two):
                pair = recall.pair(nodes[one], nodes[two])
                alike = all(acts[two].get(row, act) == act for row, act in acts[one].items())
                if alike and (best is None or pair.moves < best[0]):
                    best = pair.moves, pair.first, pair.second
    return best


@pytest.mark.slow
def test_pasts_that_no_act_explains_are_found_by_tables_as_in_pairs() -> None:
    found = []
    for seed in range(60):
        tree = from_rules(RandomTree(4, 2, 2 + seed % 5, seed))
        for player in (0, 1):
            pair = Recall(tree, player)._untraced()
            found.append(None if pair is None else (pair.moves, pair.first, pair.second))
            assert found[-1] == pairwise_untraced(tree, player)
    assert 10 < found.count(None) < 110
