"""The hidden memory at a position: beliefs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.inputs import Chosen, check_output
from hogeq.cli.options import OpponentOption, ScoreOption, StrategyArgument, option
from hogeq.cli.result import Result, Table, Text, percent
from hogeq.cli.shell import BadInputError, refusing
from hogeq.rules.memory import Memory, memory_columns, memory_fields, memory_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.strategies.strategy import Mixture

ABOUT = {
    "counted": "in the strategies' own play",
    "looked_up": (
        "in perfect play, else in their own, else 0.25: as the second place of summer 2020 did"
    ),
}


def beliefs(
    strategy: StrategyArgument,
    score: ScoreOption,
    opponent: OpponentOption,
    game: Chosen,
    against: Annotated[str | None, option("The opponent's strategy. [S]", metavar="T")] = None,
    top: Annotated[int, option("Lines of the table.", min=1)] = 20,
    plot: Annotated[
        Path | None, option("Draw the distribution and the guesses.", metavar="PNG")
    ] = None,
) -> Result:
    """Distribution of the hidden memory at a position; of a mixture, which component is played.

    Beside it two guesses, where turns alternate: a memory weighs as much as there are ways into it,
    counted in the strategies' own play; or, as the second place of summer 2020 looked it up, in
    perfect play, where that has none in the strategies' own, and where that has none either 0.25.
    Each with its total variation distance from the truth.
    """
    check_output(plot, (".png",))
    named = [strategy, against]
    engine = game.load("reach", "full memory", "hidden states", strategies=named)
    game.check_position(score, opponent)
    one = game.any(strategy)
    two = None if against is None else game.any(against)
    from hogeq.strategies.strategy import Mixture

    about = {
        "rules": game.name,
        "strategy": strategy,
        "against": against or strategy,
        "score": score,
        "opponent": opponent,
    }
    if isinstance(one, Mixture) or isinstance(two, Mixture):
        if plot is not None:
            raise BadInputError("--plot: allowed for matrices and policies, not for a mixture")
        return _of_mixtures(game, about, one, two, top)
    if not engine.has_memory:
        raise BadInputError(
            f"beliefs: rules {game.title} have no hidden memory; allowed: rules with hidden "
            "memory, or a mixture, whose draw is hidden"
        )
    from hogeq.contest.guesses import memory_at
    from hogeq.evaluation.analysis import UnreachedError

    try:
        at = memory_at(engine, one, score, opponent, two)
    except UnreachedError as error:
        raise BadInputError(f"strategy {strategy}: {error}") from error
    guesses = {"counted": at.counted, "looked_up": at.looked_up}
    known = {name: guess for name, guess in guesses.items() if guess is not None}
    shares = {"probability": at.belief} | known
    distances = {name: at.distance(guess) for name, guess in known.items()}
    memories = [
        (engine.memories[index], {name: float(share[index]) for name, share in shares.items()})
        for index in at.order()
        if any(share[index] > 0.0 for share in shares.values())
    ]
    data = {
        **about,
        "reach": at.reach,
        "memories": [{**memory_fields(game.rules, memory), **row} for memory, row in memories],
        "total_variation": distances or None,
    }
    if plot is not None:
        _plot(game, shares, distances, about, plot)
        data["plot"] = str(plot)
    text: Text = [*_heading(game, about, at.reach), "", *_table(game, memories, top)]
    if distances:
        rows = [
            (_words(name), percent(distance), ABOUT[name]) for name, distance in distances.items()
        ]
        text += [
            "",
            "total variation distance of the guesses, which weigh a memory by the ways into it",
            Table(rows, left=3),
        ]
    return Result(data, text)


def _heading(game: Chosen, about: Mapping[str, Any], reach: float) -> list[str]:
    at, other = (f"{about[key]}" for key in ("score", "opponent"))
    return [
        f"{game.title}, {about['strategy']} at {at} points against {about['against']} at {other}",
        f"reached in a game with probability {percent(reach)}",
    ]


def _table(game: Chosen, memories: Sequence[tuple[Memory, Mapping[str, float]]], top: int) -> Text:
    rows = [
        (*memory_texts(game.rules, memory), *map(percent, shares.values()))
        for memory, shares in memories[:top]
    ]
    columns = map(_words, memories[0][1]) if memories else ()
    lines: Text = [Table(rows, (*memory_columns(game.rules), *columns), left=0)]
    if len(memories) > top:
        rest = 1.0 - sum(shares["probability"] for _, shares in memories[:top])
        lines.append(f"and {len(memories) - top} more, together {percent(rest)}")
    return lines


def _words(name: str) -> str:
    """Write a key of the JSON object for people."""
    return name.replace("_", " ")


def _of_mixtures(
    game: Chosen,
    about: dict[str, Any],
    one: "NDArray[Any] | Mixture",
    two: "NDArray[Any] | Mixture | None",
    top: int,
) -> Result:
    """Say what was drawn, and the memory."""
    import numpy as np

    from hogeq.evaluation.mixtures import components_at
    from hogeq.strategies.strategy import Mixture

    at = components_at(game.engine, one, about["score"], about["opponent"], two)
    if at is None:
        raise BadInputError(
            f"strategy {about['strategy']}: play never comes to {about['score']} against "
            f"{about['opponent']}; allowed: positions that it does come to"
        )
    text: Text = [*_heading(game, about, at.reach)]
    drawn = {}
    for key, strategy, name, chances, who in (
        ("parts", one, about["strategy"], at.own, "to move"),
        ("parts_against", one if two is None else two, about["against"], at.other, "the other"),
    ):
        if not isinstance(strategy, Mixture):
            continue
        pairs = zip(strategy.weights.tolist(), chances.tolist(), strict=True)
        drawn[key] = [
            {"part": number, "weight": weight, "probability": probability}
            for number, (weight, probability) in enumerate(pairs, 1)
        ]
        rows = [
            (row["part"], percent(row["weight"]), percent(row["probability"])) for row in drawn[key]
        ]
        heading = f"what was drawn from {name}, {who}"
        text += ["", heading, Table(rows, ("component", "drawn", "here"), left=0)]
    order = np.argsort(-at.memory, kind="stable").tolist()
    memories = [
        (game.engine.memories[index], {"probability": float(at.memory[index])})
        for index in order
        if at.memory[index] > 0.0
    ]
    data = {
        **about,
        "reach": at.reach,
        **drawn,
        "memories": [{**memory_fields(game.rules, memory), **row} for memory, row in memories],
    }
    if game.engine.has_memory:
        text += ["", *_table(game, memories, top)]
    return Result(data, text)


def _plot(
    game: Chosen,
    shares: Mapping[str, Any],
    distances: Mapping[str, float],
    about: Mapping[str, Any],
    path: Path,
) -> None:
    """Draw shares of the memories by two of its parts, summed over others if there are any."""
    from hogeq import figures
    from hogeq.evaluation.hidden import fold
    from hogeq.rules.memory import axes

    rows, columns = axes(game.rules)
    titles = {"probability": "exact"} | {
        name: f"{_words(name)}, total variation {percent(distance)}"
        for name, distance in distances.items()
    }
    title = f"{game.title}, {about['score']} points against {about['opponent']}"
    panels = {titles[name]: fold(game.rules, share) for name, share in shares.items()}
    with refusing():
        figures.beliefs(panels, path, rows, columns, title)
