"""Certificates: an upper bound on best responses, in a file that anyone can check.

A JSON object: see :meth:`Certificate.to_json`, with an edition's name or fields of `hogeq.Rules`,
or what another game is called and its hash; and steps as lists of the fields of a `Step` or a
`Revision`. Reading checks every number, but proves nothing.
"""

import gzip
import json
import math
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, cast

import numpy as np
from pydantic import Field

from hogeq.model.game import required_bytes
from hogeq.rules import ALIASES, EDITIONS, Rules, rules_from
from hogeq.search.lifted_bound import MOST_STEPS, Revision, Step
from hogeq.strategies.arrays import check_policy
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.aliases import Floats
from hogeq.support.files import read_whole, write_whole
from hogeq.support.messages import HogeqError, at_most, one_line, printable, refusal
from hogeq.support.parameters import keys, parameters, plain
from hogeq.support.text import parse_json

FORMAT: Final = "hogeq certificate"
VERSION: Final = 5
MOST_GOAL: Final = 200  # of Hog, in a certificate that is checked
MOST_DICE: Final = 20  # the same
MOST_GAME_BYTES: Final = 2**31  # bytes of the largest game whose certificate is checked
PROCESSOR_ERROR: Final = 1e-9  # share of the largest payoff by which processors may differ
MOST_FILE_BYTES: Final = 64 * 2**20  # of a file, and of its content unpacked
GZIP_MAGIC: Final = b"\x1f\x8b"  # first bytes of what gzip packs
MOST_COVER: Final = 10**9  # largest number of a step, that called cover


class CertificateError(HogeqError):
    """A file that is no certificate; one line."""


@parameters
class _Top:
    """A certificate, its arrays not yet looked into."""

    format: Literal["hogeq certificate"]
    version: Annotated[int, Field(ge=VERSION, le=VERSION, description="5; hogeq 0.2 reads 3 and 4")]
    bound: Annotated[float, Field(allow_inf_nan=False)]
    full_memory: Annotated[float, Field(allow_inf_nan=False)]
    steps: Annotated[list[Any], Field(max_length=MOST_STEPS)]
    rules: Annotated[
        str | dict[str, Any] | None, Field(description="an edition's name or a mapping of parts")
    ] = None
    game: dict[str, Any] | None = None
    policy: list[Any] | None = None
    weights: list[Any] | None = None
    parts: list[Any] | None = None


@parameters
class OtherGame:
    """A game other than Hog: what a user calls it, and the hash that tells whether it is the same.

    The name is what it is loaded by, so that nothing can be proved under the name of another.
    """

    name: Annotated[str, Field(min_length=1, max_length=1000)]
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    forget: str | None = None
    teams: str | None = None


class Certificate(NamedTuple):
    """A bound and its proof.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game("kuhn_poker")
    >>> proof = game.certify("uniform", seconds=0.1)
    >>> proof.write("proof.json")
    >>> game.check(hogeq.Certificate.read("proof.json")).bound == proof.bound
    True
    """

    game: Rules | OtherGame
    strategy: Strategy  # that it is about
    bound: float  # no responder who forgets gets more, rounding included
    full_memory: float  # what a responder gets who remembers everything
    steps: tuple[Step | Revision, ...]
    unit: float = 1.0  # a power of two, of the largest payoff; not in the file
    is_told: bool = False  # whether who remembers everything knows what was drawn; nor is this
    margin: float = 0.0  # part of the bound, for rounding; nor is this
    full_memory_bound: float | None = None  # `full_memory`, rounding included; nor is this

    @property
    def rules(self) -> Rules:
        """Rules of a game of Hog."""
        if not isinstance(self.game, Rules):
            raise CertificateError(f"{self.game.name}: is no game of Hog")
        return self.game

    @property
    def name(self) -> str:
        """Name of the game."""
        return self.game.name

    @property
    def title(self) -> str:
        """Name of the game; rules with a name of their own also have what they change in brackets.

        For anybody may call the game to 5 points "su20 to 100 points".
        """
        if not isinstance(self.game, Rules) or _edition_that_begins(self.name):
            return self.name
        return f"{self.name} ({_shortest_name(self.game)})"

    @staticmethod
    def read(path: str | os.PathLike[str]) -> "Certificate":
        """Read a certificate, which may be false: `Game.check` proves it again."""
        path = Path(path)
        data = read_whole(path, MOST_FILE_BYTES)
        try:
            return _parse_certificate(parse_json(_unpack(data)))
        except (ValueError, TypeError) as error:
            raise CertificateError(f"{printable(path)}: {one_line(error, 1000)}") from error

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it, packed if the name ends in ``.gz``."""
        content = self.to_json().encode()
        if len(content) > MOST_FILE_BYTES:
            size = f"has {len(content) >> 20} MiB; allowed: {MOST_FILE_BYTES >> 20}"
            raise CertificateError(f"{printable(path)}: {size}")
        if Path(path).suffix == ".gz":
            content = gzip.compress(content, mtime=0)  # no time, so that bytes are always the same
        write_whole(path, content)

    def to_json(self) -> str:
        """Give the text of a certificate's file, a JSON object."""
        game_key = "rules" if isinstance(self.game, Rules) else "game"
        content = {
            "format": FORMAT,
            "version": VERSION,
            game_key: plain(self.game),
            "bound": self.bound,
            "full_memory": self.full_memory,
        }
        policies = self.strategy.policies.tolist()
        if len(policies) == 1:
            content["policy"] = policies[0]
        else:
            content["weights"] = self.strategy.chances.tolist()
            content["parts"] = policies
        content["steps"] = [list(step) for step in self.steps]
        return json.dumps(content) + "\n"

    def is_about(self, strategy: Strategy) -> bool:
        """Whether it is about a strategy; components that are never drawn do not count."""
        own = self.strategy
        return np.array_equal(own.chances, strategy.chances) and np.array_equal(
            own.policies, strategy.policies
        )

    def require_same(self, claimed: "Certificate", where: str) -> None:
        """Raise `CertificateError` unless the figures of another certificate are the proved ones.

        `claimed` is the certificate as read from a file, and this one what its steps prove; `where`
        names the file in the message.
        """
        # Another processor may round the value otherwise, by less than the margin for rounding. A
        # bound that is lower by more could be false, however large the payoffs are.
        if self.bound > claimed.bound + min(self.margin, PROCESSOR_ERROR * self.unit):
            raise CertificateError(
                f"{where}: bound: got {claimed.bound!r}; its steps prove {self.bound!r} and no less"
            )
        if abs(self.full_memory - claimed.full_memory) > PROCESSOR_ERROR * self.unit:
            raise CertificateError(
                f"{where}: full_memory: got {claimed.full_memory!r}; it is {self.full_memory!r}"
            )

    def rows(self, upper: Callable[[float], str] | None = None) -> list[tuple[str, str, str]]:
        """Lay out both bounds, as the command prints them, each with a name and its meaning.

        `upper` writes payoffs, rounded up; by default bounds are win rates.
        """
        write = upper or partial(at_most, error=0.0)
        known = self.full_memory_bound
        full_memory = write(self.full_memory if known is None else known)
        knows = "is told the draw as well" if self.is_told else "remembers everything"
        return [
            ("certified", write(self.bound), "nothing that forgets wins more"),
            ("bound", full_memory, f"best responder that {knows}"),
        ]


def _unpack(data: bytes) -> bytes:
    """Unpack bytes that gzip packed; give others as they are."""
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        with gzip.open(BytesIO(data)) as file:
            # One more than allowed shows that there are more.
            content = file.read(MOST_FILE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CertificateError("is packed by gzip, but broken; allowed: all of it") from error
    if len(content) > MOST_FILE_BYTES:
        raise CertificateError(f"unpacks to more than the {MOST_FILE_BYTES >> 20} MiB allowed")
    return content


def _parse_certificate(content: object) -> Certificate:
    """Make a certificate of the content of a file, whose form is checked, but nothing proved.

    Raises `HogeqError` for content of another form, a step out of range, or a revision of a row
    whose prices no step before has raised.
    """
    if not isinstance(content, dict):
        allowed = f"an object with {', '.join(keys(_Top))}"
        raise CertificateError(refusal("", content, allowed))
    top = _Top(**content)
    game = _read_game(top)
    if isinstance(game, Rules):
        for name, rate in (("bound", top.bound), ("full_memory", top.full_memory)):
            if not 0.0 <= rate <= 1.0:
                raise CertificateError(refusal(name, rate, "numbers from 0 to 1"))
        strategy = _read_strategy(top, (game.size, game.size, game.num_actions))
    else:
        strategy = _read_strategy(top, None)
    *row_axes, actions = strategy.policies.shape[1:]
    limits = math.prod(row_axes), actions
    steps = [_read_step(step, number, limits) for number, step in enumerate(top.steps)]
    priced_rows = set()
    for number, step in enumerate(steps):
        if isinstance(step, Step):
            priced_rows.add(step.row)
        elif step.row not in priced_rows:
            allowed = "a row that has claimed before"
            raise CertificateError(refusal(f"steps[{number}]", top.steps[number], allowed))
    return Certificate(game, strategy, top.bound, top.full_memory, tuple(steps))


def _read_game(top: _Top) -> Rules | OtherGame:
    """Give the game of a certificate's file: rules of Hog, or the name of another game."""
    if (top.rules is None) == (top.game is None):
        raise CertificateError("rules, game: allowed: one of them")
    if top.game is not None:
        return OtherGame(**top.game)
    rules = rules_from(cast("Any", top.rules))
    _check_name(rules)
    require_size(rules)
    return rules


def _check_name(rules: Rules) -> None:
    """Refuse rules that have an edition's name but differ from it, as people only see the name."""
    edition = _edition_that_begins(rules.name)
    if not edition:
        return
    true_name = _name_after_edition(rules, edition)
    if rules.name != true_name:
        allowed = f"{true_name}, or a name of your own"
        raise CertificateError(refusal("rules.name", rules.name, allowed))


def _edition_that_begins(name: str) -> str:
    """Give the edition, or the semester, that a name of rules begins with; empty if none."""
    edition = name.lower().partition(" with ")[0].strip()
    return edition if edition in EDITIONS or edition in ALIASES else ""


def _name_after_edition(rules: Rules, edition: str) -> str:
    """Name rules after an edition and the fields that they change."""
    fields = plain(rules)
    del fields["name"]
    return rules_from({**fields, "edition": edition}).name


def _shortest_name(rules: Rules) -> str:
    """Name rules after the edition of which they change least."""
    names = []
    for edition in EDITIONS:
        with suppress(HogeqError):  # where they have another period of Time Trot, and no Time Trot
            names.append(_name_after_edition(rules, edition))
    return min(names, key=len)


def require_size(rules: Rules) -> None:
    """Refuse rules whose certificates would take too long to check, or too much memory."""
    rules.require_one_goal()
    for name, size, largest in (
        ("rules.goal", rules.size, MOST_GOAL),
        ("rules.max_dice", rules.max_dice, MOST_DICE),
    ):
        if size > largest:
            raise CertificateError(refusal(name, size, f"at most {largest}"))
    if required_bytes(rules) > MOST_GAME_BYTES:
        raise CertificateError("rules: the game takes too much memory; allowed: less to remember")


def _read_strategy(top: _Top, shape: tuple[int, ...] | None) -> Strategy:
    """Read the strategy of a certificate's file: a policy, or weights and policies of a mixture.

    `shape` is that of a policy of the game; None allows any shape (R, K), for games other than Hog.
    """
    has_scores = shape is not None
    if top.policy is not None and top.weights is None and top.parts is None:
        table = _read_array(top.policy, "policy")
        shape = shape or _nonempty_shape("policy", table, ("R", "K"))
        policy = check_policy(table, shape, has_scores=has_scores)
        return Strategy("policy", policy, np.ones(1), shape, has_scores=has_scores)
    if top.policy is not None or top.weights is None or top.parts is None:
        names = [name for name in ("policy", "weights", "parts") if getattr(top, name) is not None]
        raise CertificateError(refusal("strategy", names, "policy, or weights and parts"))
    weights = _read_array(top.weights, "weights")
    parts = _read_array(top.parts, "parts")
    if shape and parts.ndim != 1 + len(shape):
        raise CertificateError(f"parts: have shape {parts.shape}; allowed: (n, G, G, K)")
    shape = shape or _nonempty_shape("parts", parts, ("n", "R", "K"))[1:]
    return strategy_of_shape(shape, Mixture(weights, parts), has_scores=has_scores)


def _nonempty_shape(name: str, table: Floats, axes: tuple[str, ...]) -> tuple[int, ...]:
    """Give the shape of a table; refuse one with other axes, or without an entry."""
    if table.ndim != len(axes) or not table.size:
        raise CertificateError(f"{name}: has shape {table.shape}; allowed: ({', '.join(axes)})")
    return table.shape


def _read_array(nested_lists: list[Any], name: str) -> Floats:
    """Make an array of nested lists of numbers, all of them JSON numbers."""
    not_numbers = f"{name}: is no table of numbers"
    try:
        numbers: Any = nested_lists
        while numbers and isinstance(numbers[0], list):  # flatten the outermost axis
            numbers = [*chain.from_iterable(numbers)]
        table = np.array(nested_lists, np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(not_numbers) from error
    if any(type(number) not in (int, float) for number in numbers):
        raise CertificateError(not_numbers)  # numpy reads true and "1" as 1
    return table


def _read_step(fields: object, number: int, limits: tuple[int, int]) -> Step | Revision:
    """Read a step of a proof, a list of numbers, which stands at place `number` of the file's list.

    `limits` are the numbers of rows and of actions. The length of the list tells a step that
    raises prices from a revision.
    """
    where = f"steps[{number}]"
    rows, actions = limits
    largest_index = {"row": rows - 1, "action": actions - 1}
    for kind in (Step, Revision):
        if isinstance(fields, list) and len(fields) == len(kind._fields):
            pairs = zip(kind._fields, fields, strict=True)
            return kind(
                *(_read_step_number(where, name, value, largest_index) for name, value in pairs)
            )
    lists = [f"a list of {', '.join(kind._fields)}" for kind in (Step, Revision)]
    raise CertificateError(refusal(where, fields, " or ".join(lists)))


def _read_step_number(where: str, name: str, value: Any, largest_index: dict[str, int]) -> Any:
    """Read a number of a step: a whole number if its name has a largest index, else a float."""
    if name in largest_index:
        if type(value) is not int or not 0 <= value <= largest_index[name]:  # no bool
            allowed = f"whole numbers from 0 to {largest_index[name]}"
            raise CertificateError(refusal(f"{where}.{name}", value, allowed))
        return value
    largest = MOST_COVER if name == "cover" else 1
    if type(value) not in (int, float) or not 0 <= value <= largest:
        raise CertificateError(refusal(f"{where}.{name}", value, f"numbers from 0 to {largest}"))
    return float(value)
