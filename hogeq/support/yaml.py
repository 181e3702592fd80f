"""YAML files of plain values, bounded before anything is made of them."""

import re
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml

from hogeq.support.files import read_whole
from hogeq.support.messages import HogeqError, one_line, refusals_of, shown, unreadable
from hogeq.support.text import misplaced, text_of


class ConfigError(HogeqError):
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


_NOT_PLAIN: Final = ("timestamp", "binary", "set", "omap", "pairs")  # types that JSON lacks


class Loader(_Base):  # type: ignore[misc]
    """YAML's safe loader, which refuses repeated keys and types that JSON lacks.

    Those are dates, bytes, sets and pairs. Floats may be written without a dot: ``1e-3``.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Make a mapping; refuse a key that is given twice."""
        keys = set()
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in keys:
                _refuse(key_node.start_mark, f"key {shown(key_node.value)} is given twice")
            keys.add(key_node.value)
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
    with refusals_of(one_line(path), ConfigError):
        return text_of(data)


def parse_yaml(text: str, source: str) -> Any:
    """Parse one YAML document of plain values; `ConfigError` names the place of a fault.

    `source` begins messages.
    """
    if "%TAG" in text:  # takes quadratic time, and plain values have no tags
        raise ConfigError(f"{source}: not plain YAML: %TAG is not allowed")
    try:
        _require_small(text)
        return yaml.load(text, Loader=Loader)  # noqa: S506 - a subclass of the safe loader
    except _RefusedError as error:
        problem = error.problem or ""
    except yaml.MarkedYAMLError as error:
        message = f"{error.context or ''} {error.problem or ''}"
        allowed = next((hint for part, hint in _ALLOWED if part in message), _PLAIN)
        mark = error.problem_mark or error.context_mark
        problem = misplaced(text, mark.index if mark else 0, "not plain YAML", allowed)
    except yaml.reader.ReaderError as error:
        # Its position counts bytes in libyaml, characters in Python.
        place = text.find(chr(error.character))
        problem = misplaced(text, place, "not plain YAML", "characters that can be seen")
    # Values that are malformed, numbers say, raise various errors in PyYAML's constructors.
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError):
        problem = f"not plain YAML: a value is none of those allowed; allowed: {_PLAIN}"
    raise ConfigError(f"{source}: {problem}")


_PLAIN: Final = "texts, numbers, true, false, null, lists and mappings"
_ALLOWED: Final = (
    ("mapping values", "one `key: value` a line, and quotes around a text with a colon"),
    ("',' or '}'", "a comma, or } at the end of a mapping"),
    ("',' or ']'", "a comma, or ] at the end of a list"),
    ("'-' indicator", "the next `- value` of a list, below the one before"),
    ("block mapping", "the next `key: value`, below the one before"),
    ("expected ':'", "a colon after a key"),
    ("cannot start", "no tab before a value, and quotes around a text that begins with it"),
    ("quoted scalar", "a text with a quote at its end, and known characters after \\"),
    ("single document", "one document"),
    ("alias", "aliases of what has an anchor before"),
    ("anchor", "anchors of different names"),
    ("constructor for the tag", f"{_PLAIN}; dates in quotes, and no tags"),
    ("unhashable key", "texts and numbers as keys"),
)
"""What is allowed, by a part of the message of PyYAML or libyaml."""


class _RefusedError(yaml.MarkedYAMLError):
    """YAML that is refused although it is valid; its problem is in our words."""


def _require_small(text: str) -> None:
    """Refuse a document that has too many nodes or levels, before any value is made.

    The nodes of an alias are counted each time: aliases of aliases can stand for billions.
    """
    num_nodes = 0
    sizes: dict[str | None, int] = {}  # number of nodes by anchor
    open_collections: list[tuple[str | None, int]] = []  # anchor, and nodes before its begin
    for event in yaml.parse(text, Loader=_Base):
        mark = event.start_mark
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, nodes_before = open_collections.pop()
            sizes[anchor] = num_nodes - nodes_before
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                _refuse(mark, f"alias {shown(event.anchor)} of nothing that ends before it")
            num_nodes += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            open_collections.append((event.anchor, num_nodes))
            num_nodes += 1
        elif isinstance(event, yaml.ScalarEvent):
            sizes[event.anchor] = 1
            num_nodes += 1
            if len(event.value) > MAX_SCALAR:
                _refuse(mark, f"a value of {len(event.value)} characters; allowed: {MAX_SCALAR}")
        if len(open_collections) > MAX_DEPTH:
            _refuse(mark, f"nested too deeply; allowed: {MAX_DEPTH} levels")
        if num_nodes > MAX_NODES:
            _refuse(mark, f"more than {MAX_NODES} values, counting what aliases repeat")


def _refuse(mark: Any, problem: str) -> NoReturn:
    """Raise a refusal that names the place of a mark."""
    place = f"line {mark.line + 1}, column {mark.column + 1}"
    raise _RefusedError(None, None, f"{place}: not plain YAML: {problem}")
