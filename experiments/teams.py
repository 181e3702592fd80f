"""Team games of the papers: what two teams are worth in mixtures (TMECor), proved from both sides.

    python experiments/teams.py
    python experiments/teams.py --only 3K 4K5 --seconds 60

For every game and every choice of adversary: nodes, information sets, decisions of both teams'
belief DAGs and of their parts that the last program used, value to the first team (both ends where
they do not meet), published value, method and processor seconds. Prints a Markdown table and
writes results/teams.md.

Published values are those of B. H. Zhang, G. Farina and T. Sandholm, "Team belief DAG", ICML 2023,
arXiv 2202.00789, and B. H. Zhang and T. Sandholm, "Team correlated equilibria in zero-sum
extensive-form games via tree decompositions", AAAI 2022, arXiv 2109.05284, to three digits; where
more stand, other code computed them from the rules.
"""

import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from common import arguments, publish

import hogeq
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import sequence_form
from hogeq.trees.whole_dags import whole_dag

THREE: Final = ("01/2", "02/1", "12/0")
"""Two players of three against each one."""

GAMES: Final = {
    **dict.fromkeys(("3K3", "3K4", "3K6", "3K8"), THREE),
    "4K5": ("012/3", "01/23", "02/13", "03/12"),
    **dict.fromkeys(("3L133", "3L143", "3L151"), THREE),
    "3L153": ("01/2",),
    "3L223": THREE,
    **dict.fromkeys(("3D2", "3D3", "liars(players=3,first=number)"), THREE),
    "gops(players=3)": ("01/2",),
    "gops(players=3,hidden=true)": ("01/2",),
    "gops(players=3,order=random)": ("01/2",),
}
"""Teams of each game."""

PUBLISHED: Final = {
    "3K3, teams 01/2": "0",
    "3K4, teams 01/2": "-1/24",
    "3K6, teams 01/2": "-0.023650",
    "3K8, teams 01/2": "-0.019281",
    "4K5, teams 01/23": "-7/190",
    "3L133, teams 01/2": "0.214843",
    "3L143, teams 01/2": "0.107",
    "3L151, teams 01/2": "-0.019",
    "3L153, teams 01/2": "0.024",
    "3L223, teams 01/2": "0.516",
    "3D2, teams 01/2": "0.25",
    "3D3, teams 01/2": "0.284",
}


def main() -> None:
    """Print and write the table."""
    given = arguments(__doc__, only=("",), seconds=120.0)
    header = [
        *("game", "teams", "nodes", "information sets", "decisions of the DAGs", "used"),
        *("value", "published", "method", "seconds"),
    ]
    publish(given.out, "teams", header, rows(given))


def rows(given: Namespace) -> Iterator[list[object]]:
    """Solve one game after the other."""
    for name, choices in GAMES.items():
        for teams in choices if any(name.startswith(one) for one in given.only) else ():
            yield row(hogeq.Game(name, teams=teams).tree, name, teams, given.seconds)


def row(tree: FlatTree, name: str, teams: str, seconds: float) -> list[object]:
    """Give all figures of a game."""
    began = time.process_time()
    solved = hogeq.Game(tree).equilibrium(seconds)
    spent = time.process_time() - began
    dags = [whole_dag(sequence_form(tree, player)) for player in (0, 1)]
    sizes = " + ".join("too many" if dag is None else f"{dag.num_decisions:,}" for dag in dags)
    used = " + ".join(f"{many:,}" for many in solved.effort["decisions"])
    lower, upper = f"{solved.lower:z.6f}", f"{solved.upper:z.6f}"
    value = lower if solved.is_proved else f"{lower} to {upper}"
    return [
        *(name, teams, f"{tree.num_nodes:,}", f"{tree.num_rows:,}", sizes, used),
        *(value, PUBLISHED.get(tree.name, ""), solved.method, f"{spent:.1f}"),
    ]


if __name__ == "__main__":
    main()
