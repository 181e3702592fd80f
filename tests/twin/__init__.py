"""A second evaluator of Hog, slow and obvious, written from the rules' text.

It imports nothing of hogeq: parts by name (`parts`), turns and memory (`turn`), editions as maps of
switches (`editions`), evaluation by recursion (`evaluate`), whole games in numpy (`full_size`).
"""

from tests.twin.evaluate import (
    Match,
    arrays,
    can_stay_for_ever,
    counterfactual,
    every_matrix_wins,
    reachable_cells,
)
from tests.twin.turn import Branch, Memory, Play, State

__all__ = [
    "Branch",
    "Match",
    "Memory",
    "Play",
    "State",
    "arrays",
    "can_stay_for_ever",
    "counterfactual",
    "every_matrix_wins",
    "reachable_cells",
]
