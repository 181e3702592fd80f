"""Values and reach by diagonals, in the layout of :mod:`hogeq.kernels.cell_vectors`.

Both passes take the numbers of :class:`hogeq.kernels.cell_vectors.Board`; the tables `landing`,
`no_dice`, `handover`, `groups`, `situation` and `line_of_roll`, which
:class:`hogeq.model.cell_passes.CellLayout` makes; `policies`; and, as scratch, `afterstates`,
`cells`, `sums` and `lines`.
"""

from hogeq.kernels import recurrence
from hogeq.kernels.arrays import ASCEND, COUNTERFACTUAL, EVALUATE
from hogeq.kernels.cell_vectors import Block, Diagonal, each_group, landing_positions
from hogeq.kernels.staged import DOUBLE
from hogeq.kernels.vectors import gather, one_hot, scatter_add

# --- values -----------------------------------------------------------------------------------


def write_values(code, shape, args):
    """Write the kernel of a pass backward: win probabilities, and updates of player 0's policy.

    A diagonal is the cells of one total of both scores, a block those of one vector, a line a roll
    as some memories play it, an afterstate the scores that a turn leaves. Each diagonal, that of
    the highest total first, emits for each player, 2 to 5 by block:
    1. sums of dice, for it and the diagonal below it;
    2. by match, the win probability of each line, from sums and afterstates;
    3. unless the role is EVALUATE, counterfactual values of player 0's rolls, weighted by `reach`;
    4. if the role is ASCEND or SOFTMAX, new rows of player 0's policy;
    5. by match, the win probability of each memory, from the lines that it plays.
    At last the afterstates of the diagonal get the value of the cells on which they land.

    Read are `reach`, of :func:`write_reach`, by match, and `infoset_reach`, (G, G), of the mixture;
    `weights`, the shares of the matches; `sums_past_goal`; `policies`, (1 + matches,
    G, G, K) or one alone in self-play, or if `are_matrices` without K: rolls. Written are `starts`,
    the win probability of who begins, by match and player; by the role `action_values`, (G, G, K),
    or rows of ``policies[0]`` and ``changes[0]``, how many changed. `row` and `action_sums`
    are scratch, K vectors each: a block's rows and the counterfactual values of its rolls.
    """
    goal, players, matches = args.goal, args.players, args.matches
    cells_of_board, is_matrix = goal * goal, args.are_matrices.equals(1)
    policy_size = code.select(is_matrix, cells_of_board, cells_of_board * shape.num_actions)
    args.changes.put_number(0, code.double(0.0))
    with code.loop(0, goal * 2 - 1 + args.totals_beyond, down=True) as total:
        diagonal = Diagonal(code, shape, args, total, args.sums_past_goal)
        with code.loop(0, players) as player:
            _value_sums(diagonal, player)
            with (
                code.when(total < goal * 2 - 1),
                code.loop(diagonal.first_block, diagonal.end_block) as block,
            ):
                _value_block(Block(diagonal, block), player, is_matrix, policy_size)
        with code.loop(0, matches * players) as seat:
            _value_afterstates(diagonal, seat)


def _value_block(cells, player, is_matrix, policy_size):
    """Emit steps 2 to 5 of :func:`write_values` for a player at the cells of one vector.

    They value, in code that is run for each match (an opponent of player 0): 2. every roll, to
    `lines`; 3. player 0's rolls by counterfactual value, summed over matches in `action_sums`; 4.
    new rows of player 0's policy; 5. every memory, by the rolls that the policy of the player takes
    there. Policies have `policy_size` numbers each; if `is_matrix`, one roll for each cell, else K
    probabilities. A situation is a kind of cell, by which the modes of rolls differ.
    """
    code, diagonal, args, shape = cells.code, cells.diagonal, cells.args, cells.shape
    role, players, matches = args.role, args.players, args.matches
    situation = args.situation.number(diagonal.total)
    with code.when(role.differs(EVALUATE)):
        for roll in range(shape.num_actions):
            args.action_sums.put_nth_vector(roll, code.vector(0.0))
    with code.loop(0, matches) as match:
        seat = match * players + player
        lines = args.lines[match * (shape.most_lines * code.width) :]
        _value_lines(diagonal, cells.block, situation, seat, lines)
        with code.when(code.all_of(role.differs(EVALUATE), player.equals(0))):
            _add_action_values(cells, situation, match, lines)
    with code.when(player.equals(0)):
        _read_rows(cells, args.policies, is_matrix, args.row)
        with code.when(role.equals(COUNTERFACTUAL)):
            cells.write(args.action_values, args.action_sums, shape.num_actions)
        with code.when(role >= ASCEND):
            _update_rows(cells)
    with code.loop(0, matches) as match:
        seat = match * players + player
        with code.when(player.equals(1)):
            policy = args.policies[(match + 1) * policy_size :]
            _read_rows(cells, policy, is_matrix, args.row)
        lines = args.lines[match * (shape.most_lines * code.width) :]
        _value_memories(cells, situation, match, player, seat, lines)


def _value_sums(diagonal, player):
    """Emit code that values sums of n dice at a player's cells, for two totals at a time.

    The value of a sum is the part of the win probability of n dice by outcomes that show no 1.
    Cells are pairs of scores of one total. Sums of two totals are computed at once, since they
    share vectors that are read: totals are paired, from the highest one from which sums are read
    down. At the upper total of a pair the code computes both, at the lower nothing. A match is one
    opponent of player 0, and a seat a player of a match; the groups have the rolls that lead to the
    same scores after a turn.
    """
    code, shape, args, total = diagonal.code, diagonal.shape, diagonal.args, diagonal.total
    highest = args.goal * 2 - 2 + shape.most_sides
    is_upper = ((highest - total) & 1).equals(0)
    with code.when(code.all_of(is_upper, highest >= total)):
        first = (total - args.goal - shape.most_sides).at_least(0) // code.width
        with code.loop(first, diagonal.end_block) as block, code.loop(0, args.matches) as match:
            seat = match * args.players + player
            for family, base, _ in each_group(diagonal, block, seat):
                recurrence.value_dice_sums(code, family.dice, base)


def _add_action_values(cells, situation, match, lines):
    """Emit code that adds a match's counterfactual values at a block's cells to `action_sums`.

    A block is the neighbouring cells of one vector. The values are win probabilities of `lines`
    (rolls as some memories play them), weighted by the match's share and reach, and summed over
    memories.
    """
    code, diagonal, args = cells.code, cells.diagonal, cells.args
    num_actions, memories = diagonal.shape.num_actions, diagonal.shape.num_memories
    first_row = diagonal.reach_row(match)
    weight = code.vector(args.weights.number(match))
    no_members = [None] * num_actions  # no roll gains a bonus in this layout
    with code.loop(0, memories) as memory:
        reach = args.reach.vector(cells.row_position(first_row + memory)) * weight
        line_of = _line_reader(diagonal, situation, memory, lines)
        weighted_values = recurrence.reach_weighted_values(reach, no_members, line_of, None)
        for roll, value in enumerate(weighted_values):
            args.action_sums.put_nth_vector(roll, args.action_sums.nth_vector(roll) + value)


def _update_rows(cells):
    """Emit code that changes player 0's policy at a vector's cells by the role: ASCEND or SOFTMAX.

    From the rows in `row` and the counterfactual values in `action_sums`, K vectors each.
    """
    code, args, row = cells.code, cells.args, cells.args.row
    num_actions = cells.shape.num_actions
    values = [args.action_sums.nth_vector(roll).converted(DOUBLE) for roll in range(num_actions)]
    (reach,) = cells.read(args.infoset_reach)
    old_row = [row.nth_vector(roll) for roll in range(num_actions)]
    recurrence.emit_row_update(code, args, values, old_row, reach, row.put_nth_vector)
    cells.write(args.policies, row, num_actions)


def _value_memories(cells, situation, match, player, seat, lines):
    """Emit code that values each memory at a block's cells, from the `lines` that it plays.

    A block is the neighbouring cells of one vector, a line a roll as some memories play it, a seat
    a player of a match. Written are the other player's win probability, and if a player can move
    twice the mover's too; at the cell where play begins, the mover's goes to `starts`.
    """
    code, diagonal, args = cells.code, cells.diagonal, cells.args
    memories, num_actions = cells.shape.num_memories, cells.shape.num_actions
    policy = [args.row.nth_vector(roll).converted(code.kind.element) for roll in range(num_actions)]
    other_player = args.players - 1 - player
    own_cells = diagonal.cells_of(seat)
    others_cells = diagonal.cells_of(match * args.players + other_player)
    no_members = ((),) * num_actions  # no roll gains a bonus in this layout
    with code.loop(0, memories) as memory:
        line_of = _line_reader(diagonal, situation, memory, lines)
        (lost,) = recurrence.loss_probabilities(
            code,
            policy,
            line_of,
            read_value_with_bonus=None,
            bonus_members=no_members,
            num_memories=1,
        )
        position = cells.page_position(memory)
        others_cells.put(position, lost)
        if cells.shape.moves_again:
            own_cells.put(position + memories * args.cell_page, 1.0 - lost)
        with code.when(code.all_of(diagonal.total.equals(0), memory.equals(0))):
            args.starts.put_number(seat, (1.0 - lost).number(0))


def _read_rows(cells, policies, is_matrix, row):
    """Emit code that copies a policy's probabilities at a vector's cells to `row`, K vectors.

    Of a matrix (a pure strategy), which has the number of a roll for each cell, as 0 and 1.
    """
    code, num_actions = cells.code, cells.shape.num_actions
    with code.builder.if_else(is_matrix) as (of_matrix, of_policy):
        with of_matrix:
            (chosen,) = cells.read(policies)  # rolls: one has probability 1, the others 0
            for roll in range(num_actions):
                is_less = chosen.where_at_least(roll, 0.0, 1.0)
                is_at_most = chosen.where_at_least(roll + 1, 0.0, 1.0)
                row.put_nth_vector(roll, is_at_most - is_less)
        with of_policy:
            for roll, probability in enumerate(cells.read(policies, num_actions)):
                row.put_nth_vector(roll, probability)


def _value_lines(diagonal, block, situation, seat, lines):
    """Emit code that writes the win probability of every roll at a block's cells to `lines`.

    A block is the neighbouring cells of one vector. A line is the vector of one roll of one group:
    of a kind of turn, with one part of the memory carried along, so that it serves all memories for
    which the roll is worth the same. A family has the groups of equal rolls, whose lines follow
    each other from `first_line`. Which rolls there are depends on the situation, a kind of cell, so
    that the code of each situation is emitted, as a branch. `seat` is a player of a match.
    """
    code, shape = diagonal.code, diagonal.shape
    for number in range(shape.situations):
        with code.when(situation.equals(number)):
            for family, base, group_row in each_group(diagonal, block, seat):
                rolls = family.situation_rolls[number]
                if 0 in rolls:
                    base.no_dice_positions = diagonal.no_dice(family.kind, block)
                values = ()
                if rolls:
                    values = recurrence.value_rolls(code, family.dice, base, shape.num_actions)
                first_line = group_row.number(2 + number)
                for index, roll in enumerate(rolls):
                    lines.put_nth_vector(first_line + index, values[roll])


def _line_reader(diagonal, situation, memory, lines):
    """Return a function that reads the line that a memory plays for a roll: a Vector."""
    line_of_roll = diagonal.args.line_of_roll
    first = diagonal.roll_entries(situation, memory)
    return lambda roll: lines.nth_vector(line_of_roll.number(first + roll))


def _value_afterstates(diagonal, seat):
    """Emit code that values a diagonal's afterstates: as the cells on which they land.

    A diagonal is the cells of one total of both scores. They are written to pages, which have an
    entry for each total in use and opponent's score, a block (vector) at a time.
    """
    code, args = diagonal.code, diagonal.args
    cells, pages = diagonal.cells_of(seat), diagonal.pages_of(seat)
    first = (diagonal.lowest - args.totals_beyond).at_least(0) // code.width
    end = diagonal.total.at_most(args.goal - 1 + args.most_gift) // code.width + 1
    with code.loop(0, diagonal.shape.num_pages) as page, code.loop(first, end) as block:
        position = diagonal.afterstate_position(page, block)
        pages.put(position, gather(cells, landing_positions(diagonal, block, page)))


# --- reach ------------------------------------------------------------------------------------


def write_reach(code, shape, args):
    """Write the kernel of a pass forward: reach of cells and memories with player 0 to move.

    A diagonal is the cells of one total of both scores, a block those of one vector, a line a roll
    as some memories play it, an afterstate the scores that a turn leaves. Each diagonal, that of
    the lowest total first, emits for each player, by block:
    1. the reach of its afterstates goes to the cells on which they land;
    2. the reach of each memory, times the policy, goes to the lines that it plays;
    3. that of lines goes to sums and afterstates.

    Player 1 follows the policy of number `opponent`, and `start_probability` is that of each player
    to begin. Written are `infoset_reach`, (G, G), the sum over memories, and if it `keeps_memories`
    `reach`, by total, memory and opponent's score. `landing_reach` is scratch, a vector for each
    page; `cells` are 0 before and after.
    """
    players, total_reach = args.players, code.variable(code.vector(0.0))
    with code.loop(0, args.goal * 2 - 1) as total:
        diagonal = Diagonal(code, shape, args, total)
        with code.when(total.equals(0)):
            _clear(code, args.afterstates, players * (args.afterstate_page * shape.num_pages))
            _clear(code, args.sums, players * args.sums_size)
        situation = args.situation.number(total)
        with (
            code.loop(0, players) as player,
            code.loop(diagonal.first_block, diagonal.end_block) as block,
        ):
            _move_to_cells(diagonal, block, player)
        with code.loop(0, players) as player:
            own_cells = diagonal.cells_of(player)
            others_cells = diagonal.cells_of(players - 1 - player)
            with code.loop(diagonal.first_block, diagonal.end_block) as block:
                cells = Block(diagonal, block)
                _spread_over_lines(cells, situation, player, own_cells, others_cells, total_reach)
                with code.when(player.equals(0)):
                    args.landing_reach.put(0, total_reach.get())  # `write` takes it from memory
                    cells.write(args.infoset_reach, args.landing_reach)
                _carry_lines(diagonal, block, situation, player)


def _clear(code, array, size):
    """Emit code that sets the first `size` numbers of an array to 0, whole vectors."""
    with code.loop(0, size // code.width) as vector:
        array.put_nth_vector(vector, code.vector(0.0))


def _spread_over_lines(cells, situation, player, own_cells, others_cells, total_reach):
    """Emit code that adds the reach of each memory at a block's cells to the lines it plays.

    A block is the cells of one vector, a line a roll as some memories play it. Reach comes from the
    cells of both players, `own_cells` and `others_cells`; it is written to `reach` if that is to be
    kept, and summed in `total_reach`, a Variable.
    """
    code, diagonal, args, shape = cells.code, cells.diagonal, cells.args, cells.shape
    lines, nothing = args.lines, code.vector(0.0)
    policy = _policy_of(cells, player)
    for line in range(shape.most_lines):
        lines.put_nth_vector(line, nothing)
    total_reach.set(nothing)
    with code.loop(0, shape.num_memories) as memory:
        reach = _take_arriving(cells, memory, own_cells, others_cells)
        total_reach.set(total_reach.get() + reach)
        with code.when(code.all_of(player.equals(0), args.keeps_memories.equals(1))):
            row = diagonal.reach_row(0) + memory  # of one match
            args.reach.put(cells.row_position(row), reach)
        no_members = [None] * shape.num_actions  # no roll gains a bonus in this layout
        flows, _ = recurrence.reach_of_rolls(policy, reach, no_members)
        first = diagonal.roll_entries(situation, memory)
        for roll, flow in enumerate(flows):
            line = args.line_of_roll.number(first + roll)
            lines.put_nth_vector(line, lines.nth_vector(line) + flow)


def _policy_of(cells, player):
    """Emit code that reads a player's policy at a block's cells: a Vector for each roll."""
    args, num_actions = cells.args, cells.shape.num_actions
    # Player 0 follows the first policy, player 1 that of number `opponent`.
    policy_size = args.goal * args.goal * num_actions
    policy = args.policies[player * args.opponent * policy_size :]
    element = cells.code.kind.element
    return [probability.converted(element) for probability in cells.read(policy, num_actions)]


def _take_arriving(cells, memory, own_cells, others_cells):
    """Emit code that reads a memory's reach at a block's cells, a Vector, and sets it to 0.

    Turns of the other player have added to it, and where a player can move twice, own turns too;
    where play begins, the start probability is added.
    """
    code, diagonal, zero = cells.code, cells.diagonal, cells.code.vector(0.0)
    position = cells.page_position(memory)
    arrived = others_cells.vector(position)  # from turns of the other player
    others_cells.put(position, zero)
    if cells.shape.moves_again:
        position = position + cells.shape.num_memories * cells.args.cell_page
        arrived = arrived + own_cells.vector(position)
        own_cells.put(position, zero)
    is_start = code.all_of(diagonal.total.equals(0), memory.equals(0))
    start_probability = code.select(is_start, cells.args.start_probability, code.double(0.0))
    return arrived + one_hot(code, index=0, number=start_probability, num_registers=1)


def _move_to_cells(diagonal, block, player):
    """Emit code that moves the reach of a block of afterstates to the cells on which they land.

    Afterstates are the scores after a turn, cells those before the next, a block the neighbours in
    one vector. A page is a block of memory with the afterstates of one record: of what is
    remembered of a turn.

    1. For each page, the reach that sums of dice bring to the afterstates, to `landing_reach`.
    2. Add the afterstates' own reach, set that to 0, and add the sum at the cells.
    """
    code, shape, landing_reach = diagonal.code, diagonal.shape, diagonal.args.landing_reach
    zero, pages, cells = code.vector(0.0), diagonal.pages_of(player), diagonal.cells_of(player)
    with code.loop(0, shape.num_pages) as page:
        landing_reach.put_nth_vector(page, zero)
    for family, base, group_row in each_group(diagonal, block, player):
        if family.dice.most_summed:
            page = group_row.number(0) + family.dice.sum_record
            before = landing_reach.nth_vector(page)
            by_sums = recurrence.reach_landing_from_sums(code, family.dice, base)
            landing_reach.put_nth_vector(page, before + by_sums)
    with code.loop(0, shape.num_pages) as page:
        position = diagonal.afterstate_position(page, block)
        by_sums = landing_reach.nth_vector(page)
        # Targets correct the sums, so that little but rounding may be left.
        flow = (pages.vector(position) + by_sums).zero_where_rounding(by_sums)
        pages.put(position, zero)
        scatter_add(cells, landing_positions(diagonal, block, page), flow)


def _carry_lines(diagonal, block, situation, player):
    """Emit code that carries the reach of a block's rolls on: to sums of dice, and afterstates.

    A block is the neighbouring cells of one vector, a line the reach of one roll by all memories
    for which it has the same outcomes, an afterstate the scores after a turn. The reach of
    sums of n dice goes to sums of n - 1 dice, as many points higher as a die shows; that of rolls
    goes to the targets of the dice too, their outcomes apart from sums. Sums are carried for two
    totals at once, at the even one, which comes first; the odd one adds its own reach to what that
    wrote.
    """
    code, shape = diagonal.code, diagonal.shape
    for number in range(shape.situations):
        with code.when(situation.equals(number)):
            for family, base, group_row in each_group(diagonal, block, player):
                rolls, dice = family.situation_rolls[number], family.dice
                first_line = group_row.number(2 + number)
                flows = [code.vector(0.0)] * shape.num_actions
                for index, roll in enumerate(rolls):
                    flows[roll] = diagonal.args.lines.nth_vector(first_line + index)
                if dice.most_summed:
                    is_even = (diagonal.total & 1).equals(0)
                    with code.builder.if_else(is_even) as (first_of_two, second):
                        with first_of_two:
                            recurrence.carry_reach_of_dice_sums(code, dice, base, flows)
                        with second:
                            recurrence.add_reach_to_dice_sums(dice, base, flows)
                if rolls:
                    recurrence.carry_reach_to_targets(code, dice, base, flows)
                if 0 in rolls:
                    scatter_add(base.page, diagonal.no_dice(family.kind, block), flows[0])
