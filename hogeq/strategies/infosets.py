"""What the rows and columns of strategies are called: information sets, and actions.

A strategy is an array; it refers to the names of its game, which are looked up where they are asked
for. Of Hog they follow from the shape; of other games the tree has them.
"""

import csv
import json
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
from hogeq.support.messages import (
    BadInputError,
    ExplainedError,
    not_installed,
    percent,
    refusal,
    refusals_of,
    shown,
)
from hogeq.support.text import csv_rows

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN: Final = 20  # information sets in a notebook

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
        dice = [*enumerate(self.choices)]
        return {(*at, roll): (*at, k) for at in np.ndindex(*self.shape[:2]) for k, roll in dice}

    def find(self, key: Hashable) -> NamedRow:
        """Find a pair of scores, of the player to move and of the other."""
        scores = key if isinstance(key, tuple) else ()
        known = all(isinstance(one, int | np.integer) for one in scores)
        goal = self.shape[0]
        if len(scores) != 2 or not known or not all(0 <= one < goal for one in scores):
            raise StrategyError(refusal("scores", key, f"two, own and other, 0 to {goal - 1}"))
        return self._row((int(scores[0]), int(scores[1])))

    def listed(self) -> Iterator[NamedRow]:
        """List all pairs of scores."""
        return map(self._row, np.ndindex(*self.shape[:2]))

    def _row(self, at: tuple[int, ...]) -> NamedRow:
        states = tuple(f"player {seat}: {at[0]}-{at[1]}" for seat in (0, 1))
        return NamedRow(at, at, None, self.choices, states, range(len(self.choices)))


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
    """Read a policy, not checked; actions that have no line have probability 0."""
    policy = np.full(rows.shape, np.nan)
    places = {tuple(map(str, cells)): place for cells, place in rows.places.items()}
    with refusals_of(where, StrategyError):
        _fill(policy, places, rows.columns, csv_rows(text))
    return np.nan_to_num(policy)


def _fill(
    policy: Floats,
    places: Mapping[tuple[str, ...], tuple[int, ...]],
    columns: tuple[str, ...],
    lines: Iterator[tuple[int, list[str]]],
) -> None:
    (number, header), wanted = next(lines, (1, [])), [*columns, PROBABILITY]
    if header != wanted:
        columns_at = f"line {number}: columns"
        raise BadInputError(refusal(columns_at, ",".join(header), ",".join(wanted)))
    for number, line in lines:
        where = f"line {number}"
        place = places.get(tuple(line[:-1]))
        if place is None:
            allowed = f"{', '.join(columns[:-1])} and {columns[-1]} of this game, and a probability"
            raise BadInputError(refusal(where, ",".join(line), allowed))
        if not np.isnan(policy[place]):
            raise BadInputError(f"{where}: {shown(','.join(line[:-1]))} is there twice")
        probability = float(line[-1]) if _PROBABILITY.fullmatch(line[-1]) else 2.0
        if not 0.0 <= probability <= 1.0:
            raise BadInputError(refusal(f"{where}: {PROBABILITY}", line[-1], "0 to 1"))
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
        if seat in {None, cells[0]}
    ]
    return pd.DataFrame(lines, columns=[*rows.columns, PROBABILITY])


def policy_json(rows: NamedRows, policy: Floats) -> str:
    """Write a policy as OpenSpiel's ``TabularPolicy.to_dict`` has it: of each state its actions.

    An action has its number in OpenSpiel and its probability. States of one name are refused.
    """
    lines: dict[str, str] = {}
    for row in rows.listed():
        chances = policy[row.place].tolist()
        pairs = [[int(move), chance] for move, chance in zip(row.moves, chances, strict=False)]
        for state in row.states:
            if state in lines:
                several = f"{rows.name}: several information sets are named {shown(state)}"
                raise StrategyError(f"{several}; allowed: different names, or a .csv or .npz file")
            lines[state] = f"{json.dumps(state)}: {json.dumps(pairs)}"
    return "{\n" + ",\n".join(lines.values()) + "\n}\n"


def read_policy_dict(rows: NamedRows, given: Mapping[Any, Any]) -> tuple[Floats, int | None] | None:
    """Read what `Strategy.to_dict` gives, not checked, and its seat if it has one alone.

    None of other mappings. The rows of the other seat are uniform, and not to be used.
    """
    keyed = [(row.key if row.key in given else str(row.key), row) for row in rows.listed()]
    seats = {row.seat for key, row in keyed if key in given}
    wanted = [key for key, row in keyed if row.seat in seats]
    if len({*wanted}) < len(wanted) or {*wanted} != {*given}:
        return None
    policy = np.zeros(rows.shape)
    for key, row in keyed:
        chances = given.get(key, dict.fromkeys(row.actions, 1.0 / len(row.actions)))
        if not isinstance(chances, Mapping) or {*chances} != {*row.actions}:
            return None
        in_order = [chances[name] for name in row.actions]
        try:
            numbers = [float(one) for one in in_order if isinstance(one, Real)]
        except OverflowError:  # a whole number or a fraction that no double stands for
            numbers = []
        if len(numbers) < len(row.actions):
            allowed = "probabilities of its actions"
            raise StrategyError(refusal(f"infoset {shown(key)}", dict(chances), allowed))
        policy[row.place][: len(row.actions)] = numbers
    return policy, seats.pop() if len(seats) == 1 else None


def policy_html(
    listed: Iterator[tuple[NamedRow, dict[Hashable, float]]], count: int, caption: str
) -> str:
    """Write the first of so many information sets, with their probabilities, for a notebook."""
    lines = [
        (row.key, ", ".join(f"{action} {percent(one)}" for action, one in chances.items()))
        for row, chances in islice(listed, SHOWN)
    ]
    shown = f"; {SHOWN} of {count:,} information sets" * (count > SHOWN)
    return html.table(lines, ("information set", "probabilities"), f"{caption}{shown}")
