"""Certificates: a bound on what wins from a strategy, in a file that anyone can check.

A certificate is one JSON object::

    {"format": "hogeq certificate", "version": 4,
     "rules": {"edition": "su20", "goal": 20, "max_dice": 4},
     "bound": 0.5116, "full_memory": 0.5153,
     "policy": [[[0.0, 1.0, ...], ...], ...],
     "steps": [[6, 5, 4, 0.5, 0.25, 1.0, 2.0], [6, 5, 0.1, 0.25], ...]}

``rules`` are an edition's name or fields of `hogeq.Rules`, ``policy`` is the strategy, by own
score, opponent's score and roll, and ``steps`` are, in order, the seven fields of a
`hogeq.search.lifted_bound.Step` or the four of a `Revision`. A mixture has ``weights`` and
``parts``, one policy each, in the place of ``policy``. The rest of a proof follows: the check takes
the steps one after the other, each by one pass over the game, and solves the game once more. What
``bound`` says is not believed. Version 3 had no revisions.

A file whose name ends in ``.gz`` is packed by gzip, to a tenth and less.
"""

import gzip
import json
import os
import zlib
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
from pydantic import Field

from hogeq.model.game import HogEngine, required_bytes
from hogeq.rules import Rules, rules_from
from hogeq.search.certifying import certify
from hogeq.search.lifted_bound import MOST_STEPS, LiftedBound, Revision, Step, replay
from hogeq.strategies.arrays import check_policy
from hogeq.strategies.strategy import Mixture, StrategyLike, mixture_of_shape, parts_of, strategy_of
from hogeq.support.aliases import Floats
from hogeq.support.files import parse_json, read_whole, write_whole
from hogeq.support.messages import BadInputError, one_line, refusal, shown_path
from hogeq.support.parameters import keys, parameters, plain

FORMAT: Final = "hogeq certificate"
VERSION: Final = 4
OLDEST: Final = 3
MAX_BYTES: Final = 64 * 2**20
GZIP: Final = b"\x1f\x8b"  # first bytes of what gzip packs
MOST_COVER: Final = 10**9
MOST_GOAL: Final = 200
MOST_DICE: Final = 20
AXES: Final = 4  # of parts
LARGEST: Final = 2**31
"""Bytes of the largest game whose certificate is checked."""


class CertificateError(BadInputError):
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
    """A bound and what proves it."""

    rules: Rules
    strategy: Floats | Mixture
    """That it is about: a policy (G, G, K), or a mixture of policies."""
    bound: float
    """No responder who forgets wins more, rounding included."""
    full_memory: float
    """Win rate of a responder who remembers everything."""
    steps: tuple[Step | Revision, ...]

    def to_json(self) -> str:
        """Give the text of a file."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "rules": plain(self.rules),
            "bound": self.bound,
            "full_memory": self.full_memory,
            **self._strategy(),
            "steps": [list(step) for step in self.steps],
        }
        return json.dumps(content) + "\n"

    def _strategy(self) -> dict[str, Any]:
        if isinstance(self.strategy, Mixture):
            weights, parts = self.strategy.weights, self.strategy.parts
            return {"weights": weights.tolist(), "parts": parts.tolist()}
        return {"policy": self.strategy.tolist()}


def certified_bound(game: HogEngine, strategy: StrategyLike, seconds: float) -> Certificate:
    """Prove an upper bound on any attack, below that of full memory where forgetting costs.

    It looks for so many seconds, compiling not counted.
    """
    about = as_proved(game, strategy)
    return _certificate(certify(game.rules, about, seconds), about)


def as_proved(game: HogEngine, strategy: StrategyLike) -> Floats | Mixture:
    """Give a strategy as certificates have it: a policy, or those that are drawn."""
    target = strategy_of(game, strategy)
    if len(target.chances) == 1:
        return target.policies[0].copy()
    return Mixture(target.chances, target.policies)


def is_about(certificate: Certificate, strategy: Floats | Mixture) -> bool:
    """Say whether a certificate is about a strategy, given as by :func:`as_proved`."""
    one, two = (parts_of(given) for given in (certificate.strategy, strategy))
    return len(one) == len(two) and all(
        weight == other and (part == table).all()
        for (weight, part), (other, table) in zip(one, two, strict=True)
    )


def check_certificate(certificate: Certificate) -> Certificate:
    """Prove a certificate again from its steps; the bound is what they prove."""
    found = replay(certificate.rules, certificate.strategy, certificate.steps)
    return _certificate(found, certificate.strategy)


def _certificate(found: LiftedBound, strategy: Floats | Mixture) -> Certificate:
    bound = float(min(1.0, found.bound()))
    return Certificate(found.rules, strategy, bound, found.full_memory, tuple(found.steps))


def write_certificate(path: str | os.PathLike[str], certificate: Certificate) -> None:
    """Write a certificate, packed if the name ends in ``.gz``."""
    content = certificate.to_json().encode()
    packs = Path(path).suffix == ".gz"
    write_whole(path, gzip.compress(content, mtime=0) if packs else content)


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate; :func:`check_certificate` says whether it is true."""
    path = Path(path)
    data = read_whole(path, MAX_BYTES)
    try:
        return _checked(parse_json(_unpacked(data)))
    except (ValueError, TypeError) as error:
        raise CertificateError(f"{shown_path(path)}: {one_line(error, 1000)}") from error


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
    top = _Top(**_object(content))
    rules = rules_from(top.rules)
    rules.require_one_goal()
    for name, size, most in (
        ("rules.goal", rules.size, MOST_GOAL),
        ("rules.max_dice", rules.max_dice, MOST_DICE),
    ):
        if size > most:
            raise CertificateError(refusal(name, size, f"at most {most}"))
    if required_bytes(rules) > LARGEST:
        raise CertificateError("rules: the game takes too much memory; allowed: less to remember")
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


def _strategy(top: _Top, rules: Rules) -> Floats | Mixture:
    """Check what the file is about: a policy, or the weights and parts of a mixture."""
    shape = rules.size, rules.size, rules.max_dice + 1
    if top.policy is not None and top.weights is None and top.parts is None:
        return check_policy(_array(top.policy, "policy"), shape)
    if top.policy is not None or top.weights is None or top.parts is None:
        given = [name for name in ("policy", "weights", "parts") if getattr(top, name) is not None]
        raise CertificateError(refusal("strategy", given, "policy, or weights and parts"))
    weights, parts = _array(top.weights, "weights"), _array(top.parts, "parts")
    if parts.ndim != AXES:
        raise CertificateError(f"parts: have shape {parts.shape}; allowed: (n, G, G, K)")
    drawn = mixture_of_shape(shape, weights, parts)
    return Mixture(drawn.weights, drawn.array)


def _object(content: object) -> dict[str, Any]:
    if isinstance(content, dict):
        return content
    allowed = f"an object with {', '.join(keys(_Top))}"
    raise CertificateError(refusal("", content, allowed))


def _array(given: list[Any], name: str) -> Floats:
    try:
        return np.array(given, np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(f"{name}: is no table of numbers") from error


def _step(given: object, number: int, rules: Rules) -> Step | Revision:
    at = f"steps[{number}]"
    kinds = {len(kind._fields): kind for kind in (Step, Revision)}
    if not isinstance(given, list) or len(given) not in kinds:
        allowed = " or ".join(f"a list of {', '.join(kind._fields)}" for kind in kinds.values())
        raise CertificateError(refusal(at, given, allowed))
    kind = kinds[len(given)]
    most = {"score": rules.size - 1, "opponent": rules.size - 1, "roll": rules.max_dice}
    most["cover"] = MOST_COVER
    for name, value in zip(kind._fields, given, strict=True):
        whole, top = name in {"score", "opponent", "roll"}, most.get(name, 1)
        right = type(value) is int or (type(value) is float and not whole)
        if not right or not 0 <= value <= top:
            numbers = "whole numbers" if whole else "numbers"
            raise CertificateError(refusal(f"{at}.{name}", value, f"{numbers} from 0 to {top}"))
    return kind(*given)
