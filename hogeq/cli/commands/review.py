"""A game that was played, turn by turn: review."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from hogeq.cli.inputs import Chosen, reading, title_of
from hogeq.cli.options import StartOption, argument, option
from hogeq.cli.result import Result, Table, Text, loss, percent, pp
from hogeq.cli.shell import refusing
from hogeq.rules.memory import memory_columns, memory_texts
from hogeq.support.messages import one_line

if TYPE_CHECKING:
    from hogeq.contest.review import Review
    from hogeq.contest.turns import Turn

FEW = 3  # best rolls that are named
LONGEST = 10  # characters of a name beside every turn


def review_(
    transcript: Annotated[
        Path, argument("GAME.json", "A transcript: of hogeq play --save, or of a board.")
    ],
    rules: Annotated[
        str | None,
        option("Refuse a game by other rules than these. [what the transcript says]", "RULES"),
    ] = None,
    start: StartOption = None,
) -> Result:
    """Review a game, move by move: what was best, what each choice lost, what was luck.

    Win probabilities are exact, of optimal play that remembers everything, from there on. A choice
    is best (it loses nothing), good (less than 0.5 pp), an inaccuracy (less than 2), a mistake
    (less than 5) or a blunder. What is not the choice is luck.
    """
    asked = Chosen(rules)
    wanted = None if rules is None else asked.choose()
    from hogeq.contest.transcript import read_transcript

    with refusing(), reading(transcript):
        played = read_transcript(transcript, wanted, asked.start(start))
    game = Chosen.of(played.rules)
    game.expect("full memory")
    from hogeq.contest.review import review

    reviewed = review(game.engine, played)
    named = played.rules_given if isinstance(played.rules_given, str) else ""
    title = title_of(rules or named, game.rules)
    return Result(reviewed.plain(), _text(reviewed, title, game.endless[1:]))


def _text(reviewed: "Review", title: str, endless: Sequence[str]) -> Text:
    transcript = reviewed.transcript
    names, end, hidden = transcript.players, transcript.end, memory_columns(transcript.rules)
    seed = "" if transcript.seed is None else f", seed {transcript.seed}"
    one, two = end.scores
    how = f"left at {one} to {two}"
    if end.winner is not None:
        how = f"{names[end.winner]} wins, {max(one, two)} to {min(one, two)}"
    play = "optimal play that remembers everything" if hidden else "optimal play"
    # Tables fit 80 columns.
    short = [part.replace("opponent's", "their").replace("last points", "last") for part in hidden]
    grades = [
        (name, tally.moves, *tally.grades.values(), loss(tally.loss))
        for name, tally in zip(names, reviewed.tallies, strict=True)
    ]
    kept = ", ".join(
        f"{name} {percent(tally.accuracy)}"
        for name, tally in zip(names, reviewed.tallies, strict=True)
    )
    text: Text = [
        f"{title}, {names[0]} against {names[1]}{seed}: {how}",
        "",
        Table(
            [_played(reviewed, turn) for turn in reviewed.turns],
            ("player", "turn", "scores", *short, "rolled", "dice", "rules"),
        ),
        "",
        Table(
            [_valued(reviewed, turn) for turn in reviewed.turns],
            ("turn", "rolled", "best", "before", "chosen", "after", "loss", "luck", "grade"),
            left=0,
        ),
        "",
        *wrap(
            f"Win probabilities, with {play} from there on, are those of whoever moves: before, "
            "by the best roll; by the roll chosen; after the dice. Loss, in percentage points, is "
            "what the choice lost of the first; luck is what the dice added to the second.",
            79,
        ),
        *endless,
        "",
        Table(grades, ("player", "turns", *reviewed.tallies[0].grades, "loss")),
        "",
        *wrap(
            f"Accuracy, the mean of what a choice kept of the best roll's win probability: {kept}.",
            79,
        ),
        "",
        Table(
            [_sum(reviewed, player) for player in (0, 1)],
            ("player", "start", "own choices", "dice", "their choices", "dice", "result"),
        ),
    ]
    for name, tally in zip(names, reviewed.tallies, strict=True):
        if tally.costliest:
            text += ["", f"costliest mistakes of {name}", *map(_mistake, tally.costliest)]
    return text


def _played(reviewed: "Review", turn: "Turn") -> list[object]:
    transcript = reviewed.transcript
    own, other = turn.before.view
    return [
        one_line(transcript.players[turn.before.mover], LONGEST),
        turn.number,
        f"{own} to {other}",
        *memory_texts(transcript.rules, turn.before.memory),
        turn.dice,
        " ".join(map(str, turn.faces)),
        ", ".join(turn.fired(transcript.rules)),
    ]


def _valued(reviewed: "Review", turn: "Turn") -> list[object]:
    best = " ".join(map(str, turn.best[:FEW])) + (" ..." if len(turn.best) > FEW else "")
    return [
        turn.number,
        turn.dice,
        "any" if len(turn.best) > reviewed.transcript.rules.max_dice else best,
        percent(turn.best_value),
        percent(turn.value),
        percent(turn.value_after),
        loss(turn.loss).removesuffix(" pp"),
        pp(turn.luck).removesuffix(" pp"),
        turn.grade,
    ]


def _sum(reviewed: "Review", player: int) -> list[str]:
    own, other = reviewed.tallies[player], reviewed.tallies[1 - player]
    changes = -own.loss, own.luck, other.loss, -other.luck
    return [
        reviewed.transcript.players[player],
        percent(reviewed.start[player]),
        *(pp(change).removesuffix(" pp") for change in changes),
        percent(reviewed.result[player]),
    ]


def _mistake(turn: "Turn") -> str:
    own, other = turn.before.view
    return (
        f"  turn {turn.number}, {own} to {other}: rolled {turn.dice}, {percent(turn.value)}; "
        f"{turn.best[0]} has {percent(turn.best_value)}: {loss(turn.loss)}, {turn.grade}"
    )
