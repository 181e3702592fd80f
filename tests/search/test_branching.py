"""Best responses by branch and bound: against all matrices, the twin's, and in fractions."""

from fractions import Fraction
from itertools import count, product
from typing import Any

import numpy as np
import pytest

from hogeq.graph.hog import of_hog
from hogeq.kernels import forgetting
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.rules.turn import denominator
from hogeq.search import branching
from hogeq.search.branching import ResponseGraph, ResponseProblem, Status
from hogeq.search.folding import folded
from hogeq.search.rationals import ExactStates, exact_kuhn, to_fractions
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline
from hogeq.trees.decision_problems import RandomTree
from hogeq.trees.graphs import of_tree
from hogeq.trees.rules import from_rules
from tests.search.games import TINY, best_response, random_policy, small
from tests.toys import Choice, tree_of
from tests.twin import Play, every_matrix_wins


def graph_of(engine: Any) -> ResponseGraph:
    uniform = np.full(engine.shape, 1.0 / engine.num_actions)
    return ResponseGraph.of(of_hog(engine.rules).against(uniform))


def proved(problem: Any, start: float = 0.0, is_priced: bool = True) -> tuple[float, Any]:
    """Raise a target until it is closed."""
    best = start
    while (
        search := problem.branch_and_bound(best + 1e-11, is_priced=is_priced)
    ).status == Status.FOUND:
        assert search.value > best
        best = search.value
    return best, search


@pytest.mark.parametrize("parts", TINY.values(), ids=TINY)
def test_no_matrix_wins_more(parts: dict[str, Any]) -> None:
    game = compile_game(rules_from(parts))
    graph = graph_of(game)
    for seed in range(3):
        policy = random_policy(game, seed).policy
        problem = graph.against(np.ones(1), policy.reshape(1, -1, game.num_actions))
        best, search = proved(problem)
        rates = every_matrix_wins(Play(game.rules), policy)[2]
        assert best == pytest.approx(rates.max(), abs=1e-12)
        assert rates.max() <= search.bound <= rates.max() + 2e-11


@pytest.mark.parametrize("edition", ["su20", "su21", "fa18", "fa19", "fa13"])
def test_the_twin_finds_the_same(edition: str) -> None:
    game = small(7, 2, edition)
    policy = random_policy(game, 1)
    table = policy.policy.reshape(1, -1, game.num_actions)
    problem = graph_of(game).against(np.ones(1), table)
    assert proved(problem)[0] == pytest.approx(best_response(game, policy).win_rate, abs=1e-10)


def test_a_mixture_is_not_told_to_the_responder() -> None:
    game = small(6, 2)
    tables = np.stack([random_policy(game, seed).policy for seed in range(3)])
    tables = tables.reshape(3, -1, game.num_actions)
    weights, graph = np.array([0.5, 0.25, 0.25]), graph_of(game)
    problem = graph.against(weights, tables)
    best, _ = proved(problem)
    response, value = problem.ascend([])
    assert value <= best + 1e-12
    apart = problem.values(response)
    assert weights @ apart == pytest.approx(problem.value(response), abs=1e-14)
    alone = [proved(graph.against(np.ones(1), table[None]))[0] for table in tables]
    told = weights @ alone
    assert best <= told + 1e-12


def test_boxes_bound_all_their_policies() -> None:
    game = small(5, 2)
    graph, draw = graph_of(game), np.random.default_rng(3)
    table = random_policy(game, 0).policy.reshape(1, -1, game.num_actions)
    corners = [draw.dirichlet(np.ones(game.num_actions), 2) for _ in range(25)]
    search = proved(graph.against(np.ones(1), table, corners))[1]
    for _ in range(50):
        shares = draw.random((25, 1))
        inside = [np.stack(corners, 0)[:, 0] * shares + np.stack(corners, 0)[:, 1] * (1 - shares)]
        policy = graph.against(np.ones(1), table, list(inside[0][:, None]))
        assert policy.value(policy.unfixed) <= search.bound


def test_fractions_agree_with_floats() -> None:
    game = small(6, 2)
    graph = graph_of(game)
    exact = ExactStates(graph, denominator(game.rules))
    policy = to_fractions(random_policy(game, 2).policy.reshape(-1, game.num_actions), 1000)
    table = np.array([[float(one) for one in row] for row in policy])
    problem = graph.against(np.ones(1), table[None])
    pure = np.random.default_rng(0).integers(0, game.num_actions, 36)
    for fixed in (pure, np.full(36, -1), np.where(np.arange(36) % 2, pure, -1)):
        value = exact.value(policy, range(len(exact.row)), fixed.tolist())
        assert float(value) == pytest.approx(problem.value(fixed), abs=1e-13)
    met = exact.reach(pure.tolist(), policy)
    assert all(isinstance(one, Fraction) and 0 <= one <= 1 for one in met)
    best, search = proved(problem, is_priced=False)
    tree = search.tree
    assert exact.is_at_most(Fraction(search.bound), policy, problem, tree)
    assert not exact.is_at_most(Fraction(best) - Fraction(1, 10**6), policy, problem, tree)


def test_a_tree_of_one_player_is_a_graph_too() -> None:
    tree = from_rules(RandomTree(3, 2, 2, 1))
    instance = of_tree(tree)
    graph = ResponseGraph.of(instance)
    problem = graph.against(np.ones(1), instance.fixed[None])
    best, _ = proved(problem, -1e9)
    rates = [
        problem.value(np.array(pure)) for pure in product(*(range(len(one)) for one in graph.pure))
    ]
    assert best == pytest.approx(max(rates), abs=1e-10)


@pytest.mark.parametrize("edition", ["su20", "fa18", "fa17", "fa13"])
def test_prices_close_a_search_sooner_and_say_no_less_than_is_true(edition: str) -> None:
    game = small(7, 2, edition)
    graph, draw = graph_of(game), np.random.default_rng(8)
    priced_leaves = 0
    for seed in range(4):
        table = random_policy(game, seed).policy.reshape(1, -1, game.num_actions)
        corners = graph.pure
        for row in draw.choice(len(corners), 9, replace=False):
            corners[row] = draw.dirichlet(np.ones(game.num_actions), 2)
        problem = graph.against(np.ones(1), table, corners)
        best, plain = proved(problem, is_priced=False)
        assert not (plain.tree == forgetting.PRICED).any()
        for target in (best + 1e-11, best + 1e-6, best + 1e-3):
            plain = problem.branch_and_bound(target, is_priced=False)
            priced = problem.branch_and_bound(target)
            assert (plain.status, priced.status) == (Status.CLOSED, Status.CLOSED)
            assert best <= priced.bound <= target + 1e-9
            assert len(priced.tree) <= len(plain.tree)
            priced_leaves += int((priced.tree == forgetting.PRICED).sum())
        assert problem.branch_and_bound(best - 1e-9).status == Status.FOUND
    assert priced_leaves > 3


def test_rows_that_recur_have_no_prices() -> None:
    """The absent-minded driver meets one row twice."""
    crossing = Choice(0, 0, (0.0, Choice(0, 0, (4.0, 1.0))))
    instance = of_tree(tree_of(crossing))
    problem = ResponseGraph.of(instance).against(np.ones(1), np.ones((1, 1, 2)))
    with pytest.raises(ValueError, match="prices: allowed where no play meets a row twice"):
        problem.branch_and_bound(10.0)


def test_a_deadline_ends_a_search() -> None:
    game = small(6, 2)
    table = random_policy(game, 0).policy.reshape(1, -1, game.num_actions)
    problem = graph_of(game).against(np.ones(1), table)
    search = problem.branch_and_bound(0.0, deadline=Deadline(0.0))
    assert (search.status, len(search.tree)) == (Status.OPEN, 0)


def test_a_climb_makes_no_pass_once_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    game = small(6, 2)
    table = random_policy(game, 0).policy.reshape(1, -1, game.num_actions)
    problem = graph_of(game).against(np.ones(1), table)
    start = np.zeros(len(problem.unfixed), np.int64)
    whole = problem.improve(start)
    passes: list[object] = []
    gradient = ResponseProblem.gradient

    def counted(problem: ResponseProblem, response: Ints) -> tuple[float, Floats]:
        passes.append(response)
        return gradient(problem, response)

    monkeypatch.setattr(ResponseProblem, "gradient", counted)
    for looks in (0, 1, 2, 10_000):
        passes.clear()
        response, payoff = problem.improve(start, Deadline(looks, count().__next__))
        assert len(passes) <= max(looks, 1)
        assert payoff == problem.value(response)
    assert np.array_equal(response, whole[0])
    assert payoff == whole[1]
    passes.clear()
    problem.ascend([start] * 5, Deadline(0.0))
    assert len(passes) == 2  # where the first begins, and its only step


def test_a_large_problem_is_looked_at_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    game = small(6, 2, "fa18")
    table = random_policy(game, 0).policy.reshape(1, -1, game.num_actions)
    problem = graph_of(game).against(np.ones(1), table)
    best, _ = proved(problem)
    whole = problem.branch_and_bound(best + 1e-9)
    monkeypatch.setattr(branching, "MOST_STATES_AT_ONCE", 0)
    again = problem.branch_and_bound(best + 1e-9)
    assert again.status == whole.status == Status.CLOSED
    assert again.bound == whole.bound
    assert np.array_equal(again.tree, whole.tree)
    # It looks before the first relaxation, and twice before each.
    ended = problem.branch_and_bound(best + 1e-9, deadline=Deadline(6.0, count().__next__))
    assert (ended.status, len(ended.tree)) == (Status.OPEN, 2)


def test_what_there_is_no_time_to_price_has_no_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    game = small(7, 2, "fa18")
    table = random_policy(game, 0).policy.reshape(1, -1, game.num_actions)
    problem = graph_of(game).against(np.ones(1), table)
    target = proved(problem)[0] + 1e-9
    priced, plain = (
        problem.branch_and_bound(target),
        problem.branch_and_bound(target, is_priced=False),
    )
    assert (priced.tree == forgetting.PRICED).any()
    monkeypatch.setattr(branching, "PRICING_COST", 1e-6)
    late = problem.branch_and_bound(target, deadline=Deadline(600.0))
    assert np.array_equal(late.tree, plain.tree)
    assert late.bound == plain.bound
    assert np.array_equal(problem.branch_and_bound(target).tree, priced.tree)  # with no limit


def test_a_game_that_ends_at_once_pays() -> None:
    """No outcome goes on: what each action wins is all there is."""
    instance = of_tree(tree_of(Choice(0, 0, (0.0, 1.0, 0.25))))
    problem = ResponseGraph.of(instance).against(np.ones(1), np.ones((1, 1, 3)))
    assert [problem.value(np.array([one])) for one in range(3)] == [0.0, 1.0, 0.25]
    assert problem.gradient(problem.unfixed)[1].tolist() == [0.0, 1.0, 0.25]
    assert problem.branch_and_bound(0.5).status == Status.FOUND
    assert problem.branch_and_bound(1.0).bound == pytest.approx(1.0, abs=1e-12)


def test_an_escape_changes_two_rows_at_once() -> None:
    """Both rows must change for a gain; the second does not know what the first chose."""
    second = [Choice(0, 1, payoffs) for payoffs in ((0.5, 0.2), (0.2, 1.0))]
    instance = of_tree(tree_of(Choice(0, 0, tuple(second))))
    problem = ResponseGraph.of(instance).without_opponents()
    start = np.zeros(2, np.int64)
    assert problem.improve(start)[1] == 0.5
    assert problem.improve(np.array([0, 1]), held_row=1)[0].tolist() == [1, 1]
    assert problem.improve(np.array([1, 0]), held_row=0)[0].tolist() == [1, 1]
    response, payoff = problem.escape(start, 0.9)
    assert (response.tolist(), payoff) == ([1, 1], 1.0)
    assert start.tolist() == [0, 0]
    assert problem.escape(start, 0.4)[1] == 0.5  # the target is reached already
    assert problem.escape(start, 0.9, Deadline(0.0))[1] == 0.5
    assert problem.ascend_and_escape([start], 0.9)[1] == 1.0


def test_fractions_and_folding_end_with_their_time() -> None:
    game = small(6, 2, "fa18")
    graph = graph_of(game)
    exact = ExactStates(graph, denominator(game.rules))
    matrices = np.arange(2)[:, None] * np.ones((1, len(graph.legal)), np.int64)
    tables, weights = np.eye(game.num_actions)[matrices], np.array([0.5, 0.5])
    problem = graph.against(np.ones(1), tables[:1])
    _, search = proved(problem)
    policy = to_fractions(tables[0], 1)
    proof = Fraction(search.bound), policy, problem, search.tree
    assert exact.is_at_most(*proof)
    assert not exact.is_at_most(*proof, Deadline(0.0))
    assert exact_kuhn(exact, matrices, Deadline(0.0)) is None
    whole = folded(graph, weights, tables)
    assert whole is not None
    looks = count()
    assert folded(graph, weights, tables, Deadline(1e9, looks.__next__)) is not None
    for most in range(1, next(looks) - 1):
        assert folded(graph, weights, tables, Deadline(most, count().__next__)) is None


def test_payoffs_of_a_folded_mixture_are_sums_that_margins_count() -> None:
    """Where play ends at once a state has no outcomes, but its payoff sums those of all moves."""
    matching = Choice(0, 0, (Choice(1, 0, (1.0, -1.0)), Choice(1, 0, (-1.0, 1.0))))
    for components in (2, 5):
        tree = tree_of(matching)
        opponent = np.full((1, 2), 0.5)
        graph = ResponseGraph.of(of_tree(tree).against(np.vstack([opponent, opponent])))
        tables = np.linspace(0.1, 0.9, components)[:, None, None] * np.ones((1, 2, 2))
        tables[..., 1] = 1.0 - tables[..., 0]
        weights = np.full(components, 1.0 / components)
        alone = folded(graph, weights, tables)
        assert alone is not None
        assert alone.outcomes >= components * 2 + graph.outcomes


def test_a_folded_mixture_tells_no_more_than_play_shows() -> None:
    game = small(6, 2, "fa18")
    graph, draw = graph_of(game), np.random.default_rng(3)
    eye, rows = np.eye(game.num_actions), len(graph.legal)
    first = draw.integers(0, game.num_actions, rows)
    matrices = [first] + [np.where(draw.random(rows) < 0.1, 1, first) for _ in range(3)]
    mixed = random_policy(game, 5).policy.reshape(-1, game.num_actions)
    tables = np.stack([*(eye[one] for one in matrices), mixed])
    weights = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    told, alone = graph.against(weights, tables), folded(graph, weights, tables)
    assert alone is not None
    shown = alone.without_opponents()
    assert len(shown.others.member_state) < 0.8 * len(told.others.member_state)
    for _ in range(5):
        pure = draw.integers(0, game.num_actions, rows)
        assert shown.value(pure) == pytest.approx(told.value(pure), abs=1e-13)
        some = np.where(draw.random(rows) < 0.5, pure, -1)
        assert shown.value(some) <= told.value(some) + 1e-13
    assert shown.value(shown.unfixed) < told.value(told.unfixed) - 1e-3
    assert proved(shown)[0] == pytest.approx(proved(told)[0], abs=1e-10)
