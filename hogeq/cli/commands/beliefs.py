"""The hidden memory at a position: beliefs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import (
    check_output,
    expect_kernels,
    load_any,
    load_game,
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
    from numpy.typing import NDArray

    from hogeq.model.game import HogEngine
    from hogeq.strategies.mixtures import Mixture

GUESSES = "total variation distance of the guesses, which weigh a memory by the ways into it"
"""Heading of the last table."""


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
    """Distribution of the hidden memory at a position; of a mixture, which part is played.

    Beside it two guesses, where turns alternate: a memory weighs as much as there are ways into it,
    counted in the strategies' own play; or, as the second place of summer 2020 looked it up, in
    perfect play, where that has none in the strategies' own, and where that has none either 0.25.
    Each with its total variation distance from the truth.
    """
    check_output(plot, (".png",))
    game = load_game(rules)
    title = title_of(rules, game.rules)
    expect_kernels(game, "reach", "full memory", "hidden states", strategies=[strategy, against])
    position(game, score, opponent)
    one = load_any(strategy, game, trust)
    two = None if against is None else load_any(against, game, trust)
    from hogeq.strategies.mixtures import Mixture

    if isinstance(one, Mixture) or isinstance(two, Mixture):
        if plot is not None:
            raise BadInputError("--plot: allowed for matrices and policies, not for a mixture")
        names = strategy, against or strategy
        answer = _of_mixtures(game, (one, two), names, title, (score, opponent), top, digits)
        emit(*answer, as_json)
        return
    if not game.has_memory:
        raise BadInputError(
            f"beliefs: rules {title} have no hidden memory; allowed: rules with hidden memory, or "
            "a mixture, whose draw is hidden"
        )
    from hogeq.contest.guesses import memory_at
    from hogeq.evaluation.analysis import UnreachedError

    try:
        at = memory_at(game, one, score, opponent, two)
    except UnreachedError as error:
        raise BadInputError(f"strategy {strategy}: {error}") from error
    guesses = {"counted": at.counted, "looked_up": at.looked_up}
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
        table(rows, (*memory_columns(game.rules), *map(_words, shares)), left=0),
    ]
    if len(found) > top:
        rest = 1.0 - sum(cells["probability"] for _, cells in found[:top])
        lines.append(f"and {len(found) - top} more, together {percent(rest, digits)}")
    if distances:
        about = {
            "counted": "in the strategies' own play",
            "looked_up": (
                "in perfect play, else in their own, else 0.25: "
                "as the second place of summer 2020 did"
            ),
        }
        told = [(_words(name), percent(distances[name], digits), about[name]) for name in distances]
        lines += ["", GUESSES, table(told, left=3)]
    emit(data, "\n".join(lines), as_json)


def _words(name: str) -> str:
    """Write a key of the JSON object for people."""
    return name.replace("_", " ")


def _of_mixtures(
    game: "HogEngine",
    strategies: "tuple[NDArray[Any] | Mixture, NDArray[Any] | Mixture | None]",
    names: tuple[str, str],
    title: str,
    scores: tuple[int, int],
    top: int,
    digits: int,
) -> tuple[dict[str, Any], str]:
    """Tell what was drawn, and the memory: the JSON object and the text."""
    import numpy as np

    from hogeq.evaluation.mixtures import components_at
    from hogeq.strategies.mixtures import Mixture

    one, two = strategies
    at = components_at(game, one, *scores, two)
    if at is None:
        raise BadInputError(
            f"strategy {names[0]}: play never comes to {scores[0]} against {scores[1]}; allowed: "
            "positions that it does come to"
        )
    lines = [
        f"{title}, {names[0]} at {scores[0]} points against {names[1]} at {scores[1]}",
        f"reached in a game with probability {percent(at.reach, digits)}",
    ]
    parts = {}
    for key, strategy, name, found in (
        ("parts", one, names[0], at.own),
        ("parts_against", one if two is None else two, names[1], at.other),
    ):
        if not isinstance(strategy, Mixture):
            continue
        parts[key] = [
            {"part": number, "weight": weight, "probability": probability}
            for number, (weight, probability) in enumerate(
                zip(strategy.weights.tolist(), found.tolist(), strict=True), 1
            )
        ]
        rows = [
            (row["part"], percent(row["weight"], digits), percent(row["probability"], digits))
            for row in parts[key]
        ]
        who = "to move" if key == "parts" else "the other"
        header = ("part", "drawn", "here")
        lines += ["", f"what was drawn from {name}, {who}", table(rows, header, left=0)]
    order = np.argsort(-at.memory, kind="stable")
    met = [index for index in order.tolist() if at.memory[index] > 0.0]
    memories = [(game.memories[index], float(at.memory[index])) for index in met]
    data = {
        "rules": game.rules.name,
        "strategy": names[0],
        "against": names[1],
        "score": scores[0],
        "opponent": scores[1],
        "reach": at.reach,
        **parts,
        "memories": [
            {**memory_fields(game.rules, memory), "probability": share}
            for memory, share in memories
        ],
    }
    if game.has_memory:
        rows_ = [
            (*memory_texts(game.rules, memory), percent(share, digits))
            for memory, share in memories[:top]
        ]
        lines += ["", table(rows_, (*memory_columns(game.rules), "probability"), left=0)]
        if len(memories) > top:
            rest = 1.0 - sum(share for _, share in memories[:top])
            lines.append(f"and {len(memories) - top} more, together {percent(rest, digits)}")
    return data, "\n".join(lines)


def _plot_beliefs(
    game: "HogEngine",
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
        name: f"{_words(name)}, total variation {percent(distance)}"
        for name, distance in distances.items()
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
