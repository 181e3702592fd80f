"""Solvers, a family a file; their contract is in the base class `Solver`.

To add one, write a file with a subclass that has the decorators `solver` and `parameters`, and add
the file to the imports below.
"""

from hogeq.solvers.base import SOLVERS, Solver, solver

# Each registers itself when it is imported; help and messages list them in this order.
# isort: off
from hogeq.solvers import (  # noqa: F401
    regret,
    cfr_br,
    responses,
    bundle,
    mixture_bundle,
    comparisons,
)
# isort: on

__all__ = ["SOLVERS", "Solver", "solver"]
