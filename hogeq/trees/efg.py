"""The text of Gambit's extensive form, version 2: read a token at a time, every part checked.

See R. D. McKelvey, A. M. McLennan and T. L. Turocy, "Gambit: the package for computation in game
theory". A node is known by its place, and an action by its place among those of its node: names
are for people, and may be equal or missing.
"""

import operator
import re
from array import array
from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import Final, NamedTuple, NoReturn

from hogeq.support.messages import HogeqError, counted, one_line, refusal, shown
from hogeq.support.teams import Teams
from hogeq.trees.building import MOST_NODES, Node
from hogeq.trees.flat import CHANCE, TERMINAL
from hogeq.trees.teams import Sides, paid_to, sides_of

LONGEST_NUMBER: Final = 500  # most characters of a number, and its highest power of ten
MOST_BITS: Final = 4096  # of numerator and denominator of a sum
ROUNDED: Final = "numbers are rounded to the nearest float64"  # comment of a file that hogeq writes
ROUNDING: Final = Fraction(1, 10**9)  # by which the sum of decimal probabilities may miss 1
LARGEST: Final = Fraction(1e300)  # largest size of a number; 1 / LARGEST is the smallest but 0
PLAIN: Final = 900  # numbers from about 2**-900 to 2**900 are surely in range
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


class EfgReader:
    """Reads the text of a file, one token ahead; then holds the game.

    Its N nodes are in depth-first order: after each node come all that are below its first action,
    then all that are below its second.
    """

    def __init__(self, where: str, text: str) -> None:
        """Begin to read a text; `where` names the file in error messages."""
        self.where = where
        self.text = text
        self.start = self.end = 0  # of the next token in the text
        self.ahead = ""  # the next token
        self.players: list[str] = []  # their names
        self.sides: Sides | None = None  # the team of each player, if there are teams
        self.infosets: list[Infoset] = []
        self.nodes = array("i")  # (N,), index of the information set, -1 at terminal nodes
        self.depths = array("i")  # (N,), number of moves before each node
        self.ends: list[Node] = []  # the terminal nodes
        self.rows: dict[tuple[int, int], int] = {}  # index of an infoset by player and number
        self.paid: dict[int, Payoffs] = {}  # by the number of an outcome
        self.numbers: dict[str, Fraction] = {}  # by their text, each converted once
        self.total: Fraction | None = None  # sum of the payoffs at each terminal node
        self.is_rounded = False  # whether the file says that its numbers are rounded
        self._next_token()

    def read_head(self, teams: Teams) -> None:
        """Read all that comes before the nodes: the form, the title, the players, a comment."""
        for what, allowed in (("file", ("EFG",)), ("version", ("2",)), ("numbers", ("R", "D"))):
            if self.ahead not in allowed:
                self._refuse(what, " or ".join(allowed))
            self._next_token()
        self._read_text("title")
        self._read_symbol("{", "players")
        while self.ahead != "}":
            self.players.append(self._read_text("player's name"))
        if not self.players:
            self._refuse("players", "one or more")
        self._next_token()
        self.sides = sides_of(teams, len(self.players), self.where)
        if self.is_text:
            self.is_rounded = self._read_text("comment") == ROUNDED

    def read_nodes(self) -> None:
        """Read all nodes. Outcomes may stand at any node; a play is paid the sum of its own."""
        # Nodes still to come: the depth of each, and the payoffs on the way to it.
        waiting = [(0, (Fraction(),) * len(self.players))]
        while waiting:
            start = self.start
            depth, total = waiting.pop()
            row = self._read_node()
            paid = self._read_outcome()
            if paid is not None:
                total = tuple(map(operator.add, total, paid))
                if not all(map(_is_short, total)):
                    self._fail(start, f"payoffs sum to a fraction of more than {MOST_BITS} bits")
            self.nodes.append(row)
            self.depths.append(depth)
            if row >= 0:
                num_actions = len(self.infosets[row].actions)
                # Before they are listed: a short file can repeat a set of many actions.
                if len(self.nodes) + len(waiting) + num_actions > MOST_NODES:
                    raise HogeqError(f"{self.where}: has more than {MOST_NODES:,} nodes")
                waiting += [(depth + 1, total)] * num_actions
            else:
                self.ends.append(self._terminal_node(total, start))
        if self.ahead:
            self._refuse("after the last node", "the end of the file")
        self.text = ""  # to save memory

    def _terminal_node(self, paid: Payoffs, start: int) -> Node:
        """Make a terminal node of its payoffs; refuse them if they have another sum than before.

        `start` is where the node stands in the text, for the message.
        """
        if not all(map(_is_in_range, paid)):
            self._fail(start, f"payoffs add up out of range; {IN_RANGE}")
        sums = paid if self.sides is None else paid_to(paid, self.sides)
        total = sum(sums, Fraction())
        self.total = total if self.total is None else self.total
        if len(sums) == 2 and total != self.total:
            first = one_line(self.total)
            self._fail(
                start,
                f"is not zero-sum: payoffs sum to {one_line(total)}, at the first end to {first}; "
                "allowed: zero-sum and constant-sum games",
            )
        return Node(TERMINAL, payoffs=paid)

    # --- nodes ------------------------------------------------------------------------------------

    def _read_node(self) -> int:
        """Read a node up to its outcome; return the index of its information set.

        At a terminal node that is -1.
        """
        kind = self.ahead
        if kind not in ("c", "p", "t"):
            self._refuse("node", "c, p or t")
        self._next_token()
        self._read_text("name of a node")
        if kind == "t":
            return -1
        player = CHANCE
        if kind == "p":
            player = self._read_whole_number("player", 1, len(self.players)) - 1
        return self._read_infoset(player)

    def _read_infoset(self, player: int) -> int:
        """Read the information set of a node of a player, or the event of chance; return its index.

        It lists its actions at its first node; other nodes may repeat them and its name.
        """
        start = self.start
        number = self._read_whole_number("information set", 0)
        name = self._read_text("name") if self.is_text else ""
        listed = self._read_actions(chance=player == CHANCE) if self.ahead == "{" else None
        row = self.rows.setdefault((player, number), len(self.infosets))
        who = "chance" if player == CHANCE else f"player {player + 1}"
        what = f"information set {number} of {who}"
        if row == len(self.infosets):  # a new one
            if listed is None:
                self._refuse(f"{what}, its first node", "a list of actions, { ... }", at=start)
            self.infosets.append(Infoset(player, number, name, *listed))
            return row
        known = self.infosets[row]
        if listed is not None and listed != (known.actions, known.chances):
            known_actions = _actions_text(known.actions, known.chances)
            allowed = f"those of its first node, {known_actions}"
            self._refuse(f"{what}, its actions", allowed, _actions_text(*listed), start)
        if name and known.name not in ("", name):
            allowed = f"that of its first node, {shown(known.name)}"
            self._refuse(f"{what}, its name", allowed, name, start)
        if name and not known.name:
            self.infosets[row] = known._replace(name=name)
        return row

    def _read_actions(self, *, chance: bool) -> tuple[tuple[str, ...], tuple[Fraction, ...]]:
        """Read a list of actions: their labels, and probabilities if they are of chance."""
        labels: list[str] = []
        texts: list[str] = []  # of the probabilities
        chances: list[Fraction] = []
        start = self.start
        self._next_token()
        while self.ahead != "}":
            labels.append(self._read_text("action's name"))
            if chance:
                texts.append(self.ahead)
                chances.append(self._read_number("probability"))
                if not 0 <= chances[-1] <= 1:
                    self._refuse("probability", "0 to 1", texts[-1])
        if not labels:
            self._refuse("actions", "one or more")
        self._next_token()
        if not chance:
            return tuple(labels), ()
        return tuple(labels), self._scaled_chances(chances, texts, start)

    def _scaled_chances(
        self, chances: Sequence[Fraction], texts: Sequence[str], start: int
    ) -> tuple[Fraction, ...]:
        """Divide probabilities by their sum; refuse them if that is another number than 1.

        `texts` are those of the probabilities: decimals may miss the sum by rounding. `start` is
        where they stand in the file, for the message.
        """
        total = Fraction()
        for chance in chances:
            total += chance
            if not _is_short(total):
                self._refuse("sum of probabilities", f"a fraction of {MOST_BITS} bits", at=start)
        has_decimals = not all(text.isdecimal() or "/" in text for text in texts)
        if abs(total - 1) > (ROUNDING if has_decimals else 0):
            allowed = "1, which decimals may miss by 1e-9" if has_decimals else "1"
            self._refuse("sum of probabilities", allowed, str(total), start)
        return tuple(chance / total for chance in chances)

    def _read_outcome(self) -> Payoffs | None:
        """Read the outcome of a node and return its payoffs, None without an outcome, 0.

        An outcome lists its payoffs at its first node; other nodes may repeat them.
        """
        start = self.start
        number = self._read_whole_number("outcome", 0)
        if self.is_text:
            self._read_text("outcome's name")
        payoffs = self._read_payoffs() if self.ahead == "{" else None
        what = f"outcome {number}"
        if not number:
            if payoffs is not None and any(payoffs):
                self._refuse("payoffs of outcome 0", "none", at=start)
            return None
        if payoffs is None and number not in self.paid:
            self._refuse(f"{what}, its first node", "a list of payoffs, { ... }", at=start)
        known = self.paid.setdefault(number, payoffs or ())
        if payoffs not in (None, known):
            self._refuse(f"{what}, its payoffs", "those of its first node", at=start)
        return known

    def _read_payoffs(self) -> Payoffs:
        """Read the payoffs of an outcome; between two of them a comma may stand."""
        self._next_token()
        payoffs = []
        for player in range(len(self.players)):
            if player and self.ahead == ",":
                self._next_token()
            payoffs.append(self._read_number(f"payoff to player {player + 1}"))
        self._read_symbol("}", f"end of {counted(len(payoffs), 'payoff')}")
        return tuple(payoffs)

    # --- tokens -----------------------------------------------------------------------------------

    @property
    def is_text(self) -> bool:
        """Whether the next token is a text in quotes."""
        return self.ahead.startswith('"')

    def _next_token(self) -> str:
        """Go to the next token, "" at the end of the file; return the token before it."""
        token = self.ahead
        match = _TOKEN.match(self.text, self.end)
        if match is None:  # a quote that is not closed: all other texts begin with a token
            self.start = self.text.index('"', self.end)
            self._refuse(
                "quoted text", "a quote at its end", self.text[self.start : self.start + 100]
            )
        self.ahead = match[1]
        self.start = match.start(1)
        self.end = match.end()
        return token

    def _read_text(self, what: str) -> str:
        """Read a text in quotes, `what` it is for the message; backslashes escape quotes in it."""
        if not self.is_text:
            self._refuse(what, 'text in quotes, "..."')
        text = self._next_token()[1:-1]
        return _ESCAPED.sub(r"\1", text) if "\\" in text else text

    def _read_symbol(self, symbol: str, what: str) -> None:
        """Read a brace."""
        if self.ahead != symbol:
            self._refuse(what, symbol)
        self._next_token()

    def _read_whole_number(self, what: str, least: int, most: int = 10**18 - 1) -> int:
        """Read a whole number between two limits; `what` it is for the message."""
        number = int(self.ahead) if _WHOLE.fullmatch(self.ahead) else -1
        if not least <= number <= most:
            self._refuse(what, f"whole numbers from {least} to {most}")
        self._next_token()
        return number

    def _read_number(self, what: str) -> Fraction:
        """Read a whole number, a fraction or a decimal; `what` it is for the message."""
        number = self.numbers.get(self.ahead)
        if number is None:
            try:
                number = self.numbers[self.ahead] = fraction_of_text(self.ahead)
            except ValueError as error:
                self._refuse(what, str(error))
        self._next_token()
        return number

    def _refuse(
        self, what: str, allowed: str, given: str | None = None, at: int | None = None
    ) -> NoReturn:
        """Refuse the file for a token, the next one by default."""
        start = self.start if at is None else at
        if given is None:
            given = _TOKEN.match(self.text, start)[1]  # type: ignore[index]
        self._fail(start, refusal(what, given, allowed))

    def _fail(self, start: int, why: str) -> NoReturn:
        """Refuse the file at a place in the text."""
        line = self.text.count("\n", 0, start) + 1
        raise HogeqError(f"{self.where}: line {line}: {why}")


def _actions_text(actions: Sequence[str], chances: Sequence[Fraction]) -> str:
    """Write the actions of an information set, with probabilities if any, for a message."""
    pairs = zip_longest(actions, chances, fillvalue="")
    return one_line(", ".join(f"{action} {chance}".rstrip() for action, chance in pairs))


def _is_short(number: Fraction) -> bool:
    """Whether a fraction has at most `MOST_BITS` bits, so that sums do not take long."""
    return max(number.numerator.bit_length(), number.denominator.bit_length()) <= MOST_BITS


def fraction_of_text(text: str) -> Fraction:
    """Read a whole number, a fraction or a decimal; `ValueError` says what is allowed."""
    if len(text) > LONGEST_NUMBER:
        raise HogeqError(f"numbers of at most {LONGEST_NUMBER} characters")
    match = _NUMBER.fullmatch(text)
    if match is None or int(match[1] or 0) > LONGEST_NUMBER:  # group 1 is the power of ten
        raise HogeqError("a number: 2, -1/3 or 0.5e-3 say")
    number = Fraction(text)
    if not _is_in_range(number):
        raise HogeqError(IN_RANGE.removeprefix("allowed: "))
    return number


def _is_in_range(number: Fraction) -> bool:
    """Whether a number is 0, or its size is from 1 / `LARGEST` to `LARGEST`."""
    size = number.numerator.bit_length() - number.denominator.bit_length()
    if abs(size) < PLAIN:  # nearly all: it takes long to compare fractions
        return True
    return not number or 1 / LARGEST <= abs(number) <= LARGEST
