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

from hogeq.kernels.arrays import ASCEND, EVALUATE, Dice
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
from hogeq.kernels.vectors import entry_sum, entry_sums, one_hot, transposed

PREFETCH_DISTANCE = 4  # cells before its visit, a cell's numbers are asked for


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

    def __init__(self, code, shape, args, seat, opponent, own, direction=1):
        self.code, self.shape, self.args, self._own = code, shape, args, own
        self.column = args.columns[(seat * args.goal + opponent) * args.column_size :]
        self.parts, self._direction = shape.lanes // code.width, direction

    def read_turn(self, turn, no_dice):
        """Set what rolls win at once, and where the afterstate of no dice lies."""
        self._won, self._no_dice = self.args.wins[turn * self.shape.num_actions :], no_dice

    def _find(self, away, what):
        """Read the table `at`."""
        row = self._own + (away + self.shape.below)
        return self.args.at.number(row * self.shape.width + what)

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

    def replace_past_goal(self, dice, away, value):  # noqa: ARG002 - afterstates past the goal are 0
        return value

    def win_at_once(self, roll):
        return self.code.vector(self._won.number(roll), self.parts)

    def no_dice(self):
        return self.column.vector(self._no_dice, self.parts)


def write_values(code, shape, args):
    """Backward induction over all cells; the role is player 0's, against every opponent.

    `visits` are the cells in the order of a pass forward: own score, opponent's score, and where
    the afterstate of no dice lies. ``wins[cell's turn, roll]`` wins at once, and
    ``past[opponent, score - goal, roll]`` from scores past the goal. `landed` are column and score
    of the afterstates that land on a cell, ``arrival_start[cell:][:2]`` their range. `columns` are
    those of each match and player. `starts` is filled with who wins by beginning, by match and
    player, and ``changes[0]`` with how many rows ASCEND changed. `reach` is of :func:`write_reach`,
    by match, and `weights` the shares of the matches.
    """
    lanes, num_actions, goal, role = shape.lanes, shape.num_actions, args.goal, args.role
    players, matches, policies, reach = args.players, args.matches, args.policies, args.reach
    visits, landed, arrival_start = args.visits, args.landed, args.arrival_start
    parts = lanes // code.width
    cells, policy_size = goal * goal, goal * goal * num_actions
    args.changes.put_number(0, code.double(0.0))
    with code.loop(0, cells, down=True) as turn:
        own, opponent, none = (visits.number(turn * 3 + x) for x in range(3))
        cell = own * goal + opponent
        ahead = (turn - PREFETCH_DISTANCE).at_least(0)
        later = visits.number(ahead * 3) * goal + visits.number(ahead * 3 + 1)
        with code.loop(0, matches * (players - 1) + 1) as policy:
            policies.prefetch(policy * policy_size + later * num_actions, 2 * code.width)
        averages = args.action_values[cell * num_actions :]
        with code.when(role.differs(EVALUATE)):
            for roll in range(num_actions):
                averages.put_number(roll, code.double(0.0))

        with code.loop(0, matches) as match, code.loop(0, players) as player:
            base = _ColumnBase(code, shape, args, match * players + player, opponent, own)
            base.read_turn(turn, none)
            with code.when(own.equals(goal - 1)):
                _begin_column(code, shape, args, base, opponent)
            if shape.dice.depth:
                with code.when((own & 1).equals((goal - 1) & 1)):
                    value_dice_sums(code, shape.dice, base)
            near = base.rolls()
            for roll, worth in enumerate(value_rolls(code, shape.dice, base, num_actions)):
                base.column.put(near + roll * lanes, worth)
            with code.when(code.all_of(role.differs(EVALUATE), player.equals(0))):
                kept = reach[(match * cells + turn) * shape.reach_size :]
                reach[(match * cells + ahead) * shape.reach_size :].prefetch(0, shape.reach_size)
                everyone, *some = (kept.vector(x, parts) for x in range(0, shape.reach_size, lanes))
                some = iter(some)
                of_members = [next(some) if x else None for x in shape.members]
                weighted = reach_weighted_values(everyone, of_members, *_roll_readers(base))
                for roll, value in enumerate(entry_sums(weighted)):
                    share = code.builder.fmul(value, args.weights.number(match))
                    averages.put_number(roll, code.builder.fadd(averages.number(roll), share))
        reached = args.infoset_reach.number(cell)
        is_reached = code.builder.fcmp_ordered(">", reached, code.double(0.0))
        with code.when(code.all_of(role >= ASCEND, is_reached)):
            row = policies[cell * num_actions :]
            old, worth = (
                [code.double_vector(one.number(roll)) for roll in range(num_actions)]
                for one in (row, averages)
            )
            emit_row_update(code, args, worth, old, code.double_vector(reached), row.put)
        with code.loop(0, matches) as match, code.loop(0, players) as player:
            base = _ColumnBase(code, shape, args, match * players + player, opponent, own)
            row = policies[(match + 1) * player * policy_size + cell * num_actions :]
            chances = [code.vector(row.number(roll), parts) for roll in range(num_actions)]
            lost = loss_probabilities(
                code, chances, *_roll_readers(base), shape.members, shape.active
            )
            with code.when(cell.equals(0)):
                won = code.builder.fsub(code.double(1.0), lost[0].number(0))
                args.starts.put_number(match * players + player, won)
            rows = transposed(lost + [lost[-1]] * (lanes - shape.active))
            with code.loop(arrival_start.number(cell), arrival_start.number(cell + 1)) as arrival:
                seat, place = match * players + players - 1 - player, landed[arrival * 2 :]
                there = _ColumnBase(code, shape, args, seat, place.number(0), place.number(1))
                for record in shape.recorded:
                    there.column.put(there.position(record, 0), rows[record])


def _begin_column(code, shape, args, base, opponent):
    """Write the input of a column's first base: no sums, and rolls that won past the goal."""
    lanes, num_actions, bonus = shape.lanes, shape.num_actions, shape.bonus
    column, nothing = base.column, code.vector(0.0, base.parts)
    column.put(args.spare, nothing)
    for away in range(shape.sums_ring):
        for dice in range(1, shape.dice.depth + 1):
            base.put_sum(dice, away, nothing)
    won = args.past[opponent * (bonus * num_actions) :]
    for beyond in range(bonus):
        first = base.rolls(1 + beyond)
        with code.loop(0, num_actions) as roll:
            chance = won.number(roll + beyond * num_actions)
            column.put(first + roll * lanes, code.vector(chance, base.parts))


def _roll_readers(base):
    """Return two readers of a roll, without the bonus and with it."""
    near, far, lanes = base.rolls(), base.rolls(base.shape.bonus), base.shape.lanes
    return (
        lambda roll: base.column.vector(near + roll * lanes, base.parts),
        lambda roll: base.column.vector(far + roll * lanes, base.parts),
    )


def write_reach(code, shape, args):
    """Reach of all cells of one match, player 0 to move, and the weights of its rolls' values.

    Arrays are as of :func:`write_values`. `begun` is the probability of each player to begin.
    `reach` is filled, by turn, if it `keeps_memories`: everyone's, and that of each roll's members.
    `used` numbers of a column are set to 0 before its first base. `most_points` leave each shared
    record at most.
    """
    lanes, num_actions, dice, goal = shape.lanes, shape.num_actions, shape.dice, args.goal
    players, policies, reach, visits = args.players, args.policies, args.reach, args.visits
    landed, arrival_start = args.landed, args.arrival_start
    parts, policy_size = lanes // code.width, goal * goal * num_actions
    nothing = code.vector(0.0, parts)
    with code.loop(0, goal * goal) as turn:
        own, opponent, none = (visits.number(turn * 3 + x) for x in range(3))
        cell = own * goal + opponent
        ahead = (turn + PREFETCH_DISTANCE).at_most(goal * goal - 1)
        later = visits.number(ahead * 3) * goal + visits.number(ahead * 3 + 1)
        with code.loop(0, players) as player:
            policies.prefetch(player * policy_size + later * num_actions, 2 * code.width)
        with code.when(args.keeps_memories.equals(1)):
            reach.prefetch(ahead * shape.reach_size, shape.reach_size)
        with code.when(own.equals(0)), code.loop(0, players) as player:
            first = (player * goal + opponent) * args.column_size
            with code.loop(0, args.used // lanes) as x:
                args.columns.put(first + x * lanes, nothing)
        with code.loop(0, players) as player:
            base = _ColumnBase(code, shape, args, player, opponent, own, direction=-1)
            column = base.column
            with code.when(own >= 1):
                for x, record in enumerate(shape.shared):
                    column.put(base.position(record, args.most_points.number(x)), nothing)
            rows = [code.variable(nothing) for _ in shape.recorded]
            with code.loop(arrival_start.number(cell), arrival_start.number(cell + 1)) as arrival:
                seat, place = players - 1 - player, landed[arrival * 2 :]
                where = seat, place.number(0), place.number(1)
                there = _ColumnBase(code, shape, args, *where, direction=-1)
                for row, record in zip(rows, shape.recorded, strict=True):
                    arrived = there.afterstate(record, 0)
                    if dice.depth and record == dice.record:
                        by_sums = reach_landing_from_sums(code, dice, there)
                        arrived = (arrived + by_sums).zero_where_rounding(by_sums)
                    row.set(row.get() + arrived)
            by_record = dict(zip(shape.recorded, (row.get() for row in rows), strict=True))
            memories = transposed([by_record.get(x, nothing) for x in range(lanes)])
            begins = code.select(cell.equals(0), args.begun, code.double(0.0))
            memories[0] = memories[0] + one_hot(code, 0, begins, parts)
            everyone = code.pairwise_sum(memories[: shape.active])
            of_members = [
                code.pairwise_sum(memories[x] for x in some) if some else None
                for some in shape.members
            ]
            with code.when(player.equals(0)):
                args.infoset_reach.put_number(cell, entry_sum(everyone))
                with code.when(args.keeps_memories.equals(1)):
                    kept = [everyone, *(some for some in of_members if some is not None)]
                    for x, some in enumerate(kept):
                        reach.put(turn * shape.reach_size + x * lanes, some)
            row = policies[player * policy_size + cell * num_actions :]
            chances = [code.vector(row.number(roll), parts) for roll in range(num_actions)]
            flows, with_bonus = reach_of_rolls(chances, everyone, of_members)
            waiting, _ = _roll_readers(base)
            for roll, flow in enumerate(with_bonus):
                if flow is not None:
                    # Those who gain a bonus wait until its base is visited.
                    flows[roll] = flows[roll] + waiting(roll)
                    column.put(base.rolls(shape.bonus) + roll * lanes, flow)
            if dice.depth:
                with code.builder.if_else((own & 1).equals(0)) as (first_of_two, second):
                    with first_of_two:
                        carry_reach_of_dice_sums(code, dice, base, flows)
                    with second:
                        add_reach_to_dice_sums(dice, base, flows)
            carry_reach_to_targets(code, dice, base, flows)
            column.put(none, column.vector(none, parts) + flows[0])


# --- two matrices -----------------------------------------------------------------------------


def write_duel(code, shape, args):
    """Win probability of two matrices against each other, exactly.

    A matrix makes one roll at a cell, so the mover's own record matters only through how that roll
    plays: as usual, or with a bonus for the few records that are its *members*. An afterstate is
    then worth one number for each record that the turn left, and another for what members gain on
    it: 2 W numbers instead of W squared. A roll's value, by the record of whoever moves next, is a
    sum over its outcomes of the first, and of the second at the lanes of the members.

    `visits` are the cells in the order of a pass forward. ``outcome_start[roll]`` to
    ``outcome_stop[roll, own]`` are the outcomes of a roll that stay below the goal; those of no
    dice, by the opponent's score, come after all others. ``wins[own, opponent, roll]`` wins at
    once. ``bonus[roll]`` is what members gain, and ``members[roll]`` is 1 at their lanes. `landed`
    are the afterstates that land on a cell, ``arrival_start[cell:][:2]`` their range.

    `worth` is scratch: by player, opponent and so many `scores`, what an afterstate is worth by its
    record, then what members gain on it; 0 from the goal on. `played` is scratch likewise: the roll
    that is made next. ``starts[player]`` is filled with what the first cell is worth, and what
    members lose there without their bonus.
    """
    lanes, num_actions, goal, scores = shape.lanes, shape.num_actions, args.goal, args.scores
    visits, wins, chances, points = args.visits, args.wins, args.chances, args.points
    worth, arrival_start, parts = args.worth, args.arrival_start, lanes // code.width
    with code.loop(0, goal * goal, down=True) as turn:
        ahead = (turn - PREFETCH_DISTANCE).at_least(0)
        later = visits.number(ahead * 2) * goal + visits.number(ahead * 2 + 1)
        wins.prefetch(later * num_actions, 2 * code.width)
        own, opponent = visits.number(turn * 2), visits.number(turn * 2 + 1)
        cell = own * goal + opponent
        with code.loop(0, 2) as player:
            roll = args.matrices.number(player * goal * goal + cell)
            column = (player * goal + opponent) * scores
            none = args.outcome_start.number(num_actions) + opponent
            after_none = code.select(own + points.number(none) < goal, none + 1, none)
            rolls_none = roll.equals(0)
            first = code.select(rolls_none, none, args.outcome_start.number(roll))
            last = code.select(rolls_none, after_none, args.outcome_stop.number(roll * goal + own))
            totals = []
            for base in (own, own + args.bonus.number(roll)):
                won = wins.number((base * goal + opponent) * num_actions + roll)
                totals.append((base + column, code.variable(code.vector(won, parts))))
            with code.loop(first, last) as outcome:
                chance, record = chances.number(outcome), args.records.number(outcome)
                for base, summed in totals:
                    score = base + points.number(outcome)
                    place = score * (2 * lanes) + record
                    usual, gain = (
                        code.vector(code.builder.fmul(chance, worth.number(at)), parts)
                        for at in (place, place + lanes)
                    )
                    theirs = args.members.vector(args.played.number(score) * lanes, parts)
                    summed.set(theirs * gain + (summed.get() + usual))
            value, with_bonus = (summed.get() for _, summed in totals)
            rival = (1 - player) * goal * scores
            with code.loop(arrival_start.number(cell), arrival_start.number(cell + 1)) as arrival:
                there = rival + args.landed.number(arrival)
                worth.put(there * (2 * lanes), 1.0 - value)
                worth.put(there * (2 * lanes) + lanes, value - with_bonus)
                args.played.put_number(there, roll)
            with code.when(cell.equals(0)):
                args.starts.put(player * (2 * lanes), value)
                args.starts.put(player * (2 * lanes) + lanes, value - with_bonus)
