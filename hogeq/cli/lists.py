"""What there is: rules, strategies, dice."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from hogeq.cli.inputs import check_output, load_rules
from hogeq.cli.shell import JsonOption, RulesOption, emit, refusing, table
from hogeq.rules import EDITIONS, Rules, describe
from hogeq.rules.memory import memory_sizes
from hogeq.rules.parts import FERAL_HOGS, MORE_BOAR, SWAPS, ZERO_DICE


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("rules")(rules_)
    app.command()(strategies)
    app.command()(dice)


def rules_(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[RULES]", help="An edition or a YAML file, to say all of it."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the editions, their parts and switches."""
    chosen = list(EDITIONS.values()) if name is None else [load_rules(name)]
    data = {
        "editions": {rules.name: _facts(rules) for rules in chosen},
        "parts": {
            "zero_dice": list(ZERO_DICE),
            "feral_hogs": list(FERAL_HOGS),
            "swap": list(SWAPS),
            "more_boar": list(MORE_BOAR),
        },
    }
    if name is None:
        text = "\n\n".join([*(_described(rules) for rules in chosen), _switches()])
    else:
        text = _described(chosen[0])
    emit(data, text, as_json)


def _facts(rules: Rules) -> dict[str, Any]:
    facts = asdict(rules)
    del facts["name"]
    return {
        **facts,
        "memory_size": _memory_size(rules),
        "parts": [{"part": part, "meaning": meaning} for part, meaning in describe(rules)],
    }


def _memory_size(rules: Rules) -> int:
    turns, extras, records = memory_sizes(rules)
    return turns * extras * records * records


def _described(rules: Rules) -> str:
    size = _memory_size(rules)
    memory = f"hidden memory of {size} values" if size > 1 else "no hidden memory"
    lines = table(describe(rules), left=2).splitlines()
    return "\n".join([f"{rules.name} ({memory})", *(f"  {line}" for line in lines)])


def _switches() -> str:
    """Say what a YAML file of rule parts may hold."""
    choices = {
        "zero_dice": ZERO_DICE,
        "feral_hogs": FERAL_HOGS,
        "swap": SWAPS,
        "more_boar": MORE_BOAR,
    }
    rows = []
    for key, value in asdict(Rules()).items():
        if key in choices:
            rows.append((key, ", ".join(choices[key])))
        elif isinstance(value, bool):
            rows.append((key, "true, false"))
        elif key != "name":
            rows.append((key, "0, 1" if key == "pig_out" else "a whole number"))
    lines = table([("edition", ", ".join(EDITIONS)), *rows], left=2).splitlines()
    heading = "switches of a YAML file, each with its values; an edition, and what differs from it"
    return "\n".join([heading, *(f"  {line}" for line in lines)])


def strategies(as_json: JsonOption = False) -> None:
    """List the strategies that have a name."""
    from hogeq.baselines.registry import names

    known = names()
    emit({"strategies": known}, table(list(known.items()), left=2), as_json)


def dice(
    rules: RulesOption = "su20",
    sides: Annotated[
        int | None, typer.Option(help="Sides of the dice. [all kinds that the rules use]")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw the distribution of every roll.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Distribution of the points of every roll, and their means."""
    check_output(plot, (".png",))
    chosen = load_rules(rules)
    from hogeq.rules.distributions import kinds_of_dice, score_distribution

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
                chosen.name,
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
                float(roll.mean),
                f"{float(roll.variance) ** 0.5:.6f}",
                f"{float(roll.pig_out):.6f}",
                max(roll.probability),
                "most" if roll.mean == best else "",
            )
            for roll in rolls
        ]
        header = ("dice", "mean points", "deviation", "a 1 is rolled", "highest", "")
        blocks.append(f"{kind}-sided, {kinds[kind]}\n{table(rows, header, left=0)}")
    emit(data, "\n\n".join([chosen.name, *blocks]), as_json)
