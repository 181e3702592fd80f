"""The Markov chain on a component's entries: set up, solved by elimination, improved by policy.

Symbols of shapes are those of :mod:`hogeq.kernels.tables`; besides them, U is the number of states
of a component's chain: its entries, once for each player who can have left them. Whoever ``who``
left an entry, the mover there is ``who`` again or the other. Values in the chain are win
probabilities of player 0, so that all its numbers are probabilities; self-play is a chain of two
players too, who share their arrays.
"""

from hogeq.kernels.sums import part, routine, zero_row

STRICT = 1e-13  # what a roll must gain, in win probability, for full memory to move to it

ENDLESS = 0.5  # what a game that never ends is worth: it is a draw
SETTLED = 1e-16  # change of win probabilities at which iteration over them stops
ENOUGH = 10_000  # iterations after which it stops anyway


@part
def factorise(chain, exits, size):
    """Factorise a chain by leaving its last state out of sight, then the last but one, and so on.

    `chain` (U, U) holds the probabilities of moving, `exits` (U,) those of leaving the component;
    both are overwritten. The probability of moving on from a state is not taken as 1 less that of
    staying but summed, so nothing is ever subtracted and every entry is accurate to rounding
    (Grassmann, Taksar and Heyman 1985), however long the chain stays. A state from which the chain
    never comes away is taken to leave it after one visit, and its `exits` are set to -1.
    """
    for last in range(size - 1, -1, -1):
        moves = exits[last]
        for state in range(last):
            moves += chain[last, state]
        endless = moves == 0.0
        if endless:
            moves = exits[last] = 1.0
        for state in range(last):
            share = chain[state, last] / moves
            if share > 0.0:
                chain[state, last] = share
                exits[state] += share * exits[last]
                for other in range(last):
                    chain[state, other] += share * chain[last, other]
        for state in range(last):
            chain[last, state] /= moves
        chain[last, last] = 1.0 / moves
        if endless:
            exits[last] = -1.0


@part
def absorb(chain, exits, gains, size):
    """Turn the gains of each state into those expected until the component is left."""
    for state in range(size):
        if exits[state] < 0.0:
            gains[state] = ENDLESS
    for last in range(size - 1, -1, -1):
        for state in range(last):
            gains[state] += chain[state, last] * gains[last]
    for state in range(size):
        gains[state] *= chain[state, state]
        for other in range(state):
            gains[state] += chain[state, other] * gains[other]


@part
def count_visits(chain, inflow, size):
    """Turn what flows into each state into the visits to it: the adjoint of :func:`absorb`."""
    for last in range(size - 1, -1, -1):
        for state in range(last):
            inflow[state] += inflow[last] * chain[last, state]
    for state in range(size):
        inflow[state] *= chain[state, state]
        for other in range(state):
            inflow[state] += inflow[other] * chain[other, state]


@part
def staying(tables, dice, roll, own, opponent):
    """Probability that a roll stays, and the offset of what it then leaves."""
    cycles = tables.cycles
    if roll > 0:
        return cycles.stay[dice, roll], cycles.stay_offset[roll]
    if cycles.zero_stays[dice, own, opponent] != 0:
        return 1.0, tables.zero_offset[dice, zero_row(tables, own), opponent]
    return 0.0, 0


@part
def mover_at(tables, entry, who, whos):
    """Player to move at an entry that `who` left."""
    return who if tables.cycles.entry_again[entry] else whos - 1 - who


@part
def build_chain(tables, component, whos, policies, picks, rest, chain, exits, gains):
    """Set up a component's chain: each state keeps to its pick (U,), or, if -1, to the policy.

    Fills `chain` (V, V) and `exits` (V,) of the V states of the core, to which others lead but
    which lead to no others, and returns V; and `gains` (U,) with what the rolls in play win
    outside, `rest` (U, K).
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    cycles = tables.cycles
    first = cycles.entry_start[component]
    size = (cycles.entry_start[component + 1] - first) * whos
    core = (cycles.core_end[component] - first) * whos
    for state in range(size):
        entry = first + state // whos
        own, opponent = divmod(cycles.entry_cell[entry], goal)
        mover = mover_at(tables, entry, state % whos, whos)
        seat = min(mover, len(policies) - 1)
        if state < core:
            for other in range(core):
                chain[state, other] = 0.0
            exits[state] = 0.0
        gains[state] = 0.0
        for roll in range(num_actions):
            weight = policies[seat, own, opponent, roll]
            if picks[state] >= 0:
                weight = 1.0 if roll == picks[state] else 0.0
            if weight > 0.0:
                if state < core:
                    target = cycles.move_to[entry, roll] * whos + mover
                    chain[state, target] += weight * cycles.move_stay[entry, roll]
                    exits[state] += weight * cycles.move_leave[entry, roll]
                gains[state] += weight * rest[state, roll]
    return core


@part
def enter_core(tables, component, whos, policies, picks, flows, gains):
    """Let what flows into the states outside a component's core flow on into the core.

    With `gains` those states gain what the core does instead.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    cycles = tables.cycles
    first = cycles.entry_start[component]
    for entry in range(cycles.core_end[component], cycles.entry_start[component + 1]):
        own, opponent = divmod(cycles.entry_cell[entry], goal)
        for who in range(whos):
            state = (entry - first) * whos + who
            mover = mover_at(tables, entry, who, whos)
            seat = min(mover, len(policies) - 1)
            for roll in range(num_actions):
                stays = cycles.move_stay[entry, roll]
                weight = policies[seat, own, opponent, roll]
                if picks[state] >= 0:
                    weight = 1.0 if roll == picks[state] else 0.0
                if weight > 0.0 and stays > 0.0:
                    target = cycles.move_to[entry, roll] * whos + mover
                    if gains:
                        flows[state] += weight * stays * flows[target]
                    else:
                        flows[target] += weight * stays * flows[state]


@part
def win_of(tables, entry, mover, roll, rest, wins):
    """Add up what a roll of the mover wins outside, `rest`, and after staying, `wins` (U,)."""
    cycles = tables.cycles
    return rest + cycles.move_stay[entry, roll] * wins[cycles.move_to[entry, roll] * 2 + mover]


@part
def improve(tables, component, mover, picks, rest, wins):
    """Move the picks of a mover's states to better rolls; whether any moved.

    Player 0 wants the win probabilities `wins` (U,) high, player 1 wants them low.
    """
    num_actions = tables.dimensions.num_actions
    first = tables.cycles.entry_start[component]
    size = (tables.cycles.entry_start[component + 1] - first) * 2
    sign = 1.0 if mover == 0 else -1.0
    moved = False
    for state in range(size):
        entry = first + state // 2
        if picks[state] < 0 or mover_at(tables, entry, state % 2, 2) != mover:
            continue
        roll = picks[state]
        best = sign * win_of(tables, entry, mover, roll, rest[state, roll], wins) + STRICT
        for roll in range(num_actions):
            value = sign * win_of(tables, entry, mover, roll, rest[state, roll], wins)
            if value > best:
                best = value
                picks[state] = roll
                moved = True
    return moved


@routine
def settle(tables, component, picks, policies, rest, wins, before):
    """Set the picks of a component that play might never leave; improving them is not enough there.

    To be the first to leave can be worse for both players than to stay, and no single change of a
    pick shows what staying for ever is worth. So win probabilities are iterated from that. A pick
    that leaves goes before one that stays for certain and is worth as much.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    leave = tables.cycles.move_leave
    first = tables.cycles.entry_start[component]
    size = (tables.cycles.entry_start[component + 1] - first) * 2
    for state in range(size):
        wins[state] = ENDLESS
    for _ in range(ENOUGH):
        change = 0.0
        for state in range(size):
            before[state] = wins[state]
        for state in range(size):
            entry = first + state // 2
            mover = mover_at(tables, entry, state % 2, 2)
            own, opponent = divmod(tables.cycles.entry_cell[entry], goal)
            sign = 1.0 if mover == 0 else -1.0
            best, total = -2.0, 0.0
            for roll in range(num_actions):
                value = win_of(tables, entry, mover, roll, rest[state, roll], before)
                best = max(best, sign * value)
                if picks[state] < 0:
                    seat = min(mover, len(policies) - 1)
                    total += policies[seat, own, opponent, roll] * value
            wins[state] = total if picks[state] < 0 else sign * best
            change = max(change, abs(wins[state] - before[state]))
        if change <= SETTLED:
            break
    for state in range(size):
        if picks[state] < 0:
            continue
        entry = first + state // 2
        mover = mover_at(tables, entry, state % 2, 2)
        sign = 1.0 if mover == 0 else -1.0
        found = -1
        for roll in range(num_actions):
            value = win_of(tables, entry, mover, roll, rest[state, roll], wins)
            if sign * value >= sign * wins[state] - STRICT and (
                found < 0 or (leave[entry, found] == 0.0 and leave[entry, roll] > 0.0)
            ):
                found = roll
        picks[state] = found
