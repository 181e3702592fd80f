"""Exact win rate of one strategy against another: sums over all dice, never a sample."""

import hogeq

game = hogeq.compile_game(hogeq.rules_from("su20"))
six = hogeq.builtin("always_roll:6", game)
seven = hogeq.builtin("always_roll:7", game)
rates = hogeq.win_rate(game, six, seven)
print(f"always 6 against always 7 wins {rates.win_rate:.12f}")
print(f"moving first {rates.first:.12f}, moving second {rates.second:.12f}")
