"""Every roll at a position: analyze."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import ENDLESS, expect_kernels, load_game, load_strategy, position, title_of
from hogeq.cli.memory_options import MemoryOptions
from hogeq.cli.shell import (
    BadInputError,
    DigitsOption,
    JsonOption,
    OpponentOption,
    RulesOption,
    ScoreOption,
    TrustOption,
    emit,
    refusing,
    table,
)
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_columns, memory_fields, memory_line
from hogeq.support.numbers import DIGITS, percent, pp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.evaluation.analysis import Analysis
    from hogeq.model.game import HogEngine

PAST = "ignore_memory"  # what makes the belief where optimal play goes on


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("analyze")(analyze_)


def analyze_(
    score: ScoreOption,
    opponent: OpponentOption,
    rules: RulesOption = "su20",
    strategy: Annotated[
        str | None,
        typer.Option(metavar="S", help="Both play S from the next turn on. [optimal play]"),
    ] = None,
    own_last: Annotated[
        int | None,
        typer.Option(help="Memory: own last turn's points (or dice, as the rules have it)."),
    ] = None,
    opponent_last: Annotated[
        int | None,
        typer.Option(
            help="Memory: the opponent's last turn's points (or dice, as the rules have it)."
        ),
    ] = None,
    turn: Annotated[int | None, typer.Option(help="Memory: number of this turn, from 0.")] = None,
    extra: Annotated[
        bool | None, typer.Option("--extra/--no-extra", help="Memory: is this an extra turn?")
    ] = None,
    remembered: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="Memory: what another part of the rules remembers."),
    ] = None,
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Every roll at a position, its win probability, best first.

    Where the rules have a memory, say what it is; otherwise it is averaged over how play with S
    gets there or, without S, play with ignore_memory, or play at random where that never comes
    there: what a player who forgot it can know. Where only a part is said, the rest is as before
    the first turn.
    """
    game = load_game(rules)
    needed = ("reach", "hidden states") if game.has_memory else ("hidden states",)
    expect_kernels(game, "full memory", *needed, strategies=[strategy or PAST])
    position(game, score, opponent)
    said = MemoryOptions(own_last, opponent_last, turn, extra, remembered)
    memory = said.memory(game.rules)
    if memory is not None and game.rules.feral_hogs == "points" and score == opponent == 0:
        for option, last in (("--own-last", memory.own), ("--opponent-last", memory.opponent)):
            if last:
                raise BadInputError(f"{option}: got {last}; allowed at 0 points against 0: 0")
    left_out = [] if memory is None else said.left_out(game.rules)
    played = None if strategy is None else load_strategy(strategy, game, trust)
    if game.has_memory and played is None and memory is None:
        found, past = _remembering(game, score, opponent)
    else:
        found, past = _found(game, score, opponent, played, memory, strategy), None
    told: dict[str, Any] = {"source": found.source}
    if past is not None:
        told["past"] = past
    if found.memory is not None:
        told |= memory_fields(game.rules, found.memory)
    if left_out:
        told["not_given"] = left_out
    data = {
        "rules": game.rules.name,
        "score": score,
        "opponent": opponent,
        "play": "optimal" if strategy is None else strategy,
        "memory": told if game.has_memory else None,
        "value": found.rolls[0].win_probability,
        "best_roll": found.rolls[0].dice,
        "rolls": [
            {key: value for key, value in roll._asdict().items() if value is not None}
            for roll in found.rolls
        ],
    }
    emit(data, _text(game, title_of(rules, game.rules), data, found, digits), as_json)


def _found(
    game: "HogEngine",
    score: int,
    opponent: int,
    played: "NDArray[Any] | None",
    memory: "Memory | None",
    name: str | None,
) -> "Analysis":
    from hogeq.evaluation.analysis import UnreachedError, analyze

    with refusing():
        try:
            return analyze(game, score, opponent, played, memory)
        except UnreachedError as error:
            raise BadInputError(f"strategy {name}: {error}") from error


def _remembering(game: "HogEngine", score: int, opponent: int) -> tuple["Analysis", str]:
    """Analyse optimal play where nothing is said of the memory, and name what made the belief."""
    import numpy as np

    from hogeq.baselines.registry import builtin
    from hogeq.evaluation.analysis import UnreachedError, analyze

    random = np.full((game.goal, game.goal, game.num_actions), 1.0 / game.num_actions)
    for name, past in ((PAST, builtin(PAST, game)), ("random", random)):
        try:
            return analyze(game, score, opponent, past=past), name
        except UnreachedError:
            continue
    raise BadInputError(
        f"--score {score} --opponent {opponent}: no play comes there; allowed: other scores, "
        "or what the memory is"
    )


def _text(
    game: "HogEngine", title: str, data: dict[str, Any], found: "Analysis", digits: int
) -> str:
    rules, play = game.rules, data["play"]
    then = "optimal play" if play == "optimal" else f"both play {play}"
    lines = [f"{title}, {data['score']} points against {data['opponent']}, then {then}"]
    if game.has_memory:
        past = data["memory"].get("past", play)
        lines.append(_memory_text(rules, "play at random" if past == "random" else past, found))
        lines[-1] += _left_out_text(rules, data["memory"].get("not_given", ()))
        if play == "optimal":
            lines.append("optimal play remembers everything")
    if game.can_be_endless:
        lines.append(ENDLESS)
    header: tuple[str, ...] = ("dice", "win probability", "loss")
    rows: list[tuple[object, ...]] = [
        (
            roll.dice,
            percent(roll.win_probability, digits),
            pp(roll.behind, digits, signed=False),
            *(() if roll.played is None else (percent(roll.played, digits),)),
        )
        for roll in found.rolls
    ]
    if found.rolls[0].played is not None:
        header = (*header, "S plays it")
    return "\n".join([*lines, "", table(rows, header, left=0)])


def _memory_text(rules: Rules, past: str, found: "Analysis") -> str:
    if found.memory is None:
        return f"memory not given, averaged over how {past} gets here"
    return f"memory given, {memory_line(rules, found.memory)}"


def _left_out_text(rules: Rules, left_out: Sequence[str]) -> str:
    names = dict(zip(memory_fields(rules, Memory()), memory_columns(rules), strict=True))
    missing = ", ".join(names[name] for name in left_out)
    return f"; not given, taken as before the first turn: {missing}" if missing else ""
