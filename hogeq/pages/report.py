"""The report: curves, maps and a tournament of finished runs, in one HTML file with plotly.js."""

import dataclasses
import html
import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq import Budget, Gains, Hog, Response, Strategy, WinRates, describe, figures
from hogeq.pages import frame
from hogeq.runs.files import environment, figures_in, finite, table
from hogeq.runs.index import Run
from hogeq.support.aliases import Floats
from hogeq.support.messages import BadInputError, not_installed
from hogeq.support.parameters import plain
from hogeq.support.progress import phase

MOST_BYTES: Final = 10 * 10**6
"""Size of the largest page: what still opens at once, and passes as an attachment."""

OTHERS: Final = "ignore_memory", "huan2020"
"""Built-ins in the tournament of every page, where the game has them."""

PROBABILITY_DIGITS: Final = 6  # decimals of probabilities on the page
BELIEF_DIGITS: Final = 4  # decimals of the distribution of the memory: hundredths of a percent

_SCRIPTS: Final = (
    "scheme numbers unpack strategy tables scales curves layers position explorer report"
)


class ReportError(BadInputError):
    """A page that cannot be made; the message is one line."""


class Entry(NamedTuple):
    """A strategy on the page."""

    name: str
    strategy: Strategy  # a matrix or a policy
    budget: Budget | None
    """Of the search for its counter-matrix; None if it is there to be compared with only."""


@dataclasses.dataclass(frozen=True)
class Explored:
    """A strategy seen from inside, when both players play it."""

    policy: Floats  # (G, G, K)
    values: Floats
    """(G, G, K). Win probability of every roll of the player to move, averaged over the belief; NaN
    at positions that play never comes to, which have none."""
    reach: Floats  # (G, G), probability of coming to move there
    belief: Floats
    """(G, G, rows, columns). Distribution of the memory along `Hog.memory_axes`; 0 where
    play never comes."""
    search: Response
    """The counter-matrix found, its exact win rate and its bound: that with full memory."""
    cells: Gains  # of the counter-matrix


def effort_of(run: Run) -> Budget:
    """Give the budget of the search behind a run's final figures."""
    return run.config.measure.final_attack or run.config.measure.attack


def entries(
    game: Hog,
    runs: Sequence[Run],
    against: Sequence[tuple[str, Strategy]] = (),
    *,
    matrices: bool = True,
    budget: Budget | None = None,
) -> list[Entry]:
    """List the strategies of a page: those of the runs, those named, and some built-in ones.

    A best response is searched for to those of the runs, to their matrices only if `matrices` is
    true; by `budget`, or if that is None, by the one behind a run's figures.
    """
    listed = []
    for run in runs:
        search_budget = budget or effort_of(run)
        matrix_budget = search_budget if matrices else None
        listed.append(Entry(f"{run.name}: average policy", run.policy, search_budget))
        listed.append(Entry(f"{run.name}: matrix", run.matrix, matrix_budget))
    listed += [Entry(name, strategy, None) for name, strategy in against]
    listed_names = {entry.name for entry in listed}
    built_in = [game.strongest, *OTHERS, f"always_roll:{min(6, game.rules.max_dice)}"]
    more = game.baselines([spec for spec in built_in if spec not in listed_names])
    return listed + [Entry(name, strategy, None) for name, strategy in more.items()]


def make(game: Hog, runs: Sequence[Run], strategies: Sequence[Entry]) -> tuple[str, dict[str, Any]]:
    """Write the HTML page on runs of Hog, and give the figures on it.

    Figures are "counters": value and bound of the best response to each strategy explored;
    "entries": names of all strategies; "win_rates": of all against all. `ReportError` if plotly is
    not installed, or the page would be too large.
    """
    version, script = _plotly()
    explored: dict[str, Explored] = {}
    with phase("exploring", len(strategies), "strategies") as progress:
        for entry in strategies:
            if entry.budget is not None:
                progress.now(entry.name)
                explored[entry.name] = explore(game, entry.strategy, entry.budget)
            progress.step()
    names = tuple(entry.name for entry in strategies)
    with phase("tournament", len(names) * (len(names) - 1) // 2, "matches") as progress:
        played = [entry.strategy for entry in strategies]
        rates = game.round_robin(played, progress=progress.step)
    data = {
        "goal": game.rules.size,
        "rolls": game.rules.num_actions,
        "choices": game.rules.choices,
        "rules": game.rules.name,
        "parts": describe(game.rules),
        "memory": [axis._asdict() for axis in game.memory_axes] if _remembers(game) else None,
        "colours": _colours(game.rules.choices),
        "runs": [_run_data(run) for run in runs],
        "strategies": [
            _strategy_data(game, entry, explored.get(entry.name)) for entry in strategies
        ],
        "tournament": {
            "win_rates": rates.tolist(),
            "win": WinRates.WIN,
            "ranking": [standing._asdict() for standing in rates.ranks()],
        },
        "environment": environment() | {"plotly": version},
    }
    title = f"{', '.join(run.name for run in runs)}: {game.rules.name}"
    page = frame.page(
        title,
        frame.fill("report.html", title=html.escape(title)),
        styles="report",
        scripts=_SCRIPTS,
        data=finite(data),
        texts={"plotly": frame.pack_text(script)},
        images=True,
    )
    size = len(page.encode())
    if size > MOST_BYTES:
        raise ReportError(
            f"the page would have {size / 1e6:.1f} MB; allowed: {MOST_BYTES / 1e6:.0f}: "
            "give fewer runs, or --no-matrices"
        )
    counters = {
        name: {"attack": inside.search.value, "bound": inside.search.bound}
        for name, inside in explored.items()
    }
    return page, {"counters": counters, "entries": names, "win_rates": rates.tolist()}


def _remembers(game: Hog) -> bool:
    return len(game.memories) > 1


def _plotly() -> tuple[str, str]:
    """Version of plotly, and its script."""
    try:
        from plotly import __version__
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ReportError(not_installed("plotly", "the page", "'hogeq[report]'")) from error
    return __version__, get_plotlyjs()


def _colours(choices: Sequence[int]) -> dict[str, Any]:
    """Colour scales of the page: of rolls one colour for each choice, -1 first, if it is one."""
    from plotly.colors import diverging, sample_colorscale

    num_dice_choices = sum(choice >= 0 for choice in choices)
    # Dice are ordered, and the lightness of viridis rises all the way.
    roll_colours = sample_colorscale("Viridis", np.linspace(0.0, 1.0, num_dice_choices).tolist())
    if -1 in choices:
        roll_colours = [figures.MINUS_ONE, *roll_colours]
    return {
        "rolls": roll_colours,
        # Blue to red through near-white: no difference leaves no ink.
        "signed": diverging.RdBu_r,
        "loss": figures.LOSS,
    }


def _run_data(run: Run) -> dict[str, Any]:
    """Lay out what the page tells of a run, fit for JSON.

    Exploitability of the policy and the matrix is that of the manifest, which a finished run has;
    if it is missing there, that of the last line of `metrics.csv`, and if that is empty, None.
    """
    column_names, rows = table(run.metrics)
    columns = zip(*rows, strict=True)  # nothing without rows
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
        "manifest": json.dumps(finite(run.manifest), indent=2),
    }


def _strategy_data(game: Hog, entry: Entry, explored: Explored | None) -> dict[str, Any]:
    """Lay out a strategy, fit for JSON: its policy, and what was explored of it, if anything."""
    policy = frame.pack_fractions(entry.strategy.policy, PROBABILITY_DIGITS)
    data: dict[str, Any] = {"name": entry.name, "policy": policy, "explored": None}
    if explored is None:
        return data
    position_values = (explored.values * explored.policy).sum(axis=2)  # (G, G)
    belief = None
    if _remembers(game):
        # By memory first: neighbouring positions have like beliefs, which pack well.
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
            "bound": response.bound,
            "effort": plain(search.budget),
            "saturated": search.saturation.saturated,
            "reach": frame.pack_floats(cells.reach),
            "gains": frame.pack_floats(cells.gains),
        },
    }
    return data


# --- a strategy seen from inside ------------------------------------------------------------------


def explore(game: Hog, strategy: Strategy, budget: Budget) -> Explored:
    """Compute values, reach and beliefs of a strategy in self-play, and search a best response."""
    policy = strategy.policy
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
        policy=policy,
        values=np.where(is_reached[..., None], action_values, np.nan),
        reach=reach_of_positions,
        belief=belief,
        search=response,
        cells=game.gains(response.strategy, strategy),
    )
