"""Pictures of strategies: show."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.inputs import Chosen
from hogeq.cli.options import PICTURE, StrategyArgument, option
from hogeq.cli.result import Result, Table, Text, percent
from hogeq.cli.shell import refusing
from hogeq.support.messages import BadInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.strategies.strategy import Strategy

ROLLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # one letter a roll

AXES = "own score upward, opponent's score to the right"


def show(
    strategy: StrategyArgument,
    game: Chosen,
    out: Annotated[
        Path | None, option("Draw to a file. [text in the terminal]", "PNG"), PICTURE
    ] = None,
    minus: Annotated[str | None, option("Show the dice of S less those of T.", "T")] = None,
    values: Annotated[
        bool, option("Show win probabilities when both play S.", name="--values")
    ] = False,
) -> Result:
    """Picture of a strategy: the dice it rolls at every position.

    Of a mixture: its components, and where they differ.
    """
    if values and minus is not None:
        raise BadInputError("--values and --minus exclude each other")
    kind = "--values" if values else "--minus" if minus is not None else ""
    if out is None and kind:
        raise BadInputError(f"{kind}: needs --out FILE.png to draw to")
    game.load(strategies=[strategy, minus])
    if values:
        game.expect("values", "reach", "hidden states")
    one = game.strategy(strategy)
    if out is not None and minus is None and one.kind != "matrix":
        game.expect("reach", "hidden states")
    if one.kind == "mixture":
        if kind:
            raise BadInputError(
                f"{kind}: allowed for a matrix or a policy, not for {strategy}, a mixture; "
                "hogeq export --part 1 writes a component of it"
            )
        return _of_mixture(game, one, out, strategy)
    if out is not None:
        two = None if minus is None else game.table(minus)
        _draw(game, one, two, values, out, (strategy, minus or ""))
    rolls = range(game.engine.num_actions)
    counts = {roll: int((one.likeliest == roll).sum()) for roll in rolls}
    data = {
        "rules": game.name,
        "strategy": strategy,
        "kind": one.kind,
        "positions_by_roll": counts,
        "out": out,
    }
    if out is not None:
        return Result(data, [f"drawn to {out}"])
    most = ", most probable roll" if one.kind == "policy" else ""
    rows = [(roll, count, percent(count / game.rules.size**2)) for roll, count in counts.items()]
    heading = f"{strategy}, {game.title}{most}"
    shares = Table(rows, ("dice", "positions", "share"), left=0)
    return Result(data, [heading, AXES, "", *_map(one.likeliest), "", shares])


def _of_mixture(game: Chosen, strategy: "Strategy", out: Path | None, name: str) -> Result:
    from hogeq.evaluation.mixtures import entropy, spread
    from hogeq.strategies.arrays import one_hot

    engine, weights = game.engine, strategy.weights
    apart = spread(strategy)
    policies, of = strategy.components, "policies"
    if strategy.is_pure:
        policies, of = one_hot(policies, engine.num_actions), "matrices"
    likeliest = policies.argmax(axis=3)
    differ = (likeliest != likeliest[0]).any(axis=0)
    parts = [
        {
            "weight": weight,
            "entropy": float(entropy(policy).mean()),
            "distance": float(abs(policy - apart.mean).sum(axis=2).mean() / 2.0),
        }
        for weight, policy in zip(weights.tolist(), policies, strict=True)
    ]
    data = {
        "rules": game.name,
        "strategy": name,
        "kind": "mixture",
        "of": of,
        "parts": parts,
        "entropy": float(apart.total.mean()),
        "entropy_of_draw": float(apart.drawn.mean()),
        "positions": engine.goal**2,
        "positions_where_parts_differ": int(differ.sum()),
        "out": out,
    }
    if out is not None:
        from hogeq import figures
        from hogeq.evaluation.hidden import reach

        met = reach(engine, apart.mean).sum(axis=2)
        title, rolls = f"{name}, {game.title}", engine.num_actions
        figures.mixture(weights, likeliest, apart.total, apart.drawn, out, title, rolls, met)
        return Result(data, [f"drawn to {out}"])
    rows = [
        (number, percent(part["weight"]), f"{part['entropy']:.3f}", f"{part['distance']:.3f}")
        for number, part in enumerate(parts, 1)
    ]
    header = ("component", "drawn", "entropy of its rolls, bits", "distance from the mean")
    text: Text = [
        (f"{name}, {game.title}, a mixture of {len(weights)} {of}: one is drawn before a game"),
        "",
        Table(rows, header, left=0),
        "",
        (
            f"entropy of a roll, mean over positions: {data['entropy']:.3f} bits, "
            f"of which the draw decides {data['entropy_of_draw']:.3f}"
        ),
        (
            f"the most probable rolls of the components differ at {differ.sum()} of {differ.size} "
            "positions"
        ),
        "",
        "most probable roll of the mean; - where the components do not agree on theirs",
        AXES,
        "",
        *_map(apart.mean.argmax(axis=2), differ),
    ]
    return Result(data, text)


def _draw(
    game: Chosen,
    one: "Strategy",
    two: "NDArray[Any] | None",
    values: bool,
    out: Path,
    names: tuple[str, str],
) -> None:
    from hogeq import figures
    from hogeq.evaluation.hidden import mean_values, reach

    title = f"{names[0]}, {game.title}"
    with refusing():
        if two is not None:
            figures.difference(
                one.array, two, out, f"{names[0]} less {names[1]}, {game.title}", names
            )
        elif values:
            figures.values(mean_values(game.engine, one), out, title)
        elif one.kind == "policy":
            figures.policy(one.array, out, title, reach(game.engine, one).sum(axis=2))
        else:
            figures.matrix(one.array, out, title, game.engine.num_actions)


def _map(likely: "NDArray[Any]", hidden: "NDArray[Any] | None" = None) -> list[str]:
    """One letter a position, the highest own score on top; a dash where `hidden`."""
    width = len(str(len(likely) - 1))
    letters = [[ROLLS[roll] for roll in row] for row in likely.tolist()]
    for own, other in () if hidden is None else zip(*hidden.nonzero(), strict=True):
        letters[own][other] = "-"
    rows = [f"{own:{width}} {''.join(letters[own])}" for own in reversed(range(len(likely)))]
    scale = "".join(f"{other:<10}" for other in range(0, len(likely), 10))
    return [*rows, f"{'':{width}} {scale}".rstrip()]
