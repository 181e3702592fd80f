"""The files of a finished run that are read by others: strategies and figures."""

from pathlib import Path

from hogeq import figures
from hogeq.evaluation.hidden import reach
from hogeq.model.game import HogEngine
from hogeq.runs.errors import reported
from hogeq.runs.filenames import (
    EXPLOITABILITY_PLOT,
    FINAL_STRATEGY,
    MATRIX,
    MATRIX_PLOT,
    MIXTURE,
    POLICY,
)
from hogeq.runs.measuring import Strategies
from hogeq.runs.summary import RunSummary
from hogeq.search.attack import SearchBudget
from hogeq.strategies.write import write_strategy
from hogeq.support.aliases import Matrix
from hogeq.support.numbers import counted


def export(directory: Path, name: str, found: Strategies, matrix: Matrix) -> None:
    """Write what a run has found, and the matrix also as the contest takes it.

    Parameters
    ----------
    directory : Path
        The run directory.
    name : str
        Of the player, in the contest's file.
    found : Strategies
    matrix : ndarray of int8, (G, G)

    Raises
    ------
    ResultsError
        A file cannot be written.
    """
    for file, strategy in (
        (MIXTURE, found.mixture),
        (POLICY, found.policy),
        (MATRIX, matrix),
        (FINAL_STRATEGY, matrix),
    ):
        if strategy is not None:
            path = directory / file
            with reported(path, "written"):
                write_strategy(path, strategy, player_name=name)


def draw(game: HogEngine, matrix: Matrix, summary: RunSummary) -> None:
    """Draw how exploitable a run's strategies were over time, and its matrix.

    Parameters
    ----------
    game : HogEngine
    matrix : ndarray of int8, (G, G)
    summary : RunSummary

    Raises
    ------
    ResultsError
        A figure cannot be written.
    """
    path, config = summary.directory, summary.config
    rules, solver = config.rules.name, config.solver.name
    with reported(path / EXPLOITABILITY_PLOT, "written"):
        figures.exploitability(
            summary.metrics,
            path / EXPLOITABILITY_PLOT,
            f"{rules}, {solver}",
            {name: (one.lower, one.upper) for name, one in summary.intervals.items()},
            (_effort(config.measure.attack), _effort(summary.budget)),
        )
    title = f"{rules}, {solver}, {config.purify.method} of the average"
    with reported(path / MATRIX_PLOT, "written"):
        met = reach(game, matrix).sum(axis=2)
        figures.matrix(matrix, path / MATRIX_PLOT, title, game.num_actions, met)


def _effort(budget: SearchBudget) -> str:
    spent = (budget.starts, "start"), (budget.anneal_steps, "anneal step")
    kicks = counted(budget.perturbations, "kick") + " or more" * budget.until_saturated
    return ", ".join([*(counted(*one) for one in spent), kicks])
