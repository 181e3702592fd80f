"""Registries: what users give names to, by name. A name is given once."""

import re
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import Any, Final, NamedTuple, TypeVar

from hogeq.support.messages import refusal, shown

Registered = TypeVar("Registered", bound=type[Any])

NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,59}"


class Entry(NamedTuple):
    """One name that was entered."""

    registry: MutableMapping[str, Any]
    what: str
    name: str


_watchers: list[list[Entry]] = []


def enter(registry: MutableMapping[str, Any], what: str, name: str, value: object) -> None:
    """Enter a value into a registry, under a name that is free."""
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise ValueError(refusal(what, name, "a name of 1 to 60 letters, digits and . _ : -"))
    if name in registry:
        holder = getattr(registry[name], "__name__", None)
        raise ValueError(f"{what} {name}: name is taken{f' by {holder}' if holder else ''}")
    registry[name] = value
    for entries in _watchers:
        entries.append(Entry(registry, what, name))


def entering(
    registry: MutableMapping[str, Any], what: str, name: str, base: type[Any]
) -> Callable[[Registered], Registered]:
    """Class decorator that enters a class of parameters into a registry."""

    def decorate(kind: Registered) -> Registered:
        fits = isinstance(kind, type) and issubclass(kind, base) and is_dataclass(kind)
        lacking = sorted(getattr(kind, "__abstractmethods__", ()))
        if not fits or lacking:
            without = f" without {', '.join(lacking)}" if lacking else ""
            raise ValueError(
                f"{what} {name}: got {shown(kind)}{without}; allowed: a subclass of "
                f"{base.__name__} with all its methods and the decorator parameters"
            )
        enter(registry, what, name, kind)
        return kind

    return decorate


@contextmanager
def all_or_none() -> Iterator[list[Entry]]:
    """List what is entered in the block, and withdraw all of it if the block raises."""
    entries: list[Entry] = []
    _watchers.append(entries)
    try:
        yield entries
    except BaseException:
        for entry in entries:
            del entry.registry[entry.name]
        raise
    finally:
        _watchers.pop()
