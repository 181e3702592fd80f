"""Information sets with very many actions or pasts: memory, and what is refused."""

import tracemalloc
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.trees.building import Node as TreeNode
from hogeq.trees.building import flatten
from hogeq.trees.flat import CHANCE, TERMINAL
from hogeq.trees.recall import audit_of


@pytest.mark.slow
def test_an_information_set_with_200_000_actions_takes_little_memory() -> None:
    count = 200_000

    def look(node: int | None) -> TreeNode:
        if node is None:
            return TreeNode(0, "wide", moves=[(one, 1.0, one) for one in range(count)])
        payoff = float(node)
        return TreeNode(TERMINAL, payoffs=(payoff, -payoff))

    tree = flatten("wide", None, look, lambda moves: [*map(str, moves)])
    game = hogeq.Game(tree)
    tracemalloc.start()
    found, solved = game.attack("uniform"), game.equilibrium(10.0)
    sides = game.audit()
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 2**30
    assert found.is_proved
    assert found.to_json()["seats"] == [count - 1.0, -(count - 1) / 2]
    assert solved.is_proved
    assert solved.to_json()["lower"] == count - 1.0
    assert sides[0].findings["perfect recall"].holds


class Choice(hogeq.GameRules):
    """Choose one of very many."""

    def __init__(self, count: int) -> None:
        self.count = count

    def initial(self) -> int:
        return -1

    def to_move(self, state: int) -> int:
        return 0 if state < 0 else hogeq.END

    def actions(self, state: int) -> Any:
        return range(self.count if state < 0 else 0)

    def next(self, state: int, action: Any) -> int:
        return max(state, int(action))

    def payoffs(self, state: int) -> tuple[int, int]:
        return state, -state


class Walk(Choice):
    """Go on or stop, move after move."""

    def to_move(self, state: int) -> int:
        return 0 if -self.count <= state < 0 else hogeq.END

    def actions(self, state: int) -> Any:
        return ("go", "stop") if state < 0 else ()

    def next(self, state: int, action: Any) -> int:
        return state - 1 if action == "go" else -state


def large_game(kind: str, folder: Path) -> Any:
    """Make a game of one kind: of many actions or deep, by own rules or of a file."""
    if kind == "wide":
        return hogeq.Game(Choice(60_000))
    if kind == "wide text":
        actions = [f"a{number}" for number in range(60_000)]
        lines = [f"node / player 1 actions {' '.join(actions)}"]
        lines += [f"node /P1:{name} leaf payoffs 1=1" for name in actions]
        (folder / "wide.txt").write_text("\n".join(lines))
        return hogeq.Game(folder / "wide.txt")
    game: Any = hogeq.Game(Walk(3_000))
    if kind in {"deep.npz", "deep.efg"}:
        game.write(folder / kind)
        game = hogeq.Game(folder / kind)
    return game


@pytest.mark.parametrize("kind", ["wide", "wide text", "deep", "deep.npz", "deep.efg"])
def test_names_of_actions_are_written_in_a_time_linear_in_the_game(
    kind: str, in_folder: Path
) -> None:
    """Each name was found among all, or with all moves before it: in minutes, in large games."""
    tree = large_game(kind, in_folder).tree
    begun = process_time()
    word, words = tree.words(np.arange(tree.num_nodes))
    assert process_time() - begun < 1.0
    assert words[word[0]] == ""
    for node in (1, 2, tree.num_nodes // 2, tree.num_nodes - 1):
        assert words[word[node]] == tree.history(node)[-1].action


def test_weights_of_a_mixture_that_miss_1_are_made_to_sum_to_1(in_folder: Path) -> None:
    """Both components take 9 in the first seat, and allow 7 in the second."""
    (in_folder / "n.efg").write_text(
        'EFG 2 R "n" { "A" "B" }\np "" 1 1 "" { "l" "r" } 0\n'
        't "" 1 "" { 9, -9 }\nt "" 2 "" { 7, -7 }\n'
    )
    game = hogeq.Game("n.efg")
    policy = np.array([[0.0, 1.0]])
    for off in (-0.9e-9, 0.9e-9):
        mixture = hogeq.Mixture([0.5 + off, 0.5], [policy, policy])
        own, other = game.value(mixture, mixture), game.value(mixture, "uniform")
        assert own[1:] == pytest.approx((7.0, -7.0), abs=1e-14)
        assert other[1:] == pytest.approx((7.0, -8.0), abs=1e-14)
        found = game.attack(mixture)
        assert found.is_proved
        assert found.to_json()["seats"] == [9.0, -7.0]


def forgets(count: int, *, remembers: bool = False) -> Any:
    """Choose one of many; the other calls 0 or 1; guess that, having forgotten which it was.

    A guess that is right is paid a share of the first choice in the largest.
    """

    def look(state: tuple[int, ...]) -> TreeNode:
        if len(state) == 3:
            won = (state[0] + 1) / count if state[1] == state[2] else 0.0
            return TreeNode(TERMINAL, payoffs=(won, -won))
        moves = [(one, 1.0, (*state, one)) for one in range(2 if state else count)]
        known = len(state), *state[: remembers and len(state) == 2]
        return TreeNode((0, 1, 0)[len(state)], known, moves=moves)

    return hogeq.Game(flatten("forgets", (), look, lambda moves: [*map(str, moves)]))


@pytest.mark.slow
def test_a_row_with_as_many_pasts_as_another_has_actions_takes_little_memory() -> None:
    """Values by hand: the first choice is the largest, and a guess is right half the time."""
    count = 6_000
    game = forgets(count)
    tracemalloc.start()
    found, solved, sides = game.attack("uniform"), game.equilibrium(20.0), game.audit()
    policies, last = game.in_policies(20.0), game.solve("cfr_plus", 3).strategy
    lost = game.exploitability(last)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < count**2  # less than a byte for each pair of actions
    assert found.is_proved
    assert found.to_json()["seats"] == pytest.approx([0.5, -(count + 1) / (4 * count)])
    assert solved.is_proved
    assert solved.method == "lp"
    assert solved.lower == pytest.approx(0.5)
    assert policies.is_proved
    assert policies.lower == pytest.approx(0.5)
    assert 0.0 <= lost.lower <= lost.upper < 0.5
    assert sides[0].forgetful == sides[0].free == {(2,)}
    assert sides[0].findings["A-loss recall"].holds
    assert not sides[0].findings["perfect recall"].holds
    assert forgets(20_000).equilibrium(20.0).lower == pytest.approx(0.5)


def test_what_needs_too_large_a_table_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of a table are as wide as the widest; CFR needs one of all decisions."""
    kept, wide = forgets(100, remembers=True), forgets(100)
    monkeypatch.setattr("hogeq.trees.rows.MOST_CELLS", 300)
    for call in (kept.equilibrium, lambda: kept.attack("uniform"), kept.in_policies):
        with pytest.raises(ValueError, match=r"102 information sets, and one has 100 actions; all"):
            call()
    assert kept.audit()[0].findings["perfect recall"].holds
    with pytest.raises(ValueError, match=r"102 decisions of belief DAGs, and one has 100 actions;"):
        wide.equilibrium(10.0, method="cfr")


def test_a_table_for_which_there_is_no_memory_is_refused_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Commands hold several tables at a time: a limit of memory leaves less than one of 2 GiB."""
    game = forgets(3_000, remembers=True)  # 9 million cells
    for num_bytes, is_refused in ((2**29, True), (2**30, False)):
        monkeypatch.setattr("hogeq.trees.rows.memory", lambda num_bytes=num_bytes: num_bytes)
        if is_refused:
            tracemalloc.start()
            with pytest.raises(hogeq.HogeqError, match="3,000 actions; allowed: a product of 6,7"):
                game.attack("uniform")
            _, most_bytes = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert most_bytes < 9_000_000
        else:
            assert game.rows.shape == (3_002, 3_000)
    monkeypatch.setattr("hogeq.trees.rows.memory", lambda: 1)
    assert forgets(100, remembers=True).rows.shape == (102, 100)  # small tables are not asked of


def test_a_row_of_many_pasts_is_audited_in_time_linear_in_them() -> None:
    """The last past alone is like another one; all others differ by the first action."""
    count = 20_000

    def look(state: str) -> TreeNode:
        if state == "start":
            return TreeNode(CHANCE, moves=[(0, 0.5, "wide"), (1, 0.5, "first")])
        if state in {"left", "right"}:
            return TreeNode(TERMINAL, payoffs=(1.0, -1.0))
        after = {"wide": ["joint"] * count, "first": ["second"], "second": ["joint"]}
        following = after.get(state, ["left", "right"])
        return TreeNode(0, state, moves=[(one, 1.0, to) for one, to in enumerate(following)])

    tree = flatten("star", "start", look, lambda moves: [*map(str, moves)])
    begin = process_time()
    assert not audit_of(tree, 0).findings["A-loss recall"].holds
    assert process_time() - begin < 5.0
