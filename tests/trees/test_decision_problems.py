"""Decision problems by their names: the benchmark's instances, their best payoffs, refusals."""

import json
from pathlib import Path

import pytest

import hogeq
from hogeq.benchmark.catalogue import FAMILIES, catalogue, seeded
from tests.slow import mostly_slow

RESULTS = Path(__file__).parents[2] / "results" / "benchmark"
LARGE = {"trials-5x3x3", "interview-4x5x3", "interview-6x5x3", "interview-16x4x4"}


@pytest.mark.parametrize("share", mostly_slow(range(12), 5))
def test_instances_are_those_of_the_results(share: int) -> None:
    first = {name: entry for name, entry in seeded().items() if name.endswith(("-1", "-201"))}
    for entries, folder in ((catalogue(), RESULTS), (first, RESULTS / "seeds")):
        known = json.loads((folder / "known.json").read_text())["instances"]
        for name, entry in [*entries.items()][share::12]:
            if entry.family in FAMILIES and name not in LARGE:
                assert entry.make().digest == known[name]["instance"], name


@pytest.mark.parametrize(
    ("game", "instance"),
    [
        ("trials(rounds=3,options=4,scenes=3)", "trials-3x4x3"),
        ("interview(kinds=3,rounds=3,questions=3)", "interview-3x3x3"),
        ("random_tree(depth=5,options=3,rows=4)", "random-5x3x4"),
    ],
)
def test_an_attack_has_the_best_payoff_known(game: str, instance: str) -> None:
    known = json.loads((RESULTS / "known.json").read_text())["instances"][instance]
    problem = hogeq.Game(game)
    found = problem.attack("uniform", hogeq.Budget(kicks=0))
    assert found.seats[0] == pytest.approx(known["value"], abs=1e-9)
    assert found.is_proved
    assert problem.value(found.strategy).first == pytest.approx(found.seats[0], abs=1e-12)


@pytest.mark.parametrize(
    "game",
    [
        "trials(rounds=9,options=3,scenes=3)",
        "interview(kinds=64,rounds=8)",
        "random_tree(depth=64,options=64)",
    ],
)
def test_trees_that_are_too_large_are_refused_before_they_are_drawn(game: str) -> None:
    with pytest.raises(hogeq.HogeqError, match="has more than 20,000,000 nodes; allowed: smaller"):
        hogeq.Game(game)
