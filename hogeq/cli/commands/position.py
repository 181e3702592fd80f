"""One position: every roll there (analyze), and the hidden memory (beliefs)."""

from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli import options
from hogeq.cli.inputs import Chosen
from hogeq.cli.options import MEMORY, TEXT, option
from hogeq.cli.result import Result
from hogeq.cli.shell import refusing
from hogeq.rules import Rules
from hogeq.rules.memory import (
    Memory,
    feral_record,
    memory_columns,
    memory_fields,
    memory_line,
    memory_texts,
    remembered,
)
from hogeq.support.messages import BadInputError, Table, Text, percent, refusal

if TYPE_CHECKING:
    from hogeq.evaluation.tablebase import Analysis
    from hogeq.strategies.strategy import Strategy
    from hogeq.support.aliases import Floats

PAST = "ignore_memory"  # what makes the belief where optimal play goes on


def analyze_(
    score: options.Score,
    opponent: options.Opponent,
    chosen: Chosen,
    strategy: Annotated[str | None, option("Both play S from then on. [optimal play]", "S")] = None,
    own_last: Annotated[
        int | None, option("Own last turn's points (or dice, as the rules have it).", group=MEMORY)
    ] = None,
    opponent_last: Annotated[
        int | None, option("The opponent's last turn's points (or dice).", group=MEMORY)
    ] = None,
    turn: Annotated[int | None, option("Number of this turn, from 0.", group=MEMORY)] = None,
    extra: Annotated[
        bool | None,
        option("Is this an extra turn?", name="--extra/--no-extra", group=MEMORY),
    ] = None,
    remembered: Annotated[
        str | None, option("Memory of another part of the rules.", "VALUE", group=MEMORY)
    ] = None,
) -> Result:
    """Every roll at a position, its win probability, best first.

    Where the rules have a memory, give it; otherwise it is averaged over how play with S gets there
    or, without S, play with ignore_memory, or play at random where that never comes there: the
    belief of a player without memory. Where only a part is given, the rest is as before the first
    turn.

    With a goal for each player, the player to move has the first: goal: [50, 65].
    """
    chosen.load(
        "full memory",
        "hidden states",
        strategies=[strategy or PAST],
        own_goals=True,
        at=(score, opponent),
    )
    has_memory = chosen.engine.has_memory
    if has_memory:
        chosen.expect("reach")
    options = {
        "own_last": own_last,
        "opponent_last": opponent_last,
        "turn": turn,
        "extra": extra,
        "remembered": remembered,
    }
    given = {name: value for name, value in options.items() if value is not None}
    memory = _memory(chosen.rules, given, at_start=score == opponent == 0)
    analysis, past = _analysis(chosen, (score, opponent), strategy, memory)
    fields = memory_fields(chosen.rules, Memory())
    left_out = [name for name in fields if given and name not in given]
    about: dict[str, Any] = {"source": analysis.source}
    if past is not None:
        about["past"] = past
    if analysis.memory is not None:
        about |= memory_fields(chosen.rules, analysis.memory)
    if left_out:
        about["not_given"] = left_out
    data = {
        **chosen.facts,
        "score": score,
        "opponent": opponent,
        "play": strategy or "optimal",
        "memory": about if has_memory else None,
        **analysis.to_json(),
    }
    then = "optimal play" if strategy is None else f"both play {strategy}"
    text: Text = [f"{chosen.title}, {score} points against {opponent}, then {then}"]
    if has_memory:
        text.append(_memory_text(chosen.rules, analysis, past or strategy or "", left_out))
        if strategy is None:
            text.append("optimal play remembers everything")
    return Result(data, [*text, *chosen.endless[1:], "", analysis.table()])


def _analysis(
    chosen: Chosen, scores: tuple[int, int], strategy: str | None, memory: Memory | None
) -> tuple["Analysis", str | None]:
    """Analyse a position, and name the play behind the belief if it is not the strategy."""
    import numpy as np

    from hogeq.evaluation.tablebase import UnreachedError

    game, engine = chosen.game, chosen.engine
    if strategy is not None or memory is not None or not engine.has_memory:
        played = None if strategy is None else chosen.table(strategy)
        try:
            with refusing():
                return game.analyze(*scores, played, memory), None
        except UnreachedError as error:
            raise BadInputError(f"strategy {strategy}: {error}") from error
    random = np.full(engine.shape, 1.0 / engine.num_actions)
    for name, past in ((PAST, PAST), ("random", random)):
        try:
            return game.analyze(*scores, past=past), name
        except UnreachedError:
            continue
    raise BadInputError(
        f"--score {scores[0]} --opponent {scores[1]}: no play comes there; allowed: other scores, "
        "or what the memory is"
    )


def _memory_text(rules: Rules, analysis: "Analysis", past: str, left_out: list[str]) -> str:
    if analysis.memory is None:
        way = "play at random" if past == "random" else past
        return f"memory not given, averaged over how {way} gets here"
    given = f"memory given, {memory_line(rules, analysis.memory)}"
    names = dict(zip(memory_fields(rules, Memory()), memory_columns(rules), strict=True))
    missing = ", ".join(names[name] for name in left_out)
    return f"{given}; not given, taken as before the first turn: {missing}" if missing else given


def _memory(rules: Rules, given: dict[str, Any], *, at_start: bool) -> Memory | None:
    """Read the memory of the player to move; other parts are as before the first turn."""
    for name, value in given.items():
        _check(rules, name, value)
    if not given:
        return None
    turn = given.get("turn", 0)
    if rules.time_trot and given.get("extra") and not turn:
        raise BadInputError("--extra: turn 0 is no extra turn; allowed: --turn from 1")
    own, other = (
        feral_record(rules, last, last)
        for last in (given.get("own_last", 0), given.get("opponent_last", 0))
    )
    if at_start and rules.feral_hogs == "points":
        for name, last in (("--own-last", own), ("--opponent-last", other)):
            if last:
                raise BadInputError(f"{name}: got {last}; allowed at 0 points against 0: 0")
    return Memory(
        turn % rules.time_trot_period if rules.time_trot else 0,
        int(given.get("extra", False)),
        own,
        other,
        remembered(rules).texts.index(given["remembered"]) if "remembered" in given else 0,
    )


def _check(rules: Rules, name: str, value: Any) -> None:
    """Refuse a part of the memory that the rules do not have."""
    option, known = _option(name), memory_fields(rules, Memory())
    if name not in known:
        parts = zip(known, memory_columns(rules), strict=True)
        allowed = ", ".join(f"{_option(part)} ({about})" for part, about in parts)
        raise BadInputError(
            f"{option}: rules {rules.name} do not remember that; "
            f"allowed: {allowed or 'no such option, as they remember nothing'}"
        )
    if name == "remembered":
        texts = remembered(rules).texts
        if value not in texts:
            raise BadInputError(refusal(option, value, ", ".join(texts), texts))
    elif value < 0:
        raise BadInputError(f"{option}: {value}; allowed: whole numbers from 0")
    elif name.endswith("_last") and rules.feral_hogs == "dice" and value > rules.max_dice:
        raise BadInputError(f"{option}: {value} dice; allowed: 0 to {rules.max_dice}")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def beliefs(
    strategy: options.Strategy,
    score: options.Score,
    opponent: options.Opponent,
    chosen: Chosen,
    against: Annotated[str | None, option("The opponent's strategy. [S]", "T")] = None,
    top: Annotated[int, option("Lines of the table.", min=1), TEXT] = 20,
    plot: options.Plot = None,
) -> Result:
    """Distribution of the hidden memory at a position; of a mixture, which component is played."""
    game = chosen.load(
        "reach",
        "full memory",
        "hidden states",
        strategies=[strategy, against],
        at=(score, opponent),
    )
    one = game.strategy(strategy)
    two = one if against is None else game.strategy(against)
    is_drawn = "mixture" in {one.kind, two.kind}
    if is_drawn and plot is not None:
        raise BadInputError("--plot: allowed for matrices and policies, not for a mixture")
    if not is_drawn and not game.engine.has_memory:
        raise BadInputError(
            f"beliefs: rules {chosen.title} have no hidden memory; allowed: rules with hidden "
            "memory, or a mixture, whose draw is hidden"
        )
    at = game.components_at(score, opponent, one, two)
    if at is None:
        raise BadInputError(
            f"strategy {strategy}: play never comes to {score} points against {opponent}"
        )
    other = against or strategy
    data: dict[str, Any] = {
        **chosen.facts,
        "strategy": strategy,
        "against": other,
        "score": score,
        "opponent": opponent,
        "reach": at.reach,
    }
    text: Text = [
        f"{chosen.title}, {strategy} at {score} points against {other} at {opponent}",
        f"reached in a game with probability {percent(at.reach)}",
    ]
    if one.kind == "mixture":
        data["parts"], table = _draw(one, at.own, f"{strategy}, to move")
        text += table
    if two.kind == "mixture":
        data["parts_against"], table = _draw(two, at.other, f"{other}, the other")
        text += table
    data["memories"], table = _memories(chosen, at.memory, top)
    if game.engine.has_memory:
        text += ["", *table]
    if plot is not None:
        from hogeq import figures
        from hogeq.evaluation.values import fold
        from hogeq.rules.memory import axes

        title = f"{chosen.title}, {score} points against {opponent}"
        panels = {"exact": fold(game.rules, at.memory)}
        figures.beliefs(panels, plot, *axes(game.rules), title)
        data["plot"] = plot
    return Result(data, text)


def _draw(strategy: "Strategy", chances: "Floats", who: str) -> tuple[list[dict[str, Any]], Text]:
    """Give the probability of each component of a mixture at a position."""
    shares = zip(strategy.weights.tolist(), chances.tolist(), strict=True)
    data = [
        {"part": number, "weight": weight, "probability": probability}
        for number, (weight, probability) in enumerate(shares, 1)
    ]
    rows = [(row["part"], percent(row["weight"]), percent(row["probability"])) for row in data]
    heading = f"what was drawn from {who}"
    return data, ["", heading, Table(rows, ("component", "drawn", "here"), left=0)]


def _memories(chosen: Chosen, shares: "Floats", top: int) -> tuple[list[dict[str, Any]], Text]:
    """Give the memories that have a share, the most probable first, as data and as a table."""
    belief = shares.tolist()
    order = sorted(range(len(belief)), key=lambda index: -belief[index])
    both = [(chosen.engine.memories[index], belief[index]) for index in order if belief[index] > 0]
    data = [{**memory_fields(chosen.rules, memory), "probability": share} for memory, share in both]
    rows = [(*memory_texts(chosen.rules, memory), percent(share)) for memory, share in both[:top]]
    text: Text = [Table(rows, (*memory_columns(chosen.rules), "probability"), left=0)]
    if len(both) > top:
        rest = 1.0 - sum(share for _, share in both[:top])
        text.append(f"and {len(both) - top} more, together {percent(rest)}")
    return data, text
