"""Games in Gambit's extensive form, version 2, read from ``.efg`` files.

See R. D. McKelvey, A. M. McLennan and T. L. Turocy, "Gambit: the package for computation in game
theory". :mod:`hogeq.trees.tree` writes such files. Here a node is known by its place, and an action
by its place among those of its node: names are for people, and may be equal or missing.
"""

import operator
import os
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from hogeq.support.files import read_whole
from hogeq.support.messages import counted, one_line, printable, refusal, shown, unreadable
from hogeq.trees.flat import (
    CHANCE,
    MOST_NODES,
    TERMINAL,
    FlatTree,
    Forget,
    Node,
    flatten,
)
from hogeq.trees.forgetting import coarser
from hogeq.trees.teams import Known, Sides, Teams, sides_of, summed

MOST_BYTES: Final = 2**28  # of a file
LONGEST_NUMBER: Final = 500  # characters, and highest power of ten
MOST_BITS: Final = 4096  # of numerator and denominator of a sum
ROUNDING: Final = Fraction(1, 10**9)  # by which the sum of decimal probabilities may miss 1
LARGEST: Final = Fraction(10) ** 300  # number, and 1 / LARGEST is the smallest other than 0
IN_RANGE: Final = "allowed: 0, or sizes from 1e-300 to 1e300"

# A quoted text, a brace, a comma, a word, or the end. White space is that of C, as in Gambit.
_TOKEN: Final = re.compile(r'\s*+("(?:[^"\\]++|\\.)*+"|[{},]|[^\s"{},]++|\Z)', re.ASCII | re.DOTALL)
_ESCAPED: Final = re.compile(r'\\([\\"])')
_WHOLE: Final = re.compile(r"\d{1,18}", re.ASCII)
_NUMBER: Final = re.compile(
    r"[+-]?(?:\d+/0*[1-9]\d*|(?:\d+\.?\d*|\.\d+)(?:e[+-]?(\d+))?)", re.ASCII | re.IGNORECASE
)

Payoffs = tuple[Fraction, ...]


class Infoset(NamedTuple):
    """An information set of a player, or an event of chance."""

    player: int  # from 0, or `CHANCE`
    number: int
    name: str
    actions: tuple[str, ...]  # their labels
    chances: tuple[Fraction, ...]  # probabilities of chance's actions, sum 1; () of a player's


class Outcome(NamedTuple):
    """Payoffs that a node may have; those on the way to an end are added up."""

    number: int
    name: str
    payoffs: Payoffs


@dataclass(frozen=True, eq=False, repr=False)
class ExtensiveForm:
    """Contents of a file: a game of any number of players, zero-sum or not.

    Its N nodes come as a walk through the tree meets them: after each node, all that is below its
    first action, then all that is below its second.
    """

    where: str  # the file, as messages name it
    title: str
    comment: str
    players: tuple[str, ...]
    infosets: Sequence[Infoset]
    outcomes: Sequence[Outcome]  # the first is none, and pays nothing
    infoset: Sequence[int]  # (N,), index of the information set, -1 at ends
    outcome: Sequence[int]  # (N,), index of the outcome
    line: Sequence[int]  # (N,), where in the file the node stands

    @cached_property
    def sizes(self) -> Sequence[int]:
        """Number of nodes from each node on, (N,)."""
        sizes = array("i", [1]) * len(self.infoset)
        for node in range(len(sizes) - 1, -1, -1):
            row, after = self.infoset[node], node + 1
            for _ in self.infosets[row].actions if row >= 0 else ():
                after += sizes[after]
            sizes[node] = after - node
        return sizes

    @cached_property
    def labels(self) -> list[list[str]]:
        """Labels of the actions of each information set, no two of a set alike."""
        return [_distinct(dict(enumerate(one.actions, 1))) for one in self.infosets]

    def totals(self) -> Iterator[Payoffs]:
        """Give the payoffs up to each node, its own included; `ValueError` if they take long."""
        waiting = [self.outcomes[0].payoffs]
        for row, outcome, line in zip(self.infoset, self.outcome, self.line, strict=True):
            total = waiting.pop()
            if outcome:
                total = tuple(map(operator.add, total, self.outcomes[outcome].payoffs))
                if not all(map(_is_short, total)):
                    raise ValueError(
                        f"{self.where}: line {line}: payoffs sum to a fraction of more than "
                        f"{MOST_BITS} bits"
                    )
            if row >= 0:
                waiting += [total] * len(self.infosets[row].actions)
            yield total

    def child(self, node: int, place: int) -> int:
        """Give the node to which an action leads."""
        after = node + 1
        for _ in range(place):
            after += self.sizes[after]
        return after


def from_efg(
    path: str | os.PathLike[str], *, forget: str | Forget | None = None, teams: Teams = None
) -> FlatTree:
    """Read a game of one player, or a constant-sum game of two players or teams."""
    path = Path(path)
    return _flat(read_efg(path), printable(path.name), forget, teams)


def read_efg(path: str | os.PathLike[str]) -> ExtensiveForm:
    """Read a file; `ValueError` says in one line where it is wrong, and how."""
    path = Path(path)
    try:
        text = read_whole(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{printable(path)}: byte {error.start} is not text; allowed: text as UTF-8"
        ) from None
    except (OSError, ValueError) as error:
        raise ValueError(unreadable(path, error)) from None
    return _Reader(printable(path), text).form()


class _Reader:
    """Reads the text of a file, one token ahead."""

    def __init__(self, where: str, text: str) -> None:
        self.where, self.text = where, text
        self.start = self.end = 0  # of the next token
        self.ahead = ""
        self.players: list[str] = []
        self.infosets: list[Infoset] = []
        self.outcomes: list[Outcome] = []
        self.rows: dict[tuple[int, int], int] = {}  # player and number: index
        self.paid: dict[int, int] = {}
        self.numbers: dict[str, Fraction] = {}
        self.step()

    def form(self) -> ExtensiveForm:
        """Read the whole file."""
        for what, allowed in (("file", ("EFG",)), ("version", ("2",)), ("numbers", ("R", "D"))):
            if self.ahead not in allowed:
                self.refuse(what, " or ".join(allowed))
            self.step()
        title = self.quoted("title")
        self.symbol("{", "players")
        while self.ahead != "}":
            self.players.append(self.quoted("player's name"))
        if not self.players:
            self.refuse("players", "one or more")
        self.step()
        comment = self.quoted("comment") if self.is_quoted else ""
        self.outcomes.append(Outcome(0, "", (Fraction(),) * len(self.players)))
        infoset, outcome, line = (array("i") for _ in range(3))
        missing, counted_to, lines = 1, 0, 1
        while missing:
            if len(infoset) == MOST_NODES:
                raise ValueError(f"{self.where}: has more than {MOST_NODES:,} nodes")
            lines += self.text.count("\n", counted_to, self.start)
            counted_to = self.start
            line.append(lines)
            infoset.append(self.node())
            outcome.append(self.payment())
            missing += len(self.infosets[infoset[-1]].actions) - 1 if infoset[-1] >= 0 else -1
        if self.ahead:
            self.refuse("after the last node", "the end of the file")
        return ExtensiveForm(
            where=self.where,
            title=title,
            comment=comment,
            players=tuple(self.players),
            infosets=self.infosets,
            outcomes=self.outcomes,
            infoset=infoset,
            outcome=outcome,
            line=line,
        )

    # --- nodes ------------------------------------------------------------------------------------

    def node(self) -> int:
        """Read a node up to its outcome; give the index of its information set, -1 at an end."""
        kind = self.ahead
        if kind not in ("c", "p", "t"):
            self.refuse("node", "c, p or t")
        self.step()
        self.quoted("name of a node")
        if kind == "t":
            return -1
        player = CHANCE if kind == "c" else self.whole("player", 1, len(self.players)) - 1
        start = self.start
        number = self.whole("information set", 0)
        name = self.quoted("name") if self.is_quoted else ""
        listed = self.actions(chance=kind == "c") if self.ahead == "{" else None
        row = self.rows.setdefault((player, number), len(self.infosets))
        who = "chance" if kind == "c" else f"player {player + 1}"
        what = f"information set {number} of {who}"
        if row == len(self.infosets):
            if listed is None:
                self.refuse(f"{what}, its first node", "a list of actions, { ... }", at=start)
            self.infosets.append(Infoset(player, number, name, *listed))
            return row
        known = self.infosets[row]
        if listed is not None and listed != (known.actions, known.chances):
            allowed = f"those of its first node, {_listed(known.actions, known.chances)}"
            self.refuse(f"{what}, its actions", allowed, _listed(*listed), start)
        if name and known.name not in ("", name):
            allowed = f"that of its first node, {shown(known.name)}"
            self.refuse(f"{what}, its name", allowed, name, start)
        if name and not known.name:
            self.infosets[row] = known._replace(name=name)
        return row

    def actions(self, *, chance: bool) -> tuple[tuple[str, ...], tuple[Fraction, ...]]:
        """Read a list of actions, with probabilities if they are of chance."""
        labels: list[str] = []
        written: list[str] = []
        chances: list[Fraction] = []
        start = self.start
        self.step()
        while self.ahead != "}":
            labels.append(self.quoted("action's name"))
            if chance:
                written.append(self.ahead)
                chances.append(self.number("probability"))
                if not 0 <= chances[-1] <= 1:
                    self.refuse("probability", "0 to 1", written[-1])
        if not labels:
            self.refuse("actions", "one or more")
        self.step()
        if not chance:
            return tuple(labels), ()
        total = Fraction()
        for one in chances:
            total += one
            if not _is_short(total):
                self.refuse("sum of probabilities", f"a fraction of {MOST_BITS} bits", at=start)
        rounded = not all(one.isdecimal() or "/" in one for one in written)
        if abs(total - 1) > (ROUNDING if rounded else 0):
            allowed = "1, which decimals may miss by 1e-9" if rounded else "1"
            self.refuse("sum of probabilities", allowed, str(total), start)
        return tuple(labels), tuple(one / total for one in chances)

    def payment(self) -> int:
        """Read the outcome of a node; give its index."""
        start = self.start
        number = self.whole("outcome", 0)
        name = self.quoted("outcome's name") if self.is_quoted else ""
        payoffs = self.payoffs() if self.ahead == "{" else None
        what = f"outcome {number}"
        if not number:
            if payoffs is not None and any(payoffs):
                self.refuse("payoffs of outcome 0", "none", at=start)
            return 0
        index = self.paid.get(number)
        if index is None:
            if payoffs is None:
                self.refuse(f"{what}, its first node", "a list of payoffs, { ... }", at=start)
            index = self.paid[number] = len(self.outcomes)
            self.outcomes.append(Outcome(number, name, payoffs))
        elif payoffs not in (None, self.outcomes[index].payoffs):
            self.refuse(f"{what}, its payoffs", "those of its first node", at=start)
        return index

    def payoffs(self) -> Payoffs:
        """Read the payoffs of an outcome; between two of them a comma may stand."""
        self.step()
        payoffs = []
        for player in range(len(self.players)):
            if player and self.ahead == ",":
                self.step()
            payoffs.append(self.number(f"payoff to player {player + 1}"))
        self.symbol("}", f"end of {counted(len(payoffs), 'payoff')}")
        return tuple(payoffs)

    # --- tokens -----------------------------------------------------------------------------------

    @property
    def is_quoted(self) -> bool:
        """Whether the next token is a text in quotes."""
        return self.ahead.startswith('"')

    def step(self) -> str:
        """Go to the next token, "" at the end of the file; give the one before."""
        before, found = self.ahead, _TOKEN.match(self.text, self.end)
        if found is None:
            self.start = self.text.index('"', self.end)  # all else is a token
            self.refuse(
                "quoted text", "a quote at its end", self.text[self.start : self.start + 100]
            )
        self.ahead, self.start, self.end = found[1], found.start(1), found.end()
        return before

    def quoted(self, what: str) -> str:
        """Read a text in quotes; a backslash is before a quote or another backslash in it."""
        if not self.is_quoted:
            self.refuse(what, 'text in quotes, "..."')
        text = self.step()[1:-1]
        return _ESCAPED.sub(r"\1", text) if "\\" in text else text

    def symbol(self, symbol: str, what: str) -> None:
        """Read a brace."""
        if self.ahead != symbol:
            self.refuse(what, symbol)
        self.step()

    def whole(self, what: str, least: int, most: int = 10**18 - 1) -> int:
        """Read a whole number."""
        number = int(self.ahead) if _WHOLE.fullmatch(self.ahead) else -1
        if not least <= number <= most:
            self.refuse(what, f"whole numbers from {least} to {most}")
        self.step()
        return number

    def number(self, what: str) -> Fraction:
        """Read a whole number, a fraction or a decimal."""
        number = self.numbers.get(self.ahead)
        if number is None:
            if len(self.ahead) > LONGEST_NUMBER:
                self.refuse(what, f"numbers of at most {LONGEST_NUMBER} characters")
            found = _NUMBER.fullmatch(self.ahead)
            if found is None or int(found[1] or 0) > LONGEST_NUMBER:
                self.refuse(what, "a number: 2, -1/3 or 0.5e-3 say")
            number = self.numbers[self.ahead] = Fraction(self.ahead)
            if not _is_in_range(number):
                self.refuse(what, IN_RANGE.removeprefix("allowed: "))
        self.step()
        return number

    def refuse(
        self, what: str, allowed: str, given: str | None = None, at: int | None = None
    ) -> NoReturn:
        """Refuse the file for a token, the next one by default."""
        start = self.start if at is None else at
        if given is None:
            given = _TOKEN.match(self.text, start)[1]  # type: ignore[index]
        raise ValueError(refusal(f"{self.where}: line {self.line(start)}: {what}", given, allowed))

    def line(self, start: int) -> int:
        """Give the number of the line of a place in the text."""
        return self.text.count("\n", 0, start) + 1


# --- the flat tree --------------------------------------------------------------------------------


def _flat(form: ExtensiveForm, name: str, forget: str | Forget | None, teams: Teams) -> FlatTree:
    """Lay out a game of one player, or a constant-sum game of two players or teams."""
    sides = sides_of(teams, len(form.players), form.where)
    rows, names, numbers = form.infosets, _names(form.infosets), _numbers(form.infosets)
    keys: list[Any] = [f"{one.player}-{one.player}-{one.number}-{one.name}" for one in rows]
    called = dict(zip(keys, names, strict=True))
    if callable(forget):
        keys = [forget(one.player, name) for one, name in zip(rows, names, strict=True)]
    inner = []
    for one, key, moves in zip(rows, keys, numbers, strict=True):
        chances: Sequence[Fraction | float] = one.chances or [1.0] * len(moves)
        after = [(move, chance, None) for move, chance in zip(moves, chances, strict=True)]
        inner.append(Node(one.player, key, moves=after))
    nodes = zip(form.infoset, _ends(form, sides), strict=True)

    def look(_: None) -> Node:
        row, end = next(nodes)  # the tree is laid out in the order of the file
        return inner[row] if end is None else end

    count = len(form.infoset)
    tree = flatten(name, None, look, partial(_words, form, numbers), deepest=count, sides=sides)
    if callable(forget):
        return tree
    states = tree.names
    if sides is not None:
        states, called = (
            [name.state for name in states],
            {key: Known(row.player, called[key]) for key, row in zip(keys, rows, strict=True)},
        )
    tree = replace(tree, names=[called[state] for state in states], states=states)
    return coarser(tree, forget)


def _ends(form: ExtensiveForm, sides: Sides | None) -> list[Node | None]:
    """Give the ends of a game, and None for each node before; refuse payoffs of no constant sum."""
    ends: list[Node | None] = []
    first: Fraction | None = None
    for row, line, paid in zip(form.infoset, form.line, form.totals(), strict=True):
        if row >= 0:
            ends.append(None)
            continue
        where = f"{form.where}: line {line}"
        if not all(map(_is_in_range, paid)):
            raise ValueError(f"{where}: payoffs add up out of range; {IN_RANGE}")
        sums = paid if sides is None else summed(paid, sides)
        total = sums[0] + sums[-1]
        first = total if first is None else first
        if len(sums) == 2 and total != first:
            raise ValueError(
                f"{where}: is not zero-sum: payoffs sum to {one_line(total)}, at the first end to "
                f"{one_line(first)}; allowed: zero-sum and constant-sum games"
            )
        ends.append(Node(TERMINAL, payoffs=tuple(map(float, paid))))
    return ends


def _numbers(infosets: Iterable[Infoset]) -> list[list[int]]:
    """Give moves numbers by their labels, as OpenSpiel does; equal ones at a node have others."""
    known: tuple[dict[tuple[str, int], int], ...] = {}, {}  # of players, of chance
    numbers: list[list[int]] = []
    for one in infosets:
        met: Counter[str] = Counter()
        table = known[one.player == CHANCE]
        numbers.append([])
        for label in one.actions:
            numbers[-1].append(table.setdefault((label, met[label]), len(table)))
            met[label] += 1
    return numbers


def _names(infosets: Sequence[Infoset]) -> list[str]:
    """Name the information sets, no two of a player alike."""
    names = [""] * len(infosets)
    for player in {one.player for one in infosets}:
        rows = [row for row, one in enumerate(infosets) if one.player == player]
        labels = {infosets[row].number: infosets[row].name for row in rows}
        for row, name in zip(rows, _distinct(labels), strict=True):
            names[row] = name
    return names


def _distinct(labels: Mapping[int, str]) -> list[str]:
    """Write labels; where one is missing, or not the only one of its kind, with its number."""
    words = [printable(label) for label in labels.values()]
    numbered = [f"{word} ({number})".lstrip() for number, word in zip(labels, words, strict=True)]
    often, taken = Counter(words), set(numbered)
    return [
        word if word and often[word] == 1 and word not in taken else other
        for word, other in zip(words, numbered, strict=True)
    ]


def _words(form: ExtensiveForm, numbers: list[list[int]], moves: Sequence[int]) -> list[str]:
    """Write the moves of a history in the words of the file."""
    node, words = 0, []
    for move in moves:
        row = form.infoset[node]
        place = numbers[row].index(move)
        words.append(form.labels[row][place])
        node = form.child(node, place)
    return words


def _listed(actions: Sequence[str], chances: Sequence[Fraction]) -> str:
    """Write the actions of an information set for a message."""
    both = zip_longest(actions, chances, fillvalue="")
    return one_line(", ".join(f"{action} {chance}".rstrip() for action, chance in both))


def _is_short(number: Fraction) -> bool:
    """Whether sums of such numbers take no long time."""
    return max(number.numerator.bit_length(), number.denominator.bit_length()) <= MOST_BITS


def _is_in_range(number: Fraction) -> bool:
    return not number or 1 / LARGEST <= abs(number) <= LARGEST
