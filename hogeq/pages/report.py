"""The report: curves, maps and a tournament of finished runs, in one HTML file with plotly.js."""

import dataclasses
import html
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq import Budget, Gains, Hog, Response, Strategy, WinRates, describe, figures
from hogeq.pages import frame
from hogeq.runs.files import environment, figures_in, finite, metrics_table
from hogeq.runs.index import Run
from hogeq.support.aliases import Floats
from hogeq.support.files import json_text
from hogeq.support.messages import HogeqError, not_installed
from hogeq.support.parameters import plain
from hogeq.support.progress import phase

MOST_BYTES: Final = 10 * 10**6
"""Size of the largest page: one that opens without delay, and can be sent by mail."""

BUILT_IN_NAMES: Final = "ignore_memory", "huan2020"
"""Built-ins in the tournament of every page, where the game has them."""

PROBABILITY_DIGITS: Final = 6  # decimals of probabilities on the page
BELIEF_DIGITS: Final = 4  # decimals of the distribution of the memory: hundredths of a percent

_SCRIPTS: Final = (
    "scheme numbers unpack strategy tables scales curves layers position explorer report"
)


class Entry(NamedTuple):
    """A strategy on the page."""

    name: str
    strategy: Strategy  # a matrix or a policy
    budget: Budget | None
    """Effort of the search for its counter-matrix; None if no response is searched for."""


@dataclasses.dataclass(frozen=True)
class Explored:
    """Values, reach and beliefs of a strategy when both players play it, and a response to it."""

    values: Floats
    """(G, G, K). Win probability of every roll of the player to move, averaged over the belief; NaN
    at positions that play never reaches, where there is no belief."""
    reach: Floats  # (G, G), probability of coming to move there
    belief: Floats
    """(G, G, rows, columns). Distribution of the memory along `Hog.memory_axes`; 0 where
    play never comes."""
    search: Response
    """The counter-matrix found, its exact win rate and its bound: that with full memory."""
    cells: Gains  # gains of the cells of the counter-matrix


def entries(
    game: Hog,
    runs: Sequence[Run],
    against: Sequence[tuple[str, Strategy]] = (),
    *,
    matrices: bool = True,
    budget: Budget | None = None,
) -> list[Entry]:
    """List the strategies of a page: those of the runs, those in `against`, and built-in ones.

    Those of the runs get a budget for the search for a best response: `budget`, or if that is None,
    the budget behind the run's figures. Their matrices get none if `matrices` is False.
    """
    listed = []
    for run in runs:
        search_budget = budget or run.config.measure.final_effort
        matrix_budget = search_budget if matrices else None
        listed.append(Entry(f"{run.name}: average policy", run.policy, search_budget))
        listed.append(Entry(f"{run.name}: matrix", run.matrix, matrix_budget))
    listed += [Entry(name, strategy, None) for name, strategy in against]
    listed_names = {entry.name for entry in listed}
    built_in = [game.strongest, *BUILT_IN_NAMES, f"always_roll:{min(6, game.rules.max_dice)}"]
    baselines = game.baselines([spec for spec in built_in if spec not in listed_names])
    return listed + [Entry(name, strategy, None) for name, strategy in baselines.items()]


def make(game: Hog, runs: Sequence[Run], strategies: Sequence[Entry]) -> tuple[str, dict[str, Any]]:
    """Write the HTML page on runs of Hog; return it with the figures on it.

    The figures are "counters", value and bound of the best response to each strategy that has a
    budget; "entries", the names of all strategies; and "win_rates", of all against all. Raises
    `HogeqError` if plotly is not installed, or if the page would be too large.
    """
    plotly_version, plotly_script = _plotly()
    explored: dict[str, Explored] = {}
    with phase("exploring", len(strategies), "strategies") as progress:
        for entry in strategies:
            if entry.budget is not None:
                progress.now(entry.name)
                explored[entry.name] = explore(game, entry.strategy, entry.budget)
            progress.step()
    names = tuple(entry.name for entry in strategies)
    with phase("tournament", len(names) * (len(names) - 1) // 2, "matches") as progress:
        players = [entry.strategy for entry in strategies]
        rates = game.round_robin(players, progress=progress.step)
    data = {
        **_game_data(game),
        "runs": [_run_data(run) for run in runs],
        "strategies": [
            _strategy_data(game, entry, explored.get(entry.name)) for entry in strategies
        ],
        "tournament": {
            "win_rates": rates.tolist(),
            "win": WinRates.WIN,
            "ranking": [standing._asdict() for standing in rates.ranks()],
        },
        "environment": environment() | {"plotly": plotly_version},
    }
    title = f"{', '.join(run.name for run in runs)}: {game.rules.name}"
    page = frame.page(
        title,
        frame.fill("report.html", title=html.escape(title)),
        styles="report",
        scripts=_SCRIPTS,
        data=finite(data),
        texts={"plotly": frame.pack_text(plotly_script)},
        images=True,
    )
    size = len(page.encode())
    if size > MOST_BYTES:
        raise HogeqError(
            f"report: the page would have {size / 1e6:.1f} MB; allowed: {MOST_BYTES / 1e6:.0f}: "
            "give fewer runs, or --no-matrices"
        )
    counters = {
        name: {"attack": result.search.value, "bound": result.search.bound}
        for name, result in explored.items()
    }
    return page, {"counters": counters, "entries": names, "win_rates": rates.tolist()}


def _game_data(game: Hog) -> dict[str, Any]:
    """Collect the page's data on the game and its colours, as plain values for JSON."""
    return {
        "goal": game.rules.size,
        "rolls": game.rules.num_actions,
        "choices": game.rules.choices,
        "rules": game.rules.name,
        "parts": describe(game.rules),
        "memory": [axis._asdict() for axis in game.memory_axes] if _has_memory(game) else None,
        "colours": _colours(game.rules.choices),
    }


def _has_memory(game: Hog) -> bool:
    """Whether the rules of the game remember anything."""
    return len(game.memories) > 1


def _plotly() -> tuple[str, str]:
    """Version of plotly, and its script."""
    try:
        from plotly import __version__
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        missing = not_installed("plotly", "the page", "'hogeq[report]'")
        raise HogeqError(f"report: {missing}") from error
    return __version__, get_plotlyjs()


def _colours(choices: Sequence[int]) -> dict[str, Any]:
    """Colour scales of the page, by use; "rolls" has a colour for each choice, with -1 first."""
    from plotly.colors import diverging, sample_colorscale

    num_dice_choices = sum(choice >= 0 for choice in choices)
    # Numbers of dice are ordered, and so is the lightness of the colours of viridis.
    roll_colours = sample_colorscale("Viridis", np.linspace(0.0, 1.0, num_dice_choices).tolist())
    if -1 in choices:
        roll_colours = [figures.MINUS_ONE, *roll_colours]
    return {
        "rolls": roll_colours,
        # Blue to red, with a difference of 0 nearly white.
        "signed": diverging.RdBu_r,
        "loss": figures.LOSS,
    }


def _run_data(run: Run) -> dict[str, Any]:
    """Collect the page's data on a run, as plain values for JSON.

    Figures of the policy and the matrix come from the manifest. If it lacks them, they come from
    the last line of `metrics.csv`; if that has no lines, they are None.
    """
    column_names, rows = metrics_table(run.metrics)
    columns = zip(*rows, strict=True)  # the transposed table; empty if there are no rows
    figures = figures_in(run.manifest)
    policy_figures = figures.get("average_policy")
    matrix_figures = figures.get("matrix")
    if run.metrics:
        last = run.metrics[-1]
        policy_figures = policy_figures or {"attack": last.attack, "bound": last.bound}
        matrix_figures = matrix_figures or {"attack": last.purified_attack}
    return {
        "name": run.name,
        "solver": run.config.solver.name,
        "iterations": run.config.solver.iterations,
        "policy": policy_figures,
        "found": figures,
        "matrix": matrix_figures,
        "effort": figures.get("effort") or plain(run.config.measure.attack),
        "mixture": figures.get("mixture"),
        "metrics": dict(zip(column_names, columns, strict=False)),
        "config": run.config.to_yaml(),
        "manifest": json_text(finite(run.manifest), 2),
    }


def _strategy_data(game: Hog, entry: Entry, explored: Explored | None) -> dict[str, Any]:
    """Collect the page's data on a strategy for JSON: its policy, and what was explored of it."""
    policy = frame.pack_fractions(entry.strategy.policy, PROBABILITY_DIGITS)
    data: dict[str, Any] = {"name": entry.name, "policy": policy, "explored": None}
    if explored is None:
        return data
    position_values = (explored.values * entry.strategy.policy).sum(axis=2)  # (G, G)
    belief = None
    if _has_memory(game):
        # The memory is the first axis: beliefs of neighbouring positions are alike, and compress
        # well side by side.
        belief_by_memory = explored.belief.reshape(game.rules.size**2, -1).T
        belief = frame.pack_fractions(belief_by_memory, BELIEF_DIGITS)
    response = explored.search
    cells = explored.cells
    search = response.search
    assert search is not None  # noqa: S101 - in Hog every response is searched for
    data["explored"] = {
        "values": frame.pack_fractions(explored.values, PROBABILITY_DIGITS),
        "value": frame.pack_fractions(position_values, PROBABILITY_DIGITS),
        "reach": frame.pack_floats(explored.reach),
        "belief": belief,
        "counter": {
            "dice": frame.pack_fractions(response.matrix, 0),
            "usual": frame.pack_fractions(cells.usual, 0),
            "win_rate": response.value,
            "bound": response.ends[1],
            "effort": plain(search.budget),
            "saturated": search.saturation.saturated,
            "reach": frame.pack_floats(cells.reach),
            "gains": frame.pack_floats(cells.gains),
        },
    }
    return data


# --- a strategy seen from inside ------------------------------------------------------------------


def explore(game: Hog, strategy: Strategy, budget: Budget) -> Explored:
    """Compute values, reach and beliefs of a strategy in self-play, and search a best response.

    The belief at a position is the distribution of the memory there, given that play reaches it.
    """
    action_values = game.action_values(strategy, weight="belief")
    # Reach probability of each position and memory, (G, G, rows, columns).
    reach_of_states = game.by_memory_axes(game.reach(strategy))
    reach_of_positions = reach_of_states.sum(axis=(2, 3))
    is_reached = reach_of_positions > 0.0
    belief = np.divide(
        reach_of_states,
        reach_of_positions[..., None, None],
        out=np.zeros_like(reach_of_states),
        where=is_reached[..., None, None],
    )
    response = game.attack(strategy, budget)
    return Explored(
        values=np.where(is_reached[..., None], action_values, np.nan),
        reach=reach_of_positions,
        belief=belief,
        search=response,
        cells=game.gains(response.strategy, strategy),
    )
