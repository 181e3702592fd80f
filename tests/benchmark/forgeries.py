"""Results of three small instances, and what the checker accepts of forged ones."""

import hashlib
import json
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, cast

import check_benchmark as checker
import numpy as np
from check_instances import Instance
from check_trees import player_tree
from proofs import LinearProgram, branch_and_bound

from hogeq.benchmark.catalogue import hog_game
from hogeq.graph.hog import of_hog
from hogeq.trees.building import Node, flatten
from hogeq.trees.decision_problems import RandomTree
from hogeq.trees.flat import TERMINAL, FlatTree
from hogeq.trees.graphs import of_tree
from hogeq.trees.rules import from_rules

Arrays = dict[str, Any]

TREE, HOG, GAME = "tiny", "hog", "coins"


def coins() -> FlatTree:
    """Payoff 2 for equal coins of two players, else 0; the third action of player 1 pays 2."""

    def look(moves: tuple[int, ...]) -> Node:
        if len(moves) == 2:
            payoff = 2.0 * (moves[1] in {2, moves[0]})
            return Node(TERMINAL, payoffs=(payoff, -payoff))
        options = range(2 + len(moves))
        moved = [(move, 1.0, (*moves, move)) for move in options]
        return Node(len(moves), f"player {len(moves)}", moves=moved)

    return flatten(GAME, (), look, lambda moves: [str(move) for move in moves])


def leaf(count: int = 1) -> Arrays:
    """Make a proof without questions and prices."""
    return {
        "questions": np.full((count, 2), -1, np.int32),
        "first": np.zeros(count + 1, np.int32),
        "place": np.zeros(0, np.int32),
        "price": np.zeros(0, np.float32),
        "target": np.zeros(0),
    }


def best_of_all(instance: Any, allowed: Any = None) -> tuple[float, Any]:
    """Largest value of all pure strategies of some actions, and one that has it."""
    every = product(*map(np.flatnonzero, instance.legal if allowed is None else allowed))
    return max(((instance.value(np.array(one)), one) for one in every), key=lambda pair: pair[0])


class Results:
    """What a folder of instances and a folder of results hold; a forger changes it."""

    def __init__(self) -> None:
        tree, coin = from_rules(RandomTree(2, 2, 2, 1)), coins()
        game = hog_game("fa13", 5, 2).engine
        uniform = np.full((5, 5, game.num_actions), 1.0 / game.num_actions)
        self.instances = {
            TREE: of_tree(tree).arrays(),
            HOG: of_hog(game.rules).against(uniform).arrays(),
            GAME: of_tree(coin).arrays(),
        }
        instance = Instance(self.instances[TREE])
        _, pure = best_of_all(instance)
        pasts = player_tree(instance)
        relax, pure = LinearProgram(pasts, 10.0), np.array(pure)
        _, _, proof = branch_and_bound(relax, pasts.legal, instance.value, pure, 60.0)
        half = np.array([[[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]])
        self.strategies: Arrays = {
            TREE: pure.astype(np.int16),
            HOG: np.full(25, 1, np.int16),
            **{f"{GAME}.{player}.weights": np.ones(1) for player in (0, 1)},
            **{f"{GAME}.{player}.policies": half for player in (0, 1)},
        }
        self.proofs = {f"{TREE}.{key}": array for key, array in proof._asdict().items()}
        for name in (HOG, f"{GAME}.0", f"{GAME}.1"):
            self.proofs |= {f"{name}.{key}": array for key, array in leaf().items()}
        self.known: dict[str, Any] = {"format": checker.FORMAT}

    def copy(self) -> "Results":
        """One to change."""
        other = object.__new__(Results)
        other.instances = {name: dict(arrays) for name, arrays in self.instances.items()}
        other.strategies, other.proofs = dict(self.strategies), dict(self.proofs)
        other.known = json.loads(json.dumps(self.known))
        return other

    def write(self, folder: Path) -> None:
        """Write all, and hashes that are right."""
        for name, arrays in self.instances.items():
            np.savez(folder / f"{name}.npz", **arrays)
        for what, arrays in (("strategies", self.strategies), ("proofs", self.proofs)):
            np.savez(folder / "results" / f"{what}.npz", **arrays)
        self.write_known(folder)

    def write_known(self, folder: Path) -> None:
        """Write known.json, with the hashes of the archives as they are."""
        for what in ("strategies", "proofs"):
            data = (folder / "results" / f"{what}.npz").read_bytes()
            self.known[what] = hashlib.sha256(data).hexdigest()
        (folder / "results" / "known.json").write_text(json.dumps(self.known))

    def claim_what_is_computed(self, folder: Path, *names: str) -> None:
        """Let known.json say what the checker computes, if it computes anything."""
        made = {name: Instance(self.instances[name]) for name in names or self.instances}
        self.write(folder)
        reader = checker.Known(folder / "results")
        for name, instance in made.items():
            self.known["instances"][name] = reader.facts(name, instance)
        self.write_known(folder)


def accepts(folder: Path, *only: str) -> bool:
    return checker.main(str(folder), str(folder / "results"), *only) == 0


def claims(folder: Path, forged: Results, name: str) -> dict[str, Any] | None:
    """Give what is claimed of an instance and accepted, as the checker computes it, if any is."""
    with suppress(Exception):
        forged.claim_what_is_computed(folder, name)
        if accepts(folder, name):
            return cast("dict[str, Any]", forged.known["instances"][name])
    return None
