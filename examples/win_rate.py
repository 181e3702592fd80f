"""Exact win rate of one strategy against another: sums over all dice, never a sample."""

import hogeq

game = hogeq.Game("su20")
six = game.strategy("always_roll:6")
seven = game.strategy("always_roll:7")
rates = game.win_rate(six, seven)
print(f"always 6 against always 7 wins {rates.win_rate:.12f}")
print(f"moving first {rates.first:.12f}, moving second {rates.second:.12f}")
