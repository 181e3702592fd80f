"""OpenSpiel's solvers behind our interface, for comparison on small games."""

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.solvers.base import Solver, hog_of, solver
from hogeq.strategies.arrays import normalised
from hogeq.support.aliases import Floats
from hogeq.support.parameters import Count, Seed, parameters
from hogeq.trees.tree import HogTree, count

LARGEST = 2_000_000
"""Most nodes of a tree that is walked whole: minutes for each iteration."""


class OpenSpielState(NamedTuple):
    """State of a run."""

    text: NDArray[np.uint8]
    """(n,), state of the solver as OpenSpiel writes it, random numbers included."""
    iteration: NDArray[np.int64]
    """()"""


@solver("openspiel")
@parameters
class OpenSpielSolver(Solver[OpenSpielState]):
    """CFR, CFR+ or Monte Carlo CFR of OpenSpiel, on the game whose players see the scores alone.

    OpenSpiel keeps a table for each player; the policy returned is that of the tables' sum. Its
    regrets leave own reach out, as `regret_weight: counterfactual` of ours does, and its average
    weights a row by own reach summed over the histories of an information set. Under the imperfect
    recall of Hog neither comes with a guarantee. The game is walked history by history: its cost
    grows with the tree, not with the table.

    Attributes
    ----------
    algorithm : {"cfr", "cfr_plus", "external_mccfr", "outcome_mccfr"}
        The solver.
    repeats : int
        Iterations of OpenSpiel in one of ours; sampling solvers need many.
    seed : int
        Seed of the sampling solvers.
    """

    GROWS: ClassVar = frozenset({"text"})

    algorithm: Literal["cfr", "cfr_plus", "external_mccfr", "outcome_mccfr"] = "cfr"
    repeats: Count = 1
    seed: Seed = 0

    def init(self, game: Engine) -> OpenSpielState:
        """State before the first iteration."""
        rules = hog_of(game, "openspiel").rules
        if self.algorithm != "outcome_mccfr":
            sizes = count(HogTree(rules), most=LARGEST)
            if not sizes.exact:
                raise ValueError(
                    f"algorithm: {self.algorithm} walks a tree of {sizes}; allowed: at most "
                    f"{LARGEST:,} nodes: lower goal or max_dice"
                )
        return _packed(_openspiel().start(self.algorithm, rules, self.seed), 0)

    def step(self, game: Engine, state: OpenSpielState) -> OpenSpielState:
        """Do `repeats` iterations of OpenSpiel."""
        rules, done = hog_of(game, "openspiel").rules, int(state.iteration)
        which = self.algorithm, rules, self.seed
        text = _openspiel().advance(*which, _text(state), done * self.repeats, self.repeats)
        return _packed(text, done + 1)

    def average(self, game: Engine, state: OpenSpielState) -> Floats:
        """Average strategy, (G, G, K); uniform where no iteration had reach."""
        return normalised(self._tables(game, state)[1].sum(axis=0))

    def stats(self, game: Engine, state: OpenSpielState) -> dict[str, float]:
        """Average regret: positive regrets summed over information sets, each player, per step."""
        regrets = self._tables(game, state)[0]
        # In win probability: OpenSpiel's utilities span twice as much.
        positive = np.maximum(regrets, 0.0).max(axis=-1).sum() / 2.0
        done = max(1, int(state.iteration) * self.repeats)
        return {"average_regret": float(positive) / 2.0 / done}

    def _tables(self, game: Engine, state: OpenSpielState) -> Any:
        return _openspiel().tables_of(hog_of(game, "openspiel").rules, _text(state))


def _openspiel() -> Any:
    try:
        from hogeq.trees import openspiel
    except ImportError as error:
        raise ValueError(str(error)) from error
    return openspiel


def _packed(text: str, iteration: int) -> OpenSpielState:
    written = np.frombuffer(text.encode(), np.uint8).copy()
    return OpenSpielState(written, np.array(iteration, np.int64))


def _text(state: OpenSpielState) -> str:
    return state.text.tobytes().decode()
