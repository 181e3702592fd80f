"""Commands that attack a strategy or a field, and check certificates."""

from pathlib import Path
from typing import Annotated, Any, Literal

import hogeq
from hogeq.cli.inputs import AnyGame, Chosen, HogGame
from hogeq.cli.options import (
    MATRIX,
    PICTURE,
    PROOF,
    SEARCH,
    AnnealSteps,
    ComputeOn,
    Jobs,
    Kicks,
    Output,
    Seed,
    Starts,
    StrategyName,
    Trust,
    argument,
    beside,
    option,
    readable,
)
from hogeq.cli.shell import Result, computing, refusing
from hogeq.support.messages import HogeqError, Table, Text, at_most, between, counted


def attack_(
    strategy: StrategyName,
    chosen: AnyGame,
    out: Annotated[Path | None, option("Write the response.", "FILE"), MATRIX] = None,
    plot: Annotated[
        Path | None,
        option("Draw the gains by position; of other games, the search.", "PNG"),
        PICTURE,
    ] = None,
    starts: Starts = hogeq.Budget.starts,
    anneal_steps: AnnealSteps = hogeq.Budget.anneal_steps,
    kicks: Kicks = hogeq.Budget.kicks,
    until_saturated: Annotated[
        bool,
        option(
            "More kicks, until an estimate for twice as many is below 0.03 pp.",
            group=SEARCH,
            name="--until-saturated",
        ),
    ] = False,
    most_kicks: Annotated[
        int, option("Most kicks for each start.", group=SEARCH), beside("--until-saturated")
    ] = hogeq.Budget.most_kicks,
    seed: Seed = hogeq.Budget.seed,
    seconds: Annotated[
        float | None,
        option("Time limit of search and proofs, but --certify. [none]", group=SEARCH, min=0),
    ] = None,
    exact: Annotated[
        float | None,
        option(
            "Seconds of an integer program, and of a usual search before it."
            " [60; of Hog 0: small goals alone allow it]",
            "SECONDS",
            PROOF,
            min=0,
        ),
    ] = None,
    certify: Annotated[
        float | None, option("Seconds to prove a bound below full memory.", "SECONDS", PROOF, min=0)
    ] = None,
    certificate: Annotated[
        Path | None,
        option("Write the proof: certificate.json, say.", "FILE", PROOF),
        Output((".json", ".json.gz"), is_kept=True),
        beside("--certify"),
    ] = None,
    jobs: Jobs = None,
    on: ComputeOn = None,
) -> Result:
    """Find a best response to a strategy, and bound all responses.

    With a goal for each player, goal: [50, 65], the response has the first and S the second.

    JSON: the game, strategy, the keys of `Response.to_json`, certified and steps (with --certify),
    plot, certificate, out; of teams nash_conv and members (player, lower, upper: what each gains
    who alone deviates); in Hog also reached and deviates (positions that the response comes to,
    and those where it rolls other dice than S) and gains (score, opponent, usual, counter, gain).
    """
    proof_kernels = [] if certify is None else ["certificates"]
    game = chosen.load(
        kernels=["search", "full memory", *proof_kernels], strategies=[strategy], own_goals=True
    )
    budget = hogeq.Budget(
        starts=starts,
        anneal_steps=anneal_steps,
        kicks=kicks,
        seed=seed,
        until_saturated=until_saturated,
        most_kicks=most_kicks,
        seconds=seconds,
        exact_seconds=exact,
    )
    with computing(on, jobs):
        # If each player has a goal, the attacked strategy plays for the second player's.
        target = (chosen.hog_game.second if chosen.is_hog else game).strategy(strategy)
        proof = None
        if certify is not None:
            proof = game.certify(target, certify, str(chosen.spec), **chosen.how)
        response, response_data, rows = _best_response(game, target, budget)
    data = {**chosen.facts, "strategy": strategy, **response_data}
    upper = response.ends[1]  # rounding included
    if proof is not None:
        data |= {"certified": proof.bound, "steps": len(proof.steps)}
        upper = min(upper, proof.bound)
        meaning = "nothing that forgets wins more: proved"
        bound_text = at_most(proof.bound, 0.0) if chosen.is_hog else game.units.upper(proof.bound)
        rows.insert(1, ("certified", bound_text, meaning))
    text: Text = [f"against {strategy}, {chosen.title}", "", Table(rows, left=3)]
    if chosen.is_hog:
        gains_data, lines = _gains_in_hog(chosen.hog_game, response, target, upper)
        data |= gains_data
        text += lines
    elif response.lines():
        text += ["", *response.lines()]
    if plot is not None:
        _plot(chosen, response, target, plot)
    if certificate is not None and proof is not None:
        proof.write(certificate)
        checks = chosen.command("certify", certificate)
        text.append(f"certificate written to {certificate}: {checks}")
    if out is not None:
        response.strategy.write(out)
    return Result(data, text)


def _best_response(
    game: "hogeq.Game", target: "hogeq.Strategy", budget: hogeq.Budget
) -> "tuple[hogeq.Response, dict[str, Any], list[tuple[str, str, str]]]":
    """Find a best response; return it, its data for JSON, and the rows of its table.

    In a game of teams data and rows also have what each member gains by deviating alone.
    """
    # Hog has no tree, and need not wait for the import of the class.
    is_tree = hasattr(game, "tree") and isinstance(game, hogeq.TreeGame)
    if is_tree and game.tree.sides is not None and target.kind != "mixture":
        member_gains = game.nash_conv(target, budget)
        response = member_gains.response
        data = {**response.to_json(), **member_gains.to_json()}
        return response, data, [*response.rows(), *member_gains.rows()]
    response = game.attack(target, budget)
    return response, response.to_json(), response.rows()


def _gains_in_hog(
    game: "hogeq.Hog", response: "hogeq.Response", target: "hogeq.Strategy", upper: float
) -> tuple[dict[str, Any], Text]:
    """Compute the gains by position of a response to a strategy; return their data and text.

    The text begins with the exploitability, between the response's win rate and the bound `upper`
    on all responses, less 1/2, unless each player has a goal.
    """
    text: Text = []
    if not isinstance(game.rules.goal, tuple):  # an even game is 1/2
        lower, upper = game.units.beyond(response.ends[0], upper)
        gap = between(max(lower, 0.0), upper, are_one=response.is_proved)
        text = ["", f"exploitability: {gap}"]
    # Without hidden memory a proved response is exact, and notes on the search say nothing.
    if len(game.memories) > 1 or not response.is_proved:
        text += response.lines()
    gains = game.gains(response.strategy, target)
    choices = game.rules.choices
    text += gains.text(response.matrix, choices)
    return gains.to_json(response.matrix, choices), text


def _plot(chosen: Chosen, response: "hogeq.Response", target: "hogeq.Strategy", plot: Path) -> None:
    """Draw a response to a file: its gains by position, or, if not in Hog, its search."""
    search = response.search
    if chosen.is_hog:
        game = chosen.hog_game
        gains = game.gains(response.strategy, target)
        dice_changes = gains.changes(response.matrix, game.rules.choices)
        title = f"counter to {target.name}, {chosen.title}"
        hogeq.figures.counter(dice_changes, gains.gains, gains.reach, plot, title)
    elif search is None:
        raise HogeqError("--plot: allowed where a search is needed; one pass was enough here")
    else:
        curve = [(sweeps, response.units.value(rate)) for sweeps, rate in search.curve]
        title = f"search for a response to {target.name}, {chosen.title}"
        hogeq.figures.search_course(curve, response.bound, plot, title, response.units.figure)


def attack_field(
    strategies: Annotated[list[str], argument("S", "The rivals: names, files or runs.")],
    chosen: HogGame,
    objective: Annotated[
        Literal["mean", "beaten"],
        option("The mean win rate, or how many are beaten (above 0.500001)."),
    ] = "mean",
    out: Annotated[Path | None, option("Write the answer.", "FILE"), MATRIX] = None,
    starts: Starts = hogeq.Budget.starts,
    anneal_steps: AnnealSteps = hogeq.Budget.anneal_steps,
    kicks: Kicks = hogeq.Budget.kicks,
    seed: Seed = hogeq.Budget.seed,
    jobs: Jobs = None,
    on: ComputeOn = None,
) -> Result:
    """Find the matrix that wins most from several rivals."""
    game = chosen.load_hog(kernels=["search"], strategies=strategies)
    rivals = [game.strategy(name) for name in strategies]
    budget = hogeq.Budget(starts=starts, anneal_steps=anneal_steps, kicks=kicks, seed=seed)
    with computing(on, jobs):
        answer = game.answer_field(rivals, objective, budget)
    data = {**chosen.facts, "field": strategies, "objective": objective}
    data |= {**answer.to_json(), **budget.fields()}
    aim = "the highest mean win rate" if objective == "mean" else "the most rivals beaten"
    heading = f"against {len(rivals)} rivals, {chosen.title}, for {aim}"
    text: Text = [heading, "", Table(answer.rows(strategies)), "", f"effort: {budget}"]
    if out is not None:
        game.strategy(answer.strategy).write(out)
    return Result(data, text)


def certify(
    file: Annotated[
        Path, argument("FILE", "A certificate, of hogeq attack --certificate.", callback=readable)
    ],
    of: Annotated[str | None, option("Refuse a certificate of another strategy.", "S")] = None,
    trust: Trust = False,
) -> Result:
    """Check a certificate: prove its upper bound again.

    The proof is made anew from the steps in the file, without the search that found them and
    without the kernels that measure attacks. A certificate that says less than its steps prove, or
    another full-memory bound than the game has, is refused.
    """
    with refusing():
        certificate = hogeq.Certificate.read(file)
    upper = None
    if isinstance(certificate.game, hogeq.Rules):
        chosen = Chosen.of(certificate.game, trust)
        chosen.hog_game.prepare("certificates")
    else:
        how = {"forget": certificate.game.forget, "teams": certificate.game.teams}
        chosen = Chosen(None, certificate.game.name, **how, trust=trust)
        upper = chosen.load().units.upper
    with refusing(), computing():
        if of is not None and not certificate.is_about(chosen.game.strategy(of)):
            raise HogeqError(f"{file}: is about another strategy than {of}")
        proved = chosen.game.check(certificate)
        proved.require_same(certificate, str(file))
    data = {**chosen.facts, "file": file, "bound": proved.bound}
    title = certificate.title if chosen.is_hog else chosen.title
    if chosen.is_hog:
        data["rules"] = title
    data |= {"full_memory": proved.full_memory_bound, "steps": len(certificate.steps)}
    proof = f"{file}, {title}: true, by {counted(len(certificate.steps), 'step')}"
    return Result(data, [proof, "", Table(proved.rows(upper), left=3)])
