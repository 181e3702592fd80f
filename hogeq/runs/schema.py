"""What the mappings of a config may hold."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from hogeq.runs.validation import Strict

MAX_SEED: Final = 2**32 - 1
"""The largest seed: what every generator in use takes."""


NAME_ALLOWED: Final = (
    "a folder's name: up to 100 letters, digits and . _ - + = , @, the first a letter or digit"
)

_Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]

_Count = Annotated[int, Field(ge=1, le=10**9)]


class Top(Strict):
    name: Annotated[str, Field(description=NAME_ALLOWED)]
    rules: Annotated[
        str | dict[str, Any], Field(description="an edition's name or a mapping of parts")
    ]
    solver: dict[str, Any]
    measure: dict[str, Any] = {}
    purify: dict[str, Any] = {}
    seed: _Seed = 0


class SolverKeys(Strict):
    name: str
    iterations: _Count
    seed: _Seed = 0


class MeasureKeys(Strict):
    every: Literal["log"] | _Count = "log"
    attack: dict[str, Any] = {}
    final_attack: dict[str, Any] | None = None
