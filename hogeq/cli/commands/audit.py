"""What a game forgets: audit."""

from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.games import VERDICTS, GameOption, audit_game
from hogeq.cli.inputs import Chosen
from hogeq.cli.options import MemoryOption, option
from hogeq.cli.result import Result, Table, Text
from hogeq.cli.shell import refusing
from hogeq.rules import Rules

if TYPE_CHECKING:
    from hogeq.trees.recall import Audit, Witness

LETTERS = {
    "own action": "a",
    "own observation": "o",
    "opponent's action": "p",
    "chance": "c",
    "seat": "s",
}
MAP_GOAL = 12  # goals up to which a map of the information sets fits a terminal


def audit_(
    game: Chosen,
    goal: Annotated[int, option("Goal of the game walked.", min=1, metavar="G")] = 6,
    max_dice: Annotated[int, option("Most dice in it.", min=1, metavar="N")] = 2,
    memory: MemoryOption = False,
    other_game: GameOption = None,
) -> Result:
    """Say what information sets forget, and what theory says of such a game.

    All histories of the same rules with a low goal and few dice are walked. A loss of memory that
    they show is one of the full game too: both histories of its witness lead to the same scores
    there. That a property holds is shown for the game walked only.
    """
    if other_game is not None:
        return audit_game(other_game)
    from hogeq.trees.audit import audit, small

    full = game.choose()
    walked = small(full, goal, max_dice)
    with refusing():
        found = audit(walked, memory=memory, full=full)
    data = {
        "rules": game.name,
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
                "witness": _witness(full, walked, loss.witness),
            }
            for what, loss in found.forgets.items()
        },
        "properties": {
            what: {
                "holds": finding.holds,
                "note": finding.note,
                "witness": _witness(full, walked, finding.witness),
            }
            for what, finding in found.findings.items()
        },
    }
    return Result(data, _text(game.title, full, walked, found, memory))


def _at(infoset: Any) -> list[Any]:
    return list(infoset)


def _witness(full: Rules, walked: Rules, witness: "Witness | None") -> dict[str, Any] | None:
    if witness is None:
        return None
    from hogeq.trees.audit import shows, tell

    in_full = shows(full, witness)
    rules = full if in_full else walked
    return {
        "at": _at(witness.infoset),
        "histories": [tell(rules, witness.first), tell(rules, witness.second)],
        "note": witness.note,
        "in_full_game": in_full,
    }


def _text(title: str, full: Rules, walked: Rules, found: "Audit", memory: bool) -> Text:
    how = "all histories" if found.whole else "the first turns of all histories"
    seen = "everything that happened" if memory else "the scores"
    count = len(found.infosets)
    forgotten = [
        (LETTERS[what], what, f"{len(loss.infosets)} of {count}")
        for what, loss in found.forgets.items()
    ]
    properties = [
        (what, ", ".join(filter(None, (VERDICTS[finding.holds], finding.note))))
        for what, finding in found.findings.items()
    ]
    text: Text = [
        (
            f"Recall in {title}, where a player sees {seen}: {how} of the game to {walked.goal} "
            f"with 0 to {walked.max_dice} dice, {found.histories:,} of them ending in "
            f"{count:,} information sets of player A"
        ),
        "",
        Table(forgotten, ("", "forgotten", "information sets"), left=2),
        "",
    ]
    if walked.goal <= MAP_GOAL and not memory:
        text += [
            (
                "What is forgotten at own score (down) and opponent's score (across); - nothing, "
                ". no play comes there"
            ),
            _map(walked, found),
            "",
        ]
    text.append(Table(properties, ("property", "holds"), left=2))
    for witness, names in found.witnesses().items():
        text += ["", *_witness_text(full, walked, witness, names)]
    return text


def _map(walked: Rules, found: "Audit") -> Table:
    def cell(own: int, opponent: int) -> str:
        if (own, opponent) not in found.infosets:
            return "."
        return "".join(LETTERS[what] for what in found.forgotten_at((own, opponent))) or "-"

    goal = range(walked.goal)
    rows = [(str(own), *(cell(own, opponent) for opponent in goal)) for own in goal]
    header = ("own", *map(str, goal))
    return Table(rows, header, left=len(header))


def _witness_text(
    full: Rules, walked: Rules, witness: "Witness", names: tuple[str, ...]
) -> list[str]:
    data: Any = _witness(full, walked, witness)
    own, opponent = data["at"][:2]
    lines = [f"{', '.join(names)}: A to move at {own}-{opponent} after either of"]
    lines += [f"  {number}. {text}" for number, text in enumerate(data["histories"], 1)]
    if data["note"]:
        lines.append(f"  ({data['note']})")
    if (full.goal, full.max_dice) != (walked.goal, walked.max_dice):
        same = "both lead there" if data["in_full_game"] else "they do not both lead there"
        lines.append(f"  to {full.goal} with 0 to {full.max_dice} dice: {same} too")
    return lines
