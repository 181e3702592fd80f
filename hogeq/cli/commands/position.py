"""One position: every roll there (analyze), and the hidden memory (beliefs)."""

from typing import Annotated, Any

import hogeq
from hogeq.cli.inputs import Chosen, HogGame
from hogeq.cli.options import MEMORY, TEXT, Opponent, Plot, Score, StrategyName, option
from hogeq.cli.shell import Result
from hogeq.support.messages import HogeqError, Text

DEFAULT_PAST = "ignore_memory"  # strategy whose play leads to a position, if S is optimal play


def analyze_(
    score: Score,
    opponent: Opponent,
    chosen: HogGame,
    strategy: Annotated[str | None, option("Both play S from then on. [optimal play]", "S")] = None,
    own_last: Annotated[
        int | None, option("Own last turn's points (or dice, as the rules have it).", group=MEMORY)
    ] = None,
    opponent_last: Annotated[
        int | None, option("The opponent's last turn's points (or dice).", group=MEMORY)
    ] = None,
    turn: Annotated[int | None, option("Number of this turn, from 0.", group=MEMORY)] = None,
    extra: Annotated[
        bool | None, option("Is this an extra turn?", group=MEMORY, name="--extra/--no-extra")
    ] = None,
    remembered: Annotated[
        str | None, option("Memory of another part of the rules.", "VALUE", MEMORY)
    ] = None,
) -> Result:
    """Every roll at a position, its win probability, best first.

    Where the rules have a memory, give it; otherwise it is averaged over how play with S gets there
    or, without S, play with ignore_memory, or play at random where that never comes there: the
    belief of a player without memory. Where only a part is given, the rest is as before the first
    turn.

    With a goal for each player, the player to move has the first: goal: [50, 65].
    """
    game = chosen.load_hog(
        kernels=["values", "hidden states"],
        strategies=[strategy or DEFAULT_PAST],
        own_goals=True,
        at=(score, opponent),
    )
    has_memory = len(game.memories) > 1
    if has_memory:
        game.prepare("reach")
    names = ("own_last", "opponent_last", "turn", "extra", "remembered")
    values = (own_last, opponent_last, turn, extra, remembered)
    memory_values = {
        name: value for name, value in zip(names, values, strict=True) if value is not None
    }
    memory = game.memory(memory_values, at_start=score == opponent == 0)
    analysis, past = _analyze_position(chosen, game, (score, opponent), strategy, memory)
    fields = game.memory_fields()
    left_out = [name for name in fields if memory_values and name not in memory_values]
    memory_data: dict[str, Any] = {"source": analysis.source}
    if past is not None:
        memory_data["past"] = past
    if analysis.memory is not None:
        memory_data |= game.memory_fields(analysis.memory)
    if left_out:
        memory_data["not_given"] = left_out
    data = {
        **chosen.facts,
        "score": score,
        "opponent": opponent,
        "play": strategy or "optimal",
        "memory": memory_data if has_memory else None,
        **analysis.to_json(),
    }
    later_play = "optimal play" if strategy is None else f"both play {strategy}"
    text: Text = [f"{chosen.title}, {score} points against {opponent}, then {later_play}"]
    if has_memory:
        text.append(analysis.memory_line(chosen.rules, past or strategy or "", left_out))
        if strategy is None:
            text.append("optimal play remembers everything")
    notes = chosen.endless[1:]  # without its empty line
    return Result(data, [*text, *notes, "", analysis.table()])


def _analyze_position(
    chosen: Chosen,
    game: "hogeq.Hog",
    scores: tuple[int, int],
    strategy: str | None,
    memory: "hogeq.Memory | None",
) -> tuple["hogeq.Analysis", str | None]:
    """Value every roll at a position, and name the play whose belief about the memory is used.

    The values are of optimal play, or of `strategy` by both. The memory is the given one, or the
    belief of play with the strategy; the name is then None. For optimal play without a given
    memory the belief is of `DEFAULT_PAST`, or of random play if that never reaches the position.
    """
    import numpy as np

    if strategy is not None or memory is not None or len(game.memories) == 1:
        table = None if strategy is None else chosen.table(strategy)
        try:
            return game.analyze(*scores, table, memory), None
        except hogeq.UnreachedError as error:
            raise HogeqError(f"strategy {strategy}: {error}") from error
    size = game.rules.size
    num_actions = game.rules.num_actions
    random_policy = np.full((size, size, num_actions), 1.0 / num_actions)
    for name, past in ((DEFAULT_PAST, DEFAULT_PAST), ("random", random_policy)):
        try:
            return game.analyze(*scores, past=past), name
        except hogeq.UnreachedError:
            continue
    raise HogeqError(
        f"--score {scores[0]} --opponent {scores[1]}: no play comes there; allowed: other scores, "
        "or what the memory is"
    )


def beliefs(
    strategy: StrategyName,
    score: Score,
    opponent: Opponent,
    chosen: HogGame,
    against: Annotated[str | None, option("The opponent's strategy. [S]", "T")] = None,
    top: Annotated[int, option("Lines of the table.", min=1), TEXT] = 20,
    plot: Plot = None,
) -> Result:
    """Distribution of the hidden memory at a position.

    Of a mixture also the probability that each component is played.
    """
    game = chosen.load_hog(
        kernels=["reach", "full memory", "hidden states"],
        strategies=[strategy, against],
        at=(score, opponent),
    )
    own_strategy = game.strategy(strategy)
    other_strategy = own_strategy if against is None else game.strategy(against)
    has_mixture = "mixture" in {own_strategy.kind, other_strategy.kind}
    if has_mixture and plot is not None:
        raise HogeqError("--plot: allowed for matrices and policies, not for a mixture")
    if not has_mixture and len(game.memories) == 1:
        raise HogeqError(
            f"beliefs: rules {chosen.title} have no hidden memory; allowed: rules with hidden "
            "memory, or a mixture, whose draw is hidden"
        )
    belief = game.components_at(score, opponent, own_strategy, other_strategy)
    if belief is None:
        raise HogeqError(
            f"strategy {strategy}: play never comes to {score} points against {opponent}"
        )
    other_name = against or strategy
    data = {**chosen.facts, "strategy": strategy, "against": other_name}
    belief_data = belief.to_json(game.rules, own_strategy, other_strategy)
    data |= {"score": score, "opponent": opponent, **belief_data}
    text: Text = [
        f"{chosen.title}, {strategy} at {score} points against {other_name} at {opponent}",
        *belief.text(game.rules, own_strategy, other_strategy, (strategy, other_name), top),
    ]
    if plot is not None:
        title = f"{chosen.title}, {score} points against {opponent}"
        panels = {"exact": game.by_memory_axes(belief.memory)}
        hogeq.figures.beliefs(panels, plot, *game.memory_axes, title)
    return Result(data, text)
