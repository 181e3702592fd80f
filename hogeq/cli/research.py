"""For research: what a game forgets, and the game for other programs."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import check_output, load_rules
from hogeq.cli.shell import BadInputError, JsonOption, RulesOption, emit, refusing, table
from hogeq.rules import Rules

if TYPE_CHECKING:
    from hogeq.trees.recall import Audit, Finding, Loss, Witness

LETTERS = {
    "own action": "a",
    "own observation": "o",
    "opponent's action": "p",
    "chance": "c",
    "seat": "s",
}
MAP_GOAL = 12  # goals up to which a map of the information sets fits a terminal

MemoryOption = Annotated[
    bool, typer.Option("--memory", help="Players remember everything that happened.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("audit")(audit_)
    app.command("export-game")(export_game)


def audit_(
    rules: RulesOption = "su20",
    goal: Annotated[int, typer.Option(min=1, metavar="G", help="Goal of the game walked.")] = 6,
    max_dice: Annotated[int, typer.Option(min=1, metavar="N", help="Most dice in it.")] = 2,
    memory: MemoryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what information sets forget, and what theory says of such a game.

    All histories of the same rules with a low goal and few dice are walked. A loss of memory that
    they show is one of the full game too: both histories of its witness lead to the same scores
    there. That a property holds is shown for the game walked only.
    """
    from hogeq.trees.audit import audit, small

    full = load_rules(rules)
    walked = small(full, goal, max_dice)
    with refusing():
        found = audit(walked, memory=memory)
    emit(_audit_data(full, walked, found), _audit_text(full, walked, found, memory), as_json)


def _audit_data(full: Rules, walked: Rules, found: "Audit") -> dict[str, Any]:
    return {
        "rules": full.name,
        "goal": walked.goal,
        "max_dice": walked.max_dice,
        "full_goal": full.goal,
        "full_max_dice": full.max_dice,
        "whole": found.whole,
        "infosets": len(found.infosets),
        "histories": found.histories,
        "forgets": {
            what: {
                "count": len(loss.infosets),
                "infosets": sorted(_at(infoset) for infoset in loss.infosets),
                "witness": _witness_data(full, walked, loss.witness),
            }
            for what, loss in found.forgets.items()
        },
        "properties": {
            what: {
                "holds": finding.holds,
                "note": finding.note,
                "witness": _witness_data(full, walked, finding.witness),
            }
            for what, finding in found.findings.items()
        },
    }


def _witness_data(full: Rules, walked: Rules, witness: "Witness | None") -> dict[str, Any] | None:
    if witness is None:
        return None
    from hogeq.trees.witness import shows, tell

    return {
        "at": _at(witness.infoset),
        "histories": [tell(walked, witness.first), tell(walked, witness.second)],
        "note": witness.note,
        "in_full_game": shows(full, witness),
    }


def _at(infoset: Any) -> list[Any]:
    return list(infoset)


def _audit_text(full: Rules, walked: Rules, found: "Audit", memory: bool) -> str:
    how = "all histories" if found.whole else "the first turns of all histories"
    seen = "everything that happened" if memory else "the scores"
    title = (
        f"Recall in {full.name}, where a player sees {seen}: {how} of the game to {walked.goal} "
        f"with 0 to {walked.max_dice} dice, {found.histories:,} of them ending in "
        f"{len(found.infosets):,} information sets of player A"
    )
    parts = [
        title,
        table(
            [
                (LETTERS[what], what, f"{len(loss.infosets)} of {len(found.infosets)}")
                for what, loss in found.forgets.items()
            ],
            ("", "forgotten", "information sets"),
            left=2,
        ),
    ]
    if walked.goal <= MAP_GOAL and not memory:
        parts.append(_map(walked, found))
    parts.append(
        table(
            [(what, _verdict(finding)) for what, finding in found.findings.items()],
            ("property", "holds"),
            left=2,
        )
    )
    shown: list[Loss | Finding] = [*found.forgets.values(), *found.findings.values()]
    witnesses: dict[tuple[Any, ...], list[str]] = {}
    for what, loss in zip([*found.forgets, *found.findings], shown, strict=True):
        if loss.witness is not None:
            name = f"forgotten {what}" if what in found.forgets else f"not {what}"
            witnesses.setdefault(tuple(loss.witness), []).append(name.replace("not no ", ""))
    from hogeq.trees.recall import Witness

    for key, names in witnesses.items():
        parts.append(_witness_text(full, walked, Witness(*key), names))
    return "\n\n".join(parts)


def _map(walked: Rules, found: "Audit") -> str:
    def cell(own: int, opponent: int) -> str:
        if (own, opponent) not in found.infosets:
            return "."
        lost = [LETTERS[w] for w, loss in found.forgets.items() if (own, opponent) in loss.infosets]
        return "".join(lost) or "-"

    goal = range(walked.goal)
    rows = [(str(own), *(cell(own, opponent) for opponent in goal)) for own in goal]
    header = ("own", *map(str, goal))
    return (
        "What is forgotten at own score (down) and opponent's score (across); - nothing, . no "
        f"play comes there\n{table(rows, header, left=len(header))}"
    )


def _verdict(finding: "Finding") -> str:
    word = {True: "yes", False: "no", None: "not decided"}[finding.holds]
    return f"{word}, {finding.note}" if finding.note else word


def _witness_text(full: Rules, walked: Rules, witness: "Witness", names: list[str]) -> str:
    data = _witness_data(full, walked, witness)
    assert data is not None  # noqa: S101 - there is a witness
    own, opponent = data["at"][:2]
    lines = [f"{', '.join(names)}: A to move at {own}-{opponent} after either of"]
    lines += [f"  {number}. {text}" for number, text in enumerate(data["histories"], 1)]
    if data["note"]:
        lines.append(f"  ({data['note']})")
    if (full.goal, full.max_dice) != (walked.goal, walked.max_dice):
        same = "both lead there" if data["in_full_game"] else "they do not both lead there"
        lines.append(f"  to {full.goal} with 0 to {full.max_dice} dice: {same} too")
    return "\n".join(lines)


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
        sizes = gambit.sizes(chosen, memory=memory)
    typer.echo(
        f"{chosen.name} to {chosen.goal} with 0 to {chosen.max_dice} dice: {sizes}", err=True
    )
    if not sizes.exact:
        raise BadInputError(
            f"the tree has {sizes}, allowed are at most {gambit.MOST:,}: lower --goal or --max-dice"
        )
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
