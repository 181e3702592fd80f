"""What player 0 does in a backward pass: its roles."""

EVALUATE = 0  # keep to the policy
COUNTERFACTUAL = 1  # keep to the policy, and report counterfactual values
ASCEND = 2  # move to the roll with the largest counterfactual value
SOFTMAX = 3  # move part of the way to the softmax of the counterfactual values
FULL_MEMORY = 4  # maximise in every hidden state on its own: a player with full memory
