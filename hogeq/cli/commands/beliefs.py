"""The hidden memory at a position: beliefs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.inputs import Chosen, check_output
from hogeq.cli.options import OpponentOption, ScoreOption, StrategyArgument, option
from hogeq.cli.result import Result, Table, Text, percent
from hogeq.cli.shell import BadInputError, refusing
from hogeq.rules.memory import memory_columns, memory_fields, memory_texts

if TYPE_CHECKING:
    from hogeq.strategies.strategy import Strategy
    from hogeq.support.aliases import Floats

GUESSES = {
    "counted": ("counted", "in the strategies' own play"),
    "looked_up": (
        "looked up",
        "in perfect play, else in their own, else 0.25: as the second place of summer 2020 did",
    ),
}
"""Guesses of the memory: what they are called, and where they weigh it."""


def beliefs(
    strategy: StrategyArgument,
    score: ScoreOption,
    opponent: OpponentOption,
    game: Chosen,
    against: Annotated[str | None, option("The opponent's strategy. [S]", "T")] = None,
    top: Annotated[int, option("Lines of the table.", min=1)] = 20,
    plot: Annotated[Path | None, option("Draw the distribution and the guesses.", "PNG")] = None,
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
    one = game.strategy(strategy)
    two = None if against is None else game.strategy(against)
    data: dict[str, Any] = {
        "rules": game.name,
        "strategy": strategy,
        "against": against or strategy,
        "score": score,
        "opponent": opponent,
    }
    if "mixture" in {one.kind, two.kind if two else ""}:
        if plot is not None:
            raise BadInputError("--plot: allowed for matrices and policies, not for a mixture")
        return _of_mixtures(game, data, one, two, top)
    if not engine.has_memory:
        raise BadInputError(
            f"beliefs: rules {game.title} have no hidden memory; allowed: rules with hidden "
            "memory, or a mixture, whose draw is hidden"
        )
    from hogeq.baselines.second_place import countable, guess_by_counting
    from hogeq.evaluation.hidden import reach, total_variation

    reached = reach(engine, one, two)[score, opponent]
    data["reach"] = float(reached.sum())
    if data["reach"] <= 0.0:
        raise BadInputError(
            f"strategy {strategy}: play never comes to {score} points against {opponent}"
        )
    shares, distances = {"probability": reached / data["reach"]}, {}
    if countable(engine):
        guesses = guess_by_counting(engine, one.policy, None if two is None else two.policy)
        for name, guess in zip(GUESSES, guesses, strict=True):
            shares[name] = guess[score, opponent]
            distances[name] = float(total_variation(shares["probability"], shares[name]))
    data["memories"], table = _memories(game, shares, top)
    data["total_variation"] = distances or None
    text = [*_heading(game, data), "", *table]
    if distances:
        rows = [
            (words, percent(distances[name]), where) for name, (words, where) in GUESSES.items()
        ]
        text += [
            "",
            "total variation distance of the guesses, which weigh a memory by the ways into it",
            Table(rows, left=3),
        ]
    if plot is not None:
        _plot(game, shares, distances, f"{score} points against {opponent}", plot)
        data["plot"] = plot
    return Result(data, text)


def _heading(game: Chosen, data: Mapping[str, Any]) -> Text:
    return [
        (
            f"{game.title}, {data['strategy']} at {data['score']} points against {data['against']} "
            f"at {data['opponent']}"
        ),
        f"reached in a game with probability {percent(data['reach'])}",
    ]


def _memories(
    game: Chosen, shares: Mapping[str, "Floats"], top: int
) -> tuple[list[dict[str, Any]], Text]:
    """Give the memories that have a share, the most probable first, as data and as a table."""
    belief = shares["probability"].tolist()
    order = sorted(range(len(belief)), key=lambda index: -belief[index])
    order = [index for index in order if any(share[index] > 0.0 for share in shares.values())]
    memories = [game.engine.memories[index] for index in order]
    numbers = [{name: float(share[index]) for name, share in shares.items()} for index in order]
    both = list(zip(memories, numbers, strict=True))
    data = [{**memory_fields(game.rules, memory), **row} for memory, row in both]
    rows = [
        (*memory_texts(game.rules, memory), *map(percent, row.values()))
        for memory, row in both[:top]
    ]
    columns = [GUESSES.get(name, (name,))[0] for name in shares]
    text: Text = [Table(rows, (*memory_columns(game.rules), *columns), left=0)]
    if len(both) > top:
        rest = 1.0 - sum(row["probability"] for row in numbers[:top])
        text.append(f"and {len(both) - top} more, together {percent(rest)}")
    return data, text


def _of_mixtures(
    game: Chosen, data: dict[str, Any], one: "Strategy", two: "Strategy | None", top: int
) -> Result:
    """Say what was drawn, and the memory."""
    from hogeq.evaluation.mixtures import components_at

    at = components_at(game.engine, one, data["score"], data["opponent"], two)
    if at is None:
        raise BadInputError(
            f"strategy {data['strategy']}: play never comes to {data['score']} against "
            f"{data['opponent']}; allowed: positions that it does come to"
        )
    data["reach"] = at.reach
    text = _heading(game, data)
    for key, strategy, name, chances, who in (
        ("parts", one, data["strategy"], at.own, "to move"),
        ("parts_against", two or one, data["against"], at.other, "the other"),
    ):
        if strategy.kind != "mixture":
            continue
        pairs = zip(strategy.weights.tolist(), chances.tolist(), strict=True)
        data[key] = [
            {"part": number, "weight": weight, "probability": probability}
            for number, (weight, probability) in enumerate(pairs, 1)
        ]
        rows = [
            (row["part"], percent(row["weight"]), percent(row["probability"])) for row in data[key]
        ]
        heading = f"what was drawn from {name}, {who}"
        text += ["", heading, Table(rows, ("component", "drawn", "here"), left=0)]
    data["memories"], table = _memories(game, {"probability": at.memory}, top)
    if game.engine.has_memory:
        text += ["", *table]
    return Result(data, text)


def _plot(
    game: Chosen,
    shares: Mapping[str, "Floats"],
    distances: Mapping[str, float],
    position: str,
    path: Path,
) -> None:
    """Draw shares of the memories by two of its parts, summed over others if there are any."""
    from hogeq import figures
    from hogeq.evaluation.hidden import fold
    from hogeq.rules.memory import axes

    rows, columns = axes(game.rules)
    titles = {"probability": "exact"} | {
        name: f"{GUESSES[name][0]}, total variation {percent(distance)}"
        for name, distance in distances.items()
    }
    panels = {titles[name]: fold(game.rules, share) for name, share in shares.items()}
    with refusing():
        figures.beliefs(panels, path, rows, columns, f"{game.title}, {position}")
