"""Values by diagonals: backward induction, with vectors over cells of equal total.

One diagonal after the other, block by block: what each roll of a block's cells is worth, by sums
and by terms, then what each memory is worth; and when the diagonal is done for all players, what
the afterstates of its total are worth, which land on cells of this total or later ones.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`; Q is the number of players.
"""

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.diagonal_rows import (
    CELLS,
    afterstates_of,
    beside,
    blocks_of,
    bounds,
    cells_of,
    eight_rows,
    give_rows,
    row_at,
    row_of_none,
    rows_of,
    six_rows,
    sums_of_any,
    take_none,
    take_row,
    turned,
    two_rows,
)
from hogeq.kernels.gathers import (
    exponential,
    first_of,
    landed,
    larger,
    like,
    where_at_least,
    windows,
)
from hogeq.kernels.interpreter import LEAST_WEIGHT, TIE
from hogeq.kernels.lanes import item, lane_sum, load, splat, store, store_one
from hogeq.kernels.roles import ASCEND, COUNTERFACTUAL


@part
def _climb_by(game, total, sums, at, steps, step, depth, share, places):
    to, other = places
    here = before = splat(sums, 0.0, game.lane)
    for level in range(depth):
        more, less = windows(sums, at, steps, game.lane)
        if level > 0:
            store(sums, at + to, share * here)
            store(sums, at + other, share * before)
        here, before = more, less
        at += step
    store(sums, at + two_rows(game, total), share * here)
    store(sums, at + two_rows(game, total + 1), share * before)


@part
def climb(game, total, block, player, sums, rows):
    """Sum one die more, to the most, at the cells of a block and one total before.

    A level's new sums replace two rows that the next level still needs, and so come after that.
    """
    start = player * game.sum_size + block * game.sum_block
    for group in range(len(game.group_dice)):
        depth = item(game.group_depth, group)
        if depth == 0:
            continue
        dice = item(game.group_dice, group)
        step = item(game.sides, dice) * len(game.lane)
        at = start + item(game.group_sums, group)
        to, other = item(rows, dice * game.sum_rows), item(rows, beside(game, dice))
        sides, share = item(game.sides, dice), item(game.share, dice)
        if sides == 6:
            steps = six_rows(rows, dice * game.sum_rows)
            _climb_by(game, total, sums, at, steps, step, depth, share, (to, other))
        elif sides == 8:
            steps = eight_rows(rows, dice * game.sum_rows)
            _climb_by(game, total, sums, at, steps, step, depth, share, (to, other))
        else:
            here = before = splat(sums, 0.0, game.lane)
            for level in range(depth):
                more, less = sums_of_any(game, sums, at, dice, rows)
                if level > 0:
                    store(sums, at + to, here)
                    store(sums, at + other, before)
                here, before = more, less
                at += step
            store(sums, at + two_rows(game, total), here)
            store(sums, at + two_rows(game, total + 1), before)


@part
def value_lines(game, total, block, situation, known, player, sums, rows, found, base):
    """Win probability of every line at the cells of a block, (lines, V), from `base` on."""
    num_actions, lane = game.num_actions, game.lane
    pages = player * len(game.page_end) * game.known_page
    start = player * game.sum_size + block * game.sum_block
    groups = len(game.group_dice)
    for group in range(groups):
        dice = item(game.group_dice, group)
        depth = item(game.group_depth, group)
        step = item(game.sides, dice) * len(game.lane)
        at = start + item(game.group_sums, group) + item(rows, dice * game.sum_rows)
        last = start + item(game.group_sums, group) + depth * step + two_rows(game, total)
        page = pages + item(game.group_page, group) * game.known_page
        first = (situation * groups + group) * num_actions
        line = item(game.line, first)
        if line >= 0:
            there = row_of_none(game, dice, total, block)
            take_none(game, known, page, there, found, base + line * len(game.lane))
        # In most games the first term of every roll is the same afterstate.
        common = item(game.common, dice)
        row = row_at(game, total + game.common_total, block * len(game.lane))
        pig_out = load(known, page + row, lane)
        run = item(game.run, situation * groups + group)
        if run >= 0:
            to = base + run * len(game.lane)
            term = game.term_start[dice, 1]
            for x in range(1, depth + 1):
                at = last if x == depth else at + step
                value = load(sums, at, lane) + item(game.term_prob, term) * pig_out
                store(found, to, value)
                to += len(game.lane)
                term += 1
            continue
        for roll in range(1, num_actions):
            line = item(game.line, first + roll)
            if line >= 0:
                term = game.term_start[dice, roll]
                value = splat(sums, 0.0, lane)
                if game.is_sum[dice, roll] != 0:
                    value = load(sums, last if roll == depth else at + roll * step, lane)
                if common > 0:
                    value += item(game.term_prob, term) * pig_out
                    term += 1
                for x in range(term, game.term_start[dice, roll + 1]):
                    row = row_at(game, total + item(game.term_total, x), block * len(game.lane))
                    place = page + item(game.term_page, x) + row + item(game.term_shift, x)
                    value += item(game.term_prob, x) * load(known, place, lane)
                store(found, base + line * len(game.lane), value)


@part
def publish(game, total, block, memory, player, rival, worth, value):
    """Keep what a memory is worth at the cells of a block, for whoever comes there."""
    size = 2 * game.memories * game.worth_page
    there = (total & (game.worth_ring - 1)) * game.width + block * len(game.lane)
    other = rival * size + memory * game.worth_page
    store(worth, other + there, 1.0 - value)
    if game.any_again:
        again = player * size + (game.memories + memory) * game.worth_page
        store(worth, again + there, value)


@part
def land(game, total, player, worth, known):
    """Tell what the afterstates of a total are worth: as much as the cells on which they land."""
    pages = len(game.page_end)
    first, last = afterstates_of(game, total)
    cells = player * 2 * game.memories * game.worth_page
    for page in range(pages):
        end = item(game.page_end, page)
        other = cells + item(game.page_other, page)
        again = cells + item(game.page_again, page)
        places = (end * game.land.shape[1] + total) * game.width
        at = (player * pages + page) * game.known_page + row_at(game, total, 0)
        for block in range(first, last + 1):
            value = landed(
                worth, game.land, places + block * len(game.lane), other, again, game.lane
            )
            store(known, at + block * len(game.lane), value)


@part
def begin_sums(game, total, player, known, sums, rows):
    """Begin the sums of a total with what its afterstates are worth."""
    lane = game.lane
    pages = len(game.page_end)
    first, last = afterstates_of(game, total)
    lowest = total - game.goal + 1
    for group in range(len(game.group_dice)):
        depth = item(game.group_depth, group)
        if depth == 0:
            continue
        dice = item(game.group_dice, group)
        step = item(game.sides, dice) * len(game.lane)
        at = (player * pages + item(game.group_many, group)) * game.known_page
        at += row_at(game, total, 0)
        to = player * game.sum_size + item(game.group_sums, group)
        to += item(rows, dice * game.sum_rows)
        for block in range(first, min(last + 1, game.blocks)):
            store(sums, to + block * game.sum_block, load(known, at + block * len(game.lane), lane))
        # Sums from scores past the goal, where they meet the board.
        if 0 < lowest < game.edge.shape[1] + 1:
            for edge in range(game.edges):
                block = (lowest - 1) // cells_of(game) - edge
                if 0 <= block < game.blocks:
                    past = (dice * game.edge.shape[1] + lowest - 1) * game.edges + edge
                    past *= game.edge.shape[3] * len(game.lane)
                    there = to + block * game.sum_block
                    for roll in range(1, depth):
                        there += step
                        value = load(game.edge, past + roll * len(game.lane), lane)
                        board = load(sums, there, lane)
                        outside = (lowest - block * cells_of(game)) * len(game.match)
                        store(sums, there, first_of(outside, value, board))


@part
def mix_memory(game, situation, memory, row, found, base):
    """Value of a memory at the cells of a block, when rolls are drawn from the policy."""
    num_actions = game.num_actions
    first = (situation * game.memories + memory) * num_actions
    value = splat(found, 0.0, game.lane)
    for roll in range(num_actions):
        worth = load(found, base + item(game.source, first + roll) * len(game.lane), game.lane)
        value += load(row, roll * len(game.lane), game.lane) * worth
    return value


@part
def best_of_memory(game, total, block, situation, memory, found, base, choice):
    """Value of a memory at the cells of a block, that takes its own best roll."""
    num_actions, lane = game.num_actions, game.lane
    first = (situation * game.memories + memory) * num_actions
    best = splat(found, -1.0, lane)
    for roll in range(num_actions):
        best = larger(
            load(found, base + item(game.source, first + roll) * len(game.lane), lane), best
        )
    chosen = splat(found, 0.0, lane)
    enough = best - splat(found, TIE, lane)
    for roll in range(num_actions - 1, -1, -1):
        value = load(found, base + item(game.source, first + roll) * len(game.lane), lane)
        chosen = where_at_least(value, enough, splat(found, 1.0 * roll, lane), chosen)
    if len(choice) > 0:
        at = base + game.lines * len(game.lane)
        store(found, at, chosen)
        low, high = bounds(game, total, block)
        for cell in range(low, high):
            opponent = block * len(game.lane) + cell
            choice[total - opponent, opponent, memory] = int(found[at + cell])
    return best


@part
def average_lines(game, situation, weights, at, share, found, base, averages, here):
    """Add a block's values, (K, V), weighted by the reach of each memory; add this to `here`."""
    num_actions, lane = game.num_actions, game.lane
    for memory in range(game.memories):
        weight = share * load(weights, at + memory * game.width, lane)
        here += weight
        first = (situation * game.memories + memory) * num_actions
        for roll in range(num_actions):
            worth = load(found, base + item(game.source, first + roll) * len(game.lane), lane)
            value = load(averages, roll * len(game.lane), lane) + weight * worth
            store(averages, roll * len(game.lane), value)
    return here


@part
def take_best_rows(game, here, row, averages):
    """Put all probability on the best roll, the present one on a tie; 1 where it changed."""
    num_actions, lane = game.num_actions, game.lane
    none, one = splat(averages, 0.0, lane), splat(averages, 1.0, lane)
    certain, never = splat(row, 1.0, lane), splat(row, 0.0, lane)
    best = splat(averages, -1.0, lane)
    for roll in range(num_actions):
        best = larger(load(averages, roll * len(lane), lane), best)
    enough = best - TIE * here
    chosen, kept = none, splat(averages, -1.0, lane)
    for roll in range(num_actions - 1, -1, -1):
        number = splat(averages, 1.0 * roll, lane)
        value = load(averages, roll * len(lane), lane)
        chosen = where_at_least(value, enough, number, chosen)
        present = where_at_least(load(row, roll * len(lane), lane), certain, number, kept)
        kept = where_at_least(value, enough, present, kept)
    chosen = where_at_least(kept, none, kept, chosen)
    changed = where_at_least(kept, none, none, one)
    for roll in range(num_actions):
        number = splat(averages, 1.0 * roll, lane)
        first = where_at_least(number, chosen, certain, never)
        now = where_at_least(chosen, number, first, never)
        value = load(row, roll * len(lane), lane)
        store(row, roll * len(lane), where_at_least(none, here, value, now))
    return where_at_least(none, here, none, changed)


@part
def soften_rows(game, here, row, averages, temperature, damping):
    """Move rows part of the way to the softmax of their values, given arrival at the cell."""
    num_actions, lane = game.num_actions, game.lane
    arrived = like(row, here)
    none, one = splat(row, 0.0, lane), splat(row, 1.0, lane)
    best = splat(averages, -1.0, lane)
    for roll in range(num_actions):
        best = larger(load(averages, roll * len(lane), lane), best)
    # Of what is hardly ever reached the inverse would be infinite, and nothing times that unknown.
    scale = one / larger(temperature * arrived, splat(row, LEAST_WEIGHT, lane))
    total = none
    for roll in range(num_actions):
        less = like(row, load(averages, roll * len(lane), lane) - best)
        power = like(averages, exponential(less * scale))
        total += like(row, power)
        store(averages, roll * len(lane), power)
    share = one / total
    for roll in range(num_actions):
        value = load(row, roll * len(lane), lane)
        wanted = like(row, load(averages, roll * len(lane), lane)) * share
        moved = damping * (wanted - value) + value
        store(row, roll * len(lane), where_at_least(none, arrived, value, moved))


@kernel
def backward(
    game,
    role,
    policies,
    shares,
    weights,
    known,
    sums,
    worth,
    found,
    given,
    row,
    averages,
    counterfactual_values,
    choice,
    kept,
    temperature,
    damping,
    rows,
    roots,
):
    """Backward induction; the role says how player 0's rolls come about.

    In single precision blocks are twice as many cells, and arrays that are passed from one diagonal
    to another or named scratch, weights and edges hold singles; policies and results stay doubles.

    Parameters
    ----------
    game : TablesView
        Of :class:`hogeq.kernels.diagonals.Diagonals`.
    role : int
        For player 0; player 1 follows a policy.
    policies : float64 (1 + n, G, G, K) or (1, G, G, K)
        Rows summing to 1: of player 0, and of each opponent, if there is one. ASCEND and SOFTMAX
        rewrite those of player 0.
    shares : float64 (n,)
        Of the opponents in a mixture; 1 of a single one, and in self-play.
    weights : float64 (n, 2 G - 1, H, width) or None
        From :func:`forward`; for COUNTERFACTUAL, ASCEND and SOFTMAX.
    known : float64 (Q, C, known_page)
        Scratch: win probability of whoever just moved, by afterstate. Every page ends with a
        block of the constants 0, 1 and what else.
    sums : float64 (Q, sum_size)
        Scratch.
    worth : float64 (Q, 2 H, worth_page)
        Scratch: win probability of whoever just moved, by what the next mover remembers, the other
        player or, in the second half, the same. Constants as in `known`.
    found : float64 ((lines + 1) * V,)
        Scratch.
    given : float64 (K * V,)
        Scratch: rows that may be changed.
    row, averages : float64 (K * V,)
        Scratch. In double precision `given` may be `row`.
    counterfactual_values : float64 (G, G, K) or None
        Filled for COUNTERFACTUAL.
    choice : int8 (G, G, H) or (0, 0, 0) or None
        For FULL_MEMORY: the best roll of every memory, the fewest dice on ties.
    kept : float64 (Q, 2 G - 1, H, width) or (0, ...)
        Filled with the win probability of every memory.
    temperature, damping : float
        Of SOFTMAX.
    rows : int64 (D * sum_rows,)
        Scratch.
    roots : float64 (Q * V,)
        Filled, a block of each player: the first number is the win probability when moving first.

    Returns
    -------
    float
        How many cells ASCEND changed.
    """
    pairs = len(shares)
    seats = len(roots) // (len(game.lane) * pairs)
    size = (game.lines + 1) * len(game.lane)
    changes = 0.0
    goal, num_actions, memories, lane = game.goal, game.num_actions, game.memories, game.lane
    none = splat(found, 0.0, lane)
    for total in range(2 * goal - 2 + game.reach, -1, -1):
        rows_of(game, total, 1, rows)
        first, last, two = blocks_of(game, total)
        situation = item(game.situation, min(total, 2 * goal - 2))
        for turn in range(seats if total <= 2 * goal - 2 else 0):
            seat = turned(total, turn, seats)
            for x in range(last - first + two):
                block = last - 1 - turned(total, x, last - first + two)
                weighs, acts = weights is not None and seat == 0, False
                if weighs:
                    acts = role != COUNTERFACTUAL
                    for roll in range(num_actions):
                        store(averages, roll * len(lane), none)
                if choice is None and seat == 0 and block >= first:
                    take_row(game, policies, 0, total, block, given)
                here = none
                # A row that all pairs share is set when rolls are valued in all of them.
                waits = acts and pairs > 1
                for step in range(2 * pairs if waits else pairs):
                    pair = step if step < pairs else step - pairs
                    player, base = pair * seats + seat, pair * size
                    if step < pairs and total % 2 == 0:
                        climb(game, total, block, player, sums, rows)
                    if block < first:
                        continue
                    if step < pairs:
                        value_lines(
                            game, total, block, situation, known, player, sums, rows, found, base
                        )
                    if weighs and step < pairs:
                        at = (pair * (2 * goal - 1) + total) * memories * game.width
                        at += block * len(lane)
                        share = item(shares, pair)
                        here = average_lines(
                            game, situation, weights, at, share, found, base, averages, here
                        )
                    if acts and step == pairs - 1:
                        if role == ASCEND:
                            changes += lane_sum(take_best_rows(game, here, given, averages))
                        else:
                            soften_rows(game, here, given, averages, temperature, damping)
                        give_rows(game, total, block, given, policies)
                    if waits and step < pairs:
                        continue
                    if seat == 1:
                        take_row(game, policies, 1 + pair, total, block, row)
                    elif pair == 0 and len(lane) != CELLS:
                        for roll in range(num_actions):
                            rounded = like(row, load(given, roll * len(lane), lane))
                            store(row, roll * len(lane), rounded)
                    for memory in range(memories):
                        if choice is not None and seat == 0:
                            value = best_of_memory(
                                game, total, block, situation, memory, found, base, choice
                            )
                        else:
                            value = mix_memory(game, situation, memory, row, found, base)
                        rival = pair * seats + seats - 1 - seat
                        publish(game, total, block, memory, player, rival, worth, value)
                        if len(kept) > 0:
                            at = (player * (2 * goal - 1) + total) * memories + memory
                            store(kept, at * game.width + block * len(lane), value)
                        if total == 0 and memory == game.start:
                            store(roots, player * len(lane), value)
                if weighs and not acts and block >= first:
                    give_rows(game, total, block, averages, counterfactual_values)
        for player in range(pairs * seats):
            land(game, total, player, worth, known)
            begin_sums(game, total, player, known, sums, rows)
    return changes


@kernel
def match(game, matrices, known, sums, worth, found, picks, rows, roots):
    """Win probabilities of two matrices, int64 (2, G, G), against each other: fills `roots`.

    All else is as in :func:`backward`; `picks` is scratch, float64 (V,).
    """
    goal, num_actions = game.goal, game.num_actions
    for total in range(2 * goal - 2 + game.reach, -1, -1):
        rows_of(game, total, 1, rows)
        first, last, two = blocks_of(game, total)
        situation = item(game.situation, min(total, 2 * goal - 2))
        for turn in range(2 if total <= 2 * goal - 2 else 0):
            player = turned(total, turn, 2)
            for x in range(last - first + two):
                block = last - 1 - turned(total, x, last - first + two)
                if total % 2 == 0:
                    climb(game, total, block, player, sums, rows)
                if block < first:
                    continue
                value_lines(game, total, block, situation, known, player, sums, rows, found, 0)
                low, high = bounds(game, total, block)
                for memory in range(game.memories):
                    lines = (situation * game.memories + memory) * num_actions
                    for cell in range(low, high):
                        opponent = block * len(game.lane) + cell
                        roll = matrices[player, total - opponent, opponent]
                        line = item(game.source, lines + roll)
                        store_one(picks, cell, item(found, line * len(game.lane) + cell))
                    value = load(picks, 0, game.lane)
                    publish(game, total, block, memory, player, 1 - player, worth, value)
                    if total == 0 and memory == game.start:
                        store(roots, player * len(game.lane), value)
        for player in range(2):
            land(game, total, player, worth, known)
            begin_sums(game, total, player, known, sums, rows)
