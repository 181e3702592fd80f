"""Strategies of games other than Hog: arrays, files, those of other programs, and plans.

A file ``.csv`` has a line for each action of each information set, by their names.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.counterfactual import RegretWeight, require_weight
from hogeq.strategies.arrays import StrategyError, as_array
from hogeq.strategies.files import is_folder, read_arrays, read_bytes
from hogeq.strategies.infosets import is_policy_csv, read_policy_csv
from hogeq.strategies.profiles import Infoset, profile_rows, profile_text
from hogeq.strategies.strategy import (
    SEATS,
    Mixture,
    Strategy,
    StrategyLike,
    of_result,
    strategy_of_shape,
)
from hogeq.support.aliases import Floats, Ints
from hogeq.support.kinds import not_a_strategy
from hogeq.support.messages import HogeqError, printable, shown
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.rows import Rows

IN_FOLDER: Final = "policy.npz"  # the strategy that the folder of a run means
FORMS: Final = (
    "uniform, a run, a file .npz or .csv, a policy of OpenSpiel as JSON or a profile of Gambit"
)
POLICIES: Final = ("policy", "policies", "strategies")
MATRICES: Final = ("matrix", "matrices")
HEAD: Final = 100  # bytes of a file that say whether it is a table
ROUNDED: Final = 1e-9  # probabilities below are 0 in plans


def tree_strategy(tree: Rows, given: Any, name: str = "strategy") -> Strategy:
    """Make a checked strategy whose rows are those of the tree.

    It plays in both seats, unless it was made or written for one.

    Parameters
    ----------
    given : str, path, array_like, Mixture, mapping or policy of OpenSpiel
        ``"uniform"``; a run's folder; a file: ``.npz``, a policy of OpenSpiel as JSON, or a profile
        of Gambit (:mod:`hogeq.strategies.profiles`); probabilities (R, K) or actions (R,); a
        mixture of such; a tabular policy of OpenSpiel, or what its ``to_dict`` gives.

    Raises
    ------
    ValueError
        If it is none of these, or not one of this game.
    """
    given = of_result(given)
    if isinstance(given, Strategy):
        return strategy_of_shape((tree.num_rows, tree.num_actions), given, name)
    if isinstance(given, str | os.PathLike):
        require_named(given)
        if given == "uniform":
            return _checked(tree, tree.uniform(), name).named("uniform")
        return _read(tree, Path(given)).named(str(given))
    if not isinstance(given, np.ndarray | list | tuple | Mixture):
        return _of_profile(tree, given, name)
    return _checked(tree, given, name)


def require_named(given: str | os.PathLike[str]) -> None:
    """Refuse a text that names no strategy and no file; no game is needed."""
    path = _file_of(Path(given))
    if given != "uniform" and not os.access(path, os.F_OK):
        raise HogeqError(f"strategy: got {shown(str(path))}; allowed: {FORMS}")


def _file_of(path: Path) -> Path:
    """Give the file of a strategy, in a folder that of a run."""
    if not is_folder(path):
        return path
    if not os.access(path / IN_FOLDER, os.F_OK):
        raise HogeqError(f"{printable(path)}: holds no {IN_FOLDER}; allowed: folders of runs")
    return path / IN_FOLDER


def _checked(tree: Rows, given: ArrayLike | Mixture, name: str) -> Strategy:
    shape = tree.num_rows, tree.num_actions
    if isinstance(given, Mixture):
        parts = [tree_strategy(tree, one, name) for one in given.parts]
        seat = parts[0].seat if parts else None
        if any(one.seat != seat for one in parts):
            parts = [one.whole(f"{name}, part {number}") for number, one in enumerate(parts, 1)]
        mixture = Mixture(given.weights, [one.array for one in parts])
        return replace(strategy_of_shape(shape, mixture, name), seat=seat)
    table = as_array(given, name)
    if not tree.num_rows:  # chance alone moves
        return Strategy.unchecked(np.zeros(shape))
    if table.ndim != 1:
        return strategy_of_shape(shape, tree.check_strategy(table, name), name)
    made = strategy_of_shape(shape, table, name)
    tree.check_strategy(made.policy, name)
    return made


def _read(tree: Rows, path: Path) -> Strategy:
    path = _file_of(path)
    name = printable(path)
    text = profile_text(path)
    if text is not None:
        return _of_profile(tree, text, name)
    data = read_bytes(path)
    other = not_a_strategy(data)
    if other:
        raise HogeqError(f"{name}: {other}; allowed: {FORMS}")
    is_csv = is_policy_csv(tree, data[:HEAD].decode("utf-8-sig", "replace"))
    if data.startswith(b"PK\x03\x04") or (path.suffix == ".npz" and not is_csv):
        rows = tree.num_rows
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(MATRICES, (rows,))
        shapes |= dict.fromkeys(POLICIES, (rows, tree.num_actions))
        table, weights, seat = read_arrays(path, shapes, tree)
        found = _checked(tree, table if weights is None else Mixture(weights, table), name)
        return found if seat is None else seated(tree, found, seat)
    if is_csv or path.suffix == ".csv":
        try:
            lines = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise HogeqError(f"{name}: is not UTF-8: {error}") from error
        return _checked(tree, read_policy_csv(tree, lines, name), name)
    raise HogeqError(f"{name}: is no strategy of a tree; allowed: {FORMS}")


def _of_profile(tree: Rows, given: Any, where: str) -> Strategy:
    if isinstance(tree, FlatTree):
        rows = order_of_rows(tree).tolist()
    elif isinstance(given, str) and not given.lstrip().startswith("{"):
        allowed = "allowed for a game without a tree: uniform, arrays, files .npz, .csv and .json"
        raise StrategyError(f"{where}: got a profile of Gambit; {allowed}")
    else:
        rows = [*range(tree.num_rows)]
    counts, policy = tree.num_legal, np.zeros(tree.shape)
    infosets = []
    for row in rows:
        named = tree.at(row)
        infosets.append(Infoset((*named.states, str(tree.state_names[row])), named.moves))
    for row, chances in zip(rows, profile_rows(given, infosets, where), strict=True):
        policy[row, : counts[row]] = chances
    return tree_strategy(tree, policy, where)


def order_of_rows(tree: FlatTree) -> Ints:
    """Rows by seat, in the order in which a walk through the tree first meets them."""
    sizes = np.ones(tree.num_nodes, int)  # of the tree below each node
    for level in reversed(tree.levels[1:]):
        np.add.at(sizes, tree.parent[level], sizes[level])
    place = np.zeros(tree.num_nodes, int)
    for level, starts, _ in tree.families:
        before = np.cumsum(sizes[level]) - sizes[level]
        older = before - np.repeat(before[starts], np.diff(starts, append=len(before)))
        place[level] = place[tree.parent[level]] + 1 + older
    first = np.full(tree.num_rows, tree.num_nodes)
    moves = tree.row >= 0
    np.minimum.at(first, tree.row[moves], place[moves])
    return np.lexsort((first, tree.seat))


def playable(
    tree: Rows, legal: Callable[[Floats], Floats], solved: StrategyLike, name: str
) -> Strategy:
    """Make a strategy of rows that may choose actions that there are not."""
    target = strategy_of_shape((tree.num_rows, tree.num_actions), solved, name)
    if target.kind == "matrix":
        return tree_strategy(tree, np.where(target.array < tree.num_legal, target.array, 0), name)
    policies = legal(target.policies)
    if target.kind == "policy":
        return tree_strategy(tree, policies[0], name)
    return tree_strategy(tree, Mixture(target.chances, list(policies)), name)


def seated(tree: Rows, strategy: Strategy, seat: int) -> Strategy:
    """Give a seat alone to a strategy, whose rows of the other seat are not to be used.

    It stays one of both seats where the other has no rows. `StrategyError` if it has the other.
    """
    if strategy.seat not in {None, seat}:
        allowed = f"allowed: one of the {SEATS[seat]}, or of both"
        raise StrategyError(f"strategy: plays in the {SEATS[1 - seat]} seat alone; {allowed}")
    return replace(strategy, seat=seat if (tree.seat != seat).any() else None)


def action_values(tree: FlatTree, a: Strategy, b: Strategy, weight: RegretWeight) -> Floats:
    """Counterfactual payoff of every action of one strategy against another, (R, K).

    The sum over the histories of a row, each weighted by its reach, of the payoff to the player who
    moves there, if it takes the action and then plays on; NaN where there is no such action.
    """
    require_weight(weight)
    a, b = a.whole(), b.whole()
    values, visits = np.zeros((2, tree.num_rows, tree.num_actions))
    for player, sign in ((0, 1.0), (1, -1.0)):
        joint = np.where(tree.seat[:, None] == player, a.policy, b.policy)
        own = player if weight == "counterfactual" else None
        reached, step = reach(tree, joint, own), tree.by_step(joint, tree.odds, 1.0)
        below = np.zeros(tree.num_nodes)
        below[tree.player == TERMINAL] = sign * (tree.paid + tree.centre) + tree.shift
        for level in reversed(tree.levels[1:]):
            np.add.at(below, tree.parent[level], step[level] * below[level])
        moved = tree.mover == player
        place = tree.row[tree.parent[moved]], tree.action[moved]
        np.add.at(values, place, reached[tree.parent[moved]] * below[moved])
        np.add.at(visits, place, reached[tree.parent[moved]])
    if weight == "belief":
        values = np.divide(values, visits, out=np.zeros_like(values), where=visits > 0.0)
    return np.where(tree.legal, values, np.nan)


# --- plans ----------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """One way to play, and the probability of drawing it."""

    probability: float
    policy: Floats  # (R, K), 0 at information sets that the plan never comes to

    def actions(self, tree: FlatTree, row: int) -> dict[str, float]:
        """Give the probabilities of actions at a row; none if the plan does not come there."""
        shares = zip(tree.labels[row], self.policy[row].tolist(), strict=False)
        return {name: share for name, share in shares if share}


def plans(tree: FlatTree, strategy: Strategy, player: int) -> list[Plan]:
    """List the plans of one side, the likeliest first; components that play alike are one."""
    drawn: dict[bytes, Plan] = {}
    for chance, policy in zip(strategy.chances.tolist(), strategy.policies, strict=True):
        own = np.where(policy > ROUNDED, policy, 0.0)
        comes = (tree.player == player) & (reach(tree, own, 1 - player) > 0.0)
        rows = np.zeros(tree.num_rows, bool)
        rows[tree.row[comes]] = True
        own *= rows[:, None]
        key = own.round(9).tobytes()
        before = drawn[key].probability if key in drawn else 0.0
        drawn[key] = Plan(before + chance, own)
    found = [one for one in drawn.values() if one.probability > ROUNDED]
    return sorted(found, key=lambda one: -one.probability)
