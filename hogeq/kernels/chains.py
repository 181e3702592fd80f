"""The Markov chain of a component: set up, solved by elimination, improved by policy iteration.

Its states are the entered hidden states, E of them, once for each of W movers: 2, or 1 where one
counts for both. The first of them are the core, to which turns that stay at any of them lead. For
each of K rolls, by entered state: the chance that it stays, that it leaves, the entered state that
follows if it stays, and 1 if the same player then moves; by state: its probability, and what it
wins outside. All wins are player 0's, so that all numbers are probabilities.
"""

from numba import njit

STRICT = 1e-13  # what a roll must gain, in win probability, for full memory to move to it
ENDLESS = 0.5  # what a game that never ends is worth: it is a draw
SETTLED = 1e-16  # change of win probabilities at which iteration over them stops
ENOUGH = 10_000  # iterations after which it stops anyway

# Called, not written into their callers: what is long stands by itself, and is compiled faster.
routine = njit(error_model="numpy", _nrt=False)


@routine
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


@routine
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


@routine
def count_visits(chain, inflow, size):
    """Turn what flows into each state into the visits to it: the adjoint of :func:`absorb`."""
    for last in range(size - 1, -1, -1):
        for state in range(last):
            inflow[state] += inflow[last] * chain[last, state]
    for state in range(size):
        inflow[state] *= chain[state, state]
        for other in range(state):
            inflow[state] += inflow[other] * chain[other, state]


@routine
def build(core, movers, weight, stay, leave, to, again, outside, chain, exits, gains):
    """Set up the chain of the core (V, V), its exits and its gains (V,)."""
    for state in range(core * movers):
        for other in range(core * movers):
            chain[state, other] = 0.0
        exits[state] = gains[state] = 0.0
        for roll in range(weight.shape[1]):
            share = weight[state, roll]
            if share > 0.0:
                follow = follower(movers, to, again, state, roll)
                chain[state, follow] += share * stay[state // movers, roll]
                exits[state] += share * leave[state // movers, roll]
                gains[state] += share * outside[state, roll]


@routine
def follower(movers, to, again, state, roll):
    """State that follows if a roll stays."""
    entry, mover = state // movers, state % movers
    return to[entry, roll] * movers + (mover if again[entry, roll] else movers - 1 - mover)


@routine
def worth(stay, to, again, outside, state, roll, wins):
    """Win probability after a roll."""
    follow = follower(2, to, again, state, roll)
    return outside[state, roll] + stay[state // 2, roll] * wins[follow]


@routine
def improve(mover, states, weight, stay, to, again, outside, wins):
    """Let a mover of the first states take better rolls; whether any was found."""
    sign = 1.0 if mover == 0 else -1.0
    moved = False
    for state in range(mover, states, 2):
        chosen = 0
        while weight[state, chosen] == 0.0:
            chosen += 1
        weight[state, chosen] = 0.0
        best = sign * worth(stay, to, again, outside, state, chosen, wins) + STRICT
        for roll in range(weight.shape[1]):
            value = sign * worth(stay, to, again, outside, state, roll, wins)
            if value > best:
                best, chosen, moved = value, roll, True
        weight[state, chosen] = 1.0
    return moved


@routine
def settle(searchers, states, weight, stay, leave, to, again, outside, wins, before):
    """Choose the rolls of a component that play might never leave; improving is not enough there.

    To be the first to leave can be worse for both players than to stay, and no single change of a
    roll shows what staying for ever is worth. So win probabilities are iterated from that. A roll
    that leaves goes before one that stays for certain and is worth as much.
    """
    traps, change = False, 1.0
    for state in range(states):
        wins[state] = ENDLESS
        for roll in range(weight.shape[1]):
            traps = traps or leave[state // 2, roll] == 0.0
    for turn in range(ENOUGH + 1 if traps else 0):
        last = turn == ENOUGH or change <= SETTLED  # now the rolls are chosen
        change = 0.0
        for state in range(states):
            before[state] = wins[state]
        for state in range(states):
            searches, sign = state % 2 < searchers, 1.0 if state % 2 == 0 else -1.0
            best, total, chosen, leaves = -2.0, 0.0, -1, 0.0
            for roll in range(weight.shape[1]):
                value = worth(stay, to, again, outside, state, roll, before)
                total += weight[state, roll] * value
                best = max(best, sign * value)
                if sign * value >= sign * before[state] - STRICT:
                    leaving = leave[state // 2, roll]
                    if chosen < 0 or (leaves == 0.0 and leaving > 0.0):
                        chosen, leaves = roll, leaving
            if not last:
                wins[state] = sign * best if searches else total
                change = max(change, abs(wins[state] - before[state]))
            elif searches:
                for roll in range(weight.shape[1]):
                    weight[state, roll] = 1.0 if roll == chosen else 0.0
        if last:
            break


@routine
def solve(core, searchers, weight, stay, leave, to, again, outside, wins, chain, exits):
    """Win probabilities of all states; as many movers as search choose their rolls."""
    states = 2 * core
    for state in range(len(wins)):
        if state % 2 < searchers:
            for roll in range(weight.shape[1]):
                weight[state, roll] = 1.0 if roll == 0 else 0.0
    if searchers:
        settle(searchers, states, weight, stay, leave, to, again, outside, wins, exits)
    while True:
        build(core, 2, weight, stay, leave, to, again, outside, chain, exits, wins)
        factorise(chain, exits, states)
        absorb(chain, exits, wins, states)
        # The reply to player 0's rolls is found first, and whole (Hoffman, Karp 1966).
        moved = False
        for mover in range(searchers - 1, -1, -1):
            if not moved:
                moved = improve(mover, states, weight, stay, to, again, outside, wins)
        if not moved:
            break
    for state in range(states, len(wins)):
        sign, best, total = 1.0 if state % 2 == 0 else -1.0, -2.0, 0.0
        for roll in range(weight.shape[1]):
            value = worth(stay, to, again, outside, state, roll, wins)
            total += weight[state, roll] * value
            best = max(best, sign * value)
        wins[state] = sign * best if state % 2 < searchers else total


@routine
def visit(core, movers, weight, stay, leave, to, again, outside, visits, chain, exits, unused):
    """Turn what flows into all states into the expected visits to them."""
    for state in range(core * movers, len(visits)):
        for roll in range(weight.shape[1]):
            flow = visits[state] * weight[state, roll] * stay[state // movers, roll]
            if flow > 0.0:
                visits[follower(movers, to, again, state, roll)] += flow
    build(core, movers, weight, stay, leave, to, again, outside, chain, exits, unused)
    factorise(chain, exits, core * movers)
    count_visits(chain, visits, core * movers)
