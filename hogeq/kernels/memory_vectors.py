"""The layout for large memories: a vector holds the values of the memories of one cell.

What a player remembers is a record of the opponent's last turn, by which rolls play, and one of
the own, which is only carried. So what a roll is worth to each *own* record is one vector, a
*lane*, and a cell has one such vector for each record of the opponent's that changes how rolls
play. When the turn passes, the two records change places.

A *column* is the cells of one opponent's score. It keeps what its bases lead to, or come from: its
afterstates by record, its rolls and its sums, each in a ring no longer than it is needed. So the
columns in use stay in the processor's second-level cache. The table `at` has a row for each score,
from some below 0 on: where each record of an afterstate lies in the column, then where the rolls
of a base do, then its sums.
"""

from typing import NamedTuple

from hogeq.kernels import TIE
from hogeq.kernels.recurrence import (
    ASCEND,
    EVALUATE,
    SOFTMAX,
    Dice,
    add_dice,
    add_to_sums,
    best_row,
    depart,
    land_sums,
    mix,
    remove_dice,
    softened_row,
    spread_rolls,
    value_rolls,
    weigh,
)
from hogeq.kernels.vectors import only, sums, total, transposed

AHEAD = 4  # cells before its visit, a cell's numbers are asked for


class Shape(NamedTuple):
    """Constants of kernels, the same in every cell, at any goal."""

    lanes: int  # numbers of a lane, a multiple of a vector's
    num_actions: int
    active: int  # records of the opponent's by which rolls may play
    records: int
    bonus: int  # what members gain on a roll
    members: tuple[tuple[int, ...], ...]  # by roll, the active memories that gain it
    recorded: tuple[int, ...]  # records that turns leave
    sole: tuple[int, ...]
    """Those of them left by one number of points alone: each afterstate has but one base."""
    shared: tuple[int, ...]  # the others
    dice: Dice

    @property
    def below(self) -> int:
        """Rows of the table `at` before that of score 0."""
        return self.dice.sides + 1

    @property
    def width(self) -> int:
        """Numbers of a row of the table `at`."""
        return self.records + 2

    @property
    def sums_ring(self) -> int:
        """Bases whose sums a column keeps."""
        return self.dice.sides + 2 if self.dice.depth else 0

    @property
    def reach_size(self) -> int:
        """Numbers that are kept of a cell's reach: everyone's and each roll's members'."""
        return (1 + sum(map(bool, self.members))) * self.lanes


class _ColumnBase:
    """A base, in the sense of :class:`hogeq.kernels.recurrence.Base`: its numbers in a column."""

    def __init__(self, code, shape, column, at, own, *, direction=1, won=None, no_dice=None):
        self.code, self.shape, self.column = code, shape, column
        self.parts = shape.lanes // code.width
        self._at, self._own, self._direction = at, own, direction
        self._won, self._no_dice = won, no_dice

    def _find(self, away, what):
        """Read the table `at`."""
        row = self._own + (away + self.shape.below)
        return self._at.number(row * self.shape.width + what)

    def rolls(self, bonus=0):
        """Position of the rolls of this base, or of that which a bonus leads to."""
        return self._find(bonus, self.shape.records)

    def position(self, record, points):
        """Position of an afterstate."""
        return self._find(points, record)

    def afterstate(self, record, points, gift=0):  # noqa: ARG002 - no turn gives here
        return self.column.vector(self.position(record, points), self.parts)

    def add_to_afterstate(self, record, points, gift, flow):  # noqa: ARG002 - as above
        at = self.position(record, points)
        if record not in self.shape.sole:
            flow = flow + self.column.vector(at, self.parts)
        self.column.put(at, flow)

    def _sums(self, dice, away):
        first = self._find(away * self._direction, self.shape.records + 1)
        return first + (dice - 1) * self.shape.lanes

    def sum_of(self, dice, away):
        return self.column.vector(self._sums(dice, away), self.parts)

    def put_sum(self, dice, away, value):
        self.column.put(self._sums(dice, away), value)

    def at_edge(self, dice, away, value):  # noqa: ARG002 - afterstates past the goal are 0
        return value

    def won(self, roll):
        return self.code.vector(self._won.number(roll), self.parts)

    def no_dice(self):
        return self.column.vector(self._no_dice, self.parts)


def write_values(
    code,
    shape,
    role,
    players,
    matches,
    goal,
    column_size,
    spare,
    temperature,
    damping,
    visits,
    wins,
    past,
    at,
    landed,
    arrival_start,
    policies,
    columns,
    starts,
    reach,
    weights,
    infoset_reach,
    action_values,
    changes,
):
    """Backward induction over all cells; the role is player 0's, against every opponent.

    `visits` are the cells in the order of a pass forward: own score, opponent's score, and where
    the afterstate of no dice lies. ``wins[cell's turn, roll]`` wins at once, and
    ``past[opponent, score - goal, roll]`` from scores past the goal. `landed` are column and score
    of the afterstates that land on a cell, ``arrival_start[cell:][:2]`` their range. `columns` are
    those of each match and player. `starts` is filled with who wins by beginning, by match and
    player, and ``changes[0]`` with how many rows ASCEND changed. `reach` is of :func:`write_reach`,
    by match, and `weights` the shares of the matches.
    """
    lanes, num_actions = shape.lanes, shape.num_actions
    parts = lanes // code.width
    cells, policy_size = goal * goal, goal * goal * num_actions
    changes.put_number(0, code.double(0.0))
    with code.loop(0, cells, down=True) as turn:
        own, opponent, none = (visits.number(turn * 3 + x) for x in range(3))
        cell = own * goal + opponent
        ahead = (turn - AHEAD).at_least(0)
        later = visits.number(ahead * 3) * goal + visits.number(ahead * 3 + 1)
        with code.loop(0, matches * (players - 1) + 1) as policy:
            policies.ask_for(policy * policy_size + later * num_actions, 2 * code.width)
        averages = action_values[cell * num_actions :]
        with code.when(role.differs(EVALUATE)):
            for roll in range(num_actions):
                averages.put_number(roll, code.double(0.0))

        with code.loop(0, matches) as match, code.loop(0, players) as player:
            column = columns[((match * players + player) * goal + opponent) * column_size :]
            base = _ColumnBase(
                code, shape, column, at, own, won=wins[turn * num_actions :], no_dice=none
            )
            with code.when(own.equals(goal - 1)):
                _begin_column(code, shape, base, past, goal, opponent, spare)
            if shape.dice.depth:
                with code.when((own & 1).equals((goal - 1) & 1)):
                    add_dice(code, shape.dice, base)
            near = base.rolls()
            for roll, worth in enumerate(value_rolls(code, shape.dice, base, num_actions)):
                column.put(near + roll * lanes, worth)
            with code.when(code.all_of(role.differs(EVALUATE), player.equals(0))):
                kept = reach[(match * cells + turn) * shape.reach_size :]
                reach[(match * cells + ahead) * shape.reach_size :].ask_for(0, shape.reach_size)
                everyone, *some = (kept.vector(x, parts) for x in range(0, shape.reach_size, lanes))
                some = iter(some)
                of_members = [next(some) if x else None for x in shape.members]
                weighted = weigh(everyone, of_members, *_rolls_of(base))
                for roll, value in enumerate(sums(weighted)):
                    share = code.builder.fmul(value, weights.number(match))
                    averages.put_number(roll, code.builder.fadd(averages.number(roll), share))
        with code.when(role >= ASCEND):
            found = averages, policies[cell * num_actions :], infoset_reach.number(cell)
            _set_row(code, num_actions, role, *found, temperature, damping, changes)
        with code.loop(0, matches) as match, code.loop(0, players) as player:
            column = columns[((match * players + player) * goal + opponent) * column_size :]
            base = _ColumnBase(code, shape, column, at, own)
            row = policies[(match + 1) * player * policy_size + cell * num_actions :]
            chances = [code.vector(row.number(roll), parts) for roll in range(num_actions)]
            lost = mix(code, chances, *_rolls_of(base), shape.members, shape.active)
            with code.when(cell.equals(0)):
                won = code.builder.fsub(code.double(1.0), lost[0].number(0))
                starts.put_number(match * players + player, won)
            rows = transposed(lost + [lost[-1]] * (lanes - shape.active))
            rival = columns[(match * players + players - 1 - player) * goal * column_size :]
            with code.loop(arrival_start.number(cell), arrival_start.number(cell + 1)) as arrival:
                from_column = rival[landed.number(arrival * 2) * column_size :]
                there = _ColumnBase(code, shape, from_column, at, landed.number(arrival * 2 + 1))
                for record in shape.recorded:
                    from_column.put(there.position(record, 0), rows[record])


def _begin_column(code, shape, base, past, goal, opponent, spare):
    """Write the input of a column's first base: no sums, and rolls that won past the goal."""
    lanes, num_actions, bonus = shape.lanes, shape.num_actions, shape.bonus
    column, nothing = base.column, code.vector(0.0, base.parts)
    column.put(spare, nothing)
    for away in range(shape.sums_ring):
        for dice in range(1, shape.dice.depth + 1):
            base.put_sum(dice, away, nothing)
    won = past[opponent * (bonus * num_actions) :]
    for beyond in range(bonus):
        first = base.rolls(1 + beyond)
        with code.loop(0, num_actions) as roll:
            chance = won.number(roll + beyond * num_actions)
            column.put(first + roll * lanes, code.vector(chance, base.parts))


def _rolls_of(base):
    """Return two readers of a roll, without the bonus and with it."""
    near, far, lanes = base.rolls(), base.rolls(base.shape.bonus), base.shape.lanes
    return (
        lambda roll: base.column.vector(near + roll * lanes, base.parts),
        lambda roll: base.column.vector(far + roll * lanes, base.parts),
    )


def _set_row(code, num_actions, role, averages, row, here, temperature, damping, changes):
    """Change a row that is reached as the role has it."""
    is_reached = code.builder.fcmp_ordered(">", here, code.double(0.0))
    values = [code.lone(averages.number(roll)) for roll in range(num_actions)]
    old = [code.lone(row.number(roll)) for roll in range(num_actions)]
    here = code.lone(here)
    with code.when(code.all_of(is_reached, role.equals(ASCEND))):
        new, changed = best_row(code, values, old, here * TIE)
        changed = changed.number(0)
        with code.when(code.builder.fcmp_ordered(">", changed, code.double(0.0))):
            changes.put_number(0, code.builder.fadd(changes.number(0), changed))
            for roll, chance in enumerate(new):
                row.put(roll, chance)
    with code.when(code.all_of(is_reached, role.equals(SOFTMAX))):
        weight = here * code.lone(temperature)
        for roll, chance in enumerate(softened_row(code, values, old, weight, code.lone(damping))):
            row.put(roll, chance)


def write_reach(
    code,
    shape,
    keeps_memories,
    players,
    goal,
    column_size,
    used,
    begun,
    most_points,
    visits,
    at,
    landed,
    arrival_start,
    policies,
    columns,
    reach,
    infoset_reach,
):
    """Reach of all cells of one match, player 0 to move, and the weights of its rolls' values.

    Arrays are as of :func:`write_values`. `begun` is the probability of each player to begin.
    `reach` is filled, by turn, if it `keeps_memories`: everyone's, and that of each roll's members.
    `used` numbers of a column are set to 0 before its first base. `most_points` leave each shared
    record at most.
    """
    lanes, num_actions = shape.lanes, shape.num_actions
    parts, dice = lanes // code.width, shape.dice
    policy_size = goal * goal * num_actions
    nothing = code.vector(0.0, parts)
    with code.loop(0, goal * goal) as turn:
        own, opponent, none = (visits.number(turn * 3 + x) for x in range(3))
        cell = own * goal + opponent
        ahead = (turn + AHEAD).at_most(goal * goal - 1)
        later = visits.number(ahead * 3) * goal + visits.number(ahead * 3 + 1)
        with code.loop(0, players) as player:
            policies.ask_for(player * policy_size + later * num_actions, 2 * code.width)
        with code.when(keeps_memories.equals(1)):
            reach.ask_for(ahead * shape.reach_size, shape.reach_size)
        with code.when(own.equals(0)), code.loop(0, players) as player:
            first = (player * goal + opponent) * column_size
            with code.loop(0, used // lanes) as x:
                columns.put(first + x * lanes, nothing)
        with code.loop(0, players) as player:
            column = columns[(player * goal + opponent) * column_size :]
            base = _ColumnBase(code, shape, column, at, own, direction=-1)
            with code.when(own >= 1):
                for x, record in enumerate(shape.shared):
                    column.put(base.position(record, most_points.number(x)), nothing)
            rows = [code.variable(nothing) for _ in shape.recorded]
            rival = columns[(players - 1 - player) * goal * column_size :]
            with code.loop(arrival_start.number(cell), arrival_start.number(cell + 1)) as arrival:
                from_column = rival[landed.number(arrival * 2) * column_size :]
                score = landed.number(arrival * 2 + 1)
                there = _ColumnBase(code, shape, from_column, at, score, direction=-1)
                for row, record in zip(rows, shape.recorded, strict=True):
                    arrived = there.afterstate(record, 0)
                    if dice.depth and record == dice.record:
                        by_sums = land_sums(code, dice, there)
                        arrived = (arrived + by_sums).above_rounding(by_sums)
                    row.set(row.get() + arrived)
            by_record = dict(zip(shape.recorded, (row.get() for row in rows), strict=True))
            memories = transposed([by_record.get(x, nothing) for x in range(lanes)])
            begins = code.select(cell.equals(0), begun, code.double(0.0))
            memories[0] = memories[0] + only(code, 0, begins, parts)
            everyone = code.tree(memories[: shape.active])
            of_members = [
                code.tree(memories[x] for x in some) if some else None for some in shape.members
            ]
            with code.when(player.equals(0)):
                infoset_reach.put_number(cell, total(everyone))
                with code.when(keeps_memories.equals(1)):
                    kept = [everyone, *(some for some in of_members if some is not None)]
                    for x, some in enumerate(kept):
                        reach.put(turn * shape.reach_size + x * lanes, some)
            row = policies[player * policy_size + cell * num_actions :]
            chances = [code.vector(row.number(roll), parts) for roll in range(num_actions)]
            flows, with_bonus = depart(chances, everyone, of_members)
            waiting, _ = _rolls_of(base)
            for roll, flow in enumerate(with_bonus):
                if flow is not None:
                    # Those who gain a bonus wait until its base is visited.
                    flows[roll] = flows[roll] + waiting(roll)
                    column.put(base.rolls(shape.bonus) + roll * lanes, flow)
            if dice.depth:
                code.either(
                    (own & 1).equals(0),
                    lambda: remove_dice(code, dice, base, flows),
                    lambda: add_to_sums(dice, base, flows),
                )
            spread_rolls(code, dice, base, flows)
            column.put(none, column.vector(none, parts) + flows[0])
