"""The commands, one file each: a function that parses, calls the library once and renders."""

from types import ModuleType

from hogeq.cli.commands import (
    analyze,
    attack,
    audit,
    beliefs,
    board,
    check,
    compare,
    dice,
    doctor,
    export,
    export_game,
    play,
    report,
    rules,
    run,
    runs,
    show,
    strategies,
    sweep,
    tablebase,
    tournament,
    warmup,
)

COMMANDS: tuple[ModuleType, ...] = (
    run,
    export,
    show,
    sweep,
    runs,
    attack,
    compare,
    tournament,
    check,
    tablebase,
    analyze,
    beliefs,
    play,
    board,
    report,
    audit,
    export_game,
    rules,
    strategies,
    dice,
    warmup,
    doctor,
)
"""In the order in which ``hogeq --help`` lists them."""
