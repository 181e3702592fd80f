"""Plain values, checked against what may stand where."""

import dataclasses
import functools
import typing
from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from hogeq.support.messages import error_line, nearest, shortened, shown_value
from hogeq.support.yaml import ConfigError

_Model = TypeVar("_Model", bound=BaseModel)


class Strict(BaseModel):
    """A mapping whose keys are all known and whose values are taken as they are."""

    # Infinity is a value to some solvers, the others refuse it themselves.
    model_config = ConfigDict(extra="forbid", strict=True)


def built_dataclass(kind: type, given: dict[str, Any], path: str, source: str) -> Any:
    """Build a dataclass of parameters from plain values, strictly typed."""
    values = checked(_model_of(kind), given, path, source)
    try:
        return kind(**{key: getattr(values, key) for key in type(values).model_fields})
    except (ValueError, TypeError) as error:
        # "starts: 0, allowed are ..." begins with the rest of the path.
        message = error_line(error)
        joint = "." if message.partition(":")[0] in given else ": "
        raise ConfigError(f"{source}: {path}{joint}{shortened(message)}") from error


@functools.cache
def _model_of(kind: type) -> type[BaseModel]:
    """Make the strict model of a stdlib dataclass: same fields, types and defaults."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        if field.default is not dataclasses.MISSING:
            default = field.default
        elif field.default_factory is not dataclasses.MISSING:
            default = Field(default_factory=field.default_factory)
        else:
            default = ...
        fields[field.name] = (hints[field.name], default)
    return create_model(kind.__name__, __base__=Strict, **fields)


def checked(model: type[_Model], given: object, path: str, source: str) -> _Model:
    """Validate one flat mapping, or refuse it with a `ConfigError` on its first problem.

    Parameters
    ----------
    model : type
        What the mapping must be.
    given : object
    path : str
        Of the mapping in the file; empty at the top.
    source : str
        The start of an error's line.

    Returns
    -------
    model
    """
    if not isinstance(given, dict):
        refuse(source, path, given, f"a mapping with {listed_keys(model)}")
    known_keys(given, set(model.model_fields), path, source)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        key = str(problem["loc"][0])
        where = f"{path}.{key}" if path else key
        schema = model.model_json_schema()["properties"][key]
        if problem["type"] == "missing":
            refuse_missing(source, where, described_schema(schema))
        refuse(source, where, given[key], described_schema(schema), _choices(schema))


def known_keys(given: dict[Any, Any], known: set[str], path: str, source: str) -> None:
    for key, value in given.items():
        if not isinstance(key, str) or key not in known:
            where = f"{path}.{key}" if path else str(key)
            near = nearest(key, known)
            raise ConfigError(
                f"{source}: {shortened(where)}: unknown key, given {shown_value(value)};"
                f" allowed: {', '.join(sorted(known))}" + (f"; nearest: {near}" if near else "")
            )


def refuse(
    source: str, path: str, given: object, allowed: str, choices: Iterable[str] = ()
) -> NoReturn:
    near = nearest(given, choices)
    raise ConfigError(
        f"{source}: {path + ': ' if path else ''}got {shown_value(given)}; allowed: {allowed}"
        + (f"; nearest: {near}" if near else "")
    )


def refuse_missing(source: str, path: str, allowed: str) -> NoReturn:
    raise ConfigError(f"{source}: {path}: missing; allowed: {allowed}")


def described_schema(schema: dict[str, Any]) -> str:
    """Say in words what a field's JSON schema allows."""
    if "description" in schema:
        return str(schema["description"])
    if "anyOf" in schema:
        return " or ".join(described_schema(part) for part in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " or ".join(_choices(schema))
    words = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "string": "text",
        "object": "a mapping",
        "array": "a list",
        "null": "null",
    }
    text = words.get(schema.get("type", ""), "a plain value")
    bounds = (
        ("minimum", ">="),
        ("exclusiveMinimum", ">"),
        ("maximum", "<="),
        ("exclusiveMaximum", "<"),
    )
    limits = [f"{sign} {schema[key]}" for key, sign in bounds if key in schema]
    return " ".join([text, " and ".join(limits)]) if limits else text


def _choices(schema: dict[str, Any]) -> list[str]:
    """Return the words that a field's JSON schema allows, if it is a choice of words."""
    parts = schema.get("anyOf", [schema])
    found = [
        value
        for part in parts
        for value in part.get("enum", [part["const"]] if "const" in part else [])
    ]
    return [str(value) for value in found]


def listed_keys(model: type[BaseModel]) -> str:
    return ", ".join(sorted(model.model_fields))
