"""YAML files of plain values, bounded before anything is made of them."""

import re
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml

from hogeq.support.files import read_whole
from hogeq.support.messages import BadInputError, one_line, unreadable


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
        return dict(super().construct_mapping(node, deep))

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
        raise ConfigError(unreadable(path, error)) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = one_line(path)
        raise ConfigError(f"{where}: not UTF-8 text: byte {error.start} is no character") from error


def parse_yaml(text: str, source: str) -> Any:
    """Read one YAML document of plain values, or refuse it with a `ConfigError`."""
    if "%TAG" in text:  # read in quadratic time, and of no use where there are no tags
        raise ConfigError(f"{source}: not plain YAML: %TAG is not allowed")
    try:
        _require_small(text)
        return yaml.load(text, Loader=Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _place(mark, text) if mark else ""
        detail = " ".join(part for part in (error.context, error.problem) if part)
        problem = f"{place}not plain YAML: {one_line(detail)}"
    except yaml.reader.ReaderError as error:
        problem = f"not plain YAML: character {error.position} is not allowed"
    # What is no number, say, fails in PyYAML's constructors, in each with errors of its own.
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError) as error:
        problem = f"not plain YAML: {one_line(error)}"
    raise ConfigError(f"{source}: {problem}")


def _place(mark: yaml.Mark, text: str) -> str:
    lines = text.splitlines() or [""]
    if mark.line < len(lines):
        return f"line {mark.line + 1}, column {mark.column + 1}: "
    return f"line {len(lines)}, column {len(lines[-1]) + 1}: "  # libyaml names the line after


def _require_small(text: str) -> None:
    """Refuse a document that is too large, while it is only a stream of events."""
    num_nodes = 0
    sizes: dict[str | None, int] = {}  # nodes of what an anchor names
    open_collections: list[tuple[str | None, int]] = []  # anchor, and nodes before its begin
    for event in yaml.parse(text, Loader=_Base):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_collections.pop()
            sizes[anchor] = num_nodes - before
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                _refuse(event, f"found alias {event.anchor!r} of nothing that ends before it")
            num_nodes += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            open_collections.append((event.anchor, num_nodes))
            num_nodes += 1
        elif isinstance(event, yaml.ScalarEvent):
            sizes[event.anchor] = 1
            num_nodes += 1
            if len(event.value) > MAX_SCALAR:
                _refuse(event, f"a value of {len(event.value)} characters; allowed: {MAX_SCALAR}")
        if len(open_collections) > MAX_DEPTH:
            _refuse(event, f"nested too deeply; allowed: {MAX_DEPTH} levels")
        if num_nodes > MAX_NODES:
            _refuse(event, f"more than {MAX_NODES} values, counting what aliases repeat")


def _refuse(event: Any, problem: str) -> NoReturn:
    raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
