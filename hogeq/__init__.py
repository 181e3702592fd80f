"""Equilibria of games in which a player forgets: solvers, exact values, attacks and proofs.

Everything begins with a game, and a game's methods do the rest.

>>> import hogeq
>>> kuhn = hogeq.Game("kuhn")  # a game tree
>>> hog = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})  # the dice race, to 10 points

`Game` also takes the name of an edition of Hog ("fa25") or of a game of OpenSpiel, the path of a
file (``.efg``, ``.yaml`` of rules, a run), and games of your own (`GameRules`, `Rules`).
What comes next is the same for every game:

>>> solution = kuhn.solve("cfr_plus", iterations=300)  # print(hogeq.SOLVERS) lists them
>>> solution.exploitability.upper < 0.01
True
>>> response = kuhn.attack(solution.strategy)  # its best response, or the best one found
>>> response.is_proved, response.value < 0.01
(True, True)
>>> kuhn.equilibrium(seconds=5.0)  # strategies of both, and an interval that holds the value
Equilibrium(-0.055556 to -0.055556, proved; lp)
>>> picture = hogeq.figures.exploitability(solution, "curve.png")
>>> solution.strategy.write("strategy.csv")  # also .json and .npz; game.strategy reads it

In Hog a strategy is a table, by both scores:

>>> table = hog.purify(hog.solve("dcfr", iterations=50).strategy)
>>> table[3, 8]  # dice, and their probabilities, with 3 points against 8
{0: 0.0, 1: 0.0, 2: 1.0}

Where to read on: ``help(hogeq.Game)`` for what every game has, ``help(hogeq.Hog)`` for what scores
and dice add, ``help(hogeq.TreeGame)`` for what a tree adds, ``help(hogeq.Strategy)``, and
``help(hogeq.figures)``. Names are imported when they are first asked for.
"""

import lazy_loader

__version__ = "0.2.0"

# The names, and where each lives, stand once, in __init__.pyi, which type checkers read too.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
