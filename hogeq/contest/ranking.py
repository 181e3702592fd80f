"""The result of a tournament: a field in order of rank, as plain values, text and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from hogeq import WinRates
from hogeq.contest.entries import Entries, identical_entries, short_names
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
    """Write a cell of a column of `_COLUMNS`; a weight of 0 is a dash."""
    if kind == "number":
        return f"{value:,.0f}"
    if kind == "text":
        return value
    return "-" if key == "nash" and not value else percent(value)


@dataclass(frozen=True)
class Ranking:
    """A field with all win rates, ranked."""

    field: Entries
    rates: WinRates
    start: tuple[int, int] = (0, 0)
    threshold: float = WinRates.WIN
    goals: list[int] | None = None  # of each entry, if each has its own
    tie_break: str | None = None  # strategy, or "bytes", by which equals are told apart
    broken: list[float] | None = None  # number of each entry by it, the higher first
    public: list[str] | None = None  # names for everybody, in place of the entries' own

    @property
    def names(self) -> list[str]:
        """Names of the entries, printable; those for everybody, if there are any."""
        return self.public or [printable(name) for name in self.field.names]

    @cached_property
    def _data(self) -> dict[str, Any]:
        means = self.rates.means()
        lowest = self.rates.lowest()
        files = short_names(self.field.entries)
        names = self.field.names
        weights, gap = self.rates.equilibrium()
        ranking = []
        for index, place, wins, ties in self.rates.ranks(self.threshold, self.broken):
            line: dict[str, Any] = {
                "rank": place,
                "name": names[index],
                "file": files[index],
                "entry": self.field.entries[index],
                "index": index,
            }
            if self.goals is not None:
                line["goal"] = self.goals[index]
            line |= {"wins": wins, "ties": ties}
            if self.broken is not None:
                number = self.broken[index]
                # Fewer bytes are better: they have a minus there.
                line["tie_break"] = int(-number) if self.tie_break == "bytes" else number
            line |= {
                "mean_win_rate": means[index],
                "nash": float(weights[index]),
                "lowest_win_rate": lowest[index][0],
                "lowest_against": lowest[index][1],
            }
            ranking.append(line)
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
        names = self.names
        start = ", from {}:{}".format(*self.start) if any(self.start) else ""
        matches = f"{len(names) - 1} {'match' if len(names) == 2 else 'matches'}"
        text: Text = [f"{title}, {len(names)} strategies, {matches} each{start}"]
        identical, namesakes = (
            [link.join(names[index] for index in group) for group in self._data[key]]
            for key, link in (("identical", " = "), ("namesakes", " and "))
        )
        for heading, lines in (
            ("the same strategy", identical),
            ("the same name", namesakes),
            ("left out", self.field.left_out),
            ("remark", [f"{entry}: {remark}" for entry, remark in self.field.remarks]),
        ):
            if lines:
                text += ["", *(f"{heading}: {line}" for line in lines)]
        if remarks:
            text += ["", *remarks]
        ranking = named_ranking(self._data, names)
        mixture = [line for line in ranking if line["nash"] > 0.0]
        mixture.sort(key=lambda line: -line["nash"])
        shares = [f"{percent(line['nash'])} {line['name']}" for line in mixture]
        more = f", and {len(shares) - MOST_NAMED} more" if len(shares) > MOST_NAMED else ""
        nash = f"no entry beats the mixture (Nash): {', '.join(shares[:MOST_NAMED])}{more}"
        return [*text, "", nash, "", self._table(ranking)]

    def _table(self, ranking: Sequence[Mapping[str, Any]]) -> Table:
        """Lay out the ranks, names cut so that a line has at most `WIDEST` characters."""
        columns = columns_of(ranking, self.tie_break)
        columns.sort(key=lambda column: _IN_TEXT.index(column[2]))
        header = [title for title, _, _ in columns]
        kinds = [kind for _, kind, _ in columns]
        keys = [key for _, _, key in columns]
        if "file" in keys:  # which need not be in brackets too
            players = self.field.player_names
            ranking = [{**line, "name": players[line["index"]] or line["name"]} for line in ranking]
        rows = [
            [printable(_cell(line[key], kind, key)) for _, kind, key in columns] for line in ranking
        ]
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        texts = [column for column, kind in enumerate(kinds) if kind == "text"]
        rival = keys.index("lowest_against")
        excess = sum(widths) + 2 * (len(widths) - 1) - WIDEST
        for _ in range(excess):
            # The rival first, whom the table names elsewhere; then the widest.
            widest = max(texts, key=widths.__getitem__)
            widths[rival if widths[rival] > _LEAST_SHOWN else widest] -= 1
        return Table([list(map(one_line, row, widths)) for row in rows], header)

    def ranks_csv(self) -> str:
        """Write the ranks as a table with a header."""
        ranking = named_ranking(self._data, self.names)
        if self.public is not None:
            ranking = [{**line, "file": ""} for line in ranking]
        header = [key for key in ranking[0] if key not in {"entry", "index"}]
        return csv_text(header, ([line[key] for key in header] for line in ranking))

    def rates_csv(self) -> str:
        """Write all win rates as a table with a header."""
        entries = self.field.entries
        rows = zip(entries, self.rates.tolist(), strict=True)
        return csv_text(["strategy", *entries], ([entry, *row] for entry, row in rows))
