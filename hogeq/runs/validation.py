"""Mappings of a config, made into the parameters that they describe."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

from hogeq.support.messages import missing, one_line, refusal, unknown_key
from hogeq.support.parameters import keys
from hogeq.support.yaml import ConfigError

_Kind = TypeVar("_Kind")


def build(
    kind: type[_Kind], given: object, path: str, source: str, around: Collection[str] = ()
) -> _Kind:
    """Build parameters from a mapping, or refuse it with a `ConfigError` on its first problem.

    Parameters
    ----------
    kind : type
        A class of parameters.
    given : object
    path : str
        Of the mapping in the file; empty at the top.
    source : str
        The start of an error's line.
    around : collection of str
        Other keys that the mapping in the file may hold, for the message to name.

    Returns
    -------
    kind
    """
    known = {*keys(kind), *around}
    if not isinstance(given, Mapping):
        refuse(source, path, given, f"a mapping with {', '.join(sorted(known))}")
    require_known(given, known, path, source)
    try:
        return kind(**given)
    except (ValueError, TypeError) as error:
        where = f"{path}." if path else ""
        raise ConfigError(f"{source}: {where}{one_line(error, 500)}") from error


def require_known(given: Mapping[Any, Any], known: Collection[str], path: str, source: str) -> None:
    """Refuse a mapping with a key that is not known."""
    for key, value in given.items():
        if key not in known:
            raise ConfigError(f"{source}: {unknown_key(path, key, value, known)}")


def refuse(
    source: str, path: str, given: object, allowed: str, choices: Iterable[str] = ()
) -> NoReturn:
    """Refuse the value of a key."""
    raise ConfigError(f"{source}: {refusal(path, given, allowed, choices)}")


def refuse_missing(source: str, path: str, allowed: str) -> NoReturn:
    """Refuse a mapping that lacks a key."""
    raise ConfigError(f"{source}: {missing(path, allowed)}")
