"""Parameters that are checked when they are given, by pydantic, and refused in one line.

`parameters` makes a class of annotated fields a frozen dataclass. Types are strict: 2.5 and True
are no whole numbers, and NaN and infinity are no numbers unless a field allows them. The limits
below serve as annotations: ``starts: Count = 4``.
"""

import dataclasses
import functools
import inspect
import json
import re
import textwrap
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, TypeVar, cast, dataclass_transform

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from hogeq.support.messages import HogeqError, missing, refusal, unknown_key

Kind = TypeVar("Kind")

MOST: Final = 10**9
"""The most that any count may be: more would only fail later, in an array or a range."""

Count: TypeAlias = Annotated[int, Field(ge=1, le=MOST)]
Natural: TypeAlias = Annotated[int, Field(ge=0, le=MOST)]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
PositiveShare: TypeAlias = Annotated[float, Field(gt=0, le=1)]
Positive: TypeAlias = Annotated[float, Field(gt=0)]
NotNegative: TypeAlias = Annotated[float, Field(ge=0)]

MAX_SEED: Final = 2**32 - 1  # the largest seed: what every generator in use takes
MOST_JOBS: Final = 1024  # the most threads or processes: each has arrays of its own

Jobs: TypeAlias = Annotated[int, Field(ge=1, le=MOST_JOBS)]

Seed: TypeAlias = Annotated[int, Field(ge=0, le=MAX_SEED)]

_STRICT: Final = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class ParameterError(HogeqError):
    """A parameter that is refused; the message is one line that starts with its name."""


class NotAllowedError(ValueError):
    """Refusal by the validator of one value, which alone knows the values allowed."""

    def __init__(self, allowed: str, choices: Iterable[str] = ()) -> None:
        super().__init__(allowed)
        self.allowed = allowed
        self.choices = tuple(choices)


def one_of(known: Collection[str]) -> BeforeValidator:
    """Make the validator of a word that is a key of `known`, which may still grow."""

    def check(value: object) -> object:
        if not isinstance(value, str) or value not in known:
            raise NotAllowedError(", ".join(known), known)
        return value

    return BeforeValidator(check)


@dataclass_transform(frozen_default=True, field_specifiers=(Field,))
def parameters(kind: type[Kind]) -> type[Kind]:
    """Make a class a frozen dataclass that refuses values outside its annotations.

    Where parameters depend on each other, the class has a `__post_init__` that raises a
    `ValueError`, made by `hogeq.support.messages.refusal`.

    Examples
    --------
    >>> import hogeq
    >>> @hogeq.parameters
    ... class Step:
    ...     size: float = 0.5
    >>> Step(size="half")
    Traceback (most recent call last):
    ...
    hogeq.support.parameters.ParameterError: size: got 'half'; allowed: numbers
    """
    parameter_class = cast("type[Kind]", dataclass(kind, frozen=True, config=_STRICT))
    initialise = parameter_class.__init__

    @functools.wraps(initialise)
    def checked(self: Kind, *args: Any, **given: Any) -> None:
        try:
            initialise(self, *args, **given)
        except ValidationError as error:
            raise ParameterError(_first_problem(parameter_class, error)) from error

    cast("Any", parameter_class).__init__ = checked
    # For `help`: pydantic's annotations would fill lines. `described` says what is allowed.
    signature = inspect.signature(parameter_class)
    bare = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    cast("Any", parameter_class).__signature__ = inspect.Signature(bare)
    return parameter_class


def read(kind: type[Kind], given: object) -> Kind:
    """Make parameters of a class from a mapping, as files have them."""
    known = keys(kind)
    if not isinstance(given, Mapping):
        raise NotAllowedError(f"a mapping with {', '.join(sorted(known))}")
    require_known(given, known)
    return kind(**given)


def require_known(given: Mapping[Any, Any], known: Collection[str]) -> None:
    """Refuse a mapping with a key that is not known."""
    for key, value in given.items():
        if key not in known:
            raise ParameterError(unknown_key("", key, value, known))


def section(kind: type[Any]) -> BeforeValidator:
    """Let a mapping stand for parameters within others, as in files."""
    return BeforeValidator(lambda given: given if isinstance(given, kind) else read(kind, given))


def check(kind: Any, **given: object) -> None:
    """Refuse arguments, by name, whose values an annotated type `kind` does not allow."""
    for name, value in given.items():
        try:
            _adapter(kind).validate_python(value)
        except ValidationError as error:
            schema = _adapter(kind).json_schema()
            raise ParameterError(_refusal_of_value(name, error, schema)) from error


def plain(given: Any) -> dict[str, Any]:
    """Return parameters as plain values by their names, tuples as lists."""
    values = type(given).__pydantic_serializer__.to_python(given)
    return dict(json.loads(json.dumps(values)))


def keys(kind: type) -> list[str]:
    """Names of parameters."""
    return list(_properties(kind))


class Meaning(NamedTuple):
    """What help says of a parameter."""

    text: str
    allowed: str
    default: object


# A section of a docstring that lists names, up to the next section; and one or more names in it.
_SECTION: Final = re.compile(
    r"^(?:Attributes|Parameters)\n-+\n(.*?)(?=^\w+\n-{3,}$|\Z)", re.MULTILINE | re.DOTALL
)
_ENTRY: Final = re.compile(r"^(\w+(?:, \w+)*) : .*\n((?: {4}.*\n?)+)", re.MULTILINE)


def meanings(kind: type) -> dict[str, Meaning]:
    """Meaning, allowed values and default of each parameter of a class, by name.

    The meanings stand in the docstring of the class, or in that of the class that it inherits from.
    """
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        section = _SECTION.search(inspect.cleandoc(base.__dict__.get("__doc__") or ""))
        for names, text in _ENTRY.findall(section[1] if section else ""):
            texts |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return {
        field.name: Meaning(
            texts.get(field.name, ""),
            _describe_schema(_properties(kind)[field.name]),
            field.default,
        )
        for field in dataclasses.fields(cast("Any", kind))
    }


def described(kind: type) -> str:
    """Docstring of a class of parameters with a section that explains each of them.

    The section replaces the first one that lists names. A class without a docstring has that of the
    class that it inherits from.
    """
    lines = []
    for name, (text, allowed, default) in meanings(kind).items():
        shown_default = "empty" if default == "" else repr(default)
        given = "" if default is dataclasses.MISSING else f", default {shown_default}"
        lines += [f"{name} : {allowed}{given}", *textwrap.wrap(text, 92, **_INDENTED)]
    docstring = inspect.getdoc(kind) or ""
    if not lines:
        return docstring
    written = "\n".join(["Parameters", "----------", *lines, ""])
    if _SECTION.search(docstring):
        return _SECTION.sub(lambda _: f"{written}\n", docstring, count=1).rstrip() + "\n"
    before, heading, examples = docstring.partition("Examples\n--------\n")
    return f"{before.rstrip()}\n\n{written}\n{heading}{examples}".rstrip() + "\n"


_INDENTED: Final[dict[str, Any]] = {"initial_indent": "    ", "subsequent_indent": "    "}


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=ConfigDict(strict=True, allow_inf_nan=False))


@functools.cache
def _properties(kind: type) -> dict[str, dict[str, Any]]:
    return dict(TypeAdapter(kind).json_schema().get("properties", {}))


def _first_problem(kind: type, error: ValidationError) -> str:
    """Write the first of pydantic's errors about parameters of a class as one of our messages."""
    first = error.errors(include_url=False)[0]
    if not first["loc"]:  # the class itself refused them
        return str(first["ctx"]["error"])
    key = first["loc"][0]
    fields = dataclasses.fields(cast("Any", kind))
    if isinstance(key, int):  # given by its position
        key = fields[key].name if key < len(fields) else f"argument {key + 1}"
    properties = _properties(kind)
    if first["type"] in {"unexpected_keyword_argument", "unexpected_positional_argument"}:
        text = unknown_key("", key, first["input"], properties)
        return text if properties else f"{text}none"  # its list of those allowed is empty
    return _refusal_of_value(key, error, properties[key])


def _refusal_of_value(name: str, error: ValidationError, schema: dict[str, Any]) -> str:
    """Write the first of pydantic's errors about one value; its JSON schema says what is allowed.

    A validator of our own, which raised an error of ours, knows that better.
    """
    first = error.errors(include_url=False)[0]
    if first["type"] == "missing":
        return missing(name, _describe_schema(schema))
    reason = first.get("ctx", {}).get("error")
    if isinstance(reason, NotAllowedError):
        return refusal(name, first["input"], reason.allowed, reason.choices)
    if isinstance(reason, ParameterError):  # of parameters within these
        return f"{name}.{reason}"
    if reason is not None:
        return str(reason)
    return refusal(name, first["input"], _describe_schema(schema), _choices(schema))


def _describe_schema(schema: dict[str, Any]) -> str:
    """Describe in words the values that a JSON schema allows."""
    if "description" in schema:
        return str(schema["description"])
    if "anyOf" in schema:
        return " or ".join(_describe_schema(part) for part in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " or ".join(_choices(schema))
    words = {
        "integer": "whole numbers",
        "number": "numbers",
        "boolean": "true or false",
        "string": "text",
        "object": "a mapping",
        "array": "a list",
        "null": "null",
    }
    parts = [words.get(schema.get("type", ""), "plain values")]
    has_both_limits = "minimum" in schema and "maximum" in schema
    limits = (
        ("minimum", "from"),
        ("exclusiveMinimum", "above"),
        ("maximum", "to" if has_both_limits else "up to"),
        ("exclusiveMaximum", "below"),
    )
    parts += [f"{word} {schema[key]:.15g}" for key, word in limits if key in schema]
    return " ".join(parts)


def _choices(schema: dict[str, Any]) -> list[str]:
    """Return the words that the JSON schema of a value allows, if it is a choice of words."""
    return [
        str(value)
        for part in schema.get("anyOf", [schema])
        for value in part.get("enum", [part["const"]] if "const" in part else [])
    ]
