"""What wins most from one strategy, and whether a proof that nothing wins more is true."""

from pathlib import Path
from typing import Annotated, Any

from hogeq.cli.commands.trees import OtherGame, attack_game
from hogeq.cli.inputs import Chosen, reading
from hogeq.cli.options import (
    MATRIX,
    PICTURE,
    PROOF,
    SEARCH,
    AnnealStepsOption,
    DampingOption,
    ForgetOption,
    GameOption,
    JobsOption,
    KicksOption,
    OnOption,
    Output,
    SeedOption,
    StartsOption,
    StrategyArgument,
    TrustOption,
    argument,
    option,
)
from hogeq.cli.result import (
    Result,
    Table,
    Text,
    between,
    budget_text,
    percent,
    pp,
    saturation_text,
)
from hogeq.cli.shell import computing, refusing
from hogeq.support.messages import BadInputError
from hogeq.support.numbers import counted

KICKS = 20

ROUNDING = 1e-9  # what a bound may differ by where processors add up differently

MEANINGS = {
    "attack": "best counter-matrix found",
    "certified": "nothing that forgets wins more: proved",
    "bound": "best responder that remembers everything",
}


def attack_(
    strategy: StrategyArgument,
    game: Chosen,
    out: Annotated[
        Path | None, option("Write the counter-matrix: M.csv, say.", "FILE"), MATRIX
    ] = None,
    plot: Annotated[
        Path | None,
        option("Draw where it leaves the rolls of S, and what it gains.", "PNG"),
        PICTURE,
    ] = None,
    starts: StartsOption = 4,
    anneal_steps: AnnealStepsOption = 60,
    damping: DampingOption = 0.5,
    kicks: KicksOption = KICKS,
    until_saturated: Annotated[
        bool,
        option(
            "More kicks, until twice the effort would find less than 0.03 pp.",
            name="--until-saturated",
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
        option("Prove a bound below full memory, for so long.", "SECONDS", group=PROOF, min=0),
    ] = None,
    certificate: Annotated[
        Path | None,
        option("Write the proof: certificate.json, say.", "FILE", group=PROOF),
        Output((".json", ".json.gz"), is_kept=True),
    ] = None,
    other_game: GameOption = None,
    forget: ForgetOption = None,
    exact: Annotated[
        float, option("With --game: limit of the exact search.", "SECONDS", min=0)
    ] = 60.0,
    jobs: JobsOption = None,
    on: OnOption = None,
) -> Result:
    """Strongest counter-matrix found, and the full-memory bound.

    With a goal for each player, goal: [50, 65], the counter has the first and S the second.
    """
    if other_game is not None:
        return attack_game(OtherGame(other_game, forget), strategy, exact, out)
    if certificate is not None and certify is None:
        raise BadInputError("--certificate: allowed only with --certify")
    if most_kicks is not None and not until_saturated:
        raise BadInputError("--most-kicks: allowed only with --until-saturated")
    engine = game.load("search", "full memory", strategies=[strategy], own_goals=True)
    if certify is not None:
        game.expect("certificates")
    from hogeq.search.attack import SearchBudget, attack
    from hogeq.search.bounds import full_memory_bound, upper_bound
    from hogeq.search.certificate import certified_bound, write_certificate
    from hogeq.search.population import gains, largest_gains

    target = game.strategy(strategy, of_second=True)
    effort: dict[str, Any] = {"anneal_steps": anneal_steps, "damping": damping, "kicks": kicks}
    effort |= {} if most_kicks is None else {"most_kicks": most_kicks}
    budget = SearchBudget(starts=starts, seed=seed, until_saturated=until_saturated, **effort)
    with computing(on, jobs):
        with refusing():
            proof = None if certify is None else certified_bound(engine, target, certify)
        search = attack(engine, target, budget)
        bounds = {"bound": upper_bound(engine, target)}
        if target.kind == "mixture":
            bounds["bound_told"] = full_memory_bound(engine, target)
        gained = gains(engine, search.matrix, target)
    if proof is not None:
        bounds |= {"certified": proof.bound, "steps": len(proof.steps)}
    difference = search.matrix.astype(int) - gained.usual
    reached = gained.reach > 0.0
    choices = game.rules.choices
    cells = [
        cell._replace(usual=choices[cell.usual], counter=choices[cell.counter])
        for cell in largest_gains(gained, search.matrix)
    ]
    data = {
        "rules": game.name,
        "strategy": strategy,
        "attack": search.win_rate,
        **bounds,
        "starts": search.budget.starts,
        "sweeps": search.sweeps,
        **search.budget.fields(),
        "found": list(search.found),
        "saturated": search.saturation.saturated,
        "last_half": search.saturation.last_half,
        "left": search.saturation.left,
        "moves": {name: pay._asdict() for name, pay in search.moves.items() if pay.tried},
        "reached": int(reached.sum()),
        "deviates": int((reached & (difference != 0)).sum()),
        "gains": [cell._asdict() for cell in cells],
        "plot": plot,
        **({} if certificate is None else {"certificate": certificate}),
        "out": out,
    }
    worth = "win rate gained" + " to first order" * engine.positions_recur
    header = ("score", "opponent", "S rolls", "counter rolls", worth)
    where_gained: Text = [
        "",
        Table([(*cell[:-1], pp(cell.gain)) for cell in cells], header, left=0),
    ]
    upper = min(bounds["bound"], bounds.get("certified", 1.0))
    exploitability = f"exploitability: {between(search.win_rate - 0.5, upper - 0.5)}"
    text: Text = [
        f"against {strategy}, {game.title}",
        "",
        Table(_rows(data), left=3),
        "",
        *([] if engine.has_own_goals else [exploitability]),
        f"{budget_text(search.budget)}: {counted(search.sweeps, 'sweep')}",
        saturation_text(search.saturation),
        f"other dice at {data['deviates']} of the {data['reached']} positions that it comes to",
        *(where_gained if cells else []),
    ]
    if plot is not None:
        from hogeq import figures

        title = f"counter to {strategy}, {game.title}"
        figures.counter(difference, gained.gains, gained.reach, plot, title)
        text.append(f"drawn to {plot}")
    if certificate is not None and proof is not None:
        write_certificate(certificate, proof)
        text.append(f"certificate written to {certificate}: hogeq certify {certificate}")
    if out is not None:
        game.write(out, search.matrix)
        text.append(f"counter-matrix written to {out}")
    return Result(data, text)


def _rows(data: dict[str, Any]) -> list[tuple[str, str, str]]:
    names = ["attack", "certified", "bound"]
    rows = [(name, percent(data[name]), MEANINGS[name]) for name in names if name in data]
    if "bound_told" in data:
        informed = (
            "bound",
            percent(data["bound_told"]),
            "best responder that is told the draw as well",
        )
        draw = [(*rows.pop()[:-1], f"{MEANINGS['bound']} but the draw")]
        rows += [informed] if data["bound"] == data["bound_told"] else [*draw, informed]
    return rows


def certify(
    file: Annotated[Path, argument("FILE", "A certificate, of hogeq attack --certificate.")],
    of: Annotated[
        str | None, option("Refuse a certificate of another strategy than this one.", "S")
    ] = None,
    trust: TrustOption = False,
) -> Result:
    """Check a certificate: prove again that nothing wins more from a strategy than it says.

    The proof is made anew from the steps in the file, without the search that found them and
    without the kernels that measure attacks. A certificate that says less than its steps prove, or
    another full-memory bound than the game has, is refused.
    """
    from hogeq.search.certificate import check_certificate, read_certificate

    with reading(file):
        given = read_certificate(file)
    game = Chosen.of(given.rules, trust)
    game.expect("certificates")
    if of is not None and not given.is_about(game.strategy(of)):
        raise BadInputError(f"{file}: is about another strategy than {of}")
    with refusing(), computing():
        proved = check_certificate(given)
    if proved.bound > given.bound + ROUNDING:
        raise BadInputError(
            f"{file}: bound: got {given.bound!r}; its steps prove {proved.bound!r} and no less"
        )
    if abs(proved.full_memory - given.full_memory) > ROUNDING:
        raise BadInputError(
            f"{file}: full_memory: got {given.full_memory!r}; it is {proved.full_memory!r}"
        )
    data = {
        "rules": given.rules.name,
        "file": file,
        "bound": proved.bound,
        "full_memory": proved.full_memory,
        "steps": len(given.steps),
    }
    drawn = given.strategy.kind == "mixture"
    knows = "is told the draw as well" if drawn else "remembers everything"
    rows = [
        ("certified", percent(proved.bound), "nothing that forgets wins more"),
        ("bound", percent(proved.full_memory), f"best responder that {knows}"),
    ]
    proof = f"{file}, {given.rules.name}: true, by {counted(len(given.steps), 'step')}"
    return Result(data, [proof, "", Table(rows, left=3)])
