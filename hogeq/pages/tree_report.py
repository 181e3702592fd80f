"""The report on runs of a game other than Hog: curves, intervals and policies, without scripts."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

import numpy as np

from hogeq import Strategy, Units, figures
from hogeq.pages import frame
from hogeq.runs.files import figures_in
from hogeq.runs.index import Run
from hogeq.support.html import table
from hogeq.support.messages import percent

MAX_INFOSETS: Final = 200  # information sets on the page, those that play reaches most often


def make(runs: Sequence[Run], against: Mapping[str, Strategy]) -> tuple[str, dict[str, Any]]:
    """Write the HTML page on runs of one game; return it with the figures on it.

    The strategies of the runs and those of `against` play each other. The figures are "counters",
    for each strategy of the runs the value of the best response found, and an upper bound;
    "entries", the names of all strategies; and "payoffs", to the row, of all against all.
    """
    game = runs[0].game
    units = game.units
    entries: dict[str, Strategy] = {}
    responses: dict[str, tuple[float, float]] = {}  # attack found and upper bound
    curves = []  # figures, one for each run
    for run in runs:
        strategies = {"average policy": run.policy, "matrix": run.matrix, "mixture": run.mixture}
        run_figures = figures_in(run.manifest)
        responses_to_run = {}
        for name, strategy in strategies.items():
            if strategy:
                entries[f"{run.name}: {name}"] = strategy
            ends = run_figures.get(name.replace(" ", "_"))
            if ends:
                responses_to_run[name] = (ends["attack"], ends["bound"])
                responses[f"{run.name}: {name}"] = responses_to_run[name]
        if run.metrics:
            curves.append(
                figures.convergence(run.metrics, None, run.name, responses_to_run, units=units)
            )
    if len(curves) > 1:  # one figure with the curves of all runs instead
        curves = [figures.exploitability({run.name: run for run in runs if run.metrics})]
    entries |= against
    values = [[game.value(row, column) for column in entries.values()] for row in entries.values()]
    payoffs = [[value.to_json(units)["payoff"] for value in row] for row in values]
    payoff_rows = [
        (name, *(value.written(units)[0] for value in row))
        for name, row in zip(entries, values, strict=True)
    ]
    payoff_table = table(payoff_rows, ("", *entries), "Payoff to the row")
    title = f"{', '.join(run.name for run in runs)}: {runs[0].config.title}"
    body = [
        f"<h1>{escape(title)}</h1><h2>How exploitable</h2>",
        frame.scrolling(_response_table(responses, units)),
        *map(_image_html, curves),
        f"<h2>All against all</h2>{frame.scrolling(payoff_table)}",
        f"<h2>The strategies</h2>{frame.scrolling(_policies(runs), 'texts')}<h2>The configs</h2>",
        *(f"<pre>{escape(run.config.to_yaml())}</pre>" for run in runs),
    ]
    page = frame.page(title, "\n".join(body), styles="sheet", scripts="", data={}, images=True)
    counters = {name: {"attack": low, "bound": high} for name, (low, high) in responses.items()}
    return page, {"counters": counters, "entries": list(entries), "payoffs": payoffs}


def _response_table(responses: Mapping[str, tuple[float, float]], units: Units) -> str:
    """Write a table of best responses: of each strategy the attack found and an upper bound."""
    header = "payoff against", "attack found", "upper bound", "exploitability (NashConv / 2)"
    rows = []
    for name, (attack, bound) in responses.items():
        exploitability = units.gap(*units.beyond(attack, bound))
        rows.append((name, units.lower(attack), units.upper(bound), exploitability))
    return table(rows, header, "Best responses, mean of both seats")


def _image_html(figure: Any) -> str:
    """Write a figure as an HTML image."""
    data = base64.b64encode(figure.png()).decode()
    return f'<p><img alt="Exploitability by iterations" src="data:image/png;base64,{data}"></p>'


def _policies(runs: Sequence[Run]) -> str:
    """Write a table of the most probable action of every run at each information set.

    At most `MAX_INFOSETS` are written, those with the largest reach probability in any of the runs.
    """
    infosets = runs[0].game.rows
    workspace = runs[0].game.engine.workspace(1)
    policies = {run.name: run.policy.mean for run in runs}  # (information sets, actions) each
    reach = np.max([workspace.cell_reach(policy[None]) for policy in policies.values()], axis=0)
    rows = []
    for infoset in np.argsort(-reach, kind="stable")[:MAX_INFOSETS].tolist():
        actions = []
        for policy in policies.values():
            action = int(policy[infoset].argmax())
            label = infosets.labels[infoset][action]
            actions.append(f"{label} {percent(policy[infoset, action])}")
        player = infosets.member[infoset]
        rows.append((player, infosets.names[infoset], percent(reach[infoset]), *actions))
    caption = f"Average policies, at {len(rows):,} of {infosets.num_rows:,} information sets"
    return table(rows, ("player", "information set", "met in", *policies), caption)
