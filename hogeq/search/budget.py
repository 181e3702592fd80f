"""Effort of a search for a response; without numpy, so that commands show its defaults at once."""

from math import inf
from typing import Any

from hogeq.support.messages import HogeqError, counted, refusal
from hogeq.support.parameters import Count, Natural, NotNegative, PositiveShare, Seed, parameters


@parameters
class Budget:
    """Effort of a search for a response.

    A *kick* is a step of iterated local search: a perturbation and another ascent.

    Attributes
    ----------
    starts : int
        Starts. The first is the uniform policy, the second the strategy attacked; then come random
        policies, and in turn with them the strategy blended with one.
    anneal_steps : int
        Steps of the softmax responder while its temperature falls from 0.1 to 0.0001.
    damping : float
        Share of the way to the softmax that a step goes, above 0 to 1.
    kicks : int
        Kicks for each start after its ascent: a move (:mod:`hogeq.search.moves`) changes the
        matrix, the ascent is repeated, and the better matrix is kept. Close to equilibrium this
        finds counters that no number of starts does.
    seed : int
        Seed of the random starts and kicks.
    until_saturated : bool
        Whether to go on with kicks until twice the effort would find less than 0.0003, by
        :func:`hogeq.search.attack.saturation`.
    most_kicks : int
        Most kicks for each start then, and then alone.
    seconds : float, optional
        Limit of everything, by default none; how far a search came then depends on the machine.
    exact_seconds : float, optional
        Limit of an integer program, where the responder forgets and the search proves nothing: 0
        makes none. By default 60, and 0 in Hog. A search of the usual effort ends in this time too;
        one whose effort is given is not cut short.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.Budget(starts=16, kicks=100).anneal_steps
    60
    """

    starts: Count = 4
    anneal_steps: Natural = 60
    damping: PositiveShare = 0.5
    kicks: Natural = 20
    seed: Seed = 0
    until_saturated: bool = False
    most_kicks: Natural = 1600
    seconds: NotNegative | None = None
    exact_seconds: NotNegative | None = None

    def __post_init__(self) -> None:
        """Refuse a largest number of kicks that would have no effect, or is below `kicks`."""
        if self.most_kicks != Budget.most_kicks and not self.until_saturated:
            allowed = "another than 1600 only with until_saturated"
            raise HogeqError(refusal("most_kicks", self.most_kicks, allowed))
        if self.until_saturated and self.most_kicks < self.kicks:
            allowed = f"the {self.kicks} kicks or more"
            raise HogeqError(refusal("most_kicks", self.most_kicks, allowed))

    @classmethod
    def of(cls, budget: "Budget | None") -> "Budget":
        """Give the default budget for None, any other as it is; `HogeqError` if it is none."""
        if budget is None:
            return cls()
        if not isinstance(budget, cls):
            allowed = "a hogeq.Budget, as hogeq.Budget(seconds=3)"
            raise HogeqError(refusal("budget", budget, allowed))
        return budget

    @property
    def limit(self) -> float:
        """Seconds of the search and its proof together; infinite if there is no limit."""
        if self.seconds is not None:
            return self.seconds
        has_default_effort = self.fields() == Budget().fields() and not self.until_saturated
        if has_default_effort and self.exact_seconds:
            return self.exact_seconds
        return inf

    def fields(self) -> dict[str, Any]:
        """Give the effort as it stands in JSON."""
        names = ("starts", "anneal_steps", "damping", "kicks", "seed")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        """Say the effort in a line."""
        most_kicks = f" or more, at most {self.most_kicks}," if self.until_saturated else ","
        return (
            f"{counted(self.starts, 'start')}, "
            f"{counted(self.anneal_steps, 'anneal step')}, damping {self.damping}, "
            f"{counted(self.kicks, 'kick')}{most_kicks} seed {self.seed}"
        )
