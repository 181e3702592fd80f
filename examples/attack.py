"""How exploitable a strategy is: an interval, and the strategy that shows its lower end."""

import hogeq

game = hogeq.compile_game(hogeq.rules_from({"edition": "su20", "goal": 30, "max_dice": 5}))
strategy = hogeq.builtin("ignore_memory", game)
budget = hogeq.SearchBudget(starts=4, perturbations=10, seed=0)
found = hogeq.attack(game, strategy, budget)
bound = hogeq.full_memory_bound(game, strategy)
print(f"exploitability is in [{found.win_rate - 0.5:.6f}, {bound - 0.5:.6f}]")
again = hogeq.win_rate(game, found.matrix, strategy).win_rate
print(f"the counter found wins {again:.6f}")
hogeq.write_strategy("counter.csv", found.matrix)
