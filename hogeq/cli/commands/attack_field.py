"""What wins most from a field, and what that costs in safety: attack --field."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hogeq.cli.shell import BadInputError, budget_fields, budget_text, refusing, table
from hogeq.support.numbers import percent
from hogeq.support.progress import show_progress

if TYPE_CHECKING:
    from hogeq.contest.field import Objective
    from hogeq.contest.safety import FieldStudy, Point
    from hogeq.model.game import HogEngine
    from hogeq.search.attack import SearchBudget


def answer(
    game: "HogEngine",
    about: str,
    names: Sequence[str],
    rivals: Sequence[Any],
    objective: "Objective",
    cap: float | None,
    mixed: bool,
    budget: "SearchBudget",
    steps: int,
    tradeoff: Path | None,
    digits: int,
) -> tuple[dict[str, Any], str, Any]:
    """Answer a field: the JSON object, the text and the strategy; the curve is written."""
    from hogeq.contest.safety import CURVE_SHARES, CapError, study_field

    try:
        with show_progress():
            study = study_field(
                game,
                rivals,
                objective,
                cap=cap,
                shares=() if tradeoff is None else CURVE_SHARES,
                mixed=mixed,
                budget=budget,
                steps=steps,
            )
    except CapError as error:
        more = "" if mixed else ", or --mixed"
        raise BadInputError(f"{error}; allowed: higher caps, more --steps{more}") from error
    if tradeoff is not None:
        _write_curve(tradeoff, study.points, objective, about, cap)
    found, chosen = study.answer, study.chosen
    data = {
        "rules": game.rules.name,
        "field": list(names),
        "objective": objective,
        "win_rates": found.win_rates.tolist(),
        "mean": found.mean,
        "beaten": found.beaten,
        **budget_fields(budget),
        "cap": cap,
        "share": None if chosen is None else chosen.share,
        "attack": None if chosen is None else chosen.attack,
        "bound": None if chosen is None else chosen.bound,
        "steps": steps if study.points else None,
        "mixed": mixed,
        "curve": [_point(point) for point in study.points],
        "tradeoff": None if tradeoff is None else str(tradeoff),
    }
    lines = _lines(study, names, about, objective, cap, digits)
    lines.append(budget_text(budget))
    if tradeoff is not None:
        lines.append(f"trade-off drawn to {tradeoff}, numbers in {tradeoff.with_suffix('.csv')}")
    return data, "\n".join(lines), found.strategy


def _lines(
    study: "FieldStudy",
    names: Sequence[str],
    rules: str,
    objective: "Objective",
    cap: float | None,
    digits: int,
) -> list[str]:
    from hogeq.contest.tournament import WIN

    found, chosen = study.answer, study.chosen
    what = "the highest mean win rate" if objective == "mean" else "the most rivals beaten"
    rows = [
        (name, percent(float(rate), digits), "beaten" if rate > WIN else "")
        for name, rate in zip(names, found.win_rates, strict=True)
    ]
    lines = [
        f"against {len(rows)} rivals, {rules}, for {what}",
        "",
        table(
            [*rows, ("mean", percent(found.mean, digits), f"{found.beaten} of {len(rows)} beaten")]
        ),
        "",
    ]
    if chosen is not None:
        safety = [
            ("attack", percent(chosen.attack, digits), f"strongest found on it, cap {cap}"),
            ("bound", percent(chosen.bound, digits), "best responder that remembers everything"),
        ]
        free = f"restricted Nash response: {chosen.share:g} of the opponents free to exploit"
        lines += [table(safety, left=3), "", free]
    return lines


def _write_curve(
    path: Path, points: "Sequence[Point]", objective: "Objective", title: str, cap: float | None
) -> None:
    from hogeq import figures
    from hogeq.support.files import write_whole

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    lines = [_point(point) for point in points]
    writer.writerow(lines[0])
    writer.writerows([map(repr, line.values()) for line in lines])
    beaten = objective == "beaten"
    with refusing():
        write_whole(path.with_suffix(".csv"), file.getvalue().encode())
        figures.tradeoff(
            [point.share for point in points],
            [point.attack for point in points],
            [point.answer.beaten if beaten else point.answer.mean for point in points],
            path,
            title,
            "rivals beaten" if beaten else "mean win rate, field",
            cap,
        )


def _point(point: "Point") -> dict[str, Any]:
    return {
        "share": point.share,
        "mean": point.answer.mean,
        "beaten": point.answer.beaten,
        "attack": point.attack,
        "bound": point.bound,
    }
