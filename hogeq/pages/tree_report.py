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

_STYLE: Final = "<style>h2 + style + .wide td { text-align: left; white-space: normal; }</style>"


def make(runs: Sequence[Run], against: Mapping[str, Strategy]) -> tuple[str, dict[str, Any]]:
    """Make the page, and give the figures on it: `counters`, `entries` and `payoffs`."""
    game = runs[0].game
    units, entries, intervals, plots = game.units, dict[str, Strategy](), {}, []
    for run in runs:
        parts = {"average policy": run.policy, "matrix": run.matrix, "mixture": run.mixture}
        found = figures_in(run.manifest)
        known = {name: found.get(name.replace(" ", "_")) for name in parts}
        ends = {name: (one["attack"], one["bound"]) for name, one in known.items() if one}
        for name, strategy in parts.items():
            if strategy is not None:
                entries[f"{run.name}: {name}"] = strategy
        intervals.update({f"{run.name}: {name}": pair for name, pair in ends.items()})
        if run.metrics:
            plots.append(
                (run.name, figures.exploitability(run.metrics, None, run.name, ends, units=units))
            )
    entries.update(against)
    payoffs = [[game.value(a, b).mean for b in entries.values()] for a in entries.values()]
    title = f"{', '.join(run.name for run in runs)}: {runs[0].config.title}"
    body = [f"<h1>{escape(title)}</h1>", "<h2>How exploitable</h2>"]
    rows: list[tuple[str, ...]] = [
        (name, *units.ends(*ends, are_one=False), units.gap(*(end - units.even for end in ends)))
        for name, ends in intervals.items()
    ]
    heads = "payoff against", "attack found", "upper bound", "exploitability (NashConv / 2)"
    body.append(_wide(table(rows, heads, "Best responses, mean of both seats")))
    for name, plot in plots:
        data = base64.b64encode(vars(plot)["_repr_png_"]()).decode()
        alt = escape(f"Exploitability of {name} by iterations")
        body.append(f'<p><img alt="{alt}" src="data:image/png;base64,{data}"></p>')
    rows = [(name, *map(units.exact, row)) for name, row in zip(entries, payoffs, strict=True)]
    body += ["<h2>All against all</h2>", _wide(table(rows, ("", *entries), "Payoff to the row"))]
    body += ["<h2>The strategies</h2>", _STYLE, _wide(_policies(runs))]
    body.append("<h2>What made this</h2>")
    body += [
        f"<h3>{escape(one.name)}</h3><pre>{escape(one.config.to_yaml())}</pre>" for one in runs
    ]
    page = frame.page(title, "\n".join(body), styles="sheet", scripts="", data={}, images=True)
    counters = {name: {"attack": low, "bound": high} for name, (low, high) in intervals.items()}
    return page, {"counters": counters, "entries": list(entries), "payoffs": payoffs}


def _wide(content: str) -> str:
    return f'<div class="wide" tabindex="0">{content}</div>'


def _policies(runs: Sequence[Run]) -> str:
    """Write the most probable actions of every run, where play comes to most first."""
    game, tree = runs[0].game, runs[0].game.tree
    assert tree is not None  # noqa: S101 - runs are of other games alone
    work, played = game.engine.workspace(1), {}
    for run in runs:
        played[f"{run.name}: average policy"] = run.policy.mean
        if run.mixture is not None:
            played[f"{run.name}: mean of its mixture"] = run.mixture.mean
    reach = np.max([work.cell_reach(one[None]) for one in played.values()], axis=0)
    rows = []
    for row in np.argsort(-reach, kind="stable")[:SHOWN].tolist():
        best = [
            (tree.labels[row][int(one[row].argmax())], one[row].max()) for one in played.values()
        ]
        actions = [f"{label} {percent(share)}" for label, share in best]
        rows.append((tree.seat[row], tree.names[row], percent(reach[row]), *actions))
    caption = f"Most probable actions, of {len(rows):,} of {tree.num_rows:,} information sets"
    return table(rows, ("player", "information set", "met in", *played), caption)
