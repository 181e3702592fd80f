"""Decision problems of one player who forgets, made by a few parameters and a seed.

They follow the ideas of E. Tewolde, B. H. Zhang, I. Anagnostides, T. Sandholm and V. Conitzer,
"Decision making under imperfect recall: algorithms and benchmarks", arXiv 2602.15252, 2026. No row
is met twice in a play: a player always knows which round it is.
"""
# ruff: noqa: D102 - the base class says what each method does

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Final, NamedTuple

import numpy as np
from pydantic import Field

from hogeq.support.aliases import Floats, Ints
from hogeq.support.parameters import Count, Seed
from hogeq.trees.building import require_few_nodes
from hogeq.trees.flat import CHANCE
from hogeq.trees.rules import END, GameRules, register_game

Few = Annotated[int, Field(ge=1, le=64)]
History = tuple[int, ...]
Place = tuple[int, int, int]  # number among plays of a length, the length, whether a coin is tossed

TESTERS: Final = 2


class _TrialTables(NamedTuple):
    """What chance and ends of `Trials` are: T testers, R rounds, S scenes, A actions."""

    gain: Floats  # (T, R, S, A)
    risk: Floats  # (T, R, S, A), probability that a test is failed
    tests: Floats  # (T * R,), probability of a tester and a number of tests
    scenes: Floats  # (S + 1, A, S), next scene by the one before, and by the action; S is none


@register_game("trials")
class Trials(GameRules):
    """Act in rounds of which the last is real: those before are tests, and nobody says which.

    A player sees the round and its scene, and forgets earlier ones and its actions there. Each
    action has a gain, which counts in the real round alone, and a risk that a test ends the play.
    It depends on the tester, who is hidden, so that to have passed a test says something.
    """

    players = 1
    rounds: Few = 3
    options: Few = 3
    scenes: Few = 2
    seed: Seed = 0

    def __post_init__(self) -> None:
        """Refuse trees that are too large to be built."""
        require_few_nodes((self.scenes * self.options) ** self.rounds)

    @cached_property
    def tables(self) -> _TrialTables:
        """All numbers that are drawn."""
        sizes = self.rounds, self.options, self.scenes
        random = np.random.default_rng([1, *sizes, self.seed])
        shape = TESTERS, self.rounds, self.scenes, self.options
        gain = random.integers(0, 65, shape) / 64
        risk = random.integers(0, 33, shape) / 32
        test_shares = random.integers(1, 9, TESTERS * self.rounds)
        scene_shares = random.integers(1, 9, (self.scenes + 1, self.options, self.scenes))
        scenes = scene_shares / scene_shares.sum(axis=2, keepdims=True)
        return _TrialTables(gain, risk, test_shares / test_shares.sum(), scenes)

    def initial(self) -> History:
        # The tester and the number of tests, then in turn a scene, an action, whether it passed.
        return ()

    def to_move(self, state: History) -> int:
        if not state:
            return CHANCE
        done, phase = divmod(len(state) - 1, 3)
        is_failed = phase == 0 and done > 0 and state[-1] == 0
        is_real = phase == 2 and done == state[0] % self.rounds
        if is_failed or is_real:
            return END
        return 0 if phase == 1 else CHANCE

    def actions(self, state: History) -> Sequence[int]:  # noqa: ARG002 - always the same
        return range(self.options)

    def chances(self, state: History) -> Mapping[int, float]:
        if not state:
            return dict(enumerate(self.tables.tests.tolist()))
        done, phase = divmod(len(state) - 1, 3)
        if phase == 0:
            scene_and_action = state[-3:-1] if done else (self.scenes, 0)
            return dict(enumerate(self.tables.scenes[scene_and_action].tolist()))
        tester, (scene, action) = state[0] // self.rounds, state[-2:]
        failure = float(self.tables.risk[tester, done, scene, action])
        return {0: failure, 1: 1.0 - failure}

    def next(self, state: History, action: int) -> History:
        return (*state, action)

    def knows(self, state: History, player: int) -> str:  # noqa: ARG002 - there is one
        return f"round {(len(state) - 1) // 3} scene {state[-1]}"

    def payoffs(self, state: History) -> list[float]:
        done, phase = divmod(len(state) - 1, 3)
        if phase == 0:
            return [0.0]
        tester, (scene, action) = state[0] // self.rounds, state[-2:]
        return [float(self.tables.gain[tester, done, scene, action])]


class _InterviewTables(NamedTuple):
    """What chance and ends of `Interview` are: K kinds, R rounds, Q questions."""

    prior: Floats  # (K,)
    yes: Floats  # (R, K, Q), probability of this answer
    cost: Floats  # (R, Q)


@register_game("interview")
class Interview(GameRules):
    """Ask questions of somebody of a hidden kind, then guess the kind.

    For privacy the player keeps the last answer alone: it sees the round, its last question and the
    answer. A question costs something, a right guess is worth 1.
    """

    players = 1
    kinds: Few = 3
    rounds: Few = 3
    questions: Few = 3
    seed: Seed = 0

    def __post_init__(self) -> None:
        """Refuse trees that are too large to be built."""
        require_few_nodes(self.kinds**2 * (2 * self.questions) ** self.rounds)

    @cached_property
    def tables(self) -> _InterviewTables:
        """All numbers that are drawn."""
        random = np.random.default_rng([2, self.kinds, self.rounds, self.questions, self.seed])
        shares = random.integers(1, 9, self.kinds)
        yes = random.integers(1, 32, (self.rounds, self.kinds, self.questions)) / 32
        cost = random.integers(0, 9, (self.rounds, self.questions)) / 128
        return _InterviewTables(shares / shares.sum(), yes, cost)

    def initial(self) -> History:
        # The hidden kind, then in turn a question and its answer, and last the guess.
        return ()

    def to_move(self, state: History) -> int:
        if not state:
            return CHANCE
        done, asked = divmod(len(state) - 1, 2)
        if not asked:
            return 0
        return END if done == self.rounds else CHANCE

    def actions(self, state: History) -> Sequence[int]:
        return range(self.questions if len(state) - 1 < 2 * self.rounds else self.kinds)

    def chances(self, state: History) -> Mapping[int, float]:
        if not state:
            return dict(enumerate(self.tables.prior.tolist()))
        yes = float(self.tables.yes[(len(state) - 1) // 2, state[0], state[-1]])
        return {0: 1.0 - yes, 1: yes}

    def next(self, state: History, action: int) -> History:
        return (*state, action)

    def knows(self, state: History, player: int) -> str:  # noqa: ARG002 - there is one
        return f"round {(len(state) - 1) // 2} last {[*state[1:][-2:]]}"

    def payoffs(self, state: History) -> list[float]:
        kind, *past = state
        paid = sum(self.tables.cost[number, past[2 * number]] for number in range(self.rounds))
        return [float((past[-1] == kind) - paid)]


class _RandomTables(NamedTuple):
    """Rows and ends of `RandomTree`."""

    rows: list[Ints]  # of the nodes of each round
    payoffs: Floats  # of the ends


@register_game("random_tree")
class RandomTree(GameRules):
    """Choose in turn with a fair coin; which row a choice is made in is drawn, round by round."""

    players = 1
    depth: Few = 3
    options: Few = 3
    rows: Count = 2
    seed: Seed = 0

    def __post_init__(self) -> None:
        """Refuse trees that are too large to be built."""
        require_few_nodes((2 * self.options) ** self.depth)

    @cached_property
    def tables(self) -> _RandomTables:
        """All numbers that are drawn."""
        random = np.random.default_rng([3, self.depth, self.options, self.rows, self.seed])
        width = 2 * self.options
        rows = [random.integers(0, self.rows, width**done * 2) for done in range(self.depth)]
        return _RandomTables(rows, random.integers(0, 1025, width**self.depth) / 1024)

    def initial(self) -> Place:
        return 0, 0, 0

    def to_move(self, state: Place) -> int:
        _, done, is_tossed = state
        if done == self.depth:
            return END
        return 0 if is_tossed else CHANCE

    def actions(self, state: Place) -> Sequence[int]:
        return range(self.options if state[2] else 2)

    def next(self, state: Place, action: int) -> Place:
        place, done, is_tossed = state
        if is_tossed:
            return self.options * place + action, done + 1, 0
        return 2 * place + action, done, 1

    def knows(self, state: Place, player: int) -> str:  # noqa: ARG002 - there is one
        place, done, _ = state
        return f"round {done} row {self.tables.rows[done][place]}"

    def payoffs(self, state: Place) -> list[float]:
        return [float(self.tables.payoffs[state[0]])]
