"""Strategies against each other: compare, tournament."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import check_output, load_game, load_strategy
from hogeq.cli.shell import (
    BadInputError,
    JobsOption,
    JsonOption,
    OnOption,
    RulesOption,
    TrustOption,
    computing,
    emit,
    refusing,
    table,
)

if TYPE_CHECKING:
    from hogeq.contest.tournament import Standing
    from hogeq.model.game import Game
    from hogeq.model.workspace import WinRate

FULL_MEMORY = "full_memory"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(compare)
    app.command()(tournament)


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A strategy: built-in or file.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other.")],
    rules: RulesOption = "su20",
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Exact win rate of A against B.

    full_memory is the player who remembers everything and plays best against one who does too.
    """
    game = load_game(rules)
    remembering = game.has_memory and FULL_MEMORY in {a, b}
    if remembering:
        found = _of_full_memory(a, b, game, trust)
    else:
        one, two = load_strategy(a, game, trust), load_strategy(b, game, trust)
        from hogeq.evaluation.win_rates import win_rate

        found = win_rate(game, one, two)
    data = {"rules": game.rules.name, "a": a, "b": b, **found._asdict()}
    rows = [
        ("win rate", found.win_rate),
        ("moving first", found.first),
        ("moving second", found.second),
    ]
    text = f"{a} against {b}, {game.rules.name}\n\n{table(rows)}"
    if remembering:
        text += "\n\nfull_memory remembers what a strategy may not see"
    emit(data, text, as_json)


def _of_full_memory(a: str, b: str, game: "Game", trust: bool) -> "WinRate":
    """Win rate of A against B, one of whom remembers everything, or both."""
    others = [load_strategy(name, game, trust) for name in (a, b) if name != FULL_MEMORY]
    from hogeq.evaluation.tablebase import solve
    from hogeq.model.workspace import WinRate

    with refusing():
        solved = solve(game)
    if not others:
        return WinRate(0.5, solved.value, 1.0 - solved.value)
    found = solved.against(others[0])
    if a == FULL_MEMORY:
        return found
    return WinRate(1.0 - found.win_rate, 1.0 - found.second, 1.0 - found.first)


def tournament(
    entries: Annotated[
        list[str], typer.Argument(metavar="A B ...", help="Strategies: built-ins or files.")
    ],
    rules: RulesOption = "su20",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all win rates: .csv or .json.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="PNG", help="Draw the win rates, similar entries together."),
    ] = None,
    jobs: JobsOption = None,
    on: OnOption = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """All-play-all: win rates, matches won, the contest's ranks."""
    if len(entries) < 2:
        raise BadInputError(f"tournament: {len(entries)} strategy given, allowed are 2 or more")
    check_output(out, (".csv", ".json"))
    check_output(plot, (".png",))
    game = load_game(rules)
    strategies = [load_strategy(entry, game, trust) for entry in entries]
    from tqdm import tqdm

    from hogeq.contest.tournament import play, rank

    with (
        computing(on, jobs),
        tqdm(
            total=len(entries) * (len(entries) - 1) // 2,
            desc="matches",
            unit="",
            file=sys.stderr,
            disable=not sys.stderr.isatty(),
            leave=False,
        ) as bar,
    ):
        rates = play(game, strategies, bar.update)
    standings = rank(rates)
    data = {
        "rules": game.rules.name,
        "entries": entries,
        "win_rates": rates.tolist(),
        "ranking": [
            {
                "rank": standing.rank,
                "entry": entries[standing.entry],
                "index": standing.entry,
                "wins": standing.wins,
                "mean_win_rate": _mean(rates[standing.entry].tolist(), standing.entry),
            }
            for standing in standings
        ],
    }
    if out is not None:
        _write_rates(out, data, entries)
    if plot is not None:
        from hogeq import figures

        with refusing():
            figures.win_rates(rates, entries, plot, game.rules.name)
    emit(data, _ranking(data, standings), as_json)


def _mean(rates: list[float], entry: int) -> float:
    """Mean win rate against the others."""
    others = rates[:entry] + rates[entry + 1 :]
    return sum(others) / len(others)


def _ranking(data: dict[str, Any], standings: "list[Standing]") -> str:
    rates, entries = data["win_rates"], data["entries"]
    rows = []
    for standing, line in zip(standings, data["ranking"], strict=True):
        row = rates[standing.entry]
        worst = min((rate, other) for other, rate in enumerate(row) if other != standing.entry)
        rows.append(
            (
                line["entry"],
                f"{standing.rank}",
                f"{standing.wins}",
                line["mean_win_rate"],
                f"{worst[0]:.12f}",
                f"against {entries[worst[1]]}",
            )
        )
    header = ("strategy", "rank", "won", "mean win rate", "lowest", "")
    title = f"{data['rules']}, {len(entries)} strategies, {len(entries) - 1} matches each"
    return f"{title}\n\n{table(rows, header)}"


def _write_rates(path: Path, data: dict[str, Any], entries: list[str]) -> None:
    from hogeq.support.files import write_whole

    if path.suffix.lower() == ".json":
        text = json.dumps(data, indent=1, allow_nan=False) + "\n"
    else:
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["strategy", *entries])
        for entry, row in zip(entries, data["win_rates"], strict=True):
            writer.writerow([entry, *map(repr, row)])
        text = file.getvalue()
    with refusing():
        write_whole(path, text.encode("utf-8", "surrogateescape"))
