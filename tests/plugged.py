"""A plugin, and a config that names it."""

LAZY = """
from typing import NamedTuple
import hogeq
import numpy as np
from hogeq.solvers import Solver
from hogeq.support.parameters import parameters

class Nothing(NamedTuple):
    pass

@hogeq.solver("lazy")
@parameters
class Lazy(Solver):
    "Every roll is as likely as any other."
    def init(self, game):
        return Nothing()
    def step(self, game, state):
        return state
    def average(self, game, state):
        return np.full(game.shape, 1 / game.num_actions)
    def stats(self, game, state):
        return {}

@hogeq.baseline("most", "as many dice as there are")
def most(game):
    return np.full((game.goal, game.goal), game.rules.max_dice, np.int8)

@hogeq.rule_part("swap")
def fives(score, opponent):
    "Both scores end in 5."
    return score % 10 == opponent % 10 == 5
"""

CONFIG = {
    "name": "lazy",
    "rules": {"edition": "fa22", "goal": 8, "max_dice": 2, "swap": "fives"},
    "solver": {"name": "lazy", "iterations": 1},
    "measure": {"attack": {"starts": 1, "anneal_steps": 2, "kicks": 0}},
    "plugins": ["parts/lazy.py"],
}
