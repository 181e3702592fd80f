"""What dice roll: dice."""

from pathlib import Path
from typing import Annotated

import typer

from hogeq.cli.inputs import check_output, load_rules, title_of
from hogeq.cli.shell import (
    DigitsOption,
    JsonOption,
    RulesOption,
    emit,
    refusing,
    table,
)
from hogeq.support.numbers import DIGITS, percent


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(dice)


def dice(
    rules: RulesOption = "su20",
    sides: Annotated[
        int | None, typer.Option(help="Sides of the dice. [all kinds that the rules use]")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw the distribution of every roll.")
    ] = None,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Distribution of the points of every roll, and their means."""
    check_output(plot, (".png",))
    chosen = load_rules(rules)
    title = title_of(rules, chosen)
    from hogeq.rules.points import kinds_of_dice, score_distribution

    kinds = kinds_of_dice(chosen) if sides is None else {sides: "asked for"}
    counts = range(1, chosen.max_dice + 1)
    with refusing():
        found = {
            kind: [score_distribution(chosen, count, kind) for count in counts] for kind in kinds
        }
        if plot is not None:
            from hogeq import figures

            figures.distributions(
                {
                    f"{kind}-sided": [
                        {points: float(share) for points, share in roll.probability.items()}
                        for roll in rolls
                    ]
                    for kind, rolls in found.items()
                },
                plot,
                title,
            )
    data = {
        "rules": chosen.name,
        "dice": [
            {
                "sides": roll.sides,
                "dice": roll.dice,
                "mean": float(roll.mean),
                "deviation": float(roll.variance) ** 0.5,
                "pig_out": float(roll.pig_out),
                "distribution": {
                    str(points): float(share) for points, share in roll.probability.items()
                },
            }
            for rolls in found.values()
            for roll in rolls
        ],
        "plot": None if plot is None else str(plot),
    }
    blocks = []
    for kind, rolls in found.items():
        best = max(roll.mean for roll in rolls)
        rows = [
            (
                roll.dice,
                f"{float(roll.mean):.{digits}f}",
                f"{float(roll.variance) ** 0.5:.{digits}f}",
                percent(float(roll.pig_out), digits),
                max(roll.probability),
                "most" if roll.mean == best else "",
            )
            for roll in rolls
        ]
        header = ("dice", "mean points", "deviation", "a 1 is rolled", "highest", "")
        blocks.append(f"{kind}-sided, {kinds[kind]}\n{table(rows, header, left=0)}")
    emit(data, "\n\n".join([title, *blocks]), as_json)
