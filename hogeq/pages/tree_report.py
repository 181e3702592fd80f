"""The report on runs of a game other than Hog: curves, intervals and policies, without scripts."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

import numpy as np

from hogeq import figures
from hogeq.pages import frame
from hogeq.runs.files import figures_in
from hogeq.runs.index import Run
from hogeq.strategies.strategy import Strategy
from hogeq.support.html import table
from hogeq.support.messages import percent

SHOWN: Final = 200  # information sets of the page, those that play comes to most


def make(runs: Sequence[Run], against: Mapping[str, Strategy]) -> tuple[str, dict[str, Any]]:
    """Make the page, and give the figures on it: `counters`, `entries` and `payoffs`."""
    game, entries, pictures = runs[0].game, dict[str, Strategy](), list[Any]()
    units, counters = game.units, dict[str, tuple[float, float]]()
    for run in runs:
        parts = {"average policy": run.policy, "matrix": run.matrix, "mixture": run.mixture}
        entries |= {f"{run.name}: {name}": part for name, part in parts.items() if part}
        found = figures_in(run.manifest)
        known = {name: found.get(name.replace(" ", "_")) for name in parts}
        ends = {name: (one["attack"], one["bound"]) for name, one in known.items() if one}
        counters |= {f"{run.name}: {name}": pair for name, pair in ends.items()}
        if run.metrics:
            pictures.append(figures.convergence(run.metrics, None, run.name, ends, units=units))
    if len(pictures) > 1:  # the curves of several runs lie over each other
        pictures = [figures.exploitability({run.name: run for run in runs if run.metrics})]
    entries |= against
    values = [[game.value(a, b) for b in entries.values()] for a in entries.values()]
    payoffs = [[one.to_json(units)["payoff"] for one in row] for row in values]
    title = f"{', '.join(run.name for run in runs)}: {runs[0].config.title}"
    heads = "payoff against", "attack found", "upper bound", "exploitability (NashConv / 2)"
    rows = [
        (name, units.lower(low), units.upper(high), units.gap(low - units.even, high - units.even))
        for name, (low, high) in counters.items()
    ]
    played = [
        (name, *(one.written(units)[0] for one in row))
        for name, row in zip(entries, values, strict=True)
    ]
    body = [
        f"<h1>{escape(title)}</h1><h2>How exploitable</h2>",
        _wide(table(rows, heads, "Best responses, mean of both seats")),
        *map(_picture, pictures),
        f"<h2>All against all</h2>{_wide(table(played, ('', *entries), 'Payoff to the row'))}",
        f"<h2>The strategies</h2>{_wide(_policies(runs), 'texts')}<h2>The configs</h2>",
        *(f"<pre>{escape(run.config.to_yaml())}</pre>" for run in runs),
    ]
    page = frame.page(title, "\n".join(body), styles="sheet", scripts="", data={}, images=True)
    ends_of = {name: {"attack": low, "bound": high} for name, (low, high) in counters.items()}
    return page, {"counters": ends_of, "entries": list(entries), "payoffs": payoffs}


def _wide(content: str, look: str = "") -> str:
    return f'<div class="wide {look}" tabindex="0">{content}</div>'


def _picture(drawn: Any) -> str:
    data = base64.b64encode(vars(drawn)["_repr_png_"]()).decode()
    return f'<p><img alt="Exploitability by iterations" src="data:image/png;base64,{data}"></p>'


def _policies(runs: Sequence[Run]) -> str:
    """Write the most probable actions of every run, where play comes to most first."""
    game, tree = runs[0].game, runs[0].game.rows
    work, played = game.engine.workspace(1), {run.name: run.policy.mean for run in runs}
    reach = np.max([work.cell_reach(one[None]) for one in played.values()], axis=0)
    rows = []
    for row in np.argsort(-reach, kind="stable")[:SHOWN].tolist():
        best = [
            (tree.labels[row][int(one[row].argmax())], one[row].max()) for one in played.values()
        ]
        actions = [f"{label} {percent(share)}" for label, share in best]
        rows.append((tree.member[row], tree.names[row], percent(reach[row]), *actions))
    caption = f"Average policies, at {len(rows):,} of {tree.num_rows:,} information sets"
    return table(rows, ("player", "information set", "met in", *played), caption)
