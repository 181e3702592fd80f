"""Games that have a tree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hogeq.evaluation.counterfactual import RegretWeight
from hogeq.games.given import Forget, StrategySpec
from hogeq.games.rows import RowGame
from hogeq.graph.graph import Graph
from hogeq.rules.reading import TREES
from hogeq.search.results import Budget, Equilibrium, InPolicies, Interval, Response
from hogeq.search.values import Value
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.support.files import write_whole
from hogeq.support.messages import HogeqError, Text, refusal
from hogeq.support.parameters import NotNegative, check
from hogeq.support.teams import Teams
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import FlatTree
from hogeq.trees.graphs import of_tree
from hogeq.trees.strategies import action_values, meeting_probabilities
from hogeq.trees.values import value

if TYPE_CHECKING:
    from hogeq.model.priced import Problem
    from hogeq.trees.absent import Gaps
    from hogeq.trees.full_information import FullInformation
    from hogeq.trees.members import NashConv
    from hogeq.trees.recall_results import Audit


class TreeGame(RowGame):
    """A game that has a tree: of a file, of OpenSpiel, or of one's own rules; `Game` makes it.

    Attributes
    ----------
    tree : FlatTree
        All its nodes. Rows of its strategies are those of the tree.
    engine : TreeEngine
        The tree's passes.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game("kuhn_poker")
    >>> isinstance(game, hogeq.TreeGame), game.tree.num_nodes
    (True, 58)
    >>> game = hogeq.Game("kuhn(players=2,ranks=3)")
    >>> round(game.equilibrium().lower, 6)  # Kuhn 1950: -1/18
    -0.055556
    >>> hasattr(game, "win_rate")  # Hog has win rates, this game has payoffs
    False
    """

    tree: FlatTree

    def __init__(
        self, given: object, *, forget: Forget = None, teams: Teams = None, trust: bool = False
    ) -> None:
        """Hold the tree of a game."""
        self.tree = self._find(given, forget, teams, trust)

    @property
    def rows(self) -> FlatTree:
        """The tree: names of information sets and actions, a hash of the game.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.rows is game.tree, game.rows.labels[0]
        (True, ['check', 'bet'])
        """
        return self.tree

    @cached_property
    def engine(self) -> TreeEngine:
        """The tree's passes, as solvers and purifiers take them."""
        return TreeEngine(self.tree)

    @cached_property
    def graph(self) -> Graph:
        """The game as arrays, both players live: what any algorithm can stand on."""
        return of_tree(self.tree)

    @cached_property
    def _full_information(self) -> FullInformation:
        from hogeq.trees import full_information

        is_rounded = self.tree.is_rounded
        return full_information.solve(self.graph, self.units, is_rounded=is_rounded)

    def value(self, a: StrategySpec, b: StrategySpec | None = None) -> Value:
        """Exact payoff to strategy `a` against `b`, by default itself."""
        return value(self.tree, *self._both(a, b))

    def attack(self, strategy: StrategySpec, budget: Budget | None = None) -> Response:
        """Find the best response to a strategy, and a bound that no response exceeds.

        Where the responder forgets, the response is searched for (:mod:`hogeq.search`), and an
        integer program goes on for ``budget.exact_seconds``.
        """
        from hogeq.trees.answers import respond_in_tree

        target = self.strategy(strategy).whole()
        return self._named(respond_in_tree(self.tree, target, Budget.of(budget)))

    def bound(self, strategy: StrategySpec) -> float:
        """Upper bound on the value of any response, by perfect recall."""
        from hogeq.trees.responses import bound_full_memory

        return bound_full_memory(self.tree, self.strategy(strategy).whole())

    def _problems(self, strategy: StrategySpec) -> list[Problem]:
        """Pose the problems of a responder to a strategy, who remembers the own past."""
        from hogeq.trees.pasts import pose_problems

        return pose_problems(self.tree, self.strategy(strategy).whole())

    def exploitability(self, strategy: StrategySpec, budget: Budget | None = None) -> Interval:
        """Interval that contains the exploitability of a strategy: half of its NashConv."""
        interval = super().exploitability(strategy, budget)
        # It is never negative, since a strategy is a response to itself.
        return interval._replace(lower=max(interval.lower, 0.0))

    def nash_conv(self, strategy: StrategySpec, budget: Budget | None = None) -> NashConv:
        """NashConv of a policy, twice its exploitability; and what each player gains alone.

        A member of a team who alone deviates gains no more than the team.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> round(game.nash_conv("uniform").upper, 4)
        0.9167
        """
        from hogeq.trees.members import nash_conv

        budget = Budget.of(budget)
        limit = Deadline(budget.limit)
        return nash_conv(self.tree, self.strategy(strategy).whole(), self.attack, budget, limit)

    def equilibrium(self, seconds: float = 60.0, method: str = "auto") -> Equilibrium:
        """Solve the game in mixtures, which are mixed strategies; best responses prove both ends.

        If a side is a team, this is its TMECor. The result names the method:

        ``dag``
            One linear program over the belief DAGs of both sides; ``lp`` if no side forgets.
        ``columns``
            Column generation, or double oracle: the parts of the DAGs that best responses come to
            grow. The responses are found by an integer program.
        ``cfr``
            Discounted CFR over the DAGs, which ends with the time.
        ``auto``
            ``columns`` for a fifth of the time, then ``dag``; of large DAGs ``columns`` with
            responses by these, begun with what CFR plays, or ``cfr``. Where they cannot be built,
            ``iterates`` of CFR+ are weighed by a linear program. The best ends are kept.

        Raises
        ------
        ValueError
            If a belief DAG is too large for the method, or it takes no game in which an information
            set can be met twice in a play.
        """
        from hogeq.solvers import dags

        check(NotNegative, seconds=seconds)
        return self._named(dags.solve_tree(self.tree, seconds, method))

    def in_policies(self, seconds: float = 60.0, method: str = "auto") -> InPolicies:
        """Value of each side in policies, enclosed: of teams the TME, whose members draw apart.

        A policy is measured by the best response of an opponent who knows it, and who, if a team or
        forgetful, may draw together. Half of the time at most solves the game in mixtures by a
        method of `equilibrium`, the rest is for branch and bound (:mod:`hogeq.trees.maxmin`). Both
        ends hold whenever the time ends.

        Raises
        ------
        ValueError
            If nobody decides.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> found = game.in_policies(seconds=5.0)
        >>> round(found.lower, 4), found.is_proved
        (-0.0556, True)
        """
        from hogeq.trees.policy_values import in_policies

        check(NotNegative, seconds=seconds)
        deadline = Deadline(seconds)
        solved = self.equilibrium(seconds / 2.0, method)
        return self._named(in_policies(self.tree, solved, deadline))

    def gaps(self, strategy: StrategySpec, seconds: float = 10.0) -> tuple[Gaps, Gaps]:
        """How far a policy is from ex ante optimal, an EDT and a CDT equilibrium, by player.

        EDT and CDT are evidential and causal decision theory. The game may have absent-mindedness
        or not. Each player responds to the other's rows of the policy.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> first, second = game.gaps("uniform", seconds=1.0)
        >>> round(first.ex_ante[0], 4)
        0.375
        """
        from hogeq.trees.absent_results import gaps_of

        check(NotNegative, seconds=seconds)
        tree = self.tree
        policy = self.strategy(strategy).whole()
        deadline = Deadline(seconds)
        player_1_decides = (tree.seat == 1).any()
        time_of_first = deadline.share(0.5 if player_1_decides else 1.0)
        return gaps_of(tree, policy, 0, time_of_first), gaps_of(tree, policy, 1, deadline)

    def audit(self) -> tuple[Audit, Audit]:
        """Recall of each player, with two histories where it fails.

        A team is one player; its audit has those of its members.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> first, second = game.audit()
        >>> first.findings["perfect recall"].holds
        True
        """
        from hogeq.trees.recall import audit_of

        return audit_of(self.tree, 0), audit_of(self.tree, 1)

    def audit_text(self, players: Sequence[Audit]) -> Text:
        """Lay out the audits of both sides, as the command prints them.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> len(game.audit_text(game.audit())) > 0
        True
        """
        from hogeq.trees.recall_results import recall_text
        from hogeq.trees.teams import side_names

        return recall_text(players, side_names(self.tree.sides))

    def action_values(
        self, a: StrategySpec, b: StrategySpec | None = None, weight: RegretWeight = "reach"
    ) -> Floats:
        """Counterfactual payoff of every action to the player who moves, (R, K).

        It is NaN where the information set has no such action.

        Parameters
        ----------
        a, b : strategy
            Of the player whose actions are valued, and of the other; by default the same.
        weight : {"reach", "counterfactual", "belief"}
            How histories are weighted: by reach; without the player's own actions, as CFR is
            defined; or given that the information set is reached.
        """
        return action_values(self.tree, *self._both(a, b), weight)

    def met(self, a: StrategySpec, b: StrategySpec | None = None) -> Floats:
        r"""Probability that a play meets each information set at least once, (R,).

        Of an absent-minded player it is less than the mean number of visits, which may exceed 1.

        Parameters
        ----------
        a, b : strategy
            Policies of both seats, of the first player and of the second; by default the same.

        Examples
        --------
        >>> import hogeq
        >>> from pathlib import Path
        >>> lines = [
        ...     "node / player 1 actions exit on",
        ...     "node /P1:exit leaf payoffs 1=0",
        ...     "node /P1:on chance actions hill=1 road=1",
        ...     "node /P1:on/C:hill leaf payoffs 1=1",
        ...     "node /P1:on/C:road player 1 actions exit on",
        ...     "node /P1:on/C:road/P1:exit leaf payoffs 1=4",
        ...     "node /P1:on/C:road/P1:on player 1 actions stay",
        ...     "node /P1:on/C:road/P1:on/P1:stay leaf payoffs 1=2",
        ...     "infoset crossing nodes / /P1:on/C:road",
        ... ]
        >>> _ = Path("drive.txt").write_text("\n".join(lines))
        >>> game = hogeq.Game("drive.txt")
        >>> dict(zip(game.rows.names, game.met("uniform").tolist()))
        {'crossing': 1.0, 'node /P1:on/C:road/P1:on': 0.125}
        """
        return meeting_probabilities(self.tree, *self._both(a, b))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a file that `Game` reads.

        Parameters
        ----------
        path : path
            ``.npz`` saves the tree, to be read at the speed of the disk; ``.efg`` is for Gambit.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.write("kuhn.efg")
        >>> hogeq.Game("kuhn.efg")
        Game(kuhn.efg: 58 nodes, 12 infosets)
        """
        from hogeq.trees.saved import save_tree
        from hogeq.trees.tree import flat_efg

        suffix = Path(path).suffix.lower()
        suffixes = TREES[:2]  # the other kinds of files are read only
        if suffix not in suffixes:
            raise HogeqError(refusal("path", str(path), f"names ending in {' or '.join(suffixes)}"))
        if suffix == ".npz":
            save_tree(self.tree, path)
        else:
            write_whole(path, flat_efg(self.tree))
