"""Commands that attack a strategy or a field, and check certificates."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hogeq.cli.inputs import AnyChosen, Chosen
from hogeq.cli.shell import Result, computing, refusing
from hogeq.search.budget import Budget
from hogeq.support.messages import BadInputError, Table, Text, at_most, between, counted

if TYPE_CHECKING:
    from hogeq.games.game import Game
    from hogeq.search.results import Response
    from hogeq.strategies.strategy import Strategy


def attack_(
    strategy: str,
    chosen: AnyChosen,
    out: Path | None = None,
    plot: Path | None = None,
    starts: int = Budget.starts,
    anneal_steps: int = Budget.anneal_steps,
    kicks: int = Budget.kicks,
    until_saturated: bool = False,
    most_kicks: int = Budget.most_kicks,
    seed: int = Budget.seed,
    seconds: float | None = None,
    exact: float | None = None,
    certify: float | None = None,
    certificate: Path | None = None,
    jobs: int | None = None,
    on: str | None = None,
) -> Result:
    """Find a best response to a strategy, and bound all responses.

    With a goal for each player, goal: [50, 65], the response has the first and S the second.

    JSON: the game, strategy, the keys of `Response.to_json`, certified and steps (with --certify),
    plot, certificate, out; of teams nash_conv and members (player, lower, upper: what each gains
    who alone deviates); in Hog also reached and deviates (positions that the response comes to,
    and those where it rolls other dice than S) and gains (score, opponent, usual, counter, gain).
    """
    proofs = ["certificates"] * (certify is not None)
    parts = "search", "full memory", *proofs
    game = chosen.load(*parts, strategies=[strategy], own_goals=True)
    from hogeq.games.hog import Hog

    budget = Budget(
        starts=starts,
        anneal_steps=anneal_steps,
        kicks=kicks,
        seed=seed,
        until_saturated=until_saturated,
        most_kicks=most_kicks,
        seconds=seconds,
        exact_seconds=exact,
    )
    with computing(on, jobs), refusing():
        target = (game.second if isinstance(game, Hog) else game).strategy(strategy)
        proof = None
        if certify is not None:
            from hogeq.games.certified import certify as certified

            proof = certified(game, target, certify, str(chosen.spec), **chosen.how)
        found, told, rows = _responses(game, target, budget)
    data = {**chosen.facts, "strategy": strategy, **told}
    upper = found.bound
    if proof is not None:
        data |= {"certified": proof.bound, "steps": len(proof.steps)}
        upper = min(upper, proof.bound)
        meaning = "nothing that forgets wins more: proved"
        written = at_most(proof.bound, 0.0) if chosen.is_hog else game.units.upper(proof.bound)
        rows.insert(1, ("certified", written, meaning))
    text: Text = [f"against {strategy}, {chosen.title}", "", Table(rows, left=3)]
    if isinstance(game, Hog):
        if not chosen.engine.has_own_goals:
            gap = between(found.value - 0.5, upper - 0.5, are_one=found.is_proved)
            text += ["", f"exploitability: {gap}"]
        gained, choices = game.gains(found.strategy, target), game.rules.choices
        data |= gained.to_json(found.matrix, choices)
        worth = "win rate gained" + " to first order" * chosen.engine.positions_recur
        if chosen.engine.has_memory or not found.is_proved:  # else the search decided nothing
            text += found.lines()
        text += gained.text(found.matrix, choices, worth)
    elif found.lines():
        text += ["", *found.lines()]
    if plot is not None:
        _plot(chosen, found, target, plot)
    if certificate is not None and proof is not None:
        from hogeq.search.certificate import write_certificate

        write_certificate(certificate, proof)
        checks = chosen.command("certify", certificate)
        text.append(f"certificate written to {certificate}: {checks}")
    if out is not None:
        found.strategy.write(out)
    return Result(data, text)


def _responses(
    game: "Game", target: "Strategy", budget: Budget
) -> "tuple[Response, dict[str, Any], list[tuple[str, str, str]]]":
    """Find a best response, as values and lines too; of teams also what their members gain."""
    from hogeq.games.tree import TreeGame

    if isinstance(game, TreeGame) and game.tree.sides is not None and target.kind != "mixture":
        gains = game.nash_conv(target, budget)
        found = gains.response
        return found, {**found.to_json(), **gains.to_json()}, [*found.rows(), *gains.rows()]
    found = game.attack(target, budget)
    return found, found.to_json(), found.rows()


def _plot(chosen: Chosen, found: "Response", target: "Strategy", plot: Path) -> None:
    """Draw the gains by position; of other games than Hog, the search."""
    from hogeq import figures
    from hogeq.games.hog import Hog

    game, search = chosen.game, found.search
    if isinstance(game, Hog):
        gained = game.gains(found.strategy, target)
        changes = gained.changes(found.matrix, game.rules.choices)
        title = f"counter to {target.name}, {chosen.title}"
        figures.counter(changes, gained.gains, gained.reach, plot, title)
    elif search is None:
        raise BadInputError("--plot: allowed where a search is needed; one pass was enough here")
    else:
        curve = [(sweeps, found.units.value(rate)) for sweeps, rate in search.curve]
        title = f"search for a response to {target.name}, {chosen.title}"
        figures.search_course(curve, found.bound, plot, title, found.units.figure)


def attack_field(
    strategies: list[str],
    chosen: Chosen,
    objective: Literal["mean", "beaten"] = "mean",
    out: Path | None = None,
    starts: int = Budget.starts,
    anneal_steps: int = Budget.anneal_steps,
    kicks: int = Budget.kicks,
    seed: int = Budget.seed,
    jobs: int | None = None,
    on: str | None = None,
) -> Result:
    """Find the matrix that wins most from several rivals."""
    game = chosen.load("search", strategies=strategies)
    rivals = [game.strategy(name) for name in strategies]
    from hogeq.contest.field import answer_field

    budget = Budget(starts=starts, anneal_steps=anneal_steps, kicks=kicks, seed=seed)
    with computing(on, jobs):
        answer = answer_field(game.engine, rivals, objective, budget)
    data = {**chosen.facts, "field": strategies, "objective": objective}
    data |= {**answer.to_json(), **budget.fields()}
    what = "the highest mean win rate" if objective == "mean" else "the most rivals beaten"
    heading = f"against {len(rivals)} rivals, {chosen.title}, for {what}"
    text: Text = [heading, "", Table(answer.rows(strategies)), "", f"effort: {budget}"]
    if out is not None:
        game.strategy(answer.strategy).write(out)
    return Result(data, text)


def certify(file: Path, of: str | None = None, trust: bool = False) -> Result:
    """Check a certificate: prove its upper bound again.

    The proof is made anew from the steps in the file, without the search that found them and
    without the kernels that measure attacks. A certificate that says less than its steps prove, or
    another full-memory bound than the game has, is refused.
    """
    from hogeq.rules import Rules
    from hogeq.search.certificate import read_certificate

    with refusing():
        given = read_certificate(file)
    upper = None
    if isinstance(given.game, Rules):
        chosen = Chosen.of(given.game, trust)
        chosen.expect("certificates")
    else:
        chosen = Chosen.other(given.game, trust)
        upper = chosen.game.units.upper
    from hogeq.games.certified import check

    with refusing(), computing():
        if of is not None and not given.is_about(chosen.game.strategy(of)):
            raise BadInputError(f"{file}: is about another strategy than {of}")
        proved = check(chosen.game, given)
        proved.require_same(given, str(file))
    data = {**chosen.facts, "file": file, "bound": proved.bound}
    data |= {"full_memory": proved.full_memory, "steps": len(given.steps)}
    proof = f"{file}, {chosen.title}: true, by {counted(len(given.steps), 'step')}"
    return Result(data, [proof, "", Table(proved.rows(upper), left=3)])
