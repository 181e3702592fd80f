"""Every parameter of every kind: refused in Python as in a file, before anything runs."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from hogeq.purification import PURIFIERS
from hogeq.rules import Rules
from hogeq.runs.config import config_from
from hogeq.search.attack import SearchBudget
from hogeq.solvers import SOLVERS
from hogeq.support.parameters import ParameterError
from hogeq.support.yaml import ConfigError

KINDS = [*SOLVERS.values(), *PURIFIERS.values(), SearchBudget, Rules]


def fields(kind: Any) -> dict[str, Any]:
    return dict(TypeAdapter(kind).json_schema().get("properties", {}))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_whole_numbers_are_whole(kind: Any) -> None:
    for name, schema in fields(kind).items():
        for value in (2.5, True, "1", None, [1], float("nan"), -1, 10**10):
            if schema.get("type") == "integer":
                with pytest.raises(ParameterError, match=f"^{name}: got ") as caught:
                    kind(**{name: value})
                assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_numbers_and_switches_are_such(kind: Any) -> None:
    for name, schema in fields(kind).items():
        for value in ("x", [1], None):
            if schema.get("type") in {"number", "boolean"}:
                with pytest.raises(ParameterError, match=f"^{name}: got "):
                    kind(**{name: value})


SOLVER = {"name": "cfr_br", "iterations": 1}
SEEDS: dict[str, dict[str, Any]] = {
    "seed": {"seed": -1},
    "solver.seed": {"solver": {**SOLVER, "seed": -1}},
    "measure.attack.seed": {"measure": {"attack": {"seed": -1}}},
    "measure.final_attack.seed": {"measure": {"final_attack": {"seed": -1}}},
    **{
        f"purify.seed with {method}": {"purify": {"method": method, "seed": -1}}
        for method, kind in PURIFIERS.items()
        if "seed" in fields(kind)
    },
}


@pytest.mark.parametrize("where", SEEDS)
def test_a_negative_seed_anywhere(where: str) -> None:
    path = where.partition(" ")[0]
    with pytest.raises(ConfigError, match=f"config: {path}: got -1; allowed: whole numbers from 0"):
        config_from({"name": "a", "rules": "su20", "solver": SOLVER, **SEEDS[where]})
