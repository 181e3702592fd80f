"""The files of a run directory: their names, and the version of their layout."""

from typing import Final

CONFIG: Final = "config.yaml"
MANIFEST: Final = "manifest.json"
METRICS: Final = "metrics.csv"
CHECKPOINT: Final = "checkpoint.npz"
POLICY: Final = "policy.npz"
MATRIX: Final = "matrix.csv"
FINAL_STRATEGY: Final = "final_strategy.py"
EXPLOITABILITY_PLOT: Final = "exploitability.png"
MATRIX_PLOT: Final = "matrix.png"
PLUGINS: Final = "plugins"

MIXTURE: Final = "mixture.npz"
"""Of solvers that look for a mixture."""

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
"""What every run writes; with a mixture and the plugins, all that ``overwrite`` removes."""

SCHEMA: Final = 1
"""Version of the layout of a run directory and of its checkpoint."""
