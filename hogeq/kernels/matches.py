"""Matches side by side, by diagonals: one player against many opponents at once.

Of a block of cells a vector has the numbers of all matches for one cell, then those for the next.
All of them are computed with the same weights, so a pass does what one over longer diagonals would.
What there is for each cell serves all matches: where it lands, what no dice lead to, and the row of
the one player, whom all the others meet. What else depends on the cell is a vector, not a gather.

What comes from beyond the second-level cache, which sums of many matches fill, lies in the order of
visits or is asked for beforehand.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`.
"""

from hogeq.kernels.diagonal_rows import bounds, cells_of, row_at, row_of_none
from hogeq.kernels.lanes import item, prefetch, splat, store
from hogeq.kernels.sums import part


@part
def take_common_row(game, policy, total, block, row):
    """Copy the rows of the player whom all meet at the cells of a block, (K, V)."""
    low, high = bounds(game, total, block)
    for cell in range(low, high):
        opponent = block * cells_of(game) + cell
        at = ((total - opponent) * game.goal + opponent) * game.num_actions
        for roll in range(game.num_actions):
            chance = splat(row, item(policy, at + roll), game.match)
            store(row, roll * len(game.lane) + cell * len(game.match), chance)


@part
def expect_common_rows(game, table, total, block):
    """Ask for the rows of a block in a table (G, G, K)."""
    low, high = bounds(game, total, block)
    for cell in range(low, high):
        opponent = block * cells_of(game) + cell
        at = ((total - opponent) * game.goal + opponent) * game.num_actions
        for x in range(0, game.num_actions, len(game.match)):
            prefetch(table, at + x, game.match)
        prefetch(table, at + game.num_actions - 1, game.match)


@part
def block_at(game, pack, total, block):
    """Count of the blocks before one, where those of a diagonal follow each other."""
    return (pack * (2 * game.goal - 1) + total) * game.blocks + block


@part
def expect(game, array, first, count):
    """Ask for so many vectors from a position on."""
    for x in range(count):
        prefetch(array, first + x * len(game.lane), game.lane)


@part
def expect_afterstates(game, total, block, player, known):
    """Ask for the afterstates of a point, and of no dice, from the cells of a block."""
    pages, matches = len(game.page_end), len(game.match)
    row = row_at(game, total + game.common_total, block * len(game.lane))
    there = row_of_none(game, 0, total, block)
    for page in range(player * pages, (player + 1) * pages):
        at = page * game.known_page
        prefetch(known, at + row, game.lane)
        for cell in range(cells_of(game)):
            prefetch(known, at + matches * item(game.zero, there + cell), game.match)
