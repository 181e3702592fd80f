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

GROUPS: dict[str, dict[Callable[..., Any], str]] = {
    "Submit and play": {
        export: "optimal --rules fa25 --player-name Ada --out final_strategy.py",
        check: "final_strategy.py --rules fa25 --trust",
        improve: "table.csv --rules fa25 --out better.csv",
        diff: "table.csv better.csv --rules fa25",
        board: "--rules fa25 --out board.html --open",
        play: "--rules fa25 --save game.json",
        review_: "game.json",
        analyze_: "--rules fa25 --score 12 --opponent 30",
        rules_: "fa25",
        strategies: "",
    },
    "Contest": {
        compare: "final_strategy.py always_roll:6 --rules fa25 --trust",
        tournament: "entries --rules fa25 --out contest",
        attack_field: "huan2020 always_roll:6 --rules su20",
    },
    "Research": {
        run: "configs/cfr.yaml",
        sweep: "configs/sweep.yaml --jobs 4",
        runs: "results --sort attack",
        report: "results/cfr --out report.html --open",
        attack_: "champion --rules su20 --kicks 100 --out counter.csv",
        certify: "certificate.json",
        purify_: "results/cfr --method integer --out matrix.csv",
        show: "champion --rules su20",
        beliefs: "champion --rules su20 --score 40 --opponent 50",
        tablebase: "--rules fa25",
        equilibrium: "--game kuhn_poker --out mixtures.npz",
        audit_: "--game kuhn_poker --forget own_actions",
        export_game: "--game kuhn_poker --out kuhn.efg",
        bench_games: "list",
    },
    "House-keeping": {doctor: "", warmup: "--rules fa25"},
}
"""Commands as ``hogeq --help`` lists them, each with the words of an example."""


def name_of(command: Callable[..., Any]) -> str:
    """Say how users write a command."""
    return command.__name__.rstrip("_").replace("_", "-")
