"""Certificates: an upper bound on best responses, in a file that anyone can check.

A JSON object: see :meth:`Certificate.to_json`, with an edition's name or fields of `hogeq.Rules`,
and steps as lists of the fields of a `Step` or a `Revision`. Version 3 had no revisions.
"""

import gzip
import json
import os
import zlib
from collections.abc import Callable
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, cast

import numpy as np
from pydantic import Field

from hogeq.model.game import HogEngine, required_bytes
from hogeq.rules import ALIASES, EDITIONS, Rules, rules_from
from hogeq.rules.memory import all_memories
from hogeq.search.lifted_bound import (
    LEAST,
    MOST_STEPS,
    SMALLEST,
    LiftedBound,
    Revision,
    Step,
    replay,
)
from hogeq.strategies.arrays import check_policy
from hogeq.strategies.strategy import (
    Mixture,
    Strategy,
    StrategyLike,
    strategy_of,
    strategy_of_shape,
)
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.support.files import parse_json, read_whole, write_whole
from hogeq.support.messages import HogeqError, at_most, one_line, percent, printable, refusal
from hogeq.support.parameters import keys, parameters, plain
from hogeq.support.progress import phase

FORMAT: Final = "hogeq certificate"
VERSION: Final = 4
OLDEST: Final = 3
MAX_BYTES: Final = 64 * 2**20
GZIP: Final = b"\x1f\x8b"  # first bytes of what gzip packs
MOST_COVER: Final = 10**9
MOST_GOAL: Final = 200
MOST_DICE: Final = 20
AXES: Final = 4  # of parts
LARGEST: Final = 2**31  # bytes of the largest game whose certificate is checked
LENT = 0.25  # largest share of a roll's slack that is lent
COVER = 1.2  # how far claims are covered
SHARE = 0.4  # share that a cell claims: its others come at later visits
PAYS = 0.003  # share of a cell's loss by forgetting that a claim must take off
LOWERED = 0.1  # share of slack in a cell by which what is refunded is lowered
BATCH = 100  # cells that are visited before all are put in order again
LEAST_PROMISE = 1e-10  # of a cell that is visited, in win rate
LEAST_HOPE = 0.02  # of a cell: it is visited again sometime
STEPS_OF_A_VISIT = 2
ENDED = 1e-8  # what a batch of visits takes off when they have ended


ROUNDING: Final = 1e-9  # what a bound may differ by where processors add up differently


class CertificateError(HogeqError):
    """A file that is no certificate; one line."""


@parameters
class _Top:
    """A certificate, its arrays not yet looked into."""

    format: Literal["hogeq certificate"]
    version: Annotated[int, Field(ge=OLDEST, le=VERSION)]
    rules: Annotated[
        str | dict[str, Any], Field(description="an edition's name or a mapping of parts")
    ]
    bound: Annotated[float, Field(ge=0.0, le=1.0)]
    full_memory: Annotated[float, Field(ge=0.0, le=1.0)]
    steps: Annotated[list[Any], Field(max_length=MOST_STEPS)]
    policy: list[Any] | None = None
    weights: list[Any] | None = None
    parts: list[Any] | None = None


class Certificate(NamedTuple):
    """A bound and its proof."""

    rules: Rules
    strategy: Strategy  # that it is about
    bound: float  # no responder who forgets wins more, rounding included
    full_memory: float  # win rate of a responder who remembers everything
    steps: tuple[Step | Revision, ...]

    def to_json(self) -> str:
        """Give the text of a file."""
        drawn = self.strategy.policies.tolist()
        weights = self.strategy.chances.tolist()
        strategy = {"weights": weights, "parts": drawn} if drawn[1:] else {"policy": drawn[0]}
        content = {
            "format": FORMAT,
            "version": VERSION,
            "rules": plain(self.rules),
            "bound": self.bound,
            "full_memory": self.full_memory,
            **strategy,
            "steps": [list(step) for step in self.steps],
        }
        return json.dumps(content) + "\n"

    def is_about(self, strategy: Strategy) -> bool:
        """Whether it is about a strategy; components that are never drawn do not count."""
        own = self.strategy
        return np.array_equal(own.chances, strategy.chances) and np.array_equal(
            own.policies, strategy.policies
        )

    def require_same(self, given: "Certificate", where: str) -> None:
        """Refuse, with a `CertificateError`, one whose figures are not those proved here."""
        if self.bound > given.bound + ROUNDING:
            raise CertificateError(
                f"{where}: bound: got {given.bound!r}; its steps prove {self.bound!r} and no less"
            )
        if abs(self.full_memory - given.full_memory) > ROUNDING:
            raise CertificateError(
                f"{where}: full_memory: got {given.full_memory!r}; it is {self.full_memory!r}"
            )

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both bounds, as the command prints them."""
        drawn = self.strategy.kind == "mixture"
        knows = "is told the draw as well" if drawn else "remembers everything"
        return [
            ("certified", at_most(self.bound, 0.0), "nothing that forgets wins more"),
            ("bound", at_most(self.full_memory), f"best responder that {knows}"),
        ]


def certified_bound(game: HogEngine, strategy: StrategyLike, seconds: float) -> Certificate:
    """Look for so many seconds, compiling not counted, for a bound below that of full memory."""
    _check_size(game.rules)
    target = strategy_of(game, strategy)
    return _certificate(certify(game.rules, target, seconds), target)


def check_certificate(certificate: Certificate) -> Certificate:
    """Prove a certificate again from its steps, which set the bound."""
    found = replay(certificate.rules, certificate.strategy, certificate.steps)
    return _certificate(found, certificate.strategy)


def _certificate(found: LiftedBound, strategy: Strategy) -> Certificate:
    bound = float(min(1.0, found.bound()))
    return Certificate(found.rules, strategy, bound, found.full_memory, tuple(found.steps))


def write_certificate(path: str | os.PathLike[str], certificate: Certificate) -> None:
    """Write a certificate, packed if the name ends in ``.gz``."""
    content = certificate.to_json().encode()
    if len(content) > MAX_BYTES:
        size, most = len(content) >> 20, MAX_BYTES >> 20
        raise CertificateError(f"{printable(path)}: has {size} MiB; allowed: {most}")
    packs = Path(path).suffix == ".gz"
    write_whole(path, gzip.compress(content, mtime=0) if packs else content)


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate; :func:`check_certificate` says whether it is true."""
    path = Path(path)
    data = read_whole(path, MAX_BYTES)
    try:
        return _checked(parse_json(_unpacked(data)))
    except (ValueError, TypeError) as error:
        raise CertificateError(f"{printable(path)}: {one_line(error, 1000)}") from error


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.open(BytesIO(data)) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CertificateError(f"is packed, but broken: {error}") from error
    if len(content) > MAX_BYTES:
        raise CertificateError(f"unpacks to more than the {MAX_BYTES >> 20} MiB allowed")
    return content


def _checked(content: object) -> Certificate:
    if not isinstance(content, dict):
        allowed = f"an object with {', '.join(keys(_Top))}"
        raise CertificateError(refusal("", content, allowed))
    top = _Top(**content)
    rules = rules_from(top.rules)
    _check_name(rules)
    _check_size(rules)
    strategy = _strategy(top, rules)
    steps = [_step(step, number, rules) for number, step in enumerate(top.steps)]
    claimed = set()
    for number, step in enumerate(steps):
        if isinstance(step, Step):
            claimed.add(step[:2])
        elif step[:2] not in claimed:
            found = refusal(f"steps[{number}]", list(step), "a cell that has claimed before")
            raise CertificateError(found)
    return Certificate(rules, strategy, top.bound, top.full_memory, tuple(steps))


def _check_name(rules: Rules) -> None:
    """Refuse an edition's name for other rules: the name is all that people are shown of them."""
    edition = rules.name.lower().partition(" with ")[0].strip()
    if edition in EDITIONS or edition in ALIASES:
        parts = {key: value for key, value in plain(rules).items() if key != "name"}
        right = rules_from({**parts, "edition": edition}).name
        if rules.name != right:
            allowed = f"{right}, or a name of your own"
            raise CertificateError(refusal("rules.name", rules.name, allowed))


def _check_size(rules: Rules) -> None:
    rules.require_one_goal()
    for name, size, most in (
        ("rules.goal", rules.size, MOST_GOAL),
        ("rules.max_dice", rules.max_dice, MOST_DICE),
    ):
        if size > most:
            raise CertificateError(refusal(name, size, f"at most {most}"))
    if required_bytes(rules) > LARGEST:
        raise CertificateError("rules: the game takes too much memory; allowed: less to remember")


def _strategy(top: _Top, rules: Rules) -> Strategy:
    shape = rules.size, rules.size, rules.num_actions
    if top.policy is not None and top.weights is None and top.parts is None:
        policy = check_policy(_array(top.policy, "policy"), shape)
        return Strategy("policy", policy, np.ones(1), shape)
    if top.policy is not None or top.weights is None or top.parts is None:
        given = [name for name in ("policy", "weights", "parts") if getattr(top, name) is not None]
        raise CertificateError(refusal("strategy", given, "policy, or weights and parts"))
    weights, parts = _array(top.weights, "weights"), _array(top.parts, "parts")
    if parts.ndim != AXES:
        raise CertificateError(f"parts: have shape {parts.shape}; allowed: (n, G, G, K)")
    return strategy_of_shape(shape, Mixture(weights, parts))


def _array(given: list[Any], name: str) -> Floats:
    try:
        numbers: Any = given
        while numbers and isinstance(numbers[0], list):
            numbers = [*chain.from_iterable(numbers)]
        table = np.array(given, np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(f"{name}: is no table of numbers") from error
    if not {*map(type, numbers)} <= {int, float}:  # numpy reads true and "1" as 1
        raise CertificateError(f"{name}: is no table of numbers")
    return table


def _step(given: object, number: int, rules: Rules) -> Step | Revision:
    at = f"steps[{number}]"
    kinds = {len(kind._fields): kind for kind in (Step, Revision)}
    if not isinstance(given, list) or len(given) not in kinds:
        allowed = " or ".join(f"a list of {', '.join(kind._fields)}" for kind in kinds.values())
        raise CertificateError(refusal(at, given, allowed))
    kind = kinds[len(given)]
    whole = {"score": rules.size - 1, "opponent": rules.size - 1, "roll": rules.num_actions - 1}
    taken: dict[str, Any] = {}
    for name, value in zip(kind._fields, given, strict=True):
        top = whole.get(name, MOST_COVER if name == "cover" else 1)
        right = type(value) is int or (type(value) is float and name not in whole)
        if not right or not 0 <= value <= top:
            numbers = "whole numbers" if name in whole else "numbers"
            raise CertificateError(refusal(f"{at}.{name}", value, f"{numbers} from 0 to {top}"))
        taken[name] = value if name in whole else float(value)
    return kind(**taken)


def certify(
    rules: Rules, strategy: Strategy, seconds: float, clock: Callable[[], float] | None = None
) -> LiftedBound:
    """Look for steps that lower the bound, cell by cell.

    At the end the responder is solved anew, which takes as long as the beginning did.
    """
    deadline = Deadline(seconds, clock)
    found = LiftedBound(rules, strategy)
    solving = deadline.spent
    if len(all_memories(rules)) == len(strategy.chances) == 1:  # nothing is hidden
        return found

    def has_ended() -> bool:
        return deadline.left <= solving or len(found.steps) > MOST_STEPS - STEPS_OF_A_VISIT

    search = _Search(found)
    with phase("certificate", 100) as told:
        while not has_ended() and (batch := search.cells()):
            told.measured(f"bound {percent(found.value)}")
            for cell in batch:
                if has_ended():
                    break
                search.visit(cell)
                told.reach(int(100.0 * deadline.spent / seconds))
    return found


class _Search:
    """Order in which cells claim and revise: largest expected gain first, by earlier gains.

    Block coordinate descent, in which a block leaves to the others what it can do without (Werner,
    Prusa and Dlask 2020, "Relative interior rule in block-coordinate descent").
    """

    def __init__(self, bound: LiftedBound) -> None:
        self.bound = bound
        self.hopes = np.ones(bound.rules.size**2)
        self.promise = np.zeros(bound.rules.size**2)
        self.before = np.inf

    def cells(self) -> list[int]:
        """Give the next cells to visit, none if nothing is left."""
        before, self.before = self.before, self.bound.value
        if before - self.before < ENDED:
            return []
        losses = self.bound.losses().min(axis=1)
        self.promise = losses + np.maximum(self.bound.refunds(), 0.0)
        promise = self.promise * self.hopes
        first = np.argsort(-promise, kind="stable")[:BATCH]
        return cast("list[int]", first[promise[first] > LEAST_PROMISE].tolist())

    def visit(self, cell: int) -> None:
        """Revise the claims of a cell, and let it claim more if that lowers the bound."""
        before = self.bound.value
        score, opponent = divmod(cell, self.bound.rules.size)
        if self.bound.is_kept(cell):
            self.bound.take(Revision(score, opponent, LOWERED, LENT))
        losses = self.bound.loss(cell)
        roll, loss = int(losses.argmin()), float(losses.min())
        if loss > SMALLEST / 10.0:
            step = Step(score, opponent, roll, SHARE, LENT, 1.0, COVER)
            fall, refund = self.bound.gain(step)
            if fall - refund > PAYS * loss:
                self.bound.take(step)
        gained = (before - self.bound.value) / max(self.promise[cell], LEAST)
        hope = 0.2 * self.hopes[cell] + 0.8 * gained
        self.hopes[cell] = np.clip(hope, LEAST_HOPE, 1.0)
