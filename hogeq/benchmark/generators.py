"""Decision problems of one player, made by a few parameters: trials, interviews, random trees.

They follow the ideas of E. Tewolde, B. H. Zhang, I. Anagnostides, T. Sandholm and V. Conitzer,
"Decision making under imperfect recall: algorithms and benchmarks", arXiv 2602.15252, 2026. No row
is met twice in a play: a player always knows which round it is.
"""

from typing import Any

import numpy as np

from hogeq import CHANCE, TERMINAL, FlatTree
from hogeq.trees.building import Node, flatten


def _tree(name: str, node_of: Any) -> FlatTree:
    """Tree whose root is the empty state, and in which `node_of` makes a node of each state."""
    return flatten(name, (), node_of, lambda moves: [str(move) for move in moves])


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
    # Probability of each tester and number of tests before the real round.
    shares = random.integers(1, 9, TESTERS * rounds)
    test_chances = shares / shares.sum()
    # Probability of a scene after the scene and the action before it; none is scene `scenes`.
    shares = random.integers(1, 9, (scenes + 1, actions, scenes))
    scene_chances = shares / shares.sum(axis=2, keepdims=True)

    def node_of(state: tuple[int, ...]) -> Node:
        # The tester and the number of tests, then in turn a scene, an action, whether it passed.
        if not state:
            chances = enumerate(test_chances.tolist())
            return Node(CHANCE, moves=[(code, chance, (code,)) for code, chance in chances])
        tester, tests = divmod(state[0], rounds)
        done, phase = divmod(len(state) - 1, 3)
        if phase == 0 and done and state[-1] == 0:
            return Node(TERMINAL)
        if phase == 0:
            scene_and_action = state[-3:-1] if done else (scenes, 0)
            chances = enumerate(scene_chances[scene_and_action].tolist())
            moves = [(scene, chance, (*state, scene)) for scene, chance in chances]
            return Node(CHANCE, moves=moves)
        if phase == 1:
            infoset = f"round {done} scene {state[-1]}"
            moves = [(action, 1.0, (*state, action)) for action in range(actions)]
            return Node(0, infoset, moves=moves)
        scene, action = state[-2:]
        if done == tests:
            return Node(TERMINAL, payoff=float(gain[tester, done, scene, action]))
        failure = float(risk[tester, done, scene, action])
        outcomes = ((0, failure), (1, 1.0 - failure))
        moves = [(passed, chance, (*state, passed)) for passed, chance in outcomes]
        return Node(CHANCE, moves=moves)

    return _tree(f"trials-{rounds}x{actions}x{scenes}-{seed}", node_of)


def interview(kinds: int, rounds: int, questions: int, seed: int) -> FlatTree:
    """Ask questions of somebody of a hidden kind, then guess the kind.

    For privacy the player keeps the last answer alone: it sees the round, its last question and the
    answer. A question costs something, a right guess is worth 1.
    """
    random = np.random.default_rng([2, kinds, rounds, questions, seed])
    prior = random.integers(1, 9, kinds)
    yes = random.integers(1, 32, (rounds, kinds, questions)) / 32
    cost = random.integers(0, 9, (rounds, questions)) / 128

    def node_of(state: tuple[int, ...]) -> Node:
        # The hidden kind, then in turn a question and its answer, and last the guess.
        if not state:
            chances = enumerate((prior / prior.sum()).tolist())
            return Node(CHANCE, moves=[(kind, chance, (kind,)) for kind, chance in chances])
        kind, *past = state
        done, asked = divmod(len(past), 2)
        if asked and done == rounds:
            paid = sum(cost[number, past[2 * number]] for number in range(rounds))
            return Node(TERMINAL, payoff=float((past[-1] == kind) - paid))
        if asked:
            yes_chance = float(yes[done, kind, past[-1]])
            answers = ((0, 1.0 - yes_chance), (1, yes_chance))
            moves = [(answer, chance, (*state, answer)) for answer, chance in answers]
            return Node(CHANCE, moves=moves)
        actions = questions if done < rounds else kinds
        infoset = f"round {done} last {past[-2:]}"
        moves = [(action, 1.0, (*state, action)) for action in range(actions)]
        return Node(0, infoset, moves=moves)

    return _tree(f"interview-{kinds}x{rounds}x{questions}-{seed}", node_of)


def random_tree(depth: int, actions: int, rows: int, seed: int) -> FlatTree:
    """Choose in turn with a fair coin; which row a choice is made in is drawn, round by round."""
    random = np.random.default_rng([3, depth, actions, rows, seed])
    # Row of each node of a round, and payoff of each leaf.
    node_rows = [random.integers(0, rows, (2 * actions) ** done * 2) for done in range(depth)]
    payoffs = random.integers(0, 1025, (2 * actions) ** depth) / 1024

    def node_of(state: tuple[int, ...]) -> Node:
        # Place among the plays of this length, the length, and whether the coin was tossed.
        place, done, tossed = state or (0, 0, 0)
        if done == depth:
            return Node(TERMINAL, payoff=float(payoffs[place]))
        if not tossed:
            moves = [(side, 0.5, (2 * place + side, done, 1)) for side in (0, 1)]
            return Node(CHANCE, moves=moves)
        first = actions * place
        moves = [(action, 1.0, (first + action, done + 1, 0)) for action in range(actions)]
        return Node(0, f"round {done} row {node_rows[done][place]}", moves=moves)

    return _tree(f"random-{depth}x{actions}x{rows}-{seed}", node_of)
