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
Position = tuple[int, int, int]  # number among the plays so far; choices made; is the coin tossed

TESTERS: Final = 2
# Next events of a round of `Trials`.
SCENE: Final = 0
ACTION: Final = 1
RESULT: Final = 2  # of a test: 0 if it is failed, 1 if it is passed


class _TrialTables(NamedTuple):
    """Probabilities and gains of `Trials`: T testers, R rounds, S scenes, A actions."""

    gain: Floats  # (T, R, S, A), payoff of an action in the real round
    risk: Floats  # (T, R, S, A), probability that a test is failed
    tests: Floats  # (T * R,), probability of tester t and n tests at t * R + n
    scenes: (
        Floats  # (S + 1, A, S), probability of a scene by the last scene, S at first, and action
    )


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
        """Probabilities and gains, drawn at random by the parameters and the seed.

        A hidden tester sets how many tests precede the real round; a scene is what a round shows.
        """
        sizes = self.rounds, self.options, self.scenes
        random = np.random.default_rng([1, *sizes, self.seed])  # 1: the game among those here
        shape = TESTERS, self.rounds, self.scenes, self.options
        gain = random.integers(0, 65, shape) / 64
        risk = random.integers(0, 33, shape) / 32
        test_shares = random.integers(1, 9, TESTERS * self.rounds)
        scene_shares = random.integers(1, 9, (self.scenes + 1, self.options, self.scenes))
        scenes = scene_shares / scene_shares.sum(axis=2, keepdims=True)
        return _TrialTables(gain, risk, test_shares / test_shares.sum(), scenes)

    def initial(self) -> History:
        return ()

    def to_move(self, state: History) -> int:
        # A state: tester * rounds + number of tests, then scene, action and result by round.
        if not state:
            return CHANCE
        round_, event = divmod(len(state) - 1, 3)
        num_tests = state[0] % self.rounds
        has_failed = event == SCENE and round_ > 0 and state[-1] == 0
        has_acted_for_real = event == RESULT and round_ == num_tests
        if has_failed or has_acted_for_real:
            return END
        return 0 if event == ACTION else CHANCE

    def actions(self, state: History) -> Sequence[int]:  # noqa: ARG002 - always the same
        return range(self.options)

    def chances(self, state: History) -> Mapping[int, float]:
        if not state:
            return dict(enumerate(self.tables.tests.tolist()))
        # After the tester, a state has scene, action and result of each round.
        round_, event = divmod(len(state) - 1, 3)
        if event == SCENE:
            last_scene, last_action = state[-3:-1] if round_ else (self.scenes, 0)
            return dict(enumerate(self.tables.scenes[last_scene, last_action].tolist()))
        tester = state[0] // self.rounds
        scene, action = state[-2:]
        failure = float(self.tables.risk[tester, round_, scene, action])
        return {0: failure, 1: 1.0 - failure}

    def next(self, state: History, action: int) -> History:
        return (*state, action)

    def knows(self, state: History, player: int) -> str:  # noqa: ARG002 - there is one
        return f"round {(len(state) - 1) // 3} scene {state[-1]}"

    def payoffs(self, state: History) -> list[float]:
        # The gain of the action in the real round, the last one that the state has.
        round_, event = divmod(len(state) - 1, 3)
        if event == SCENE:  # a test was failed
            return [0.0]
        tester = state[0] // self.rounds
        scene, action = state[-2:]
        return [float(self.tables.gain[tester, round_, scene, action])]


class _InterviewTables(NamedTuple):
    """Probabilities and costs of `Interview`: K kinds, R rounds, Q questions."""

    prior: Floats  # (K,), probability of each kind
    yes: Floats  # (R, K, Q), probability of the answer yes
    cost: Floats  # (R, Q), of a question


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
        """Probabilities and costs, drawn at random by the parameters and the seed."""
        random = np.random.default_rng([2, self.kinds, self.rounds, self.questions, self.seed])
        shares = random.integers(1, 9, self.kinds)
        yes = random.integers(1, 32, (self.rounds, self.kinds, self.questions)) / 32
        cost = random.integers(0, 9, (self.rounds, self.questions)) / 128
        return _InterviewTables(shares / shares.sum(), yes, cost)

    def initial(self) -> History:
        return ()

    def to_move(self, state: History) -> int:
        # A state has the hidden kind, then question and answer by round, and last the guess.
        if not state:
            return CHANCE
        round_, has_chosen = divmod(len(state) - 1, 2)
        if not has_chosen:
            return 0
        return END if round_ == self.rounds else CHANCE

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
        kind, *questions_and_answers, guess = state
        questions = questions_and_answers[::2]
        cost = sum(self.tables.cost[round_, question] for round_, question in enumerate(questions))
        return [float((guess == kind) - cost)]


class _RandomTables(NamedTuple):
    """Rows and payoffs of `RandomTree`."""

    rows: list[Ints]  # for each round, the row of each of its nodes
    payoffs: Floats  # of the terminal nodes


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
        """Rows and payoffs, drawn at random by the parameters and the seed."""
        random = np.random.default_rng([3, self.depth, self.options, self.rows, self.seed])
        width = 2 * self.options  # plays that a round makes of one
        rows = [random.integers(0, self.rows, width**round_ * 2) for round_ in range(self.depth)]
        return _RandomTables(rows, random.integers(0, 1025, width**self.depth) / 1024)

    def initial(self) -> Position:
        return 0, 0, 0

    def to_move(self, state: Position) -> int:
        _, round_, is_tossed = state
        if round_ == self.depth:
            return END
        return 0 if is_tossed else CHANCE

    def actions(self, state: Position) -> Sequence[int]:
        return range(self.options if state[2] else 2)

    def next(self, state: Position, action: int) -> Position:
        number, round_, is_tossed = state
        if is_tossed:
            return self.options * number + action, round_ + 1, 0
        return 2 * number + action, round_, 1

    def knows(self, state: Position, player: int) -> str:  # noqa: ARG002 - there is one
        number, round_, _ = state
        return f"round {round_} row {self.tables.rows[round_][number]}"

    def payoffs(self, state: Position) -> list[float]:
        return [float(self.tables.payoffs[state[0]])]
