"""Solvers, a family a file.

To add one, write a subclass of `Solver` in a file, and add the file to the imports below.
"""

from hogeq.solvers.base import SOLVERS, Solver, solver

# Each registers itself when it is imported; help and messages list them in this order.
# isort: off
from hogeq.solvers import (  # noqa: F401
    regret,
    cfr_br,
    responses,
    bundle,
    dag_cfr,
)
# isort: on

__all__ = ["SOLVERS", "Solver", "solver"]
