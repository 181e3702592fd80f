"""What wins most from one strategy: attack."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.games import GameOption, attack_game
from hogeq.cli.inputs import MATRIX_SUFFIXES, Chosen, check_output
from hogeq.cli.options import (
    PROOF,
    SEARCH,
    JobsOption,
    OnOption,
    OverwriteOption,
    StrategyArgument,
    option,
)
from hogeq.cli.result import (
    Result,
    Table,
    Text,
    between,
    budget_fields,
    budget_text,
    percent,
    pp,
    saturation_text,
)
from hogeq.cli.shell import BadInputError, computing, refusing
from hogeq.support.numbers import counted

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine
    from hogeq.search.attack import SearchBudget
    from hogeq.search.certificate import Certificate
    from hogeq.strategies.strategy import Strategy

KICKS = 20

StartsOption = Annotated[int, option("Independent starts of the search.", group=SEARCH)]
AnnealStepsOption = Annotated[
    int, option("Steps of the softmax responder from each start.", group=SEARCH)
]
DampingOption = Annotated[float, option("Share of the way that each step goes.", group=SEARCH)]
KicksOption = Annotated[
    int, option("Rounds of iterated local search from each start.", group=SEARCH)
]
SeedOption = Annotated[int, option("Of random starts and kicks.", group=SEARCH, min=0)]


def attack_(
    strategy: StrategyArgument,
    game: Chosen,
    out: Annotated[
        Path | None, option("Write the counter-matrix: M.csv, say.", metavar="FILE")
    ] = None,
    plot: Annotated[
        Path | None,
        option("Draw where it leaves the rolls of S, and what it gains.", metavar="PNG"),
    ] = None,
    overwrite: OverwriteOption = False,
    starts: StartsOption = 4,
    anneal_steps: AnnealStepsOption = 60,
    damping: DampingOption = 0.5,
    kicks: KicksOption = KICKS,
    until_saturated: Annotated[
        bool,
        option(
            "More kicks, until twice the effort would find less than 0.03 pp.",
            "--until-saturated",
            group=SEARCH,
        ),
    ] = False,
    most_kicks: Annotated[
        int | None,
        option("With --until-saturated: most kicks for each start. [1600]", group=SEARCH),
    ] = None,
    seed: SeedOption = 0,
    certify: Annotated[
        float | None,
        option(
            "Prove a bound below full memory, for so long.", group=PROOF, min=0, metavar="SECONDS"
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        option("Write the proof: certificate.json, say.", group=PROOF, metavar="FILE"),
    ] = None,
    other_game: GameOption = None,
    exact: Annotated[
        float, option("With --game: limit of the exact search.", min=0, metavar="SECONDS")
    ] = 60.0,
    jobs: JobsOption = None,
    on: OnOption = None,
) -> Result:
    """Strongest counter-matrix found, and the full-memory bound."""
    if other_game is not None:
        check_output(out, (".npz",), reads=[strategy], replace=overwrite)
        return attack_game(other_game, strategy, exact, out)
    if certificate is not None and certify is None:
        raise BadInputError("--certificate: allowed only with --certify")
    if most_kicks is not None and not until_saturated:
        raise BadInputError("--most-kicks: allowed only with --until-saturated")
    reads = [game.spec, strategy]
    check_output(out, MATRIX_SUFFIXES, reads=reads, replace=overwrite)
    check_output(
        certificate, (".json", ".json.gz"), reads=reads, replace=overwrite, option="--certificate"
    )
    check_output(plot, (".png",))
    engine = game.load("search", "full memory", strategies=[strategy])
    if certify is not None:
        game.expect("certificates")
    from hogeq.search.attack import attack
    from hogeq.search.certificate import certified_bound, write_certificate
    from hogeq.search.gains import gains, largest_gains
    from hogeq.strategies.strategy import strategy_of
    from hogeq.strategies.write import write_strategy
    from hogeq.support.progress import show_progress

    target = strategy_of(engine, game.any(strategy))
    more: dict[str, Any] = {} if most_kicks is None else {"most_kicks": most_kicks}
    budget = search_budget(
        starts=starts,
        anneal_steps=anneal_steps,
        damping=damping,
        kicks=kicks,
        seed=seed,
        until_saturated=until_saturated,
        **more,
    )
    with computing(on, jobs), show_progress():
        with refusing():
            proof = None if certify is None else certified_bound(engine, target, certify)
        search = attack(engine, target, budget)
        bounds = _bounds(engine, target, proof)
        gained = gains(engine, search.matrix, target)
    difference = search.matrix.astype(int) - gained.usual
    reached = gained.reach > 0.0
    cells = largest_gains(gained, search.matrix)
    data = {
        "rules": game.name,
        "strategy": strategy,
        "attack": search.win_rate,
        **bounds,
        "starts": search.budget.starts,
        "sweeps": search.sweeps,
        **budget_fields(search.budget),
        "found": list(search.found),
        "saturated": search.saturation.saturated,
        "last_half": search.saturation.last_half,
        "left": search.saturation.left,
        "moves": {name: pay._asdict() for name, pay in search.moves.items() if pay.tried},
        "reached": int(reached.sum()),
        "deviates": int((reached & (difference != 0)).sum()),
        "gains": [cell._asdict() for cell in cells],
        "plot": None if plot is None else str(plot),
        **({} if certificate is None else {"certificate": str(certificate)}),
        "out": None if out is None else str(out),
    }
    upper = min(bounds["bound"], bounds.get("certified", 1.0))
    text: Text = [
        f"against {strategy}, {game.title}",
        "",
        Table(_rows(data), left=3),
        "",
        f"exploitability: {between(search.win_rate - 0.5, upper - 0.5)}",
        f"{budget_text(search.budget)}: {counted(search.sweeps, 'sweep')}",
        saturation_text(search.saturation),
        f"other dice at {data['deviates']} of the {data['reached']} positions that it comes to",
    ]
    if cells:
        text += ["", _gains(cells, engine.positions_recur)]
    with refusing():
        if plot is not None:
            from hogeq import figures

            title = f"counter to {strategy}, {game.title}"
            figures.counter(difference, gained.gains, gained.reach, plot, title)
            text.append(f"drawn to {plot}")
        if certificate is not None and proof is not None:
            write_certificate(certificate, proof)
            text.append(f"certificate written to {certificate}: hogeq certify {certificate}")
        if out is not None:
            write_strategy(out, search.matrix, engine.goal, game.rules.max_dice)
            text.append(f"counter-matrix written to {out}")
    return Result(data, text)


def search_budget(**given: Any) -> "SearchBudget":
    """Make the budget of a search; messages call its parameters as the options are called."""
    from hogeq.search.attack import SearchBudget

    with refusing():
        return SearchBudget(**given)


def _gains(cells: Sequence[Any], first_order: bool) -> Table:
    order = " to first order" if first_order else ""
    header = ("score", "opponent", "S rolls", "counter rolls", f"win rate gained{order}")
    return Table([(*cell[:-1], pp(cell.gain)) for cell in cells], header, left=0)


def _bounds(engine: "HogEngine", target: "Strategy", proof: "Certificate | None") -> dict[str, Any]:
    """Bound what wins from a strategy, in JSON's words."""
    from hogeq.search.bounds import full_memory_bound, upper_bound

    bounds: dict[str, Any] = {"bound": upper_bound(engine, target)}
    if target.kind == "mixture":
        bounds["bound_told"] = full_memory_bound(engine, target)
    if proof is not None:
        bounds |= {"certified": proof.bound, "steps": len(proof.steps)}
    return bounds


def _rows(data: dict[str, Any]) -> list[tuple[str, str, str]]:
    bound, told = data["bound"], data.get("bound_told")
    rows = [
        ("attack", data["attack"], "best counter-matrix found"),
        ("certified", data.get("certified"), "nothing that forgets wins more: proved"),
    ]
    if told is None:
        rows.append(("bound", bound, "best responder that remembers everything"))
    else:
        knows = "best responder that remembers everything but the draw"
        rows.append(("bound", None if bound == told else bound, knows))
        rows.append(("bound", told, "best responder that is told the draw as well"))
    return [(name, percent(rate), about) for name, rate, about in rows if rate is not None]
