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
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.strategies.files import read_bytes
from hogeq.strategies.infosets import ScoreRows, is_policy_csv, read_policy_csv, read_policy_dict
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.kinds import is_folder
from hogeq.support.messages import one_line, printable, refusals_of, shown
from hogeq.support.text import parse_json, text_of

MOST_GOAL: Final = 40
"""Highest goal of a game of Hog whose positions are listed; nobody's tree is so large."""

ROUNDING: Final = 1e-4  # by how much the printed probabilities of a row may miss the sum 1

_TABLES: Final = "policy_table", "to_dict"  # compiled, in Python
_OTHERS: Final = "to_tabular", "get_state_policy"  # policies without a table: in Python, compiled

_HEAD: Final = 4096  # bytes of a file that show what it holds
_STARTS: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(NE,|\[\s*\[\s*\[|\{)")
_OF_HOG: Final = re.compile(r'\s*(NE,|\[|\{\s*"(player [01]: |[01]-[01]-\d))')
_NUMBER: Final = re.compile(r"(\d{1,20})(?:/(\d{1,20})|(\.\d{0,40})?(e[+-]?\d{1,3})?)")


class Infoset(NamedTuple):
    """An information set, as other programs know it."""

    keys: tuple[str, ...]  # what OpenSpiel may call its state
    moves: Sequence[int]  # OpenSpiel's numbers of its actions, in the order of the game


def profile_rows(profile: Any, infosets: Sequence[Infoset], where: str) -> list[Floats]:
    """Read the probabilities of every information set from a profile of OpenSpiel or Gambit.

    Parameters
    ----------
    profile : str, list, mapping or policy
        The text of a profile; numbers in Gambit's order; or states of OpenSpiel, by key.
    infosets : sequence of Infoset
        Those of the game, in Gambit's order.
    where : str
        What messages begin with.

    Returns
    -------
    list of float64 arrays
        One for each information set: the probability of each action.
    """
    try:
        if isinstance(profile, str):
            is_json = profile.lstrip().startswith("{")
            profile = parse_json(profile) if is_json else _parse_numbers(profile)
        if isinstance(profile, list):
            return list(_split_by_infoset(profile, infosets))
        if not is_profile(profile):
            allowed = "a policy of OpenSpiel, or a dict"
            raise StrategyError(f"got {type(profile).__name__}; allowed: {allowed}")
        states = _states(profile, infosets)
        rows = [_read_row(states, infoset) for infoset in infosets]
        known = {key for infoset in infosets for key in infoset.keys}
        unknown = next((key for key in states if key not in known), None)
        if unknown is not None:
            raise StrategyError(f"state {shown(unknown)}: is none of this game")
    except ValueError as error:
        raise StrategyError(f"{where}: {one_line(error)}") from error
    return rows


def is_profile(candidate: object) -> bool:
    """Whether a Python object is a policy of OpenSpiel, or a mapping as one gives it."""
    if isinstance(candidate, Strategy):  # it has a to_dict, too
        return False
    return isinstance(candidate, Mapping) or any(
        hasattr(candidate, name) for name in _TABLES + _OTHERS
    )


def _states(policy: Any, infosets: Sequence[Infoset]) -> Mapping[str, Any]:
    """Return the information states of a policy of OpenSpiel, each with its probabilities.

    A policy without a table is asked for the state of each key.
    """
    if isinstance(policy, Mapping):
        return policy
    for name in _TABLES:
        if hasattr(policy, name):
            states: Mapping[str, Any] = getattr(policy, name)()
            return states
    if hasattr(policy, "to_tabular"):
        return _states(policy.to_tabular(), infosets)
    rows = {key: policy.get_state_policy(key) for infoset in infosets for key in infoset.keys}
    return {key: row for key, row in rows.items() if row}


def _read_row(states: Mapping[str, Any], infoset: Infoset) -> Floats:
    """Read the probabilities of one information set, in the order of its moves.

    Its state in `states` is a list of probabilities, or of pairs (action, probability), or a
    mapping of such. Other actions than its moves may have probability 0.
    """
    key = next((key for key in infoset.keys if key in states), None)
    if key is None:
        raise StrategyError(f"state {shown(infoset.keys[0])} is missing")
    probabilities = states[key]
    moves = list(infoset.moves)
    allowed = f"state {shown(key)}: allowed: probabilities of the actions {shown(moves)}, sum 1"
    try:
        if isinstance(probabilities, Mapping):
            probabilities = [*probabilities.items()]
        if len(np.shape(probabilities)) == 2:
            pairs = [(_parse_move(move), probability) for move, probability in probabilities]
            # Moves that are left out have probability 0; others than moves may have it.
            played = {move: chance for move, chance in pairs if chance or move in moves}
            chances = dict.fromkeys(moves, 0.0) | played
            has_only_moves = len(chances) == len(moves)
            is_each_once = len(dict(pairs)) == len(pairs)
            # An empty list is refused below.
            probabilities = (
                [chances[move] for move in moves] if has_only_moves and is_each_once else []
            )
        if any(isinstance(chance, str | bool) for chance in probabilities):
            raise StrategyError(allowed)
        return _checked_row([float(chance) for chance in probabilities], len(moves), allowed)
    except (TypeError, ValueError, OverflowError) as error:
        raise StrategyError(allowed) from error


def _parse_move(move: Any) -> int:
    """Read the number of an action, which is text where it is a key of JSON."""
    if isinstance(move, str) and re.fullmatch("[0-9]{1,9}", move):
        return int(move)
    if isinstance(move, bool):
        raise TypeError
    return operator.index(move)


def _checked_row(probabilities: Sequence[float], count: int, allowed: str) -> Floats:
    """Make a row of `count` probabilities that sum to 1; divide by the sum if it is rounded.

    `allowed` is the message of the error otherwise.
    """
    row: Floats = np.array(probabilities, np.float64)
    error = abs(float(row.sum()) - 1.0)
    if row.shape != (count,) or not (row >= 0.0).all() or error > ROUNDING:
        raise StrategyError(allowed)
    return row if error <= ROW_SUM_TOLERANCE else row / row.sum()


def _parse_numbers(text: str) -> list[float]:
    """Read the numbers of a profile of Gambit: a line ``NE,...``, or lists as Python shows them."""
    lines = [line for line in text.splitlines() if line.startswith("NE,")]
    if lines:
        if len(lines) > 1:
            raise StrategyError(f"holds {len(lines)} profiles; allowed: one line NE,...")
        return [_parse_number(cell) for cell in lines[0].split(",")[1:]]
    without_class = re.sub(r"Rational\((\d+), ?(\d+)\)", r"\1/\2", text)  # as pygambit prints 1/2
    return [_parse_number(cell) for cell in re.split(r"[\[\],'\s]+", without_class) if cell]


def _parse_number(cell: str) -> float:
    """Read a probability, a decimal number or a fraction of whole numbers."""
    match = _NUMBER.fullmatch(cell.strip())
    if match is None or (match[2] and not int(match[2])):  # no number, or a denominator 0
        raise StrategyError(f"holds {shown(cell)}; allowed: probabilities, 1/3 or 0.25 say")
    return int(match[1]) / int(match[2]) if match[2] else float(match[0])


def _split_by_infoset(numbers: Sequence[float], infosets: Sequence[Infoset]) -> Iterator[Floats]:
    """Split numbers in Gambit's order into checked rows, one for each information set."""
    num_actions = sum(len(infoset.moves) for infoset in infosets)
    if len(numbers) != num_actions:
        raise StrategyError(
            f"holds {len(numbers)} numbers; allowed: {num_actions}, one for each action of each of "
            f"the {len(infosets)} information sets"
        )
    first = 0
    for number, infoset in enumerate(infosets, 1):
        end = first + len(infoset.moves)
        allowed = f"information set {number}: probabilities, sum 1"
        yield _checked_row(numbers[first:end], len(infoset.moves), allowed)
        first = end


# --- Hog ------------------------------------------------------------------------------------------


def rows_of(rules: Rules) -> ScoreRows:
    """Return the names of the rows of a game of Hog."""
    shape = rules.size, rules.size, rules.num_actions
    return ScoreRows(shape, rules.choices, rules.name)


def read_table(path: Path, rules: Rules) -> Strategy | None:
    """Read a policy of a game of Hog from a table; None of a file that holds something else."""
    names = rows_of(rules)
    where = printable(path)
    data = b"" if is_folder(path) else read_bytes(path)
    if not is_policy_csv(names, data[:_HEAD].decode("utf-8-sig", "replace")):
        return None
    with refusals_of(where, StrategyError):
        text = text_of(data)
    policy = read_policy_csv(names, text, where)
    return strategy_of_shape(names.shape, policy, where, rules.least_answer, has_scores=True)


def read_profile(path: Path, rules: Rules) -> Strategy | None:
    """Read a profile of a game of Hog; None of a file that holds something else."""
    text = profile_text(path)
    if text is None or not _OF_HOG.match(text) or _is_table(text):
        return None
    return hog_profile(text, rules, printable(path))


def _is_table(text: str) -> bool:
    """Whether a text is nested lists that are no profile: it has one list for each of two seats."""
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


def hog_profile(profile: object, rules: Rules, where: str = "strategy") -> Strategy:
    """Make a strategy of a profile of a game of Hog, or of a dict as `Strategy.to_dict` gives it.

    If the two seats play alike, it is a policy; otherwise a mixture that draws one of them.
    """
    names = rows_of(rules)
    policy_and_seat = read_policy_dict(names, profile) if isinstance(profile, Mapping) else None
    if policy_and_seat is not None:
        policy, _ = policy_and_seat
        return strategy_of_shape(names.shape, policy, where, rules.least_answer, has_scores=True)
    states = _states_of_all_scores(profile, rules)
    if states is None:
        tables = seat_tables(profile, rules, where)
    else:
        rows = [*names.listed()]
        infosets = [Infoset((row.states[seat],), row.moves) for seat in (0, 1) for row in rows]
        tables = np.reshape(profile_rows(states, infosets, where), (2, *names.shape))
    if np.array_equal(*tables):
        return Strategy.unchecked(tables[0])
    return Strategy.unchecked_mixture(tables, np.array([0.5, 0.5]))


def _states_of_all_scores(profile: object, rules: Rules) -> Mapping[str, Any] | None:
    """Return the states of a profile that has all scores, even those that no play reaches.

    None of any other profile.
    """
    if isinstance(profile, str):
        if not profile.lstrip().startswith("{"):
            return None
        try:
            profile = parse_json(profile)
        except ValueError:
            return None  # `profile_rows` parses it once more, and refuses it
    num_states = 2 * rules.size**2
    if not isinstance(profile, Mapping) or len(profile) != num_states:
        return None
    wanted = (state for row in rows_of(rules).listed() for state in row.states)
    return profile if all(state in profile for state in wanted) else None


def seat_tables(profile: object, rules: Rules, where: str) -> Floats:
    """Make the policies (2, G, G, K) of both seats from a profile of the positions of play.

    Positions that no play reaches are uniform.
    """
    if rules.size > MOST_GOAL or isinstance(rules.goal, tuple):
        raise StrategyError(
            f"{where}: is a profile of a game tree; allowed: for rules with one goal up to "
            f"{MOST_GOAL}, those of {rules.name} have {rules.goal}"
        )
    shape = rules.size, rules.size, rules.num_actions
    tables = np.full((2, *shape), 1.0 / shape[2])
    # Gambit's order: by player, then as a walk meets them, since the sort is stable.
    positions = sorted(_reached_positions(rules), key=lambda position: position[0])
    num_infosets = [0, 0]  # so far, by player
    infosets = []
    for player, own, other in positions:
        num_infosets[player] += 1
        # Names of OpenSpiel: in the game of hogeq, and in a game that it reads from an .efg file.
        state = f"player {player}: {own}-{other}"
        efg_name = f"{player}-{player}-{num_infosets[player]}-({own}, {other})"
        infosets.append(Infoset((state, efg_name), range(shape[2])))
    for position, row in zip(positions, profile_rows(profile, infosets, where), strict=True):
        tables[position] = row
    return tables


def _reached_positions(rules: Rules) -> list[tuple[int, int, int]]:
    """List the information sets that play reaches: (player, own score, opponent's score).

    The order is that in which a depth-first walk of the tree first meets them.
    """
    table = TurnTable(rules)
    stack = [(player, 0, 0, Memory()) for player in (1, 0)]
    visited: set[tuple[int, int, int, Memory]] = set()
    positions: dict[tuple[int, int, int], None] = {}  # a set in the order of discovery
    while stack:  # what is pushed last is visited first: all lists are reversed
        state = stack.pop()
        if state in visited:
            continue
        visited.add(state)
        player, own, other, memory = state
        positions[player, own, other] = None
        for choice in reversed(rules.choices):
            stack.extend(
                (player if turn.again else 1 - player, *turn.following)
                for turn in reversed(table.outcomes(own, other, memory, choice))
                if turn.landing.winner is None
            )
    return list(positions)
