"""YAML files of plain values."""

import re
from pathlib import Path
from typing import Any, Final

import yaml

from hogeq.runs.errors import ConfigError
from hogeq.support.messages import one_line

MAX_BYTES: Final = 1 << 20
"""Size of the largest config read, in bytes: far above any that says something."""


def read_yaml(path: str | Path) -> Any:
    """Read one document of plain values from a YAML file of at most `MAX_BYTES`.

    Raises
    ------
    ConfigError
        The file cannot be read, or is not plain YAML.
    """
    return parse_yaml(read_text(Path(path)), one_line(path))


class Loader(yaml.SafeLoader):
    """YAML's safe loader, less repeated keys, plus floats as people write them (``1e-3``)."""

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
        return super().construct_mapping(node, deep)


# YAML 1.1 wants a dot in a float; without this rule ``1e-3`` would be text.
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+\Z"),
    list("-+0123456789"),
)


def read_text(path: Path) -> str:
    """Read a text file of at most `MAX_BYTES`, or refuse it with a `ConfigError`."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{one_line(path)}: cannot be read: {reason}") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes, which no config is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text: byte {error.start} is no character") from error


def parse_yaml(text: str, source: str) -> Any:
    """Read one YAML document of plain values."""
    try:
        return yaml.load(text, Loader=Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        detail = one_line(" ".join(part for part in (error.context, error.problem) if part))
        raise ConfigError(f"{source}: {place}not plain YAML: {detail}") from error
    except yaml.reader.ReaderError as error:
        raise ConfigError(
            f"{source}: not plain YAML: character {error.position} is not allowed"
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{source}: not plain YAML: {one_line(error)}") from error
    except RecursionError as error:
        raise ConfigError(f"{source}: not plain YAML: nested too deeply") from error
