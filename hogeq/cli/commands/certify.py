"""Whether a certificate is true: certify."""

from pathlib import Path
from typing import Annotated

import typer

from hogeq.cli.inputs import expect_kernels, load_any, reading
from hogeq.cli.shell import (
    BadInputError,
    DigitsOption,
    JsonOption,
    TrustOption,
    emit,
    refusing,
    table,
)
from hogeq.cli.startup import load_numba_without_blas
from hogeq.support.numbers import DIGITS, counted, percent

ROUNDING = 1e-9  # what a bound may differ by where processors add up differently


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(certify)


def certify(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A certificate, of hogeq attack --certificate."),
    ],
    of: Annotated[
        str | None,
        typer.Option(metavar="S", help="Refuse a certificate of another strategy than this one."),
    ] = None,
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Check a certificate: prove again that nothing wins more from a strategy than it says.

    The proof is made anew from the steps in the file, without the search that found them and
    without the kernels that measure attacks. A certificate that says less than its steps prove is
    refused.
    """
    load_numba_without_blas()
    from hogeq.model.game import compile_game
    from hogeq.search.certificate import (
        as_proved,
        check_certificate,
        is_about,
        read_certificate,
    )
    from hogeq.strategies.mixtures import Mixture
    from hogeq.support.progress import show_progress

    with refusing(), reading(file):
        given = read_certificate(file)
    with refusing():
        game = compile_game(given.rules)
    expect_kernels(game, "certificates")
    if of is not None and not is_about(given, as_proved(game, load_any(of, game, trust))):
        raise BadInputError(f"{file}: is about another strategy than {of}")
    with refusing(), show_progress():
        proved = check_certificate(given)
    if proved.bound > given.bound + ROUNDING:
        raise BadInputError(
            f"{file}: bound: got {given.bound!r}; its steps prove {proved.bound!r} and no less"
        )
    data = {
        "rules": given.rules.name,
        "file": str(file),
        "bound": proved.bound,
        "full_memory": proved.full_memory,
        "steps": len(given.steps),
    }
    drawn = isinstance(given.strategy, Mixture)
    knows = "is told the draw as well" if drawn else "remembers everything"
    rows = [
        ("certified", percent(proved.bound, digits), "nothing that forgets wins more"),
        ("bound", percent(proved.full_memory, digits), f"best responder that {knows}"),
    ]
    text = f"{file}, {given.rules.name}: true, by {counted(len(given.steps), 'step')}\n\n"
    emit(data, text + table(rows, left=3), as_json)
