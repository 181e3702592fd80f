"""The loops of `research.decision`: weights of pasts forward, values and rows backward."""

# mypy: disable-error-code="no-untyped-def"

import numba
import numpy as np

from hogeq.model.protocol import Role
from hogeq.model.rows import TIE

ASCEND, SOFTMAX = int(Role.ASCEND), int(Role.SOFTMAX)


@numba.njit(cache=True)
def forward(policy, row, before, last, mass, weight, reach):
    """Compute the weight of each past and the reach of each row."""
    actions = policy.shape[1]
    reach[:] = 0.0
    for past in range(len(row)):
        weight[past] = 1.0
        if before[past] > 0:
            sooner, action = divmod(before[past] - 1, actions)
            made = policy[row[sooner], action]
            if action == last[row[sooner]]:
                for other in range(action + 1, actions):
                    made += policy[row[sooner], other]
            weight[past] = weight[sooner] * made
        reach[row[past]] += weight[past] * mass[past]


@numba.njit(cache=True)
def backward(
    role,
    policy,
    before,
    last,
    order,
    first,
    members,
    weight,
    reach,
    worth,
    values,
    temperature,
    damping,
):
    """Compute values, later rows first, and set rows by role; count those that ASCEND changed."""
    actions, changes = policy.shape[1], 0
    for row in order:
        values[row] = 0.0
        for member in members[first[row] : first[row + 1]]:
            for action in range(actions):
                at = 1 + member * actions + min(action, last[row])
                values[row, action] += weight[member] * worth[at]
        if role == ASCEND and reach[row] > 0.0:
            best = values[row].max() - TIE * reach[row]
            choice = -1
            for action in range(actions):
                if values[row, action] >= best and (choice < 0 or policy[row, action] == 1.0):
                    choice = action
            if policy[row, choice] != 1.0:
                changes += 1
                policy[row] = 0.0
                policy[row, choice] = 1.0
        if role == SOFTMAX and reach[row] > 0.0:
            powers = np.exp((values[row] - values[row].max()) / (reach[row] * temperature))
            policy[row] += damping * (powers / powers.sum() - policy[row])
        for member in members[first[row] : first[row + 1]]:
            total = 0.0
            for action in range(actions):
                at = 1 + member * actions + min(action, last[row])
                total += policy[row, action] * worth[at]
            worth[before[member]] += total
    return changes
