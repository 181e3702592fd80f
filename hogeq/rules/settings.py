"""Parts with parameters, and with a name and a sentence of one's own.

``{"boar_brawl": 2}`` is Boar Brawl with 2 in the place of 3. As a table is, it is kept as its own
text, ``'{"boar_brawl":{"factor":2}}'``: so rules stay hashable, and whoever has the rules has the
parameters. The parameters of a part are the keyword-only ones of its function. Their defaults say
what they are: a whole number, or a tuple of whole numbers.

====================================  ============================================================
``{boar_brawl: 2}``                   the first parameter
``{boar_brawl: {factor: 2}}``         parameters by name
``{sus_fuss: 3, hog_pile_double: }``  landings that act in this order
``{boar_brawl: 2, title: Big Boar}``  what people call it; ``says`` is what they are told it does
====================================  ============================================================
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, getdoc, signature
from typing import Any, Final

from hogeq.support.messages import LONGEST_TITLE, is_title, nearest, shown
from hogeq.support.parameters import NotAllowedError

TITLE: Final = "title"
SAYS: Final = "says"
MOST_PARAMETER: Final = 10_000  # highest value of a parameter

Part = Callable[..., Any]
Value = int | tuple[int, ...]


def is_setting(value: object) -> bool:
    """Whether the value of a field is a part with parameters: a mapping, or the text of one."""
    return isinstance(value, Mapping) or (isinstance(value, str) and value.startswith("{"))


def parameters_of(part: Part) -> dict[str, Value]:
    """Return the parameters of a part, its keyword-only arguments, with their default values."""
    return {
        parameter.name: parameter.default
        for parameter in signature(part).parameters.values()
        if parameter.kind is Parameter.KEYWORD_ONLY
    }


def setting_text(parts: Mapping[str, Part], value: Any, are_several: bool) -> str:
    """Check a part with parameters, and write it as the text by which rules hold it, JSON.

    Parameters that have their default value are left out; if none is left, the text is the part's
    name alone, or the names with + between.

    Parameters
    ----------
    parts : mapping
        The parts of this kind by name.
    value : mapping or str
        By name of a part its parameters; also `title` and `says`. Or the text of such a mapping.
    are_several : bool
        Whether several parts may act in order, as landings do.
    """
    settings_by_part = dict(_parse_mapping(value) if isinstance(value, str) else value)
    words = {
        key: _require_words(key, settings_by_part.pop(key))
        for key in (TITLE, SAYS)
        if key in settings_by_part
    }
    if not settings_by_part or (len(settings_by_part) > 1 and not are_several):
        number = "parts, each" if are_several else "one part"
        raise NotAllowedError(f"{number} with its parameters, and title and says, as a mapping")
    changed_by_part: dict[str, Any] = {}
    for name, settings in settings_by_part.items():
        if name not in parts:
            raise NotAllowedError(f"{', '.join(parts)}{nearest(name, parts)}")
        defaults = parameters_of(parts[name])
        changed_by_part[name] = _changed_parameters(str(name), defaults, settings)
    if not words and not any(changed_by_part.values()):
        return "+".join(changed_by_part)
    return json.dumps({**changed_by_part, **words}, separators=(",", ":"), ensure_ascii=False)


def _parse_mapping(text: str) -> Mapping[str, Any]:
    """Parse the text of a setting, a mapping as JSON."""
    try:
        mapping = json.loads(text)
    except (ValueError, RecursionError):
        raise NotAllowedError("the text of a mapping, as JSON") from None
    if not isinstance(mapping, Mapping):
        raise NotAllowedError("the text of a mapping, as JSON")
    return mapping


def _require_words(key: str, text: object) -> str:
    """Return the value of `title` or `says`; refuse all but printable text."""
    if not isinstance(text, str) or not is_title(text):
        allowed = f"a text of at most {LONGEST_TITLE} printable characters"
        raise NotAllowedError(f"{key}: {allowed}")
    return text


def _changed_parameters(name: str, defaults: Mapping[str, Value], settings: Any) -> dict[str, Any]:
    """Check the parameters of one part, and return those that differ from their defaults.

    `settings` is a mapping by name; None for no parameter, or the value of the first one alone.
    """
    if settings is None:
        settings = {}
    if not isinstance(settings, Mapping):
        settings = {next(iter(defaults), ""): settings}
    changed: dict[str, Any] = {}
    for key, value in settings.items():
        if key not in defaults:
            known = f"the parameters {', '.join(defaults)}" if defaults else "no parameter"
            raise NotAllowedError(f"{known} of {name}{nearest(key, defaults)}")
        takes_several = isinstance(defaults[key], tuple)
        numbers = value if isinstance(value, list | tuple) else [value]
        is_count_allowed = len(numbers) == 1 or (takes_several and numbers)
        if not is_count_allowed or not all(map(_is_allowed, numbers)):
            several = ", or a list of them" if takes_several else ""
            raise NotAllowedError(
                f"whole numbers from 0 to {MOST_PARAMETER}{several} as {key} of {name}; "
                f"it is {shown(value)}"
            )
        chosen: Value = tuple(numbers) if takes_several else numbers[0]
        if chosen != defaults[key]:
            changed[key] = chosen
    return changed


def _is_allowed(number: object) -> bool:
    """Whether this is a value of a parameter; True and False are no numbers."""
    return type(number) is int and 0 <= number <= MOST_PARAMETER


def set_part(parts: Mapping[str, Part], text: str) -> Part:
    """Make the function of a setting: its parts with their parameters, one after another.

    `text` is that of `setting_text`, `parts` are those of this kind by name. The docstring of the
    function is the text that people are shown.
    """
    steps: list[Part] = []
    lines: list[str] = []
    names: list[str] = []
    for name, settings in _parse_mapping(text).items():
        if name in {TITLE, SAYS}:
            continue
        changed = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in settings.items()
        }
        steps.append(partial(parts[name], **changed))
        lines.append(meaning(parts[name], changed))
        values = [f"{key} {_join_values(value)}" for key, value in changed.items()]
        names.append(" ".join([name, *values]))

    return act_in_order(steps, ", ".join(names), lines)


def act_in_order(steps: list[Part], name: str, lines: list[str]) -> Part:
    """Make the part that has the score changed by several parts, one after another.

    `lines` describe them, and become its docstring.
    """

    def part(score: int, opponent: int) -> Any:
        for step in steps:
            score = step(score, opponent)
        return score

    part.__name__ = name
    part.__doc__ = _join_lines(lines)
    return part


def _join_lines(lines: list[str]) -> str:
    """Join descriptions of parts that act one after another."""
    if len(lines) == 1:
        return lines[0]
    return "; then ".join(f"{line[0].lower()}{line[1:].removesuffix('.')}" for line in lines)


def explain(part: Part, template: str) -> None:
    """Set the text that people are shown about a part; parameters stand in it in braces."""
    part.template = template  # type: ignore[attr-defined]
    part.__doc__ = _fill_template(part, template, {})


def meaning(part: Part, changed: Mapping[str, Value]) -> str:
    """Return the first line about a part, with the values of its parameters."""
    template = getattr(part, "template", "") or getdoc(part) or part.__name__
    return _fill_template(part, template.partition("\n")[0], changed)


def _fill_template(part: Part, template: str, changed: Mapping[str, Value]) -> str:
    """Replace the parameters in braces by their values, the default ones unless changed."""
    for name, default in parameters_of(part).items():
        template = template.replace(f"{{{name}}}", _join_values(changed.get(name, default)))
    return template


def _join_values(value: Value) -> str:
    """Write the value of a parameter; several numbers with "or" between."""
    return " or ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def own_words(text: str, key: str) -> str | None:
    """Return the `title` or `says` (the key) of a setting; None if it has none."""
    return _parse_mapping(text).get(key) if is_setting(text) else None


def base_names(text: str) -> list[str]:
    """List the parts whose parameters a setting changes; of any other text itself."""
    if not is_setting(text):
        return [text]
    return [name for name in _parse_mapping(text) if name not in {TITLE, SAYS}]


def changes(text: str) -> str:
    """Write the parameters of a setting for people: ``with 2``; empty if it has none.

    A single parameter needs no name; several have theirs.
    """
    if not is_setting(text):
        return ""
    changed_by_part = [
        changed
        for name, changed in _parse_mapping(text).items()
        if name not in {TITLE, SAYS} and changed
    ]
    if len(changed_by_part) == 1 and len(changed_by_part[0]) == 1:
        (value,) = changed_by_part[0].values()
        return f"with {_join_values(tuple(value) if isinstance(value, list) else value)}"
    pairs = [f"{key} {value}" for changed in changed_by_part for key, value in changed.items()]
    return f"with {', '.join(pairs)}" if pairs else ""
