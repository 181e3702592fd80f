"""Strategies that other programs find in a game tree, as Python objects or as text.

- A policy of OpenSpiel, of any class; or a mapping of information states, as
  ``TabularPolicy.to_dict`` gives it, or the same as JSON. A state has a list of probabilities, a
  list of pairs (action, probability), or an object of them. Illegal actions may have 0.
- A behaviour profile of Gambit: a line ``NE,1/2,0.5,...``, as its programs print it, or nested
  lists, as pygambit does. Information sets come by player, in the order in which a walk through the
  tree first meets them.

A profile has a strategy for each seat. A player of Hog does not choose the seat: if the two differ,
a fair coin draws one of them before the game, a mixture.
"""

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.turn import TurnTable
from hogeq.strategies.arrays import ROW_SUM_TOLERANCE, StrategyError
from hogeq.strategies.files import read_bytes
from hogeq.strategies.infosets import ScoreRows, is_policy_csv, read_policy_csv, read_policy_dict
from hogeq.strategies.strategy import Strategy, strategy_of_shape
from hogeq.support.aliases import Floats
from hogeq.support.kinds import is_folder
from hogeq.support.messages import one_line, printable, refusals_of, shown
from hogeq.support.text import parse_json, text_of

MOST_GOAL: Final = 40
"""Highest goal of a game of Hog whose positions are listed; nobody's tree is so large."""

ROUNDING: Final = 1e-4  # by how much the printed probabilities of a row may miss the sum 1

_TABLES: Final = "policy_table", "to_dict"  # compiled, in Python
_OTHERS: Final = "to_tabular", "get_state_policy"  # policies without a table: in Python, compiled

_HEAD: Final = 4096
_STARTS: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(NE,|\[\s*\[\s*\[|\{)")
_OF_HOG: Final = re.compile(r'\s*(NE,|\[|\{\s*"(player [01]: |[01]-[01]-\d))')
_NUMBER: Final = re.compile(r"(\d{1,20})(?:/(\d{1,20})|(\.\d{0,40})?(e[+-]?\d{1,3})?)")


class Infoset(NamedTuple):
    """An information set, as other programs know it."""

    keys: tuple[str, ...]  # what OpenSpiel may call its state
    moves: Sequence[int]  # OpenSpiel's numbers of its actions, in the order of the game


def profile_rows(given: Any, infosets: Sequence[Infoset], where: str) -> list[Floats]:
    """Probabilities of the actions of every information set, in Gambit's order."""
    try:
        if isinstance(given, str):
            given = parse_json(given) if given.lstrip().startswith("{") else _numbers(given)
        if isinstance(given, list):
            return list(_by_order(given, infosets))
        if not is_profile(given):
            allowed = "a policy of OpenSpiel, or a dict"
            raise StrategyError(f"got {type(given).__name__}; allowed: {allowed}")
        states = _states(given, infosets)
        found = [_row_of(states, one) for one in infosets]
        known = {key for one in infosets for key in one.keys}
        other = next((key for key in states if key not in known), None)
        if other is not None:
            raise StrategyError(f"state {shown(other)}: is none of this game")
    except ValueError as error:
        raise StrategyError(f"{where}: {one_line(error)}") from error
    return found


def is_profile(given: object) -> bool:
    """Whether a Python object is a policy of OpenSpiel, or made of one."""
    if isinstance(given, Strategy):  # our own, which has a to_dict too
        return False
    return isinstance(given, Mapping) or any(hasattr(given, name) for name in _TABLES + _OTHERS)


def _states(given: Any, infosets: Sequence[Infoset]) -> Mapping[str, Any]:
    """Give the information states of a policy, each with its probabilities."""
    if isinstance(given, Mapping):
        return given
    for name in _TABLES:
        if hasattr(given, name):
            states: Mapping[str, Any] = getattr(given, name)()
            return states
    if hasattr(given, "to_tabular"):
        return _states(given.to_tabular(), infosets)
    rows = {key: given.get_state_policy(key) for one in infosets for key in one.keys}
    return {key: row for key, row in rows.items() if row}


def _row_of(states: Mapping[str, Any], infoset: Infoset) -> Floats:
    key = next((key for key in infoset.keys if key in states), None)
    if key is None:
        raise StrategyError(f"state {shown(infoset.keys[0])} is missing")
    given, moves = states[key], list(infoset.moves)
    allowed = f"state {shown(key)}: allowed: probabilities of the actions {shown(moves)}, sum 1"
    try:
        if isinstance(given, Mapping):
            given = [*given.items()]
        if len(np.shape(given)) == 2:
            pairs = [(_move(move), chance) for move, chance in given]
            played = {move: chance for move, chance in pairs if chance or move in moves}
            chances = dict.fromkeys(moves, 0.0) | played
            is_whole = len(chances) == len(moves) and len(dict(pairs)) == len(pairs)
            given = [chances[move] for move in moves] if is_whole else []
        if any(isinstance(chance, str | bool) for chance in given):
            raise StrategyError(allowed)
        return _row([float(chance) for chance in given], len(moves), allowed)
    except (TypeError, ValueError, OverflowError) as error:
        raise StrategyError(allowed) from error


def _move(given: Any) -> int:
    """Read the number of an action, which is text where it is a key of JSON."""
    if isinstance(given, str) and re.fullmatch("[0-9]{1,9}", given):
        return int(given)
    if isinstance(given, bool):
        raise TypeError
    return operator.index(given)


def _row(chances: Sequence[float], count: int, allowed: str) -> Floats:
    row: Floats = np.array(chances, np.float64)
    missing = abs(float(row.sum()) - 1.0)
    if row.shape != (count,) or not (row >= 0.0).all() or missing > ROUNDING:
        raise StrategyError(allowed)
    return row if missing <= ROW_SUM_TOLERANCE else row / row.sum()


def _numbers(text: str) -> list[float]:
    """Numbers of one profile in Gambit's order."""
    lines = [line for line in text.splitlines() if line.startswith("NE,")]
    if lines:
        if len(lines) > 1:
            raise StrategyError(f"holds {len(lines)} profiles; allowed: one line NE,...")
        return [_number(cell) for cell in lines[0].split(",")[1:]]
    plain = re.sub(r"Rational\((\d+), ?(\d+)\)", r"\1/\2", text)
    return [_number(cell) for cell in re.split(r"[\[\],'\s]+", plain) if cell]


def _number(cell: str) -> float:
    found = _NUMBER.fullmatch(cell.strip())
    if found is None or (found[2] and not int(found[2])):
        raise StrategyError(f"holds {shown(cell)}; allowed: probabilities, 1/3 or 0.25 say")
    return int(found[1]) / int(found[2]) if found[2] else float(found[0])


def _by_order(numbers: Sequence[float], infosets: Sequence[Infoset]) -> Iterator[Floats]:
    wanted = sum(len(one.moves) for one in infosets)
    if len(numbers) != wanted:
        raise StrategyError(
            f"holds {len(numbers)} numbers; allowed: {wanted}, one for each action of each of the "
            f"{len(infosets)} information sets"
        )
    first = 0
    for number, one in enumerate(infosets, 1):
        last = first + len(one.moves)
        yield _row(
            numbers[first:last], len(one.moves), f"information set {number}: probabilities, sum 1"
        )
        first = last


# --- Hog ------------------------------------------------------------------------------------------


def rows_of(rules: Rules) -> ScoreRows:
    """Names of the rows of a game of Hog."""
    shape = rules.size, rules.size, rules.num_actions
    return ScoreRows(shape, rules.choices, rules.name)


def read_table(path: Path, rules: Rules) -> Strategy | None:
    """Read a policy of a game of Hog from a table; None of a file that holds something else."""
    names, where = rows_of(rules), printable(path)
    data = b"" if is_folder(path) else read_bytes(path)
    if not is_policy_csv(names, data[:_HEAD].decode("utf-8-sig", "replace")):
        return None
    with refusals_of(where, StrategyError):
        text = text_of(data)
    policy = read_policy_csv(names, text, where)
    return strategy_of_shape(names.shape, policy, where, rules.least_answer)


def read_profile(path: Path, rules: Rules) -> Strategy | None:
    """Read a profile of a game of Hog; None if the file holds none, whatever else is in it."""
    text = profile_text(path)
    if text is None or not _OF_HOG.match(text) or _is_table(text):
        return None
    return hog_profile(text, rules, printable(path))


def _is_table(text: str) -> bool:
    """Whether nested lists are no profile, which has one of each of two seats."""
    try:
        seats = parse_json(text) if text.lstrip().startswith("[") else [[], []]
    except ValueError as error:  # numbers of pygambit, or lists that are nested too deeply
        return isinstance(error.__cause__, RecursionError)
    return len(seats) != 2


def profile_text(path: Path) -> str | None:
    """Text of a file that begins as a profile does; None if it does not."""
    if is_folder(path):
        return None
    data = read_bytes(path)
    if not _STARTS.match(data[:_HEAD]):
        return None
    with refusals_of(printable(path), StrategyError):
        return text_of(data)


def hog_profile(given: object, rules: Rules, where: str = "strategy") -> Strategy:
    """Take a profile of a game of Hog, or what `Strategy.to_dict` gives."""
    named = read_policy_dict(rows_of(rules), given) if isinstance(given, Mapping) else None
    if named is not None:
        return strategy_of_shape(rows_of(rules).shape, named[0], where, rules.least_answer)
    states = _every_state(given, rules)
    tables = seat_tables(given, rules, where) if states is None else _filled(states, rules, where)
    if np.array_equal(*tables):
        return Strategy.unchecked(tables[0])
    return Strategy.unchecked(tables, np.array([0.5, 0.5]))


def _every_state(given: object, rules: Rules) -> Mapping[str, Any] | None:
    """Give the states of a profile that has all scores, those where no play comes, too."""
    if isinstance(given, str):
        if not given.lstrip().startswith("{"):
            return None
        try:
            given = parse_json(given)
        except ValueError:
            return None  # is refused by who reads it next
    count = 2 * rules.size**2
    if not isinstance(given, Mapping) or len(given) != count:
        return None
    return (
        given
        if all(state in given for row in rows_of(rules).listed() for state in row.states)
        else None
    )


def _filled(states: Mapping[str, Any], rules: Rules, where: str) -> Floats:
    """Policies (2, G, G, K) of both seats, of all scores."""
    rows = [*rows_of(rules).listed()]
    infosets = [Infoset((row.states[seat],), row.moves) for seat in (0, 1) for row in rows]
    return np.reshape(profile_rows(states, infosets, where), (2, *rows_of(rules).shape))


def seat_tables(given: object, rules: Rules, where: str) -> Floats:
    """Policies (2, G, G, K) of both seats; positions to which no play comes roll at random."""
    if rules.size > MOST_GOAL or isinstance(rules.goal, tuple):
        raise StrategyError(
            f"{where}: is a profile of a game tree; allowed: for rules with one goal up to "
            f"{MOST_GOAL}, those of {rules.name} have {rules.goal}"
        )
    shape = rules.size, rules.size, rules.num_actions
    tables = np.full((2, *shape), 1.0 / shape[2])
    places = sorted(_positions(rules), key=lambda place: place[0])  # stable: as they are met
    numbers = [0, 0]
    infosets = []
    for player, own, other in places:
        numbers[player] += 1
        state = f"player {player}: {own}-{other}"
        in_file = f"{player}-{player}-{numbers[player]}-({own}, {other})"
        infosets.append(Infoset((state, in_file), range(shape[2])))
    for place, row in zip(places, profile_rows(given, infosets, where), strict=True):
        tables[place] = row
    return tables


def _positions(rules: Rules) -> list[tuple[int, int, int]]:
    """Player, own and other's score of all information sets, as a walk of the tree meets them."""
    table = TurnTable(rules)
    waiting = [(player, 0, 0, Memory()) for player in (1, 0)]
    known: set[tuple[int, int, int, Memory]] = set()
    found: dict[tuple[int, int, int], None] = {}
    while waiting:
        here = waiting.pop()
        if here in known:
            continue
        known.add(here)
        player, own, other, memory = here
        found[player, own, other] = None
        for choice in reversed(rules.choices):
            waiting.extend(
                (player if way.again else 1 - player, *way.following)
                for way in reversed(table.outcomes(own, other, memory, choice))
                if way.landing.winner is None
            )
    return list(found)
