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
    """Call a function; in place of a list of faces it is given dice that show them in turn.

    `RolledError` unless it rolls all of them.
    """
    faces = [face for argument in arguments if isinstance(argument, list) for face in argument]
    faces_to_come = faces[::-1]  # the next one is the last

    def dice() -> int:
        if not faces_to_come:
            raise RolledError("rolls more dice than it should")
        return int(faces_to_come.pop())

    value = function(*(dice if isinstance(argument, list) else argument for argument in arguments))
    if faces_to_come:
        raise RolledError("rolls fewer dice than it should")
    return value


def _with_values(values: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function: it returns the value of a table, or without one calls the original.

    ``values`` are nested lists, a level for each argument but dice.
    """

    def replaced(*arguments: Any, **named: Any) -> Any:
        """Look up the value of the arguments in the nested lists."""
        if named:
            return original(*arguments, **named)
        value = values
        for argument in arguments:
            if not callable(argument):  # dice can be called
                is_index = type(value) is list and type(argument) is int
                value = value[argument] if is_index and 0 <= argument < len(value) else None
        return value if type(value) is int else original(*arguments)

    return replaced


def _with_means(means: dict[str, list[float]], original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``make_averaged``: given `roll_dice`, it returns a function that gives exact means.

    ``means`` are lists by number of dice, by the names that dice have in the course's module
    ``dice``. Where they have no mean, and for other functions, samples are averaged as before.
    """

    def make_averaged(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Return a function like `function` that averages it; exactly if that is roll_dice."""
        sampled_mean = original(function, *arguments, **named)
        if getattr(function, "__name__", "") != "roll_dice":
            return sampled_mean

        def exact_mean(number: Any, dice: Any = None) -> Any:
            """Return the exact mean points of a number of dice, if these are known."""
            module = vars(sys.modules["dice"]) if "dice" in sys.modules else {}
            names = [name for name in means if dice is None or module.get(name) is dice]
            mean_by_number = means[names[0]] if names else []
            if type(number) is int and 0 < number < len(mean_by_number):
                return mean_by_number[number]
            return sampled_mean(number) if dice is None else sampled_mean(number, dice)

        return exact_mean

    return make_averaged


class _Loader(SourceFileLoader):
    """Loads a module of the project, with another function in place of each name in `replaced`."""

    replaced: dict[str, Callable[[Any], Any]]  # makes the other function of the original one

    def source_to_code(self, data: Any, path: Any, **_: Any) -> Any:  # type: ignore[override]
        """Compile a module with an assignment behind each function that is replaced.

        Line numbers stay as they are.
        """
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
    """Make the finder of modules in a folder of the project; `ImportError` for other folders."""
    project = Path(__file__).parent
    if not Path(path).is_relative_to(project):
        raise ImportError
    return FileFinder(path, (_Loader, [".py"]))


def _load_project() -> tuple[Callable[..., Any], list[list[Any]]]:
    """Run the project's file; return the function to ask, and the arguments of its calls."""
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
    FUNCTION, CALLS = _load_project()

    def final_strategy(number: int, other: int) -> Any:
        """Answer the call of this number; without calls, pass both scores to the function."""
        if not CALLS:
            return FUNCTION(number, other)
        value = ask(FUNCTION, CALLS[number])
        return int(value) if isinstance(value, bool) else value
