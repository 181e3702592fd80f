"""The result of a tournament: a field in order of rank, as plain values, text and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from hogeq.contest.entries import Entries, identical_entries, short_names
from hogeq.contest.tournament import (
    WIN,
    field_equilibrium,
    lowest_win_rates,
    mean_win_rates,
    rank,
)
from hogeq.support.aliases import Floats
from hogeq.support.files import csv_text
from hogeq.support.messages import Table, Text, one_line, percent, printable

MOST_NAMED: Final = 8  # entries of a mixture that are named one by one

WIDEST: Final = 100  # characters of a line of ranks in a terminal

_LEAST_SHOWN: Final = 8  # characters of a name there

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

_IN_TEXT: Final = (
    *("name", "goal", "rank", "wins", "ties", "tie_break", "mean_win_rate", "nash"),
    *("lowest_win_rate", "lowest_against", "file"),
)
"""Keys of the columns in a terminal, in their order there."""


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


def named_ranking(found: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """Ranking of a tournament with names in place of indices."""
    return [
        {**line, "name": names[line["index"]], "lowest_against": names[line["lowest_against"]]}
        for line in found["ranking"]
    ]


def _cell(value: Any, kind: str, key: str) -> object:
    if kind == "share":
        return percent(value) if value or key != "nash" else "-"
    return f"{value:,.0f}" if kind == "number" else value


@dataclass(frozen=True)
class Ranking:
    """A field with all win rates, ranked."""

    field: Entries
    rates: Floats
    """(n, n), row against column."""
    start: tuple[int, int] = (0, 0)
    threshold: float = WIN
    goals: list[int] | None = None
    """Of each entry, if each has its own."""
    tie_break: str | None = None
    """Strategy, or ``bytes``, by which equals are told apart."""
    broken: list[float] | None = None
    """Number of each entry by it, the higher first."""
    public: list[str] | None = None
    """Names for everybody in place of the entries' own, and of their files."""

    @property
    def names(self) -> list[str]:
        """Names of the entries, printable; those for everybody, if there are any."""
        return self.public or [printable(name) for name in self.field.names]

    @cached_property
    def _data(self) -> dict[str, Any]:
        means, lowest = mean_win_rates(self.rates), lowest_win_rates(self.rates)
        files, names, broken = short_names(self.field.entries), self.field.names, self.broken
        weights, gap = field_equilibrium(self.rates)
        ranking = [
            {
                "rank": one.rank,
                "name": names[one.entry],
                "file": files[one.entry],
                "entry": self.field.entries[one.entry],
                "index": one.entry,
                **({} if self.goals is None else {"goal": self.goals[one.entry]}),
                "wins": one.wins,
                "ties": one.ties,
                **({} if broken is None else {"tie_break": self._told(broken[one.entry])}),
                "mean_win_rate": means[one.entry],
                "nash": float(weights[one.entry]),
                "lowest_win_rate": lowest[one.entry][0],
                "lowest_against": lowest[one.entry][1],
            }
            for one in rank(self.rates, self.threshold, broken)
        ]
        return {
            "start": list(self.start),
            "threshold": self.threshold,
            "entries": self.field.entries,
            "win_rates": self.rates.tolist(),
            "ranking": ranking,
            "nash_gap": gap,
            "identical": identical_entries(self.field.strategies),
            "namesakes": self.field.namesakes,
            "refused": [one._asdict() for one in self.field.refused],
            "remarks": [one._asdict() for one in self.field.remarks],
            **({} if self.tie_break is None else {"tie_break": self.tie_break}),
        }

    def _told(self, number: float) -> float:
        """Give what ties are broken by: bytes, of which fewer are better, or a win rate."""
        return int(-number) if self.tie_break == "bytes" else number

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values.

        ``start``, ``threshold``, ``tie_break``, ``entries``, ``win_rates`` (row against column),
        ``ranking`` (a line for each entry, best first: rank, name, file, entry, index, wins, ties,
        tie_break, mean_win_rate, nash, lowest_win_rate, lowest_against, an index), ``nash_gap``,
        ``identical`` and ``namesakes`` (groups of indices), ``refused`` (entry, reason),
        ``remarks`` (entry, remark: files that an entry's code reads, and its vain attempts).
        """
        return self._data

    def text(self, title: str, remarks: Text) -> Text:
        """Lay out remarks on entries, those given, the equilibrium, and last the ranks."""
        found, names = self._data, self.names
        ranking = named_ranking(found, names)
        mixed = sorted(ranking, key=lambda line: -line["nash"])
        shares = [f"{percent(one['nash'])} {one['name']}" for one in mixed if one["nash"] > 0.0]
        more = f", and {len(shares) - MOST_NAMED} more" if len(shares) > MOST_NAMED else ""
        begins = ", from {}:{}".format(*self.start) if any(self.start) else ""
        matches = f"{len(names) - 1} {'match' if len(names) == 2 else 'matches'}"
        text: Text = [f"{title}, {len(names)} strategies, {matches} each{begins}"]
        for heading, lines in (
            (
                "the same strategy",
                [" = ".join(names[one] for one in same) for same in found["identical"]],
            ),
            (
                "the same name",
                [" and ".join(names[one] for one in same) for same in found["namesakes"]],
            ),
            ("left out", self.field.left_out),
            ("remark", [f"{one.entry}: {one.remark}" for one in self.field.remarks]),
        ):
            if lines:
                text += ["", *(f"{heading}: {line}" for line in lines)]
        nash = f"no entry beats the mixture (Nash): {', '.join(shares[:MOST_NAMED])}{more}"
        return [*text, *([""] if remarks else []), *remarks, "", nash, "", self._table(ranking)]

    def _table(self, ranking: Sequence[Mapping[str, Any]]) -> Table:
        """Lay out the ranks, names cut so that a line has at most `WIDEST` characters."""
        columns = columns_of(ranking, self.tie_break)
        columns.sort(key=lambda column: _IN_TEXT.index(column[2]))
        if any(key == "file" for *_, key in columns):  # which need not be in brackets too
            given = self.field.player_names
            ranking = [{**line, "name": given[line["index"]] or line["name"]} for line in ranking]
        rows = [
            [printable(_cell(line[key], kind, key)) for _, kind, key in columns] for line in ranking
        ]
        header = [title for title, *_ in columns]
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        texts = [place for place, (_, kind, _) in enumerate(columns) if kind == "text"]
        excess = sum(widths) + 2 * (len(widths) - 1) - WIDEST
        for _ in range(max(0, excess)):
            # The rival first, whom the table names elsewhere; then the widest.
            rival = next(n for n, (*_, key) in enumerate(columns) if key == "lowest_against")
            widest = max(texts, key=widths.__getitem__)
            widths[rival if widths[rival] > _LEAST_SHOWN else widest] -= 1
        cut = [
            [one_line(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows
        ]
        return Table(cut, header)

    def ranks_csv(self) -> str:
        """Write the ranks as a table with a header."""
        lines = named_ranking(self._data, self.names)
        if self.public is not None:
            lines = [{**line, "file": ""} for line in lines]
        header = [key for key in lines[0] if key not in {"entry", "index"}]
        return csv_text(header, ([line[key] for key in header] for line in lines))

    def rates_csv(self) -> str:
        """Write all win rates as a table with a header."""
        entries = self.field.entries
        rows = zip(entries, self.rates.tolist(), strict=True)
        return csv_text(["strategy", *entries], ([entry, *row] for entry, row in rows))
