"""The game for other programs: export-game."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from hogeq.cli.inputs import check_output, load_rules, title_of
from hogeq.cli.shell import (
    BadInputError,
    JsonOption,
    MemoryOption,
    RulesOption,
    emit,
    refusing,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export-game")(export_game)


def export_game(
    rules: RulesOption = "su20",
    goal: Annotated[
        int | None, typer.Option(min=1, metavar="G", help="Another goal than that of the rules.")
    ] = None,
    max_dice: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Another most number of dice.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A name ending in .efg.")] = Path(
        "hog.efg"
    ),
    memory: MemoryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the game tree in Gambit's extensive form.

    Sizes go to standard error before anything is written; trees of more than two million nodes
    are refused.
    """
    check_output(out, (".efg",))
    chosen = load_rules(rules)
    from hogeq.trees import gambit

    with refusing():
        chosen = replace(chosen, goal=goal or chosen.goal, max_dice=max_dice or chosen.max_dice)
        sizes = gambit.tree_sizes(chosen, memory=memory)
    if not sizes.exact:
        raise BadInputError(
            f"the tree has more than {gambit.MOST_NODES:,} nodes, the most allowed: "
            "lower --goal or --max-dice"
        )
    title = title_of(rules, chosen)
    typer.echo(f"{title} to {chosen.goal} with 0 to {chosen.max_dice} dice: {sizes}", err=True)
    with refusing():
        gambit.write_efg(out, chosen, memory=memory)
    data = {
        "rules": chosen.name,
        "goal": chosen.goal,
        "max_dice": chosen.max_dice,
        "out": str(out),
        "nodes": sizes.nodes,
        "choices": sizes.choices,
        "chances": sizes.chances,
        "ends": sizes.ends,
        "infosets": list(sizes.infosets),
    }
    emit(data, f"{sizes.nodes:,} nodes written to {out}", as_json)
