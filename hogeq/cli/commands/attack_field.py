"""What wins most from a field, and what that costs in safety: attack-field."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from hogeq.cli.inputs import Chosen, check_output, write_csv
from hogeq.cli.options import (
    MATRIX,
    PICTURE,
    AnnealStepsOption,
    DampingOption,
    JobsOption,
    KicksOption,
    OnOption,
    SeedOption,
    StartsOption,
    argument,
    option,
)
from hogeq.cli.result import Result, Table, Text, budget_text, percent
from hogeq.cli.shell import computing
from hogeq.support.messages import BadInputError

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
    out: Annotated[Path | None, option("Write the answer: M.csv, say.", "FILE"), MATRIX] = None,
    cap: Annotated[
        float | None,
        option("The strongest attack found on the answer may win no more than this.", group=SAFETY),
    ] = None,
    tradeoff: Annotated[
        Path | None,
        option("Win rate against attack, drawn and as .csv beside.", "PNG", group=SAFETY),
        PICTURE,
    ] = None,
    mixed: Annotated[
        bool,
        option("With --cap or --tradeoff: policies, not matrices.", name="--mixed", group=SAFETY),
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
    if mixed:
        check_output(out, (".npy", ".npz"))
    numbers = None if tradeoff is None else tradeoff.with_suffix(".csv")
    check_output(numbers, (".csv",), reads=[game.spec, *strategies], option="--tradeoff")
    engine = game.load("search", "full memory", strategies=strategies)
    rivals = [game.strategy(name) for name in strategies]
    from hogeq.contest.field import CURVE_SHARES, CapError, study_field
    from hogeq.contest.tournament import WIN
    from hogeq.search.attack import SearchBudget

    effort: dict[str, Any] = {"anneal_steps": anneal_steps, "damping": damping, "kicks": kicks}
    budget = SearchBudget(starts=starts, seed=seed, **effort)
    try:
        with computing(on, jobs):
            study = study_field(
                engine,
                rivals,
                objective.value,
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
    curve = [
        {
            "share": point.share,
            "mean": point.answer.mean,
            "beaten": point.answer.beaten,
            "attack": point.attack,
            "bound": point.bound,
        }
        for point in study.points
    ]
    data = {
        "rules": game.name,
        "field": strategies,
        "objective": objective,
        "win_rates": answer.win_rates.tolist(),
        "mean": answer.mean,
        "beaten": answer.beaten,
        **budget.fields(),
        "cap": cap,
        "share": None if chosen is None else chosen.share,
        "attack": None if chosen is None else chosen.attack,
        "bound": None if chosen is None else chosen.bound,
        "steps": steps if study.points else None,
        "mixed": mixed,
        "curve": curve,
        "tradeoff": tradeoff,
        "out": out,
    }
    what = "the highest mean win rate" if objective is Goal.mean else "the most rivals beaten"
    rows = [
        (name, percent(rate), "beaten" if rate > WIN else "")
        for name, rate in zip(strategies, answer.win_rates.tolist(), strict=True)
    ]
    rows.append(("mean", percent(answer.mean), f"{answer.beaten} of {len(rows)} beaten"))
    text: Text = [f"against {len(rivals)} rivals, {game.title}, for {what}", "", Table(rows), ""]
    if chosen is not None:
        safety = [
            ("attack", percent(chosen.attack), f"strongest found on it, cap {cap}"),
            ("bound", percent(chosen.bound), "best responder that remembers everything"),
        ]
        free = f"restricted Nash response: {chosen.share:g} of the opponents free to exploit"
        text += [Table(safety, left=3), "", free]
    text.append(budget_text(budget))
    if tradeoff is not None and numbers is not None:
        from hogeq import figures

        write_csv(numbers, list(curve[0]), [list(line.values()) for line in curve])
        gained = "mean" if objective is Goal.mean else "beaten"
        figures.tradeoff(
            [point.share for point in study.points],
            [point.attack for point in study.points],
            [line[gained] for line in curve],
            tradeoff,
            game.title,
            "mean win rate, field" if objective is Goal.mean else "rivals beaten",
            cap,
        )
        text.append(f"trade-off drawn to {tradeoff}, numbers in {numbers}")
    if out is not None:
        game.write(out, answer.strategy)
        kind = "policy" if answer.strategy.ndim == 3 else "counter-matrix"
        text.append(f"{kind} written to {out}")
    return Result(data, text)
