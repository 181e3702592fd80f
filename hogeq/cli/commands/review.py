"""A game that was played, turn by turn: review."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from hogeq.cli.inputs import Chosen, reading, title_of
from hogeq.cli.options import argument, option
from hogeq.cli.result import Result, Table, Text, loss, percent, pp
from hogeq.cli.shell import refusing
from hogeq.rules.memory import memory_columns, memory_texts
from hogeq.support.messages import one_line

if TYPE_CHECKING:
    from hogeq.contest.review import Review
    from hogeq.contest.turns import Tally


FEW = 3  # best rolls that are named
LONGEST = 10  # characters of a name beside every turn


def review_(
    transcript: Annotated[
        Path, argument("GAME.json", "A transcript: of hogeq play --save, or of a board.")
    ],
    rules: Annotated[
        str | None,
        option(
            "Refuse a game by other rules than these. [what the transcript says]", metavar="RULES"
        ),
    ] = None,
) -> Result:
    """Review a game, move by move: what was best, what each choice lost, what was luck.

    Win probabilities are exact, of optimal play that remembers everything, from there on. A choice
    is best (it loses nothing), good (less than 0.5 pp), an inaccuracy (less than 2), a mistake
    (less than 5) or a blunder. What is not the choice is luck.
    """
    wanted = None if rules is None else Chosen(rules).choose()
    from hogeq.contest.transcript import read_transcript

    with refusing(), reading(transcript):
        played = read_transcript(transcript, wanted)
    game = Chosen.of(played.rules)
    game.expect("full memory")
    from hogeq.contest.review import review

    found = review(game.engine, played)
    named = played.rules_given if isinstance(played.rules_given, str) else ""
    title = title_of(rules or named, game.rules)
    return Result(found.plain(), _text(found, title, game.endless[1:]))


def _text(found: "Review", title: str, endless: Sequence[str]) -> Text:
    transcript = found.transcript
    names, end = transcript.players, transcript.end
    seed = "" if transcript.seed is None else f", seed {transcript.seed}"
    one, two = end.scores
    how = f"left at {one} to {two}"
    if end.winner is not None:
        how = f"{names[end.winner]} wins, {max(one, two)} to {min(one, two)}"
    hidden = memory_columns(transcript.rules)
    play = "optimal play that remembers everything" if hidden else "optimal play"
    text: Text = [
        f"{title}, {names[0]} against {names[1]}{seed}: {how}",
        "",
        _played(found),
        "",
        _valued(found),
        "",
        *wrap(
            f"Win probabilities, with {play} from there on, are those of whoever moves: before, "
            "by the best roll; by the roll chosen; after the dice. Loss, in percentage points, is "
            "what the choice lost of the first; luck is what the dice added to the second.",
            79,
        ),
        *endless,
        "",
        _grades(found),
        "",
        _sums(found),
    ]
    for name, tally in zip(names, found.tallies, strict=True):
        text += _costliest(name, tally)
    return text


def _played(found: "Review") -> Table:
    transcript = found.transcript
    rules = transcript.rules
    rows = []
    for turn in found.turns:
        own, other = turn.before.view
        rows.append(
            (
                one_line(transcript.players[turn.before.mover], LONGEST),
                turn.number,
                f"{own} to {other}",
                *memory_texts(rules, turn.before.memory),
                turn.dice,
                " ".join(map(str, turn.faces)),
                ", ".join(turn.fired(rules)),
            )
        )
    columns = [_short(column) for column in memory_columns(rules)]
    return Table(rows, ("player", "turn", "scores", *columns, "rolled", "dice", "rules"))


def _short(column: str) -> str:
    """Shorten the name of a part of the memory: tables fit 80 columns."""
    return column.replace("opponent's", "their").replace("last points", "last")


def _valued(found: "Review") -> Table:
    most = found.transcript.rules.max_dice
    rows = [
        (
            turn.number,
            turn.dice,
            _best(turn.best, most),
            percent(turn.best_value),
            percent(turn.value),
            percent(turn.value_after),
            loss(turn.loss).removesuffix(" pp"),
            pp(turn.luck).removesuffix(" pp"),
            turn.grade,
        )
        for turn in found.turns
    ]
    header = ("turn", "rolled", "best", "before", "chosen", "after", "loss", "luck", "grade")
    return Table(rows, header, left=0)


def _best(rolls: tuple[int, ...], most: int) -> str:
    if len(rolls) > most:
        return "any"
    return " ".join(map(str, rolls[:FEW])) + (" ..." if len(rolls) > FEW else "")


def _grades(found: "Review") -> Table:
    rows = [
        (name, tally.moves, *tally.grades.values(), loss(tally.loss))
        for name, tally in zip(found.transcript.players, found.tallies, strict=True)
    ]
    return Table(rows, ("player", "turns", *found.tallies[0].grades, "loss"))


def _sums(found: "Review") -> Table:
    rows = []
    for player, name in enumerate(found.transcript.players):
        own, other = found.tallies[player], found.tallies[1 - player]
        changes = -own.loss, own.luck, other.loss, -other.luck
        start, result = found.start[player], found.result[player]
        rows.append(
            (
                name,
                percent(start),
                *(pp(change).removesuffix(" pp") for change in changes),
                percent(result),
            )
        )
    sums = ("own choices", "dice", "their choices", "dice")
    return Table(rows, ("player", "start", *sums, "result"))


def _costliest(name: str, tally: "Tally") -> list[str]:
    if not tally.costliest:
        return []
    lines = ["", f"costliest mistakes of {name}"]
    for turn in tally.costliest:
        own, other = turn.before.view
        lines.append(
            f"  turn {turn.number}, {own} to {other}: rolled {turn.dice}, {percent(turn.value)}; "
            f"{turn.best[0]} has {percent(turn.best_value)}: {loss(turn.loss)}, {turn.grade}"
        )
    return lines
