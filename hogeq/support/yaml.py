"""YAML files of plain values, bounded before anything is made of them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from hogeq.support.files import read_whole
from hogeq.support.messages import BadInputError, one_line


class ConfigError(BadInputError):
    """A file of plain values that is refused; the message is one line that names the place."""


MAX_BYTES: Final = 1 << 20
"""Size of the largest config read, in bytes: far above any that says something."""

MAX_NODES: Final = 50_000
"""Most values and keys of a document, those that aliases repeat counted each time."""

MAX_DEPTH: Final = 50  # most lists and mappings within each other

MAX_SCALAR: Final = 1000  # longest text or number, in characters


def read_yaml(path: str | Path) -> Any:
    """Read one document of plain values from a file of at most `MAX_BYTES`, or `ConfigError`."""
    return parse_yaml(read_text(Path(path)), one_line(path))


# libyaml, which every wheel of PyYAML has in it, is ten times as fast as PyYAML's own parser.
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_NOT_PLAIN: Final = ("timestamp", "binary", "set", "omap", "pairs")


class Loader(_Base):  # type: ignore[misc]
    """YAML's safe loader of plain values, less repeated keys.

    Floats are also read as people write them: ``1e-3``. What JSON could not hold is refused: dates,
    bytes, sets, pairs.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that is given twice."""
        seen = set()
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key_node.value!r} is given twice", key_node.start_mark
                )
            seen.add(key_node.value)
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found

    yaml_constructors: Final = {
        tag: constructor
        for tag, constructor in _Base.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[2] not in _NOT_PLAIN
    }


# YAML 1.1 wants a dot in a float; without this rule ``1e-3`` would be text.
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+\Z"),
    list("-+0123456789"),
)


def read_text(path: Path) -> str:
    """Read a text file of at most `MAX_BYTES`, or refuse it with a `ConfigError`."""
    try:
        data = read_whole(path, MAX_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{one_line(path)}: cannot be read: {reason}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{one_line(path)}: not UTF-8 text: byte {error.start} is no character"
        ) from error


def parse_yaml(text: str, source: str) -> Any:
    """Read one YAML document of plain values, or refuse it with a `ConfigError`."""
    try:
        _require_small(text)
        return yaml.load(text, Loader=Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _place(mark, text) if mark else ""
        detail = one_line(" ".join(part for part in (error.context, error.problem) if part))
        raise ConfigError(f"{source}: {place}not plain YAML: {detail}") from error
    except yaml.reader.ReaderError as error:
        raise ConfigError(
            f"{source}: not plain YAML: character {error.position} is not allowed"
        ) from error
    # What is no number, say, fails in PyYAML's constructors, in each with errors of its own.
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError) as error:
        raise ConfigError(f"{source}: not plain YAML: {one_line(error)}") from error


def _place(mark: yaml.Mark, text: str) -> str:
    lines = text.splitlines() or [""]
    if mark.line < len(lines):
        return f"line {mark.line + 1}, column {mark.column + 1}: "
    return f"line {len(lines)}, column {len(lines[-1]) + 1}: "  # libyaml names the line after


def _require_small(text: str) -> None:
    """Refuse a document that is too large, while it is only a stream of events."""
    if "%TAG" in text:  # read in quadratic time, and of no use where there are no tags
        raise ValueError("%TAG is not allowed")
    nodes = 0
    sizes: dict[str | None, int] = {}  # of what an anchor names
    above: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=_Base):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = above.pop()
            sizes[anchor] = nodes - before
        elif isinstance(event, yaml.NodeEvent):
            if isinstance(event, yaml.CollectionStartEvent):
                above.append((event.anchor, nodes))
            elif isinstance(event, yaml.ScalarEvent):
                sizes[event.anchor] = 1
            nodes += sizes.get(event.anchor, 0) if isinstance(event, yaml.AliasEvent) else 1
            problem = _problem(event, nodes, len(above), sizes)
            if problem is not None:
                mark: Any = event.start_mark
                raise yaml.composer.ComposerError(None, None, problem, mark)


def _problem(
    event: yaml.NodeEvent, nodes: int, depth: int, sizes: Mapping[str | None, int]
) -> str | None:
    if isinstance(event, yaml.AliasEvent) and event.anchor not in sizes:
        return f"found alias {event.anchor!r} of nothing that ends before it"
    if isinstance(event, yaml.ScalarEvent) and len(event.value) > MAX_SCALAR:
        return f"a value of {len(event.value)} characters; allowed: {MAX_SCALAR}"
    if depth > MAX_DEPTH:
        return f"nested too deeply; allowed: {MAX_DEPTH} levels"
    if nodes > MAX_NODES:
        return f"more than {MAX_NODES} values, counting what aliases repeat"
    return None
