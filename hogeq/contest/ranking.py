"""The result of a tournament: a field in order of rank, as plain values, text and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hogeq import WinRates
from hogeq.contest.entries import Entries, identical_entries, short_names
from hogeq.support.files import csv_text
from hogeq.support.messages import Table, Text, as_dicts, one_line, percent, printable

MOST_NAMED: Final = 8  # most entries of a mixture that are named one by one
WIDEST: Final = 100  # most characters of a line of ranks in a terminal
_LEAST_SHOWN: Final = 8  # characters of a name there that are never cut

_COLUMNS: Final = (
    ("rank", "number", "rank"),
    ("strategy", "text", "name"),
    ("file", "text", "file"),
    ("goal", "number", "goal"),
    ("won", "number", "wins"),
    ("tied", "number", "ties"),
    ("tie-break", "share", "tie_break"),
    ("mean win rate", "share", "mean_win_rate"),
    ("Nash", "share", "nash"),
    ("lowest", "share", "lowest_win_rate"),
    ("against", "text", "lowest_against"),
)
"""Columns of a table of ranks: title, kind of its cells, key of `Ranked.cells`."""

_IN_TEXT: Final = (
    *("name", "goal", "rank", "wins", "ties", "tie_break", "mean_win_rate", "nash"),
    *("lowest_win_rate", "lowest_against", "file"),
)
"""Keys of the columns in a terminal, in their order there."""


@dataclass(frozen=True)
class Ranked:
    """An entry in its place."""

    rank: int
    name: str
    file: str
    entry: str
    index: int  # in the field
    goal: int | None  # if each entry has its own
    wins: int
    ties: int
    tie_break: float | None  # if equals are told apart
    mean_win_rate: float
    nash: float  # weight in the equilibrium
    lowest_win_rate: float
    lowest_against: int  # index

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without those that there are none of."""
        return {key: value for key, value in vars(self).items() if value is not None}

    def cells(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the values that tables show, by key: the entry and its rival by their `names`."""
        rival = names[self.lowest_against]
        return {**self.to_json(), "name": names[self.index], "lowest_against": rival}


def columns_of(
    ranking: Sequence[Mapping[str, Any]], tie_break: str | None
) -> list[tuple[str, str, str]]:
    """List the columns that a ranking fills: title, kind and key of each."""
    empty = {"goal", "tie_break"}.difference(ranking[0])
    if all(line["name"] == printable(line["file"]) for line in ranking):
        empty.add("file")
    return [
        (title, "number" if key == "tie_break" and tie_break == "bytes" else kind, key)
        for title, kind, key in _COLUMNS
        if key not in empty
    ]


def _cell(value: Any, kind: str, key: str) -> object:
    """Write a cell of a column of `_COLUMNS`; a weight of 0 is a dash."""
    if kind == "number":
        return f"{value:,.0f}"
    if kind == "text":
        return value
    return "-" if key == "nash" and not value else percent(value)


class Ranking(NamedTuple):
    """A field in order of rank, with all win rates."""

    field: Entries
    start: tuple[int, int]
    threshold: float
    win_rates: Sequence[Sequence[float]]  # row against column
    ranking: Sequence[Ranked]  # the best first
    nash_gap: float
    identical: Sequence[Sequence[int]]  # groups of indices
    tie_break: str | None  # strategy, or "bytes", by which equals are told apart
    left_out: int = 0  # entries that a page counts and does not name

    @classmethod
    def of(
        cls,
        field: Entries,
        rates: WinRates,
        start: tuple[int, int],
        threshold: float,
        goals: Sequence[int] | None,
        tie_break: str | None,
        tie_numbers: Sequence[float] | None,
    ) -> "Ranking":
        """Rank a field by all its win rates.

        `goals` has the goal of each entry, if each has its own, and `tie_numbers` a number, if
        there is a tie-break: of equals the one with the higher number ranks first.
        """
        means = rates.means()
        lowest = rates.lowest()  # win rate and rival of each
        files = short_names(field.entries)
        names = field.names
        weights, gap = rates.equilibrium()
        shown_numbers = tie_numbers
        if tie_break == "bytes" and tie_numbers is not None:
            # The smaller file ranks first, so the numbers are those of bytes with a minus sign.
            shown_numbers = [int(-number) for number in tie_numbers]
        ranking = [
            Ranked(
                rank=place,
                name=names[index],
                file=files[index],
                entry=field.entries[index],
                index=index,
                goal=None if goals is None else goals[index],
                wins=wins,
                ties=ties,
                tie_break=None if shown_numbers is None else shown_numbers[index],
                mean_win_rate=means[index],
                nash=float(weights[index]),
                lowest_win_rate=lowest[index][0],
                lowest_against=lowest[index][1],
            )
            for index, place, wins, ties in rates.ranks(threshold, tie_numbers)
        ]
        identical = identical_entries(field.strategies)
        return cls(field, start, threshold, rates.tolist(), ranking, gap, identical, tie_break)

    @property
    def names(self) -> list[str]:
        """Names of the entries, printable."""
        return [printable(name) for name in self.field.names]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values.

        ``start``, ``threshold``, ``tie_break``, ``entries``, ``win_rates`` (row against column),
        ``ranking`` (a line for each entry, best first: rank, name, file, entry, index, wins, ties,
        tie_break, mean_win_rate, nash, lowest_win_rate, lowest_against, an index), ``nash_gap``,
        ``identical`` and ``namesakes`` (groups of indices), ``refused`` (entry, reason),
        ``remarks`` (entry, remark: files that an entry's code reads, and its vain attempts).
        """
        values = {
            "start": self.start,
            "threshold": self.threshold,
            "entries": self.field.entries,
            "win_rates": self.win_rates,
            "ranking": [line.to_json() for line in self.ranking],
            "nash_gap": self.nash_gap,
            "identical": self.identical,
            "namesakes": self.field.namesakes,
            "refused": as_dicts(self.field.refused),
            "remarks": as_dicts(self.field.remarks),
        }
        return values if self.tie_break is None else {**values, "tie_break": self.tie_break}

    def cells(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the values that tables show of each entry, the best first."""
        return [line.cells(names) for line in self.ranking]

    def text(self, title: str, remarks: Text) -> Text:
        """Lay out remarks on entries, then those given, the equilibrium and last the ranks."""
        names = self.names
        start = ", from {}:{}".format(*self.start) if any(self.start) else ""
        matches = f"{len(names) - 1} {'match' if len(names) == 2 else 'matches'}"
        text: Text = [f"{title}, {len(names)} strategies, {matches} each{start}"]
        identical = [[names[index] for index in group] for group in self.identical]
        namesakes = [[names[index] for index in group] for group in self.field.namesakes]
        for heading, lines in (
            ("the same strategy", [" = ".join(group) for group in identical]),
            ("the same name", [" and ".join(group) for group in namesakes]),
            ("left out", self.field.left_out),
            ("remark", [f"{entry}: {remark}" for entry, remark in self.field.remarks]),
        ):
            if lines:
                text += ["", *(f"{heading}: {line}" for line in lines)]
        if remarks:
            text += ["", *remarks]
        mixture = [line for line in self.ranking if line.nash > 0.0]
        mixture.sort(key=lambda line: -line.nash)
        shares = [f"{percent(line.nash)} {names[line.index]}" for line in mixture]
        more = f", and {len(shares) - MOST_NAMED} more" if len(shares) > MOST_NAMED else ""
        nash = f"no entry beats the mixture (Nash): {', '.join(shares[:MOST_NAMED])}{more}"
        return [*text, "", nash, "", self._table(self.cells(names))]

    def _table(self, ranking: Sequence[Mapping[str, Any]]) -> Table:
        """Lay out the ranks, names cut so that a line has at most `WIDEST` characters."""
        columns = columns_of(ranking, self.tie_break)
        columns.sort(key=lambda column: _IN_TEXT.index(column[2]))
        header = [title for title, _, _ in columns]
        kinds = [kind for _, kind, _ in columns]
        keys = [key for _, _, key in columns]
        if "file" in keys:  # then a name without its file in brackets will do
            players = self.field.player_names
            ranking = [{**line, "name": players[line["index"]] or line["name"]} for line in ranking]
        rows = [
            [printable(_cell(line[key], kind, key)) for _, kind, key in columns] for line in ranking
        ]
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        text_columns = [column for column, kind in enumerate(kinds) if kind == "text"]
        rival_column = keys.index("lowest_against")
        excess = sum(widths) + 2 * (len(widths) - 1) - WIDEST  # two spaces between columns
        for _ in range(excess):
            # The rival is cut first, as the table names it elsewhere; then the widest text.
            is_rival_long = widths[rival_column] > _LEAST_SHOWN
            widest_column = max(text_columns, key=widths.__getitem__)
            widths[rival_column if is_rival_long else widest_column] -= 1
        return Table([list(map(one_line, row, widths)) for row in rows], header)

    def ranks_csv(self, pseudonyms: Sequence[str] | None = None) -> str:
        """Write the ranks as a table with a header; with pseudonyms it does not name files."""
        ranking = self.cells(pseudonyms or self.names)
        if pseudonyms is not None:
            ranking = [{**line, "file": ""} for line in ranking]
        header = [key for key in ranking[0] if key not in {"entry", "index"}]
        return csv_text(header, ([line[key] for key in header] for line in ranking))

    def rates_csv(self) -> str:
        """Write all win rates as a table with a header."""
        entries = self.field.entries
        rows = zip(entries, self.win_rates, strict=True)
        return csv_text(["strategy", *entries], ([entry, *row] for entry, row in rows))
