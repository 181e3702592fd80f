"""Strategies as text: a letter for every position, or a line for every information set.

Each function gives plain values, for JSON, and the lines that the command prints.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import Spread, entropy
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.messages import Table, Text, percent

if TYPE_CHECKING:
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.rows import Rows

ROLLS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # a letter a roll

MINUS_ONE: Final = "x"

SHOWN: Final = 100  # information sets of the text

PLANS: Final = 8  # of each side, in the text

Laid: TypeAlias = tuple[dict[str, Any], Text]


def positions(strategy: Strategy, choices: Sequence[int]) -> Laid:
    """Lay out a matrix, or the most probable rolls of a policy."""
    likeliest = strategy.likeliest
    counts = {choice: int((likeliest == action).sum()) for action, choice in enumerate(choices)}
    rows = [(roll, count, percent(count / likeliest.size)) for roll, count in counts.items()]
    shares = Table(rows, ("dice", "positions", "share"), left=0)
    return {"positions_by_roll": counts}, [*_map(likeliest, choices), "", shares]


def infosets(strategy: Strategy, tree: "Rows") -> Laid:
    """List the actions of every information set, in the game's words; of a mixture the mean."""
    columns = tree.member.tolist(), tree.names, tree.labels, strategy.mean.tolist()
    rows = [
        {"player": player, "infoset": str(name), "actions": list(zip(labels, shares, strict=False))}
        for player, name, labels, shares in zip(*columns, strict=True)
    ]
    listed = [
        (
            row["player"],
            row["infoset"],
            ", ".join(f"{action} {percent(share)}" for action, share in row["actions"]),
        )
        for row in rows[:SHOWN]
    ]
    return {"rows": rows}, [
        Table(listed, ("player", "information set", "actions"), left=3),
        *_more(len(rows), "information sets", SHOWN),
    ]


def plans_of_sides(strategy: Strategy, tree: "FlatTree") -> tuple[list[dict[str, Any]], Text]:
    """List the actions of each plan of each side at the information sets that it comes to."""
    from hogeq.trees.strategies import plans
    from hogeq.trees.teams import side_names

    data: list[dict[str, Any]] = []
    text: Text = []
    for side, name in enumerate(side_names(tree.sides)):
        drawn = plans(tree, strategy, side)
        met = [row for row in range(tree.num_rows) if any(one.policy[row].any() for one in drawn)]
        for one in drawn:
            taken = {str(tree.names[row]): one.actions(tree, row) for row in met}
            came = {infoset: actions for infoset, actions in taken.items() if actions}
            data.append({"player": side, "probability": one.probability, "actions": came})
        if not met:
            continue
        lines = [
            (str(tree.names[row]), *(_cell(one.actions(tree, row)) for one in drawn[:PLANS]))
            for row in met[:SHOWN]
        ]
        header = (f"{name} draws", *(percent(one.probability) for one in drawn[:PLANS]))
        text += ["", Table(lines, header, left=len(header))]
        text += _more(len(met), "information sets", SHOWN) + _more(len(drawn), "plans", PLANS)
    return data, text[1:]


def _cell(actions: dict[str, float]) -> str:
    if len(actions) == 1:
        return next(iter(actions))
    return " or ".join(f"{name} {percent(share)}" for name, share in actions.items()) or "."


def _more(many: int, what: str, shown: int) -> Text:
    return [f"and {many - shown:,} more {what}; --json has all"] if many > shown else []


def components(strategy: Strategy, choices: Sequence[int], apart: Spread) -> Laid:
    """Compare the components of a mixture, of which `apart` is the spread."""
    weights, policies = strategy.weights, strategy.components
    if strategy.is_pure:
        policies = one_hot(policies, len(choices))
    likeliest = policies.argmax(axis=3)
    differ = (likeliest != likeliest[0]).any(axis=0)
    parts = [
        {
            "weight": weight,
            "entropy": float(entropy(policy).mean()),
            "distance": float(abs(policy - apart.mean).sum(axis=2).mean() / 2.0),
        }
        for weight, policy in zip(weights.tolist(), policies, strict=True)
    ]
    data = {
        "of": "matrices" if strategy.is_pure else "policies",
        "parts": parts,
        "entropy": float(apart.total.mean()),
        "entropy_of_draw": float(apart.drawn.mean()),
        "positions": differ.size,
        "positions_where_parts_differ": int(differ.sum()),
    }
    rows = [
        (number, percent(part["weight"]), f"{part['entropy']:.3f}", f"{part['distance']:.3f}")
        for number, part in enumerate(parts, 1)
    ]
    header = ("component", "drawn", "entropy of its rolls, bits", "distance from the mean")
    return data, [
        Table(rows, header, left=0),
        "",
        (
            f"entropy of a roll, mean over positions: {data['entropy']:.3f} bits, "
            f"of which the draw decides {data['entropy_of_draw']:.3f}"
        ),
        (
            f"the most probable rolls of the components differ at {differ.sum()} of {differ.size} "
            "positions"
        ),
        "",
        "most probable roll of the mean; - where the components do not agree on theirs",
        *_map(apart.mean.argmax(axis=2), choices, differ),
    ]


def _map(
    likely: NDArray[Any], choices: Sequence[int], hidden: NDArray[Any] | None = None
) -> list[str]:
    """One letter a position, the highest own score on top; a dash where `hidden`."""
    width = len(str(len(likely) - 1))
    used = ROLLS[: max(choices) + 1] + MINUS_ONE
    letters = [[used[roll] for roll in row] for row in likely.tolist()]
    for own, other in () if hidden is None else zip(*hidden.nonzero(), strict=True):
        letters[own][other] = "-"
    axes = ["own score upward, opponent's score to the right"]
    axes += [f"{MINUS_ONE} is the choice -1"] * (-1 in choices)
    rows = [f"{own:{width}} {''.join(letters[own])}" for own in reversed(range(len(likely)))]
    scale = "".join(f"{other:<10}" for other in range(0, len(likely), 10))
    return [*axes, "", *rows, f"{'':{width}} {scale}".rstrip()]
