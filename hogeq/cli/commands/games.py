"""Games as a whole: optimal play with memory, equilibria in mixtures, recall; trees in files."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import hogeq
from hogeq.cli.inputs import AnyGame, Chosen
from hogeq.cli.options import MATRIX_SUFFIXES, OF_HOG, OF_TREES, Output, StartOfHog, option
from hogeq.cli.shell import Result, computing, refusing, warn
from hogeq.support.messages import HogeqError, Table, percent


def tablebase(
    chosen: AnyGame,
    against: Annotated[
        str | None, option("Win rate of its rolls against a strategy.", "S"), OF_HOG
    ] = None,
    out: Annotated[
        Path | None,
        option("Write its matrix (rules without memory).", "FILE"),
        Output(MATRIX_SUFFIXES, is_kept=True),
        OF_HOG,
    ] = None,
    start: StartOfHog = None,
) -> Result:
    """Solve with full information: players remember and see everything.

    With a goal for each player, goal: [50, 65], the rolls are those of the player with the first,
    and S has the second.

    JSON of other games than Hog: the game, value (payoff to who moves first), lower and upper
    (proved bounds on it), player (who moves first), rounds.
    """
    game = chosen.load(kernels=["full memory"], strategies=[against], own_goals=True, start=start)
    if not chosen.is_hog:
        tree_tablebase: Any = game.tablebase()
        text = [f"{chosen.title}, full information", "", tree_tablebase.table()]
        return Result({**chosen.facts, **tree_tablebase.to_json()}, text)
    return _tablebase_of_hog(chosen, against, out, start)


def _tablebase_of_hog(
    chosen: Chosen, against: str | None, out: Path | None, start: str | None
) -> Result:
    """Solve Hog with full information; value a strategy `against` it, and write its matrix."""
    game = chosen.hog_game
    has_memory = len(game.memories) > 1
    target = None if against is None else game.second.strategy(against)
    if out is not None and has_memory:
        raise HogeqError(
            f"--out: rules {chosen.title} have hidden memory, and the best roll depends on it: "
            "allowed without memory"
        )
    if start is not None and against is not None and has_memory:
        raise HogeqError("--start: allowed with --against for rules without hidden memory")
    own_tablebase = game.tablebase()
    data: dict[str, Any] = {**chosen.facts, "memory_size": len(game.memories)}
    rows: list[tuple[str, object, str]] = []
    # Tablebase and description of the player who moves first, by the prefix of JSON's keys.
    first_movers = {"": (own_tablebase, "whoever moves first")}
    if isinstance(game.rules.goal, tuple):  # each player has a goal
        own_goal, other_goal = game.rules.goal
        first_movers = {
            "": (own_tablebase, f"the player to {own_goal}, moving first"),
            "second_": (game.second.tablebase(), f"the player to {other_goal}, moving first"),
        }
    for prefix, (player_tablebase, mover) in first_movers.items():
        value, first_roll = player_tablebase.opening(*chosen.scores)
        data |= {f"{prefix}value": value, f"{prefix}first_roll": first_roll}
        rows.append(("value", percent(value), f"win probability of {mover}"))
        rows.append(("first roll", first_roll, "dice"))
    data["against"] = None
    if target is not None:
        if start is None:
            rate = own_tablebase.against(target)
        else:
            rate = game.win_rate(own_tablebase.matrix, target, chosen.scores)
        data |= {"against": rate.win_rate, "against_first": rate.first}
        data["against_second"] = rate.second
        note = " (remembering; the other does not)" if has_memory else ""
        rows.append(("against", percent(rate.win_rate), f"win rate against {against}{note}"))
    if out is not None:
        game.strategy(own_tablebase.matrix).write(out)
    begins = "" if start is None else f", from {start}"
    memory = f"{len(game.memories)} memories" if has_memory else "no hidden memory"
    heading = f"{chosen.title}, {memory}{begins}"
    return Result(data, [heading, "", Table(rows, left=3), *chosen.endless])


def equilibrium(
    chosen: AnyGame,
    seconds: Annotated[float, option("Time limit; both bounds hold at any time.", min=0)] = 60.0,
    method: Annotated[str, option("auto, dag, columns or cfr.", "METHOD"), OF_TREES] = "auto",
    policies: Annotated[
        bool,
        option(
            "Policies as well, whose players draw apart; in Hog, whether one exists.",
            name="--policies",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        option("Write the mixtures, as one for both seats.", "FILE.npz"),
        Output((".npz",), is_kept=True),
    ] = None,
) -> Result:
    """Solve a game in mixtures, with proved bounds on its value.

    Games are of two players or teams, of constant sum. A mixture draws one strategy and keeps to
    it. With imperfect recall an equilibrium exists among mixtures; one among policies need not.
    Both players of Hog are alike, so that its value is 1/2: the strategy secures both ends. With
    --policies small games of Hog are asked for an equilibrium among policies; --out writes one, or
    the best policy known.

    JSON: the game, lower, upper, proved, method, seconds, iterations, components; of a tree also
    decisions, in_policies, and secured and shares if the strategies are a part of the mixtures. Of
    Hog with --policies: lower and upper of the least exploitability of a policy, exists (true,
    false or null), kind (matrix, policy, none or open), components of the mixture, memory (what
    full memory wins beyond 1/2 against the equilibrium, or null), seconds.
    """
    game = chosen.load(kernels=["search", "full memory"])
    if policies and chosen.is_hog:
        with computing():
            existence = chosen.hog_game.existence(seconds)
        if out is not None:
            size = chosen.rules.size
            game.strategy(existence.policy.reshape(size, size, -1)).write(out)
        heading = f"{chosen.title}: is there an equilibrium in policies?"
        table = Table(existence.rows(), left=3)
        return Result({**chosen.facts, **existence.to_json()}, [heading, "", table])
    with computing():
        in_policies = game.in_policies(seconds, method) if policies else None
        solved = game.equilibrium(seconds, method) if in_policies is None else in_policies.mixtures
    if out is not None:
        solved.profile.write(out)
    num_components = " and ".join(map(str, solved.effort["components"]))
    is_pure = chosen.is_hog and all(strategy.kind == "matrix" for strategy in solved.strategies)
    form = "by one matrix, an equilibrium alone" if is_pure else f"in mixtures of {num_components}"
    figure = f"{solved.units.figure} of {solved.sides[0]}"
    heading = f"{chosen.title}: {figure}, {form}, by {solved.method}"
    rows = solved.rows()
    data = {**chosen.facts, **solved.to_json()}
    if in_policies is not None:
        rows = [*rows, *in_policies.rows()]
        data["in_policies"] = in_policies.to_json()
    return Result(data, [heading, "", Table(rows, left=3)])


# --- what players forget --------------------------------------------------------------------------


def audit_(
    chosen: AnyGame,
    goal: Annotated[
        int | None,
        option("Goal of the game walked. [6, or less where that is too large]", "G", min=1),
        OF_HOG,
    ] = None,
    max_dice: Annotated[int, option("Most dice in it.", "N", min=1), OF_HOG] = 2,
) -> Result:
    """Audit recall: losses by information set, and valid theorems.

    All histories of the same rules with a low goal and few dice are walked. A loss of memory that
    they show is one of the full game too: both histories of its witness lead to the same scores
    there. That a property holds is shown for the game walked only.
    """
    game = chosen.load()
    if not chosen.is_hog:
        players = game.audit()  # one audit for each
        num_nodes = game.tree.num_nodes
        num_infosets = [len(player.infosets) for player in players]
        infosets_text = " and ".join(f"{number:,}" for number in num_infosets)
        heading = f"{chosen.title}: {num_nodes:,} nodes, {infosets_text} information sets"
        data = {**chosen.facts, "nodes": num_nodes, "infosets": num_infosets}
        data["players"] = [player.to_json() for player in players]
        return Result(data, [heading, "", *game.audit_text(players)])
    audit = chosen.hog_game.small_audit(goal, max_dice)
    return Result({**chosen.facts, **audit.to_json()}, audit.text(chosen.title))


# --- files ----------------------------------------------------------------------------------------


def export_game(
    chosen: AnyGame,
    goal: Annotated[int | None, option("Another goal.", "G", min=1), OF_HOG] = None,
    max_dice: Annotated[
        int | None, option("Another most number of dice.", "N", min=1), OF_HOG
    ] = None,
    out: Annotated[
        Path,
        option("A name ending in .efg, or with --game in .npz.", "FILE"),
        Output((".efg",), is_kept=True, of_games=(".efg", ".npz")),
    ] = Path("hog.efg"),
) -> Result:
    """Write the game tree in Gambit's extensive form, or save it.

    A saved tree, of a game other than Hog, is read by ``--game FILE.npz``. Of Hog, sizes go to
    standard error before anything is written; trees of more than two million nodes are refused.
    """
    game = chosen.load()
    data: dict[str, Any] = chosen.facts
    if not chosen.is_hog:
        tree = game.tree
        with refusing():
            game.write(out)
        infosets = [int((tree.seat == player).sum()) for player in (0, 1)]
        data |= {"nodes": tree.num_nodes, "infosets": infosets}
        return Result(data, [f"{tree.num_nodes:,} nodes written to {out}"])
    full_rules = chosen.rules
    rules = replace(
        full_rules, goal=goal or full_rules.goal, max_dice=max_dice or full_rules.max_dice
    )
    smaller_game = hogeq.Hog(rules)
    sizes = smaller_game.tree_sizes()
    if not sizes.exact:
        raise HogeqError(
            f"the tree has more than {sizes.most:,} nodes, the most allowed: "
            "lower --goal or --max-dice"
        )
    warn(f"{chosen.title} to {rules.goal} with 0 to {rules.max_dice} dice: {sizes}")
    with refusing():
        smaller_game.write(out)
    data |= {"goal": rules.goal, "max_dice": rules.max_dice}
    data |= {name: getattr(sizes, name) for name in ("nodes", "choices", "chances", "ends")}
    data["infosets"] = list(sizes.infosets)
    return Result(data, [f"{sizes.nodes:,} nodes written to {out}"])
