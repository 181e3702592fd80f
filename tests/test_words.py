"""First lines of docstrings name their subject: no relative clause without a noun."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST = 30
VAGUE = re.compile(r"\b(what|who|whoever|told|said)\b", re.IGNORECASE)


def first_lines() -> list[str]:
    found = []
    for path in sorted((ROOT / "hogeq").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                found += [f"{path.relative_to(ROOT)}: {text.splitlines()[0]}"] if text else []
    return found


def test_first_lines_of_docstrings_have_nouns() -> None:
    lines = first_lines()
    assert len(lines) > 1000
    vague = [line for line in lines if VAGUE.search(line.partition(": ")[2])]
    assert len(vague) <= MOST, "\n".join(vague)
