"""Rows of probabilities from regrets, sums and values, as solvers need them."""

import numpy as np

from hogeq.support.aliases import Floats


def normalised(total: Floats, otherwise: Floats | None = None) -> Floats:
    """Scale rows to sum to 1; a row without positive sum is that of `otherwise`, or uniform."""
    sums = row_sums(total)
    empty = sums <= 0.0
    rows = total / np.where(empty, 1.0, sums)[..., None]
    rows[empty] = 1.0 / total.shape[-1] if otherwise is None else otherwise[empty]
    # A second time, since rows of tiny sums can miss 1 by more than rounding allows.
    rows /= row_sums(rows)[..., None]
    return rows


def row_sums(rows: Floats) -> Floats:
    """Add up the last axis: where it is short, several times as fast as numpy's own sum."""
    return np.einsum("...k->...", rows)


def match_regrets(regrets: Floats, epsilon: float = 0.0) -> Floats:
    """Match regrets: rows in proportion to positive regrets, no entry below `epsilon`."""
    matched = normalised(np.maximum(regrets, 0.0))
    if epsilon == 0.0:
        return matched
    return epsilon + (1.0 - regrets.shape[-1] * epsilon) * matched


def softmax(scores: Floats) -> Floats:
    """Give rows in proportion to the exponentials of the scores; a fresh array."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def given_arrival(values: Floats, infoset_reach: Floats) -> Floats:
    """Divide counterfactual values by the reach of their rows; zero where play never comes."""
    rows = infoset_reach[..., None]
    return np.divide(values, rows, out=np.zeros_like(values), where=rows > 0.0)
