"""Games whose strategies have a row for every information set. Private: users hold a `Game`."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from hogeq.games.game import Game
from hogeq.games.given import StrategySpec
from hogeq.search.results import Units
from hogeq.strategies.conversion import StrategyLike, joined
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.messages import refusal
from hogeq.trees.strategies import make_playable, restrict_to_seat, tree_strategy

if TYPE_CHECKING:
    from hogeq.analysis.difference import Difference
    from hogeq.model.graph_engine import GraphEngine
    from hogeq.search.certificate_files import Certificate, OtherGame
    from hogeq.trees.engine import TreeEngine
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.full_information import FullInformation
    from hogeq.trees.positions import Positions


class RowGame(Game):
    """A game other than Hog, with a tree or by its positions."""

    @property
    def rows(self) -> FlatTree | Positions:
        """The tree, or the positions: names of information sets and actions, a hash of the game.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> game.rows.num_rows, game.rows.names[:3]
        (12, ['0 ', '0 cb', '1 '])
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        """Name the game, and say its size."""
        return re.sub("^[A-Za-z]+", "Game", repr(self.rows))

    @property
    def name(self) -> str:
        """Name of the game."""
        return self.rows.name

    @property
    def _rows(self) -> FlatTree | Positions:
        return self.rows

    @property
    def units(self) -> Units:
        """Units of this game: its payoffs, and the value of an even game."""
        return self.rows.units

    @property
    def engine(self) -> TreeEngine | GraphEngine:
        """The game's passes, as solvers and purifiers take them."""
        raise NotImplementedError

    def strategy(self, given: StrategySpec) -> Strategy:
        """Make a strategy of this game, checked: its rows are those of `rows`.

        Parameters
        ----------
        given : str, path, array_like, Mixture, Strategy or result
            ``"uniform"``; a file; a run's folder; actions (R,); probabilities (R, K); a mixture of
            such; what ``to_dict`` gives, ours or that of OpenSpiel's tabular policy; what
            `equilibrium`, `solve` or `attack` returned.

        Raises
        ------
        StrategyError
            If there is no such name or file, or its first bad cell.
        """
        return self._named(tree_strategy(self.rows, given))

    def _both(self, a: StrategySpec, b: StrategySpec | None) -> tuple[Strategy, Strategy]:
        """Make strategy `a` and its opponent, by default itself."""
        first = self.strategy(a)
        return first, first if b is None else self.strategy(b)

    def playable(self, solved: StrategyLike, name: str = "strategy") -> Strategy:
        """Make a strategy of the result of a solver or purifier.

        It may choose actions that a row has not; these mean the others, at random.
        """
        return self._named(make_playable(self.rows, self.engine.legal, solved, name))

    def joined(self, first: StrategySpec, second: StrategySpec) -> Strategy:
        """Join a strategy of the first player and one of the second to one for both seats.

        `Equilibrium.profile` is this of its two strategies.

        Examples
        --------
        >>> import hogeq
        >>> game = hogeq.Game("kuhn")
        >>> first, second = game.equilibrium().strategies
        >>> game.joined(first, second)
        Strategy(policy; 12 x 2)
        """
        rows = self.rows
        first_strategy = self.strategy(first)
        second_strategy = self.strategy(second)
        in_first_seat = restrict_to_seat(rows, first_strategy, 0)
        in_second_seat = restrict_to_seat(rows, second_strategy, 1)
        return joined(rows.seat, in_first_seat, in_second_seat)

    def diff(
        self,
        first: StrategySpec,
        second: StrategySpec,
        against: StrategySpec | list[StrategySpec] | None = None,
    ) -> Difference:
        """Value every information set in which two strategies differ.

        Parameters
        ----------
        first, second : strategy
        against : strategy or list of strategies, optional
            Opponents, of which the mean counts; by default `first` itself.
        """
        from hogeq.analysis import difference

        first_strategy = self.strategy(first).whole()
        second_strategy = self.strategy(second).whole()
        if against is None:
            against = [first_strategy]
        specs = against if isinstance(against, list) else [against]
        rivals = [self.strategy(spec) for spec in specs]
        return difference.diff_rows(
            self.engine, self.rows, self.value, first_strategy, second_strategy, rivals
        )

    def _about(self, name: str, forget: str | None, teams: str | None) -> OtherGame:
        from hogeq.search.certificate_files import OtherGame

        return OtherGame(name, self.rows.digest(), forget, teams)

    def check(self, certificate: Certificate) -> Certificate:
        """Prove a certificate of this game again; nothing else that it says is believed."""
        from hogeq.search.certificate import check_certificate
        from hogeq.search.certificate_files import CertificateError

        digest = self.rows.digest()
        certified_digest = getattr(certificate.game, "digest", None)
        if digest != certified_digest:
            allowed = f"that of {certificate.name}, {digest}"
            raise CertificateError(refusal("game.digest", certified_digest, allowed))
        # Check the strategy as if a user gave it: a policy, or a mixture of policies.
        chances, policies = certificate.strategy.chances, certificate.strategy.policies
        is_mixture = certificate.strategy.kind == "mixture"
        target = self.strategy(Mixture(chances, policies) if is_mixture else policies[0])
        return check_certificate(certificate._replace(strategy=target), self._problems(target))

    def tablebase(self) -> FullInformation:
        """Optimal play from every position, both players seeing and remembering everything.

        Its `value` is the payoff to who moves first, and its `error` is proved.
        """
        return self._full_information

    @cached_property
    def _full_information(self) -> FullInformation:
        from hogeq.trees import full_information

        return full_information.solve(self.graph, self.units)
