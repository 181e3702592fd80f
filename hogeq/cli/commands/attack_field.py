"""What wins most from a field, and what that costs in safety: attack-field."""

import csv
import io
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.commands.attack import (
    AnnealStepsOption,
    DampingOption,
    KicksOption,
    SeedOption,
    StartsOption,
    search_budget,
)
from hogeq.cli.inputs import MATRIX_SUFFIXES, Chosen, check_output, write
from hogeq.cli.options import JobsOption, OnOption, OverwriteOption, argument, option
from hogeq.cli.result import Result, Table, Text, budget_fields, budget_text, percent
from hogeq.cli.shell import BadInputError, computing, refusing

if TYPE_CHECKING:
    from hogeq.contest.field import Objective
    from hogeq.contest.safety import FieldStudy, Point

SAFETY = "Safety: what an attack may win from the answer"


class Goal(StrEnum):
    """What a field is played for."""

    mean = "mean"
    beaten = "beaten"


def attack_field(
    strategies: Annotated[list[str], argument("S ...", "The rivals: names, files or runs.")],
    game: Chosen,
    objective: Annotated[
        Goal, option("The mean win rate, or how many are beaten (above 0.500001).")
    ] = Goal.mean,
    out: Annotated[Path | None, option("Write the answer: M.csv, say.", metavar="FILE")] = None,
    overwrite: OverwriteOption = False,
    cap: Annotated[
        float | None,
        option("The strongest attack found on the answer may win no more than this.", group=SAFETY),
    ] = None,
    tradeoff: Annotated[
        Path | None,
        option("Win rate against attack, drawn and as .csv beside.", group=SAFETY, metavar="PNG"),
    ] = None,
    mixed: Annotated[
        bool, option("With --cap or --tradeoff: policies, not matrices.", "--mixed", group=SAFETY)
    ] = False,
    steps: Annotated[
        int, option("Of regret matching, for --cap and --tradeoff.", group=SAFETY, min=1)
    ] = 100,
    starts: StartsOption = 4,
    anneal_steps: AnnealStepsOption = 60,
    damping: DampingOption = 0.5,
    kicks: KicksOption = 0,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    on: OnOption = None,
) -> Result:
    """Find the matrix that wins most from several rivals.

    If you like with a cap on what an attack may win from it (a restricted Nash response).
    """
    if mixed and cap is None and tradeoff is None:
        raise BadInputError("--mixed: needs --cap or --tradeoff; against a field alone a matrix is")
    if cap is not None and not 0.5 <= cap <= 1.0:
        raise BadInputError(f"--cap: {cap}; allowed: win rates from 0.5 to 1")
    reads = [game.spec, *strategies]
    suffixes = (".npy", ".npz") if mixed else MATRIX_SUFFIXES
    check_output(out, suffixes, reads=reads, replace=overwrite)
    check_output(tradeoff, (".png",), option="--tradeoff")
    numbers = None if tradeoff is None else tradeoff.with_suffix(".csv")
    check_output(numbers, (".csv",), reads=reads, option="--tradeoff")
    engine = game.load("search", "full memory", strategies=strategies)
    rivals = [game.any(name) for name in strategies]
    from hogeq.contest.safety import CURVE_SHARES, CapError, study_field
    from hogeq.support.progress import show_progress

    budget = search_budget(
        starts=starts, anneal_steps=anneal_steps, damping=damping, kicks=kicks, seed=seed
    )
    wanted: Objective = objective.value
    try:
        with computing(on, jobs), show_progress():
            study = study_field(
                engine,
                rivals,
                wanted,
                cap=cap,
                shares=() if tradeoff is None else CURVE_SHARES,
                mixed=mixed,
                budget=budget,
                steps=steps,
            )
    except CapError as error:
        more = "" if mixed else ", or --mixed"
        raise BadInputError(f"{error}; allowed: higher caps, more --steps{more}") from error
    answer, chosen = study.answer, study.chosen
    data = {
        "rules": game.name,
        "field": list(strategies),
        "objective": wanted,
        "win_rates": answer.win_rates.tolist(),
        "mean": answer.mean,
        "beaten": answer.beaten,
        **budget_fields(budget),
        "cap": cap,
        "share": None if chosen is None else chosen.share,
        "attack": None if chosen is None else chosen.attack,
        "bound": None if chosen is None else chosen.bound,
        "steps": steps if study.points else None,
        "mixed": mixed,
        "curve": [_point(point) for point in study.points],
        "tradeoff": None if tradeoff is None else str(tradeoff),
        "out": None if out is None else str(out),
    }
    text: Text = [*_text(study, strategies, game.title, wanted, cap), budget_text(budget)]
    if tradeoff is not None:
        _write_curve(tradeoff, study.points, wanted, game.title, cap)
        text.append(f"trade-off drawn to {tradeoff}, numbers in {numbers}")
    if out is not None:
        from hogeq.strategies.write import write_strategy

        with refusing():
            write_strategy(out, answer.strategy, engine.goal, game.rules.max_dice)
        kind = "policy" if answer.strategy.ndim == 3 else "counter-matrix"
        text.append(f"{kind} written to {out}")
    return Result(data, text)


def _text(
    study: "FieldStudy", names: Sequence[str], title: str, objective: "Objective", cap: float | None
) -> Text:
    from hogeq.contest.tournament import WIN

    answer, chosen = study.answer, study.chosen
    what = "the highest mean win rate" if objective == "mean" else "the most rivals beaten"
    rows = [
        (name, percent(float(rate)), "beaten" if rate > WIN else "")
        for name, rate in zip(names, answer.win_rates, strict=True)
    ]
    rows.append(("mean", percent(answer.mean), f"{answer.beaten} of {len(names)} beaten"))
    text: Text = [f"against {len(names)} rivals, {title}, for {what}", "", Table(rows), ""]
    if chosen is not None:
        safety = [
            ("attack", percent(chosen.attack), f"strongest found on it, cap {cap}"),
            ("bound", percent(chosen.bound), "best responder that remembers everything"),
        ]
        free = f"restricted Nash response: {chosen.share:g} of the opponents free to exploit"
        text += [Table(safety, left=3), "", free]
    return text


def _write_curve(
    path: Path, points: "Sequence[Point]", objective: "Objective", title: str, cap: float | None
) -> None:
    from hogeq import figures

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    lines = [_point(point) for point in points]
    writer.writerow(lines[0])
    writer.writerows([map(repr, line.values()) for line in lines])
    write(path.with_suffix(".csv"), file.getvalue())
    beaten = objective == "beaten"
    with refusing():
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
