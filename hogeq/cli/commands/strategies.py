"""The strategies that have a name: strategies."""

from hogeq.cli.result import Result, Table


def strategies() -> Result:
    """List the strategies that have a name."""
    from hogeq.baselines.registry import names

    known = names()
    return Result({"strategies": known}, [Table(list(known.items()), left=2)])
