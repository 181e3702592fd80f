"""The hidden memory at a position: beliefs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import (
    check_output,
    expect_kernels,
    load_game,
    load_strategy,
    position,
    title_of,
)
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
from hogeq.rules.memory import memory_columns, memory_fields, memory_texts
from hogeq.support.numbers import DIGITS, percent

if TYPE_CHECKING:
    from hogeq.model.game import Game


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(beliefs)


def beliefs(
    strategy: Annotated[str, typer.Argument(metavar="S", help="A strategy: name, file or run.")],
    score: ScoreOption,
    opponent: OpponentOption,
    rules: RulesOption = "su20",
    against: Annotated[
        str | None, typer.Option(metavar="T", help="The opponent's strategy. [S]")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Lines of the table.")] = 20,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw the distribution and the guesses.")
    ] = None,
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Distribution of the hidden memory at a position.

    Beside it two guesses by counting, where turns alternate: of the strategies' own play, and as
    the second place of summer 2020 looked it up, perfect play first. Each with its total variation
    distance from the truth.
    """
    check_output(plot, (".png",))
    game = load_game(rules)
    title = title_of(rules, game.rules)
    expect_kernels(game, "reach", "full memory", "hidden states", strategies=[strategy, against])
    position(game, score, opponent)
    if not game.has_memory:
        raise BadInputError(
            f"beliefs: rules {title} have no hidden memory; allowed: rules with hidden memory"
        )
    one = load_strategy(strategy, game, trust)
    two = None if against is None else load_strategy(against, game, trust)
    from hogeq.contest.guesses import memory_at
    from hogeq.evaluation.analysis import UnreachedError

    try:
        at = memory_at(game, one, score, opponent, two)
    except UnreachedError as error:
        raise BadInputError(f"strategy {strategy}: {error}") from error
    guesses = {"counted": at.counted, "seed": at.looked_up}
    known = {name: guess for name, guess in guesses.items() if guess is not None}
    shares = {"probability": at.belief} | known
    distances = {name: at.distance(guess) for name, guess in known.items()}
    found = [
        (game.memories[index], {name: float(of[index]) for name, of in shares.items()})
        for index in at.order()
        if any(of[index] > 0.0 for of in shares.values())
    ]
    data = {
        "rules": game.rules.name,
        "strategy": strategy,
        "against": strategy if against is None else against,
        "score": score,
        "opponent": opponent,
        "reach": at.reach,
        "memories": [{**memory_fields(game.rules, memory), **cells} for memory, cells in found],
        "total_variation": distances or None,
    }
    if plot is not None:
        _plot_beliefs(game, shares, distances, data, plot)
        data["plot"] = str(plot)
    rows = [
        (*memory_texts(game.rules, memory), *(percent(cell, digits) for cell in cells.values()))
        for memory, cells in found[:top]
    ]
    lines = [
        f"{title}, {strategy} at {score} points against {data['against']} at {opponent}",
        f"reached in a game with probability {percent(at.reach, digits)}",
        "",
        table(rows, (*memory_columns(game.rules), *shares), left=0),
    ]
    if len(found) > top:
        rest = 1.0 - sum(cells["probability"] for _, cells in found[:top])
        lines.append(f"and {len(found) - top} more, together {percent(rest, digits)}")
    if distances:
        about = {
            "counted": "ways into each memory, in the strategies' own play",
            "seed": "the same in perfect play first, then in their own, then 0.25 each",
        }
        told = [(name, percent(distances[name], digits), about[name]) for name in distances]
        lines += ["", "total variation distance of the guesses", table(told, left=3)]
    emit(data, "\n".join(lines), as_json)


def _plot_beliefs(
    game: "Game",
    shares: dict[str, Any],
    distances: dict[str, float],
    data: dict[str, Any],
    path: Path,
) -> None:
    """Draw shares of the memories by two of its parts, summed over others if there are any."""
    from hogeq import figures
    from hogeq.evaluation.beliefs import fold
    from hogeq.rules.memory import axes

    rows, columns = axes(game.rules)
    titles = {"probability": "exact"} | {
        name: f"{name}, total variation {percent(distance)}" for name, distance in distances.items()
    }
    title = f"{data['rules']}, {data['score']} points against {data['opponent']}"
    with refusing():
        figures.beliefs(
            {titles[name]: fold(game.rules, of) for name, of in shares.items()},
            path,
            rows,
            columns,
            title,
        )
