"""Optimal play and single positions: tablebase, analyze, beliefs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import MATRIX_SUFFIXES, check_output, load_game, load_strategy, position
from hogeq.cli.memory import Seen
from hogeq.cli.shell import (
    BadInputError,
    JsonOption,
    RulesOption,
    TrustOption,
    emit,
    refusing,
    table,
)
from hogeq.rules.memory import (
    Memory,
    memory_columns,
    memory_fields,
    memory_line,
    memory_texts,
)

if TYPE_CHECKING:
    from hogeq.model.game import Game

ScoreOption = Annotated[int, typer.Option("--score", help="Points of the player to move.")]
OpponentOption = Annotated[int, typer.Option("--opponent", help="Points of the other player.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(tablebase)
    app.command()(analyze)
    app.command()(beliefs)


# --- tablebase ------------------------------------------------------------------------------------


def tablebase(
    rules: RulesOption = "su20",
    against: Annotated[
        str | None, typer.Option(metavar="S", help="Win rate of its rolls against a strategy.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write its matrix (rules without memory).")
    ] = None,
    longest: Annotated[bool, typer.Option("--longest", help="Also the longest game.")] = False,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Solve with full information: players remember everything."""
    check_output(out, MATRIX_SUFFIXES)
    game = load_game(rules)
    target = None if against is None else load_strategy(against, game, trust)
    from hogeq.evaluation.tablebase import longest_game, solve

    if out is not None and game.has_memory:
        raise BadInputError(
            f"--out: rules {game.rules.name} have hidden memory, and the best roll depends on it: "
            "allowed without memory"
        )
    with refusing():
        solved = solve(game)
    found = None if target is None else solved.against(target)
    data: dict[str, Any] = {
        "rules": game.rules.name,
        "memory_size": game.memory_size,
        "value": solved.value,
        "first_roll": solved.first_roll,
        "against": None if found is None else found.win_rate,
    }
    rows: list[tuple[str, object, str]] = [
        ("value", f"{solved.value:.12f}", "win probability of whoever moves first"),
        ("first roll", solved.first_roll, "dice"),
    ]
    if found is not None:
        data |= {"against_first": found.first, "against_second": found.second}
        sees = " (remembering; the other does not)" if game.has_memory else ""
        rows.append(("against", f"{found.win_rate:.12f}", f"win rate against {against}{sees}"))
    if longest:
        turns = longest_game(game.rules)
        data["longest_game"] = turns
        rows.append(("longest game", turns or "no limit", "turns of both players" if turns else ""))
    if out is not None:
        from hogeq.strategies.write import write_strategy

        with refusing():
            write_strategy(out, solved.matrix)
        data["out"] = str(out)
        rows.append(("written to", out, ""))
    memory = f"{game.memory_size} memories" if game.has_memory else "no hidden memory"
    emit(data, f"{game.rules.name}, {memory}\n\n{table(rows, left=3)}", as_json)


# --- analyze --------------------------------------------------------------------------------------


def analyze(
    score: ScoreOption,
    opponent: OpponentOption,
    rules: RulesOption = "su20",
    strategy: Annotated[
        str | None,
        typer.Option(metavar="S", help="Both play S from the next turn on. [optimal play]"),
    ] = None,
    own_last: Annotated[
        int | None,
        typer.Option(help="Memory: own last turn's points (or dice, as the rules have it)."),
    ] = None,
    opponent_last: Annotated[
        int | None,
        typer.Option(
            help="Memory: the opponent's last turn's points (or dice, as the rules have it)."
        ),
    ] = None,
    turn: Annotated[int | None, typer.Option(help="Memory: number of this turn, from 0.")] = None,
    extra: Annotated[
        bool | None, typer.Option("--extra/--no-extra", help="Memory: is this an extra turn?")
    ] = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Every roll at a position, its win probability, best first.

    Where the rules have a memory, say what it is; otherwise it is averaged over what S makes of it
    or, without S, taken to be as before the first turn.
    """
    game = load_game(rules)
    position(game, score, opponent)
    memory = Seen(own_last, opponent_last, turn, extra).memory(game.rules)
    source = "given" if memory is not None else "start" if strategy is None else "belief"
    from hogeq.evaluation.tablebase import best_first, solve

    shares = None
    if strategy is None:
        with refusing():
            solved = solve(game)
        by_memory = solved.roll_values(score, opponent)
    else:
        from hogeq.evaluation.hidden import hidden_action_values
        from hogeq.evaluation.win_rates import policy_of

        policy = policy_of(game, load_strategy(strategy, game, trust))
        by_memory = hidden_action_values(game, policy, None, [(score, opponent)])[0]
        shares = policy[score, opponent]
    if source == "belief" and game.has_memory:
        values = _belief(game, policy, score, opponent, strategy or "") @ by_memory
    else:
        values = by_memory[game.memories.index(memory or Memory())]
    order = best_first(values)
    best = float(values[order[0]])
    told: dict[str, Any] = {"source": source}
    if source != "belief":
        told |= memory_fields(game.rules, memory or Memory())
    data = {
        "rules": game.rules.name,
        "score": score,
        "opponent": opponent,
        "play": "optimal" if strategy is None else strategy,
        "memory": told if game.has_memory else None,
        "value": best,
        "best_roll": order[0],
        "rolls": [
            {
                "dice": roll,
                "win_probability": float(values[roll]),
                "behind": max(0.0, best - float(values[roll])),  # a tie is no lead
            }
            | ({} if shares is None else {"played": float(shares[roll])})
            for roll in order
        ],
    }
    emit(data, _analysis(game, data, memory or Memory(), source), as_json)


def _analysis(game: "Game", data: dict[str, Any], memory: Memory, source: str) -> str:
    rules, play = game.rules, data["play"]
    then = "optimal play" if play == "optimal" else f"both play {play}"
    lines = [f"{rules.name}, {data['score']} points against {data['opponent']}, then {then}"]
    if game.has_memory:
        told = {
            "given": f"memory given, {memory_line(rules, memory)}",
            "start": f"memory not given, taken as before the first turn, "
            f"{memory_line(rules, memory)}",
            "belief": f"memory not given, averaged over how {play} gets here",
        }
        lines.append(told[source])
        if play == "optimal":
            lines.append("optimal play remembers everything")
    played = "played" in data["rolls"][0]
    rows = [
        (roll["dice"], roll["win_probability"], roll["behind"])
        + ((f"{roll['played']:.6f}",) if played else ())
        for roll in data["rolls"]
    ]
    header = ("dice", "win probability", "behind the best") + (("S plays it",) if played else ())
    return "\n".join([*lines, "", table(rows, header, left=0)])


def _belief(game: "Game", policy: Any, score: int, opponent: int, name: str) -> Any:
    from hogeq.evaluation.hidden import belief

    found = belief(game, policy, None, score, opponent)
    if found is None:
        raise BadInputError(
            f"strategy {name}: play never comes to {score} points against {opponent}"
        )
    return found


# --- beliefs --------------------------------------------------------------------------------------


def beliefs(
    strategy: Annotated[str, typer.Argument(metavar="S", help="A strategy: built-in or file.")],
    score: ScoreOption,
    opponent: OpponentOption,
    rules: RulesOption = "su20",
    against: Annotated[
        str | None, typer.Option(metavar="T", help="The opponent's strategy. [S]")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Lines of the table.")] = 20,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw the distribution and the guesses.")
    ] = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Distribution of the hidden memory at a position.

    Beside it two guesses by counting, where turns alternate: of the strategies' own play, and as
    the second place of summer 2020 looked it up, perfect play first. Each with its total variation
    distance from the truth.
    """
    check_output(plot, (".png",))
    game = load_game(rules)
    position(game, score, opponent)
    if not game.has_memory:
        raise BadInputError(f"beliefs: rules {game.rules.name} have no hidden memory")
    one = load_strategy(strategy, game, trust)
    two = one if against is None else load_strategy(against, game, trust)
    from hogeq.evaluation.hidden import reach

    masses = reach(game, one, two)[score, opponent]
    visits = float(masses.sum())
    if visits <= 0.0:
        raise BadInputError(
            f"strategy {strategy}: play never comes to {score} points against {opponent}"
        )
    shares = {"probability": masses / visits}
    shares |= _guesses(game, one, None if against is None else two, score, opponent)
    from hogeq.evaluation.beliefs import total_variation

    distances = {
        name: float(total_variation(shares["probability"], guess))
        for name, guess in shares.items()
        if name != "probability"
    }
    order = sorted(range(game.memory_size), key=lambda index: (-masses[index], index))
    found = [
        (game.memories[index], {name: float(of[index]) for name, of in shares.items()})
        for index in order
        if any(of[index] > 0.0 for of in shares.values())
    ]
    data = {
        "rules": game.rules.name,
        "strategy": strategy,
        "against": strategy if against is None else against,
        "score": score,
        "opponent": opponent,
        "reach": visits,
        "memories": [{**memory_fields(game.rules, memory), **at} for memory, at in found],
        "total_variation": distances or None,
    }
    if plot is not None:
        _plot_beliefs(game, shares, distances, data, plot)
        data["plot"] = str(plot)
    rows = [(*memory_texts(game.rules, memory), *at.values()) for memory, at in found[:top]]
    lines = [
        f"{game.rules.name}, {strategy} at {score} points against {data['against']} at {opponent}",
        f"reached in a game with probability {visits:.12f}",
        "",
        table(rows, (*memory_columns(game.rules), *shares), left=0),
    ]
    if len(found) > top:
        rest = 1.0 - sum(at["probability"] for _, at in found[:top])
        lines.append(f"and {len(found) - top} more, together {rest:.12f}")
    if distances:
        about = {
            "counted": "ways into each memory, in the strategies' own play",
            "seed": "the same in perfect play first, then in their own, then 0.25 each",
        }
        told = [(name, f"{distances[name]:.12f}", about[name]) for name in distances]
        lines += ["", "total variation distance of the guesses", table(told, left=3)]
    emit(data, "\n".join(lines), as_json)


def _guesses(game: "Game", one: Any, two: Any, score: int, opponent: int) -> dict[str, Any]:
    """Guesses of the memory by counting, (H,) each; none where turns do not alternate."""
    from hogeq.baselines.diagonals import countable
    from hogeq.baselines.second_place import guess_by_counting

    if not countable(game):
        return {}
    guessed = guess_by_counting(game, one, two)
    return {
        "counted": guessed.counted[score, opponent],
        "seed": guessed.looked_up[score, opponent],
    }


def _plot_beliefs(
    game: "Game",
    shares: dict[str, Any],
    distances: dict[str, float],
    data: dict[str, Any],
    path: Path,
) -> None:
    """Draw shares of the memories by two of its parts, summed over others if there are any."""
    from hogeq import figures
    from hogeq.evaluation.beliefs import fold
    from hogeq.rules.memory import axes

    rows, columns = axes(game.rules)
    titles = {"probability": "exact"} | {
        name: f"{name}, total variation {distance:.4f}" for name, distance in distances.items()
    }
    title = f"{data['rules']}, {data['score']} points against {data['opponent']}"
    with refusing():
        figures.beliefs(
            {titles[name]: fold(game.rules, of) for name, of in shares.items()},
            path,
            rows,
            columns,
            title,
        )
