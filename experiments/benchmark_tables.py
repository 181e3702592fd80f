"""Tables and figure of the benchmark: how near methods come to the best, and all instances."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from common import draw, publish
from methods import EXACT, SEARCHES

from hogeq.benchmark.catalogue import HELD_OUT, OPEN
from hogeq.search.certificate_files import Certificate
from hogeq.trees.enumeration import MOST_SEARCH_NODES as ENUMERATED

OTHERS: Final = {
    "Hog": ("su20-14x2-always", "fa18-10x3-always", "fa18-10x3-ignore", "fa13-20x4-always"),
    "poker": (
        "leduc_poker-own_actions-seat_0",
        "leduc_poker-own_actions-seat_1",
        "leduc_poker-last_1-seat_0",
    ),
}
"""Problems without seeds on which methods differ."""

PARTS_LIMIT = f"{ENUMERATED:,} parts"
EQUAL = 1e-6  # shares of the largest payoff this close are equal
LEAST = 1e-7  # added to what is drawn, since axes are logarithmic
SHOWN = 10**7  # digits of the table of instances
NOTHING = {"value": -np.inf}
ENDS = (("value", "lower"), ("bound", "upper"))

Record = dict[str, Any]


def instances_in(folder: Path) -> dict[str, Any]:
    """Read what is known, if anything is."""
    if not (folder / "known.json").exists():
        return {}
    known: Record = json.loads((folder / "known.json").read_text(encoding="utf-8"))
    return dict(known["instances"])


def seed_of(name: str) -> int:
    """Seed of a generated problem; 0 of another."""
    last = name.rpartition("-")[2]
    return int(last) if last.isdigit() else 0


def group(name: str) -> str:
    """Name the parameter of a generated problem, or the kind of another."""
    kinds = {one: kind for kind, names in OTHERS.items() for one in names}
    return kinds.get(name) or name.rpartition("-")[0]


def tables(out: Path, records: Mapping[str, Record], seconds: float) -> None:
    """Write how far methods end below the best payoff known, in all and by group, and draw it."""
    known = instances_in(out / "benchmark") | instances_in(out / "benchmark" / "seeds")
    for name, one in records.items():
        best = max(known.get(name, NOTHING)["value"], one["courses"].max()) / one["largest"]
        one["short"] = np.maximum(best - one["courses"] / one["largest"], 0.0)
        one["exact_short"] = np.maximum(best - one["exact"][:, 0], 0.0)
        one["is_solved"] = one["exact"][:, 1] - best < EQUAL
    held = [one for name, one in records.items() if seed_of(name) in HELD_OUT]
    opened = [one for name, one in records.items() if seed_of(name) in OPEN]
    header = ["method", "limit", f"best of {len(held)}", "lower quartile", "median"]
    header += ["upper quartile", "half the effort", "open", "seconds"]
    publish(out, "benchmark", header, ranking(held, opened, seconds))
    groups: dict[str, list[Record]] = {}
    for name, one in records.items():
        if seed_of(name) not in OPEN:
            groups.setdefault(group(name), []).append(one)
    rows = ([f"{name} ({len(some)})", *medians(some)] for name, some in groups.items())
    publish(out, "benchmark_groups", ["problems", *SEARCHES], rows)
    if groups:
        draw(out, "benchmark", panels(groups), "mean distance to the best known")


def ranking(
    held: Sequence[Record], opened: Sequence[Record], limit: float
) -> Iterator[list[object]]:
    """Compare methods by quartiles over random seeds, on average over problems."""
    for number, method in enumerate(SEARCHES):
        quartiles = [np.quantile(one["short"][number, :, -1], (0.25, 0.5, 0.75)) for one in held]
        is_best = sum(median < EQUAL for _, median, _ in quartiles)
        averages = [thousandths(float(one)) for one in np.mean(quartiles, axis=0)]
        less, others = medians(held, -2)[number], medians(opened)[number]
        seconds = np.median([one["seconds"][number] for one in held])
        effort = f"{held[0]['marks'][-1]:,} evaluations"
        yield [method, effort, is_best, *averages, less, others, f"{seconds:.3f}"]
    for number, method in enumerate(EXACT):
        is_best = sum(one["is_solved"][number] for one in held)
        mean = np.mean([one["exact_short"][number] for one in held])
        written = thousandths(float(mean)) if mean < np.inf else ""
        seconds = np.median([one["exact"][number, 2] for one in held])
        effort = PARTS_LIMIT if method == "enumeration" else f"{limit:g} s by the clock"
        yield [method, effort, is_best, "", written, "", "", "", f"{seconds:.3f}"]


def medians(records: Sequence[Record], mark: int = -1) -> list[str]:
    """Write the median distance of every search at a mark, on average over problems."""
    every = [np.median(one["short"][:, :, mark], axis=1) for one in records]
    return [thousandths(float(one)) for one in np.mean(every, axis=0)]


def thousandths(share: float) -> str:
    """Write a share of the largest payoff in thousandths."""
    return "0" if share < EQUAL else f"{1000.0 * share:.3f}"


def panels(
    groups: Mapping[str, Sequence[Record]],
) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Mean over problems of the median course of every search, by family."""
    families: dict[str, list[Record]] = {}
    for name, some in groups.items():
        families.setdefault(name.partition("-")[0], []).extend(some)
    drawn: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for name, some in families.items():
        lines = np.mean([np.median(one["short"], axis=1) for one in some], axis=0) + LEAST
        marks = some[0]["marks"].tolist()
        drawn[f"evaluations: {name} ({len(some)})"] = {
            method: list(zip(marks, line.tolist(), strict=True))
            for method, line in zip(SEARCHES, lines, strict=True)
        }
    return drawn


def instances(folder: Path) -> Iterator[list[object]]:
    """List what is known of every instance."""
    for part in (folder, folder / "seeds"):
        for name, known in instances_in(part).items():
            low, high = (known.get(one, known.get(two)) for one, two in ENDS)
            leaves = sum(np.atleast_1d(known["leaves"]))
            proof = f"{leaves:,} leaves" if leaves > 1 else "one leaf"
            path = part / "certificates" / f"{name}.json.gz"
            if path.exists() and (found := Certificate.read(path)).bound < high:
                high, proof = found.bound, f"{len(found.steps):,} steps"
            gap = "0" if high - low < EQUAL else f"{high - low:.1e}"
            sizes = f"{known['states']:,}", f"{known['rows']:,}"
            ends = math.floor(low * SHOWN) / SHOWN, math.ceil(high * SHOWN) / SHOWN
            yield [name, *sizes, *(f"{end:.7f}" for end in ends), gap, proof]
