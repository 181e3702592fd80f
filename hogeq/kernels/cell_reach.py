"""Reach by diagonals: the transpose of :mod:`hogeq.kernels.cell_values`."""

from hogeq.kernels.cell_vectors import Block, Board, Diagonal, Pairs, each_group, landings
from hogeq.kernels.recurrence import add_to_sums, depart, land_sums, remove_dice, spread_rolls
from hogeq.kernels.vectors import add_to_each, only


def write_reach(
    code,
    shape,
    keeps_memories,
    players,
    opponent,
    begun,
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
    policies,
    afterstates,
    cells,
    sums,
    lines,
    landed,
    stays,
    pair_numbers,
    reach,
    infoset_reach,
):
    """Reach of all cells of one match, player 0 to move, and of each memory if it `keeps_memories`.

    Player 1 follows the policy `opponent`, and `begun` is the probability of each player to begin.
    `reach` is filled by total, memory and opponent's score. All between `policies` and it is
    scratch; `cells` are 0 before and after.
    """
    board = Board(goal, width, afterstate_rows, cell_rows, beyond, given)
    num_actions, memories, nothing = shape.num_actions, shape.memories, code.vector(0.0)
    everyone = code.variable(nothing)
    with code.loop(0, goal * 2 - 1) as total:
        diagonal = Diagonal(code, shape, board, total)
        sums_size = diagonal.blocks * (shape.sums * code.width)
        with code.when(total.equals(0)):
            with code.loop(0, players * diagonal.afterstate_page * shape.pages // code.width) as x:
                afterstates.put(x * code.width, nothing)
            with code.loop(0, players * sums_size // code.width) as x:
                sums.put(x * code.width, nothing)
        kind = situation.number(total)
        with code.loop(0, players) as player:
            place = sums[player * sums_size :], diagonal.pages_of(afterstates, player)
            mine = diagonal.cells_of(cells, player)
            with code.loop(diagonal.first, diagonal.last) as block:
                _land(diagonal, block, groups, place, landing, handover, landed, mine)
        pairs = Pairs(diagonal, pair_numbers, stays)
        with code.loop(0, players if shape.stays else 0) as player:
            theirs = diagonal.cells_of(cells, players - 1 - player)
            with code.loop(diagonal.first, diagonal.last) as block:
                here = Block(diagonal, block)
                chances = _chances(here, policies, player * opponent, num_actions)
                begins = code.select(total.equals(0), begun, code.double(0.0))
                arrived = theirs.vector(diagonal.cells() + here.opponent)
                pairs.keep(here, player, arrived + only(code, 0, begins, 1), chances)
        with code.loop(0, players) as player:
            place = sums[player * sums_size :], diagonal.pages_of(afterstates, player)
            mine = diagonal.cells_of(cells, player)
            theirs = diagonal.cells_of(cells, players - 1 - player)
            with code.loop(diagonal.first, diagonal.last) as block:
                here = Block(diagonal, block)
                chances = _chances(here, policies, player * opponent, num_actions)
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
                    begins = code.select(is_start, begun, code.double(0.0))
                    arrived = arrived + only(code, 0, begins, 1)
                    if shape.stays:
                        arrived = pairs.visits(here, player, players - 1 - player)
                    everyone.set(everyone.get() + arrived)
                    with code.when(code.all_of(player.equals(0), keeps_memories.equals(1))):
                        reach.put((total * memories + memory) * width + here.opponent, arrived)
                    flows, _ = depart(chances, arrived, [None] * num_actions)
                    first = (kind * memories + memory) * num_actions
                    for roll, flow in enumerate(flows):
                        at = source.number(first + roll) * code.width
                        lines.put(at, lines.vector(at) + flow)
                with code.when(player.equals(0)):
                    landed.put(0, everyone.get())
                    here.write(infoset_reach, landed)
                _spread_lines(diagonal, block, kind, groups, place, no_dice, lines)
        with code.loop(0, players if shape.stays else 0) as player:
            # What turns without points leave, which leads to later cells.
            place = sums, diagonal.pages_of(afterstates, player)
            mine = diagonal.cells_of(cells, player)
            with code.loop(diagonal.first, diagonal.last) as block:
                _land(diagonal, block, None, place, landing, handover, landed, mine)


def _chances(here, policies, policy, num_actions):
    """Read the rows of a policy in the kernel's precision."""
    goal, element = here.diagonal.board.goal, here.code.kind.element
    rows = policies[policy * (goal * goal * num_actions) :]
    return [chance.converted(element) for chance in here.read(rows, num_actions)]


def _land(diagonal, block, groups, place, landing, handover, landed, cells):
    """Carry the reach of a block of afterstates to the cells on which they land.

    By sums of dice, too, unless `groups` is None.
    """
    code, shape, nothing = diagonal.code, diagonal.shape, diagonal.code.vector(0.0)
    with code.loop(0, shape.pages) as page:
        landed.put(page * code.width, nothing)
    for family, base, row in each_group(diagonal, block, groups, *place) if groups else ():
        if family.dice.depth:
            at = (row.number(0) + family.dice.record) * code.width
            landed.put(at, landed.vector(at) + land_sums(code, family.dice, base))
    _, pages = place
    with code.loop(0, shape.pages) as page:
        at = page * diagonal.afterstate_page + diagonal.afterstates() + block * code.width
        by_sums = landed.vector(page * code.width)
        flow = (pages.vector(at) + by_sums).above_rounding(by_sums)
        pages.put(at, nothing)
        add_to_each(cells, landings(diagonal, block, page, landing, handover), flow)


def _spread_lines(diagonal, block, kind, groups, place, no_dice, lines):
    """Carry the reach of every line at the cells of a block a die further, or to afterstates."""
    code, shape, goal = diagonal.code, diagonal.shape, diagonal.board.goal
    for number in range(shape.situations):
        with code.when(kind.equals(number)):
            for family, base, row in each_group(diagonal, block, groups, *place):
                rolls, dice, first = family.rolls[number], family.dice, row.number(2 + number)
                flows = [code.vector(0.0)] * shape.num_actions
                for x, roll in enumerate(rolls):
                    flows[roll] = lines.vector((first + x) * code.width)
                if dice.depth:
                    code.either(
                        (diagonal.total & 1).equals(0),
                        lambda: remove_dice(code, dice, base, flows),  # noqa: B023 - runs at once
                        lambda: add_to_sums(dice, base, flows),  # noqa: B023
                    )
                if rolls:
                    spread_rolls(code, dice, base, flows)
                if 0 in rolls:
                    at = (goal * 2 - 1) * family.kind + diagonal.total
                    places = no_dice.indices(at * diagonal.board.width + block * code.width)
                    add_to_each(base.page, places, flows[0])
