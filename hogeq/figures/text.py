"""Strategies as text: a letter for every position, or a line for every information set.

Each function gives plain values, for JSON, and the lines that the command prints.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import Spread, entropy
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.messages import Table, Text, listed_actions, percent

if TYPE_CHECKING:
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.rows import Rows

ROLLS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Letters of maps, by number of dice."""

MINUS_ONE: Final = "x"  # letter of the choice -1
MAX_INFOSETS: Final = 100  # information sets in a text
MAX_PLANS: Final = 8  # plans of each side in a text

DataAndText: TypeAlias = tuple[dict[str, Any], Text]  # plain values for JSON, and printed lines


def positions(strategy: Strategy, choices: Sequence[int]) -> DataAndText:
    """Lay out a matrix, or the most probable rolls of a policy, as a map of letters and counts.

    `choices` has the number of dice of each action, or -1 for that choice.
    """
    likeliest = strategy.likeliest  # (G, G), actions
    counts = {choice: int((likeliest == action).sum()) for action, choice in enumerate(choices)}
    rows = [(choice, count, percent(count / likeliest.size)) for choice, count in counts.items()]
    shares = Table(rows, ("dice", "positions", "share"), left=0)
    return {"positions_by_roll": counts}, [*_letter_map(likeliest, choices), "", shares]


def infosets(strategy: Strategy, tree: "Rows") -> DataAndText:
    """List the action probabilities at every information set; of a mixture, its mean policy's."""
    policy = strategy.mean.tolist()  # by information set and number of action
    rows = []
    lines = []
    for infoset, player in enumerate(tree.member.tolist()):
        name = str(tree.names[infoset])
        # There may be fewer actions than the policy has columns.
        actions = list(zip(tree.labels[infoset], policy[infoset], strict=False))
        rows.append({"player": player, "infoset": name, "actions": actions})
        lines.append((player, name, listed_actions(actions)))
    return {"rows": rows}, [
        Table(lines[:MAX_INFOSETS], ("player", "information set", "actions"), left=3),
        *_line_about_more(len(rows), "information sets", MAX_INFOSETS),
    ]


def plans_of_sides(strategy: Strategy, tree: "FlatTree") -> tuple[list[dict[str, Any]], Text]:
    """List the plans of each side, ways to play of which it draws one before play.

    A plan has its probability, and its actions at each information set that it reaches, by name.
    """
    from hogeq.trees.strategies import list_plans
    from hogeq.trees.teams import side_names

    data: list[dict[str, Any]] = []
    text: Text = []
    for side, side_name in enumerate(side_names(tree.sides)):
        side_plans = list_plans(tree, strategy, side)
        reached_infosets = [  # by any of the plans
            infoset
            for infoset in range(tree.num_rows)
            if any(plan.policy[infoset].any() for plan in side_plans)
        ]
        for plan in side_plans:
            actions = {str(tree.names[row]): plan.actions(tree, row) for row in reached_infosets}
            # Without those that this plan does not reach.
            actions = {name: played for name, played in actions.items() if played}
            data.append({"player": side, "probability": plan.probability, "actions": actions})
        if not reached_infosets:
            continue
        shown_plans = side_plans[:MAX_PLANS]
        lines = [
            (str(tree.names[row]), *(_action_text(plan.actions(tree, row)) for plan in shown_plans))
            for row in reached_infosets[:MAX_INFOSETS]
        ]
        header = (f"{side_name} draws", *(percent(plan.probability) for plan in shown_plans))
        text += ["", Table(lines, header, left=len(header))]
        text += _line_about_more(len(reached_infosets), "information sets", MAX_INFOSETS)
        text += _line_about_more(len(side_plans), "plans", MAX_PLANS)
    return data, text[1:]


def _action_text(actions: dict[str, float]) -> str:
    """Write actions with their probabilities, or a dot if a plan does not reach the place.

    A single action is certain, and is written without its probability.
    """
    if len(actions) == 1:
        return next(iter(actions))
    return listed_actions([*actions.items()], " or ") or "."


def _line_about_more(count: int, noun: str, shown: int) -> Text:
    """Say how many of `count` things are not shown, if there are any."""
    return [f"and {count - shown:,} more {noun}; --json has all"] if count > shown else []


def components(strategy: Strategy, choices: Sequence[int], spread: Spread) -> DataAndText:
    """Compare the components of a mixture: weights, entropies, and distances from the mean policy.

    `choices` has the number of dice of each action. `spread` has the mixture's mean policy
    (G, G, K), the entropy of each roll in bits, and how much of it the draw of a component decides,
    (G, G) each.
    """
    policies = strategy.components
    if strategy.is_pure:
        policies = one_hot(policies, len(choices))
    likeliest = policies.argmax(axis=3)
    do_differ = (likeliest != likeliest[0]).any(axis=0)
    components_data = [
        {
            "weight": weight,
            "entropy": float(entropy(policy).mean()),
            # Total variation distance, averaged over the positions.
            "distance": float(abs(policy - spread.mean).sum(axis=2).mean() / 2.0),
        }
        for weight, policy in zip(strategy.weights.tolist(), policies, strict=True)
    ]
    data = {
        "of": "matrices" if strategy.is_pure else "policies",
        "parts": components_data,
        "entropy": float(spread.total.mean()),
        "entropy_of_draw": float(spread.drawn.mean()),
        "positions": do_differ.size,
        "positions_where_parts_differ": int(do_differ.sum()),
    }
    rows = [
        (number, percent(part["weight"]), f"{part['entropy']:.3f}", f"{part['distance']:.3f}")
        for number, part in enumerate(components_data, 1)
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
            f"the most probable rolls of the components differ at {do_differ.sum()} of "
            f"{do_differ.size} positions"
        ),
        "",
        "most probable roll of the mean; - where the components do not agree on theirs",
        *_letter_map(spread.mean.argmax(axis=2), choices, do_differ),
    ]


def _letter_map(
    actions: NDArray[Any], choices: Sequence[int], hidden: NDArray[Any] | None = None
) -> list[str]:
    """Write a map of actions with one letter for each position, the highest own score on top.

    `actions` (G, G) are by own and opponent's score. Positions in the mask `hidden` (G, G) get a
    dash.
    """
    # An action is its number of dice; the choice -1 is the last action, if the game has it.
    letters_of_actions = ROLLS[: max(choices) + 1] + MINUS_ONE
    letters = [[letters_of_actions[action] for action in row] for row in actions.tolist()]
    if hidden is not None:
        for own, other in np.argwhere(hidden).tolist():
            letters[own][other] = "-"
    axes = ["own score upward, opponent's score to the right"]
    if -1 in choices:
        axes.append(f"{MINUS_ONE} is the choice -1")
    goal = len(actions)
    width = len(str(goal - 1))  # of the labels
    rows = [f"{own:{width}} {''.join(letters[own])}" for own in reversed(range(goal))]
    scale = "".join(f"{other:<10}" for other in range(0, goal, 10))
    return [*axes, "", *rows, f"{'':{width}} {scale}".rstrip()]
