"""Strategies of games other than Hog: arrays, files, those of other programs, and plans.

A file ``.csv`` has a line for each action of each information set, by their names.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.counterfactual import RegretWeight, require_weight
from hogeq.rules.reading import GameName, manifest_game
from hogeq.strategies.arrays import StrategyError, as_array
from hogeq.strategies.conversion import StrategyLike, strategy_of_result, strategy_of_shape
from hogeq.strategies.files import read_arrays, read_bytes
from hogeq.strategies.infosets import is_policy_csv, read_policy_csv, read_policy_dict
from hogeq.strategies.profiles import Infoset, profile_rows, profile_text
from hogeq.strategies.strategy import SEATS, Mixture, Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.kinds import is_folder, not_a_strategy, require_unpacked
from hogeq.support.messages import HogeqError, printable, refusals_of, shown
from hogeq.support.text import parse_json, text_of
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.loading import find_game
from hogeq.trees.passes import add_down, add_products_up, add_up
from hogeq.trees.rows import Rows
from hogeq.trees.sequences import sequence_form

POLICY_FILE: Final = "policy.npz"  # file of the strategy in the folder of a run
ALLOWED_FORMS: Final = (
    "uniform, a run, a file .npz or .csv, a policy of OpenSpiel as JSON or a profile of Gambit"
)
POLICIES: Final = ("policy", "policies", "strategies")
MATRICES: Final = ("matrix", "matrices")
ZIP_HEAD: Final = b"PK\x03\x04"  # with which files .npz begin
HEAD_BYTES: Final = 100  # bytes of a file that say whether it is a table
ZERO_BELOW: Final = 1e-9  # smaller probabilities count as 0 in plans


def tree_strategy(tree: Rows, given: Any, name: str = "strategy") -> Strategy:
    """Read a strategy of a game from any of the forms below, and check it.

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
    given = strategy_of_result(given)
    if isinstance(given, Strategy):
        return strategy_of_shape((tree.num_rows, tree.num_actions), given, name)
    if isinstance(given, str | os.PathLike):
        require_named(given)
        if given == "uniform":
            return _check_strategy(tree, tree.uniform(), name).named("uniform")
        return _read_file(tree, Path(given)).named(str(given))
    if not isinstance(given, np.ndarray | list | tuple | Mixture):
        return _read_profile(tree, given, name)
    return _check_strategy(tree, given, name)


def require_named(given: str | os.PathLike[str]) -> None:
    """Refuse a text that names no strategy and no file; no game is needed."""
    if given == "uniform":  # whatever files there are
        return
    path = _file_of(Path(given))
    if not os.path.exists(path):  # noqa: PTH110 - never raises
        raise HogeqError(f"strategy: got {shown(str(path))}; allowed: {ALLOWED_FORMS}")


def _file_of(path: Path) -> Path:
    """Give the file of a strategy, in a folder that of a run."""
    if not is_folder(path):
        return path
    if not os.access(path / POLICY_FILE, os.F_OK):
        raise HogeqError(f"{printable(path)}: holds no {POLICY_FILE}; allowed: folders of runs")
    return path / POLICY_FILE


def _check_strategy(tree: Rows, given: ArrayLike | Mixture, name: str) -> Strategy:
    """Check an array, or a mixture of strategies, against the rows and legal actions of a tree.

    Arrays are probabilities, (R, K), or numbers of actions, (R,). `name` is what errors call the
    strategy.
    """
    if isinstance(given, Mixture):
        return _check_mixture(tree, given, name)
    shape = tree.num_rows, tree.num_actions
    array = as_array(given, name)
    if not tree.num_rows:  # chance alone moves
        return Strategy.unchecked(np.zeros(shape))
    if array.ndim != 1:
        return strategy_of_shape(shape, tree.check_strategy(array, name), name)
    pure_strategy = strategy_of_shape(shape, array, name)  # numbers of actions, (R,)
    tree.check_strategy(pure_strategy.policy, name)
    return pure_strategy


def _check_mixture(tree: Rows, given: Mixture, name: str) -> Strategy:
    """Check a mixture of strategies of a tree, each of any form.

    Components that are for the same seat make a mixture for that seat; otherwise each must be for
    both. `name` is what errors call the mixture.
    """
    components = [tree_strategy(tree, part, name) for part in given.parts]
    seat = components[0].seat if components else None
    if any(component.seat != seat for component in components):
        components = [
            component.whole(f"{name}, part {number}")  # refuses one for a single seat
            for number, component in enumerate(components, 1)
        ]
    mixture = Mixture(given.weights, [component.array for component in components])
    strategy = strategy_of_shape((tree.num_rows, tree.num_actions), mixture, name)
    return replace(strategy, seat=seat)


def _read_file(tree: Rows, path: Path) -> Strategy:
    """Read a strategy of a tree from a file of any form, or from the folder of a run.

    The form is recognised by the content: a profile or policy as text, an archive of arrays, a
    table. Raises `HogeqError` for a file of another kind.
    """
    if is_folder(path):
        _require_same_game(tree, path)
    path = _file_of(path)
    name = printable(path)
    text = profile_text(path)
    if text is not None:
        return _read_profile(tree, text, name)
    data = read_bytes(path)
    with refusals_of(name, StrategyError):
        require_unpacked(data)
    other_kind = not_a_strategy(data)
    if other_kind:
        raise HogeqError(f"{name}: {other_kind}; allowed: {ALLOWED_FORMS}")
    is_csv = is_policy_csv(tree, data[:HEAD_BYTES].decode("utf-8-sig", "replace"))
    is_archive = data.startswith(ZIP_HEAD) or (path.suffix == ".npz" and not is_csv)
    if is_archive:
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(MATRICES, (tree.num_rows,))
        shapes |= dict.fromkeys(POLICIES, (tree.num_rows, tree.num_actions))
        table, weights, seat = read_arrays(path, shapes, tree)
        strategy = _check_strategy(
            tree, table if weights is None else Mixture(weights, table), name
        )
        return strategy if seat is None else restrict_to_seat(tree, strategy, seat)
    if is_csv or path.suffix == ".csv":
        with refusals_of(name, StrategyError):
            lines = text_of(data)
        return _check_strategy(tree, read_policy_csv(tree, lines, name), name)
    with refusals_of(name, StrategyError):
        text_of(data)  # refuses bytes that are not UTF-8, in words of its own
    raise HogeqError(f"{name}: is no strategy of a tree; allowed: {ALLOWED_FORMS}")


def _require_same_game(tree: Rows, folder: Path) -> None:
    """Raise `HogeqError` if the game of a run has changed since.

    A run of a game of another name is not refused: its strategy may fit.
    """
    made_by_run = manifest_game(folder)
    if made_by_run.get("name") != tree.name or made_by_run.get("tree_sha256") == tree.digest():
        return
    run = GameName(folder)
    if GameName(run.config.get("game")).tree_suffix:
        # Different files may have one name. Loading the run's own file raises if it has changed.
        find_game(folder)
    else:
        run.require_unchanged(tree.digest())


def _read_profile(tree: Rows, given: Any, where: str) -> Strategy:
    """Read a strategy from a policy by names of rows, or from a profile by their order.

    `given` is JSON or a mapping of names, as `Strategy.to_dict` returns it; a policy of OpenSpiel;
    or the text of a profile of Gambit. `where` begins the messages.
    """
    if isinstance(given, str) and given.lstrip().startswith("{"):
        with refusals_of(where, StrategyError):
            given = parse_json(given)
    policy_and_seat = read_policy_dict(tree, given) if isinstance(given, Mapping) else None
    if policy_and_seat is not None:
        policy, seat = policy_and_seat
        strategy = _check_strategy(tree, policy, where)
        return strategy if seat is None else restrict_to_seat(tree, strategy, seat)
    if not isinstance(tree, FlatTree) and isinstance(given, str):
        allowed = "allowed for a game without a tree: uniform, arrays, files .npz, .csv and .json"
        raise StrategyError(f"{where}: got a profile of Gambit; {allowed}")
    rows = [*range(tree.num_rows)]
    if isinstance(tree, FlatTree):
        rows = order_of_rows(tree).tolist()  # the order in which Gambit numbers them
    infosets = []
    for row in rows:
        named = tree.at(row)
        infosets.append(Infoset((*named.states, str(tree.state_names[row])), named.moves))
    policy = np.zeros(tree.shape)
    for row, probabilities in zip(rows, profile_rows(given, infosets, where), strict=True):
        policy[row, : tree.num_legal[row]] = probabilities
    return tree_strategy(tree, policy, where)


def order_of_rows(tree: FlatTree) -> Ints:
    """Order the rows by seat, then as a depth-first walk of the tree first meets them, (R,).

    A row is an information set of some nodes. The walk comes to a node after its parent and the
    subtrees of its older siblings: so its number in the walk is that of the parent, plus 1, plus
    the number of nodes in those subtrees.
    """
    subtree_size = np.ones(tree.num_nodes, int)  # number of nodes from each node on
    add_up(tree, subtree_size)
    # Nodes at or below those before each node; of siblings, which lie side by side, the difference
    # from the first is what lies below the older ones.
    before = np.cumsum(subtree_size) - subtree_size
    first_sibling = tree.child_offsets[tree.parent]
    first_sibling[0] = 0
    visit = 1 + before - before[first_sibling]
    visit[0] = 0
    add_down(tree, visit)  # now the position of each node in the walk
    first_visit = np.full(tree.num_rows, tree.num_nodes)  # of each row
    is_decision = tree.row >= 0
    np.minimum.at(first_visit, tree.row[is_decision], visit[is_decision])
    return np.lexsort((first_visit, tree.seat))


def make_playable(
    tree: Rows, legal: Callable[[Floats], Floats], solved: StrategyLike, name: str
) -> Strategy:
    """Make a strategy of a tree from one that may choose actions that are not legal.

    In a policy, `legal` moves probabilities to legal actions; in a matrix (an action for each row)
    the first action replaces one that is not legal.
    """
    strategy = strategy_of_shape((tree.num_rows, tree.num_actions), solved, name)
    if strategy.kind == "matrix":
        first_action = 0
        actions = np.where(strategy.array < tree.num_legal, strategy.array, first_action)
        return tree_strategy(tree, actions, name)
    policies = legal(strategy.policies)
    if strategy.kind == "policy":
        return tree_strategy(tree, policies[0], name)
    return tree_strategy(tree, Mixture(strategy.chances, list(policies)), name)


def restrict_to_seat(tree: Rows, strategy: Strategy, seat: int) -> Strategy:
    """Restrict a strategy to one seat: its rows of the other seat are not to be used.

    If the other seat has no rows, the strategy stays one of both seats. Raises `StrategyError` if
    it is for the other seat alone.
    """
    if strategy.seat not in {None, seat}:
        allowed = f"allowed: one of the {SEATS[seat]}, or of both"
        raise StrategyError(f"strategy: plays in the {SEATS[1 - seat]} seat alone; {allowed}")
    has_other_seat = (tree.seat != seat).any()
    return replace(strategy, seat=seat if has_other_seat else None)


def action_values(tree: FlatTree, a: Strategy, b: Strategy, weight: RegretWeight) -> Floats:
    """Compute the counterfactual payoff of every action of strategy `a` against `b`, (R, K).

    The sum over the histories of a row, each times its reach probability, of the payoff to the
    player who moves there if it takes the action and then plays on by `a`; NaN where there is no
    such action. `weight`: ``"counterfactual"`` takes the reach by chance and the opponent;
    ``"belief"`` that by all players, and divides by the sum of weights.
    """
    require_weight(weight)
    a = a.whole()
    b = b.whole()
    weighted_sums = np.zeros((tree.num_rows, tree.num_actions))
    weights = np.zeros_like(weighted_sums)
    for player in (0, 1):
        policy = np.where(tree.seat[:, None] == player, a.policy, b.policy)
        # A counterfactual reach leaves the player's own actions out.
        reach_probability = reach(tree, policy, player if weight == "counterfactual" else None)
        values = _node_values(tree, policy, player)
        after_own_move = tree.mover == player
        node_before = tree.parent[after_own_move]
        row_and_action = tree.row[node_before], tree.action[after_own_move]
        reach_before = reach_probability[node_before]
        np.add.at(weighted_sums, row_and_action, reach_before * values[after_own_move])
        np.add.at(weights, row_and_action, reach_before)
    if weight == "belief":  # means; 0 at rows that are never reached
        no_values = np.zeros_like(weighted_sums)
        weighted_sums = np.divide(weighted_sums, weights, out=no_values, where=weights > 0.0)
    return np.where(tree.legal, weighted_sums, np.nan)


def meeting_probabilities(tree: FlatTree, a: Strategy, b: Strategy) -> Floats:
    """Compute the probability that a play of `a` against `b` meets each row at least once, (R,).

    It is the sum of the reach probabilities of those nodes of a row at which a play is there for
    the first time; a player who forgets may come to it again.
    """
    policy = np.where(tree.seat[:, None] == 0, a.whole().policy, b.whole().policy)
    reach_probability = reach(tree, policy)  # of nodes, (N,)
    probability = np.zeros(tree.num_rows)
    for player in (0, 1):
        form = sequence_form(tree, player)
        own_nodes = np.flatnonzero(tree.player == player)
        first_visits = own_nodes[form.visits[form.refined_of_node[own_nodes]] == 1]
        rows = tree.row[first_visits]
        probability += np.bincount(rows, reach_probability[first_visits], tree.num_rows)
    return probability


def _node_values(tree: FlatTree, policy: Floats, player: int) -> Floats:
    """Compute the expected payoff to a player from each node on, (N,), if all play by a policy.

    The tree has payoffs to player 0 as differences from ``shift + centre``, where the shift is half
    of the sum of both players' payoffs.
    """
    step = tree.probabilities(policy)  # (N,)
    sign = 1.0 if player == 0 else -1.0
    values = np.zeros(tree.num_nodes)
    values[tree.player == TERMINAL] = sign * (tree.terminal_payoffs + tree.centre) + tree.shift
    add_products_up(tree, step, values)
    return values


# --- plans ----------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """One way to play, and the probability of drawing it."""

    probability: float
    policy: Floats  # (R, K), 0 at information sets that the plan never comes to

    def actions(self, tree: FlatTree, row: int) -> dict[str, float]:
        """Give the probabilities of actions at a row; none if the plan does not come there."""
        actions = zip(tree.labels[row], self.policy[row].tolist(), strict=False)
        return {name: probability for name, probability in actions if probability}


def list_plans(tree: FlatTree, strategy: Strategy, player: int) -> list[Plan]:
    """List the plans that one side draws from, the most probable first.

    Components of the mixture that differ only at information sets that they never reach are one
    plan: its probability is their sum.
    """
    plan_by_policy: dict[bytes, Plan] = {}  # by the bytes of the rounded policy
    for probability, policy in zip(strategy.chances.tolist(), strategy.policies, strict=True):
        own_policy = np.where(policy > ZERO_BELOW, policy, 0.0)
        # With the other side's actions at 1, only own actions and chance decide what is reached.
        is_reached = (tree.player == player) & (reach(tree, own_policy, 1 - player) > 0.0)
        reached_rows = np.zeros(tree.num_rows, bool)
        reached_rows[tree.row[is_reached]] = True
        own_policy *= reached_rows[:, None]
        key = own_policy.round(9).tobytes()
        earlier = plan_by_policy[key].probability if key in plan_by_policy else 0.0
        plan_by_policy[key] = Plan(earlier + probability, own_policy)
    likely = [plan for plan in plan_by_policy.values() if plan.probability > ZERO_BELOW]
    return sorted(likely, key=lambda plan: -plan.probability)
