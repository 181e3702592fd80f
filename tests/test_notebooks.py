"""The notebooks run from top to bottom, and every result in them shows itself.

Their cells are plain Python, so a dozen lines here run them: no kernel is installed, or started.
"""

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
SHOWN = "_repr_html_", "_repr_png_"
MOST_BYTES = 8000


def cells(notebook: Path, kind: str) -> list[str]:
    content = json.loads(notebook.read_text("utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == kind]


def run(code: str, names: dict[str, Any]) -> object:
    """Run a cell; give the value of its last line, if that is an expression."""
    body = ast.parse(code).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)  # noqa: S102 - our own
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307 - our own


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs_and_draws(notebook: Path, in_folder: Path) -> None:
    shutil.copy(ROOT / "examples" / "game.json", in_folder)
    names: dict[str, Any] = {}
    drawn = []
    for code in cells(notebook, "code"):
        value = run(code, names)
        for name in SHOWN:
            show = getattr(value, name, None)
            if show is not None and (content := show()):
                drawn.append(type(value).__name__)
                assert name != "_repr_html_" or len(content) < MOST_BYTES
    assert {"Strategy", "WinRates", "Analysis", "PngFigure"} <= set(drawn)
    assert ("Review" in drawn) or ("Response" in drawn)


def test_notebooks_are_small_and_hold_no_output() -> None:
    assert {notebook.stem for notebook in NOTEBOOKS} == {"student", "research"}
    for notebook in NOTEBOOKS:
        assert notebook.stat().st_size < MOST_BYTES
        assert all(
            cell.get("outputs", []) == [] for cell in json.loads(notebook.read_text())["cells"]
        )
        assert cells(notebook, "markdown")[0].startswith("# ")
