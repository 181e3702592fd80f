"""What the rows and columns of strategies are called: information sets, and actions.

A strategy is an array; it refers to the names of its game, which are looked up where they are asked
for. Of Hog they follow from the shape; of other games the tree has them.
"""

import csv
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import islice
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from hogeq.strategies.arrays import StrategyError
from hogeq.support import html
from hogeq.support.aliases import Floats
from hogeq.support.files import json_lines
from hogeq.support.messages import (
    ExplainedError,
    HogeqError,
    not_installed,
    percent,
    refusal,
    refusals_of,
    shown,
)
from hogeq.support.text import csv_rows

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN: Final = 20  # most information sets that a notebook is shown

PROBABILITY: Final = "probability"  # the last column of a table
_PROBABILITY: Final = re.compile(
    r"\s*[+-]?(\d{1,9}\.?\d{0,400}|\.\d{1,400})(e[+-]?\d{1,3})?\s*", re.IGNORECASE | re.ASCII
)

Cells: TypeAlias = tuple[int | str, ...]
"""Of a line of a table: what names an information set, and the action."""


class NamedRow(NamedTuple):
    """An information set."""

    key: Hashable  # as `strategy[key]` asks for it
    place: tuple[int, ...]  # its place in an array, (row,) or (score, opponent)
    seat: int | None  # whose it is; None if of both
    actions: Sequence[Hashable]  # names, in the order of the array
    states: tuple[str, ...]  # what OpenSpiel calls it, of each seat that has it
    moves: Sequence[int]  # OpenSpiel's numbers of the actions


class NamedRows(Protocol):
    """The names of a game's information sets and actions."""

    @property
    def name(self) -> str:
        """What the game is called."""

    @property
    def rows_sha256(self) -> bytes | None:
        """Hash of all names, for which a strategy is made; of Hog None.

        Games of Hog that have one shape exchange their tables.
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a policy."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings of a table, without that of the probabilities."""

    @property
    def places(self) -> Mapping[Cells, tuple[int, ...]]:
        """Place in a policy of each line of a table."""

    def find(self, key: Hashable) -> NamedRow:
        """Find an information set; `StrategyError` if there is none."""

    def listed(self) -> Iterator[NamedRow]:
        """List the information sets."""


@dataclass(frozen=True)
class ScoreRows:
    """The names in Hog: both scores, and numbers of dice."""

    shape: tuple[int, ...]  # (G, G, K)
    choices: tuple[int, ...]  # dice of each action
    name: str = "Hog"

    columns = "score", "opponent", "dice"
    rows_sha256: ClassVar[None] = None  # games of one shape exchange their tables

    @cached_property
    def places(self) -> dict[Cells, tuple[int, ...]]:
        """Place in a policy of each line of a table."""
        pairs = np.ndindex(*self.shape[:2])
        actions = [*enumerate(self.choices)]
        return {(*pair, dice): (*pair, action) for pair in pairs for action, dice in actions}

    def find(self, key: Hashable) -> NamedRow:
        """Find a pair of scores below the goal, of the player to move and of the other."""
        scores = key if isinstance(key, tuple) else ()
        are_numbers = all(isinstance(score, int | np.integer) for score in scores)
        goal = self.shape[0]
        is_pair = len(scores) == 2 and are_numbers
        if not is_pair or not all(0 <= score < goal for score in scores):
            raise StrategyError(refusal("scores", key, f"two, own and other, 0 to {goal - 1}"))
        return self._row((int(scores[0]), int(scores[1])))

    def listed(self) -> Iterator[NamedRow]:
        """List all pairs of scores."""
        return map(self._row, np.ndindex(*self.shape[:2]))

    def _row(self, scores: tuple[int, ...]) -> NamedRow:
        """Return the names of a pair of scores, which is its place in arrays, too."""
        states = tuple(f"player {seat}: {scores[0]}-{scores[1]}" for seat in (0, 1))
        return NamedRow(scores, scores, None, self.choices, states, range(len(self.choices)))


def policy_csv(rows: NamedRows, policy: Floats) -> str:
    """Write a policy as a table: one line for each action of each information set."""
    text = StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow((*rows.columns, PROBABILITY))
    for cells, place in rows.places.items():
        lines.writerow((*cells, repr(float(policy[place]))))
    return text.getvalue()


def is_policy_csv(rows: NamedRows, text: str) -> bool:
    """Whether a text begins as `policy_csv` writes it."""
    return text.startswith(",".join((*rows.columns, PROBABILITY)))


def read_policy_csv(rows: NamedRows, text: str, where: str) -> Floats:
    """Read a policy as `policy_csv` writes it; actions that have no line have probability 0.

    It is not checked that rows sum to 1. `where` begins messages.
    """
    policy = np.full(rows.shape, np.nan)  # NaN: no line yet
    places = {tuple(map(str, cells)): place for cells, place in rows.places.items()}
    with refusals_of(where, StrategyError):
        _fill_policy(policy, places, rows.columns, csv_rows(text))
    return np.nan_to_num(policy)


def _fill_policy(
    policy: Floats,
    places: Mapping[tuple[str, ...], tuple[int, ...]],
    columns: tuple[str, ...],
    lines: Iterator[tuple[int, list[str]]],
) -> None:
    """Write the probabilities of the lines of a table into `policy`, whose entries are NaN.

    Parameters
    ----------
    policy : float64 array
        Changed in place.
    places : mapping
        Index of an entry of `policy` by the cells of its line, but for the probability.
    columns : tuple of str
        Titles of those cells.
    lines : iterator of (int, list of str)
        Number and cells of each line, the titles first.
    """
    number, header = next(lines, (1, []))
    titles = [*columns, PROBABILITY]
    if header != titles:
        line_columns = f"line {number}: columns"
        raise HogeqError(refusal(line_columns, ",".join(header), ",".join(titles)))
    for number, line in lines:
        where = f"line {number}"
        place = places.get(tuple(line[:-1]))
        if place is None:
            allowed = f"{', '.join(columns[:-1])} and {columns[-1]} of this game, and a probability"
            raise HogeqError(refusal(where, ",".join(line), allowed))
        if not np.isnan(policy[place]):
            raise HogeqError(f"{where}: {shown(','.join(line[:-1]))} is there twice")
        # What is no number becomes 2, which is refused.
        probability = float(line[-1]) if _PROBABILITY.fullmatch(line[-1]) else 2.0
        if not 0.0 <= probability <= 1.0:
            raise HogeqError(refusal(f"{where}: {PROBABILITY}", line[-1], "0 to 1"))
        policy[place] = probability


def policy_frame(rows: NamedRows, policy: Floats, seat: int | None = None) -> "DataFrame":
    """Put a policy, or its rows of one seat, into a pandas frame, as `policy_csv` writes it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ExplainedError(not_installed("pandas", "to_frame", "pandas")) from error
    lines = [
        (*cells, float(policy[place]))
        for cells, place in rows.places.items()
        if seat in {None, cells[0]}  # the first cell names the player, if a seat does
    ]
    return pd.DataFrame(lines, columns=[*rows.columns, PROBABILITY])


def policy_json(rows: NamedRows, policy: Floats) -> str:
    """Write a policy as JSON, in the form of OpenSpiel's ``TabularPolicy.to_dict``.

    By the name of a state, that is a list of pairs: number of an action, probability. Two states of
    one name raise `StrategyError`.
    """
    pairs_by_state: dict[str, list[list[float]]] = {}
    for row in rows.listed():
        chances = policy[row.place].tolist()
        pairs = [[int(move), chance] for move, chance in zip(row.moves, chances, strict=False)]
        for state in row.states:
            if state in pairs_by_state:
                fault = f"{rows.name}: several information sets are named {shown(state)}"
                raise StrategyError(f"{fault}; allowed: different names, or a .csv or .npz file")
            pairs_by_state[state] = pairs
    return json_lines(pairs_by_state)


def read_policy_dict(rows: NamedRows, given: Mapping[Any, Any]) -> tuple[Floats, int | None] | None:
    """Read a mapping of `Strategy.to_dict`, by information set and action; None of any other.

    Returns the policy, not checked, and the seat that it plays if it plays one alone. Then the rows
    of the other seat are uniform, and mean nothing.
    """
    # JSON turns keys into texts.
    keyed_rows = [(row.key if row.key in given else str(row.key), row) for row in rows.listed()]
    seats = {row.seat for key, row in keyed_rows if key in given}
    wanted_keys = [key for key, row in keyed_rows if row.seat in seats]
    is_each_once = len({*wanted_keys}) == len(wanted_keys)
    if not is_each_once or {*wanted_keys} != {*given}:
        return None
    policy = np.zeros(rows.shape)
    for key, row in keyed_rows:
        uniform = dict.fromkeys(row.actions, 1.0 / len(row.actions))
        chances = given.get(key, uniform)
        if not isinstance(chances, Mapping) or {*chances} != {*row.actions}:
            return None
        in_order = [chances[name] for name in row.actions]
        try:
            numbers = [float(chance) for chance in in_order if isinstance(chance, Real)]
        except OverflowError:  # a whole number or a fraction too large for float64
            numbers = []
        if len(numbers) < len(row.actions):
            allowed = "probabilities of its actions"
            raise StrategyError(refusal(f"infoset {shown(key)}", dict(chances), allowed))
        policy[row.place][: len(row.actions)] = numbers
    return policy, seats.pop() if len(seats) == 1 else None


def policy_html(
    listed: Iterator[tuple[NamedRow, dict[Hashable, float]]], count: int, caption: str
) -> str:
    """Write a table in HTML of information sets and their probabilities, for a notebook.

    `listed` yields `count` of them; the table has the first `SHOWN`.
    """
    lines = []
    for row, chances in islice(listed, SHOWN):
        texts = [f"{action} {percent(chance)}" for action, chance in chances.items()]
        lines.append((row.key, ", ".join(texts)))
    if count > SHOWN:
        caption = f"{caption}; {SHOWN} of {count:,} information sets"
    return html.table(lines, ("information set", "probabilities"), caption)
