"""Files of a run directory."""

import sys
from typing import Final

if sys.platform != "win32":
    pass

CONFIG: Final = "config.yaml"

MANIFEST: Final = "manifest.json"

METRICS: Final = "metrics.csv"

CHECKPOINT: Final = "checkpoint.npz"

POLICY: Final = "policy.npz"

MATRIX: Final = "matrix.csv"

FINAL_STRATEGY: Final = "final_strategy.py"

EXPLOITABILITY_PLOT: Final = "exploitability.png"

MATRIX_PLOT: Final = "matrix.png"

FILES: Final = (
    CONFIG,
    MANIFEST,
    METRICS,
    CHECKPOINT,
    POLICY,
    MATRIX,
    FINAL_STRATEGY,
    EXPLOITABILITY_PLOT,
    MATRIX_PLOT,
)
"""What a run writes, and all that ``overwrite`` removes."""
