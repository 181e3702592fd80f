"""Print the lowest versions that `pyproject.toml` names, as pip takes them: ``numba==0.62``."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[1] / "pyproject.toml"

if __name__ == "__main__":
    named = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["dependencies"]
    # What has markers is left out where they do not hold; pip takes them from a file alone.
    wanted = [Requirement(one) for one in named]
    here = [one for one in wanted if one.marker is None or one.marker.evaluate()]
    print(*(f"{one.name}{one.specifier}".replace(">=", "==") for one in here))
