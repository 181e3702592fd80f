"""What the mappings of a config may hold."""

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from hogeq.support.parameters import Count, Seed, parameters

NAME_ALLOWED: Final = (
    "a folder's name: up to 100 letters, digits and . _ - + = , @, the first a letter or digit and "
    "the last no dot"
)

Name: TypeAlias = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._=+,@-]{0,98}[A-Za-z0-9_=+,@-])?$",
        description=NAME_ALLOWED,
    ),
]
"""A name that can be a folder's."""


@parameters
class ConfigKeys:
    """A config, its sections not yet looked into."""

    name: Name
    rules: Annotated[
        str | dict[str, Any], Field(description="an edition's name or a mapping of parts")
    ]
    solver: dict[str, Any]
    measure: dict[str, Any] = Field(default_factory=dict)
    purify: dict[str, Any] = Field(default_factory=dict)
    seed: Seed = 0
    plugins: list[str] = Field(default_factory=list)


@parameters
class SolverKeys:
    """What the section of the solver holds besides the solver's own parameters."""

    name: str
    iterations: Count
    seed: Seed = 0


@parameters
class MeasureKeys:
    """The section of the measurements."""

    every: Literal["log"] | Count = "log"
    attack: dict[str, Any] = Field(default_factory=dict)
    final_attack: dict[str, Any] | None = None
