"""The commands: each is a function that reads its arguments and calls the library once."""

from collections.abc import Callable
from typing import Any

from hogeq.cli.commands.about import doctor, rules_, strategies, warmup
from hogeq.cli.commands.attack import attack_, attack_field, certify
from hogeq.cli.commands.bench_games import bench_games
from hogeq.cli.commands.check import check
from hogeq.cli.commands.games import audit_, equilibrium, export_game, tablebase
from hogeq.cli.commands.pictures import board, report, show
from hogeq.cli.commands.play import play, review_
from hogeq.cli.commands.position import analyze_, beliefs
from hogeq.cli.commands.runs import run, runs, sweep
from hogeq.cli.commands.tables import diff, export, improve, purify_
from hogeq.cli.commands.tournament import compare, tournament

COMMANDS: tuple[Callable[..., Any], ...] = (
    *(run, purify_, export, show, sweep, runs),
    *(attack_, attack_field, certify, compare, tournament, check, diff, improve),
    *(tablebase, analyze_, beliefs),
    *(play, board, review_, report),
    *(audit_, equilibrium, export_game, bench_games, rules_, strategies),
    *(warmup, doctor),
)
"""In the order in which ``hogeq --help`` lists them."""


def name_of(command: Callable[..., Any]) -> str:
    """Say how users write a command."""
    return command.__name__.rstrip("_").replace("_", "-")
