"""Ask one function of somebody's project, in the process that `sandbox` starts for it.

A copy of this file lies among copies of the project's files, and ``probe.json`` beside it says what
to ask. To the harness it is a strategy: the question ``(n, 0)`` is the n-th call, and the answer is
what the function returns. Dice are scripted: a list among the arguments is the faces to come, all
of which have to be rolled. Right values can stand in for functions of the project (``values``), and
exact means for samples of rolls (``means``). Nothing of hogeq is imported.
"""

import ast
import builtins
import importlib
import json
import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from typing import Any


class RolledError(Exception):
    """Dice were not rolled as often as they should be."""


def ask(function: Callable[..., Any], arguments: list[Any]) -> Any:
    """Call a function; in place of a list it is given dice that show these faces in turn."""
    faces = [face for argument in arguments if isinstance(argument, list) for face in argument]
    left = faces[::-1]

    def dice() -> int:
        if not left:
            raise RolledError("rolls more dice than it should")
        return int(left.pop())

    value = function(*(dice if isinstance(argument, list) else argument for argument in arguments))
    if left:
        raise RolledError("rolls fewer dice than it should")
    return value


def _with_values(values: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function: it gives the value of a table, if its arguments have one there.

    ``values`` are lists in lists, a level for each argument but dice.
    """

    def replaced(*arguments: Any, **named: Any) -> Any:
        if named:
            return original(*arguments, **named)
        value = values
        for argument in arguments:
            if not callable(argument):  # dice
                is_index = type(value) is list and type(argument) is int
                value = value[argument] if is_index and 0 <= argument < len(value) else None
        return value if type(value) is int else original(*arguments)

    return replaced


def _with_means(means: dict[str, list[float]], original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``make_averaged``: what it makes of `roll_dice` gives exact means, by number of dice.

    ``means`` are by the names that dice have in the course's module ``dice``.
    """

    def make_averaged(function: Callable[..., Any], *more: Any, **named: Any) -> Any:
        sampled = original(function, *more, **named)
        if getattr(function, "__name__", "") != "roll_dice":
            return sampled

        def averaged(number: Any, dice: Any = None) -> Any:
            module = vars(sys.modules["dice"]) if "dice" in sys.modules else {}
            names = [name for name in means if dice is None or module.get(name) is dice]
            row = means[names[0]] if names else []
            if type(number) is int and 0 < number < len(row):
                return row[number]
            return sampled(number) if dice is None else sampled(number, dice)

        return averaged

    return make_averaged


class _Loader(SourceFileLoader):
    """Loads a module of the project, with another function in place of each name in `replaced`."""

    replaced: dict[str, Callable[[Any], Any]]  # makes the other function of the original one

    def source_to_code(self, data: Any, path: Any, **_: Any) -> Any:  # type: ignore[override]
        """Let an assignment follow each function that is replaced; lines stay as they are."""
        tree = ast.parse(data, path)
        body: list[ast.stmt] = []
        for node in tree.body:
            body.append(node)
            if isinstance(node, ast.FunctionDef) and node.name in self.replaced:
                text = f"{node.name} = __hogeq__[{node.name!r}]({node.name})"
                (assignment,) = ast.parse(text).body
                body.append(ast.copy_location(assignment, node))
        tree.body = body
        return compile(ast.fix_missing_locations(tree), path, "exec")


def _finder(path: str) -> Any:
    here = Path(__file__).parent
    if not Path(path).is_relative_to(here):
        raise ImportError
    return FileFinder(path, (_Loader, [".py"]))


def _project() -> tuple[Callable[..., Any], list[list[Any]]]:
    """Run the project's file; give the function to ask, and its calls."""
    options = json.loads(Path(__file__).with_name("probe.json").read_text())
    # By this name the harness says in which line of a file an error was raised.
    sys.argv[:] = [str(Path(__file__).with_name(options["file"]))]
    tables = options.get("values", {})
    _Loader.replaced = {name: partial(_with_values, table) for name, table in tables.items()}
    if options.get("means"):
        _Loader.replaced["make_averaged"] = partial(_with_means, options["means"])
    vars(builtins)["__hogeq__"] = _Loader.replaced
    sys.path_hooks.insert(0, _finder)
    module = importlib.import_module(options["module"])
    return getattr(module, options["function"]), options.get("calls", [])


if __name__ == "final_strategy":  # as the harness calls what it runs
    FUNCTION, CALLS = _project()

    def final_strategy(number: int, other: int) -> Any:
        """Answer the call of this number; without calls, what the harness asks for."""
        if not CALLS:
            return FUNCTION(number, other)
        value = ask(FUNCTION, CALLS[number])
        return int(value) if isinstance(value, bool) else value
