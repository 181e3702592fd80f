"""Games of Gambit's catalogue: those written here by hand, and all where pygambit is installed."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hogeq
from hogeq.trees.sequences import sequence_form

CHANCE = 'c "" 1 "" { "1" 1/2 "2" 1/2 } 0'
ROUTES = 'c "" 1 "" { "0" 1/4 "1" 1/4 "2" 1/4 "3" 1/4 } 0'

# A name, how many players, and lines: "p PLAYER SET", payoffs, or a line as it is.
GAMES: dict[str, tuple[int, tuple[str, ...]]] = {
    "wichardt2008": (
        2,
        (
            *("p 1 1", "p 1 2", "p 2 1", "1 -1", "-1 1", "p 2 1", "-5 5", "-5 5"),
            *("p 1 2", "p 2 1", "-5 5", "-5 5", "p 2 1", "-1 1", "1 -1"),
        ),
    ),
    "gilboa1997_fig1": (1, ("p 1 1", "0", "p 1 1", "4", "1")),
    "gilboa1997_fig2": (
        1,
        (CHANCE, "p 1 1", "0", "p 1 2", "4", "1", "p 1 2", "0", "p 1 1", "4", "1"),
    ),
    "jakobsen2016_fig1a": (
        2,
        (
            *(CHANCE, "p 2 1", "p 1 1", "1 0", "0 0", "p 1 1", "1 1", "0 1"),
            *("p 1 1", "p 2 1", "0 1", "0 0", "p 2 1", "1 1", "1 0"),
        ),
    ),
    "jakobsen2016_fig1b": (
        2,
        (CHANCE, "p 2 1", "0 0", "0 1", "p 1 1", "p 2 1", "0 1", "0 0", "p 2 1", "1 1", "1 0"),
    ),
    "jakobsen2016_fig1c": (
        2,
        (CHANCE, "p 2 1", "0 0", "p 1 1", "1 1", "0 1", "p 1 1", "0 0", "p 2 1", "1 1", "1 0"),
    ),
    "jakobsen2016_fig3": (
        4,
        (
            *(ROUTES, "p 2 1", "0 0 0 0", "p 1 1", "0 0 0 0", "1.01 -1 0 0"),
            *("p 3 1", "0 0 0 0", "p 2 1", "0 0 0 0", "0 1.01 -1 0"),
            *("p 4 1", "0 0 0 0", "p 3 1", "0 0 0 0", "0 0 1.01 -1"),
            *("p 1 1", "0 0 0 0", "p 4 1", "0 0 0 0", "-1 0 0 1.01"),
        ),
    ),
    "vonstengel2022_fig10.7": (
        2,
        (
            *("p 2 1", "p 1 1", "p 2 2", "1 5", "3 4", "p 2 2", "0 0", "0 2"),
            *("p 1 1", "p 2 2", "0 3", "1 0", "p 2 2", "2 3", "0 4"),
        ),
    ),
}


def written(folder: Path, name: str) -> Path:
    """Write a game in Gambit's format."""
    players, lines = GAMES[name]
    full = [
        f'EFG 2 R "{name}" {{ {" ".join(f"{chr(34)}{one}{chr(34)}" for one in range(players))} }}'
    ]
    ends = 0
    for line in lines:
        if line.startswith("c "):
            full.append(line)
        elif line.startswith("p "):
            full.append(f'p "" {line[2:]} "" {{ "1" "2" }} 0')
        else:
            ends += 1
            full.append(f't "" {ends} "" {{ {", ".join(line.split())} }}')
    path = folder / f"{name}.efg"
    path.write_text("\n".join([*full, ""]))
    return path


def read(path: Path) -> hogeq.Game:
    """Read a game; one of other sums or more than two players as a team of all against chance."""
    try:
        return hogeq.Game(path)
    except hogeq.HogeqError:
        names = re.search(r"\{(.*?)\}", path.read_text().splitlines()[0])
        assert names is not None
        players = names[1].count('"') // 2
        return hogeq.Game(path, teams="".join(map(str, range(players))))


def check(path: Path, is_perfect: Callable[[Path], bool] | None = None) -> None:
    """Audit and solve a game; compare its recall with what Gambit says."""
    game = read(path)
    audits = game.audit()
    # A team's recall is another than that of its members.
    alone = [one for audit in audits for one in audit.members or [audit]]
    holds = [one.findings["perfect recall"].holds for one in alone]
    assert None not in holds
    assert is_perfect is None or all(holds) is is_perfect(path), path.name
    met = game.met("uniform")
    assert ((met >= 0.0) & (met <= 1.0 + 1e-12)).all()
    solved = game.equilibrium(2.0)
    assert solved.lower <= solved.upper + 1e-9
    lowest, highest = (
        game.tree.shift + end
        for end in (game.tree.terminal_payoffs.min(), game.tree.terminal_payoffs.max())
    )
    assert lowest - 1e-9 <= solved.lower - game.tree.centre <= highest + 1e-9


@pytest.mark.parametrize("name", GAMES)
def test_a_game_of_the_catalogue_is_audited_and_solved(name: str, tmp_path: Path) -> None:
    check(written(tmp_path, name))


@pytest.mark.parametrize(
    ("name", "teams", "value"),
    [
        ("wichardt2008", None, 0.0),
        ("gilboa1997_fig1", None, 4 / 3),
        ("gilboa1997_fig2", None, 2.0),
        # Means of the members' payoffs. Each guess is right half of the time, whatever it is.
        ("jakobsen2016_fig1a", "01", 1 / 2),
        # Second to guess is right half of the time; first to guess says 2 and moves half the time.
        ("jakobsen2016_fig1b", "01", 1 / 2),
        ("jakobsen2016_fig1c", "01", 1 / 2),
        # All forward, and each of four routes pays 0.01 in all.
        ("jakobsen2016_fig3", "0123", 0.01 / 4),
        ("vonstengel2022_fig10.7", "01", 7 / 2),
    ],
)
def test_values_of_the_catalogue(
    name: str, teams: str | None, value: float, tmp_path: Path
) -> None:
    solved = hogeq.Game(written(tmp_path, name), teams=teams).equilibrium(10.0)
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((value, value), abs=1e-8)


@pytest.mark.parametrize(
    ("name", "is_in_order"), [("fig1a", False), ("fig1b", True), ("fig1c", False), ("fig3", False)]
)
def test_what_cannot_be_timed_has_no_order(name: str, is_in_order: bool, tmp_path: Path) -> None:
    """S. K. Jakobsen, T. B. Sorensen and V. Conitzer, "Timeability of extensive-form games", 2016.

    Two players who do not know who came first have no common clock. Each alone has one.
    """
    path = written(tmp_path, f"jakobsen2016_{name}")
    players = GAMES[path.stem][0]
    together = hogeq.Game(path, teams="".join(map(str, range(players))))
    assert (sequence_form(together.tree, 0).rank_of_row is not None) is is_in_order
    alone = together.audit()[0].members
    assert len(alone) == players
    assert all(one.findings["perfect recall"].holds for one in alone)


def test_the_catalogue_that_pygambit_ships() -> None:
    gambit: Any = pytest.importorskip("pygambit", reason="pygambit is not installed: make gambit")
    files = sorted(Path(gambit.__file__).parent.rglob("*.efg"))
    refused = Counter[str]()
    for path in files:
        try:
            check(path, lambda one: gambit.read_efg(one).is_perfect_recall)
        except hogeq.HogeqError as error:
            refused[str(error).rpartition("; allowed: ")[2]] += 1
    assert len(files) > 50
    assert refused.total() < len(files) // 4, refused
