"""What wins most from one strategy or a field, and whether a proof that no more can is true."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from hogeq.cli import options
from hogeq.cli.inputs import AnyChosen, Chosen, reading
from hogeq.cli.options import CERTIFICATE, MATRIX, PROOF, SEARCH, argument, option
from hogeq.cli.result import Result, Table, Text
from hogeq.cli.shell import computing, refusing
from hogeq.support.files import write_arrays
from hogeq.support.messages import (
    BadInputError,
    at_least,
    at_most,
    between,
    counted,
    loss,
    percent,
    pp,
)

if TYPE_CHECKING:
    from hogeq.search.attack import Saturation
    from hogeq.search.results import Budget

ROUNDING = 1e-9  # what a bound may differ by where processors add up differently


def attack_(
    strategy: options.Strategy,
    chosen: AnyChosen,
    out: Annotated[Path | None, option("Write the counter-matrix.", "FILE"), MATRIX] = None,
    plot: options.Plot = None,
    starts: options.Starts = 4,
    anneal_steps: options.AnnealSteps = 60,
    kicks: options.Kicks = 20,
    until_saturated: Annotated[
        bool,
        option("More kicks, until twice the effort would find less than 0.03 pp.", group=SEARCH),
    ] = False,
    most_kicks: Annotated[
        int | None,
        option("Most kicks for each start. [1600]", group=SEARCH),
    ] = None,
    seed: options.Seed = 0,
    certify: Annotated[
        float | None,
        option("Prove a bound below full memory, for so long.", "SECONDS", group=PROOF, min=0),
    ] = None,
    certificate: Annotated[
        Path | None,
        option("Write the proof: certificate.json, say.", "FILE", group=PROOF),
        CERTIFICATE,
    ] = None,
    exact: Annotated[float, option("Limit of the search.", "SECONDS", min=0)] = 60.0,
    jobs: options.Jobs = None,
    on: options.On = None,
) -> Result:
    """Strongest counter-matrix found, and the full-memory bound.

    With a goal for each player, goal: [50, 65], the counter has the first and S the second.
    """
    if chosen.tree is not None:
        return _attack_tree(chosen, strategy, exact, out)
    proofs = ["certificates"] * (certify is not None)
    game = chosen.load("search", "full memory", *proofs, strategies=[strategy], own_goals=True)
    from numpy import array

    from hogeq.search.certificate import certified_bound, write_certificate
    from hogeq.search.population import largest_gains
    from hogeq.search.results import Budget

    effort: dict[str, Any] = {"anneal_steps": anneal_steps, "kicks": kicks}
    effort |= {} if most_kicks is None else {"most_kicks": most_kicks}
    budget = Budget(starts=starts, seed=seed, until_saturated=until_saturated, **effort)
    target = game.second.strategy(strategy)
    with computing(on, jobs):
        with refusing():
            proof = None if certify is None else certified_bound(chosen.engine, target, certify)
        found = game.attack(target, budget)
        told = found.full_memory if target.kind == "mixture" else None
        gained = game.gains(found.matrix, target)
    bound, search = found.bound, found.search
    assert search is not None  # noqa: S101 - in Hog every response is searched for
    choices = game.rules.choices
    difference = array(choices)[search.matrix] - array(choices)[gained.usual]
    reached = gained.reach > 0.0
    cells = [
        cell._replace(usual=choices[cell.usual], counter=choices[cell.counter])
        for cell in largest_gains(gained, search.matrix)
    ]
    data = {
        **chosen.facts,
        "strategy": strategy,
        "attack": search.win_rate,
        "bound": bound,
        **({} if told is None else {"bound_told": told}),
        **({} if proof is None else {"certified": proof.bound, "steps": len(proof.steps)}),
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
    upper = min(bound, data.get("certified", 1.0))
    exploitability = f"exploitability: {between(search.win_rate - 0.5, upper - 0.5)}"
    text: Text = [
        f"against {strategy}, {chosen.title}",
        "",
        Table(_bounds(data), left=3),
        "",
        *([] if chosen.engine.has_own_goals else [exploitability]),
        f"{_budget_text(search.budget)}: {counted(search.sweeps, 'sweep')}",
        _saturation_text(search.saturation),
        f"other dice at {data['deviates']} of the {data['reached']} positions that it comes to",
    ]
    if cells:
        worth = "win rate gained" + " to first order" * chosen.engine.positions_recur
        header = ("score", "opponent", "S rolls", "counter rolls", worth)
        text += ["", Table([(*cell[:-1], pp(cell.gain)) for cell in cells], header, left=0)]
    if plot is not None:
        from hogeq import figures

        title = f"counter to {strategy}, {chosen.title}"
        figures.counter(difference, gained.gains, gained.reach, plot, title)
        text.append(f"drawn to {plot}")
    if certificate is not None and proof is not None:
        write_certificate(certificate, proof)
        text.append(f"certificate written to {certificate}: hogeq certify {certificate}")
    if out is not None:
        game.strategy(search.matrix).write(out)
        text.append(f"counter-matrix written to {out}")
    return Result(data, text)


def _bounds(data: dict[str, Any]) -> list[tuple[str, str, str]]:
    remembers = "best responder that remembers everything"
    told = data.get("bound_told")
    known = {
        "attack": "best counter-matrix found",
        "certified": "nothing that forgets wins more: proved",
        "bound": remembers if told is None else f"{remembers} but the draw",
        "bound_told": "best responder that is told the draw as well",
    }
    if data["bound"] == told:  # the first says no more than the second
        del known["bound"]
    written = {"attack": at_least, "certified": _proved}
    return [
        (name.removesuffix("_told"), written.get(name, at_most)(data[name]), about)
        for name, about in known.items()
        if name in data
    ]


def _proved(bound: float) -> str:
    return at_most(bound, 0.0)


def _budget_text(budget: "Budget") -> str:
    more = f" or more, at most {budget.most_kicks}," if budget.until_saturated else ","
    return (
        f"effort: {counted(budget.starts, 'start')}, "
        f"{counted(budget.anneal_steps, 'anneal step')}, damping {budget.damping}, "
        f"{counted(budget.kicks, 'kick')}{more} seed {budget.seed}"
    )


def _saturation_text(search: "Saturation") -> str:
    if search.left is None:
        return "not saturated: too few kicks to say what more would find"
    return (
        f"{'saturated' if search.saturated else 'not saturated'}: the last half of the sweeps "
        f"found {loss(search.last_half)}, twice as many would find about {loss(search.left)}"
    )


def _attack_tree(chosen: AnyChosen, strategy: str, seconds: float, out: Path | None) -> Result:
    """Best response to a strategy of another game, from either seat."""
    from hogeq.search.results import Budget

    with refusing():
        found = chosen.game.attack(strategy, Budget(exact_seconds=seconds))
    if out is not None:
        write_arrays(out, policy=found.strategy.policy)
    data = {**chosen.facts, "strategy": strategy, **found.to_json()}
    return Result(data, [f"against {strategy}, {chosen.title}", "", Table(found.rows(), left=3)])


def attack_field(
    strategies: Annotated[list[str], argument("S ...", "The rivals: names, files or runs.")],
    chosen: Chosen,
    objective: Annotated[
        Literal["mean", "beaten"],
        option("The mean win rate, or how many are beaten (above 0.500001)."),
    ] = "mean",
    out: Annotated[Path | None, option("Write the answer.", "FILE"), MATRIX] = None,
    starts: options.Starts = 4,
    anneal_steps: options.AnnealSteps = 60,
    kicks: options.Kicks = 0,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    on: options.On = None,
) -> Result:
    """Find the matrix that wins most from several rivals."""
    game = chosen.load("search", strategies=strategies)
    rivals = [game.strategy(name) for name in strategies]
    from hogeq.contest.field import answer_field
    from hogeq.contest.tournament import WIN
    from hogeq.search.results import Budget

    effort: dict[str, Any] = {"anneal_steps": anneal_steps, "kicks": kicks}
    budget = Budget(starts=starts, seed=seed, **effort)
    with computing(on, jobs):
        answer = answer_field(game.hog, rivals, objective, budget)
    data = {
        **chosen.facts,
        "field": strategies,
        "objective": objective,
        "win_rates": answer.win_rates.tolist(),
        "mean": answer.mean,
        "beaten": answer.beaten,
        **budget.fields(),
        "out": out,
    }
    what = "the highest mean win rate" if objective == "mean" else "the most rivals beaten"
    rows = [
        (name, percent(rate), "beaten" if rate > WIN else "")
        for name, rate in zip(strategies, answer.win_rates.tolist(), strict=True)
    ]
    rows.append(("mean", percent(answer.mean), f"{answer.beaten} of {len(rows)} beaten"))
    text: Text = [f"against {len(rivals)} rivals, {chosen.title}, for {what}", "", Table(rows), ""]
    text.append(_budget_text(budget))
    if out is not None:
        game.strategy(answer.strategy).write(out)
        text.append(f"counter-matrix written to {out}")
    return Result(data, text)


def certify(
    file: Annotated[Path, argument("FILE", "A certificate, of hogeq attack --certificate.")],
    of: Annotated[str | None, option("Refuse a certificate of another strategy.", "S")] = None,
    trust: options.Trust = False,
) -> Result:
    """Check a certificate: prove again that nothing wins more from a strategy than it says.

    The proof is made anew from the steps in the file, without the search that found them and
    without the kernels that measure attacks. A certificate that says less than its steps prove, or
    another full-memory bound than the game has, is refused.
    """
    from hogeq.search.certificate import check_certificate, read_certificate

    with reading(file):
        given = read_certificate(file)
    chosen = Chosen.of(given.rules, trust)
    chosen.expect("certificates")
    if of is not None and not given.is_about(chosen.game.strategy(of)):
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
        **chosen.facts,
        "file": file,
        "bound": proved.bound,
        "full_memory": proved.full_memory,
        "steps": len(given.steps),
    }
    drawn = given.strategy.kind == "mixture"
    knows = "is told the draw as well" if drawn else "remembers everything"
    rows = [
        ("certified", _proved(proved.bound), "nothing that forgets wins more"),
        ("bound", at_most(proved.full_memory), f"best responder that {knows}"),
    ]
    proof = f"{file}, {given.rules.name}: true, by {counted(len(given.steps), 'step')}"
    return Result(data, [proof, "", Table(rows, left=3)])
