"""Decision problems of one player, made by a few parameters: trials, interviews, random trees.

They follow the ideas of E. Tewolde, B. H. Zhang, I. Anagnostides, T. Sandholm and V. Conitzer,
"Decision making under imperfect recall: algorithms and benchmarks", arXiv 2602.15252, 2026. No row
is met twice in a play: a player always knows which round it is.
"""

from typing import Any

import numpy as np

from hogeq.trees.building import Node, flatten
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree


def _tree(name: str, look: Any) -> FlatTree:
    return flatten(name, (), look, lambda moves: [str(move) for move in moves])


TESTERS = 2


def trials(rounds: int, actions: int, scenes: int, seed: int) -> FlatTree:
    """Act in rounds of which the last is real: those before are tests, and nobody says which.

    A player sees the round and its scene, and forgets earlier ones and its actions there. Each
    action has a gain, which counts in the real round alone, and a risk that a test ends the play.
    It depends on the tester, who is hidden, so that to have passed a test says something.
    """
    random = np.random.default_rng([1, rounds, actions, scenes, seed])
    gain = random.integers(0, 65, (TESTERS, rounds, scenes, actions)) / 64
    risk = random.integers(0, 33, (TESTERS, rounds, scenes, actions)) / 32
    # How many tests precede the real round, by tester.
    tests = random.integers(1, 9, TESTERS * rounds)
    tests = tests / tests.sum()
    # A scene follows the scene and the action before it.
    drawn = random.integers(1, 9, (scenes + 1, actions, scenes))
    follows = drawn / drawn.sum(axis=2, keepdims=True)

    def look(state: tuple[int, ...]) -> Node:
        # The tester and the number of tests, then in turn a scene, an action, whether it passed.
        if not state:
            return Node(CHANCE, moves=[(n, p, (n,)) for n, p in enumerate(tests.tolist())])
        tester, count = divmod(state[0], rounds)
        done, phase = divmod(len(state) - 1, 3)
        if phase == 0 and done and state[-1] == 0:
            return Node(TERMINAL)
        if phase == 0:
            before = state[-3:-1] if done else (scenes, 0)
            scenery = enumerate(follows[before].tolist())
            return Node(CHANCE, moves=[(s, p, (*state, s)) for s, p in scenery])
        if phase == 1:
            known = f"round {done} scene {state[-1]}"
            return Node(0, known, moves=[(a, 1.0, (*state, a)) for a in range(actions)])
        scene, action = state[-2:]
        if done == count:
            return Node(TERMINAL, payoff=float(gain[tester, done, scene, action]))
        fails = float(risk[tester, done, scene, action])
        chances = ((0, fails), (1, 1.0 - fails))
        return Node(CHANCE, moves=[(passed, p, (*state, passed)) for passed, p in chances])

    return _tree(f"trials-{rounds}x{actions}x{scenes}-{seed}", look)


def interview(kinds: int, rounds: int, questions: int, seed: int) -> FlatTree:
    """Ask questions of somebody of a hidden kind, then guess the kind.

    For privacy the player keeps the last answer alone: it sees the round, its last question and the
    answer. A question costs something, a right guess is worth 1.
    """
    random = np.random.default_rng([2, kinds, rounds, questions, seed])
    prior = random.integers(1, 9, kinds)
    yes = random.integers(1, 32, (rounds, kinds, questions)) / 32
    cost = random.integers(0, 9, (rounds, questions)) / 128

    def look(state: tuple[int, ...]) -> Node:
        if not state:
            chances = enumerate((prior / prior.sum()).tolist())
            return Node(CHANCE, moves=[(k, p, (k,)) for k, p in chances])
        kind, *past = state
        done, asked = divmod(len(past), 2)
        if asked and done == rounds:
            paid = sum(cost[n, past[2 * n]] for n in range(rounds))
            return Node(TERMINAL, payoff=float((past[-1] == kind) - paid))
        if asked:
            chance = float(yes[done, kind, past[-1]])
            answers = ((0, 1.0 - chance), (1, chance))
            return Node(CHANCE, moves=[(a, p, (*state, a)) for a, p in answers])
        choices = questions if done < rounds else kinds
        known = f"round {done} last {past[-2:]}"
        return Node(0, known, moves=[(a, 1.0, (*state, a)) for a in range(choices)])

    return _tree(f"interview-{kinds}x{rounds}x{questions}-{seed}", look)


def random_tree(depth: int, actions: int, rows: int, seed: int) -> FlatTree:
    """Choose in turn with a fair coin; which row a choice is made in is drawn, round by round."""
    random = np.random.default_rng([3, depth, actions, rows, seed])
    seen = [random.integers(0, rows, (2 * actions) ** done * 2) for done in range(depth)]
    won = random.integers(0, 1025, (2 * actions) ** depth) / 1024

    def look(state: tuple[int, ...]) -> Node:
        # Place among the plays of this length, the length, and whether the coin was tossed.
        place, done, tossed = state or (0, 0, 0)
        if done == depth:
            return Node(TERMINAL, payoff=float(won[place]))
        if not tossed:
            return Node(CHANCE, moves=[(c, 0.5, (2 * place + c, done, 1)) for c in (0, 1)])
        moves = [(a, 1.0, (actions * place + a, done + 1, 0)) for a in range(actions)]
        return Node(0, f"round {done} row {seen[done][place]}", moves=moves)

    return _tree(f"random-{depth}x{actions}x{rows}-{seed}", look)
