"""Where passes by diagonals find what they need: rows of a ring, cells of a block.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`. What a block keeps of sums lies in
one piece: for every group, levels of as many rows as a die has sides and two more, and at the end,
of one level, two rows.
"""

from hogeq.kernels.gathers import strided, windows
from hogeq.kernels.lanes import item, load, splat, store
from hogeq.kernels.sums import part

CELLS = 8


@part
def rows_of(game, total, away, rows):
    """Fill where rings of sums have a total, and those further on (1) or before it (-1).

    The one on the other side, whose sums are computed together with its, comes last.
    """
    for dice in range(len(game.sides)):
        ring = game.sides[dice] + 2
        for face in range(ring):
            rows[dice * game.sum_rows + face] = (total + away * face) % ring * CELLS


@part
def beside(game, dice):
    """Place among a die's rows of the one that comes last."""
    return dice * game.sum_rows + game.sides[dice] + 1


@part
def two_rows(total):
    """Where the level of two rows has a total."""
    return (total & 1) * CELLS


@part
def turned(total, x, count):
    """Count up, and from two totals to the next two down: what was used last is used first."""
    return x if total & 2 else count - 1 - x


@part
def bounds(game, total, block):
    """Range of the cells of a block that are on the board."""
    first, last = max(0, total - game.goal + 1), min(total, game.goal - 1)
    return max(0, first - block * CELLS), min(CELLS, last + 1 - block * CELLS)


@part
def row_at(game, total, cell):
    """Position of afterstates on their page: of a total, from an opponent's score on."""
    return (total & (game.known_ring - 1)) * game.width + cell


@part
def pair_of_sums(game, sums, at, dice, rows):
    """Sum the rows of 2 to as many totals away as a die has sides; the same for the next total."""
    sides = item(game.sides, dice)
    first = dice * game.sum_rows
    if sides == 6:
        near, far = rows[first + 1], rows[first + 6]
        steps = (near, rows[first + 2], rows[first + 3], rows[first + 4], rows[first + 5], far)
        here, other = windows(sums, at, steps, game.lane)
    elif sides == 8:
        near, far, x = rows[first + 1], rows[first + 8], first + 5
        a, b, c = rows[first + 2], rows[first + 3], rows[first + 4]
        steps = (near, a, b, c, rows[x], rows[x + 1], rows[x + 2], far)
        here, other = windows(sums, at, steps, game.lane)
    else:
        here = splat(sums, 0.0, game.lane)
        for face in range(2, sides):
            here += load(sums, at + item(rows, first + face), game.lane)
        other = here + load(sums, at + item(rows, first + 1), game.lane)
        here += load(sums, at + item(rows, first + sides), game.lane)
    share = 1.0 / sides
    return share * here, share * other


@part
def take_row(game, policies, which, total, block, row):
    """Copy the rows of a policy at the cells of a block, (K, V)."""
    goal, num_actions = game.goal, game.num_actions
    low, high = bounds(game, total, block)
    opponent = block * CELLS
    at = ((which * goal + total - opponent) * goal + opponent) * num_actions
    for roll in range(num_actions):
        value = strided(policies, at + roll, (1 - goal) * num_actions, low, high, game.lane)
        store(row, roll * CELLS, value)
