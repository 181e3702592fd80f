"""Runs the experiments, and reads the tables that they write."""

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "experiments"

Table = list[dict[str, str]]


class Run:
    """Runs an experiment and reads the table it wrote."""

    def __init__(self, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.out = out
        self.monkeypatch = monkeypatch

    def start(self, script: str, arguments: str) -> None:
        argv = [script, "--out", str(self.out), *arguments.split()]
        self.monkeypatch.setattr(sys, "argv", argv)
        runpy.run_path(str(FOLDER / f"{script}.py"), run_name="__main__")

    def __call__(self, script: str, arguments: str, name: str | None = None) -> Table:
        self.start(script, arguments)
        text = (self.out / f"{name or script}.md").read_text().splitlines()
        header, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text]
        return [dict(zip(header, row, strict=True)) for row in rows]
