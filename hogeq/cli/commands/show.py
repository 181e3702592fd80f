"""Pictures of strategies: show."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import (
    check_output,
    expect_kernels,
    load_any,
    load_game,
    load_strategy,
    title_of,
)
from hogeq.cli.shell import (
    BadInputError,
    DigitsOption,
    JsonOption,
    RulesOption,
    TrustOption,
    emit,
    refusing,
    table,
)
from hogeq.support.numbers import DIGITS, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.model.game import HogEngine
    from hogeq.strategies.mixtures import Mixture

ROLLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # one letter a roll


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(show)


def show(
    strategy: Annotated[str, typer.Argument(metavar="S", help="A strategy: name, file or run.")],
    rules: RulesOption = "su20",
    out: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw to a file. [text in the terminal]")
    ] = None,
    minus: Annotated[
        str | None, typer.Option(metavar="T", help="Show the dice of S less those of T.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Show win probabilities when both play S.")
    ] = False,
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Picture of a strategy: the dice it rolls at every position.

    Of a mixture: its parts, and where they differ.
    """
    check_output(out, (".png",))
    if values and minus is not None:
        raise BadInputError("--values and --minus exclude each other")
    if out is None and (values or minus is not None):
        raise BadInputError(
            f"{'--values' if values else '--minus'}: needs --out FILE.png to draw to"
        )
    game = load_game(rules)
    needed = ("values", "reach", "hidden states") if values else ()
    expect_kernels(game, *needed, strategies=[strategy, minus])
    one = load_any(strategy, game, trust)
    about = title_of(rules, game.rules)
    from hogeq.strategies.mixtures import Mixture

    if out is not None and minus is None and (isinstance(one, Mixture) or one.ndim == 3):
        expect_kernels(game, "reach", "hidden states")
    if isinstance(one, Mixture):
        if values or minus is not None:
            raise BadInputError(
                f"{'--values' if values else '--minus'}: allowed for a matrix or a policy, not for "
                f"{strategy}, a mixture; hogeq export --part 1 writes a part of it"
            )
        emit(*_of_mixture(game, one, out, strategy, about, digits), as_json)
        return
    two = None if minus is None else load_strategy(minus, game, trust)
    if out is not None:
        _draw(game, one, two, values, out, (strategy, minus or ""), about)
    from hogeq.strategies.usual import positions_by_roll, usual_rolls

    counts = dict(enumerate(positions_by_roll(one, game.num_actions)))
    data = {
        "rules": game.rules.name,
        "strategy": strategy,
        "kind": "policy" if one.ndim == 3 else "matrix",
        "positions_by_roll": counts,
        "out": None if out is None else str(out),
    }
    if out is not None:
        text = f"drawn to {out}"
    else:
        kind = ", most probable roll" if one.ndim == 3 else ""
        share = [
            (roll, count, percent(count / game.goal**2, digits)) for roll, count in counts.items()
        ]
        text = "\n".join(
            [
                f"{strategy}, {about}{kind}",
                "own score upward, opponent's score to the right",
                "",
                _map(usual_rolls(one)),
                "",
                table(share, ("dice", "positions", "share"), left=0),
            ]
        )
    emit(data, text, as_json)


def _of_mixture(
    game: "HogEngine", mixture: "Mixture", out: Path | None, name: str, about: str, digits: int
) -> tuple[dict[str, Any], str]:
    """Show a mixture: the JSON object and the text."""
    from hogeq.strategies.spread import entropy, spread
    from hogeq.strategies.usual import usual_rolls

    found = spread(mixture, game.num_actions)
    policies = mixture.policies(game.num_actions)
    usual = policies.argmax(axis=3)
    differ = (usual != usual[0]).any(axis=0)
    inside = entropy(policies).mean(axis=(1, 2))
    apart = [float(abs(policy - found.mean).sum(axis=2).mean() / 2.0) for policy in policies]
    if out is not None:
        from hogeq import figures
        from hogeq.evaluation.hidden import reach

        met = reach(game, found.mean).sum(axis=2)
        with refusing():
            figures.mixture(
                mixture.weights,
                usual,
                found.total,
                found.drawn,
                out,
                f"{name}, {about}",
                game.num_actions,
                met,
            )
    data = {
        "rules": game.rules.name,
        "strategy": name,
        "kind": "mixture",
        "of": mixture.kind,
        "parts": [
            {"weight": weight, "entropy": bits, "distance": distance}
            for weight, bits, distance in zip(
                mixture.weights.tolist(), inside.tolist(), apart, strict=True
            )
        ],
        "entropy": float(found.total.mean()),
        "entropy_of_draw": float(found.drawn.mean()),
        "positions": game.goal**2,
        "positions_where_parts_differ": int(differ.sum()),
        "out": None if out is None else str(out),
    }
    if out is not None:
        return data, f"drawn to {out}"
    rows = [
        (number, percent(weight, digits), f"{bits:.3f}", f"{distance:.3f}")
        for number, (weight, bits, distance) in enumerate(
            zip(mixture.weights.tolist(), inside.tolist(), apart, strict=True), 1
        )
    ]
    header = ("part", "drawn", "entropy of its rolls, bits", "distance from the mean")
    entropies = (
        f"entropy of a roll, mean over positions: {found.total.mean():.3f} bits, "
        f"of which the draw decides {found.drawn.mean():.3f}"
    )
    differing = (
        f"the most probable rolls of the parts differ at {differ.sum()} of {differ.size} positions"
    )
    lines = [
        f"{name}, {about}, a mixture of {len(mixture)} {mixture.kind}: one is drawn before a game",
        "",
        table(rows, header, left=0),
        "",
        entropies,
        differing,
        "",
        "most probable roll of the mean; - where the parts do not agree on theirs",
        "own score upward, opponent's score to the right",
        "",
        _map(usual_rolls(found.mean), differ),
    ]
    return data, "\n".join(lines)


def _draw(
    game: "HogEngine",
    one: "NDArray[Any]",
    two: "NDArray[Any] | None",
    values: bool,
    out: Path,
    names: tuple[str, str],
    about: str,
) -> None:
    from hogeq import figures
    from hogeq.evaluation.hidden import mean_values, reach

    title = f"{names[0]}, {about}"
    with refusing():
        if two is not None:
            figures.difference(one, two, out, f"{names[0]} less {names[1]}, {about}", names)
        elif values:
            figures.values(mean_values(game, one), out, title)
        elif one.ndim == 3:
            figures.policy(one, out, title, reach(game, one).sum(axis=2))
        else:
            figures.matrix(one, out, title, game.num_actions)


def _map(likely: "NDArray[Any]", hidden: "NDArray[Any] | None" = None) -> str:
    """One letter a position, the highest own score on top; a dash where `hidden`."""
    width = len(str(len(likely) - 1))
    letters = [[ROLLS[roll] for roll in row] for row in likely.tolist()]
    for own, other in () if hidden is None else zip(*hidden.nonzero(), strict=True):
        letters[own][other] = "-"
    rows = [f"{own:{width}} {''.join(letters[own])}" for own in reversed(range(len(likely)))]
    scale = "".join(f"{other:<10}" for other in range(0, len(likely), 10))
    return "\n".join([*rows, f"{'':{width}} {scale}".rstrip()])
