"""Optimal play where nothing is hidden: the tablebase, and CFR+ that comes close to it."""

import hogeq

game = hogeq.Game({"edition": "fa22", "goal": 30, "max_dice": 5})
tablebase = game.tablebase()
print(f"whoever moves first wins {tablebase.value:.9f} of the games")

solver = hogeq.SOLVERS["cfr_plus"]()
state = solver.init(game.engine)
for iteration in range(1, 101):
    state = solver.step(game.engine, state)
    if iteration in {1, 10, 100}:
        policy = solver.average(game.engine, state)
        least = game.bound(policy) - 0.5  # exact: there is nothing to remember
        print(f"after {iteration} iterations a best response wins {least:.6f} more than half")
