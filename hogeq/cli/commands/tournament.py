"""All-play-all: tournament."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import ENDLESS, check_output, expect_kernels, load_game, title_of
from hogeq.cli.shell import (
    BadInputError,
    DigitsOption,
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
from hogeq.support.numbers import DIGITS, percent
from hogeq.support.progress import phase, show_progress

if TYPE_CHECKING:
    from hogeq.contest.entries import Entries
    from hogeq.model.game import HogEngine
    from hogeq.support.aliases import Floats

TOLD = 8  # entries of a mixture that are told one by one


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(tournament)


def tournament(
    entries: Annotated[
        list[str],
        typer.Argument(
            metavar="A B ...",
            help="Strategies: names, files, runs, folders, patterns such as 'entries/*.csv'.",
        ),
    ],
    rules: RulesOption = "su20",
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out, and list, files that are no strategies.")
    ] = False,
    alpha_rank: Annotated[
        bool, typer.Option("--alpha-rank", help="alpha-rank of the field too, by OpenSpiel.")
    ] = False,
    ranks: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the table of ranks.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page: ranks to sort, all win rates."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all win rates: .csv or .json.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="PNG", help="Draw the win rates, similar entries together."),
    ] = None,
    jobs: JobsOption = None,
    on: OnOption = None,
    digits: DigitsOption = DIGITS,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """All-play-all: win rates, matches won, the contest's ranks, the field's Nash equilibrium.

    A file is one entry, however often it is met. What --csv, --html and --out write is no entry of
    a folder or a pattern, so that the same command can be given again.

    JSON: rules, entries, win_rates (row against column), ranking (a line for each entry, best
    first: rank, name, file, entry, index, wins, mean_win_rate, nash, lowest_win_rate,
    lowest_against, an index, and alpha_rank if asked for), nash_gap, identical and namesakes
    (groups of indices), refused (entry, reason).
    """
    for option, path, suffixes in (
        ("--csv", ranks, (".csv",)),
        ("--html", page, (".html",)),
        ("--out", out, (".csv", ".json")),
        ("--plot", plot, (".png",)),
    ):
        check_output(path, suffixes, reads=[*entries, rules], option=option)
    if alpha_rank:
        _require_openspiel()
    game = load_game(rules)
    expect_kernels(game, "matches", strategies=entries)
    with computing(on, jobs), show_progress():
        written = [path for path in (ranks, page, out) if path is not None]
        field = _read(entries, written, game, trust, skip_bad)
        rates = _play(field, game)
    about = title_of(rules, game.rules)
    data = _result(game, field, rates, alpha_rank)
    names = field.names
    if ranks is not None:
        _write(ranks, _ranks_csv(data, names))
    if page is not None:
        from hogeq.report.field import field_page

        _write(page, field_page({**data, "rules": about}, names))
    if out is not None:
        _write(out, _rates_csv(data) if out.suffix.lower() == ".csv" else _json(data))
    if plot is not None:
        from hogeq import figures

        with refusing():
            figures.win_rates(rates, names, plot, about)
    text = _text(data, about, names, digits)
    emit(data, f"{text}\n\n{ENDLESS}" if game.can_be_endless else text, as_json)


def _require_openspiel() -> None:
    """Refuse before anything is computed, not after."""
    try:
        from hogeq.trees.openspiel import alpharank

        alpharank.require()
    except ImportError as error:
        raise BadInputError(f"--alpha-rank: {error}") from error


def _read(
    named: Sequence[str], written: Sequence[Path], game: "HogEngine", trust: bool, skip_bad: bool
) -> "Entries":
    from hogeq.contest.entries import named_entries, read_field

    with refusing():
        entries = named_entries(named, written)
    if len(entries) < 2:
        raise BadInputError(
            f"tournament: {len(entries)} strategy given; allowed: 2 or more, and a file counts once"
        )
    with phase("reading", len(entries), "files") as told:
        field = read_field(game, entries, trust, lambda _: told.step(), skip_bad=skip_bad)
    if field.refused and not skip_bad:
        reasons = "; ".join(one.reason for one in field.refused)
        skip = "; --skip-bad leaves out what cannot be read" if len(entries) > 2 else ""
        raise BadInputError(f"{reasons}{skip}")
    if len(field.entries) < 2:
        first = field.refused[0].reason
        raise BadInputError(
            f"tournament: {len(field.entries)} of {len(entries)} files can be read; allowed: 2 or "
            f"more; {first}"
        )
    return field


def _play(field: "Entries", game: "HogEngine") -> "Floats":
    from hogeq.contest.tournament import round_robin

    count = len(field.entries)
    with phase("tournament", count * (count - 1) // 2, "matches") as told:
        return round_robin(game, field.strategies, told.step)


def _result(
    game: "HogEngine", field: "Entries", rates: "Floats", alpha_rank: bool
) -> dict[str, Any]:
    from hogeq.contest.entries import identical_entries, short_names
    from hogeq.contest.tournament import (
        field_equilibrium,
        lowest_win_rates,
        mean_win_rates,
        rank,
    )

    means, lowest = mean_win_rates(rates), lowest_win_rates(rates)
    weights, gap = field_equilibrium(rates)
    names, files = field.names, short_names(field.entries)
    shares = None
    if alpha_rank:
        from hogeq.trees.openspiel import alpharank

        shares = alpharank.alpha_rank(rates)
    ranking = []
    for standing in rank(rates):
        index = standing.entry
        line = {
            "rank": standing.rank,
            "name": names[index],
            "file": files[index],
            "entry": field.entries[index],
            "index": index,
            "wins": standing.wins,
            "mean_win_rate": means[index],
            "nash": float(weights[index]),
            "lowest_win_rate": lowest[index][0],
            "lowest_against": lowest[index][1],
        }
        if shares is not None:
            line["alpha_rank"] = float(shares[index])
        ranking.append(line)
    return {
        "rules": game.rules.name,
        "entries": field.entries,
        "win_rates": rates.tolist(),
        "ranking": ranking,
        "nash_gap": gap,
        "identical": identical_entries(field.strategies),
        "namesakes": field.namesakes,
        "refused": [one._asdict() for one in field.refused],
    }


# --- what is shown and written --------------------------------------------------------------------


def _text(data: dict[str, Any], about: str, names: Sequence[str], digits: int) -> str:
    count = len(names)
    alpha = "alpha_rank" in data["ranking"][0]
    by_player = any(line["name"] != line["file"] for line in data["ranking"])
    header = ["strategy", "rank", "won", "mean win rate", "Nash", "lowest", "against"]
    rows = []
    for line in data["ranking"]:
        row = [
            names[line["index"]],
            line["rank"],
            line["wins"],
            percent(line["mean_win_rate"], digits),
            percent(line["nash"], digits) if line["nash"] else "-",
            percent(line["lowest_win_rate"], digits),
            names[line["lowest_against"]],
        ]
        if alpha:
            row.insert(5, percent(line["alpha_rank"], digits))
        rows.append([*row, line["file"]] if by_player else row)
    if alpha:
        header.insert(5, "alpha-rank")
    if by_player:
        header.append("file")
    parts = [
        f"{about}, {count} strategies, {count - 1} {'match' if count == 2 else 'matches'} each",
        table(rows, header),
        _nash_text(data, names, digits),
    ]
    if data["identical"]:
        groups = [" = ".join(names[index] for index in group) for group in data["identical"]]
        parts.append("\n".join(f"the same strategy: {group}" for group in groups))
    if data["namesakes"]:
        groups = [" and ".join(names[index] for index in group) for group in data["namesakes"]]
        parts.append("\n".join(f"the same name: {group}" for group in groups))
    if data["refused"]:
        parts.append("\n".join(f"left out: {one['reason']}" for one in data["refused"]))
    return "\n\n".join(parts)


def _nash_text(data: dict[str, Any], names: Sequence[str], digits: int) -> str:
    mixed = sorted(data["ranking"], key=lambda line: -line["nash"])
    mixed = [line for line in mixed if line["nash"] > 0.0]
    told = [f"{percent(line['nash'], digits)} {names[line['index']]}" for line in mixed[:TOLD]]
    more = f", and {len(mixed) - TOLD} more" if len(mixed) > TOLD else ""
    return f"no entry beats the mixture (Nash): {', '.join(told)}{more}"


def _ranks_csv(data: dict[str, Any], names: Sequence[str]) -> str:
    header = [key for key in data["ranking"][0] if key not in {"entry", "index"}]
    lines = [{**line, "lowest_against": names[line["lowest_against"]]} for line in data["ranking"]]
    return _csv(header, ([line[key] for key in header] for line in lines))


def _rates_csv(data: dict[str, Any]) -> str:
    rows = zip(data["entries"], data["win_rates"], strict=True)
    return _csv(["strategy", *data["entries"]], ([entry, *row] for entry, row in rows))


def _csv(header: Sequence[str], rows: Any) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)  # floats as repr writes them: all digits
    return file.getvalue()


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def _write(path: Path, text: str) -> None:
    from hogeq.support.files import write_whole

    with refusing():
        write_whole(path, text.encode("utf-8", "surrogateescape"))
