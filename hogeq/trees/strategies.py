"""Strategies of games other than Hog: arrays, files, those of other programs, and plans.

A file ``.csv`` has a line for each action of each information set, by their names.
"""

import csv
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.counterfactual import RegretWeight, require_weight
from hogeq.search.results import Value
from hogeq.strategies.arrays import StrategyError, as_array
from hogeq.strategies.files import is_folder, read_arrays, read_bytes
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
from hogeq.support.messages import printable, refusal, shown
from hogeq.trees.flat import TERMINAL, FlatTree, payoff, reach
from hogeq.trees.rows import Rows

IN_FOLDER: Final = "policy.npz"  # the strategy that the folder of a run means
FORMS: Final = (
    "uniform, a run, a file .npz or .csv, a policy of OpenSpiel as JSON or a profile of Gambit"
)
POLICIES: Final = ("policy", "policies", "strategies")
MATRICES: Final = ("matrix", "matrices")
COLUMNS: Final = ("player", "infoset", "action", "probability")  # of CSV
ROUNDED: Final = 1e-9  # probabilities below are 0 in plans

Places = dict[tuple[str, ...], tuple[int, int]]  # player, set and action: row and column


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
        raise ValueError(f"strategy: got {shown(str(path))}; allowed: {FORMS}")


def _file_of(path: Path) -> Path:
    """Give the file of a strategy, in a folder that of a run."""
    if not is_folder(path):
        return path
    if not os.access(path / IN_FOLDER, os.F_OK):
        raise ValueError(f"{printable(path)}: holds no {IN_FOLDER}; allowed: folders of runs")
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
        raise ValueError(f"{name}: {other}; allowed: {FORMS}")
    is_csv = data.removeprefix(BOM_UTF8).startswith(",".join(COLUMNS).encode())
    if data.startswith(b"PK\x03\x04") or (path.suffix == ".npz" and not is_csv):
        rows = tree.num_rows
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(MATRICES, (rows,))
        shapes |= dict.fromkeys(POLICIES, (rows, tree.num_actions))
        table, weights, seat = read_arrays(path, shapes)
        found = _checked(tree, table if weights is None else Mixture(weights, table), name)
        return found if seat is None else seated(tree, found, seat)
    if is_csv or path.suffix == ".csv":
        try:
            lines = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}: is not UTF-8: {error}") from error
        return _checked(tree, read_policy_csv(tree, lines, name), name)
    raise ValueError(f"{name}: is no strategy of a tree; allowed: {FORMS}")


def _of_profile(tree: Rows, given: Any, where: str) -> Strategy:
    if not isinstance(tree, FlatTree):
        allowed = "allowed for a game without a tree: uniform, arrays, files .npz and .csv"
        raise StrategyError(f"{where}: got a profile; {allowed}")
    rows = order_of_rows(tree)
    counts, states = tree.num_legal, tree.names if tree.states is None else tree.states
    infosets = []
    for row in rows:
        moves = tree.moves[row, : counts[row]].tolist()
        # OpenSpiel 2.0.2 gives the actions of a file's node their numbers in rising order.
        moves = moves if tree.states is None else sorted(moves)
        infosets.append(Infoset((str(states[row]),), moves))
    policy = np.zeros(tree.moves.shape)
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


def value(tree: FlatTree, a: Strategy, b: Strategy) -> Value:
    """Payoff to a strategy against another one, in either seat."""
    a, b = a.whole(), b.whole()
    first, second = 0.0, 0.0
    for weight, mine in zip(a.chances, a.policies, strict=True):
        for chance, theirs in zip(b.chances, b.policies, strict=True):
            first += weight * chance * payoff(tree, mine, theirs)
            second += weight * chance * (2.0 * tree.shift - payoff(tree, theirs, mine))
    return Value(float(first + second) / 2.0, float(first), float(second))


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


# --- CSV ------------------------------------------------------------------------------------------


def policy_csv(tree: Rows, policy: Floats) -> str:
    """Write a policy: one line for each action of each information set."""
    text = StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    for key, place in _places(tree).items():
        lines.writerow((*key, repr(float(policy[place]))))
    return text.getvalue()


def read_policy_csv(tree: Rows, text: str, where: str) -> Floats:
    """Read a policy, (R, K); actions that have no line have probability 0."""
    policy = np.full((tree.num_rows, tree.num_actions), np.nan)
    lines = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        _fill(policy, _places(tree), lines)
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{where}: line {lines.line_num}: {error}") from error
    return tree.check_strategy(np.nan_to_num(policy), where)


def _fill(policy: Floats, places: Places, lines: Iterator[list[str]]) -> None:
    header = tuple(next(lines, ()))
    if header != COLUMNS:
        raise ValueError(refusal("columns", ",".join(header), ",".join(COLUMNS)))
    for line in lines:
        place = places.get(tuple(line[:3])) if len(line) == len(COLUMNS) else None
        if place is None:
            allowed = "player, infoset and action of this game, and a probability"
            raise ValueError(f"got {shown(','.join(line))}; allowed: {allowed}")
        if not np.isnan(policy[place]):
            raise ValueError(f"{shown(','.join(line[:3]))} is there twice")
        policy[place] = float(line[3])
        if not 0.0 <= policy[place] <= 1.0:
            raise ValueError(refusal("probability", line[3], "0 to 1"))


def _places(tree: Rows) -> Places:
    """Row and column in a policy of each action, by player, information set and name."""
    names = [printable(name) for name in tree.names]
    places: Places = {}
    for row, (seat, name) in enumerate(zip(tree.seat.tolist(), names, strict=True)):
        for column, label in enumerate(tree.labels[row]):
            key, again = (str(seat), name, printable(label)), 1
            while key in places:  # two that are written alike
                again += 1
                key = (*key[:2], f"{printable(label)} ({again})")
            places[key] = (row, column)
    return places


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
