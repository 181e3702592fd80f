"""Optimal play where nothing is hidden: the tablebase, and CFR+ that comes close to it."""

import hogeq

game = hogeq.compile_game(hogeq.rules_from({"edition": "fa22", "goal": 30, "max_dice": 5}))
tablebase = hogeq.solve(game)
print(f"whoever moves first wins {tablebase.value:.9f} of the games")

solver = hogeq.SOLVERS["cfr_plus"]()
state = solver.init(game)
for iteration in range(1, 101):
    state = solver.step(game, state)
    if iteration in {1, 10, 100}:
        policy = solver.average(game, state)
        least = hogeq.full_memory_bound(game, policy) - 0.5  # exact: there is nothing to remember
        print(f"after {iteration} iterations a best response wins {least:.6f} more than half")
