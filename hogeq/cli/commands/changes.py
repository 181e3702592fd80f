"""What changes of a table are worth: diff, and improve, which makes them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.inputs import MATRIX_SUFFIXES, Chosen, check_output
from hogeq.cli.options import OverwriteOption, argument, option
from hogeq.cli.result import Result, Table, Text, percent, pp
from hogeq.cli.shell import BadInputError, refusing
from hogeq.support.numbers import counted
from hogeq.support.progress import phase

if TYPE_CHECKING:
    from hogeq.contest.changes import Difference
    from hogeq.strategies.strategy import Strategy

LISTED = 10  # changes of the text; JSON has all

AgainstOption = Annotated[
    list[str] | None,
    option("Opponent, or a folder of them (may be repeated). [optimal, or champion]", "S"),
]


def diff(
    a: Annotated[str, argument("A", "A table: name, file or run.")],
    b: Annotated[str, argument("B", "What it became.")],
    game: Chosen,
    against: AgainstOption = None,
    plot: Annotated[Path | None, option("Draw the changes and what they gain.", "PNG")] = None,
) -> Result:
    """Cells of table A that are another in B, and what each change is worth.

    A gain is of win rate against --against, the mean of several, by that change alone.

    JSON: rules, a, b, against, before and after (win rates of A and B), match (win rate of B
    against A), changes (score, opponent, before, after, gain, reach), the best first.
    """
    check_output(plot, (".png",))
    game.load("matches", "search", strategies=[a, b, *(against or [])])
    from hogeq.contest import changes

    names, rivals = _rivals(game, against)
    one, two = game.strategy(a), game.strategy(b)
    with refusing():
        found = changes.diff(game.engine, one, two, rivals)
    if plot is not None:
        from numpy import maximum

        from hogeq import figures

        gap = two.array.astype(int) - one.array
        with refusing():
            figures.counter(gap, maximum(found.gains, 0.0), found.reach, plot, game.title, (b, a))
    data = {"rules": game.name, "a": a, "b": b, "against": names, **_facts(found)}
    return Result(data, _text(game, found, a, b, names))


def improve(
    table: Annotated[str, argument("TABLE", "A table: name, file or run.")],
    game: Chosen,
    out: Annotated[Path, option("Where the better table goes.", "FILE")],
    against: AgainstOption = None,
    cells: Annotated[int | None, option("Most cells to change.", "N", min=1)] = None,
    seconds: Annotated[
        float | None, option("Stop after so long; Ctrl-C stops too.", "SECONDS", min=0.0)
    ] = None,
    player_name: Annotated[
        str | None, option("What the contest calls you; for .py.", "NAME")
    ] = None,
    overwrite: OverwriteOption = False,
) -> Result:
    """Change a table so that it wins more, and write it.

    It wins more against --against, on average if they are several. With --cells one cell is changed
    at a time, the one that gains most; without, until no change of one cell gains anything. Stopped
    early, it writes the best table so far.

    JSON: that of diff, from TABLE to the table written, and out.
    """
    reads = [table, game.spec, *(against or [])]
    check_output(out, (*MATRIX_SUFFIXES, ".py"), reads=reads, replace=overwrite)
    if (out.suffix.lower() == ".py") != bool((player_name or "").strip()):
        raise BadInputError("--player-name: needed for a .py file, and allowed for no other")
    game.load("matches", "search", strategies=[table, *(against or [])])
    from time import monotonic

    from hogeq.contest import changes
    from hogeq.strategies.strategy import strategy_of

    names, rivals = _rivals(game, against)
    start, begun = game.strategy(table), monotonic()
    with phase("improving", None, "steps") as progress, refusing():
        steps = changes.improvements(game.engine, start, rivals, cells)
        best = next(steps)  # the table itself
        try:
            for answer in steps:
                best = answer
                progress.measured(f"wins {percent(best.mean)}")
                progress.step()
                if seconds is not None and monotonic() - begun > seconds:
                    break
        except KeyboardInterrupt:
            progress.now("stopped")
        better = strategy_of(game.engine, best.strategy)
        found = changes.diff(game.engine, start, better, rivals)
    game.write(out, better, player_name)
    data = {"rules": game.name, "a": table, "b": str(out), "against": names, **_facts(found)}
    text = _text(game, found, table, str(out), names)
    return Result({**data, "out": out}, [*text, "", f"written to {out}"])


def _rivals(game: Chosen, against: list[str] | None) -> "tuple[list[str], list[Strategy]]":
    from hogeq.contest.assessment import usual_reference
    from hogeq.contest.entries import named_entries

    with refusing():
        names = named_entries(against or [usual_reference(game.engine)])
    return names, [game.strategy(name) for name in names]


def _facts(found: "Difference") -> dict[str, Any]:
    return {
        "before": found.before,
        "after": found.after,
        "match": found.match,
        "changes": [one._asdict() for one in found.changes],
    }


def _text(game: Chosen, found: "Difference", a: str, b: str, names: list[str]) -> Text:
    rivals = names[0] if len(names) == 1 else f"{len(names)} opponents, on average"
    text: Text = [
        f"{b} differs from {a} in {counted(len(found.changes), 'cell')}, {game.title}",
        "",
        f"against {rivals}: {percent(found.before)} becomes {percent(found.after)}",
        f"{b} against {a}: {percent(found.match)}",
    ]
    header = ("score", "opponent", "rolled", "rolls", "alone", "met in")
    for title, listed in (
        ("changes that gain most", [one for one in found.changes if one.gain > 0][:LISTED]),
        (
            "changes that lose most",
            [one for one in found.changes if one.gain < 0][: -LISTED - 1 : -1],
        ),
    ):
        if listed:
            rows = [
                (
                    *one[:4],
                    pp(one.gain),
                    percent(one.reach),
                )
                for one in listed
            ]
            text += ["", title, "", Table(rows, header, left=0)]
    return [*text, *game.endless]
