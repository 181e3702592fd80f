"""A game that was played, turn by turn: review."""

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from hogeq.cli.inputs import ENDLESS, expect_kernels, load_rules, reading, title_of
from hogeq.cli.shell import DigitsOption, JsonOption, emit, refusing, table
from hogeq.cli.startup import load_numba_without_blas
from hogeq.rules.memory import memory_columns, memory_texts
from hogeq.support.messages import one_line
from hogeq.support.numbers import DIGITS, percent, pp

if TYPE_CHECKING:
    from hogeq.contest.review import Review
    from hogeq.contest.turns import Tally


FEW = 3  # best rolls that are named
LONGEST = 12  # characters of a name beside every turn


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("review")(review_)


def review_(
    transcript: Annotated[
        Path,
        typer.Argument(
            metavar="GAME.json", help="A transcript: of hogeq play --save, or of a board."
        ),
    ],
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="RULES",
            help="Refuse a game by other rules than these. [what the transcript says]",
        ),
    ] = None,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Review a game, move by move: what was best, what each choice lost, what was luck.

    Win probabilities are exact, of optimal play that remembers everything, from there on. A choice
    is best (it loses nothing), good (less than 0.5 pp), an inaccuracy (less than 2), a mistake
    (less than 5) or a blunder. What is not the choice is luck.
    """
    wanted = None if rules is None else load_rules(rules)
    load_numba_without_blas()
    from hogeq.contest.transcript import read_transcript
    from hogeq.model.game import compile_game

    with refusing(), reading(transcript):
        played = read_transcript(transcript, wanted)
        game = compile_game(played.rules)
    expect_kernels(game, "full memory")
    from hogeq.contest.review import review

    found = review(game, played)
    named = played.rules_given if isinstance(played.rules_given, str) else ""
    title = title_of(rules or named, game.rules)
    text = _text(found, title, game.can_be_endless, digits)
    emit(found.plain(), "\n".join(text), as_json)


def _text(found: "Review", title: str, endless: bool, digits: int) -> list[str]:
    transcript = found.transcript
    names, end = transcript.players, transcript.end
    seed = "" if transcript.seed is None else f", seed {transcript.seed}"
    one, two = end.scores
    how = f"left at {one} to {two}"
    if end.winner is not None:
        how = f"{names[end.winner]} wins, {max(one, two)} to {min(one, two)}"
    hidden = memory_columns(transcript.rules)
    play = "optimal play that remembers everything" if hidden else "optimal play"
    lines = [
        f"{title}, {names[0]} against {names[1]}{seed}: {how}",
        "",
        _played(found),
        "",
        _valued(found, digits),
        "",
        *wrap(
            f"Win probabilities are those of whoever moves, with {play} from there on: before, "
            "by the best roll; by the roll chosen; after the dice. Loss, in percentage points, is "
            "what the choice lost of the first; luck is what the dice added to the second.",
            79,
        ),
    ]
    if endless:
        lines.append(ENDLESS)
    lines += ["", _grades(found, digits), "", _sums(found, digits)]
    for name, tally in zip(names, found.tallies, strict=True):
        lines += _costliest(name, tally, digits)
    return lines


def _played(found: "Review") -> str:
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
    columns = [column.replace("opponent's last ", "other's ") for column in memory_columns(rules)]
    header = (
        "player",
        "turn",
        "scores",
        *(column.replace("own last ", "own ") for column in columns),
    )
    return table(rows, (*header, "rolled", "dice", "rules"))


def _valued(found: "Review", digits: int) -> str:
    rules = found.transcript.rules
    rows = [
        (
            turn.number,
            turn.dice,
            _best(turn.best, rules.max_dice),
            percent(turn.best_value, digits),
            percent(turn.value, digits),
            percent(turn.value_after, digits),
            _bare(pp(turn.loss, digits, signed=False)),
            _bare(pp(turn.luck, digits)),
            turn.grade,
        )
        for turn in found.turns
    ]
    header = ("turn", "rolled", "best", "before", "chosen", "after", "loss", "luck", "grade")
    return table(rows, header, left=0)


def _best(rolls: tuple[int, ...], most: int) -> str:
    if len(rolls) > most:
        return "any"
    return " ".join(map(str, rolls[:FEW])) + (" ..." if len(rolls) > FEW else "")


def _bare(text: str) -> str:
    return text.removesuffix(" pp")


def _grades(found: "Review", digits: int) -> str:
    rows = [
        (name, tally.moves, *tally.grades.values(), pp(tally.loss, digits, signed=False))
        for name, tally in zip(found.transcript.players, found.tallies, strict=True)
    ]
    return table(rows, ("player", "turns", *found.tallies[0].grades, "loss"))


def _sums(found: "Review", digits: int) -> str:
    rows = []
    for player, name in enumerate(found.transcript.players):
        own, other = found.tallies[player], found.tallies[1 - player]
        rows.append(
            (
                name,
                percent(found.start[player], digits),
                *(
                    _bare(pp(part, digits))
                    for part in (-own.loss, own.luck, other.loss, -other.luck)
                ),
                percent(found.result[player], digits),
            )
        )
    sums = ("own choices", "dice", "their choices", "dice")
    return table(rows, ("player", "start", *sums, "result"))


def _costliest(name: str, tally: "Tally", digits: int) -> list[str]:
    if not tally.costliest:
        return []
    lines = ["", f"costliest mistakes of {name}"]
    for turn in tally.costliest:
        own, other = turn.before.view
        lines.append(
            f"  turn {turn.number}, {own} to {other}: rolled {turn.dice}, "
            f"{percent(turn.value, digits)}; {turn.best[0]} has "
            f"{percent(turn.best_value, digits)}: "
            f"{pp(turn.loss, digits, signed=False)}, {turn.grade}"
        )
    return lines
