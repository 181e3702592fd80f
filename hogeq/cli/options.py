"""Options that many commands take, and how help groups them: the basic ones first."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from hogeq.support.parameters import MOST_JOBS

MEMORY = "What the player to move remembers"
SEARCH = "Effort of the search"
PROOF = "Proof"
WORKERS = "Who computes"
OUTPUT = "Output"
CODE = "Code of others"

PURIFIERS = "{purifiers}"
"""In an option's help: the purifiers there are. They are imported only where help is printed."""


def option(about: str, *names: str, group: str | None = None, **more: Any) -> Any:
    """Declare an option: what help says of it, how it is written, and its group in help."""
    return typer.Option(*names, help=about, rich_help_panel=group, **more)


def argument(name: str, about: str) -> Any:
    """Declare an argument."""
    return typer.Argument(metavar=name, help=about)


class Command(TyperCommand):
    """A command whose help lists options by groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, those without a group first."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
            group = getattr(parameter, "rich_help_panel", None) or kind
            groups.setdefault(group, []).append((record[0], _complete(record[1])))
        for name in (WORKERS, OUTPUT, CODE):  # of most commands, and so the last
            groups[name] = groups.pop(name, [])
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def _complete(about: str) -> str:
    if PURIFIERS not in about:
        return about
    from hogeq.purification import PURIFIERS as KNOWN

    return about.replace(PURIFIERS, ", ".join(KNOWN))


RulesOption = Annotated[
    str | None,
    option(
        "An edition's name, a YAML file of rule parts, or a run. [those of a run that is given as "
        "a strategy; else HOGEQ_RULES; else su20]",
        "--rules",
        metavar="RULES",
    ),
]
ManyRules = Annotated[
    list[str] | None, option("As elsewhere; may be repeated. [su20 and fa22]", metavar="RULES")
]
JsonOption = Annotated[bool, option("Print one JSON object.", "--json", group=OUTPUT)]
DigitsOption = Annotated[
    int,
    option("Decimals of per cents and percentage points.", "--digits", group=OUTPUT, min=0, max=16),
]
TrustOption = Annotated[
    bool,
    option("Run somebody's code: plugins, and strategies in .py files.", "--trust", group=CODE),
]
PluginOption = Annotated[
    list[Path] | None,
    option(
        "A file that registers rule parts, editions, strategies, solvers or purifiers.",
        "--plugin",
        group=CODE,
        metavar="FILE.py",
    ),
]
JobsOption = Annotated[
    int | None,
    option(
        "Threads; the result does not depend on it. [all cores]",
        group=WORKERS,
        min=1,
        max=MOST_JOBS,
    ),
]
OnOption = Annotated[
    str | None,
    option(
        "Compute on local (processes) or dask://HOST:PORT, with the same result. [threads]",
        group=WORKERS,
        metavar="WHERE",
    ),
]
StrategyArgument = Annotated[str, argument("S", "A strategy: name, file or run.")]
ScoreOption = Annotated[int, option("Points of the player to move.", "--score")]
OpponentOption = Annotated[int, option("Points of the other player.", "--opponent")]
MemoryOption = Annotated[bool, option("Players remember everything that happened.", "--memory")]
OverwriteOption = Annotated[bool, option("Replace files that are there.", "--overwrite")]
SetOption = Annotated[
    list[str] | None, option("Set a key: solver.iterations=50", "--set", metavar="KEY=VALUE")
]
