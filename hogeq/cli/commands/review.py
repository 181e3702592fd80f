"""A game that was played, turn by turn: review."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from hogeq.cli.inputs import Chosen, reading, title_of
from hogeq.cli.options import StartOption, argument, option
from hogeq.cli.result import Result, Table, Text, loss, percent, pp
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
    wanted = None if rules is None else asked.choose(own_goals=True)
    from hogeq.contest.transcript import read_transcript

    with reading(transcript):
        played = read_transcript(transcript, wanted, asked.start(start))
    game = Chosen.of(played.rules)
    game.expect("full memory")
    from hogeq.contest.review import review

    reviewed = review(game.engine, played)
    named = played.rules_given if isinstance(played.rules_given, str) else ""
    title = title_of(rules or named, game.rules)
    return Result(reviewed.plain(), _text(reviewed, title, game.endless[1:]))


def _text(reviewed: "Review", title: str, endless: Sequence[str]) -> Text:
    transcript, tallies = reviewed.transcript, reviewed.tallies
    names, end, hidden = transcript.players, transcript.end, memory_columns(transcript.rules)
    seed = "" if transcript.seed is None else f", seed {transcript.seed}"
    one, two = end.scores
    how = f"left at {one} to {two}"
    if end.winner is not None:
        how = f"{names[end.winner]} wins, {max(one, two)} to {min(one, two)}"
    play = "optimal play that remembers everything" if hidden else "optimal play"
    # Tables fit 80 columns.
    short = [part.replace("opponent's", "their").replace("last points", "last") for part in hidden]
    played: list[list[object]] = []
    valued: list[list[object]] = []
    for turn in reviewed.turns:
        score, theirs = turn.before.view
        played.append(
            [
                one_line(names[turn.before.mover], LONGEST),
                turn.number,
                f"{score} to {theirs}",
                *memory_texts(transcript.rules, turn.before.memory),
                turn.dice,
                " ".join(map(str, turn.faces)),
                ", ".join(turn.fired(transcript.rules)),
            ]
        )
        best = " ".join(map(str, turn.best[:FEW])) + (" ..." if len(turn.best) > FEW else "")
        valued.append(
            [
                turn.number,
                turn.dice,
                "any" if len(turn.best) > transcript.rules.max_dice else best,
                *map(percent, (turn.best_value, turn.value, turn.value_after)),
                loss(turn.loss).removesuffix(" pp"),
                pp(turn.luck).removesuffix(" pp"),
                turn.grade,
            ]
        )
    grades: list[list[object]] = []
    sums: list[list[object]] = []
    costliest: list[str] = []
    for name, own, other, start, result in zip(
        names, tallies, reversed(tallies), reviewed.start, reviewed.result, strict=True
    ):
        grades.append([name, own.moves, *own.grades.values(), loss(own.loss)])
        changes = -own.loss, own.luck, other.loss, -other.luck
        in_points = [pp(change).removesuffix(" pp") for change in changes]
        sums.append([name, percent(start), *in_points, percent(result)])
        if own.costliest:
            costliest += ["", f"costliest mistakes of {name}", *map(_mistake, own.costliest)]
    kept = ", ".join(
        f"{name} {percent(tally.accuracy)}" for name, tally in zip(names, tallies, strict=True)
    )
    order = ("turn", "rolled", "best", "before", "chosen", "after", "loss", "luck", "grade")
    return [
        f"{title}, {names[0]} against {names[1]}{seed}: {how}",
        "",
        Table(played, ("player", "turn", "scores", *short, "rolled", "dice", "rules")),
        "",
        Table(valued, order, left=0),
        "",
        *wrap(
            f"Win probabilities, with {play} from there on, are those of whoever moves: before, "
            "by the best roll; by the roll chosen; after the dice. Loss, in percentage points, is "
            "what the choice lost of the first; luck is what the dice added to the second.",
            79,
        ),
        *endless,
        "",
        Table(grades, ("player", "turns", *tallies[0].grades, "loss")),
        "",
        *wrap(
            f"Accuracy, the mean of what a choice kept of the best roll's win probability: {kept}.",
            79,
        ),
        "",
        Table(sums, ("player", "start", "own choices", "dice", "their choices", "dice", "result")),
        *costliest,
    ]


def _mistake(turn: "Turn") -> str:
    own, other = turn.before.view
    return (
        f"  turn {turn.number}, {own} to {other}: rolled {turn.dice}, {percent(turn.value)}; "
        f"{turn.best[0]} has {percent(turn.best_value)}: {loss(turn.loss)}, {turn.grade}"
    )
