"""Games other than Hog on the command line: --game, and strategies for them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.options import option
from hogeq.cli.result import Result, Table, Text
from hogeq.cli.shell import BadInputError, refusing
from hogeq.support.messages import printable, shown

if TYPE_CHECKING:
    from hogeq.support.aliases import Floats
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.recall import Finding, Witness

VERDICTS = {True: "yes", False: "no", None: "not decided"}

GameOption = Annotated[
    str | None,
    option(
        "Instead of Hog: a game of OpenSpiel, kuhn_poker say, or a .efg file.",
        "--game",
        metavar="GAME",
    ),
]


def load_tree(game: str) -> "FlatTree":
    """Build the tree of a game by OpenSpiel's name, or from a file."""
    with refusing():
        try:
            from hogeq.trees.openspiel.reading import from_efg, from_openspiel
        except ImportError as error:
            raise BadInputError(str(error)) from None
        return from_efg(game) if game.endswith(".efg") else from_openspiel(game)


def load_rows(tree: "FlatTree", given: str) -> "Floats":
    """Read a strategy of both seats: ``uniform``, or the ``policy`` of a ``.npz`` file."""
    import numpy as np

    if given == "uniform":
        return tree.uniform()
    with refusing():
        path = Path(given)
        if path.suffix != ".npz":
            raise ValueError(f"strategy: got {shown(given)}; allowed: uniform, or a file .npz")
        with np.load(path, allow_pickle=False) as arrays:
            if "policy" not in arrays:
                raise ValueError(f"{printable(path)}: holds no array policy")
            return tree.check_strategy(arrays["policy"], printable(path))


def audit_game(game: str) -> Result:
    """Say which recall each player of a game has."""
    from hogeq.trees.recall import Recall

    tree = load_tree(game)
    players = [Recall(tree, player).audit() for player in (0, 1)]
    data = {
        "game": game,
        "nodes": tree.num_nodes,
        "infosets": [len(one.infosets) for one in players],
        "players": [
            {"properties": {name: _plain(one) for name, one in player.findings.items()}}
            for player in players
        ],
    }
    rows = [
        (name, *(VERDICTS[player.findings[name].holds] for player in players))
        for name in players[0].findings
    ]
    sizes = " and ".join(f"{len(one.infosets):,}" for one in players)
    text: Text = [
        f"{game}: {tree.num_nodes:,} nodes, {sizes} information sets",
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


def _plain(finding: "Finding") -> dict[str, Any]:
    witness = finding.witness and {
        "histories": _histories(finding.witness),
        "note": finding.witness.note,
    }
    return {"holds": finding.holds, "note": finding.note, "witness": witness}


def _histories(witness: "Witness", empty: str = "") -> list[str]:
    """Write both histories in the game's own words."""
    both = (witness.first, witness.second)
    return ["; ".join(step.action for step in one) or empty for one in both]


def attack_game(game: str, strategy: str, seconds: float, out: Path | None) -> Result:
    """Find the best response to a strategy from either seat, and write it."""
    import numpy as np

    from hogeq.support.files import replacing
    from hogeq.trees.exact import respond

    tree = load_tree(game)
    rows = load_rows(tree, strategy)
    with refusing():
        answer = respond(tree, rows, seconds)
        if out is not None:
            with replacing(out) as temporary:
                np.savez_compressed(temporary, policy=answer.strategy)
    data = {
        "game": game,
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
    return Result(data, [f"against {strategy}, {game}", "", Table(meaning, left=3)])
