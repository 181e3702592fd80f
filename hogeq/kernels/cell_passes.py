"""Values and reach by diagonals, in the layout of :mod:`hogeq.kernels.cell_vectors`.

Both passes take the numbers of :class:`hogeq.kernels.cell_vectors.Board`; the tables `landing`,
`no_dice`, `handover`, `groups`, `situation` and `source`, which
:class:`hogeq.model.cell_passes.CellLayout` makes; `policies`; and, as scratch, `afterstates`,
`cells`, `sums` and `lines`.
"""

from hogeq.kernels.arrays import ASCEND, COUNTERFACTUAL, EVALUATE
from hogeq.kernels.cell_vectors import Block, Diagonal, each_group, landings
from hogeq.kernels.recurrence import (
    add_reach_to_dice_sums,
    carry_reach_of_dice_sums,
    carry_reach_to_targets,
    emit_row_update,
    loss_probabilities,
    reach_landing_from_sums,
    reach_of_rolls,
    reach_weighted_values,
    value_dice_sums,
    value_rolls,
)
from hogeq.kernels.staged import DOUBLE
from hogeq.kernels.vectors import gather, one_hot, scatter_add

# --- values -----------------------------------------------------------------------------------


def write_values(code, shape, args):
    """Backward induction, one diagonal after the other; the role is player 0's, in every match.

    Filled are `starts`, with who wins by beginning, by match and player, and, as the role has it,
    `action_values`, or the rows of player 0 in `policies` and ``changes[0]``, how many changed.
    `reach` is of :func:`write_reach`, by match, `weights` the shares of the matches, and
    `infoset_reach` the mixture's. Policies may be matrices if `are_matrices`. `row` and `averages`
    are scratch, and `edge` has the sums past the goal.
    """
    num_actions, memories, nothing = shape.num_actions, shape.memories, code.vector(0.0)
    goal, width, role, changes = args.goal, args.width, args.role, args.changes
    players, matches, row, averages = args.players, args.matches, args.row, args.averages
    cells_of_board, is_matrix = goal * goal, args.are_matrices.equals(1)
    policy_size = code.select(is_matrix, cells_of_board, cells_of_board * num_actions)
    changes.put_number(0, code.double(0.0))
    with code.loop(0, goal * 2 - 1 + args.beyond, down=True) as total:
        diagonal = Diagonal(code, shape, args, total, args.edge)
        with code.loop(0, players) as player:
            # In pairs of totals, the highest from which sums are read among the upper ones.
            highest = goal * 2 - 2 + shape.most_sides
            is_upper = ((highest - total) & 1).equals(0)
            with code.when(code.all_of(is_upper, highest >= total)):
                first = (total - goal - shape.most_sides).at_least(0) // code.width
                with code.loop(first, diagonal.last) as block, code.loop(0, matches) as match:
                    for family, base, _ in each_group(diagonal, block, match * players + player):
                        value_dice_sums(code, family.dice, base)
            with (
                code.when(total < goal * 2 - 1),
                code.loop(diagonal.first, diagonal.last) as block,
            ):
                here = Block(diagonal, block)
                kind = args.situation.number(total)
                with code.when(role.differs(EVALUATE)):
                    for roll in range(num_actions):
                        averages.put(roll * code.width, nothing)
                with code.loop(0, matches) as match:
                    seat = match * players + player
                    lines = args.lines[match * (shape.lines * code.width) :]
                    _value_lines(diagonal, block, kind, seat, lines)
                    with code.when(code.all_of(role.differs(EVALUATE), player.equals(0))):
                        first = (match * (goal * 2 - 1) + total) * memories
                        share = code.vector(args.weights.number(match))
                        with code.loop(0, memories) as memory:
                            at = (first + memory) * width + here.opponent
                            arrived = args.reach.vector(at) * share
                            worth = _lines_of(diagonal, kind, memory, lines)
                            weighted = reach_weighted_values(
                                arrived, [None] * num_actions, worth, None
                            )
                            for roll, value in enumerate(weighted):
                                at = roll * code.width
                                averages.put(at, averages.vector(at) + value)
                with code.when(player.equals(0)):
                    _read_rows(here, args.policies, is_matrix, row)
                    with code.when(role.equals(COUNTERFACTUAL)):
                        here.write(args.action_values, averages, num_actions)
                    with code.when(role >= ASCEND):
                        at = [roll * code.width for roll in range(num_actions)]
                        worth = [averages.vector(x).converted(DOUBLE) for x in at]
                        (reached,) = here.read(args.infoset_reach)
                        old = [row.vector(x) for x in at]

                        def put(roll, probability):
                            row.put(at[roll], probability)

                        emit_row_update(code, args, worth, old, reached, put)
                        here.write(args.policies, row, num_actions)
                with code.loop(0, matches) as match:
                    seat = match * players + player
                    with code.when(player.equals(1)):
                        table = args.policies[(match + 1) * policy_size :]
                        _read_rows(here, table, is_matrix, row)
                    lines = args.lines[match * (shape.lines * code.width) :]
                    chances = [
                        row.vector(x * code.width).converted(code.kind.element)
                        for x in range(num_actions)
                    ]
                    mine = diagonal.cells_of(seat)
                    theirs = diagonal.cells_of(match * players + players - 1 - player)
                    with code.loop(0, memories) as memory:
                        worth = _lines_of(diagonal, kind, memory, lines)
                        (lost,) = loss_probabilities(
                            code, chances, worth, None, ((),) * num_actions, 1
                        )
                        at = memory * diagonal.cell_page + diagonal.cells() + here.opponent
                        theirs.put(at, lost)
                        if shape.moves_again:
                            mine.put(at + memories * diagonal.cell_page, 1.0 - lost)
                        with code.when(code.all_of(total.equals(0), memory.equals(0))):
                            args.starts.put_number(seat, (1.0 - lost).number(0))
        with code.loop(0, matches * players) as seat:
            _value_afterstates(diagonal, seat)


def _read_rows(here, policies, is_matrix, row):
    """Copy the rows of a policy, or of a matrix: one roll for each cell."""
    code, num_actions = here.code, here.diagonal.shape.num_actions
    with code.builder.if_else(is_matrix) as (one_roll, chances):
        with one_roll:
            (chosen,) = here.read(policies)
            for roll in range(num_actions):
                is_less = chosen.where_at_least(roll, 0.0, 1.0)
                chance = chosen.where_at_least(roll + 1, 0.0, 1.0) - is_less
                row.put(roll * code.width, chance)
        with chances:
            for roll, chance in enumerate(here.read(policies, num_actions)):
                row.put(roll * code.width, chance)


def _value_lines(diagonal, block, kind, seat, lines):
    """Value every line at the cells of a block."""
    code, shape = diagonal.code, diagonal.shape
    for number in range(shape.situations):
        with code.when(kind.equals(number)):
            for family, base, row in each_group(diagonal, block, seat):
                rolls = family.rolls[number]
                if 0 in rolls:
                    base.none = diagonal.no_dice(family.kind, block)
                worth = value_rolls(code, family.dice, base, shape.num_actions) if rolls else ()
                first = row.number(2 + number)
                for x, roll in enumerate(rolls):
                    lines.put((first + x) * code.width, worth[roll])


def _lines_of(diagonal, kind, memory, lines):
    """Return the reader of the line that a memory plays for a roll."""
    shape, source = diagonal.shape, diagonal.args.source
    first = (kind * shape.memories + memory) * shape.num_actions
    return lambda roll: lines.vector(source.number(first + roll) * diagonal.code.width)


def _value_afterstates(diagonal, seat):
    """Value the afterstates of a total, as the cells are on which they land."""
    code, args = diagonal.code, diagonal.args
    cells, pages = diagonal.cells_of(seat), diagonal.pages_of(seat)
    first = (diagonal.lowest - args.beyond).at_least(0) // code.width
    end = diagonal.total.at_most(args.goal - 1 + args.given) // code.width + 1
    with code.loop(0, diagonal.shape.pages) as page, code.loop(first, end) as block:
        at = page * diagonal.afterstate_page + diagonal.afterstates() + block * code.width
        pages.put(at, gather(cells, landings(diagonal, block, page)))


# --- reach ------------------------------------------------------------------------------------


def write_reach(code, shape, args):
    """Reach of all cells of one match, player 0 to move, and of each memory if it `keeps_memories`.

    Player 1 follows the policy `opponent`, and `begun` is the probability of each player to begin.
    `infoset_reach` is filled, and `reach` by total, memory and opponent's score. `landed` is
    scratch; `cells` are 0 before and after.
    """
    num_actions, memories, nothing = shape.num_actions, shape.memories, code.vector(0.0)
    players, lines, everyone = args.players, args.lines, code.variable(nothing)
    with code.loop(0, args.goal * 2 - 1) as total:
        diagonal = Diagonal(code, shape, args, total)
        with code.when(total.equals(0)):
            for scratch, size in (
                (args.afterstates, diagonal.afterstate_page * shape.pages),
                (args.sums, diagonal.sums_size),
            ):
                with code.loop(0, players * size // code.width) as x:
                    scratch.put(x * code.width, nothing)
        kind = args.situation.number(total)
        with (
            code.loop(0, players) as player,
            code.loop(diagonal.first, diagonal.last) as block,
        ):
            _land(diagonal, block, player)
        with code.loop(0, players) as player:
            mine, theirs = diagonal.cells_of(player), diagonal.cells_of(players - 1 - player)
            with code.loop(diagonal.first, diagonal.last) as block:
                here = Block(diagonal, block)
                chances = _chances(here, player)
                for x in range(shape.lines):
                    lines.put(x * code.width, nothing)
                everyone.set(nothing)
                with code.loop(0, memories) as memory:
                    at = memory * diagonal.cell_page + diagonal.cells() + here.opponent
                    arrived = theirs.vector(at)
                    theirs.put(at, nothing)
                    if shape.moves_again:
                        at = at + memories * diagonal.cell_page
                        arrived = arrived + mine.vector(at)
                        mine.put(at, nothing)
                    is_start = code.all_of(total.equals(0), memory.equals(0))
                    begins = code.select(is_start, args.begun, code.double(0.0))
                    arrived = arrived + one_hot(code, 0, begins, 1)
                    everyone.set(everyone.get() + arrived)
                    with code.when(code.all_of(player.equals(0), args.keeps_memories.equals(1))):
                        at = (total * memories + memory) * args.width + here.opponent
                        args.reach.put(at, arrived)
                    flows, _ = reach_of_rolls(chances, arrived, [None] * num_actions)
                    first = (kind * memories + memory) * num_actions
                    for roll, flow in enumerate(flows):
                        at = args.source.number(first + roll) * code.width
                        lines.put(at, lines.vector(at) + flow)
                with code.when(player.equals(0)):
                    args.landed.put(0, everyone.get())
                    here.write(args.infoset_reach, args.landed)
                _spread_lines(diagonal, block, kind, player)


def _chances(here, player):
    """Read the rows of a player's policy in the kernel's precision."""
    args, num_actions = here.diagonal.args, here.diagonal.shape.num_actions
    rows = args.policies[player * args.opponent * (args.goal * args.goal * num_actions) :]
    return [chance.converted(here.code.kind.element) for chance in here.read(rows, num_actions)]


def _land(diagonal, block, player):
    """Carry the reach of a block of afterstates, by sums of dice too, to where they land."""
    code, shape, landed = diagonal.code, diagonal.shape, diagonal.args.landed
    nothing, pages, cells = code.vector(0.0), diagonal.pages_of(player), diagonal.cells_of(player)
    with code.loop(0, shape.pages) as page:
        landed.put(page * code.width, nothing)
    for family, base, row in each_group(diagonal, block, player):
        if family.dice.depth:
            at = (row.number(0) + family.dice.record) * code.width
            landed.put(at, landed.vector(at) + reach_landing_from_sums(code, family.dice, base))
    with code.loop(0, shape.pages) as page:
        at = page * diagonal.afterstate_page + diagonal.afterstates() + block * code.width
        summed = landed.vector(page * code.width)
        flow = (pages.vector(at) + summed).zero_where_rounding(summed)
        pages.put(at, nothing)
        scatter_add(cells, landings(diagonal, block, page), flow)


def _spread_lines(diagonal, block, kind, player):
    """Carry the reach of every line at the cells of a block a die further, or to afterstates."""
    code, shape = diagonal.code, diagonal.shape
    for number in range(shape.situations):
        with code.when(kind.equals(number)):
            for family, base, row in each_group(diagonal, block, player):
                rolls, dice, first = family.rolls[number], family.dice, row.number(2 + number)
                flows = [code.vector(0.0)] * shape.num_actions
                for x, roll in enumerate(rolls):
                    flows[roll] = diagonal.args.lines.vector((first + x) * code.width)
                if dice.depth:
                    is_even = (diagonal.total & 1).equals(0)
                    with code.builder.if_else(is_even) as (first_of_two, second):
                        with first_of_two:
                            carry_reach_of_dice_sums(code, dice, base, flows)
                        with second:
                            add_reach_to_dice_sums(dice, base, flows)
                if rolls:
                    carry_reach_to_targets(code, dice, base, flows)
                if 0 in rolls:
                    scatter_add(base.page, diagonal.no_dice(family.kind, block), flows[0])
