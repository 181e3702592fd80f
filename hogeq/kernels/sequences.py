"""Passes over the sequences of a game tree, of both players at once.

A *sequence* is all that a player met and did up to one of its actions; the empty one is its *root*.
A *refined* information set is a row and the sequence that leads to it: the information set that the
player would have with perfect recall. A pass takes four steps:

1. down: a sequence's weight is the weight of the sequence before it, times the probability of its
   last action (the realisation weight of Koller, Megiddo and von Stengel 1996);
2. across: the counterfactual reach of a refined information set, by chance and the other player;
3. across: the payoff of the ends of each sequence, weighted by chance and the other player;
4. up: a row's action values are sums over its refined information sets; the value of each of these
   is then added to the sequence before it.

Across, the weights of opponents add up: a mixture costs what one opponent costs, but for its
weights. A player's own changes do not move them. So rows are set on the way up, each after all that
follow it, and a whole sweep of ascent costs what a pass costs.

Rows lie by seat and in the order of plays, the refined information sets of a row side by side, and
so do sequences: arrays are read in order, but for the weights across and those before. `row` is a
row's index in that order, `policy_row`, ``tree.policy_row[row]``, that in a policy, (R, K).
Sizes: R rows, K actions, J refined information sets, S sequences. Values are payoffs, as shares of
the largest.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hogeq.kernels import TIE
from hogeq.kernels.arrays import ASCEND, COUNTERFACTUAL, FULL_MEMORY, SOFTMAX
from hogeq.kernels.cache import kernel, part
from hogeq.kernels.row_roles import RegretTables, add_regret, match_regrets, soften, take_best
from hogeq.kernels.segments import segment
from hogeq.support.aliases import Floats

Indices = NDArray[np.int32]

WIN_RATE_OF_PAYOFF = 0.5  # a payoff that is the largest adds this to a win rate
SEAT_SHARE = 0.5  # share of the games in which a player has a seat


class Sequences(NamedTuple):
    """A tree by its sequences: R rows, J refined information sets, S sequences, E ends, M meetings.

    Ends, and nodes of a refined information set, are one where the sequences of both are the same;
    a *meeting* is such a node. Lists are packed: see :func:`hogeq.kernels.segments.segment`.
    """

    policy_row: Indices  # (R,), number of each row in a policy
    num_legal: Indices  # (R,), actions of each row
    refined_offsets: Indices  # (R + 1,), first refined information set of each row
    parent_sequence: Indices  # (J,), sequence that leads to each refined information set
    first_sequence: Indices  # (J,), sequence of its first action; those of the others follow
    player_row_offsets: Indices  # (3,), first row of each player
    root_sequences: Indices  # (3,), empty sequence of each player, ahead of its others; then S
    terminal_offsets: Indices  # (S + 1,), first of the ends of each sequence
    terminal_other_sequence: Indices  # (2 E,), the other player's sequence there
    terminal_payoff: Floats  # (2 E,), times the probability of chance: a share of the largest
    meeting_offsets: Indices  # (J + 1,), first meeting of each refined information set
    meeting_other_sequence: Indices  # (M,), the other player's sequence there
    meeting_chance: Floats  # (M,), probability of chance


@part
def illegal_mass_per_legal(policy, policy_row, legal):
    """Return the probability that each legal action of a policy's row gets from the illegal ones.

    The policy is (R, K). The `legal` first actions of the row are legal; the others' probability is
    shared out evenly. A row of ones, which counts every action once, is left as it is.
    """
    illegal_mass, is_all_ones = 0.0, True
    for action in range(legal, policy.shape[1]):
        illegal_mass += policy[policy_row, action]
    if illegal_mass > TIE:
        for action in range(policy.shape[1]):
            is_all_ones &= policy[policy_row, action] == 1.0
    # A mass of no more than `TIE` may be rounding alone.
    return 0.0 if illegal_mass <= TIE or is_all_ones else illegal_mass / legal


@part
def fill_weights(tree, policy, low, high, weights):
    """Fill realisation weights, (S,), of sequences that end in rows from `low`, below `high`.

    A sequence's weight is the product of the probabilities of its own actions. A refined
    information set is a row (information set) after one sequence of own actions. Rows are in the
    order of plays, so that the weights before a row are there already; in the policy, (R, K), they
    have other numbers.
    """
    for row in range(low, high):
        policy_row, legal = tree.policy_row[row], tree.num_legal[row]
        extra = illegal_mass_per_legal(policy, policy_row, legal)
        for refined in segment(tree.refined_offsets, row):
            weight_before = weights[tree.parent_sequence[refined]]
            first_sequence = tree.first_sequence[refined]
            for action in range(legal):
                probability = policy[policy_row, action] + extra
                weights[first_sequence + action] = weight_before * probability


@part
def fill_all_weights(tree, policy, weights):
    """Fill the realisation weights of all sequences of both players, (S,), top-down."""
    weights[tree.root_sequences[0]] = weights[tree.root_sequences[1]] = 1.0
    fill_weights(tree, policy, 0, len(tree.policy_row), weights)


@part
def counterfactual_reach(tree, weights, refined):
    """Return the probability that chance and the other player lead to a refined information set."""
    probability = 0.0
    for meeting in segment(tree.meeting_offsets, refined):
        probability += tree.meeting_chance[meeting] * weights[tree.meeting_other_sequence[meeting]]
    return probability


@part
def fill_end_values(tree, weights, low, high, sequence_values):
    """Set sequence values, (S,), to payoffs at their ends, weighted by chance and the other player.

    By the other's realisation `weights`, (S,); for the players from `low`, below `high`.
    """
    for sequence in range(tree.root_sequences[low], tree.root_sequences[high]):  # their sequences
        payoff = 0.0
        for end in segment(tree.terminal_offsets, sequence):
            payoff += tree.terminal_payoff[end] * weights[tree.terminal_other_sequence[end]]
        sequence_values[sequence] = payoff


@part
def sum_action_values(tree, row, own_weights, sequence_values, action_values):
    """Fill a row's action values, (K,): sums over its refined information sets.

    These are the parts of the row (information set) after one sequence of own actions each. Each
    counts by its own realisation weight, (S,); weights of 1 give counterfactual values.
    """
    action_values[:] = 0.0
    for refined in segment(tree.refined_offsets, row):
        weight = own_weights[tree.parent_sequence[refined]]
        first_sequence = tree.first_sequence[refined]
        for action in range(tree.num_legal[row]):
            action_values[action] += weight * sequence_values[first_sequence + action]


@part
def centre_values(action_values, legal, share, reach, extra):
    """Subtract the mean from a row's action values, (K,), in place, and scale them by `share`.

    Numbers within `TIE` times the row's `reach` of the mean become 0. Illegal actions, after the
    `legal` first ones, get the mean, 0, if the policy plays them (`extra` > 0, of
    :func:`illegal_mass_per_legal`), else the value of the worst legal action.
    """
    mean, least = 0.0, 0.0
    for action in range(legal):
        mean += action_values[action]
    mean /= legal
    for action in range(legal):
        centred = share * (action_values[action] - mean)
        action_values[action] = centred if abs(centred) > TIE * reach else 0.0
        least = min(least, action_values[action])
    for action in range(legal, len(action_values)):
        action_values[action] = least if extra == 0.0 else 0.0


@part
def add_expected_values(tree, row, policy, sequence_values):
    """Add a row's expected value at each refined information set to the sequence before it.

    A refined one is the part of a row (information set) after one sequence of own actions. The
    expected value is under `policy`, (R, K), in which the row has the number `policy_row`.
    `sequence_values`, (S,), change in place.
    """
    policy_row, legal = tree.policy_row[row], tree.num_legal[row]
    extra = illegal_mass_per_legal(policy, policy_row, legal)
    for refined in segment(tree.refined_offsets, row):
        first_sequence = tree.first_sequence[refined]
        expected = 0.0
        for action in range(legal):
            probability = policy[policy_row, action] + extra
            expected += probability * sequence_values[first_sequence + action]
        sequence_values[tree.parent_sequence[refined]] += expected


@part
def add_best_values(tree, row, sequence_values):
    """Add the best action's value at each refined information set to the sequence before it.

    A refined one is the part of a row (information set) after one sequence of own actions.
    `sequence_values`, (S,), change in place.
    """
    for refined in segment(tree.refined_offsets, row):
        first_sequence = tree.first_sequence[refined]
        best_value = -np.inf
        for action in range(tree.num_legal[row]):
            best_value = max(best_value, sequence_values[first_sequence + action])
        sequence_values[tree.parent_sequence[refined]] += best_value


@kernel
def forward(tree, policies, shares, own, other, scratch, reach):
    """Fill realisation weights of player 0 and its opponents, top-down, and the reach of rows.

    The weight of a sequence is the product of the probabilities of a player's own actions in it.
    `own`, (S,), gets those of ``policies[0]``; `other`, (S,), the mean of those of the n policies
    after it, by `shares`, (n,). One policy alone is self-play, and fills both. `reach`, (R,), or
    (0,) to leave it out, gets own weight times counterfactual reach, in the share of the games in
    which player 0 has the seat: half of them against opponents, all in self-play. It is summed over
    a row's refined information sets, the row after one sequence of own actions each; rows have the
    numbers that they have in policies. `scratch` is (S,).
    """
    fill_all_weights(tree, policies[0], own)
    seat_share = SEAT_SHARE
    if len(policies) > 1:
        other[:] = 0.0
    else:
        fill_all_weights(tree, policies[0], other)
        seat_share = 1.0
    for opponent in range(1, len(policies)):
        fill_all_weights(tree, policies[opponent], scratch)
        for sequence in range(len(other)):
            other[sequence] += shares[opponent - 1] * scratch[sequence]
    for row in range(len(reach)):
        total = 0.0
        for refined in segment(tree.refined_offsets, row):
            total += own[tree.parent_sequence[refined]] * counterfactual_reach(tree, other, refined)
        reach[tree.policy_row[row]] = seat_share * total


@part
def set_legal_row(role, policy, policy_row, legal, action_values, reach, temperature, damping):
    """Set a row of a policy, (R, K), by ASCEND or SOFTMAX; return 1 if ASCEND changes it, else 0.

    Only its first `legal` actions are legal; from the others ASCEND takes all probability, SOFTMAX
    the share `damping`. `action_values`, (K,), are weighted by the row's `reach`, and overwritten
    by SOFTMAX.
    """
    legal_row, legal_values = policy[policy_row, :legal], action_values[:legal]
    change = 0
    removed_share = 1.0  # of the probability of illegal actions
    if role == ASCEND:
        change = take_best(legal_row, legal_values, reach)
    else:
        soften(legal_row, legal_values, reach, temperature, damping)
        removed_share = damping
    for action in range(legal, policy.shape[1]):
        policy[policy_row, action] -= removed_share * policy[policy_row, action]
    return change


@kernel
def backward(
    role, tree, policies, own, other, sequence_values, reach, values, temperature, damping
):
    """Value all sequences for player 0, bottom-up, and set its rows by a role.

    A sequence is a player's own actions so far, a row an information set's action probabilities.
    Rows are numbered in the order of plays, and in another way (`policy_row`) in policies, `reach`
    and `values`. A policy's probability on illegal actions is spread over the legal ones, `extra`
    for each.

    1. Value sequences by the payoffs of their ends, against the opponents' weights `other`, (S,).
    2. For each row, the last first: fill its action values, weighted by reach and centred, in
       `values` (R, K); ASCEND and SOFTMAX then set the row in ``policies[0]``.
    3. Add its expected values, or for FULL_MEMORY its best ones, to the sequences before it.

    `own` (S,) and `reach` (R,) are those of :func:`forward`. Written: `sequence_values` (S,), whose
    roots then have the payoff to player 0 in each seat, a share of the largest. Returns how many
    rows ASCEND changed.
    """
    policy, changes = policies[0], 0
    if len(policies) == 1:
        fill_all_weights(tree, policy, other)
    share = WIN_RATE_OF_PAYOFF if len(policies) == 1 else WIN_RATE_OF_PAYOFF * SEAT_SHARE
    fill_end_values(tree, other, 0, 2, sequence_values)
    for row in range(len(tree.policy_row) - 1, -1, -1):
        policy_row, legal = tree.policy_row[row], tree.num_legal[row]
        if role in (COUNTERFACTUAL, ASCEND, SOFTMAX):
            action_values, row_reach = values[policy_row], reach[policy_row]
            sum_action_values(tree, row, own, sequence_values, action_values)
            extra = illegal_mass_per_legal(policy, policy_row, legal)
            centre_values(action_values, legal, share, row_reach, extra)
            if role != COUNTERFACTUAL and row_reach > 0.0:
                changes += set_legal_row(
                    role, policy, policy_row, legal, action_values, row_reach, temperature, damping
                )
        if role == FULL_MEMORY:
            add_best_values(tree, row, sequence_values)
        else:
            add_expected_values(tree, row, policy, sequence_values)
    return changes


@part
def update_regrets(row, weight, discounts, plus, policy, action_values, tables):
    """Add one iteration's regrets of a row to `tables`, and its policy to the average.

    An action's regret is its counterfactual value, `action_values` (K,), less the expected one
    under the policy, (R, K). Sums are multiplied by `discounts`, one for positive and one for
    negative sums, and cut off at 0 if `plus`, by :func:`hogeq.kernels.row_roles.add_regret`.
    `weight` is that of the policy in the average.
    """
    actions = policy.shape[1]
    expected = 0.0
    for action in range(actions):
        expected += policy[row, action] * action_values[action]
    for action in range(actions):
        tables.strategy_sum[row, action] += weight * policy[row, action]
        instant_regret = action_values[action] - expected
        add_regret(row, action, instant_regret, discounts, plus, tables.regrets, tables.prediction)


@part
def minimise_row(tree, row, tables, factors, plus, epsilon, visits, scratch):
    """Do an iteration of a regret minimiser at one row, an information set.

    1. Counterfactual values of the row's actions, and its reach by chance and the other player.
    2. Add the row's expected values to the sequences of own actions before it.
    3. Add the regrets to `tables`, and the policy to the average.
    4. Set the row of the policy by regret matching.

    `row` is its number in the order of plays, `policy_row` that in tables and in the policy. The
    arguments are those of :func:`minimise`, but for `factors`: the weight of the iteration, and the
    discounts of positive and of negative regrets.
    """
    policy, weights, sequence_values, action_values, ones = scratch
    iteration_weight, positive_discount, negative_discount = factors
    policy_row, legal = tree.policy_row[row], tree.num_legal[row]
    reach, visit_weight = 0.0, 0.0
    for refined in segment(tree.refined_offsets, row):
        own_weight = weights[tree.parent_sequence[refined]]
        reach += SEAT_SHARE * counterfactual_reach(tree, weights, refined)
        visit_weight += SEAT_SHARE * own_weight * visits[refined]
    sum_action_values(tree, row, ones, sequence_values, action_values)
    extra = illegal_mass_per_legal(policy, policy_row, legal)
    centre_values(action_values, legal, WIN_RATE_OF_PAYOFF * SEAT_SHARE, reach, extra)
    add_expected_values(tree, row, policy, sequence_values)
    weight = iteration_weight * visit_weight
    discounts = positive_discount, negative_discount
    update_regrets(policy_row, weight, discounts, plus, policy, action_values, tables)
    match_regrets(tables.regrets, tables.prediction, policy_row, policy.shape[1], epsilon, policy)


@kernel
def minimise(tree, tables, factors, alternating, plus, epsilon, visits, scratch):
    """Do iterations of CFR or a variant in self-play, one for each row of `factors`, (n, 3).

    A row of factors has the weight in the average, and the discounts of positive and of negative
    regrets.

    1. Match regrets in all rows, and fill the realisation weights.
    2. For both players, or one after the other if `alternating`: value the ends of sequences.
       Players are those from `low`, below `high`; their rows, in the order of plays, from
       `first_row`, below `end_row`.
    3. For each of their rows, the last first, :func:`minimise_row`.
    4. Fill the players' realisation weights anew.

    `visits`, (J,), is how often chance and an opponent at random lead to a refined information
    set, for the average. `epsilon` is the least probability of an action. Scratch: the policy,
    (R, K), realisation weights, (S,), values of sequences, (S,), and of actions, (K,); ones, (S,),
    are read only.
    """
    policy, weights, sequence_values, _, _ = scratch
    for policy_row in range(len(policy)):
        match_regrets(
            tables.regrets, tables.prediction, policy_row, policy.shape[1], epsilon, policy
        )
    fill_all_weights(tree, policy, weights)
    for iteration in range(len(factors)):
        factors_now = factors[iteration, 0], factors[iteration, 1], factors[iteration, 2]
        for turn in range(2 if alternating else 1):
            low, high = (turn, turn + 1) if alternating else (0, 2)  # players from, below
            fill_end_values(tree, weights, low, high, sequence_values)
            first_row, end_row = tree.player_row_offsets[low], tree.player_row_offsets[high]
            for row in range(end_row - 1, first_row - 1, -1):
                minimise_row(tree, row, tables, factors_now, plus, epsilon, visits, scratch)
            fill_weights(tree, policy, first_row, end_row, weights)


class Loops:
    """The loops over a tree, and the arrays that they fill."""

    def __init__(self, tree):
        self.tree = tree
        num_sequences = tree.root_sequences[2]
        self.own_weights = np.zeros(num_sequences)  # (S,), realisation weights of player 0
        self.other_weights = np.zeros(num_sequences)  # (S,), of opponents, or of all in self-play
        self.sequence_values = np.zeros(num_sequences)  # (S,), payoffs to player 0

    def forward(self, policies, shares, reach):
        """Fill realisation weights by `policies` (1 + n, R, K), and reach of rows (R,) or (0,)."""
        weights = self.own_weights, self.other_weights
        forward(self.tree, policies, shares, *weights, self.sequence_values, reach)

    def backward(self, role, policies, reach, values, temperature, damping):
        """Value all sequences; number of rows that changed, and payoffs to player 0 by seat."""
        arrays = self.own_weights, self.other_weights, self.sequence_values, reach, values
        changes = backward(int(role), self.tree, policies, *arrays, temperature, damping)
        return int(changes), self.sequence_values[self.tree.root_sequences[:2]]

    @cached_property
    def visits(self):
        """How often chance and an opponent at random lead to each refined information set, (J,)."""
        tree = self.tree
        num_sequences = tree.root_sequences[2]
        weights = np.zeros(num_sequences)  # realisation weights of uniformly random play
        actions = int(tree.num_legal.max(initial=1))
        uniform = np.full((1, len(tree.policy_row), actions), 1.0 / actions)
        no_reach = weights[:0]
        forward(tree, uniform, np.ones(1), weights, weights, weights, no_reach)
        shape = len(tree.parent_sequence), num_sequences
        meetings = tree.meeting_chance, tree.meeting_other_sequence, tree.meeting_offsets
        chance_of_sequences = csr_array(meetings, shape)
        return chance_of_sequences @ weights

    def run(self, regrets, prediction, strategy_sum, factors, *, alternating, plus, epsilon):
        """Do an iteration of a regret minimiser for each row of `factors`, in place.

        Arguments are those of :meth:`hogeq.model.protocol.Minimiser.run`.
        """
        if prediction is None:
            prediction = strategy_sum[:0]  # an empty table says that there is none
        tables = RegretTables(regrets, prediction, strategy_sum)
        policy, action_values = np.zeros(regrets.shape), np.zeros(regrets.shape[1])
        ones = np.ones(len(self.own_weights))
        scratch = policy, self.other_weights, self.sequence_values, action_values, ones
        minimise(self.tree, tables, factors, alternating, plus, epsilon, self.visits, scratch)
