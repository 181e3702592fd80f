"""Hog as a game of OpenSpiel, and policies both ways; the only package that imports OpenSpiel.

Importing it registers ``python_hog`` (Lanctot et al. 2019, "OpenSpiel: a framework for
reinforcement learning in games")::

    import hogeq.trees.openspiel
    game = pyspiel.load_game("python_hog(edition=su20,goal=6,max_dice=2)")

Its parameters are ``edition``, ``goal``, ``max_dice``, ``sides``; ``parts``, other parts of the
rules to override, ``swap:double+hog_wild:true``, say; and ``memory``. Without memory an
information state is the pair (own score, opponent's score) and nothing else, as a strategy of the
contest sees the game. That game has imperfect recall, which much of OpenSpiel assumes away: CFR
loses its guarantee there, and best responses, NashConv and exploitability may be wrong. With
memory an information state is everything that happened.

A fair coin is tossed first. Then turns follow: a choice of dice and, unless none are rolled, a
chance node whose outcomes are the points that can be scored, with exact probabilities. The winner
gets 1, the loser -1.
"""

from hogeq.support.messages import not_installed

try:
    import pyspiel  # noqa: F401 - whether it is there
except ImportError as _missing:
    raise ImportError(
        not_installed("OpenSpiel", "its games and its solvers", "open_spiel")
    ) from _missing

from hogeq.trees.openspiel.algorithms import ALGORITHMS, advance, start, tables_of
from hogeq.trees.openspiel.game import (
    HogGame,
    HogState,
    game_of,
    information_state,
    parameters_of,
    rules_of,
)
from hogeq.trees.openspiel.tabular import from_tabular, to_tabular

__all__ = [
    "ALGORITHMS",
    "HogGame",
    "HogState",
    "advance",
    "from_tabular",
    "game_of",
    "information_state",
    "parameters_of",
    "rules_of",
    "start",
    "tables_of",
    "to_tabular",
]
