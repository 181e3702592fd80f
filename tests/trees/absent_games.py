"""Games of absent-minded players: of papers, by random problems, and of texts."""

from pathlib import Path
from typing import Any

import hogeq
from hogeq.trees.flat import FlatTree
from hogeq.trees.rules import from_rules

PROBLEMS = Path(__file__).parents[2] / "experiments" / "problems.py"

# E. Tewolde et al., arXiv 2602.15252: the small problems of its repository. Each value follows by
# hand: 4x(1 - x) at 1/2; 27(1 - x)xx at 2/3; of Piccione and Rubinstein's, "On the interpretation
# of decision problems with imperfect recall", GEB 20, 1997, all are best pure.
DRIVER = """# two exits that look alike, the second pays 4
node / player 1 actions exit on
node /P1:exit leaf payoffs 1=0
node /P1:on player 1 actions exit on
node /P1:on/P1:exit leaf payoffs 1=4
node /P1:on/P1:on leaf payoffs 1={last}
infoset highway nodes / /P1:on
"""

EXTENDED = """node / player 1 actions exit on
node /P1:exit leaf payoffs 1=0
node /P1:on player 1 actions exit on
node /P1:on/P1:exit leaf payoffs 1=0
node /P1:on/P1:on player 1 actions exit on
node /P1:on/P1:on/P1:exit leaf payoffs 1=27
node /P1:on/P1:on/P1:on leaf payoffs 1=0
infoset highway nodes / /P1:on /P1:on/P1:on
"""

FIGURE_2 = """node / chance actions heads=1/2 tails=0.5
node /C:heads player 1 actions stay go
node /C:heads/P1:stay leaf payoffs 1=2
node /C:heads/P1:go player 1 actions left right
node /C:heads/P1:go/P1:left leaf payoffs 1=3
node /C:heads/P1:go/P1:right leaf payoffs 1=0
node /C:tails player 1 actions stay go
node /C:tails/P1:stay leaf payoffs 1=2
node /C:tails/P1:go player 1 actions left right
node /C:tails/P1:go/P1:left leaf payoffs 1=0
node /C:tails/P1:go/P1:right leaf payoffs 1=4
infoset first nodes /C:heads
infoset other nodes /C:tails
infoset last nodes /C:heads/P1:go /C:tails/P1:go
"""

FIGURE_3 = """node / player 1 actions l r
node /P1:l player 1 actions L R
node /P1:l/P1:L leaf payoffs 1=1
node /P1:l/P1:R leaf payoffs 1=0
node /P1:r player 1 actions L R
node /P1:r/P1:L leaf payoffs 1=0
node /P1:r/P1:R leaf payoffs 1=2
infoset first nodes /
infoset last nodes /P1:l /P1:r
"""

FIGURE_6 = """node / chance actions l=0.5 r=0.5
node /C:l player 1 actions stay go
node /C:l/P1:stay leaf payoffs 1=3
node /C:l/P1:go player 1 actions stop on
node /C:l/P1:go/P1:stop leaf payoffs 1=0
node /C:l/P1:go/P1:on leaf payoffs 1=2
node /C:r player 1 actions stop on
node /C:r/P1:stop leaf payoffs 1=3
node /C:r/P1:on player 1 actions stay go
node /C:r/P1:on/P1:stay leaf payoffs 1=0
node /C:r/P1:on/P1:go leaf payoffs 1=2
infoset one nodes /C:r /C:l/P1:go
infoset two nodes /C:l /C:r/P1:on
"""


def game(text: str) -> hogeq.Game:
    Path("problem.txt").write_text(text)
    return hogeq.Game("problem.txt")


def tree_of(text: str) -> FlatTree:
    tree = game(text).tree
    assert tree is not None
    return tree


def drawn(problems: Any, seed: int, **more: int) -> FlatTree:
    """Draw a small tree with a decision or more."""
    tree = from_rules(problems.RandomTree(**{"most": 4, "sets": 1, "seed": seed, **more}))
    return tree if tree.num_rows else drawn(problems, seed + 1000, **more)


def efg(*lines: str) -> hogeq.Game:
    """Read Gambit's format: `p player set` of two actions, or `u` of one, `t number payoff`."""
    full = []
    for kind, first, last in (line.split(maxsplit=2) for line in lines):
        actions = {"p": '"1" "2"', "u": '"1"'}.get(kind)
        tail = f'{first} {last} "" {{ {actions} }} 0' if actions else f'{first} ""'
        tail = f"{tail} {{ {last}, -{last} }}" if kind == "t" else tail
        full.append(f'{"p" if actions else kind} "" {last if kind == "c" else tail}\n')
    Path("game.efg").write_text('EFG 2 R "game" { "one" "two" }\n' + "".join(full))
    return hogeq.Game("game.efg")
