"""All-play-all: tournament."""

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import (
    check_output,
    load_game,
    load_strategy,
)
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
from hogeq.support.progress import phase, show_progress

if TYPE_CHECKING:
    from hogeq.contest.tournament import Standing


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(tournament)


def tournament(
    entries: Annotated[
        list[str], typer.Argument(metavar="A B ...", help="Strategies: names, files or runs.")
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
        raise BadInputError(f"tournament: {len(entries)} strategy given; allowed: 2 or more")
    check_output(out, (".csv", ".json"))
    check_output(plot, (".png",))
    game = load_game(rules)
    strategies = [load_strategy(entry, game, trust) for entry in entries]
    from hogeq.contest.tournament import mean_win_rates, rank, round_robin

    with (
        computing(on, jobs),
        show_progress(),
        phase("tournament", len(entries) * (len(entries) - 1) // 2, "matches") as told,
    ):
        rates = round_robin(game, strategies, told.step)
    standings, means = rank(rates), mean_win_rates(rates)
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
                "mean_win_rate": means[standing.entry],
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


def _ranking(data: dict[str, Any], standings: "list[Standing]") -> str:
    from hogeq.contest.tournament import lowest_win_rates

    entries = data["entries"]
    lowest = lowest_win_rates(data["win_rates"])
    rows = []
    for standing, line in zip(standings, data["ranking"], strict=True):
        rate, rival = lowest[standing.entry]
        rows.append(
            (
                line["entry"],
                f"{standing.rank}",
                f"{standing.wins}",
                line["mean_win_rate"],
                f"{rate:.12f}",
                f"against {entries[rival]}",
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
