"""What each part of the rules did in a turn, in words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hogeq.rules.memory_part import title
from hogeq.rules.parts import LANDINGS, SWAPS, square_swine
from hogeq.rules.points import rolled_points, zero_points
from hogeq.rules.rules import Rules
from hogeq.rules.tables import is_table
from hogeq.rules.turn import Turn


class TurnParts(NamedTuple):
    """What parts are called that have a name of their own in each game."""

    bonus: str
    """What adds points by what is remembered."""
    landing: str
    """What changes the mover's new score."""
    turn: str
    """What gives an extra turn by what is remembered."""


def turn_parts(rules: Rules) -> TurnParts:
    """Name the parts that act in a turn."""
    return TurnParts(
        _either("Feral Hogs", rules.feral_hogs != "none", rules),
        "New score" if is_table(rules.landing) else title(rules.landing),
        _either("Time Trot", rules.time_trot, rules),
    )


def turn_effects(
    rules: Rules, score: int, opponent: int, faces: Sequence[int], turn: Turn
) -> list[str]:
    """Say what a turn did to the scores, one part of the rules a line."""
    names = turn_parts(rules)
    unboosted = replace(rules, prime_boost=False)
    if faces:
        plain = rolled_points(unboosted, faces)
        pig = ", with a 1" if 1 in faces else ""
        what = f"rolled {len(faces)}: {' '.join(map(str, faces))}{pig}"
    else:
        plain = zero_points(unboosted, score, opponent)
        what = "rolled no dice"
    lines = [f"{what}, {_points(plain)}"]
    if plain != turn.points:
        lines.append(f"Hogtimus Prime: {_points(turn.points)} instead of {plain}")
    if turn.bonus:
        lines.append(f"{names.bonus}: {_points(turn.bonus)} more")
    if turn.given:
        lines.append(f"Piggy Back: {_points(turn.given)} to the other")
    reached = score + turn.points + turn.bonus
    other = opponent + turn.given
    if rules.square_swine and square_swine(reached) != reached:
        lines.append(f"Square Swine: {reached} becomes {square_swine(reached)}")
        reached = square_swine(reached)
    becomes = LANDINGS[rules.landing](reached, other)
    if becomes != reached:
        lines.append(f"{names.landing}: {reached} becomes {becomes}")
    if SWAPS[rules.swap](becomes, other) and becomes != other:
        lines.append("Swap: the scores trade places")
    if turn.again:
        part = "More Boar" if turn.landing.again else names.turn
        lines.append(f"{part}: an extra turn")
    return lines


def _either(part: str, there: bool, rules: Rules) -> str:
    """Name a part that remembers, or the part `Rules.memory`, or both where either may be it."""
    other = title(rules.memory)
    if rules.memory == "none":
        return part
    return f"{part} or {other}" if there else other


def _points(number: int) -> str:
    return f"{number} point{'' if number == 1 else 's'}"
