"""What the course's sample strategies win against six dice all the time, term by term.

    python experiments/samples.py

prints the table as Markdown and writes results/samples.md. Win rates are exact.
"""

from collections.abc import Iterator

from common import arguments, publish

from hogeq.baselines.registry import builtin
from hogeq.baselines.simple import SAMPLES
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import compile_game
from hogeq.rules import EDITIONS

BASELINE = "always_roll:6"
"""What the project compares its strategies with."""


def rows() -> Iterator[list[object]]:
    """Give the line of every sample."""
    known = {edition: samples for edition, samples in SAMPLES.items() if edition in EDITIONS}
    for edition, samples in known.items():
        game = compile_game(EDITIONS[edition])
        against = builtin(BASELINE, game)
        for sample in samples:
            found = win_rate(game, builtin(sample, game), against)
            yield [edition, f"`{sample}`", *(f"{rate:.12f}" for rate in found)]


def main() -> None:
    """Print and write the table."""
    given = arguments(__doc__)
    header = ["edition", "sample", f"against `{BASELINE}`", "moving first", "moving second"]
    publish(given.out, "samples", header, rows())


if __name__ == "__main__":
    main()
