"""The game for other programs: export-game."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from hogeq.cli.inputs import Chosen, check_output, title_of
from hogeq.cli.options import MemoryOption, option
from hogeq.cli.result import Result
from hogeq.cli.shell import BadInputError, refusing, warn


def export_game(
    game: Chosen,
    goal: Annotated[
        int | None, option("Another goal than that of the rules.", min=1, metavar="G")
    ] = None,
    max_dice: Annotated[
        int | None, option("Another most number of dice.", min=1, metavar="N")
    ] = None,
    out: Annotated[Path, option("A name ending in .efg.", metavar="FILE")] = Path("hog.efg"),
    memory: MemoryOption = False,
) -> Result:
    """Write the game tree in Gambit's extensive form.

    Sizes go to standard error before anything is written; trees of more than two million nodes
    are refused.
    """
    check_output(out, (".efg",))
    full = game.choose()
    from hogeq.trees import gambit

    with refusing():
        rules = replace(full, goal=goal or full.goal, max_dice=max_dice or full.max_dice)
        sizes = gambit.tree_sizes(rules, memory=memory)
    if not sizes.exact:
        raise BadInputError(
            f"the tree has more than {gambit.MOST_NODES:,} nodes, the most allowed: "
            "lower --goal or --max-dice"
        )
    title = title_of(game.name, rules)
    warn(f"{title} to {rules.goal} with 0 to {rules.max_dice} dice: {sizes}")
    with refusing():
        gambit.write_efg(out, rules, memory=memory)
    data = {
        "rules": game.name,
        "goal": rules.goal,
        "max_dice": rules.max_dice,
        "out": str(out),
        "nodes": sizes.nodes,
        "choices": sizes.choices,
        "chances": sizes.chances,
        "ends": sizes.ends,
        "infosets": list(sizes.infosets),
    }
    return Result(data, [f"{sizes.nodes:,} nodes written to {out}"])
