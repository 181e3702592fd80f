"""Solvers: one algorithm a file; `Solver` says what each of them does.

To add one, write a file with a class that has the decorators `solver` and `parameters`, and put it
into the list below.
"""

from hogeq.solvers.base import SOLVERS, Solver, solver

# Each registers itself when it is imported, and they are listed in this order.
# isort: off
from hogeq.solvers import (  # noqa: F401
    regret,
    fsicfr,
    cfr_br,
    fictitious,
    double_oracle,
    bundle,
    mirror,
    dynamic_programming,
    openspiel_solver,
)
# isort: on

__all__ = ["SOLVERS", "Solver", "solver"]
