"""The kernels that parts of a game need, by calls that need them, and which of them are missing.

Interpreting kernels serve any game; others are compiled for a game's terms. What a game needs has a
few parts, each used by other commands.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from hogeq.graph.hog import of_hog
from hogeq.kernels import cache
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.priced import PricedResponders, Problem
from hogeq.model.protocol import Reach, Role
from hogeq.model.responder import PriceRise, RowPrices, width_of
from hogeq.model.state_values import best_rolls, hidden_values
from hogeq.model.workspace import Layout
from hogeq.rules import EDITIONS, Rules
from hogeq.support.aliases import Floats

PARTS: Final = (
    "matrices",
    "policies",
    "search",
    "full memory",
    "values",
    "reach",
    "hidden states",
    "certificates",
)
"""Win rates of matrices; of policies; a search's passes; a responder with full memory; values of
optimal play and reach by memory; those of policies by memory; bounds with a proof."""
__all__ = ["PARTS", "cache", "compile_now", "missing", "parts_of"]

Call = Callable[[], object]


def _calls(game: HogEngine, part: str) -> Iterable[Call]:
    """List the calls that need the kernels of a part of a game, one kernel more by each call.

    They work on arrays of their own, and their results are of no use: a kernel is compiled when it
    is first called. `part` is one of `PARTS`, or "matches", the part by which two matrices (pure
    strategies) meet. A layout is a set of kernels with their arrays, in double or single precision.
    """
    uniform = np.full((2, *game.shape), 1.0 / game.num_actions)
    duels = game.duels()
    if part == "certificates":
        return _certificate_calls(game.rules)
    if part == "matches":
        part = "policies" if duels is None else "matrices"
    layouts = [partial(game.layout, 2, dtype) for dtype in {game.quick_dtype(), np.float64}]
    graph_layout = partial(game.graph_layout, 2)
    reach = partial(_pass_forward, graph_layout, uniform)
    optimal = partial(_pass_backward, graph_layout, uniform, Role.FULL_MEMORY)
    calls: dict[str, list[Call]] = {
        "matrices": [lambda: duels and duels.win_rate(np.zeros((2, *game.shape[:2]), np.int64))],
        "policies": [lambda: game.workspace(2).win_rate(uniform)],
        "search": [
            *(partial(_pass_forward, make, uniform) for make in layouts),
            *(partial(_pass_backward, make, uniform, Role.COUNTERFACTUAL) for make in layouts),
        ],
        "full memory": [optimal],
        "values": [lambda: best_rolls(game, uniform)],
        "reach": [reach],
        "hidden states": [reach, lambda: hidden_values(game, uniform)],
    }
    return calls[part]


def _pass_forward(make: Callable[[], Layout], policies: Floats) -> None:
    """Make a layout, and pass forward."""
    make().forward(policies)


def _pass_backward(make: Callable[[], Layout], policies: Floats, role: Role) -> None:
    """Make a layout, and pass backward by a role."""
    passes = make()
    reach = Reach(passes.each_reach[0], np.ones(1))
    passes.backward(role, policies, reach, temperature=1.0, damping=1.0)


def _certificate_calls(rules: Rules) -> Iterator[Call]:
    """Yield a call of every kernel of certificates, on a small game whose vectors are as wide.

    A kernel is compiled for vectors of one width, a power of two that actions are rounded up to, so
    a game with few dice compiles those of the game with the `rules`. The kernels are those of a
    responder that pays dual prices for its actions. They work on a rise by 0 of the prices of
    one information set (row), so that the numbers that they compute mean nothing.
    """
    goal, most_dice, row = 6, rules.num_actions - 1, 1
    dice = next(few for few in (2, 8, most_dice) if width_of(few + 1) == width_of(most_dice + 1))
    num_actions = dice + 1
    small = replace(EDITIONS["su20"], goal=goal, max_dice=dice)
    graph = of_hog(small)
    uniform = np.full((goal**2, num_actions), 1.0 / num_actions)
    problem = Problem(graph=graph, seat=0, policy=uniform, chance=1.0)
    priced = PricedResponders([problem])
    (responder,) = priced.responders
    states = graph.memories  # of a row
    rise = PriceRise(
        actions=np.zeros(1, np.int64),
        price_rises=np.zeros((1, states)),
        value_fall=np.zeros(states),
        covered_share=1.0,
        cut_share=1.0,
    )
    row_prices = RowPrices(
        own_positions=np.arange(goal**2), prices=np.zeros(responder.arrays.prices.shape)
    )
    no_rise = np.zeros((num_actions, states))
    yield priced.visit
    yield priced.remember
    yield lambda: priced.is_met_once(row)
    yield lambda: responder.value_rise(row, rise)
    yield lambda: responder.charge(row, rise, row_prices)
    yield lambda: responder.revise(row, row_prices, no_rise, cut_share=1.0)


def missing(game: HogEngine, *names: str) -> Iterator[cache.Kernel]:
    """Yield the kernels of parts that are not in the cache.

    Each call of a part is made where nothing may be compiled, so that it names its missing kernel.
    """
    for name in names:
        for call in _calls(game, name):
            try:
                with cache.compiling_nothing():
                    call()
            except cache.NotCompiledError as error:
                yield error.kernel


def parts_of(game: HogEngine) -> list[str]:
    """List the parts of a game, without those that need no kernels of their own."""
    without_kernels = {"values", "reach"} | ({"matrices"} if game.duels() is None else set())
    return [part for part in PARTS if part not in without_kernels]


def compile_now(games: Iterable[Rules], names: Iterable[str]) -> None:
    """Compile parts of games on all cores, before several processes need them."""
    cache.compile_all([x for rules in games for x in missing(compile_game(rules), *names)])
