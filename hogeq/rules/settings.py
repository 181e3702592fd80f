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
MOST: Final = 10_000  # of a parameter, and of the numbers in one

Part = Callable[..., Any]
Value = int | tuple[int, ...]


def is_setting(value: object) -> bool:
    """Whether the value of a field is a part with parameters: a mapping, or the text of one."""
    return isinstance(value, Mapping) or (isinstance(value, str) and value.startswith("{"))


def parameters_of(part: Part) -> dict[str, Value]:
    """Give the parameters of a part by name, with their usual values."""
    known = signature(part).parameters.values()
    return {one.name: one.default for one in known if one.kind is Parameter.KEYWORD_ONLY}


def setting_text(parts: Mapping[str, Part], value: Any, are_several: bool) -> str:
    """Check a part with parameters, and write it as the text by which rules hold it.

    Parameters that have their usual value are left out; a part without others is its name alone.
    `are_several` says whether several parts may act in order.
    """
    given = dict(_parsed(value) if isinstance(value, str) else value)
    words = {key: _words(key, given.pop(key)) for key in (TITLE, SAYS) if key in given}
    if not given or (len(given) > 1 and not are_several):
        number = "parts, each" if are_several else "one part"
        raise NotAllowedError(f"{number} with its parameters, and title and says, as a mapping")
    chosen: dict[str, Any] = {}
    for name, settings in given.items():
        if name not in parts:
            raise NotAllowedError(f"{', '.join(parts)}{nearest(name, parts)}")
        chosen[name] = _settings(str(name), parameters_of(parts[name]), settings)
    if not words and not any(chosen.values()):
        return "+".join(chosen)
    return json.dumps({**chosen, **words}, separators=(",", ":"), ensure_ascii=False)


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise NotAllowedError("the text of a mapping, as JSON") from None
    if not isinstance(found, Mapping):
        raise NotAllowedError("the text of a mapping, as JSON")
    return found


def _words(key: str, given: object) -> str:
    if not isinstance(given, str) or not is_title(given):
        allowed = f"a text of at most {LONGEST_TITLE} printable characters"
        raise NotAllowedError(f"{key}: {allowed}")
    return given


def _settings(name: str, usual: Mapping[str, Value], given: Any) -> dict[str, Any]:
    """Check the parameters of one part; give those that are not as usual."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        given = {next(iter(usual), ""): given}
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key not in usual:
            known = f"the parameters {', '.join(usual)}" if usual else "no parameter"
            raise NotAllowedError(f"{known} of {name}{nearest(key, usual)}")
        numbers = value if isinstance(value, list | tuple) else [value]
        is_number = len(numbers) == 1 or isinstance(usual[key], tuple)
        if not numbers or not is_number or not all(_is_allowed(one) for one in numbers):
            several = ", or a list of them" if isinstance(usual[key], tuple) else ""
            raise NotAllowedError(
                f"whole numbers from 0 to {MOST}{several} as {key} of {name}; it is {shown(value)}"
            )
        wanted: Value = tuple(numbers) if isinstance(usual[key], tuple) else numbers[0]
        if wanted != usual[key]:
            found[key] = wanted
    return found


def _is_allowed(number: object) -> bool:
    return type(number) is int and 0 <= number <= MOST


def set_part(parts: Mapping[str, Part], text: str) -> Part:
    """Make the function of a part with parameters; its docstring is what people are told."""
    given = {key: value for key, value in _parsed(text).items() if key not in {TITLE, SAYS}}
    steps, lines, names = list[Part](), list[str](), list[str]()
    for name, settings in given.items():
        changed = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in settings.items()
        }
        steps.append(partial(parts[name], **changed))
        lines.append(meaning(parts[name], changed))
        names.append(" ".join([name, *(f"{key} {_listed(one)}" for key, one in changed.items())]))

    def part(score: int, opponent: int) -> Any:
        for step in steps[:-1]:
            score = step(score, opponent)
        return steps[-1](score, opponent)

    part.__name__, part.__doc__ = ", ".join(names), in_order(lines)
    return part


def in_order(lines: list[str]) -> str:
    """Join what parts do that act one after another."""
    if len(lines) == 1:
        return lines[0]
    return "; then ".join(f"{line[0].lower()}{line[1:].removesuffix('.')}" for line in lines)


def explain(part: Part, template: str) -> None:
    """Give a part the text that people are shown, with names of parameters in braces."""
    part.template = template  # type: ignore[attr-defined]
    part.__doc__ = _filled(part, template, {})


def meaning(part: Part, changed: Mapping[str, Value]) -> str:
    """Give the first line about a part, with the values of its parameters."""
    template = getattr(part, "template", "") or getdoc(part) or part.__name__
    return _filled(part, template.partition("\n")[0], changed)


def _filled(part: Part, template: str, changed: Mapping[str, Value]) -> str:
    for name, usual in parameters_of(part).items():
        template = template.replace(f"{{{name}}}", _listed(changed.get(name, usual)))
    return template


def _listed(value: Value) -> str:
    return " or ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def own_words(text: str, key: str) -> str | None:
    """Title of a part, or what it says, as a setting gives it; None if it gives none."""
    return _parsed(text).get(key) if is_setting(text) else None


def base_names(text: str) -> list[str]:
    """List the parts that a setting changes; of another part its name."""
    return (
        [name for name in _parsed(text) if name not in {TITLE, SAYS}]
        if is_setting(text)
        else [text]
    )


def changes(text: str) -> str:
    """Write the parameters of a setting for people: ``with 2``; empty if it is none."""
    if not is_setting(text):
        return ""
    given = [one for key, one in _parsed(text).items() if key not in {TITLE, SAYS} and one]
    if len(given) == 1 and len(given[0]) == 1:
        ((value),) = given[0].values()
        return f"with {_listed(tuple(value) if isinstance(value, list) else value)}"
    pairs = [f"{key} {one}" for settings in given for key, one in settings.items()]
    return f"with {', '.join(pairs)}" if pairs else ""
