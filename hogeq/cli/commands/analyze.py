"""Every roll at a position: analyze."""

from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.inputs import Chosen
from hogeq.cli.options import MEMORY, OpponentOption, ScoreOption, option
from hogeq.cli.result import Result, Table, Text, loss, percent
from hogeq.cli.shell import BadInputError, refusing
from hogeq.rules import Rules
from hogeq.rules.memory import (
    Memory,
    feral_record,
    memory_columns,
    memory_fields,
    memory_line,
    memory_sizes,
    state_texts,
)
from hogeq.support.messages import refusal

if TYPE_CHECKING:
    from hogeq.evaluation.analysis import Analysis

PAST = "ignore_memory"  # what makes the belief where optimal play goes on


def analyze_(
    score: ScoreOption,
    opponent: OpponentOption,
    game: Chosen,
    strategy: Annotated[
        str | None, option("Both play S from the next turn on. [optimal play]", metavar="S")
    ] = None,
    own_last: Annotated[
        int | None,
        option("Own last turn's points (or dice, as the rules have it).", group=MEMORY),
    ] = None,
    opponent_last: Annotated[
        int | None,
        option("The opponent's last turn's points (or dice, as the rules have it).", group=MEMORY),
    ] = None,
    turn: Annotated[int | None, option("Number of this turn, from 0.", group=MEMORY)] = None,
    extra: Annotated[
        bool | None, option("Is this an extra turn?", "--extra/--no-extra", group=MEMORY)
    ] = None,
    remembered: Annotated[
        str | None,
        option("What another part of the rules remembers.", group=MEMORY, metavar="VALUE"),
    ] = None,
) -> Result:
    """Every roll at a position, its win probability, best first.

    Where the rules have a memory, say what it is; otherwise it is averaged over how play with S
    gets there or, without S, play with ignore_memory, or play at random where that never comes
    there: what a player who forgot it can know. Where only a part is said, the rest is as before
    the first turn.
    """
    engine = game.load("full memory", "hidden states", strategies=[strategy or PAST])
    if engine.has_memory:
        game.expect("reach")
    rules = game.rules
    game.check_position(score, opponent)
    given = {
        "own_last": own_last,
        "opponent_last": opponent_last,
        "turn": turn,
        "extra": extra,
        "remembered": remembered,
    }
    memory = _memory(rules, given)
    if memory is not None and rules.feral_hogs == "points" and score == opponent == 0:
        for name, last in (("--own-last", memory.own), ("--opponent-last", memory.opponent)):
            if last:
                raise BadInputError(f"{name}: got {last}; allowed at 0 points against 0: 0")
    analysis, past = _analysis(game, (score, opponent), strategy, memory)
    fields = memory_fields(rules, Memory())
    left_out = [name for name in fields if memory is not None and given[name] is None]
    about: dict[str, Any] = {"source": analysis.source}
    if past is not None:
        about["past"] = past
    if analysis.memory is not None:
        about |= memory_fields(rules, analysis.memory)
    if left_out:
        about["not_given"] = left_out
    data = {
        "rules": game.name,
        "score": score,
        "opponent": opponent,
        "play": strategy or "optimal",
        "memory": about if engine.has_memory else None,
        "value": analysis.rolls[0].win_probability,
        "best_roll": analysis.rolls[0].dice,
        "rolls": [
            {key: value for key, value in roll._asdict().items() if value is not None}
            for roll in analysis.rolls
        ],
    }
    then = "optimal play" if strategy is None else f"both play {strategy}"
    text: Text = [f"{game.title}, {score} points against {opponent}, then {then}"]
    if engine.has_memory:
        text.append(_memory_text(rules, analysis, past or strategy or "", left_out))
        if strategy is None:
            text.append("optimal play remembers everything")
    return Result(data, [*text, *game.endless[1:], "", _table(analysis)])


def _table(analysis: "Analysis") -> Table:
    header: tuple[str, ...] = ("dice", "win probability", "loss")
    if analysis.rolls[0].played is not None:
        header = (*header, "S plays it")
    rows = [
        (roll.dice, percent(roll.win_probability), loss(roll.behind))
        + (() if roll.played is None else (percent(roll.played),))
        for roll in analysis.rolls
    ]
    return Table(rows, header, left=0)


def _analysis(
    game: Chosen, scores: tuple[int, int], strategy: str | None, memory: Memory | None
) -> tuple["Analysis", str | None]:
    """Analyse a position, and name what made the belief if that is not the strategy."""
    import numpy as np

    from hogeq.evaluation.analysis import UnreachedError, analyze

    engine = game.engine
    if strategy is not None or memory is not None or not engine.has_memory:
        played = None if strategy is None else game.strategy(strategy)
        with refusing():
            try:
                return analyze(engine, *scores, played, memory), None
            except UnreachedError as error:
                raise BadInputError(f"strategy {strategy}: {error}") from error
    random = np.full((engine.goal, engine.goal, engine.num_actions), 1.0 / engine.num_actions)
    for name, past in ((PAST, game.strategy(PAST)), ("random", random)):
        try:
            return analyze(engine, *scores, past=past), name
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


def _memory(rules: Rules, given: dict[str, Any]) -> Memory | None:
    """Read the memory of the player to move; what was not given is as before the first turn."""
    turns, extras, records = memory_sizes(rules)
    sizes = {"own_last": records, "opponent_last": records, "turn": turns, "extra": extras}
    for name, size in sizes.items():
        if given[name] is not None and size == 1:
            raise _not_remembered(name, rules)
    for name in sizes:
        if (given[name] or 0) < 0:
            raise BadInputError(f"{_written(name)}: {given[name]}; allowed: whole numbers from 0")
    for name in ("own_last", "opponent_last"):
        if rules.feral_hogs == "dice" and (given[name] or 0) > rules.max_dice:
            allowed = f"allowed: 0 to {rules.max_dice}"
            raise BadInputError(f"{_written(name)}: {given[name]} dice; {allowed}")
    state = _state(rules, given["remembered"])
    if all(value is None for value in given.values()):
        return None
    turn = given["turn"] or 0
    if rules.time_trot and given["extra"] and not turn:
        raise BadInputError("--extra: turn 0 is no extra turn; allowed: --turn from 1")
    own, opponent = (
        feral_record(rules, last, last)
        for last in (given["own_last"] or 0, given["opponent_last"] or 0)
    )
    turn = turn % rules.time_trot_period if rules.time_trot else 0
    return Memory(turn, int(given["extra"] or 0), own, opponent, state)


def _state(rules: Rules, remembered: str | None) -> int:
    if remembered is None:
        return 0
    if rules.memory == "none":
        raise _not_remembered("remembered", rules)
    texts = state_texts(rules)
    if remembered not in texts:
        raise BadInputError(refusal("--remembered", remembered, ", ".join(texts), texts))
    return texts.index(remembered)


def _written(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _not_remembered(name: str, rules: Rules) -> BadInputError:
    """Say what the rules remember instead, and by which options."""
    names = map(_written, memory_fields(rules, Memory()))
    parts = zip(names, memory_columns(rules), strict=True)
    known = ", ".join(f"{option} ({about})" for option, about in parts)
    return BadInputError(
        f"{_written(name)}: rules {rules.name} do not remember that; "
        f"allowed: {known or 'no such option, as they remember nothing'}"
    )
