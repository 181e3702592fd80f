"""What a game forgets: audit."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.games import GameOption, audit_game
from hogeq.cli.inputs import load_rules, title_of
from hogeq.cli.shell import (
    JsonOption,
    MemoryOption,
    RulesOption,
    emit,
    refusing,
    table,
)
from hogeq.rules import Rules

if TYPE_CHECKING:
    from hogeq.trees.recall import Audit, Finding, Witness

LETTERS = {
    "own action": "a",
    "own observation": "o",
    "opponent's action": "p",
    "chance": "c",
    "seat": "s",
}
MAP_GOAL = 12  # goals up to which a map of the information sets fits a terminal


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit_)


def audit_(
    rules: RulesOption = "su20",
    goal: Annotated[int, typer.Option(min=1, metavar="G", help="Goal of the game walked.")] = 6,
    max_dice: Annotated[int, typer.Option(min=1, metavar="N", help="Most dice in it.")] = 2,
    memory: MemoryOption = False,
    game: GameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what information sets forget, and what theory says of such a game.

    All histories of the same rules with a low goal and few dice are walked. A loss of memory that
    they show is one of the full game too: both histories of its witness lead to the same scores
    there. That a property holds is shown for the game walked only.
    """
    if game is not None:
        emit(*audit_game(game), as_json)
        return
    from hogeq.trees.audit import audit, small

    full = load_rules(rules)
    walked = small(full, goal, max_dice)
    with refusing():
        found = audit(walked, memory=memory, full=full)
    text = _audit_text(title_of(rules, full), full, walked, found, memory)
    emit(_audit_data(full, walked, found), text, as_json)


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

    in_full = shows(full, witness)
    rules = full if in_full else walked
    return {
        "at": _at(witness.infoset),
        "histories": [tell(rules, witness.first), tell(rules, witness.second)],
        "note": witness.note,
        "in_full_game": in_full,
    }


def _at(infoset: Any) -> list[Any]:
    return list(infoset)


def _audit_text(title: str, full: Rules, walked: Rules, found: "Audit", memory: bool) -> str:
    how = "all histories" if found.whole else "the first turns of all histories"
    seen = "everything that happened" if memory else "the scores"
    heading = (
        f"Recall in {title}, where a player sees {seen}: {how} of the game to {walked.goal} "
        f"with 0 to {walked.max_dice} dice, {found.histories:,} of them ending in "
        f"{len(found.infosets):,} information sets of player A"
    )
    parts = [
        heading,
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
    parts += [
        _witness_text(full, walked, witness, names) for witness, names in found.witnesses().items()
    ]
    return "\n\n".join(parts)


def _map(walked: Rules, found: "Audit") -> str:
    def cell(own: int, opponent: int) -> str:
        if (own, opponent) not in found.infosets:
            return "."
        return "".join(LETTERS[what] for what in found.forgotten_at((own, opponent))) or "-"

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


def _witness_text(full: Rules, walked: Rules, witness: "Witness", names: tuple[str, ...]) -> str:
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
