"""A figure as PNG. Importing this imports matplotlib."""

import warnings
from io import BytesIO
from pathlib import Path
from typing import IO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class PngFigure(Figure):
    """A figure that notebooks show, though pyplot does not know it."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(self)

    def write_png(self, file: Path | IO[bytes], dpi: int = 150) -> None:
        """Write without date and version: the same numbers give the same bytes.

        Characters that the font lacks are drawn as boxes.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
            self.savefig(file, dpi=dpi, format="png", metadata={"Software": None})

    def png(self) -> bytes:
        """Bytes of the picture."""
        buffer = BytesIO()
        self.write_png(buffer)
        return buffer.getvalue()

    _repr_png_ = png  # asked by notebooks
