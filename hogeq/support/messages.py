"""Text for people: messages of one line, numbers, and tables.

A message says where, what was given, what is allowed, and the nearest known name. Probabilities are
in per cent, differences of them in percentage points, pp, so that 52.44 % is 0.24 pp more than
52.20 %. What is not nothing is never shown as if it were: a probability of 1e-9 reads "<0.01 %",
and one that falls short of certainty by as much ">99.99 %".
"""

import difflib
import os
import reprlib
import sysconfig
import traceback
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, cast

MOST: Final = 200  # most characters of what a message quotes
LONGEST_NAME: Final = 64  # most characters of a player's name
LONGEST_TITLE: Final = 200  # most characters of what a game or an entrant is called
LIKE: Final = 0.6  # least similarity, from 0 to 1, of a word that a message suggests
LONGEST_WORD: Final = 100
"""Most characters of a word that is compared with known ones, all of which are shorter."""

_PACKAGE: Final = Path(__file__).parents[1]
"""The folder of hogeq's own code."""


class Refusal(str):
    """A message that a value is not allowed, and its parts."""

    __slots__ = ("allowed", "got", "where")

    where: str
    got: object
    allowed: str

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Send the text alone to another process: what was given may be anything."""
        return str, (str(self),)


class HogeqError(ValueError):
    """What hogeq refuses: input that cannot be used. The message is one line.

    Examples
    --------
    >>> import hogeq
    >>> try:
    ...     hogeq.Game("su20").solve("cfr_plsu", iterations=10)
    ... except hogeq.HogeqError as error:
    ...     error.where, error.got
    ('solver', 'cfr_plsu')
    """

    @property
    def where(self) -> str:
        """What was given wrongly: a parameter, a key, a file and its line; empty if it is clear."""
        return self._parts[0]

    @property
    def got(self) -> object:
        """What was given, or a text about it."""
        return self._parts[1]

    @property
    def allowed(self) -> str:
        """What is allowed there; empty if the message does not say it."""
        return self._parts[2]

    @property
    def _parts(self) -> tuple[str, object, str]:
        """Where, what was given, and what is allowed: from a `Refusal`, or read from the text."""
        message = self.args[0] if self.args else ""
        if isinstance(message, Refusal):
            return message.where, message.got, message.allowed
        # Other messages read "where: got what; allowed: this; nearest: that", or leave parts out.
        problem, _, allowed = str(message).partition("; allowed: ")
        where, _, got = problem.partition(": got " if ": got " in problem else ": ")
        return where, got, allowed.partition("; nearest: ")[0]


@contextmanager
def refusals_of(where: str, kind: type[HogeqError] = HogeqError) -> Iterator[None]:
    """Put a name, of a file say, before the refusals of a block, and give them one class."""
    try:
        yield
    except HogeqError as error:
        raise kind(f"{where}: {error}") from error


class ExplainedError(RuntimeError):
    """A failure that is not the user's, and that its line explains."""


class _Shown(reprlib.Repr):
    """Writes values in a bounded time, by a few of their parts."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = 60

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002 - reprlib's signature
        # Python writes thousands of digits slowly, and more than 4300 not at all.
        return f"<whole number of {x.bit_length()} bits>" if x.bit_length() > 200 else repr(x)

    def repr_Fraction(self, x: Fraction, level: int) -> str:  # noqa: N802 - reprlib's name
        below = "" if x.denominator == 1 else f"/{self.repr_int(x.denominator, level)}"
        return f"{self.repr_int(x.numerator, level)}{below}"

    def repr_bytes(self, x: bytes, level: int) -> str:
        return self.repr_str(cast("Any", x), level)  # cut before it is written

    def repr_instance(self, x: object, level: int) -> str:
        if isinstance(x, Collection):
            return f"<{type(x).__name__} of {len(x)}>"
        return super().repr_instance(x, level)


_SHOWN: Final = _Shown()


def printable(text: object) -> str:
    """Escape, visibly, all that could forge a line: controls, breaks, marks of direction, bytes."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(text))


def one_line(what: object, most: int = MOST) -> str:
    """Write a text or an error as one printable line of at most `most` characters."""
    try:
        text = " ".join(str(what).split())
    except Exception:  # noqa: BLE001 - a user's class of errors may fail to be written
        text = ""
    if not text and isinstance(what, BaseException):
        text = type(what).__name__
    return _shorten(text, most)


def shown(value: object) -> str:
    """Write a value as a message repeats it: as Python would in ASCII, but short."""
    text = " ".join(_SHOWN.repr(value).splitlines())
    return _shorten(text.encode("ascii", "backslashreplace").decode(), MOST)


def is_title(text: str) -> bool:
    """Whether a text is printable, not blank, and short enough for a title."""
    return text.isprintable() and not text.isspace() and 0 < len(text) <= LONGEST_TITLE


def unreadable(path: Path, error: Exception) -> str:
    """Write that a file cannot be read, and why."""
    reason = getattr(error, "strerror", None) or error
    return f"{printable(path)}: cannot be read: {one_line(reason)}"


def raised(error: Exception) -> str:
    """Write an exception of a user's code: its class, its message and the line that raised it."""
    kind = type(error).__name__
    text = one_line(error)  # the class's name if there is no message
    description = kind if text == kind else f"{kind}: {text}"
    return f"{description}{_user_line(error)}"


def _user_line(error: Exception) -> str:
    """Name in brackets the innermost line of a traceback that is of the user's code.

    Lines of hogeq and of installed packages say nothing about the code at fault. Empty if there is
    no other.
    """
    installed = [sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")]
    skipped_folders = tuple(f"{folder}{os.sep}" for folder in (_PACKAGE, *installed))
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):  # the innermost last
        file = frame.f_code.co_filename
        function = frame.f_code.co_name
        if file.endswith(".py") and not file.startswith(skipped_folders):
            inside = "" if function == "<module>" else f", in {one_line(function, LONGEST_WORD)}"
            place = f" ({one_line(Path(file).name, LONGEST_WORD)}, line {line}{inside})"
    return place


def nearest(given: object, known: Iterable[str]) -> str:
    """End a message with the known word most similar to the one given; empty if none is similar."""
    word = nearest_word(given, known)
    return "" if word is None else f"; nearest: {word}"


def nearest_word(given: object, known: Iterable[str]) -> str | None:
    """Find the known word most similar to the one given; None if none is similar.

    Letters of both cases are alike. A plus sign stands for "_plus" if that makes a known word:
    "CFR+" is cfr_plus.
    """
    if not isinstance(given, str | list):
        return None
    by_lower_case = {name.lower(): name for name in sorted(known)}
    word = given[:LONGEST_WORD] if isinstance(given, str) else shown(given)
    spelled_out = word.lower().replace("+", "_plus")
    if spelled_out in by_lower_case:
        return by_lower_case[spelled_out]
    matches = difflib.get_close_matches(word.lower(), by_lower_case, n=1, cutoff=LIKE)
    return by_lower_case[matches[0]] if matches else None


def refusal(path: str, given: object, allowed: str, choices: Iterable[str] = ()) -> str:
    """Write that a value is not allowed, and the nearest of `choices`.

    `path` names the parameter, key or file. The text is a `Refusal`, which keeps its parts.
    """
    where = f"{path}: " if path else ""
    text = f"{where}got {shown(given)}; allowed: {allowed}{nearest(given, choices)}"
    message = Refusal(text)
    message.where = path
    message.got = given
    message.allowed = allowed
    return message


def unknown_key(path: str, key: object, given: object, known: Iterable[str]) -> str:
    """Write that a key of the mapping at `path` is not known; `given` is its value."""
    word = key if isinstance(key, str) else shown(key)
    where = one_line(f"{path}.{word}" if path else word)
    names = sorted(known)
    return (
        f"{where}: unknown key, given {shown(given)}; allowed: {', '.join(names)}"
        f"{nearest(key, names)}"
    )


def missing(path: str, allowed: str) -> str:
    """Write that a key is missing."""
    return f"{path}: missing; allowed: {allowed}"


def not_installed(what: str, purpose: str, package: str) -> str:
    """Write that an optional library is missing, and how to install it."""
    return f"{what}: not installed, and needed for {purpose}; pip install {package} brings it"


def player_name_fault(name: object) -> str:
    """Explain why a contest refuses a player's name, or a ``.py`` cannot hold it; else empty."""
    if not isinstance(name, str) or not name.strip():
        return f"player name {shown(name)}: allowed: a text that is not blank"
    if len(name) > LONGEST_NAME:
        allowed = f"1 to {LONGEST_NAME} characters"
        return f"player name {shown(name)}: is longer; allowed: {allowed}"
    try:
        name.encode()
    except UnicodeEncodeError:
        return f"player name {shown(name)}: is not valid Unicode"
    return ""


def _shorten(text: str, most: int) -> str:
    """Make a text printable, and cut it to at most `most` characters, with dots at its end."""
    line = printable(text[: most + 1])
    return line if len(line) <= most else line[: most - 3] + "..."


# --- numbers --------------------------------------------------------------------------------------

DIGITS: Final = 2  # decimals of per cents and percentage points, unless a user asks for more

digits: ContextVar[int] = ContextVar("digits", default=DIGITS)
"""Decimals that the user of a command asks for."""

EXACT: Final = 1e-12  # most that rounding alone makes of 0
ROUNDED: Final = 1e-8
"""More than the error of a probability that passes over a game of Hog leave."""


def percent(probability: float) -> str:
    """Write a probability in per cent.

    One that would be rounded to 0 or 100 %, and is neither, reads "<0.01 %" or ">99.99 %".
    """
    decimals = digits.get()
    unit = 10.0**-decimals  # of the last digit
    per_cent = 100.0 * probability
    if probability > EXACT and per_cent < unit / 2.0:
        return f"<{unit:.{decimals}f} %"
    if probability < 1.0 - EXACT and 100.0 - per_cent < unit / 2.0:
        return f">{100.0 - unit:.{decimals}f} %"
    return f"{abs(per_cent):.{decimals}f} %"


def at_most(bound: float, error: float = ROUNDED) -> str:
    """Write an upper bound on a probability in per cent, rounded up after its error is added.

    The error of a bound that includes rounding is 0.
    """
    return f"{_per_cent(min(Decimal(bound) + Decimal(error), Decimal(1)), ROUND_CEILING)} %"


def at_least(bound: float, error: float = ROUNDED) -> str:
    """Write a lower bound on a probability in per cent, rounded down after its error is subtracted.

    The error of a bound that includes rounding is 0.
    """
    return f"{_per_cent(max(Decimal(bound) - Decimal(error), Decimal(0)), ROUND_FLOOR)} %"


def _per_cent(probability: float | Decimal, rounding: str) -> str:
    """Write a number in per cent without the sign, rounded as one of `decimal`'s constants says."""
    per_cent = 100 * Decimal(probability)  # exact, which a product of floats is not
    return f"{per_cent.quantize(Decimal(10) ** -digits.get(), rounding):zf}"


def scientific(number: float, decimals: int, rounding: str) -> str:
    """Write a number with a power of ten, rounded as one of `decimal`'s constants says."""
    rounded = Context(prec=decimals + 1, rounding=rounding).create_decimal(Decimal(number))
    return f"{float(rounded):.{decimals}e}"


def pp(difference: float, *, signed: bool = True) -> str:
    """Write a difference of probabilities in percentage points; a plus only if `signed`.

    One that would be rounded to 0, and is not 0, reads "<0.01 pp", without a sign.
    """
    decimals = digits.get()
    unit = 10.0**-decimals  # of the last digit
    points = 100.0 * abs(difference)
    if abs(difference) > EXACT and points < unit / 2.0:
        return f"<{unit:.{decimals}f} pp"
    sign = ""
    if difference < -EXACT:
        sign = "-"
    elif signed and difference > EXACT:
        sign = "+"
    return f"{sign}{points:.{decimals}f} pp"


def loss(difference: float) -> str:
    """Write a loss of probability, which has no sign, in percentage points."""
    return pp(difference, signed=False)


def between(lower: float, upper: float, *, are_one: bool = False) -> str:
    """Write an interval of an exploitability in percentage points, or one number as exact.

    An exploitability is 0 or more. It is exact if the caller has a proof that both ends are one
    number, `are_one`, and if they are in the digits that are written. Else both are rounded
    outward, with the error `ROUNDED`.
    """
    nearest = _per_cent(lower, ROUND_HALF_EVEN)
    if are_one and nearest == _per_cent(upper, ROUND_HALF_EVEN):
        return f"{nearest} pp, exact"
    lower_text = _per_cent(max(Decimal(lower) - Decimal(ROUNDED), Decimal(0)), ROUND_FLOOR)
    upper_text = _per_cent(Decimal(upper) + Decimal(ROUNDED), ROUND_CEILING)
    return f"{lower_text} to {upper_text} pp"


def duration(seconds: float) -> str:
    """Write a short time to two figures, in the largest unit that it has at least one of."""
    seconds_of_unit = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
    fitting_units = [unit for unit, size in seconds_of_unit.items() if seconds >= size]
    unit = fitting_units[-1] if fitting_units else "us"
    number = seconds / seconds_of_unit[unit]
    if number >= 100.0:
        return f"{10 * round(number / 10.0)} {unit}"
    if number >= 9.95:  # one decimal would make it 10.0, which is three figures
        return f"{number:.0f} {unit}"
    return f"{number:.1f} {unit}"


def counted(number: int, noun: str) -> str:
    """Write how many there are of something."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# --- tables ---------------------------------------------------------------------------------------


MAX_ACTIONS: Final = 100  # actions of an information set in a text
MAX_CELL: Final = 10_000  # characters of a cell


def listed_actions(actions: Sequence[tuple[object, float]], separator: str = ", ") -> str:
    """Write actions with their probabilities; of more than `MAX_ACTIONS` the likeliest."""
    listed, num_left_out = actions, max(len(actions) - MAX_ACTIONS, 0)
    if num_left_out:
        by_probability = sorted(range(len(actions)), key=lambda number: -actions[number][1])
        listed = [actions[number] for number in sorted(by_probability[:MAX_ACTIONS])]
    texts = [f"{action} {percent(probability)}" for action, probability in listed]
    texts += [f"and {num_left_out:,} more"] if num_left_out else []
    return separator.join(texts)


class Table(NamedTuple):
    """Rows in columns, the first `left` of them flush left and the others right.

    Cells are cut to `MAX_CELL` characters: a column is padded to its widest.
    """

    rows: Sequence[Sequence[object]]
    header: Sequence[str] = ()
    left: int = 1

    def lines(self) -> list[str]:
        """Lay out the rows."""
        cells = [[_shorten(str(cell), MAX_CELL) for cell in row] for row in self.rows]
        if self.header:
            cells.insert(0, list(self.header))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for row in cells:
            padded = [
                cell.ljust(width) if column < self.left else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(padded).rstrip())
        return lines


Text: TypeAlias = list[str | Table]  # lines, an empty one between blocks, and tables


class Part(NamedTuple):
    """A table with a heading, for a text and for a page."""

    heading: str  # none: it goes on with the part before
    table: Table
    bars: Sequence[tuple[float, str]] = ()
    """On a page, of each row: a share from 0 to 1, and its look."""
    after: str = ""  # a line


def laid_out(parts: Iterable[Part]) -> Text:
    """Lay out tables, each below its heading, with empty lines between."""
    text: Text = []
    for part in parts:
        if part.heading:
            text += ["", part.heading]
        text += ["", part.table]
        if part.after:
            text += ["", part.after]
    return text


def as_dicts(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return named tuples as dictionaries."""
    return [row._asdict() for row in rows]


def indented(lines: Iterable[str]) -> list[str]:
    """Indent lines that belong to the one above them."""
    return [f"  {line}" for line in lines]


def lines_of(text: Sequence[str | Table]) -> list[str]:
    """Lay out a text; names from others cannot break or forge a line."""
    lines: list[str] = []
    for block in text:
        lines += block.lines() if isinstance(block, Table) else [printable(block)]
    return lines
