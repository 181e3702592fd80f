"""Values by diagonals: backward induction in the layout of :mod:`hogeq.kernels.cell_vectors`."""

from hogeq.kernels import TIE
from hogeq.kernels.cell_vectors import (
    MOST_ROUNDS,
    WON,
    Block,
    Board,
    Diagonal,
    Pairs,
    each_group,
    landings,
)
from hogeq.kernels.recurrence import (
    ASCEND,
    COUNTERFACTUAL,
    EVALUATE,
    SOFTMAX,
    add_dice,
    best_row,
    mix,
    softened_row,
    value_rolls,
    weigh,
)
from hogeq.kernels.staged import DOUBLE, call_apart
from hogeq.kernels.vectors import gathered
from hogeq.kernels.vectors import total as sum_of


def write_values(
    code,
    shape,
    role,
    are_matrices,
    players,
    matches,
    temperature,
    damping,
    goal,
    width,
    afterstate_rows,
    cell_rows,
    beyond,
    given,
    landing,
    no_dice,
    handover,
    groups,
    situation,
    source,
    edge,
    policies,
    reach,
    weights,
    infoset_reach,
    afterstates,
    cells,
    sums,
    lines,
    row,
    averages,
    stays,
    pair_numbers,
    starts,
    action_values,
    changes,
):
    """Backward induction, one diagonal after the other; the role is player 0's, in every match.

    Filled are `starts`, with who wins by beginning, by match and player, and, as the role has it,
    `action_values`, or the rows of player 0 in `policies` and ``changes[0]``, how many changed.
    `reach` is of :func:`write_reach`, by match, `weights` the shares of the matches,
    and `infoset_reach` the mixture's. What is between those and `starts` is scratch.
    """
    board = Board(goal, width, afterstate_rows, cell_rows, beyond, given)
    num_actions, memories, nothing = shape.num_actions, shape.memories, code.vector(0.0)
    cells_of_board = goal * goal
    policy_size = code.select(are_matrices.equals(1), cells_of_board, cells_of_board * num_actions)
    changes.put_number(0, code.double(0.0))
    with code.loop(0, goal * 2 - 1 + beyond, down=True) as total:
        diagonal = Diagonal(code, shape, board, total)
        sums_size = diagonal.blocks * (shape.sums * code.width)
        pairs = Pairs(diagonal, pair_numbers, stays)

        def land():
            with code.loop(0, matches * players) as seat:
                place = diagonal.cells_of(cells, seat), diagonal.pages_of(afterstates, seat)
                _value_afterstates(diagonal, landing, handover, *place)

        if shape.stays:
            land()  # a turn without points can lead to later cells
        for turn, is_first in _rounds(code, shape, role, changes):
            with code.loop(0, players) as player:
                # In pairs of totals, the highest from which sums are read among the upper ones.
                highest = goal * 2 - 2 + shape.most_sides
                is_upper = ((highest - total) & 1).equals(0)
                with code.when(code.all_of(is_upper, highest >= total, is_first)):
                    first = (total - goal - shape.most_sides).at_least(0) // code.width
                    with code.loop(first, diagonal.last) as block, code.loop(0, matches) as match:
                        seat = match * players + player
                        place = sums[seat * sums_size :], diagonal.pages_of(afterstates, seat)
                        for family, base, _ in each_group(diagonal, block, groups, *place, edge):
                            add_dice(code, family.dice, base)
                is_due = code.builder.or_(is_first, player.equals(0))
                with (
                    code.when(code.all_of(total < goal * 2 - 1, is_due)),
                    code.loop(diagonal.first, diagonal.last) as block,
                ):
                    here = Block(diagonal, block)
                    kind = situation.number(total)
                    with code.when(role.differs(EVALUATE)):
                        for roll in range(num_actions):
                            averages.put(roll * code.width, nothing)
                    with code.loop(0, matches) as match:
                        seat = match * players + player
                        place = sums[seat * sums_size :], diagonal.pages_of(afterstates, seat)
                        found = lines[match * (shape.lines * code.width) :]
                        _value_lines(diagonal, block, kind, groups, place, edge, no_dice, found)
                        with code.when(code.all_of(role.differs(EVALUATE), player.equals(0))):
                            first = (match * (goal * 2 - 1) + total) * memories
                            share = code.vector(weights.number(match))
                            with code.loop(0, memories) as memory:
                                arrived = reach.vector((first + memory) * width + here.opponent)
                                worth = _lines_of(code, shape, kind, memory, source, found)
                                none = [None] * num_actions
                                weighted = weigh(arrived * share, none, worth, None)
                                if shape.stays:
                                    other = match * players + players - 1 - player
                                    weighted[0] = weighted[0] + arrived * share * pairs.worth(
                                        here, other
                                    )
                                for roll, value in enumerate(weighted):
                                    at = roll * code.width
                                    averages.put(at, averages.vector(at) + value)
                    with code.when(player.equals(0)):
                        _read_rows(here, policies, are_matrices, row, num_actions)
                        with code.when(role.equals(COUNTERFACTUAL)):
                            here.write(action_values, averages, num_actions)
                        is_settled = turn >= 1 if shape.stays else role >= ASCEND
                        with code.when(code.all_of(role >= ASCEND, is_settled)):
                            row.put(num_actions * code.width, here.read(infoset_reach)[0])
                            act = role, temperature, damping, averages, row, changes
                            call_apart(code, _set_rows, num_actions, *act)
                            here.write(policies, row, num_actions)
                    with code.loop(0, matches) as match:
                        seat = match * players + player
                        with code.when(player.equals(1)):
                            table = policies[(match + 1) * policy_size :]
                            _read_rows(here, table, are_matrices, row, num_actions)
                        found = lines[match * (shape.lines * code.width) :]
                        chances = [
                            row.vector(x * code.width).converted(code.kind.element)
                            for x in range(num_actions)
                        ]
                        mine = diagonal.cells_of(cells, seat)
                        theirs = diagonal.cells_of(cells, match * players + players - 1 - player)
                        with code.loop(0, memories) as memory:
                            worth = _lines_of(code, shape, kind, memory, source, found)
                            (lost,) = mix(code, chances, worth, None, ((),) * num_actions, 1)
                            if shape.stays:
                                pairs.keep(here, seat, 1.0 - lost, chances)
                            at = memory * diagonal.cell_page + diagonal.cells() + here.opponent
                            theirs.put(at, lost)
                            if shape.moves_again:
                                mine.put(at + memories * diagonal.cell_page, 1.0 - lost)
                            with code.when(code.all_of(total.equals(0), memory.equals(0))):
                                starts.put_number(seat, (1.0 - lost).number(0))
            if shape.stays:
                for here, seat, other in _each_block(code, pairs, players, matches):
                    pairs.win(here, seat, other)
        if shape.stays:
            _publish(code, pairs, players, matches, cells, starts)
        land()


def _rounds(code, shape, role, changes):
    """Write a diagonal's visit: once, but where turns stay until no row of player 0 changes."""
    if not shape.stays:
        yield code.index(0), code.index(0).equals(0)
        return
    changes.put_number(1, code.double(0.0))
    with code.loop(0, MOST_ROUNDS) as turn:
        now, before = changes.number(0), changes.number(1)
        is_new = code.builder.fcmp_ordered(">", now, before)
        least = code.select(role.equals(EVALUATE), code.index(1), code.index(2))
        is_due = code.builder.or_(code.all_of(role.equals(ASCEND), is_new), turn < least)
        with code.when(is_due):
            changes.put_number(1, now)
            yield turn, turn.equals(0)


def _each_block(code, pairs, players, matches):
    """Write the same for every block of every seat: the block, the seat and the other one."""
    diagonal = pairs.diagonal
    # Past the board the loop runs over no block.
    last = code.select(diagonal.total < diagonal.board.goal * 2 - 1, diagonal.last, code.index(0))
    with (
        code.loop(0, matches) as match,
        code.loop(0, players) as player,
        code.loop(diagonal.first, last) as block,
    ):
        seat = match * players
        yield Block(diagonal, block), seat + player, seat + players - 1 - player


def _publish(code, pairs, players, matches, cells, starts):
    """Write the win probabilities of rows, staying included, to the cells of a diagonal."""
    for here, seat, other in _each_block(code, pairs, players, matches):
        won = pairs.row(seat, WON).vector(here.opponent)
        at = pairs.diagonal.cells() + here.opponent
        pairs.diagonal.cells_of(cells, other).put(at, 1.0 - won)
        with code.when(pairs.diagonal.total.equals(0)):
            starts.put_number(seat, won.number(0))


def _read_rows(here, policies, are_matrices, row, num_actions):
    """Copy the rows of a policy, or of a matrix: one roll for each cell."""
    code = here.code

    def copy():
        for roll, chance in enumerate(here.read(policies, num_actions)):
            row.put(roll * code.width, chance)

    def make():
        (chosen,) = here.read(policies)
        for roll in range(num_actions):
            is_less = chosen.where_at_least(roll, 0.0, 1.0)
            chance = chosen.where_at_least(roll + 1, 0.0, 1.0) - is_less
            row.put(roll * code.width, chance)

    code.either(are_matrices.equals(1), make, copy)


def _value_lines(diagonal, block, kind, groups, place, edge, no_dice, lines):
    """Value every line at the cells of a block."""
    code, shape, goal = diagonal.code, diagonal.shape, diagonal.board.goal
    for number in range(shape.situations):
        with code.when(kind.equals(number)):
            for family, base, row in each_group(diagonal, block, groups, *place, edge):
                rolls = family.rolls[number]
                if 0 in rolls:
                    at = (goal * 2 - 1) * family.kind + diagonal.total
                    base.none = no_dice.indices(at * diagonal.board.width + block * code.width)
                worth = value_rolls(code, family.dice, base, shape.num_actions) if rolls else ()
                first = row.number(2 + number)
                for x, roll in enumerate(rolls):
                    lines.put((first + x) * code.width, worth[roll])


def _lines_of(code, shape, kind, memory, source, lines):
    """Return the reader of the line that a memory plays for a roll."""
    first = (kind * shape.memories + memory) * shape.num_actions
    return lambda roll: lines.vector(source.number(first + roll) * code.width)


def _set_rows(code, num_actions, role, temperature, damping, averages, row, changes):
    """Change rows that are reached as the role has it. The last of `row` is the reach."""
    *old, here = (row.vector(x * code.width) for x in range(num_actions + 1))
    values = [averages.vector(x * code.width).converted(DOUBLE) for x in range(num_actions)]
    nothing = code.like(here, 0.0)
    with code.when(role.equals(ASCEND)):
        new, changed = best_row(code, values, old, here * TIE)
        is_new = nothing.where_at_least(here, 0.0, changed)
        count = code.builder.fadd(changes.number(0), sum_of(is_new))
        changes.put_number(0, count)
        for roll, chance in enumerate(new):
            row.put(roll * code.width, nothing.where_at_least(here, old[roll], chance))
    with code.when(role.equals(SOFTMAX)):
        weight = here * code.like(here, temperature)
        new = softened_row(code, values, old, weight, code.like(here, damping))
        for roll, chance in enumerate(new):
            row.put(roll * code.width, nothing.where_at_least(here, old[roll], chance))


def _value_afterstates(diagonal, landing, handover, cells, pages):
    """Value the afterstates of a total, as the cells are on which they land."""
    code, board = diagonal.code, diagonal.board
    first = (diagonal.lowest - board.beyond).at_least(0) // code.width
    end = diagonal.total.at_most(board.goal - 1 + board.given) // code.width + 1
    with code.loop(0, diagonal.shape.pages) as page, code.loop(first, end) as block:
        at = page * diagonal.afterstate_page + diagonal.afterstates() + block * code.width
        pages.put(at, gathered(cells, landings(diagonal, block, page, landing, handover)))
