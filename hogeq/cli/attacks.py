"""What wins most: against one strategy, or against a field of them."""

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import MATRIX_SUFFIXES, check_output, load_game, load_strategy
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
    from hogeq.contest.field import Answer, Progress
    from hogeq.contest.objectives import Objective
    from hogeq.contest.safety import Point
    from hogeq.model.game import Game
    from hogeq.response.gains import Gains
    from hogeq.response.search import SearchBudget

LISTED = 10  # cells that gain most
KICKS = 20  # by default, against one strategy; a field costs as much as its rivals together
SHARES = (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)  # of a trade-off curve


class Goal(StrEnum):
    """What a field is played for."""

    mean = "mean"
    beaten = "beaten"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(attack)


def attack(
    strategies: Annotated[
        list[str],
        typer.Argument(metavar="S", help="A strategy, built-in or file; with --field, several."),
    ],
    rules: RulesOption = "su20",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what was found: M.csv, say.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="PNG", help="Draw where it leaves the rolls of S, and what it gains."),
    ] = None,
    field: Annotated[
        bool, typer.Option("--field", help="All strategies given are rivals to do best against.")
    ] = False,
    objective: Annotated[
        Goal | None,
        typer.Option(
            help="With --field: the mean win rate, or how many are beaten (above 0.500001). [mean]"
        ),
    ] = None,
    cap: Annotated[
        float | None,
        typer.Option(
            help="With --field: the strongest attack found on the answer may win no more than this."
        ),
    ] = None,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="With --cap or --tradeoff: policies, not matrices.")
    ] = False,
    tradeoff: Annotated[
        Path | None,
        typer.Option(
            metavar="PNG", help="With --field: win rate against attack, drawn and as .csv beside."
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option(min=1, help="Of regret matching, for --cap and --tradeoff.")
    ] = 100,
    starts: Annotated[int, typer.Option(help="Independent starts of the search.")] = 4,
    anneal_steps: Annotated[
        int, typer.Option(help="Steps of the softmax responder from each start.")
    ] = 60,
    damping: Annotated[float, typer.Option(help="Share of the way that each step goes.")] = 0.5,
    kicks: Annotated[
        int | None,
        typer.Option(help="Rounds of iterated local search from each start. [20; --field: 0]"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of random starts and kicks.")] = 0,
    jobs: JobsOption = None,
    on: OnOption = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Strongest counter-matrix found, and the full-memory bound.

    With --field A B ...: the matrix that wins most from several rivals, if you like with a cap on
    what an attack may win from it (a restricted Nash response).
    """
    if not field:
        if len(strategies) > 1:
            raise BadInputError(
                f"attack: {len(strategies)} strategies given, allowed is 1, or several with --field"
            )
        given = {"--objective": objective, "--cap": cap, "--tradeoff": tradeoff, "--mixed": mixed}
        for name, value in given.items():
            if value not in {None, False}:
                raise BadInputError(f"{name}: allowed only with --field")
    elif plot is not None:
        raise BadInputError("--plot: allowed for one strategy; with --field, --tradeoff draws")
    if mixed and cap is None and tradeoff is None:
        raise BadInputError("--mixed: needs --cap or --tradeoff; against a field alone a matrix is")
    if cap is not None and not 0.5 <= cap <= 1.0:
        raise BadInputError(f"--cap: {cap}, allowed are win rates from 0.5 to 1")
    check_output(out, (".npy", ".npz") if mixed else MATRIX_SUFFIXES)
    check_output(plot, (".png",))
    check_output(tradeoff, (".png",))
    check_output(None if tradeoff is None else tradeoff.with_suffix(".csv"), (".csv",))
    game = load_game(rules)
    rivals = [load_strategy(name, game, trust) for name in strategies]
    from hogeq.response.search import SearchBudget

    with refusing():
        rounds = kicks if kicks is not None else 0 if field else KICKS
        effort = SearchBudget(starts, anneal_steps, damping, rounds, seed)
    with computing(on, jobs):
        if field:
            request = _Request(
                game, strategies, rivals, (objective or Goal.mean).value, cap, mixed, effort, steps
            )
            data, text = request.answer(tradeoff)
        else:
            data, text = _one(game, strategies[0], rivals[0], effort, plot)
    found = data.pop("strategy_found")
    data["out"] = None if out is None else str(out)
    if out is not None:
        from hogeq.strategies.write import write_strategy

        with refusing():
            write_strategy(out, found, game.goal, game.rules.max_dice)
        text += f"\n{'policy' if found.ndim == 3 else 'counter-matrix'} written to {out}"
    emit(data, text, as_json)


def _effort(effort: "SearchBudget") -> dict[str, Any]:
    return {
        "starts": effort.starts,
        "anneal_steps": effort.anneal_steps,
        "damping": effort.damping,
        "kicks": effort.kicks,
        "seed": effort.seed,
    }


def _effort_text(effort: "SearchBudget") -> str:
    return (
        f"effort: {effort.starts} starts, {effort.anneal_steps} anneal steps, "
        f"damping {effort.damping}, {effort.kicks} kicks, seed {effort.seed}"
    )


# --- one rival ------------------------------------------------------------------------------------


def _one(
    game: "Game", name: str, target: Any, effort: "SearchBudget", plot: Path | None
) -> tuple[dict[str, Any], str]:
    from hogeq.response.bounds import full_memory_bound
    from hogeq.response.gains import gains
    from hogeq.response.search import attack

    found = attack(game, target, effort)
    bound = full_memory_bound(game, target)
    worth = gains(game, found.matrix, target)
    gap = found.matrix.astype(int) - worth.usual
    if plot is not None:
        from hogeq import figures

        title = f"counter to {name}, {game.rules.name}"
        with refusing():
            figures.counter(gap, worth.gains, worth.reach, plot, title)
    met = worth.reach > 0.0
    data = {
        "rules": game.rules.name,
        "strategy": name,
        "attack": found.win_rate,
        "bound": bound,
        "starts": found.budget.starts,
        "sweeps": found.sweeps,
        **_effort(effort),
        "found": list(found.found),
        "reached": int(met.sum()),
        "deviates": int((met & (gap != 0)).sum()),
        "gains": _most(worth, found.matrix),
        "plot": None if plot is None else str(plot),
        "strategy_found": found.matrix,
    }
    rows = [
        ("attack", f"{found.win_rate:.12f}", "best counter-matrix found"),
        ("bound", f"{bound:.12f}", "best responder that remembers everything"),
    ]
    lines = [
        f"against {name}, {game.rules.name}",
        "",
        table(rows, left=3),
        "",
        f"exploitability is in [{found.win_rate - 0.5:.6f}, {bound - 0.5:.6f}]",
        f"{_effort_text(effort)}: {found.sweeps} sweeps",
        f"other dice at {data['deviates']} of the {data['reached']} positions that it comes to",
    ]
    if data["gains"]:
        cells = [list(cell.values()) for cell in data["gains"]]
        order = " to first order" if game.positions_recur else ""
        header = ("score", "opponent", "S rolls", "counter rolls", f"win rate gained{order}")
        lines += ["", table(cells, header, left=0)]
    if plot is not None:
        lines.append(f"drawn to {plot}")
    return data, "\n".join(lines)


def _most(gains: "Gains", matrix: Any) -> list[dict[str, Any]]:
    """Cells that gain most, in order."""
    order = (-gains.gains).argsort(axis=None, kind="stable")[:LISTED]
    cells = [divmod(int(place), len(matrix)) for place in order]
    return [
        {
            "score": own,
            "opponent": other,
            "usual": int(gains.usual[own, other]),
            "counter": int(matrix[own, other]),
            "gain": float(gains.gains[own, other]),
        }
        for own, other in cells
        if gains.gains[own, other] > 0.0
    ]


# --- a field --------------------------------------------------------------------------------------


class _Request:
    """What was asked for against a field."""

    def __init__(
        self,
        game: "Game",
        names: Sequence[str],
        rivals: Sequence[Any],
        objective: "Objective",
        cap: float | None,
        mixed: bool,
        effort: "SearchBudget",
        steps: int,
    ) -> None:
        self.game, self.names, self.rivals = game, names, rivals
        self.objective, self.cap, self.mixed = objective, cap, mixed
        self.effort, self.steps = effort, steps

    def answer(self, tradeoff: Path | None) -> tuple[dict[str, Any], str]:
        """Search, and say what was found; the curve is written on the way."""
        from hogeq.contest import safety
        from hogeq.contest.field import answer_field

        points: list[Point] = []
        chosen: Point | None = None
        with _passes() as progress:
            if self.cap is not None:
                chosen, points = self._capped(self.cap, progress)
            if tradeoff is not None:
                known = {point.share for point in points}
                points += safety.tradeoff(
                    self.game,
                    self.rivals,
                    [share for share in SHARES if share not in known],
                    self.objective,
                    mixed=self.mixed,
                    effort=self.effort,
                    steps=self.steps,
                    progress=progress,
                )
                points.sort(key=lambda point: point.share)
            if chosen is not None:
                found = chosen.answer
            elif points:
                found = points[0].answer  # nobody free: the field alone
            else:
                found = answer_field(self.game, self.rivals, self.objective, self.effort, progress)
        if tradeoff is not None:
            self._write_curve(tradeoff, points)
        return self._data(found, chosen, points, tradeoff), self._text(found, chosen, tradeoff)

    def _capped(self, cap: float, progress: "Progress") -> "tuple[Point, list[Point]]":
        from hogeq.contest.safety import CapError, answer_below

        try:
            return answer_below(
                self.game,
                self.rivals,
                cap,
                self.objective,
                mixed=self.mixed,
                effort=self.effort,
                steps=self.steps,
                progress=progress,
            )
        except CapError as error:
            more = "" if self.mixed else ", or --mixed"
            raise BadInputError(f"{error}; allowed are higher caps, more --steps{more}") from error

    def _data(
        self,
        found: "Answer",
        chosen: "Point | None",
        points: "Sequence[Point]",
        tradeoff: Path | None,
    ) -> dict[str, Any]:
        return {
            "rules": self.game.rules.name,
            "field": list(self.names),
            "objective": self.objective,
            "win_rates": found.win_rates.tolist(),
            "mean": found.mean,
            "beaten": found.beaten,
            **_effort(self.effort),
            "cap": self.cap,
            "share": None if chosen is None else chosen.share,
            "attack": None if chosen is None else chosen.attack,
            "bound": None if chosen is None else chosen.bound,
            "steps": self.steps if points else None,
            "mixed": self.mixed,
            "curve": [_point(point) for point in points],
            "tradeoff": None if tradeoff is None else str(tradeoff),
            "strategy_found": found.strategy,
        }

    def _text(self, found: "Answer", chosen: "Point | None", tradeoff: Path | None) -> str:
        from hogeq.contest.tournament import WIN

        what = "mean win rate" if self.objective == "mean" else "rivals beaten"
        rows = [
            (name, float(rate), "beaten" if rate > WIN else "")
            for name, rate in zip(self.names, found.win_rates, strict=True)
        ]
        lines = [
            f"against {len(rows)} rivals, {self.game.rules.name}, for the most {what}".replace(
                "the most mean", "the highest mean"
            ),
            "",
            table([*rows, ("mean", found.mean, f"{found.beaten} of {len(rows)} beaten")]),
            "",
        ]
        if chosen is not None:
            safety = [
                ("attack", f"{chosen.attack:.12f}", f"strongest found on it, cap {self.cap}"),
                ("bound", f"{chosen.bound:.12f}", "best responder that remembers everything"),
            ]
            free = f"restricted Nash response: {chosen.share:g} of the opponents free to exploit"
            lines += [table(safety, left=3), "", free]
        lines.append(_effort_text(self.effort))
        if tradeoff is not None:
            lines.append(
                f"trade-off drawn to {tradeoff}, numbers in {tradeoff.with_suffix('.csv')}"
            )
        return "\n".join(lines)

    def _write_curve(self, path: Path, points: "Sequence[Point]") -> None:
        from hogeq import figures
        from hogeq.support.files import write_whole

        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        lines = [_point(point) for point in points]
        writer.writerow(lines[0])
        writer.writerows([map(repr, line.values()) for line in lines])
        beaten = self.objective == "beaten"
        with refusing():
            write_whole(path.with_suffix(".csv"), file.getvalue().encode())
            figures.tradeoff(
                [point.share for point in points],
                [point.attack for point in points],
                [point.answer.beaten if beaten else point.answer.mean for point in points],
                path,
                self.game.rules.name,
                "rivals beaten" if beaten else "mean win rate, field",
                self.cap,
            )


def _point(point: "Point") -> dict[str, Any]:
    return {
        "share": point.share,
        "mean": point.answer.mean,
        "beaten": point.answer.beaten,
        "attack": point.attack,
        "bound": point.bound,
    }


@contextmanager
def _passes() -> "Iterator[Progress]":
    """Show on a terminal how many passes over the field were made; their number is not known."""
    from tqdm import tqdm

    with tqdm(
        desc="passes",
        unit="",
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
        leave=False,
    ) as bar:
        yield bar.update
