"""The arrays for passes over one match of a large game, by kernels compiled for it."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels import packed, planned, planned_stays
from hogeq.kernels.plan import Plan, piece_of
from hogeq.kernels.storage import zeros
from hogeq.kernels.tables import Tables
from hogeq.kernels.view import TablesView
from hogeq.support.aliases import Floats


class PlanArrays(ABC):
    """Passes forward and back, of one player (self-play) or two."""

    def __init__(self, tables: Tables, plan: Plan, players: int, dtype: DTypeLike) -> None:
        goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
        lanes = plan.constants.lanes
        self._piece = piece_of(lanes, np.dtype(dtype).itemsize * 8)
        self._plan = plan
        self._view = TablesView(tables)
        self._columns = zeros((1, players, plan.places.columns * plan.places.column), dtype)
        self._masses = zeros((1, goal * goal, plan.constants.dense(self._piece)), dtype)
        self._totals = zeros((num_actions * lanes,), dtype)

    @abstractmethod
    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool) -> None:
        """Fill the reach of cells, and keep that of memories if backward passes need it."""

    @abstractmethod
    def backward(
        self,
        role: int,
        policies: Floats,
        counterfactual_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> tuple[float, float, int]:
        """Pass over all cells; see :func:`hogeq.kernels.passes.backward`."""


class WrittenOut(PlanArrays):
    """Where a cell's lanes are written out (:mod:`hogeq.kernels.planned`)."""

    def __init__(self, tables: Tables, plan: Plan, players: int, dtype: DTypeLike) -> None:
        super().__init__(tables, plan, players, dtype)
        self._roots = np.zeros(players)

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool) -> None:
        """Fill the reach of cells; see :meth:`PlanArrays.forward`."""
        planned.forward(
            self._plan,
            self._plan.places,
            self._view,
            policies,
            self._columns[0],
            self._masses[0] if memories else self._masses[0, :0],
            infoset_reach,
        )

    def backward(
        self,
        role: int,
        policies: Floats,
        counterfactual_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> tuple[float, float, int]:
        """Pass over all cells; see :meth:`PlanArrays.backward`."""
        changes = planned.backward(
            self._plan,
            self._plan.places,
            self._view,
            role,
            policies,
            self._masses[0],
            self._columns[0],
            self._totals,
            counterfactual_values,
            infoset_reach,
            temperature,
            damping,
            self._roots,
        )
        return float(self._roots[0]), float(self._roots[-1]), int(changes)


class WithStays(PlanArrays):
    """Where turns can stay, besides (:mod:`hogeq.kernels.planned_stays`)."""

    def __init__(self, tables: Tables, plan: Plan, players: int, dtype: DTypeLike) -> None:
        super().__init__(tables, plan, players, dtype)
        states, lanes = 2 * players, plan.constants.lanes
        num_actions = tables.dimensions.num_actions
        self._roots = np.zeros(players)
        self._cores = zeros((3 * states * lanes,), dtype)
        self._alone = zeros((states * num_actions,), dtype)
        self._won, self._more = (zeros((states * lanes,), dtype) for _ in range(2))
        self._before = np.zeros(num_actions)
        self._flows = np.zeros(states * lanes)

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool) -> None:
        """Fill the reach of cells; see :meth:`PlanArrays.forward`."""
        planned_stays.forward(
            self._plan,
            self._plan.places,
            self._view,
            policies,
            self._columns[0],
            self._cores,
            self._flows,
            self._masses[0] if memories else self._masses[0, :0],
            infoset_reach,
        )

    def backward(
        self,
        role: int,
        policies: Floats,
        counterfactual_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> tuple[float, float, int]:
        """Pass over all cells; see :meth:`PlanArrays.backward`."""
        changes = planned_stays.backward(
            self._plan,
            self._plan.places,
            self._view,
            role,
            policies,
            self._masses[0],
            self._columns[0],
            self._totals,
            self._alone,
            self._cores,
            self._won,
            self._more,
            self._before,
            counterfactual_values,
            infoset_reach,
            temperature,
            damping,
            self._roots,
        )
        return float(self._roots[0]), float(self._roots[-1]), int(changes)


class ByVector(PlanArrays):
    """Where lanes are too wide for that (:mod:`hogeq.kernels.packed`)."""

    def __init__(self, tables: Tables, plan: Plan, players: int, dtype: DTypeLike) -> None:
        super().__init__(tables, plan, players, dtype)
        lanes = plan.constants.lanes
        self._vector, self._match = (0,) * self._piece, (0,)
        self._arrived = zeros((lanes,), dtype)
        self._starts = zeros((1, players, lanes), dtype)
        self._begun = zeros((2, lanes), dtype)
        self._lane = plan.constants.start % lanes
        self._begun[0, self._lane] = 1.0 / players
        self._shares = zeros((1, 1), dtype)

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool) -> None:
        """Fill the reach of cells; see :meth:`PlanArrays.forward`."""
        infoset_reach[:] = 0.0
        packed.forward(
            self._plan,
            self._plan.places,
            self._view,
            policies,
            policies,
            self._begun,
            self._columns[0],
            self._masses[0] if memories else self._masses[0, :0],
            self._arrived,
            infoset_reach,
            0,
            self._vector,
            self._match,
        )

    def backward(
        self,
        role: int,
        policies: Floats,
        counterfactual_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> tuple[float, float, int]:
        """Pass over all cells; see :meth:`PlanArrays.backward`."""
        changes = packed.backward(
            self._plan,
            self._plan.places,
            self._view,
            role,
            policies,
            policies,
            self._masses[None],
            self._shares,
            self._masses[0, 0],
            self._columns,
            self._totals,
            self._starts,
            counterfactual_values,
            infoset_reach,
            temperature,
            damping,
            self._plan.places.wins,
            self._vector,
            self._match,
        )
        roots = 1.0 - self._starts[0, :, self._lane].astype(np.float64)
        return float(roots[0]), float(roots[-1]), int(changes)


def plan_arrays(tables: Tables, plan: Plan, players: int, dtype: DTypeLike) -> PlanArrays:
    """Fresh arrays of the kind that a plan needs."""
    kind: type[PlanArrays] = ByVector if plan.constants.by_vector else WrittenOut
    if tables.has_cycles:
        kind = WithStays
    return kind(tables, plan, players, dtype)
