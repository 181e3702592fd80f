"""Where passes by diagonals find what they need: rows of a ring, cells of a block.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`. What a block keeps of sums lies in
one piece: for every group, levels of as many rows as a die has sides, and at the end, of one level,
two rows. A block is as many cells as a lane has numbers, or fewer where matches lie side by side.
"""

from hogeq.kernels.cache import part
from hogeq.kernels.gathers import like, picked, strided, windows
from hogeq.kernels.lanes import item, load, splat, store, store_one

CELLS = 8  # of a block in double precision


@part
def rows_of(game, total, away, rows):
    """Fill where rings of sums have a total, and those further on (1) or before it (-1).

    As many totals away as a die has sides is the row of the total itself, which is to be replaced.
    The one on the other side, whose sums are computed together with its, comes last.
    """
    for dice in range(len(game.sides)):
        sides, first = game.sides[dice], dice * game.sum_rows
        for face in range(sides + 1):
            rows[first + face] = (total + away * face) % sides * len(game.lane)
        rows[first + sides + 1] = (total - away) % sides * len(game.lane)


@part
def beside(game, dice):
    """Place among a die's rows of the one that comes last."""
    return dice * game.sum_rows + game.sides[dice] + 1


@part
def two_rows(game, total):
    """Where the level of two rows has a total."""
    return (total & 1) * len(game.lane)


@part
def turned(total, x, count):
    """Count up, and from two totals to the next two down: what was used last is used first."""
    return x if total & 2 else count - 1 - x


@part
def cells_of(game):
    """Cells of a block, each of as many numbers as matches lie beside one another."""
    return len(game.lane) // len(game.match)


@part
def bounds(game, total, block):
    """Range of the cells of a block that are on the board."""
    first, last = max(0, total - game.goal + 1), min(total, game.goal - 1)
    cells = cells_of(game)
    return max(0, first - block * cells), min(cells, last + 1 - block * cells)


@part
def afterstates_of(game, total):
    """Range of the blocks of a total's afterstates, the last included."""
    first = max(0, total - game.goal + 1 - game.reach) // cells_of(game)
    last = min(total, game.goal - 1 + game.given) // cells_of(game)
    return first, last


@part
def blocks_of(game, total):
    """Range of the blocks of a total, and 1 if the total before it begins a block sooner."""
    lowest = total - game.goal + 1
    first = max(0, lowest) // cells_of(game)
    last = min(total, game.goal - 1) // cells_of(game) + 1
    return first, last, int(total % 2 == 0 and lowest > 0 and lowest % cells_of(game) == 0)


@part
def row_at(game, total, cell):
    """Position of afterstates on their page: of a total, from an opponent's score on."""
    return (total & (game.known_ring - 1)) * game.width + cell


@part
def six_rows(rows, first):
    """Where the rows of the next six totals are."""
    a, b, c = item(rows, first + 1), item(rows, first + 2), item(rows, first + 3)
    return a, b, c, item(rows, first + 4), item(rows, first + 5), item(rows, first + 6)


@part
def eight_rows(rows, first):
    """Where the rows of the next eight totals are."""
    a, b, c = item(rows, first + 1), item(rows, first + 2), item(rows, first + 3)
    d, e, f = item(rows, first + 4), item(rows, first + 5), item(rows, first + 6)
    return a, b, c, d, e, f, item(rows, first + 7), item(rows, first + 8)


@part
def sums_of_any(game, sums, at, dice, rows):
    """Do what :func:`pair_of_sums` does for a die of any number of sides, if slower."""
    sides = item(game.sides, dice)
    first = dice * game.sum_rows
    here = splat(sums, 0.0, game.lane)
    for face in range(2, sides):
        here += load(sums, at + item(rows, first + face), game.lane)
    other = here + load(sums, at + item(rows, first + 1), game.lane)
    here += load(sums, at + item(rows, first + sides), game.lane)
    share = item(game.share, dice)
    return share * here, share * other


@part
def pair_of_sums(game, sums, at, dice, rows):
    """Sum the rows of 2 to as many totals away as a die has sides; the same for the next total."""
    sides, share = item(game.sides, dice), item(game.share, dice)
    first = dice * game.sum_rows
    if sides == 6:
        here, other = windows(sums, at, six_rows(rows, first), game.lane)
    elif sides == 8:
        here, other = windows(sums, at, eight_rows(rows, first), game.lane)
    else:
        return sums_of_any(game, sums, at, dice, rows)
    return share * here, share * other


@part
def take_row(game, policies, which, total, block, row):
    """Copy the rows of a policy at the cells of a block, (K, V)."""
    goal, num_actions = game.goal, game.num_actions
    low, high = bounds(game, total, block)
    opponent = block * len(game.lane)
    at = ((which * goal + total - opponent) * goal + opponent) * num_actions
    for roll in range(num_actions):
        value = strided(policies, at + roll, (1 - goal) * num_actions, low, high, game.lane)
        store(row, roll * len(game.lane), like(row, value))


@part
def give_rows(game, total, block, from_row, table):
    """Write the rows of a block, (K, V), to a table (G, G, K)."""
    low, high = bounds(game, total, block)
    for cell in range(low, high):
        opponent = block * len(game.lane) + cell
        at = ((total - opponent) * game.goal + opponent) * game.num_actions
        for roll in range(game.num_actions):
            store_one(table, at + roll, item(from_row, roll * len(game.lane) + cell))


@part
def row_of_none(game, dice, total, block):
    """Position in `zero` of a block of cells."""
    row = (dice * (2 * game.goal - 1) + total) * (game.width // len(game.match))
    return row + block * cells_of(game)


@part
def take_none(game, known, page, there, found, to):
    """Copy what no dice win at the cells of a block."""
    matches = len(game.match)
    if matches == 1:
        store(found, to, picked(known, page, game.zero, there, game.lane))
    else:
        for cell in range(cells_of(game)):
            at = page + matches * item(game.zero, there + cell)
            store(found, to + matches * cell, load(known, at, game.match))
