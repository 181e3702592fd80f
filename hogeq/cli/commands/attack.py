"""What wins most from one strategy, or from a field of them: attack."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.commands.attack_field import answer
from hogeq.cli.games import GameOption, attack_game
from hogeq.cli.inputs import (
    MATRIX_SUFFIXES,
    check_output,
    expect_kernels,
    load_any,
    load_game,
    title_of,
)
from hogeq.cli.shell import (
    BadInputError,
    DigitsOption,
    JobsOption,
    JsonOption,
    OnOption,
    RulesOption,
    TrustOption,
    budget_fields,
    budget_text,
    computing,
    emit,
    refusing,
    saturation_text,
    table,
)
from hogeq.support.numbers import DIGITS, between, counted, percent, pp

if TYPE_CHECKING:
    from hogeq.contest.field import Objective
    from hogeq.model.game import HogEngine
    from hogeq.search.attack import SearchBudget
    from hogeq.search.certificate import Certificate

UNTOLD = "best responder that remembers everything but the draw"

FORGETS = "nothing that forgets wins more: proved"

KICKS = 20  # by default, against one strategy; a field costs as much as its rivals together


class Goal(StrEnum):
    """What a field is played for."""

    mean = "mean"
    beaten = "beaten"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(attack)


def attack(
    strategies: Annotated[
        list[str],
        typer.Argument(metavar="S", help="A strategy, a name, file or run; with --field, several."),
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
    until_saturated: Annotated[
        bool,
        typer.Option(
            "--until-saturated",
            help="More kicks, until twice the effort would find less than 0.03 pp.",
        ),
    ] = False,
    most_kicks: Annotated[
        int | None,
        typer.Option(help="With --until-saturated: most kicks for each start. [1600]"),
    ] = None,
    certify: Annotated[
        float | None,
        typer.Option(
            min=0.0, metavar="SECONDS", help="Prove a bound below full memory, for so long."
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --certify: write the proof, certificate.json say."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of random starts and kicks.")] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what --out and --certificate name.")
    ] = False,
    jobs: JobsOption = None,
    on: OnOption = None,
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    other_game: GameOption = None,
    exact: Annotated[
        float,
        typer.Option(min=0.0, metavar="SECONDS", help="With --game: limit of the exact search."),
    ] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Strongest counter-matrix found, and the full-memory bound.

    With --field A B ...: the matrix that wins most from several rivals, if you like with a cap on
    what an attack may win from it (a restricted Nash response).
    """
    if other_game is not None:
        _other_game(other_game, strategies, exact, out, overwrite, as_json)
        return
    if field:
        _check_field(plot, cap, mixed, tradeoff)
    else:
        _check_one(
            strategies,
            {"--objective": objective, "--cap": cap, "--tradeoff": tradeoff, "--mixed": mixed},
        )
    if field and certify is not None:
        raise BadInputError("--certify: allowed for one strategy, without --field")
    if certificate is not None and certify is None:
        raise BadInputError("--certificate: allowed only with --certify")
    if field and until_saturated:
        raise BadInputError("--until-saturated: allowed for one strategy, without --field")
    if most_kicks is not None and not until_saturated:
        raise BadInputError("--most-kicks: allowed only with --until-saturated")
    reads = [rules, *strategies]
    suffixes = (".npy", ".npz") if mixed else MATRIX_SUFFIXES
    check_output(out, suffixes, reads=reads, replace=overwrite)
    check_output(
        certificate, (".json", ".json.gz"), reads=reads, replace=overwrite, option="--certificate"
    )
    _check_drawn(plot, tradeoff, reads)
    game = load_game(rules)
    about = title_of(rules, game.rules)
    proved = () if certify is None else ("certificates",)
    expect_kernels(game, "search", "full memory", *proved, strategies=strategies)
    rivals = [load_any(name, game, trust) for name in strategies]
    from hogeq.search.attack import SearchBudget

    with refusing():
        rounds = kicks if kicks is not None else 0 if field else KICKS
        as_named_here = {"kicks": rounds}  # messages call it as the option is called
        budget = SearchBudget(
            starts=starts,
            anneal_steps=anneal_steps,
            damping=damping,
            seed=seed,
            until_saturated=until_saturated,
            **({} if most_kicks is None else {"most_kicks": most_kicks}),
            **as_named_here,
        )
    with computing(on, jobs):
        if field:
            wanted: Objective = (objective or Goal.mean).value
            data, text, found = answer(
                game, about, strategies, rivals, wanted, cap, mixed, budget, steps, tradeoff, digits
            )
        else:
            proof = None if certify is None else _proved(game, rivals[0], certify)
            data, text, found = _one(
                game, about, strategies[0], rivals[0], budget, plot, digits, proof
            )
            if certificate is not None and proof is not None:
                from hogeq.search.certificate import write_certificate

                with refusing():
                    write_certificate(certificate, proof)
                data["certificate"] = str(certificate)
                text += f"\ncertificate written to {certificate}: hogeq certify {certificate}"
    data["out"] = None if out is None else str(out)
    if out is not None:
        from hogeq.strategies.write import write_strategy

        with refusing():
            write_strategy(out, found, game.goal, game.rules.max_dice)
        text += f"\n{'policy' if found.ndim == 3 else 'counter-matrix'} written to {out}"
    emit(data, text, as_json)


def _check_one(strategies: list[str], only_with_field: dict[str, Any]) -> None:
    if len(strategies) > 1:
        raise BadInputError(
            f"attack: {len(strategies)} strategies given; allowed: 1, or several with --field"
        )
    for name, value in only_with_field.items():
        if value not in {None, False}:
            raise BadInputError(f"{name}: allowed only with --field")


def _other_game(
    game: str,
    strategies: list[str],
    seconds: float,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Answer for a game other than Hog."""
    if len(strategies) != 1:
        raise BadInputError("attack: allowed with --game: one strategy")
    check_output(out, (".npz",), reads=strategies, replace=overwrite)
    data, text, response = attack_game(game, strategies[0], seconds)
    if out is not None:
        import numpy as np

        from hogeq.support.files import replacing

        with refusing(), replacing(out) as temporary:
            np.savez_compressed(temporary, policy=response)
    emit(data, text, as_json)


def _check_field(plot: Path | None, cap: float | None, mixed: bool, tradeoff: Path | None) -> None:
    if plot is not None:
        raise BadInputError("--plot: allowed for one strategy; with --field, --tradeoff draws")
    if mixed and cap is None and tradeoff is None:
        raise BadInputError("--mixed: needs --cap or --tradeoff; against a field alone a matrix is")
    if cap is not None and not 0.5 <= cap <= 1.0:
        raise BadInputError(f"--cap: {cap}; allowed: win rates from 0.5 to 1")


def _check_drawn(plot: Path | None, tradeoff: Path | None, reads: list[str]) -> None:
    check_output(plot, (".png",))
    check_output(tradeoff, (".png",))
    numbers = None if tradeoff is None else tradeoff.with_suffix(".csv")
    check_output(numbers, (".csv",), reads=reads, option="--tradeoff")


def _proved(game: "HogEngine", target: Any, seconds: float) -> "Certificate":
    """Prove a bound on what wins from one strategy."""
    from hogeq.search.certificate import certified_bound
    from hogeq.support.progress import show_progress

    with refusing(), show_progress():
        return certified_bound(game, target, seconds)


def _one(
    game: "HogEngine",
    about: str,
    name: str,
    target: Any,
    budget: "SearchBudget",
    plot: Path | None,
    digits: int,
    proof: "Certificate | None",
) -> tuple[dict[str, Any], str, Any]:
    """Counter one strategy: the JSON object, the text and the counter-matrix."""
    from hogeq.search.attack import attack
    from hogeq.search.bounds import full_memory_bound, upper_bound
    from hogeq.search.gains import gains, largest_gains
    from hogeq.strategies.mixtures import Mixture
    from hogeq.support.progress import show_progress

    with show_progress():
        found = attack(game, target, budget)
    bound = upper_bound(game, target)
    told = full_memory_bound(game, target) if isinstance(target, Mixture) else None
    worth = gains(game, found.matrix, target)
    gap = found.matrix.astype(int) - worth.usual
    if plot is not None:
        from hogeq import figures

        title = f"counter to {name}, {about}"
        with refusing():
            figures.counter(gap, worth.gains, worth.reach, plot, title)
    met = worth.reach > 0.0
    cells = largest_gains(worth, found.matrix)
    data = {
        "rules": game.rules.name,
        "strategy": name,
        "attack": found.win_rate,
        "bound": bound,
        **({} if told is None else {"bound_told": told}),
        **({} if proof is None else {"certified": proof.bound, "steps": len(proof.steps)}),
        "starts": found.budget.starts,
        "sweeps": found.sweeps,
        **budget_fields(budget),
        "found": list(found.found),
        "saturated": found.saturation.saturated,
        "last_half": found.saturation.last_half,
        "left": found.saturation.left,
        "moves": {name: pay._asdict() for name, pay in found.moves.items() if pay.tried},
        "reached": int(met.sum()),
        "deviates": int((met & (gap != 0)).sum()),
        "gains": [cell._asdict() for cell in cells],
        "plot": None if plot is None else str(plot),
    }
    rows = [
        ("attack", percent(found.win_rate, digits), "best counter-matrix found"),
        ("bound", percent(bound, digits), "best responder that remembers everything"),
    ]
    if told is not None:
        rows[1:] = [
            *([] if bound == told else [("bound", percent(bound, digits), UNTOLD)]),
            ("bound", percent(told, digits), "best responder that is told the draw as well"),
        ]
    if proof is not None:
        rows.insert(1, ("certified", percent(proof.bound, digits), FORGETS))
    upper = bound if proof is None else min(bound, proof.bound)
    lines = [
        f"against {name}, {about}",
        "",
        table(rows, left=3),
        "",
        f"exploitability: {between(found.win_rate - 0.5, upper - 0.5, digits)}",
        f"{budget_text(budget)}: {counted(found.sweeps, 'sweep')}",
        saturation_text(found.saturation, digits),
        f"other dice at {data['deviates']} of the {data['reached']} positions that it comes to",
    ]
    if cells:
        order = " to first order" if game.positions_recur else ""
        gained = [(*cell[:-1], pp(cell.gain, digits)) for cell in cells]
        header = ("score", "opponent", "S rolls", "counter rolls", f"win rate gained{order}")
        lines += ["", table(gained, header, left=0)]
    if plot is not None:
        lines.append(f"drawn to {plot}")
    return data, "\n".join(lines), found.matrix
