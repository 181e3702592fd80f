"""Equilibria of games in which a player forgets: solvers, exact values, attacks and proofs.

Everything begins with a game, and a game's methods do the rest; they are the same for every game.

>>> import hogeq
>>> kuhn = hogeq.Game("kuhn")  # a game tree; so are "leduc" and others
>>> hog = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})  # the dice race, to 10 points

`Game` also takes the name of an edition of Hog ("fa25") or of a game of OpenSpiel, the path of a
file (``.efg``, ``.yaml`` of rules, a run), and games of your own (`GameRules`, `Rules`).

**Solve.** An equilibrium with its proof, within seconds; or iterations of a solver.

>>> kuhn.equilibrium(seconds=5.0)  # strategies of both, and an interval that holds the value
Equilibrium(-0.055556 to -0.055556, proved; lp)
>>> solution = kuhn.solve("cfr_plus", iterations=300)  # print(hogeq.SOLVERS) lists the solvers
>>> solution.exploitability.upper < 0.01
True
>>> kuhn.infosets[:4]  # the names by which a strategy is asked
['0 ', '0 cb', '1 ', '1 cb']
>>> {action: round(share, 1) for action, share in solution.strategy["0 cb"].items()}
{'fold': 1.0, 'call': 0.0}

``help(hogeq.SOLVERS["cfr_plus"])`` explains the parameters of a solver. In Hog a strategy is a
table by both scores:

>>> table = hog.purify(hog.solve("dcfr", iterations=50).strategy)
>>> table[3, 8]  # dice, and their probabilities, with 3 points against 8
{0: 0.0, 1: 0.0, 2: 1.0}

**Attack.** The best response to a strategy, or the best one found and a bound on all others.

>>> response = kuhn.attack(solution.strategy)
>>> response.is_proved, response.value < 0.01
(True, True)
>>> hog.attack("always_roll:2", hogeq.Budget(seconds=3)).value > 0.5  # names are strategies, too
True

**Plot.** A notebook shows the figure that each function returns; ``help(hogeq.figures)`` lists
them. ``with hogeq.show_progress():`` shows how far a long call is.

>>> picture = hogeq.figures.exploitability(solution, "curve.png", "Kuhn poker")
>>> picture = hogeq.figures.policy(solution.strategy, "policy.png")  # of any game
>>> picture = hogeq.figures.matrix(table, "table.png")  # of Hog

**Export.** ``game.strategy(path)`` reads each of these files.

>>> solution.strategy.write("strategy.csv")  # also .json and .npz
>>> table.write("table.csv")
>>> table.write("final_strategy.py", player_name="Ann")  # what the contest takes
>>> kuhn.write("kuhn.efg")  # the game itself, for Gambit

Public names, each with an example in its ``help``. Names are imported when they are first asked
for.

Games
    `Game`, any game; `Hog`, what scores and dice add; `TreeGame`, what a tree adds; `FlatTree`,
    its arrays; `Graph`, those of any game; `GameRules`, a base of games of your own, with
    `register_game`, `CHANCE`, `END` and `TERMINAL`; `GameName`, which game a text means.
Rules of Hog
    `Rules`, `EDITIONS` and `ALIASES` by name; `edition` enters others; `rules_from` reads them;
    `describe`, `rule_facts` and `rule_parts` tell them; `rule_part` adds a part, `MemoryPart` one
    that remembers; `Memory`, what a player remembers.
Strategies
    `Strategy`; `Mixture`, to make a mixed one; `BASELINES`, those with a name, and `baseline` to
    name others; `inspect` reads a file as a `Submission` with each `Fault`.
Results
    `Solution` of `Game.solve`, with its curve of `Measurement`; `Equilibrium`; `Response` of an
    attack, with its `SearchResult` and `Saturation`; `Interval`; `Certificate`; `Units` of figures
    and `WIN_RATES`, those of Hog; `WinRate` of two strategies, `WinRates` and `Standing` of many,
    which `rank` orders; `Tablebase`, `Analysis` and `ComponentsAt` of positions; `Difference`,
    `Gains` and `Assessment` of strategies; `Audit` of recall; `UnreachedError`, `EndlessError`.
Effort
    `Budget` of an attack; `workers`; `show_progress`; `warmup` compiles ahead,
    `compiled_code` and `CompiledCode` say what is kept.
Solvers and purifiers
    `SOLVERS` and `PURIFIERS` by name; `Solver` and `Purifier` are their bases, `solver` and
    `purifier` enter yours, whose parameters `parameters` checks; `action_values`; `audit`.
Games that are played
    `Session`, `Situation` and `Turn`; `Transcript`, `read_transcript` and `Review`.
Runs
    `load_config`, `run_experiment`, `load_run` and `RunSummary`; `load_plugin`.
Pictures
    `figures`.
Refusals
    `HogeqError`, all that hogeq refuses, in one line; `StrategyError`.
"""

import lazy_loader

__version__ = "0.4.0"

# The names, and where each lives, stand once, in __init__.pyi, which type checkers read too.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
