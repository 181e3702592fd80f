"""Print the lowest versions that `pyproject.toml` names, as pip takes them: ``numba==0.62``."""

import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"

if __name__ == "__main__":
    named = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["dependencies"]
    print(*(requirement.replace(">=", "==") for requirement in named))
