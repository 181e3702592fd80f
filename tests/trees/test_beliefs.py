"""Belief DAGs: flows are the mixtures of all pure strategies, whatever is forgotten."""

import itertools
import math
import tracemalloc
from typing import Any, Final

import numpy as np
import pytest
from scipy.sparse import csr_array

import hogeq
from hogeq.solvers import SOLVERS
from hogeq.solvers.dags import DagEngine, dag_engine
from hogeq.solvers.regret import RegretMinimiser
from hogeq.support.aliases import Floats, Ints
from hogeq.trees import beliefs, columns, restricted
from hogeq.trees.beliefs import build_belief_dag
from hogeq.trees.best_response import CONVERGED_GAP
from hogeq.trees.columns import solve_by_columns
from hogeq.trees.responses import LARGEST_GAP
from hogeq.trees.sequence_payoffs import stakes
from hogeq.trees.sequences import SequenceForm, sequence_form
from hogeq.trees.whole_dags import whole_dag
from tests.slow import mostly_slow
from tests.solvers.family import FAMILY
from tests.toys import Choice, tree_of
from tests.trees.random_games import infosets, random_game, value
from tests.trees.test_inflation import payoffs, payoffs_against

GAMES: Final = [
    root
    for root in (random_game(seed, 5) for seed in range(400))
    if all(len(infosets(root, seat)) <= 7 for seat in (0, 1))
]
FORGETS: Final = [
    root
    for root in GAMES
    if any(len(sequence_form(tree_of(root), seat).inflated.shared_rows) for seat in (0, 1))
]


def plans(form: SequenceForm) -> list[Any]:
    """Weights of sequences of every pure strategy, one after another."""
    rows = np.flatnonzero(form.tree.seat == form.player)
    strategy = np.eye(form.tree.num_actions)[np.zeros(form.tree.num_rows, int)]
    found = []
    for acts in itertools.product(*(range(form.tree.num_legal[row]) for row in rows)):
        strategy[rows] = np.eye(form.tree.num_actions)[[*acts]]
        found.append(form.realisation(strategy))
    return found


@pytest.mark.slow
def test_games_are_drawn_that_forget_more_than_inflation_gives_back() -> None:
    forms = [sequence_form(tree_of(root), seat) for root in FORGETS for seat in (0, 1)]
    assert len(FORGETS) > 150
    assert (
        sum(len(build_belief_dag(form).row_of_decision) > form.num_refined for form in forms) > 100
    )


def test_a_dag_that_is_too_large_leaves_the_sequence_form_as_it_was() -> None:
    form = sequence_form(hogeq.Game("3K4", teams="01/2").tree, 0)
    assert whole_dag(form, 1) is None
    assert whole_dag(form, 2) is None
    assert form.upper_bound(np.ones(form.num_sequences)) > 0.0
    assert whole_dag(form) is not None


@pytest.mark.parametrize("first", mostly_slow(range(0, len(FORGETS), 15), 0))
def test_the_value_is_that_of_the_matrix_of_all_pure_strategies(first: int) -> None:
    for root in FORGETS[first : first + 15]:
        tree, known = tree_of(root), value(payoffs(root))
        for method in ("dag", "columns"):
            solved = solve_by_columns(tree, 20.0, method)
            assert solved.is_proved
            assert solved.lower == pytest.approx(known, abs=1e-7)
            for player, one in enumerate(solved.strategies):  # by another way: the tree's own pass
                form = sequence_form(tree, 1 - player)
                won = max(plan @ payoffs_against(one, form) for plan in plans(form))
                won *= tree.scale
                assert won == pytest.approx(known if player else -known, abs=1e-7)


@pytest.mark.slow
def test_flows_of_pure_choices_are_pure_strategies_and_the_best_of_them_is_found() -> None:
    draw = np.random.default_rng(0)
    for root, seat in itertools.product(FORGETS[::3], (0, 1)):
        form = sequence_form(tree_of(root), seat)
        dag, every = build_belief_dag(form), plans(form)
        worth = draw.normal(size=len(every[0]))
        best, chosen = dag.respond(worth)
        assert best == pytest.approx(max(plan @ worth for plan in every))
        for _ in range(5):
            acts = draw.integers(form.tree.num_legal[form.original_row[dag.row_of_decision]])
            shares = np.zeros(dag.num_choices)
            shares[dag.choice_offsets[:-1] + acts] = 1.0
            plan = dag.plan_matrix @ dag.flow(shares)
            assert any(np.array_equal(plan, one) for one in every)
        mixed = dag.plan_matrix @ dag.flow(chosen)
        assert any(np.array_equal(mixed, one) for one in every)


def test_what_pure_strategies_span_is_a_part_of_the_whole() -> None:
    draw = np.random.default_rng(1)
    for root in FORGETS[::5]:
        form = sequence_form(tree_of(root), 0)
        pool = draw.integers(form.tree.num_legal, size=(3, form.tree.num_rows))
        pure = np.eye(form.tree.num_actions)[pool]
        part, whole = beliefs.spanned_dag(form, pure), build_belief_dag(form)
        worth = draw.normal(size=whole.plan_matrix.shape[0])
        of_pool = [form.realisation(one) @ worth for one in pure]
        assert max(of_pool) - 1e-12 <= part.respond(worth)[0] <= whole.respond(worth)[0] + 1e-12
        kept = draw.random(whole.num_choices) < 0.6
        kept[whole.choice_offsets[:-1] + draw.integers(np.diff(whole.choice_offsets))] = True
        small, places = whole.restrict(kept)
        flow = np.zeros(whole.num_choices)
        flow[places] = small.flow(small.choice_probabilities(np.ones(len(places))))
        np.testing.assert_allclose(whole.equations() @ flow, np.eye(1, 1 + whole.num_decisions)[0])
        small_plan = small.plan_matrix @ flow[places]
        np.testing.assert_allclose(small_plan, whole.plan_matrix @ flow)


def apart(group: Ints, below: Any) -> Ints:
    """Let every refined information set be a component of its own."""
    return np.arange(len(group))


def test_beliefs_that_fall_apart_too_early_give_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: rows of parts of a belief are then set twice, and the tests above must fail."""
    monkeypatch.setattr(beliefs, "_components", apart)
    draw, wrong = np.random.default_rng(0), 0
    for root in FORGETS[::3]:
        form = sequence_form(tree_of(root), 0)
        every = plans(form)
        worth = draw.normal(size=len(every[0]))
        wrong += (
            build_belief_dag(form).respond(worth)[0] > max(plan @ worth for plan in every) + 1e-6
        )
    assert wrong > 10


ORDERLESS: Final = Choice(  # player 1 says which pair of three is met: no order has A-loss recall
    1,
    9,
    (
        Choice(0, 1, (Choice(0, 2, (3.0, 0.0)), Choice(0, 2, (0.0, 1.0)))),
        Choice(
            1,
            8,
            (
                Choice(0, 2, (Choice(0, 3, (0.0, 2.0)), Choice(0, 3, (1.0, 4.0)))),
                Choice(0, 3, (Choice(0, 1, (1.0, 0.0)), Choice(0, 1, (2.0, 1.0)))),
            ),
        ),
    ),
)


def test_information_sets_in_no_order_have_no_dag_but_columns() -> None:
    tree = tree_of(ORDERLESS)
    assert sequence_form(tree, 0).inflated.rank_of_row is None
    with pytest.raises(ValueError, match=r"player 0 has a belief DAG .* in no order; allowed: col"):
        solve_by_columns(tree, 5.0, "dag")
    solved = solve_by_columns(tree, 5.0)
    assert solved.is_proved
    assert solved.lower == pytest.approx(value(payoffs(ORDERLESS)), abs=1e-9)


def test_a_dag_that_is_too_large_is_refused_before_it_is_built() -> None:
    form = sequence_form(tree_of(next(root for root in FORGETS)), 0)
    with pytest.raises(beliefs.TooLargeError, match="a belief DAG of more than 3 entries"):
        build_belief_dag(form, most=3)


@pytest.mark.slow
def test_no_step_of_a_dag_that_is_too_large_takes_more_than_it_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = sequence_form(hogeq.Game("liars_dice_ir").tree, 0)
    links, build = [0], beliefs._components

    def counted(group: Ints, below: csr_array) -> Ints:
        links.append(int(below.nnz))
        return build(group, below)

    monkeypatch.setattr(beliefs, "_components", counted)
    with pytest.raises(beliefs.TooLargeError):
        build_belief_dag(form, most=200_000)
    assert 1000 < max(links) <= 200_000


class Twin:
    """Regret matching at the decisions of both DAGs, by sums over all edges: slow, and plain."""

    def __init__(self, engine: DagEngine) -> None:
        self.engine = engine
        self.regrets, self.sums = np.zeros((2, *engine.shape))
        self.instant = np.zeros(engine.shape)

    def strategy(self, player: int, *, predictive: bool) -> Floats:
        rows = self.engine.seat_rows[player]
        regrets = self.regrets[rows] + (self.instant[rows] if predictive else 0.0)
        legal = self.legal(player)
        positive = np.maximum(regrets, 0.0) * legal
        total = positive.sum(axis=1, keepdims=True)
        uniform = legal / legal.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, positive / np.where(total > 0.0, total, 1.0), uniform)

    def legal(self, player: int) -> Any:
        """Actions that decisions have."""
        counts = np.diff(self.engine.dags[player].choice_offsets)
        return np.arange(self.engine.num_actions) < counts[:, None]

    def flow(self, player: int, strategy: Floats) -> Floats:
        """Solve the equations of flows whose choices keep to a strategy."""
        dag = self.engine.dags[player]
        passed = np.zeros((dag.num_choices, dag.num_choices))
        for source, target in zip(dag.edge_source, dag.edge_target, strict=True):
            for choice in range(dag.choice_offsets[target], dag.choice_offsets[target + 1]):
                passed[choice, source] += strategy[target, choice - dag.choice_offsets[target]]
        begin = np.eye(1, len(passed))[0]
        return np.asarray(np.linalg.solve(np.eye(len(passed)) - passed, begin))

    def iterate(self, solver: RegretMinimiser, number: int) -> None:
        engine, predictive = self.engine, solver.predictive
        for turn in ((0,), (1,)) if solver.alternating else ((0, 1),):
            played = [self.strategy(player, predictive=predictive) for player in (0, 1)]
            flows = [self.flow(player, one) for player, one in enumerate(played)]
            for player in turn:
                dag, rows = engine.dags[player], engine.seat_rows[player]
                plan = engine.dags[1 - player].plan_matrix @ flows[1 - player]
                payoffs = engine.payoffs.toarray()
                met = payoffs @ plan if player == 0 else -payoffs.T @ plan
                worth = dag.plan_matrix.T @ met / 2.0
                for decision in range(dag.num_decisions - 1, -1, -1):
                    first, end = dag.choice_offsets[decision : decision + 2]
                    now = worth[first:end] @ played[player][decision, : end - first]
                    worth[dag.edge_source[dag.edge_target == decision]] += now
                legal, (values, flow) = self.legal(player), np.zeros((2, *played[player].shape))
                values[legal], flow[legal] = worth[1:], flows[player][1:]
                now = (values * played[player]).sum(axis=1, keepdims=True)
                self.instant[rows] = (values - now) * legal
                regrets = self.regrets[rows] + self.instant[rows]
                if solver.plus:
                    regrets = np.maximum(regrets, 0.0)
                up, down = (
                    1.0 if power == np.inf else number**power / (number**power + 1.0)
                    for power in (solver.alpha, solver.beta)
                )
                self.regrets[rows] = regrets * np.where(regrets > 0.0, up, down)
                self.sums[rows] += number**solver.gamma * flow


@pytest.mark.parametrize("name", FAMILY)
def test_iterations_over_a_dag_are_those_of_the_formulas(name: str) -> None:
    for root in FORGETS[:40:10]:
        engine = dag_engine(tree_of(root))
        solver: Any = SOLVERS[name]()
        state, twin = solver.init(engine), Twin(engine)
        for number, many in ((1, 1), (2, 3)):  # some at once
            state, done = solver.iterate_by_loops(engine, state, many)
            assert done == many
            for one in range(number, number + many):
                twin.iterate(solver, one)
        np.testing.assert_allclose(state.regrets[0], twin.regrets, atol=1e-12)
        np.testing.assert_allclose(state.strategy_sum[0], twin.sums, atol=1e-12)


def test_dags_too_wide_for_a_table_leave_games_to_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for root in FORGETS[2:4]:
        monkeypatch.setattr("hogeq.solvers.dags.FIRST_SECONDS", 0.0)  # no columns before DAGs
        game = hogeq.Game(tree_of(root))
        usual = game.equilibrium(10.0)
        assert usual.method == "dag"
        monkeypatch.setattr("hogeq.trees.rows.MOST_CELLS", math.prod(game.engine.shape))
        found = game.equilibrium(10.0)
        monkeypatch.undo()
        assert found.method == "columns"
        assert (found.lower, found.upper) == pytest.approx((usual.lower, usual.upper))


def test_regret_over_a_dag_comes_to_the_value() -> None:
    """Most of these games have no equilibrium in policies; the mixture converges."""
    for root in FORGETS[:12:4]:
        game = hogeq.Game(tree_of(root))
        for variant in ("dcfr", "pcfr_plus"):
            mixture = game.solve("dag_cfr", 300, variant=variant).mixture
            assert mixture is not None
            found = game.exploitability(mixture)
            assert found.upper < 0.02


@pytest.mark.slow
def test_a_part_of_the_strategies_is_told_from_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two strategies of many: what they secure is found by the matrix of all pure responses."""
    monkeypatch.setattr(restricted, "MOST_DRAWN", 2)
    told = 0
    for root, method in itertools.product(FORGETS[:36:3], ("dag", "cfr")):
        tree, known = tree_of(root), value(payoffs(root))
        solved = hogeq.Game(tree).equilibrium(0.2, method)
        assert solved.lower - 1e-7 <= known <= solved.upper + 1e-7
        if solved.secured is None:
            assert len(solved.rows()) == 2
            continue
        won = []
        for player, one in enumerate(solved.strategies):
            form = sequence_form(tree, 1 - player)
            best = max(plan @ payoffs_against(one, form) for plan in plans(form))
            won.append(best * tree.scale * (1 if player else -1))
        assert solved.secured == pytest.approx(won, abs=1e-9)
        if solved.is_proved:
            assert won[1] - won[0] <= LARGEST_GAP * stakes(tree)
            assert solved.lower >= solved.secured[0]
            assert solved.upper <= solved.secured[1]
        lost = max(solved.lower - solved.secured[0], solved.secured[1] - solved.upper)
        told += not solved.is_proved and lost > 1e-6
        assert [name for name, *_ in solved.rows()][2:] == ["lower, given", "upper, given"]
        assert "proved" not in str(solved.rows())
        assert {"secured", "shares"} < solved.to_json().keys()
    assert told > 3


@pytest.mark.slow
def test_a_program_that_takes_too_long_leaves_half_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Kuhn poker is worth -1/18 (Kuhn 1950); nobody forgets there, so `auto` is one program."""
    monkeypatch.setattr(columns, "solve_restricted", lambda *_: None)
    solved = hogeq.Game("kuhn_poker").equilibrium(2.0)
    assert solved.method == "cfr"
    assert solved.lower <= -1 / 18 <= solved.upper <= solved.lower + 0.02


def test_methods_have_names() -> None:
    game = hogeq.Game(tree_of(FORGETS[0]))
    found = {method: game.equilibrium(0.5, method) for method in ("dag", "columns", "cfr", "auto")}
    assert all(found[name].method == name for name in ("dag", "columns", "cfr"))
    assert found["auto"].method in {"columns", "dag"}  # by the time that the first takes
    known = value(payoffs(FORGETS[0]))
    assert all(one.lower - 1e-9 <= known <= one.upper + 1e-9 for one in found.values())
    with pytest.raises(ValueError, match="method: got 'simplex'; allowed: one of auto, dag"):
        game.equilibrium(1.0, "simplex")
    assert CONVERGED_GAP < 1e-8


class Linked(hogeq.GameRules):
    """Two rows of one rank, b and d, that a belief holds together through a row of another rank."""

    MOVES: Final = {
        "": (1, "z", 3),
        "0": (0, "a", 1),
        "1": (hogeq.CHANCE, None, 2),
        "2": (0, "d", 2),
        "10": (0, "b", 1),
        "11": (0, "a", 1),
        "100": (0, "c", 2),
        "110": (0, "b", 1),
        "20": (0, "c", 2),
    }

    def initial(self) -> str:
        return ""

    def to_move(self, state: str) -> int:
        return self.MOVES[state][0] if state in self.MOVES else hogeq.END

    def actions(self, state: str) -> range:
        return range(self.MOVES[state][2])

    def next(self, state: str, action: int) -> str:
        return f"{state}{action}"

    def knows(self, state: str, player: int) -> str | None:  # noqa: ARG002 - one name for both
        return self.MOVES[state][1]

    def payoffs(self, state: str) -> tuple[float, float]:
        return (-1.0, 1.0) if state == "00" else (0.0, 0.0)


@pytest.mark.parametrize("method", ["auto", "dag", "columns", "cfr"])
def test_a_belief_sets_one_of_two_rows_of_one_rank(method: str) -> None:
    solved = hogeq.Game(Linked()).equilibrium(2.0, method)
    near = 1e-6 if method == "cfr" else 1e-9  # which averages, as long as there is time
    assert solved.lower == pytest.approx(-1.0, abs=near)
    assert solved.upper == pytest.approx(-1.0, abs=near)


def test_many_strategies_of_many_choices_take_memory_by_what_they_play() -> None:
    """A table of choices and strategies would have 50 million entries."""
    actions, num_strategies = 50_000, 1000
    ends = [Choice(1, 0, (0.0, 1.0)) for _ in range(2)]
    wide = Choice(0, 0, (*ends, *np.linspace(0.0, 1.0, actions - 2).tolist()))
    tree = tree_of(wide)
    form = sequence_form(tree, 0)
    actions_played = np.random.default_rng(0).integers(actions, size=num_strategies)
    tracemalloc.start()
    dag = build_belief_dag(form, actions_played[:, None])
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 30e6
    allowed = np.flatnonzero(dag.allowed_choices)
    np.testing.assert_array_equal(allowed, np.append(0, 1 + np.unique(actions_played)))


def test_a_draw_of_many_strategies_takes_memory_by_what_they_play() -> None:
    """A table of sequences and strategies would have 10 million entries of 8 bytes."""
    actions, num_strategies = 50_000, 200
    ends = [Choice(1, 0, (0.0, 1.0)) for _ in range(2)]
    wide = Choice(0, 0, (*ends, *np.linspace(0.0, 1.0, actions - 2).tolist()))
    tree = tree_of(wide)
    form = sequence_form(tree, 0)
    strategies = np.zeros((num_strategies, *tree.shape))
    strategies[np.arange(num_strategies), 0, np.arange(num_strategies)] = 1.0
    tracemalloc.start()
    dag = beliefs.mixture_dag(form, strategies)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 10e6
    assert dag.plan_matrix.shape == (1 + actions, 1 + num_strategies)
    assert dag.plan_matrix.nnz == 2 * num_strategies  # the empty sequence, and an action
