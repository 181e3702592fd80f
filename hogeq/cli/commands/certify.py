"""Whether a certificate is true: certify."""

from pathlib import Path
from typing import Annotated

from hogeq.cli.inputs import Chosen, reading
from hogeq.cli.options import TrustOption, argument, option
from hogeq.cli.result import Result, Table, percent
from hogeq.cli.shell import BadInputError, refusing
from hogeq.support.numbers import counted

ROUNDING = 1e-9  # what a bound may differ by where processors add up differently


def certify(
    file: Annotated[Path, argument("FILE", "A certificate, of hogeq attack --certificate.")],
    of: Annotated[
        str | None,
        option("Refuse a certificate of another strategy than this one.", metavar="S"),
    ] = None,
    trust: TrustOption = False,
) -> Result:
    """Check a certificate: prove again that nothing wins more from a strategy than it says.

    The proof is made anew from the steps in the file, without the search that found them and
    without the kernels that measure attacks. A certificate that says less than its steps prove, or
    another full-memory bound than the game has, is refused.
    """
    from hogeq.search.certificate import as_proved, check_certificate, is_about, read_certificate
    from hogeq.strategies.strategy import Mixture
    from hogeq.support.progress import show_progress

    with refusing(), reading(file):
        given = read_certificate(file)
    game = Chosen.of(given.rules, trust)
    game.expect("certificates")
    if of is not None and not is_about(given, as_proved(game.engine, game.any(of))):
        raise BadInputError(f"{file}: is about another strategy than {of}")
    with refusing(), show_progress():
        proved = check_certificate(given)
    if proved.bound > given.bound + ROUNDING:
        raise BadInputError(
            f"{file}: bound: got {given.bound!r}; its steps prove {proved.bound!r} and no less"
        )
    if abs(proved.full_memory - given.full_memory) > ROUNDING:
        raise BadInputError(
            f"{file}: full_memory: got {given.full_memory!r}; it is {proved.full_memory!r}"
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
        ("certified", percent(proved.bound), "nothing that forgets wins more"),
        ("bound", percent(proved.full_memory), f"best responder that {knows}"),
    ]
    proof = f"{file}, {given.rules.name}: true, by {counted(len(given.steps), 'step')}"
    return Result(data, [proof, "", Table(rows, left=3)])
