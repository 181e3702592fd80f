"""How exploitable a strategy is: an interval, and the strategy that shows its lower end."""

import hogeq

game = hogeq.Game({"edition": "su20", "goal": 30, "max_dice": 5})
strategy = game.strategy("ignore_memory")
budget = hogeq.Budget(starts=4, kicks=10, seed=0)
found = game.attack(strategy, budget)
bound = game.bound(strategy)
print(f"exploitability is in [{found.win_rate - 0.5:.6f}, {bound - 0.5:.6f}]")
again = game.win_rate(found.matrix, strategy).win_rate
print(f"the counter found wins {again:.6f}")
game.strategy(found.matrix).write("counter.csv")
