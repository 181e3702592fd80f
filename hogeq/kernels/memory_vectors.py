"""The layout for large memories: a vector holds the values of the memories of one cell.

A memory is the mover's own record, of its last turn, by which rolls play, and the opponent's, which
is only carried. The win probabilities of a roll are one vector of W numbers, a *lane* for each
record of the opponent's, and a cell has one such vector for each own record that changes how rolls
play. When the turn passes, the two records change places: a matrix of them is transposed.

A *column* is the cells of one opponent's score. It keeps what its bases lead to, or come from: its
afterstates by record, its rolls and its sums, each in a ring no longer than it is needed. So the
columns in use stay in the processor's second-level cache. The table `column_positions` has a row
for each score, from some below 0 on: where each record of an afterstate lies in the column, then
where the rolls of a base do, then its sums.

A *seat* is a player of a match: match * players + player. K is the number of rolls, G the goal.
"""

from typing import NamedTuple

from hogeq.kernels import recurrence
from hogeq.kernels.arrays import ASCEND, EVALUATE, Dice
from hogeq.kernels.vectors import entry_sum, entry_sums, one_hot, transposed

PREFETCH_DISTANCE = 4  # so many visits ahead, a cell's numbers are loaded into the cache


class Shape(NamedTuple):
    """Constants of kernels, the same in every cell, at any goal."""

    lanes: int  # W: records of the opponent's, padded to fill registers of the processor
    num_actions: int  # K
    active_records: int  # own records by which rolls may play: the first ones
    num_records: int
    bonus_points: int  # that members gain before a roll
    bonus_members: tuple[tuple[int, ...], ...]  # by roll, the own records that gain the bonus
    left_records: tuple[int, ...]  # that turns leave
    records_of_one_base: tuple[int, ...]
    """Those of them left by one number of points alone: each afterstate has but one base."""
    shared_records: tuple[int, ...]  # the others
    dice: Dice

    @property
    def rows_below(self) -> int:
        """Rows of the table `column_positions` before that of score 0."""
        return self.dice.sides + 1

    @property
    def row_size(self) -> int:
        """Numbers of a row of the table `column_positions`."""
        return self.num_records + 2

    @property
    def sums_ring(self) -> int:
        """Bases whose sums a column keeps."""
        return self.dice.sides + 2 if self.dice.most_summed else 0

    @property
    def reach_size(self) -> int:
        """Numbers kept of a cell's reach: W of all memories, then W of each roll's members."""
        return (1 + sum(map(bool, self.bonus_members))) * self.lanes


class _ColumnBase:
    """A base, the scores from which a roll counts its points: where its numbers lie in a column.

    It is one in the sense of :class:`hogeq.kernels.recurrence.Base`. Its column is that of a seat
    and an opponent's score, `own` its own score; `direction` is 1 in the pass of values and -1 in
    that of reach. Positions are indices, known when the emitted code runs, of the first number of a
    vector in `column`; ``column.vector`` reads a vector there and ``column.put`` writes one.
    """

    def __init__(self, code, shape, args, seat, opponent, own, direction=1):
        self.code = code
        self.shape = shape
        self.args = args
        self.column = args.columns[(seat * args.goal + opponent) * args.column_size :]
        self.num_registers = shape.lanes // code.width
        self._own = own
        self._direction = direction
        # Only the pass of values sets and reads these.
        self.wins_at_once = None
        self.no_dice_position = None

    def _read_position(self, away, entry):
        """Read an entry of `column_positions`, for the base so many points above this one."""
        row = self._own + (away + self.shape.rows_below)
        return self.args.column_positions.number(row * self.shape.row_size + entry)

    def rolls_position(self, bonus=0):
        """Position of the rolls' vectors of this base, or of the base `bonus` points above."""
        return self._read_position(bonus, self.shape.num_records)

    def afterstate_position(self, record, points):
        """Position of the afterstate so many points above this base."""
        return self._read_position(points, record)

    def afterstate(self, record, points, gift=0):  # noqa: ARG002 - no turn gives here
        return self.column.vector(self.afterstate_position(record, points), self.num_registers)

    def add_to_afterstate(self, record, points, gift, flow):  # noqa: ARG002 - as above
        position = self.afterstate_position(record, points)
        if record not in self.shape.records_of_one_base:  # else no other base has written there
            flow = flow + self.column.vector(position, self.num_registers)
        self.column.put(position, flow)

    def _sum_position(self, dice, away):
        """Position of S(dice, x) of the base so far away."""
        first = self._read_position(away * self._direction, self.shape.num_records + 1)
        return first + (dice - 1) * self.shape.lanes

    def sum_of(self, dice, away):
        return self.column.vector(self._sum_position(dice, away), self.num_registers)

    def put_sum(self, dice, away, value):
        self.column.put(self._sum_position(dice, away), value)

    def replace_past_goal(self, dice, away, value):  # noqa: ARG002 - afterstates past the goal are 0
        return value

    def win_at_once(self, roll):
        return self.code.vector(self.wins_at_once.number(roll), self.num_registers)

    def no_dice(self):
        return self.column.vector(self.no_dice_position, self.num_registers)


def write_values(code, shape, args):
    """Write the kernel of a pass backward: win probabilities, and updates of player 0's policy.

    A seat is a player of a match, an afterstate the score and the record that a turn leaves; a
    column has the numbers of the cells of one opponent's score. Each visit of a cell, last one
    first, emits four steps:
    1. for each seat, the win probabilities of rolls, from afterstates and sums of its column;
    2. unless the role is EVALUATE, counterfactual values of player 0's rolls, weighted by `reach`;
    3. if the role is ASCEND or SOFTMAX, a new row of player 0's policy;
    4. for each seat, loss probabilities of memories, written to the afterstates that land here.

    Read are `visits`, (G * G, 3): own score, opponent's score, and where the afterstate of no dice
    lies; ``wins_at_once[visit, roll]``, and ``wins_past_goal[opponent, score - G, roll]`` from
    scores past the goal; `landing_scores`, (n, 2): opponent's and own score of the afterstates that
    land on each cell, from ``arrival_start[cell]`` to ``arrival_start[cell + 1]``; `reach`, of
    :func:`write_reach`, by match, and `infoset_reach`, (G, G), of the mixture; `weights`, the
    shares of the matches; `policies`, (1 + matches, G, G, K), or one alone in self-play.

    Written are `columns`, by seat; `starts`, the win probability of who begins, by seat;
    `action_values`, (G, G, K); rows of ``policies[0]``; ``changes[0]``: how many ASCEND changed.
    """
    num_actions, goal, role = shape.num_actions, args.goal, args.role
    players, matches, policies, visits = args.players, args.matches, args.policies, args.visits
    cells, policy_size = goal * goal, goal * goal * num_actions
    args.changes.put_number(0, code.double(0.0))
    with code.loop(0, cells, down=True) as visit:
        own, opponent, no_dice = (visits.number(visit * 3 + column) for column in range(3))
        cell = own * goal + opponent
        ahead = (visit - PREFETCH_DISTANCE).at_least(0)
        later_cell = visits.number(ahead * 3) * goal + visits.number(ahead * 3 + 1)
        with code.loop(0, matches * (players - 1) + 1) as policy:
            policies.prefetch(policy * policy_size + later_cell * num_actions, 2 * code.width)
        action_values = args.action_values[cell * num_actions :]
        with code.when(role.differs(EVALUATE)):
            for roll in range(num_actions):
                action_values.put_number(roll, code.double(0.0))

        with code.loop(0, matches) as match, code.loop(0, players) as player:
            base = _ColumnBase(code, shape, args, match * players + player, opponent, own)
            base.wins_at_once = args.wins_at_once[visit * num_actions :]
            base.no_dice_position = no_dice
            with code.when(own.equals(goal - 1)):
                _begin_column(base, opponent)
            _value_rolls(base, own)
            with code.when(code.all_of(role.differs(EVALUATE), player.equals(0))):
                visit_reach = args.reach[(match * cells + visit) * shape.reach_size :]
                later_reach = args.reach[(match * cells + ahead) * shape.reach_size :]
                later_reach.prefetch(0, shape.reach_size)
                _add_action_values(base, visit_reach, match, action_values)

        _update_row(code, args, cell, policies[cell * num_actions :], action_values, num_actions)

        with code.loop(0, matches) as match, code.loop(0, players) as player:
            base = _ColumnBase(code, shape, args, match * players + player, opponent, own)
            # In self-play, with one player, both seats follow the first policy.
            row = policies[(match + 1) * player * policy_size + cell * num_actions :]
            _value_memories(base, row, cell, match, player)


def _value_rolls(base, own):
    """Emit code that writes the win probabilities of the K rolls from a base to its column.

    A base is the scores from which a roll counts its points, `own` the mover's. Sums of dice come
    in pairs of own scores: the upper one, visited first, computes those of both.
    """
    code, shape = base.code, base.shape
    if shape.dice.most_summed:
        with code.when((own & 1).equals((base.args.goal - 1) & 1)):
            recurrence.value_dice_sums(code, shape.dice, base)
    first = base.rolls_position()
    values = recurrence.value_rolls(code, shape.dice, base, shape.num_actions)
    for roll, value in enumerate(values):
        base.column.put(first + roll * shape.lanes, value)


def _update_row(code, args, cell, row, action_values, num_actions):
    """Emit code that changes player 0's policy at a reached cell by the role: ASCEND or SOFTMAX.

    `row` and `action_values` are arrays that begin with the K numbers of the cell.
    """
    cell_reach = args.infoset_reach.number(cell)
    is_reached = code.builder.fcmp_ordered(">", cell_reach, code.double(0.0))
    with code.when(code.all_of(args.role >= ASCEND, is_reached)):
        old_row = [code.double_vector(row.number(roll)) for roll in range(num_actions)]
        values = [code.double_vector(action_values.number(roll)) for roll in range(num_actions)]
        reach = code.double_vector(cell_reach)
        recurrence.emit_row_update(code, args, values, old_row, reach, row.put)


def _add_action_values(base, visit_reach, match, action_values):
    """Emit code that adds a match's counterfactual values of the K rolls to `action_values`.

    A base is the scores from which a roll counts its points; those of the mover's memories that
    gain a bonus on a roll are its members, and count from the base so many points above. So a
    roll's value is its win probability at the base times the reach of the others, plus that with
    the bonus times the reach of the members, summed over the W records of the opponent, and
    weighted by the match's share. `visit_reach`, of :func:`write_reach`, is the reach at the cell:
    W numbers of all memories, then W of the members of each roll that has some.
    """
    code, shape = base.code, base.shape
    starts = range(0, shape.reach_size, shape.lanes)
    reaches = iter([visit_reach.vector(start, base.num_registers) for start in starts])
    total_reach = next(reaches)
    reach_of_members = [next(reaches) if members else None for members in shape.bonus_members]
    value_at_base, value_with_bonus = _roll_readers(base)
    weighted_values = recurrence.reach_weighted_values(
        total_reach, reach_of_members, value_at_base, value_with_bonus
    )
    for roll, value in enumerate(entry_sums(weighted_values)):
        added = code.builder.fmul(value, base.args.weights.number(match))
        action_values.put_number(roll, code.builder.fadd(action_values.number(roll), added))


def _value_memories(base, row, cell, match, player):
    """Emit code that computes the mover's loss probabilities at a cell, and stores them.

    A memory is a pair of records, the mover's and the opponent's: there is a vector for each own
    record, with a number (lane) for each record of the opponent. They are stored where the turns of
    the other player lead to this cell, as the values of its afterstates: the other player wins with
    that probability, and to it the two records have changed places, so that the matrix of them is
    transposed.

    `base` is the cell, with its rolls' win probabilities; `row` has the K probabilities of the
    mover's policy there. At the cell where play begins, 0, the mover's win probability goes to
    `starts`, by match and player.
    """
    code, shape, args, players = base.code, base.shape, base.args, base.args.players
    rolls = range(shape.num_actions)
    policy = [code.vector(row.number(roll), base.num_registers) for roll in rolls]
    value_at_base, value_with_bonus = _roll_readers(base)
    lost_by_own_record = recurrence.loss_probabilities(
        code,
        policy,
        value_at_base,
        value_with_bonus,
        shape.bonus_members,
        shape.active_records,
    )
    with code.when(cell.equals(0)):
        lost_at_start = lost_by_own_record[0].number(0)
        won_at_start = code.builder.fsub(code.double(1.0), lost_at_start)
        args.starts.put_number(match * players + player, won_at_start)
    # Records that are not active play as the last does.
    num_inactive = shape.lanes - shape.active_records
    lost_by_own_record = lost_by_own_record + [lost_by_own_record[-1]] * num_inactive
    _store_at_afterstates(base, cell, match, player, transposed(lost_by_own_record))


def _store_at_afterstates(base, cell, match, player, values_by_record):
    """Emit code that writes a player's values of a cell to the other's afterstates that land there.

    An afterstate is the scores and the record that a turn leaves; there is a Vector of values for
    each record.
    """
    code, shape, args, players = base.code, base.shape, base.args, base.args.players
    first_arrival = args.arrival_start.number(cell)
    end_arrival = args.arrival_start.number(cell + 1)
    other_seat = match * players + players - 1 - player
    with code.loop(first_arrival, end_arrival) as arrival:
        scores = args.landing_scores[arrival * 2 :]
        opponent, own = scores.number(0), scores.number(1)
        afterstate = _ColumnBase(code, shape, args, other_seat, opponent, own)
        for record in shape.left_records:
            position = afterstate.afterstate_position(record, points=0)
            afterstate.column.put(position, values_by_record[record])


def _begin_column(base, opponent):
    """Emit code that fills in what a column reads of scores past the goal: sums of 0, and rolls.

    A column is the cells of one opponent's score, by the mover's score. `base` is its first base, a
    score to which the points of a roll are added. The bonus can lead to bases past the goal; a roll
    there wins with the probability of the table `wins_past_goal`, in every lane.
    """
    code, shape, args = base.code, base.shape, base.args
    lanes, num_actions, bonus = shape.lanes, shape.num_actions, shape.bonus_points
    column, zeros = base.column, code.vector(0.0, base.num_registers)
    column.put(args.past_goal_position, zeros)  # of afterstates past the goal
    for away in range(shape.sums_ring):
        for dice in range(1, shape.dice.most_summed + 1):
            base.put_sum(dice, away, zeros)
    wins_past_goal = args.wins_past_goal[opponent * (bonus * num_actions) :]
    for beyond in range(bonus):  # score - goal
        first = base.rolls_position(1 + beyond)
        with code.loop(0, num_actions) as roll:
            win_probability = wins_past_goal.number(roll + beyond * num_actions)
            column.put(first + roll * lanes, code.vector(win_probability, base.num_registers))


def _roll_readers(base):
    """Return two functions that read a roll's Vector: at a base, and the bonus points above it.

    A base is the scores from which a roll counts its points. The Vector has the roll's win
    probability for each record of the opponent.
    """
    lanes = base.shape.lanes
    at_base = base.rolls_position()
    with_bonus = base.rolls_position(base.shape.bonus_points)
    return (
        lambda roll: base.column.vector(at_base + roll * lanes, base.num_registers),
        lambda roll: base.column.vector(with_bonus + roll * lanes, base.num_registers),
    )


def write_reach(code, shape, args):
    """Write the kernel of a pass forward: reach of cells and memories with player 0 to move.

    An afterstate is the score and the record that a turn leaves; a column has the numbers of the
    cells of one opponent's score. Each visit of a cell emits three steps for each player:

    1. sum the reach of memories, from the afterstates that land here;
    2. write `infoset_reach`, (G, G), their sum, and if it `keeps_memories` `reach`, by visit: of
       all memories, by the opponent's record, and of the members of each roll that has some;
    3. carry it to rolls, by the policy, and from there to afterstates and sums of the column.

    Arrays are as of :func:`write_values`, `policies` (players, G, G, K). `start_probability` is
    that of each player to begin. `used_size` numbers of a column are 0 before its first base.
    ``most_points[n]`` are the most points that leave the record ``shape.shared_records[n]``.
    """
    lanes, num_actions, goal = shape.lanes, shape.num_actions, args.goal
    players, policies, reach, visits = args.players, args.policies, args.reach, args.visits
    num_registers, policy_size = lanes // code.width, goal * goal * num_actions
    zeros = code.vector(0.0, num_registers)
    with code.loop(0, goal * goal) as visit:
        own, opponent, no_dice = (visits.number(visit * 3 + column) for column in range(3))
        cell = own * goal + opponent
        ahead = (visit + PREFETCH_DISTANCE).at_most(goal * goal - 1)
        later_cell = visits.number(ahead * 3) * goal + visits.number(ahead * 3 + 1)
        with code.loop(0, players) as player:
            policies.prefetch(player * policy_size + later_cell * num_actions, 2 * code.width)
        with code.when(args.keeps_memories.equals(1)):
            reach.prefetch(ahead * shape.reach_size, shape.reach_size)
        with code.when(own.equals(0)), code.loop(0, players) as player:
            first = (player * goal + opponent) * args.column_size
            with code.loop(0, args.used_size // lanes) as vector:
                args.columns.put(first + vector * lanes, zeros)
        with code.loop(0, players) as player:
            base = _ColumnBase(code, shape, args, player, opponent, own, direction=-1)
            with code.when(own >= 1):
                _clear_farthest_afterstates(base)
            memories = _arriving_reach(base, cell, player)
            total_reach = code.pairwise_sum(memories[: shape.active_records])
            reach_of_members = [
                code.pairwise_sum(memories[record] for record in members) if members else None
                for members in shape.bonus_members
            ]
            with code.when(player.equals(0)):
                args.infoset_reach.put_number(cell, entry_sum(total_reach))
                with code.when(args.keeps_memories.equals(1)):
                    reaches = [total_reach, *reach_of_members]
                    stored = [vector for vector in reaches if vector is not None]
                    for number, vector in enumerate(stored):
                        reach.put(visit * shape.reach_size + number * lanes, vector)
            row = policies[player * policy_size + cell * num_actions :]
            policy = [code.vector(row.number(roll), num_registers) for roll in range(num_actions)]
            flows, with_bonus = recurrence.reach_of_rolls(policy, total_reach, reach_of_members)
            _leave_base(base, own, no_dice, flows, with_bonus)


def _clear_farthest_afterstates(base):
    """Emit code that sets afterstates to 0 that a base is the first to lead to: of most points.

    Only of records that several bases lead to: others are written, not added to.
    """
    zeros = base.code.vector(0.0, base.num_registers)
    for number, record in enumerate(base.shape.shared_records):
        most_points = base.args.most_points.number(number)
        base.column.put(base.afterstate_position(record, most_points), zeros)


def _arriving_reach(base, cell, player):
    """Emit code that sums the reach of a cell's memories: by own record a Vector of the other's.

    A memory is a pair of records, the mover's and the other's. The afterstates that land there are
    of the other player, so the two change places.
    """
    code, shape, args = base.code, base.shape, base.args
    zeros = code.vector(0.0, base.num_registers)
    rows = [code.variable(zeros) for _ in shape.left_records]
    first = args.arrival_start.number(cell)
    other_seat = args.players - 1 - player
    with code.loop(first, args.arrival_start.number(cell + 1)) as arrival:
        scores = args.landing_scores[arrival * 2 :]
        opponent, own = scores.number(0), scores.number(1)
        afterstates = _ColumnBase(code, shape, args, other_seat, opponent, own, direction=-1)
        for row, record in zip(rows, shape.left_records, strict=True):
            arrived = afterstates.afterstate(record, points=0)
            if shape.dice.most_summed and record == shape.dice.sum_record:
                by_sums = recurrence.reach_landing_from_sums(code, shape.dice, afterstates)
                arrived = (arrived + by_sums).zero_where_rounding(by_sums)
            row.set(row.get() + arrived)
    by_record = dict(zip(shape.left_records, (row.get() for row in rows), strict=True))
    memories = transposed([by_record.get(record, zeros) for record in range(shape.lanes)])
    start_probability = code.select(cell.equals(0), args.start_probability, code.double(0.0))
    memories[0] = memories[0] + one_hot(code, 0, start_probability, base.num_registers)
    return memories


def _leave_base(base, own, no_dice, flows, with_bonus):
    """Emit code that carries the reach of rolls from a base to its afterstates and sums of dice.

    A base is the scores from which a roll counts its points. ``flows[roll]`` is of memories that
    play it without the bonus. ``with_bonus[roll]``, or None, is of its members, who play it from
    the base that the bonus leads to: it waits in the column until that base is visited. `no_dice`
    is the position of the afterstate of no dice.
    """
    code, shape, column, dice = base.code, base.shape, base.column, base.shape.dice
    waiting, _ = _roll_readers(base)
    for roll, member_flow in enumerate(with_bonus):
        if member_flow is not None:
            flows[roll] = flows[roll] + waiting(roll)
            column.put(base.rolls_position(shape.bonus_points) + roll * shape.lanes, member_flow)
    if dice.most_summed:
        # Sums are carried for two own scores at once, at the even one, which comes first.
        with code.builder.if_else((own & 1).equals(0)) as (first_of_two, second):
            with first_of_two:
                recurrence.carry_reach_of_dice_sums(code, dice, base, flows)
            with second:
                recurrence.add_reach_to_dice_sums(dice, base, flows)
    recurrence.carry_reach_to_targets(code, dice, base, flows)
    column.put(no_dice, column.vector(no_dice, base.num_registers) + flows[0])


# --- two matrices -----------------------------------------------------------------------------


def write_duel(code, shape, args):
    """Write the kernel of the exact win probability of two matrices against each other.

    A matrix is a pure strategy: it makes one roll at a cell. So the mover's own record matters only
    through how that roll plays: as usual, or from a score higher by the bonus for the few records
    that are its *members*. An afterstate is then worth two numbers for each record that its turn
    left, instead of W: the win probability if the next mover's record is no member of its roll, and
    what to add if it is. A roll's win probability is the sum over its outcomes of chance times the
    first and, by the next mover's record, of chance times the second at members.

    Read are `matrices`, (2, G, G), rolls; `visits`, (G * G, 2), own and opponent's score;
    ``wins_at_once[own, opponent, roll]``; of outcomes `chances`, `points` and `records`: of a roll
    from ``outcome_start[roll]`` to ``outcome_stop[roll, own]``, those that stay below the goal;
    those of no dice, by the opponent's score, come after all others; by roll, `bonus`, points that
    members gain, and `members`, (K, W), 1 at members and 0 elsewhere; `landing_afterstates`, the
    numbers, opponent's score * `scores` + own score, of the afterstates that land on each cell,
    from ``arrival_start[cell]`` to ``arrival_start[cell + 1]``.

    Written are `starts`, (2, 2, W), by player the roll's win probability at the first cell, and
    how much less that is than with the bonus, below 0; and as scratch `worth`, (2, G, `scores`, 2,
    W), by player, opponent's and own score the two numbers by record, 0 from the goal on; and
    `next_roll`, (2, G, `scores`), the roll that is made next.
    """
    lanes, num_actions, goal, scores = shape.lanes, shape.num_actions, args.goal, args.scores
    visits, worth = args.visits, args.worth
    with code.loop(0, goal * goal, down=True) as visit:
        ahead = (visit - PREFETCH_DISTANCE).at_least(0)
        later_cell = visits.number(ahead * 2) * goal + visits.number(ahead * 2 + 1)
        args.wins_at_once.prefetch(later_cell * num_actions, 2 * code.width)
        own, opponent = visits.number(visit * 2), visits.number(visit * 2 + 1)
        cell = own * goal + opponent
        with code.loop(0, 2) as player:
            roll = args.matrices.number(player * goal * goal + cell)
            value, value_with_bonus = _value_one_roll(
                code, shape, args, player, own, opponent, roll
            )
            other_player = (1 - player) * goal * scores
            first = args.arrival_start.number(cell)
            with code.loop(first, args.arrival_start.number(cell + 1)) as arrival:
                afterstate = other_player + args.landing_afterstates.number(arrival)
                worth.put(afterstate * (2 * lanes), 1.0 - value)
                worth.put(afterstate * (2 * lanes) + lanes, value - value_with_bonus)
                args.next_roll.put_number(afterstate, roll)
            with code.when(cell.equals(0)):
                args.starts.put(player * (2 * lanes), value)
                args.starts.put(player * (2 * lanes) + lanes, value - value_with_bonus)


def _value_one_roll(code, shape, args, player, own, opponent, roll):
    """Emit code that values a player's roll at a cell, by the next mover's record: two Vectors.

    Returns that without the bonus, and that with it, which is of a base higher by the bonus. Each
    sums, over the roll's outcomes, chance times the worth of the afterstate: a number for all
    records, and one to be added for those that are members of the next mover's roll.
    """
    lanes, goal, worth = shape.lanes, args.goal, args.worth
    num_registers = lanes // code.width
    column = (player * goal + opponent) * args.scores
    first, last = _outcome_range(code, shape, args, roll, own, opponent)
    bases = []  # without the bonus and with it: position of the base, win probability so far
    for base_score in (own, own + args.bonus.number(roll)):
        cell = base_score * goal + opponent
        won = args.wins_at_once.number(cell * shape.num_actions + roll)
        bases.append((base_score + column, code.variable(code.vector(won, num_registers))))
    with code.loop(first, last) as outcome:
        chance, record = args.chances.number(outcome), args.records.number(outcome)
        for base, total in bases:
            afterstate = base + args.points.number(outcome)
            entry = afterstate * (2 * lanes) + record
            usual_worth = code.builder.fmul(chance, worth.number(entry))
            without_bonus = code.vector(usual_worth, num_registers)
            bonus_worth = code.builder.fmul(chance, worth.number(entry + lanes))
            gain = code.vector(bonus_worth, num_registers)  # where the record is a member
            next_roll = args.next_roll.number(afterstate)
            is_member = args.members.vector(next_roll * lanes, num_registers)
            total.set(is_member * gain + (total.get() + without_bonus))
    return [total.get() for _, total in bases]


def _outcome_range(code, shape, args, roll, own, opponent):
    """Emit code that finds the outcomes of a roll that stay below the goal: the first, the end.

    No dice have one outcome, by the opponent's score, after those of all other rolls: none is left
    if that reaches the goal.
    """
    no_dice = args.outcome_start.number(shape.num_actions) + opponent
    stays_below = own + args.points.number(no_dice) < args.goal
    after_no_dice = code.select(stays_below, no_dice + 1, no_dice)
    is_no_dice = roll.equals(0)
    first = code.select(is_no_dice, no_dice, args.outcome_start.number(roll))
    last = code.select(is_no_dice, after_no_dice, args.outcome_stop.number(roll * args.goal + own))
    return first, last
