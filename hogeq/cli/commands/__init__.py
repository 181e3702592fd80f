"""The commands, one file each: a function that reads its arguments and calls the library once."""

from collections.abc import Callable
from typing import Any

from hogeq.cli.commands.analyze import analyze_
from hogeq.cli.commands.attack import attack_
from hogeq.cli.commands.attack_field import attack_field
from hogeq.cli.commands.audit import audit_
from hogeq.cli.commands.beliefs import beliefs
from hogeq.cli.commands.board import board
from hogeq.cli.commands.certify import certify
from hogeq.cli.commands.check import check
from hogeq.cli.commands.compare import compare
from hogeq.cli.commands.doctor import doctor
from hogeq.cli.commands.equilibrium import equilibrium
from hogeq.cli.commands.export import export
from hogeq.cli.commands.export_game import export_game
from hogeq.cli.commands.play import play
from hogeq.cli.commands.purify import purify_
from hogeq.cli.commands.report import report
from hogeq.cli.commands.review import review_
from hogeq.cli.commands.rules import rules_
from hogeq.cli.commands.run import run
from hogeq.cli.commands.runs import runs
from hogeq.cli.commands.show import show
from hogeq.cli.commands.strategies import strategies
from hogeq.cli.commands.sweep import sweep
from hogeq.cli.commands.tablebase import tablebase
from hogeq.cli.commands.tournament import tournament
from hogeq.cli.commands.warmup import warmup

COMMANDS: tuple[Callable[..., Any], ...] = (
    *(run, purify_, export, show, sweep, runs),
    *(attack_, attack_field, certify, compare, tournament, check),
    *(tablebase, analyze_, beliefs),
    *(play, board, review_, report),
    *(audit_, equilibrium, export_game, rules_, strategies),
    *(warmup, doctor),
)
"""In the order in which ``hogeq --help`` lists them."""


def name_of(command: Callable[..., Any]) -> str:
    """Say how users write a command."""
    return command.__name__.rstrip("_").replace("_", "-")
