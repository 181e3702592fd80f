"""Game trees: what a game forgets, games other than Hog, and the tree for other programs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from hogeq.cli.inputs import Chosen, title_of, write
from hogeq.cli.options import (
    ForgetOption,
    GameOption,
    MemoryOption,
    Output,
    option,
)
from hogeq.cli.result import Result, Table, Text
from hogeq.cli.shell import refusing, warn
from hogeq.rules import Rules
from hogeq.support.files import write_arrays
from hogeq.support.messages import BadInputError

if TYPE_CHECKING:
    from hogeq.purification import Purifier
    from hogeq.support.aliases import Floats
    from hogeq.trees.recall import Audit, Witness

LETTERS = {
    "own action": "a",
    "own observation": "o",
    "opponent's action": "p",
    "chance": "c",
    "seat": "s",
}
MAP_GOAL = 12  # goals up to which a map of the information sets fits a terminal

VERDICTS = {True: "yes", False: "no", None: "not decided"}

# --- what Hog forgets -----------------------------------------------------------------------------


def audit_(
    game: Chosen,
    goal: Annotated[int, option("Goal of the game walked.", "G", min=1)] = 6,
    max_dice: Annotated[int, option("Most dice in it.", "N", min=1)] = 2,
    memory: MemoryOption = False,
    other_game: GameOption = None,
    forget: ForgetOption = None,
) -> Result:
    """Say what information sets forget, and what theory says of such a game.

    All histories of the same rules with a low goal and few dice are walked. A loss of memory that
    they show is one of the full game too: both histories of its witness lead to the same scores
    there. That a property holds is shown for the game walked only.
    """
    if other_game is not None:
        return _audit_game(OtherGame(other_game, forget))
    from hogeq.trees.audit import audit, shows, small, tell

    full = game.choose()
    walked = small(full, goal, max_dice)
    with refusing():
        audited = audit(walked, memory=memory, full=full)

    def told(witness: "Witness | None") -> dict[str, Any] | None:
        if witness is None:
            return None
        in_full = shows(full, witness)
        rules = full if in_full else walked
        return {
            "at": list(cast("Any", witness.infoset)),
            "histories": [tell(rules, witness.first), tell(rules, witness.second)],
            "note": witness.note,
            "in_full_game": in_full,
        }

    count = len(audited.infosets)
    data = {
        "rules": game.name,
        "goal": walked.goal,
        "max_dice": walked.max_dice,
        "full_goal": full.goal,
        "full_max_dice": full.max_dice,
        "whole": audited.whole,
        "infosets": count,
        "histories": audited.histories,
        "forgets": {
            what: {
                "count": len(loss.infosets),
                "infosets": sorted(map(list, cast("Any", loss.infosets))),
                "witness": told(loss.witness),
            }
            for what, loss in audited.forgets.items()
        },
        "properties": {
            what: {"holds": one.holds, "note": one.note, "witness": told(one.witness)}
            for what, one in audited.findings.items()
        },
    }
    how = "all histories" if audited.whole else "the first turns of all histories"
    seen = "everything that happened" if memory else "the scores"
    forgotten = [
        (LETTERS[what], what, f"{len(loss.infosets)} of {count}")
        for what, loss in audited.forgets.items()
    ]
    text: Text = [
        (
            f"Recall in {game.title}, where a player sees {seen}: {how} of the game to "
            f"{walked.goal} with 0 to {walked.max_dice} dice, {audited.histories:,} of them ending "
            f"in {count:,} information sets of player A"
        ),
        "",
        Table(forgotten, ("", "forgotten", "information sets"), left=2),
        "",
    ]
    if walked.size <= MAP_GOAL and not memory:
        text += [
            (
                "What is forgotten at own score (down) and opponent's score (across); - nothing, "
                ". no play comes there"
            ),
            _map(walked, audited),
            "",
        ]
    properties = [
        (what, ", ".join(filter(None, (VERDICTS[one.holds], one.note))))
        for what, one in audited.findings.items()
    ]
    text.append(Table(properties, ("property", "holds"), left=2))
    for witness, names in audited.witnesses().items():
        shown: Any = told(witness)
        own, opponent = shown["at"][:2]
        heading = f"{', '.join(names)}: A to move at {own}-{opponent} after either of"
        text += _witness_text(heading, shown["histories"], witness.note)
        if (full.goal, full.max_dice) != (walked.goal, walked.max_dice):
            same = "both lead there" if shown["in_full_game"] else "they do not both lead there"
            text.append(f"  to {full.goal} with 0 to {full.max_dice} dice: {same} too")
    return Result(data, text)


def _witness_text(heading: str, histories: Sequence[str], note: str) -> list[str]:
    numbered = [f"  {number}. {one}" for number, one in enumerate(histories, 1)]
    return ["", heading, *numbered, *([f"  ({note})"] if note else [])]


def _map(walked: Rules, audited: "Audit") -> Table:
    def cell(own: int, opponent: int) -> str:
        if (own, opponent) not in audited.infosets:
            return "."
        return "".join(LETTERS[what] for what in audited.forgotten_at((own, opponent))) or "-"

    goal = range(walked.size)
    rows = [(str(own), *(cell(own, opponent) for opponent in goal)) for own in goal]
    header = ("own", *map(str, goal))
    return Table(rows, header, left=len(header))


def export_game(
    game: Chosen,
    goal: Annotated[int | None, option("Another goal than that of the rules.", "G", min=1)] = None,
    max_dice: Annotated[int | None, option("Another most number of dice.", "N", min=1)] = None,
    out: Annotated[
        Path, option("A name ending in .efg.", "FILE"), Output((".efg",), of_games=(".efg",))
    ] = Path("hog.efg"),
    memory: MemoryOption = False,
    other_game: GameOption = None,
    forget: ForgetOption = None,
) -> Result:
    """Write the game tree in Gambit's extensive form.

    Sizes go to standard error before anything is written; trees of more than two million nodes
    are refused.
    """
    from hogeq.trees.tree import MOST_WRITTEN, flat_efg, tree_sizes, write_efg

    if other_game is not None:
        other = OtherGame(other_game, forget)
        with refusing():
            write(out, flat_efg(other.tree))
        nodes = other.tree.num_nodes
        infosets = [int((other.tree.seat == player).sum()) for player in (0, 1)]
        data: dict[str, Any] = {**other.facts, "out": out, "nodes": nodes, "infosets": infosets}
        return Result(data, [f"{nodes:,} nodes written to {out}"])
    full = game.choose()
    with refusing():
        rules = replace(full, goal=goal or full.goal, max_dice=max_dice or full.max_dice)
        sizes = tree_sizes(rules, memory=memory)
    if not sizes.exact:
        raise BadInputError(
            f"the tree has more than {MOST_WRITTEN:,} nodes, the most allowed: "
            "lower --goal or --max-dice"
        )
    title = title_of(game.name, rules)
    warn(f"{title} to {rules.goal} with 0 to {rules.max_dice} dice: {sizes}")
    with refusing():
        write_efg(out, rules, memory=memory)
    data = {
        "rules": game.name,
        "goal": rules.goal,
        "max_dice": rules.max_dice,
        "out": out,
        "nodes": sizes.nodes,
        "choices": sizes.choices,
        "chances": sizes.chances,
        "ends": sizes.ends,
        "infosets": list(sizes.infosets),
    }
    return Result(data, [f"{sizes.nodes:,} nodes written to {out}"])


# --- games other than Hog -------------------------------------------------------------------------


class OtherGame:
    """A game other than Hog, as --game and --forget name it."""

    def __init__(self, name: str, forget: str | None) -> None:
        from hogeq.trees.game import load_tree

        with refusing():
            self.tree = load_tree(name, forget)
        self.facts = {"game": name, "forget": forget}
        self.title = f"{name}, forgetting {forget}" if forget else name

    def strategy(self, given: str) -> "Floats":
        """Read a strategy of both seats."""
        from hogeq.trees.game import tree_strategy

        with refusing():
            return tree_strategy(self.tree, given)


def _audit_game(game: OtherGame) -> Result:
    """Say which recall each player of a game has."""
    from hogeq.trees.recall import Recall

    players = [Recall(game.tree, player).audit() for player in (0, 1)]
    nodes, sizes = game.tree.num_nodes, [len(one.infosets) for one in players]
    properties: list[dict[str, Any]] = []
    witnesses: list[str] = []
    for number, player in enumerate(players):
        known: dict[str, Any] = {}
        for name, finding in player.findings.items():
            holds, witness, key = finding.holds, finding.witness, name
            if name == "no absent-mindedness":  # in JSON it holds if a player is absent-minded
                key, holds = "absent_minded", None if holds is None else not holds
            known[key.lower().replace("-", "_").replace(" ", "_")] = {
                "holds": holds,
                "witness": _histories(witness) if witness else [],
                "note": finding.note or (witness.note if witness else ""),
            }
        properties.append(known)
        for shown, names in player.witnesses().items():
            heading = f"Player {number}, {', '.join(names)}: one information set after either of"
            histories = [one or "the start" for one in _histories(shown)]
            witnesses += _witness_text(heading, histories, shown.note)
    rows = [
        (name, *(VERDICTS[player.findings[name].holds] for player in players))
        for name in players[0].findings
    ]
    table = Table(rows, ("property", "player 0", "player 1"), left=3)
    both = " and ".join(f"{size:,}" for size in sizes)
    heading = f"{game.title}: {nodes:,} nodes, {both} information sets"
    data = {**game.facts, "nodes": nodes, "infosets": sizes, "players": properties}
    return Result(data, [heading, "", table, *witnesses])


def _histories(witness: "Witness") -> list[str]:
    """Write both histories in the game's own words."""
    both = (witness.first, witness.second)
    return ["; ".join(step.action for step in one) for one in both]


def compare_game(game: OtherGame, a: str, b: str) -> Result:
    """Payoff of one strategy of a game against another."""
    from hogeq.trees.flat import payoff

    one, two = game.strategy(a), game.strategy(b)
    first, second = payoff(game.tree, one, two), -payoff(game.tree, two, one)
    payoffs = {"payoff": (first + second) / 2.0, "first": first, "second": second}
    names = ("payoff", "as player 0", "as player 1")
    rows = [(name, f"{one:.9f}") for name, one in zip(names, payoffs.values(), strict=True)]
    data = {**game.facts, "a": a, "b": b, **payoffs}
    return Result(data, [f"{a} against {b}, {game.title}", "", Table(rows)])


def purify_game(game: OtherGame, strategy: str, purifier: "Purifier", out: Path) -> Result:
    """Make a policy of a game a pure strategy."""
    from hogeq.purification import purified
    from hogeq.strategies.arrays import one_hot
    from hogeq.trees.engine import TreeEngine

    rows = game.strategy(strategy)
    with refusing():
        engine = TreeEngine(game.tree)
        matrix = purified("purify", purifier, engine, rows)
    policy = engine.legal(one_hot(matrix, engine.num_actions))
    write_arrays(out, policy=one_hot(policy.argmax(axis=1), engine.num_actions))
    data = {**game.facts, "strategy": strategy, "out": out}
    return Result(data, [f"pure strategy of {strategy} written to {out}"])


def attack_game(game: OtherGame, strategy: str, seconds: float, out: Path | None) -> Result:
    """Find the best response to a strategy from either seat, and write it."""
    from hogeq.trees.exact import respond

    rows = game.strategy(strategy)
    with refusing():
        answer = respond(game.tree, rows, seconds)
    if out is not None:
        write_arrays(out, policy=answer.strategy)
    data = {
        **game.facts,
        "strategy": strategy,
        "attack": answer.attack,
        "bound": answer.bound,
        "full_memory": answer.full_memory,
        "proved": answer.is_proved,
    }
    proved = ": proved" if answer.is_proved else ""
    meaning = (
        ("attack", f"{answer.attack:.9f}", "best response found, mean payoff over both seats"),
        ("bound", f"{answer.bound:.9f}", f"no response has more{proved}"),
        ("full memory", f"{answer.full_memory:.9f}", "responder with perfect recall"),
    )
    return Result(data, [f"against {strategy}, {game.title}", "", Table(meaning, left=3)])


def equilibrium(
    game: Annotated[
        str,
        option(
            "A game of OpenSpiel, liars_dice_ir(dice_sides=4) say, or a .efg file.",
            "GAME",
            "--game",
        ),
    ],
    forget: ForgetOption = None,
    seconds: Annotated[
        float, option("When they are over, both bounds stand as they are.", min=0)
    ] = 60.0,
    out: Annotated[
        Path | None,
        option("Write the mixtures of both players.", "FILE.npz"),
        Output((".npz",), is_kept=True),
    ] = None,
) -> Result:
    """Solve a two-player zero-sum game in mixtures, and prove its value from both sides.

    A mixture draws one strategy before the game and keeps to it. With imperfect recall an
    equilibrium exists among mixtures; one among policies need not.
    """
    from hogeq.trees import exact

    other = OtherGame(game, forget)
    with refusing():
        solved = exact.equilibrium(other.tree, seconds)
    if out is not None:
        arrays = {
            f"{name}_{player}": getattr(one, name)
            for player, one in enumerate(solved.mixtures)
            for name in ("weights", "strategies")
        }
        write_arrays(out, **arrays)
    sizes = [len(one.weights) for one in solved.mixtures]
    data = {
        **other.facts,
        "lower": solved.lower,
        "upper": solved.upper,
        "proved": solved.is_proved,
        "iterations": solved.iterations,
        "components": sizes,
    }
    rows = (
        ("lower", f"{solved.lower:.9f}", "payoff that player 0 secures"),
        ("upper", f"{solved.upper:.9f}", "payoff that player 1 allows"),
    )
    mixtures = " and ".join(map(str, sizes))
    heading = f"{other.title}: value to player 0, in mixtures of {mixtures}"
    return Result(data, [heading, "", Table(rows, left=3)])
