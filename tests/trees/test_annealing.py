"""Annealing over pure strategies: its kernel and a slow twin, invariants, and best responses."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.kernels import row_search
from hogeq.search.results import Budget
from hogeq.support.deadline import FOREVER, PACE, Deadline
from hogeq.trees import annealing
from hogeq.trees.decision_problems import Interview, RandomTree, Trials
from hogeq.trees.rules import from_rules
from hogeq.trees.sequences import SequenceForm, sequence_form

TREES = {
    "random": from_rules(RandomTree(4, 3, 3, 5)),
    "wide": from_rules(RandomTree(3, 2, 8, 2)),
    "interview": from_rules(Interview(3, 2, 3, 5)),
    "trials": from_rules(Trials(3, 3, 2, 5)),
}


def posed(name: str) -> tuple[SequenceForm, Any]:
    """Inflated sequences of the player of a tree, and payoffs against nature."""
    form = sequence_form(TREES[name], 0)
    return form.inflated, form.payoffs_against(TREES[name].uniform())


def twin(
    form: SequenceForm, payoffs: Any, drawn: Any, between: Any, chosen: Any, best: Any
) -> float:
    """Anneal as the kernel does, each strategy being valued by all its sequences."""
    rows = form.treeplex.policy_row

    def worth(acts: Any) -> float:
        full = np.zeros(form.tree.num_rows, np.int64)
        full[rows] = acts
        return float(form.pure_realisation(full) @ payoffs)

    value, highest = worth(chosen), worth(best)
    for step, (one, act, two, other, accept) in enumerate(drawn):
        share = step / len(drawn)
        temperature = between[0] ** (1 - share) * between[1] ** share
        changed = chosen.copy()
        first, second = int(one * len(rows)), int(two * 2 * len(rows))
        changed[first] = int(act * form.treeplex.num_legal[first])
        if second < len(rows):
            changed[second] = int(other * form.treeplex.num_legal[second])
        now = worth(changed)
        if now >= value or accept < np.exp((now - value) / temperature):
            chosen[:], value = changed, now
            if value > highest:
                best[:], highest = chosen, value
    return highest


@pytest.mark.parametrize("name", TREES)
def test_the_kernel_walks_as_its_twin(name: str) -> None:
    form, payoffs = posed(name)
    random = np.random.default_rng(3)
    payoffs = np.round(payoffs * 2.0**20) / 2.0**20  # so that any order has the same sum
    start = random.integers(form.tree.num_legal)[form.treeplex.policy_row]
    walks = [[start.copy(), start.copy()] for _ in range(2)]
    drawn, between = random.random((400, 5)), np.array([0.05, 0.002])
    stack = np.zeros(form.num_refined + 1, np.int64)
    found = row_search.anneal(form.treeplex, payoffs, drawn, between, *walks[0], stack)
    assert found == twin(form, payoffs, drawn, between, *walks[1])
    for ours, theirs in zip(*walks, strict=True):
        assert ours.tolist() == theirs.tolist()
    assert walks[0][0].tolist() != start.tolist()


@pytest.mark.parametrize("name", TREES)
def test_no_annealing_ends_below_its_start_or_above_the_best(name: str) -> None:
    form, payoffs = posed(name)
    best = -np.inf
    if np.prod(form.tree.num_legal.astype(float)) < 2e5:
        plans = product(*map(range, form.tree.num_legal.tolist()))
        best = max(float(form.pure_realisation(np.array(one)) @ payoffs) for one in plans)
    for seed in range(3):
        random = np.random.default_rng(seed)
        start = random.integers(form.tree.num_legal)
        for steps in (0, 10, 40_000):
            acts = annealing.anneal_strategy(form, payoffs, start, steps, random)
            value = float(form.pure_realisation(acts) @ payoffs)
            assert value >= float(form.pure_realisation(start) @ payoffs) - 1e-12
            assert value <= form.upper_bound(payoffs)
        if best > -np.inf:
            assert value == pytest.approx(best, abs=1e-9)


def test_time_ends_a_walk_and_the_same_seed_walks_alike() -> None:
    form, payoffs = posed("random")
    start = np.zeros(form.tree.num_rows, np.int64)
    found = [
        annealing.anneal_strategy(form, payoffs, start, 40_000, np.random.default_rng(1), deadline)
        for deadline in (FOREVER, FOREVER, Deadline(0.0))
    ]
    assert found[0].tolist() == found[1].tolist()
    best, begun = (float(form.pure_realisation(acts) @ payoffs) for acts in (found[2], start))
    assert best >= begun
    assert annealing.walk_length(form, start) < form.num_refined


def test_no_slice_is_begun_that_should_not_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    form, payoffs = posed("random")
    start, slices = np.zeros(form.tree.num_rows, np.int64), []
    anneal = SequenceForm.anneal

    def counted(form: SequenceForm, *given: Any) -> None:
        slices.append(given)
        anneal(form, *given)

    monkeypatch.setattr(SequenceForm, "anneal", counted)
    needed = annealing.SLICE * annealing.walk_length(form, start) / annealing.WALKED / PACE
    for seconds, number in ((0.9 * needed, 0), (1.1 * needed, 3)):
        slices.clear()
        still = Deadline(seconds, lambda: 0.0)
        annealing.anneal_strategy(form, payoffs, start, 40_000, np.random.default_rng(1), still)
        assert len(slices) == number


def test_an_attack_begins_its_proof_with_what_was_annealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many shared rows an attack alone finds less."""
    game = hogeq.Game(from_rules(RandomTree(6, 2, 24, 1)))
    budget = Budget(starts=1, kicks=5, exact_seconds=0.0)
    found = game.attack("uniform", budget)
    monkeypatch.setattr(annealing, "WORK", 0)
    without = game.attack("uniform", budget)
    assert without.value + 1e-3 < found.value <= found.bound
    assert game.value(found.strategy, "uniform").first == pytest.approx(found.seats[0])
