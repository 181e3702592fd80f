"""alpha-rank of a field by OpenSpiel: how long evolution stays with each entry.

Omidshafiei et al. (2019), "alpha-Rank: multi-agent evaluation by evolution", in the limit of
infinite selection: from an entry play moves on to any that beats it, with equal chances.
"""

from typing import Any, Final

import numpy as np

from hogeq.support.aliases import Floats
from hogeq.support.messages import not_installed

NOISE: Final = 1e-6
"""Chance that play moves on to an entry that loses: it makes the answer unique."""


def require() -> Any:
    """Give OpenSpiel's module, or raise ImportError with what to install."""
    try:
        from open_spiel.python.egt import alpharank
    except ImportError as error:  # its pictures need networkx
        what = not_installed("OpenSpiel or networkx", "--alpha-rank", "open_spiel networkx")
        raise ImportError(what) from error
    return alpharank


def alpha_rank(win_rates: Floats) -> Floats:
    """Share of time that play spends with each entry."""
    alpharank = require()
    noise = NOISE
    while True:
        try:
            shares = alpharank.compute([win_rates], use_inf_alpha=True, inf_alpha_eps=noise)[2]
        except ValueError:  # several answers: as good as no noise
            noise *= 10.0
            if noise > 0.1:
                raise
        else:
            return np.maximum(np.asarray(shares, np.float64), 0.0)
