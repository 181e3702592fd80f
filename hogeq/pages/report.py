"""The report: curves, maps and a tournament of finished runs, in one HTML file with plotly.js."""

import dataclasses
import html
import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.baselines.registry import builtins_of
from hogeq.contest import tournament
from hogeq.contest.assessment import usual_reference
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.values import fold, reach
from hogeq.figures.style import LOSS, MINUS_ONE
from hogeq.model.game import HogEngine
from hogeq.pages import frame
from hogeq.rules import describe
from hogeq.rules.memory import axes
from hogeq.runs.files import environment, figures_in, finite, table
from hogeq.runs.index import Run
from hogeq.search.bounds import respond
from hogeq.search.population import Gains, gains
from hogeq.search.results import Budget, Response
from hogeq.strategies.strategy import StrategyLike, policy_of
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
    strategy: StrategyLike  # a matrix or a policy
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
    """(G, G, rows, columns). Distribution of the memory along `hogeq.rules.memory.axes`; 0 where
    play never comes."""
    search: Response
    """The counter-matrix found, its exact win rate and its bound: that with full memory."""
    cells: Gains  # of the counter-matrix


def effort_of(run: Run) -> Budget:
    """Give the budget of the search behind a run's final figures."""
    return run.config.measure.final_attack or run.config.measure.attack


def entries(
    game: HogEngine,
    runs: Sequence[Run],
    against: Sequence[tuple[str, StrategyLike]] = (),
    *,
    matrices: bool = True,
    budget: Budget | None = None,
) -> list[Entry]:
    """List the strategies of a page: those of the runs, those named, and some built-in ones."""
    listed = []
    for run in runs:
        spent = budget or effort_of(run)
        listed.append(Entry(f"{run.name}: average policy", run.policy, spent))
        listed.append(Entry(f"{run.name}: matrix", run.matrix, spent if matrices else None))
    listed += [Entry(name, strategy, None) for name, strategy in against]
    known = {entry.name for entry in listed}
    others = [usual_reference(game), *OTHERS, f"always_roll:{min(6, game.rules.max_dice)}"]
    named = builtins_of(game, [spec for spec in others if spec not in known])
    return listed + [Entry(name, one, None) for name, one in named.items()]


def make(
    game: HogEngine,
    runs: Sequence[Run],
    strategies: Sequence[Entry],
) -> tuple[str, dict[str, Any]]:
    """Make the page, and give the figures on it: `counters`, `entries` and `win_rates`."""
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
        rates = tournament.round_robin(game, played, progress.step)
    data = {
        "goal": game.goal,
        "rolls": game.num_actions,
        "choices": game.choices,
        "rules": game.rules.name,
        "parts": describe(game.rules),
        "memory": [axis._asdict() for axis in axes(game.rules)] if game.has_memory else None,
        "colours": _colours(game.choices),
        "runs": [_run(run) for run in runs],
        "strategies": [_strategy(game, one, explored.get(one.name)) for one in strategies],
        "tournament": {
            "win_rates": rates.tolist(),
            "win": tournament.WIN,
            "ranking": [standing._asdict() for standing in tournament.rank(rates)],
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
    searched = {name: of.search for name, of in explored.items()}
    counters = {name: {"attack": one.value, "bound": one.bound} for name, one in searched.items()}
    return page, {"counters": counters, "entries": names, "win_rates": rates.tolist()}


def _plotly() -> tuple[str, str]:
    """Version of plotly, and its script."""
    try:
        from plotly import __version__
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ReportError(not_installed("plotly", "the page", "'hogeq[report]'")) from error
    return __version__, get_plotlyjs()


def _colours(choices: Sequence[int]) -> dict[str, Any]:
    from plotly.colors import diverging, sample_colorscale

    dice = np.linspace(0.0, 1.0, sum(choice >= 0 for choice in choices)).tolist()
    return {
        # Dice are ordered, and the lightness of viridis rises all the way.
        "rolls": [*[MINUS_ONE] * (-1 in choices), *sample_colorscale("Viridis", dice)],
        # Blue to red through near-white: no difference leaves no ink.
        "signed": diverging.RdBu_r,
        "loss": LOSS,
    }


def _run(run: Run) -> dict[str, Any]:
    columns, rows = table(run.metrics)
    values = zip(*rows, strict=True)
    last = run.metrics[-1] if run.metrics else None
    figures = figures_in(run.manifest)
    return {
        "name": run.name,
        "solver": run.config.solver.name,
        "iterations": run.config.solver.iterations,
        "policy": figures.get("average_policy")
        or (last and {"attack": last.attack, "bound": last.bound}),
        "found": figures,
        "matrix": figures.get("matrix") or (last and {"attack": last.purified_attack}),
        "effort": figures.get("effort") or plain(run.config.measure.attack),
        "mixture": figures.get("mixture"),
        "metrics": dict(zip(columns, values, strict=False)),
        "config": run.config.to_yaml(),
        "manifest": json.dumps(finite(run.manifest), indent=2),
    }


def _strategy(game: HogEngine, entry: Entry, explored: Explored | None) -> dict[str, Any]:
    policy = frame.pack_fractions(policy_of(game, entry.strategy), PROBABILITY_DIGITS)
    packed: dict[str, Any] = {"name": entry.name, "policy": policy, "explored": None}
    if explored is None:
        return packed
    value = (explored.values * explored.policy).sum(axis=2)
    # By memory first: neighbouring positions have like beliefs.
    beliefs = explored.belief.reshape(game.goal**2, -1).T
    search, cells = explored.search, explored.cells
    course = search.search
    assert course is not None  # noqa: S101 - in Hog every response is searched for
    packed["explored"] = {
        "values": frame.pack_fractions(explored.values, PROBABILITY_DIGITS),
        "value": frame.pack_fractions(value, PROBABILITY_DIGITS),
        "reach": frame.pack_floats(explored.reach),
        "belief": frame.pack_fractions(beliefs, BELIEF_DIGITS) if game.has_memory else None,
        "counter": {
            "dice": frame.pack_fractions(search.matrix, 0),
            "usual": frame.pack_fractions(cells.usual, 0),
            "win_rate": search.value,
            "bound": search.bound,
            "effort": plain(course.budget),
            "saturated": course.saturation.saturated,
            "reach": frame.pack_floats(cells.reach),
            "gains": frame.pack_floats(cells.gains),
        },
    }
    return packed


# --- a strategy seen from inside ------------------------------------------------------------------


def explore(game: HogEngine, strategy: StrategyLike, budget: Budget) -> Explored:
    """Compute values, reach, beliefs and the counter-matrix of a strategy."""
    policy = policy_of(game, strategy)
    valued = counterfactual_values(game.workspace(1), policy[None], "belief")
    masses = fold(game.rules, reach(game, policy))
    total = masses.sum(axis=(2, 3))
    reached = total > 0.0
    belief = np.divide(
        masses,
        total[..., None, None],
        out=np.zeros_like(masses),
        where=reached[..., None, None],
    )
    search = respond(game, policy, budget)
    cells = gains(game, search.matrix, policy)
    return Explored(
        policy=policy,
        values=np.where(reached[..., None], valued.values, np.nan),
        reach=total,
        belief=belief,
        search=search,
        cells=cells,
    )
