"""Rows of a strategy of a game other than Hog: the information sets of both seats."""

from collections import defaultdict
from collections.abc import Container, Hashable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import chain, count
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.strategies.arrays import StrategyError, as_array
from hogeq.strategies.infosets import Cells, NamedRow
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError, nearest_word, printable, refusal, shown
from hogeq.support.workers import memory

MOST_CELLS: Final = 2**28  # of a table by rows and actions, each of which takes 8 bytes
NARROW: Final = 2**22  # cells of a table that every machine has room for
TABLE_BYTES: Final = 80  # of a cell in all tables of that size at a time: checks, passes, responses
ROW_SUM: Final = 1e-9  # by which the sum of a row, or of a node of chance, may differ from 1


def is_too_wide(rows: int, actions: int) -> bool:
    """Whether a table has too many cells: a row has as many of them as the widest one."""
    cells = rows * actions
    return cells > MOST_CELLS or (cells > NARROW and cells > memory() // TABLE_BYTES)


def require_cells(where: str, what: str, rows: int, actions: int) -> None:
    """Refuse a table of too many cells, before memory is asked for."""
    if is_too_wide(rows, actions):
        allowed = f"allowed: a product of {min(MOST_CELLS, memory() // TABLE_BYTES):,}"
        raise HogeqError(f"{where}: {rows:,} {what}, and one has {actions:,} actions; {allowed}")


class Rows:
    """A game whose strategies have a row for every information set, R of them, of K actions.

    A strategy covers the information sets of both seats: float64 (R, K), rows of player 0 first.
    Where a row has fewer than K actions, the others have probability 0.
    """

    name: str
    seat: NDArray[np.int8]  # (R,), whose row it is
    num_legal: Ints  # (R,)
    names: Sequence[Any]  # (R,), what the player knows there, in the game's words

    columns: Final = ("player", "infoset", "action")  # of a table of a policy
    has_scores = False  # its rows are information sets with names

    def digest(self) -> str:
        """Hash of all but the name, in any process; hexadecimal."""
        raise NotImplementedError

    @property
    def num_rows(self) -> int:
        """Number of information sets of both players, R."""
        return len(self.seat)

    @cached_property
    def num_actions(self) -> int:
        """Most actions of an information set, K."""
        return int(self.num_legal.max(initial=1))

    @cached_property
    def legal(self) -> NDArray[np.bool_]:
        """Legal actions of each row, (R, K)."""
        return np.arange(self.shape[1]) < self.num_legal[:, None]

    @cached_property
    def labels(self) -> list[list[str]]:
        """Names of each row's actions."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a policy, (R, K); `HogeqError` if that has too many cells."""
        require_cells(self.name, "information sets", self.num_rows, self.num_actions)
        return self.num_rows, self.num_actions

    @property
    def member(self) -> NDArray[np.signedinteger[Any]]:
        """Player of each row in the game as it was given, (R,): of a team the member."""
        return self.seat

    @property
    def state_names(self) -> Sequence[Any]:
        """What OpenSpiel calls the state of each row, (R,)."""
        return self.names

    def numbers_of_moves(self, row: int) -> list[int]:
        """Give the numbers of a row's actions in the game that the tree was made of."""
        return [*range(int(self.num_legal[row]))]

    # --- names ------------------------------------------------------------------------------------

    @cached_property
    def keys(self) -> list[Hashable]:
        """Key of each row, (R,), no two equal.

        They are the names if no two rows share one, else all are (player, name), or else all are
        ((player, name), row).
        """
        with_player: list[Hashable] = [*zip(self.seat.tolist(), self.names, strict=True)]
        for keys in ([*self.names], with_player):
            if len({*keys}) == len(keys):
                return keys
        return [(key, row) for row, key in enumerate(with_player)]

    @cached_property
    def _rows_by_name(self) -> dict[Hashable, list[int]]:
        """Map every name that a user may ask for to the rows that have it.

        A name is accepted as it is or as text, with the player or without; an entry of `keys` means
        its own row alone.
        """
        rows_by_name: dict[Hashable, list[int]] = {}
        for row, (seat, name) in enumerate(zip(self.seat.tolist(), self.names, strict=True)):
            for key in {self.keys[row], name, str(name), (seat, name), (seat, str(name))}:
                rows_by_name.setdefault(key, []).append(row)
        return rows_by_name | {key: [row] for row, key in enumerate(self.keys)}

    @cached_property
    def _states_of_rows(self) -> list[str]:
        """Names of OpenSpiel; with their player where both have one."""
        states = [*map(str, self.state_names)]
        if len({*states}) == len(states):
            return states
        pairs = zip(self.seat.tolist(), states, strict=True)
        return [f"player {seat}: {state}" for seat, state in pairs]

    def find(self, key: Hashable) -> NamedRow:
        """Find an information set by its name, or by its player and name.

        Raises `StrategyError` if there is none, or if several have this name.
        """
        try:
            rows = self._rows_by_name.get(key, [])
        except TypeError:  # the key cannot be hashed
            rows = []
        if len(rows) == 1:
            return self.at(rows[0])
        if rows:
            keys = " or ".join(shown(self.keys[row]) for row in rows[:2])
            raise StrategyError(refusal("infoset", key, f"{keys}, which both have this name"))
        example = f"{shown(self.keys[0])} say" if self.keys else "none: nobody decides"
        word = nearest_word(str(key), map(str, self.names))
        near = "" if word is None else f"; nearest: {shown(word)}"  # quoted: it may end in a space
        message = refusal("infoset", key, f"one of this game, {example}")
        raise StrategyError(f"{message}{near}; game.rows.names lists them")

    def listed(self) -> Iterator[NamedRow]:
        """List the information sets, those of player 0 first."""
        return map(self.at, range(self.num_rows))

    def at(self, row: int) -> NamedRow:
        """Collect the names of a row: its key, player, actions and OpenSpiel's state."""
        return NamedRow(
            key=self.keys[row],
            place=(row,),
            seat=int(self.seat[row]),
            actions=distinct_texts(self.labels[row]),
            states=(self._states_of_rows[row],),
            moves=self.numbers_of_moves(row),
        )

    @cached_property
    def places(self) -> dict[Cells, tuple[int, ...]]:
        """Row and column in a policy of each action, by player, information set and action name.

        Actions that print alike get a number: ``fold``, ``fold (2)``.
        """
        names = [printable(name) for name in self.names]
        place_of_action: dict[Cells, tuple[int, ...]] = {}
        used_words: defaultdict[tuple[int, str], set[str]] = defaultdict(set)  # by player and name
        for row, (seat, name) in enumerate(zip(self.seat.tolist(), names, strict=True)):
            for column, label in enumerate(self.labels[row]):
                word = _unused(printable(label), used_words[seat, name])
                used_words[seat, name].add(word)
                place_of_action[seat, name, word] = (row, column)
        return place_of_action

    @cached_property
    def rows_sha256(self) -> bytes:
        """Hash of the players, names and actions of all rows: what a strategy is made for."""
        digest = sha256(np.asarray(self.member, "<i4").tobytes())
        for name, labels in zip(self.names, self.labels, strict=True):
            digest.update("\0".join([*map(printable, (name, *labels)), "\0"]).encode())
        return digest.digest()

    # --- arrays -----------------------------------------------------------------------------------

    def uniform(self) -> Floats:
        """Strategy that plays every legal action alike, (R, K)."""
        return self.legal / self.num_legal[:, None]

    def check_strategy(self, given: ArrayLike, name: str = "strategy") -> Floats:
        """Check that an array, (R, K), holds probabilities of legal actions; return float64.

        Rows must sum to 1 within `ROW_SUM`; they are scaled to sum to 1 if rounding of doubles does
        not explain the difference. `name` begins the messages. Raises `HogeqError`.
        """
        numbers = as_array(given, name)
        shape = self.num_rows, self.num_actions
        if numbers.dtype.kind not in "iuf":
            raise HogeqError(f"{name}: holds {numbers.dtype} values; allowed: float64 numbers")
        if numbers.shape != shape:
            raise HogeqError(f"{name}: has shape {numbers.shape}; allowed: {shape}")
        rows = numbers.astype(np.float64)
        is_wrong = ~(np.isfinite(rows) & (rows >= 0.0)) | ((rows > 0.0) & ~self.legal)
        sums = rows.sum(axis=1)
        wrong_rows = np.flatnonzero(is_wrong.any(axis=1) | (np.abs(sums - 1.0) > ROW_SUM))
        if len(wrong_rows):
            row = wrong_rows[0]
            raise HogeqError(
                f"{name}: information set {row} ({printable(self.names[row])}): allowed:"
                " probabilities of legal actions that sum to 1"
            )
        is_rounding = np.abs(sums - 1.0) <= np.finfo(float).eps * self.num_legal
        return rows / np.where(is_rounding, 1.0, sums)[:, None]


def distinct_texts(labels: Sequence[str]) -> list[str]:
    """Make labels differ: the second ``fold`` becomes ``fold (2)``, and so on."""
    distinct: dict[str, None] = {}  # an ordered set
    for label in labels:
        distinct[_unused(label, distinct)] = None
    return [*distinct]


def _unused(word: str, used_words: Container[str]) -> str:
    """Return a word, with the first number from 2 on that makes it differ from those used."""
    numbered = (f"{word} ({number})" for number in count(2))
    return next(choice for choice in chain([word], numbered) if choice not in used_words)
