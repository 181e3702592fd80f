"""Game trees: what a game forgets, games other than Hog, and the tree for other programs."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.inputs import Chosen, check_output, title_of
from hogeq.cli.options import ForgetOption, GameOption, MemoryOption, OverwriteOption, option
from hogeq.cli.result import Result, Table, Text
from hogeq.cli.shell import BadInputError, refusing, warn
from hogeq.rules import Rules

if TYPE_CHECKING:
    from hogeq.purification import Purifier
    from hogeq.support.aliases import Floats
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.recall import Audit, Finding, Witness

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
        return _audit_game(other_game, forget)
    from hogeq.trees.audit import audit, small

    full = game.choose()
    walked = small(full, goal, max_dice)
    with refusing():
        audited = audit(walked, memory=memory, full=full)
    data = {
        "rules": game.name,
        "goal": walked.goal,
        "max_dice": walked.max_dice,
        "full_goal": full.goal,
        "full_max_dice": full.max_dice,
        "whole": audited.whole,
        "infosets": len(audited.infosets),
        "histories": audited.histories,
        "forgets": {
            what: {
                "count": len(loss.infosets),
                "infosets": sorted(_at(infoset) for infoset in loss.infosets),
                "witness": _witness(full, walked, loss.witness),
            }
            for what, loss in audited.forgets.items()
        },
        "properties": {
            what: {
                "holds": finding.holds,
                "note": finding.note,
                "witness": _witness(full, walked, finding.witness),
            }
            for what, finding in audited.findings.items()
        },
    }
    return Result(data, _audit_text(game.title, full, walked, audited, memory))


def _at(infoset: Any) -> list[Any]:
    return list(infoset)


def _witness(full: Rules, walked: Rules, witness: "Witness | None") -> dict[str, Any] | None:
    if witness is None:
        return None
    from hogeq.trees.audit import shows, tell

    in_full = shows(full, witness)
    rules = full if in_full else walked
    return {
        "at": _at(witness.infoset),
        "histories": [tell(rules, witness.first), tell(rules, witness.second)],
        "note": witness.note,
        "in_full_game": in_full,
    }


def _audit_text(title: str, full: Rules, walked: Rules, audited: "Audit", memory: bool) -> Text:
    how = "all histories" if audited.whole else "the first turns of all histories"
    seen = "everything that happened" if memory else "the scores"
    count = len(audited.infosets)
    forgotten = [
        (LETTERS[what], what, f"{len(loss.infosets)} of {count}")
        for what, loss in audited.forgets.items()
    ]
    properties = [
        (what, ", ".join(filter(None, (VERDICTS[finding.holds], finding.note))))
        for what, finding in audited.findings.items()
    ]
    text: Text = [
        (
            f"Recall in {title}, where a player sees {seen}: {how} of the game to {walked.goal} "
            f"with 0 to {walked.max_dice} dice, {audited.histories:,} of them ending in "
            f"{count:,} information sets of player A"
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
    text.append(Table(properties, ("property", "holds"), left=2))
    for witness, names in audited.witnesses().items():
        text += ["", *_witness_text(full, walked, witness, names)]
    return text


def _map(walked: Rules, audited: "Audit") -> Table:
    def cell(own: int, opponent: int) -> str:
        if (own, opponent) not in audited.infosets:
            return "."
        return "".join(LETTERS[what] for what in audited.forgotten_at((own, opponent))) or "-"

    goal = range(walked.size)
    rows = [(str(own), *(cell(own, opponent) for opponent in goal)) for own in goal]
    header = ("own", *map(str, goal))
    return Table(rows, header, left=len(header))


def _witness_text(
    full: Rules, walked: Rules, witness: "Witness", names: tuple[str, ...]
) -> list[str]:
    data: Any = _witness(full, walked, witness)
    own, opponent = data["at"][:2]
    lines = [f"{', '.join(names)}: A to move at {own}-{opponent} after either of"]
    lines += [f"  {number}. {text}" for number, text in enumerate(data["histories"], 1)]
    if data["note"]:
        lines.append(f"  ({data['note']})")
    if (full.goal, full.max_dice) != (walked.goal, walked.max_dice):
        same = "both lead there" if data["in_full_game"] else "they do not both lead there"
        lines.append(f"  to {full.goal} with 0 to {full.max_dice} dice: {same} too")
    return lines


def export_game(
    game: Chosen,
    goal: Annotated[int | None, option("Another goal than that of the rules.", "G", min=1)] = None,
    max_dice: Annotated[int | None, option("Another most number of dice.", "N", min=1)] = None,
    out: Annotated[Path, option("A name ending in .efg.", "FILE")] = Path("hog.efg"),
    memory: MemoryOption = False,
    other_game: GameOption = None,
    forget: ForgetOption = None,
) -> Result:
    """Write the game tree in Gambit's extensive form.

    Sizes go to standard error before anything is written; trees of more than two million nodes
    are refused.
    """
    check_output(out, (".efg",), reads=[other_game])
    if other_game is not None:
        return export_tree(other_game, forget, out)
    full = game.choose()
    from hogeq.trees import gambit

    with refusing():
        rules = replace(full, goal=goal or full.goal, max_dice=max_dice or full.max_dice)
        sizes = gambit.tree_sizes(rules, memory=memory)
    if not sizes.exact:
        raise BadInputError(
            f"the tree has more than {gambit.MOST_NODES:,} nodes, the most allowed: "
            "lower --goal or --max-dice"
        )
    title = title_of(game.name, rules)
    warn(f"{title} to {rules.goal} with 0 to {rules.max_dice} dice: {sizes}")
    with refusing():
        gambit.write_efg(out, rules, memory=memory)
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


def _tree(game: str, forget: str | None) -> "FlatTree":
    """Build the tree of a game by OpenSpiel's name, or from a file."""
    from hogeq.trees.game import load_tree

    with refusing():
        return load_tree(game, forget)


def _title(game: str, forget: str | None) -> str:
    return f"{game}, forgetting {forget}" if forget else game


def _rows(tree: "FlatTree", given: str) -> "Floats":
    """Read a strategy of both seats."""
    from hogeq.trees.policies import tree_strategy

    with refusing():
        return tree_strategy(tree, given)


def _write(path: Path, **arrays: Any) -> None:
    from hogeq.support.files import write_arrays

    with refusing():
        write_arrays(path, **arrays)


def _audit_game(game: str, forget: str | None) -> Result:
    """Say which recall each player of a game has."""
    from hogeq.trees.recall import Recall

    tree = _tree(game, forget)
    players = [Recall(tree, player).audit() for player in (0, 1)]
    data = {
        "game": game,
        "forget": forget,
        "nodes": tree.num_nodes,
        "infosets": [len(one.infosets) for one in players],
        "players": [
            dict(_property(name, one) for name, one in player.findings.items())
            for player in players
        ],
    }
    rows = [
        (name, *(VERDICTS[player.findings[name].holds] for player in players))
        for name in players[0].findings
    ]
    sizes = " and ".join(f"{len(one.infosets):,}" for one in players)
    text: Text = [
        f"{_title(game, forget)}: {tree.num_nodes:,} nodes, {sizes} information sets",
        "",
        Table(rows, ("property", "player 0", "player 1"), left=3),
    ]
    for number, player in enumerate(players):
        for witness, names in player.witnesses().items():
            text += [
                "",
                f"Player {number}, {', '.join(names)}: one information set after either of",
            ]
            text += [
                f"  {place}. {one}" for place, one in enumerate(_histories(witness, "the start"), 1)
            ]
            text += [f"  ({witness.note})"] * bool(witness.note)
    return Result(data, text)


def _property(name: str, finding: "Finding") -> tuple[str, dict[str, Any]]:
    """Give a property's key and what is known of it: ``absent_minded`` holds if it is."""
    holds, witness = finding.holds, finding.witness
    if name == "no absent-mindedness":
        name, holds = "absent_minded", None if holds is None else not holds
    key = name.lower().replace("-", "_").replace(" ", "_")
    histories = _histories(witness) if witness else []
    note = finding.note or (witness.note if witness else "")
    return key, {"holds": holds, "witness": histories, "note": note}


def _histories(witness: "Witness", empty: str = "") -> list[str]:
    """Write both histories in the game's own words."""
    both = (witness.first, witness.second)
    return ["; ".join(step.action for step in one) or empty for one in both]


def compare_game(game: str, forget: str | None, a: str, b: str) -> Result:
    """Payoff of one strategy of a game against another."""
    from hogeq.trees.passes import payoff

    tree = _tree(game, forget)
    one, two = _rows(tree, a), _rows(tree, b)
    first, second = payoff(tree, one, two), -payoff(tree, two, one)
    data = {
        "game": game,
        "forget": forget,
        "a": a,
        "b": b,
        "payoff": (first + second) / 2.0,
        "first": first,
        "second": second,
    }
    rows = [
        ("payoff", f"{data['payoff']:.9f}"),
        ("as player 0", f"{first:.9f}"),
        ("as player 1", f"{second:.9f}"),
    ]
    return Result(data, [f"{a} against {b}, {_title(game, forget)}", "", Table(rows)])


def purify_game(
    game: str, forget: str | None, strategy: str, purifier: "Purifier", out: Path
) -> Result:
    """Make a policy of a game a pure strategy."""
    from hogeq.purification import purified
    from hogeq.strategies.arrays import one_hot
    from hogeq.trees.engine import TreeEngine

    tree = _tree(game, forget)
    rows = _rows(tree, strategy)
    with refusing():
        engine = TreeEngine(tree)
        matrix = purified("purify", purifier, engine, rows)
    policy = engine.legal(one_hot(matrix, tree.num_actions))
    pure = one_hot(policy.argmax(axis=1), tree.num_actions)
    _write(out, policy=pure)
    data = {"game": game, "forget": forget, "strategy": strategy, "out": out}
    return Result(data, [f"pure strategy of {strategy} written to {out}"])


def export_tree(game: str, forget: str | None, out: Path) -> Result:
    """Write a game in Gambit's extensive form."""
    from hogeq.support.files import write_whole
    from hogeq.trees.gambit import flat_efg

    tree = _tree(game, forget)
    with refusing():
        write_whole(out, flat_efg(tree).encode())
    sizes = [int((tree.seat == player).sum()) for player in (0, 1)]
    data = {
        "game": game,
        "forget": forget,
        "out": out,
        "nodes": tree.num_nodes,
        "infosets": sizes,
    }
    return Result(data, [f"{tree.num_nodes:,} nodes written to {out}"])


def attack_game(
    game: str, forget: str | None, strategy: str, seconds: float, out: Path | None
) -> Result:
    """Find the best response to a strategy from either seat, and write it."""
    from hogeq.trees.exact import respond

    tree = _tree(game, forget)
    rows = _rows(tree, strategy)
    with refusing():
        answer = respond(tree, rows, seconds)
    if out is not None:
        _write(out, policy=answer.strategy)
    data = {
        "game": game,
        "forget": forget,
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
    return Result(data, [f"against {strategy}, {_title(game, forget)}", "", Table(meaning, left=3)])


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
    out: Annotated[Path | None, option("Write the mixtures of both players.", "FILE.npz")] = None,
    overwrite: OverwriteOption = False,
) -> Result:
    """Solve a two-player zero-sum game in mixtures, and prove its value from both sides.

    A mixture draws one strategy before the game and keeps to it. With imperfect recall an
    equilibrium exists among mixtures; one among policies need not.
    """
    from hogeq.trees import equilibrium as solving

    check_output(out, (".npz",), replace=overwrite)
    tree = _tree(game, forget)
    with refusing():
        solved = solving.equilibrium(tree, seconds)
    if out is not None:
        arrays = {
            f"{name}_{player}": getattr(one, name)
            for player, one in enumerate(solved.mixtures)
            for name in ("weights", "strategies")
        }
        _write(out, **arrays)
    sizes = [len(one.weights) for one in solved.mixtures]
    data = {
        "game": game,
        "forget": forget,
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
    heading = f"{_title(game, forget)}: value to player 0, in mixtures of {mixtures}"
    return Result(data, [heading, "", Table(rows, left=3)])
