"""Certificates: an upper bound on best responses, in a file that anyone can check.

A JSON object: see :meth:`Certificate.to_json`, with an edition's name or fields of `hogeq.Rules`,
or what another game is called and its hash; and steps as lists of the fields of a `Step` or a
`Revision`. Versions 3 and 4 have two scores in place of a row; version 3 has no revisions.
"""

import gzip
import json
import math
import os
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, cast

import numpy as np
from pydantic import Field

from hogeq.graph.hog import of_hog
from hogeq.model.game import HogEngine, required_bytes
from hogeq.model.interpreter import near_first
from hogeq.model.priced import Problem
from hogeq.rules import ALIASES, EDITIONS, Rules, rules_from
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
VERSION: Final = 5
OLDEST: Final = 3
BY_SCORES: Final = 4  # the last version whose steps have two scores
MAX_BYTES: Final = 64 * 2**20
GZIP: Final = b"\x1f\x8b"  # first bytes of what gzip packs
MOST_COVER: Final = 10**9
MOST_GOAL: Final = 200
MOST_DICE: Final = 20
LARGEST: Final = 2**31  # bytes of the largest game whose certificate is checked
LENT = 0.25  # largest share of an action's slack that is lent
COVER = 1.2  # how far claims are covered
SHARE = 0.4  # share that a row claims: its others come at later visits
PAYS = 0.003  # share of a row's loss by forgetting that a claim must take off
LOWERED = 0.1  # share of slack in a row by which what is refunded is lowered
BATCH = 100  # rows that are visited before all are put in order again
LEAST_PROMISE = 1e-10  # of a row that is visited, in units of the largest payoff
LEAST_HOPE = 0.02  # of a row: it is visited again sometime
STEPS_OF_A_VISIT = 2
ENDED = 1e-8  # what a batch of visits takes off when they have ended
ROUNDING: Final = 1e-9  # share of the largest payoff by which processors may add up differently


class CertificateError(HogeqError):
    """A file that is no certificate; one line."""


@parameters
class _Top:
    """A certificate, its arrays not yet looked into."""

    format: Literal["hogeq certificate"]
    version: Annotated[int, Field(ge=OLDEST, le=VERSION)]
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
    """A bound and its proof."""

    game: Rules | OtherGame
    strategy: Strategy  # that it is about
    bound: float  # no responder who forgets gets more, rounding included
    full_memory: float  # what a responder gets who remembers everything
    steps: tuple[Step | Revision, ...]
    unit: float = 1.0  # a power of two, of the largest payoff; not in the file
    is_told: bool = False  # whether who remembers everything knows what was drawn; nor is this

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

    def to_json(self) -> str:
        """Give the text of a file."""
        drawn = self.strategy.policies.tolist()
        weights = self.strategy.chances.tolist()
        strategy = {"weights": weights, "parts": drawn} if drawn[1:] else {"policy": drawn[0]}
        kind = "rules" if isinstance(self.game, Rules) else "game"
        content = {
            "format": FORMAT,
            "version": VERSION,
            kind: plain(self.game),
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
        if self.bound > given.bound + ROUNDING * self.unit:
            raise CertificateError(
                f"{where}: bound: got {given.bound!r}; its steps prove {self.bound!r} and no less"
            )
        if abs(self.full_memory - given.full_memory) > ROUNDING * self.unit:
            raise CertificateError(
                f"{where}: full_memory: got {given.full_memory!r}; it is {self.full_memory!r}"
            )

    def rows(self, upper: Callable[[float], str] | None = None) -> list[tuple[str, str, str]]:
        """Lay out both bounds, as the command prints them; `upper` writes payoffs."""
        proved, full = at_most(self.bound, 0.0), at_most(self.full_memory)
        if upper is not None:
            proved, full = upper(self.bound), upper(self.full_memory)
        knows = "is told the draw as well" if self.is_told else "remembers everything"
        return [
            ("certified", proved, "nothing that forgets wins more"),
            ("bound", full, f"best responder that {knows}"),
        ]


def hog_problems(rules: Rules, strategy: Strategy) -> list[Problem]:
    """Pose the problem of a responder in Hog, by each policy that can be drawn."""
    graph = of_hog(rules)
    order = near_first(graph, rules.size)
    drawn = zip(strategy.policies, strategy.chances.tolist(), strict=True)
    return [
        Problem(graph, 0, policy.reshape(-1, rules.num_actions), chance, order)
        for policy, chance in drawn
    ]


def certified_bound(game: HogEngine, strategy: StrategyLike, seconds: float) -> Certificate:
    """Look for so many seconds, compiling not counted, for a bound below that of full memory."""
    _check_size(game.rules)
    target = strategy_of(game, strategy)
    found = certify(hog_problems(game.rules, target), seconds)
    return certificate_of(game.rules, target, found)


def check_certificate(
    certificate: Certificate, problems: Sequence[Problem] | None = None
) -> Certificate:
    """Prove a certificate again from its steps, which set the bound.

    The problems are those of Hog, unless others are given.
    """
    game, strategy = certificate.game, certificate.strategy
    if problems is None:
        problems = hog_problems(certificate.rules, strategy)
    return certificate_of(game, strategy, replay(problems, certificate.steps))


def certificate_of(game: Rules | OtherGame, strategy: Strategy, found: LiftedBound) -> Certificate:
    """Write down what was found about a strategy."""
    bound = found.bound()
    if isinstance(game, Rules):
        bound = min(1.0, bound)
    steps, of_proof = tuple(found.steps), (found.unit, found.is_told)
    return Certificate(game, strategy, float(bound), found.full_memory, steps, *of_proof)


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
    game, shape = _game(top), None
    if isinstance(game, Rules):
        for name, rate in (("bound", top.bound), ("full_memory", top.full_memory)):
            if not 0.0 <= rate <= 1.0:
                raise CertificateError(refusal(name, rate, "numbers from 0 to 1"))
        shape = game.size, game.size, game.num_actions
    strategy = _strategy(top, shape)
    size = None if shape is None or top.version > BY_SCORES else shape[0]
    *rows, actions = strategy.policies.shape[1:]
    limits = math.prod(rows), actions
    steps = [_step(step, number, limits, size) for number, step in enumerate(top.steps)]
    claimed = set()
    for number, step in enumerate(steps):
        if isinstance(step, Step):
            claimed.add(step.row)
        elif step.row not in claimed:
            given = refusal(f"steps[{number}]", top.steps[number], "a row that has claimed before")
            raise CertificateError(given)
    return Certificate(game, strategy, top.bound, top.full_memory, tuple(steps))


def _game(top: _Top) -> Rules | OtherGame:
    """Find out which game a file is about."""
    if (top.rules is None) == (top.game is None):
        raise CertificateError("rules, game: allowed: one of them")
    if top.game is not None:
        if top.version <= BY_SCORES:
            raise CertificateError(refusal("version", top.version, f"{VERSION}, with a game"))
        return OtherGame(**top.game)
    rules = rules_from(cast("Any", top.rules))
    _check_name(rules)
    _check_size(rules)
    return rules


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


def _strategy(top: _Top, shape: tuple[int, ...] | None) -> Strategy:
    """Read the policy or the mixture; of another game than Hog it has any shape (R, K)."""
    if top.policy is not None and top.weights is None and top.parts is None:
        policy = _array(top.policy, "policy")
        shape = shape or _shape("policy", policy, 2)
        return Strategy("policy", check_policy(policy, shape), np.ones(1), shape)
    if top.policy is not None or top.weights is None or top.parts is None:
        given = [name for name in ("policy", "weights", "parts") if getattr(top, name) is not None]
        raise CertificateError(refusal("strategy", given, "policy, or weights and parts"))
    weights, parts = _array(top.weights, "weights"), _array(top.parts, "parts")
    if shape and parts.ndim != 1 + len(shape):
        raise CertificateError(f"parts: have shape {parts.shape}; allowed: (n, G, G, K)")
    shape = shape or _shape("parts", parts, 3)[1:]
    return strategy_of_shape(shape, Mixture(weights, parts))


def _shape(name: str, table: Floats, axes: int) -> tuple[int, ...]:
    if table.ndim != axes or not table.size:
        allowed = ", ".join(["n", "R", "K"][-axes:])
        raise CertificateError(f"{name}: has shape {table.shape}; allowed: ({allowed})")
    return table.shape


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


FIELDS: Final = {
    Step: {
        True: ("score", "opponent", "roll", "share", "lent", "weight", "cover"),
        False: Step._fields,
    },
    Revision: {True: ("score", "opponent", "lowered", "lent"), False: Revision._fields},
}
"""What numbers of a step are called, by two scores or by a row."""


def _step(given: object, number: int, limits: tuple[int, int], size: int | None) -> Step | Revision:
    """Read a step, of so many rows and actions; of games of Hog to `size` by two scores."""
    at, by_scores = f"steps[{number}]", size is not None
    kinds = {len(fields[by_scores]): kind for kind, fields in FIELDS.items()}
    if not isinstance(given, list) or len(given) not in kinds:
        lists = (f"a list of {', '.join(fields[by_scores])}" for fields in FIELDS.values())
        raise CertificateError(refusal(at, given, " or ".join(lists)))
    kind = kinds[len(given)]
    tops = {"row": limits[0], "score": size or 0, "opponent": size or 0}
    tops |= dict.fromkeys(("roll", "action"), limits[1])
    taken = list[Any]()
    for name, value in zip(FIELDS[kind][by_scores], given, strict=True):
        top = tops[name] - 1 if name in tops else MOST_COVER if name == "cover" else 1
        right = type(value) is int or (type(value) is float and name not in tops)
        if not right or not 0 <= value <= top:
            numbers = "whole numbers" if name in tops else "numbers"
            raise CertificateError(refusal(f"{at}.{name}", value, f"{numbers} from 0 to {top}"))
        taken.append(value if name in tops else float(value))
    if size is not None:
        taken[:2] = [taken[0] * size + taken[1]]
    return kind(*taken)


def certify(
    problems: Sequence[Problem],
    seconds: float,
    clock: Callable[[], float] | None = None,
    shown: Callable[[float], str] = percent,
) -> LiftedBound:
    """Look for steps that lower the bound, row by row; `shown` writes it while that lasts.

    At the end the responder is solved anew, which takes as long as the beginning did.
    """
    deadline = Deadline(seconds, clock)
    found = LiftedBound(problems)
    solving = deadline.spent
    if not found.hides:
        return found

    def has_ended() -> bool:
        return deadline.left <= solving or len(found.steps) > MOST_STEPS - STEPS_OF_A_VISIT

    search = _Search(found)
    with phase("certificate", 100) as told:
        while not has_ended() and (batch := search.rows()):
            told.measured(f"bound {shown(found.payoff)}")
            for row in batch:
                if has_ended():
                    break
                search.visit(row)
                told.reach(int(100.0 * deadline.spent / seconds))
    return found


class _Search:
    """Order in which rows claim and revise: largest expected gain first, by earlier gains.

    Block coordinate descent, in which a block leaves to the others what it can do without (Werner,
    Prusa and Dlask 2020, "Relative interior rule in block-coordinate descent").
    """

    def __init__(self, bound: LiftedBound) -> None:
        rows, _ = bound.shape
        self.bound = bound
        self.hopes = np.ones(rows)
        self.promise = np.zeros(rows)
        self.before = np.inf

    def rows(self) -> list[int]:
        """Give the next rows to visit, none if nothing is left."""
        before, self.before = self.before, self.bound.value
        if before - self.before < ENDED:
            return []
        losses = self.bound.losses().min(axis=1)
        self.promise = losses + np.maximum(self.bound.refunds(), 0.0)
        promise = self.promise * self.hopes
        first = np.argsort(-promise, kind="stable")[:BATCH]
        return cast("list[int]", first[promise[first] > LEAST_PROMISE].tolist())

    def visit(self, row: int) -> None:
        """Revise the claims of a row, and let it claim more if that lowers the bound."""
        before = self.bound.value
        if self.bound.is_kept(row):
            self.bound.take(Revision(row, LOWERED, LENT))
        losses = self.bound.loss(row)
        action, loss = int(losses.argmin()), float(losses.min())
        if loss > SMALLEST / 10.0 and self.bound.is_met_once(row):
            step = Step(row, action, SHARE, LENT, 1.0, COVER)
            fall, refund = self.bound.gain(step)
            if fall - refund > PAYS * loss:
                self.bound.take(step)
        gained = (before - self.bound.value) / max(self.promise[row], LEAST)
        hope = 0.2 * self.hopes[row] + 0.8 * gained
        self.hopes[row] = np.clip(hope, LEAST_HOPE, 1.0)
