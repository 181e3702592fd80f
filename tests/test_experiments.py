"""The experiments run, on games small enough for a test, and their tables say what they should."""

import runpy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.rules import rules_from
from hogeq.support import files
from hogeq.trees.absent import Decision
from tests.running import FOLDER, Run

pytestmark = pytest.mark.slow


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Run":
    monkeypatch.syspath_prepend(str(FOLDER))
    return Run(tmp_path, monkeypatch)


GAME = "--goal 8 --dice 2"


def test_convergence(table: Run) -> None:
    solvers = "cfr_plus cfr_br double_oracle mirror fictitious"
    options = f"{GAME} --iterations 3 --solvers {solvers} --starts 2 --kicks 5"
    rows = table("convergence", options, "convergence_su20")
    assert [row["solver"] for row in rows] == solvers.split()
    for row in rows:
        assert 0.5 - 1e-6 <= float(row["attack"]) <= float(row["bound"]) + 1e-6
    curves = (table.out / "convergence_su20.csv").read_text().splitlines()
    assert len(curves) == 1 + 3 * len(rows)
    assert [float(line.split(",")[3]) for line in curves[3::3]] == pytest.approx(
        [float(row["attack"]) for row in rows], abs=1e-6
    )
    ends = [line.split(" | ") for line in (table.out / "order_su20.md").read_text().splitlines()]
    assert ends[0][2:4] == ["attack, 1 x 10", "attack, 2 x 5"]
    assert [end[2] for end in ends[2:]] == [row["attack"] for row in rows]
    for *_, strong, bound in ends[2:]:
        assert 0.5 - 1e-6 <= float(strong) <= float(bound.strip("| ")) + 1e-6
    drawn = (table.out / "convergence_su20.png").read_bytes()
    table.start("convergence", f"--curves {table.out / 'convergence_su20.csv'}")
    assert (table.out / "convergence_su20.png").read_bytes() == drawn


def test_purification(table: Run) -> None:
    options = "--iterations 5 --samples 2 --sharpened 3"
    options += " --starts 2 --anneal-steps 5 --kicks 2"
    rows = table("purification", f"{GAME} {options}", "purification_8")
    methods = {row["method"] for row in rows}
    assert methods >= {"argmax", "threshold", "bundle"}
    assert all(0.5 - 1e-6 <= float(row["attack"]) <= float(row["bound"]) + 1e-6 for row in rows)
    assert (table.out / "purification_8.png").exists()


def test_certificates(table: Run) -> None:
    options = "--sizes 10x3 --seconds 1 --iterations 10 --kicks 2 --against policy cfr bundle"
    rows = table("certificates", options)
    assert [row["against"] for row in rows] == ["policy", "cfr", "bundle"]
    for row in rows:
        attack, certified, full = (
            float(row[name]) for name in ("attack", "certified", "full memory")
        )
        assert attack - 1e-6 <= certified <= full + 1e-6
        assert (row["not told"] == "") == (row["against"] == "policy")
        assert float(row["not told"] or full) <= full + 1e-9


def test_no_memory(table: Run) -> None:
    chosen = "--editions fa22 hw13 --solvers dcfr mirror fictitious --share 0.3"
    rows = table("no_memory", f"--goal 10 --dice 2 {chosen}")
    assert len(rows) == 6
    assert max(float(row["matrix"]) for row in rows) < 1e-6


def test_samples_win_what_the_table_says() -> None:
    lines = (FOLDER.parent / "results" / "samples.md").read_text("utf-8").splitlines()[2:]
    assert len(lines) > 15
    for line in lines:
        edition, sample, *rates = line.strip("| ").split(" | ")
        won = hogeq.Game(edition).win_rate(sample.strip("`"), "always_roll:6")
        for rate, found in zip(rates, won, strict=True):
            assert float(rate) == pytest.approx(found, abs=1e-11)


def test_mixtures_do_what_no_policy_can(table: Run) -> None:
    rows = table("mixtures", "")
    lower = [float(row["best policy, at least"]) for row in rows]
    assert lower == pytest.approx(
        [1 / 216, 1 / 48, 11 / 1008, 17 / 6768, 0.000549, 0.002614], abs=2e-6
    )
    for row, known in zip(rows, lower, strict=True):
        assert known <= float(row["found"]) < float(row["best matrix"])
    assert [row["states"] for row in rows[:3]] == ["31", "18", "18"]
    none = table("mixtures", "--goals 2 --dice 1 --sides 2")
    assert none[-1]["game"].startswith("of ")
    assert len(none) == 1


def test_the_game_of_two_coins_is_solved_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    from mixtures import GAMES
    from normal_form import TinyGame

    game = TinyGame(rules_from(GAMES[0]), exact=True)
    cells = game.eliminate()
    assert cells == [(0, 1), (1, 1)]
    kept = {cell: rolls for cell, rolls in game.rolls.items() if cell not in cells}
    usual = {(0, 0): [2], (1, 2): [0], (1, 3): [0], (2, 1): [0]}
    assert {cell: kept[cell] for cell in usual} == usual
    one, two = Fraction(1), Fraction(2)
    wins = game.payoffs(game.matrices(cells))  # A, B, C, D
    # docs/mixtures.md: s of the row as second player against the column as first, and the reverse.
    second = [
        [Fraction(1, 2)] * 4,
        [Fraction(5, 8)] * 4,
        *[[Fraction(1, 4), Fraction(13, 16)] * 2] * 2,
    ]
    for row, mine in enumerate(second):
        for column, theirs in enumerate(second):
            assert wins[row][column] == one / 2 + Fraction(3, 8) * (mine[column] - theirs[row])
    for p in (Fraction(0), Fraction(1, 7), Fraction(2, 9), one):
        for q in (Fraction(0), Fraction(4, 9), Fraction(5, 6), one):
            policy = [(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q]
            a, b, c, _ = wins @ np.array(policy) - one / 2
            r = (1 - p) * q
            assert a == Fraction(3, 64) * (2 * p - r)
            assert b == Fraction(3, 64) * (1 - 5 * p / 2 - r)
            assert c == Fraction(3, 128) * (4 * p + 7 * r + 9 * p * q - 4)
            assert 3 * a + 4 * b + two * c == Fraction(3, 64) * 9 * p * q
            assert max(a, b, c) >= Fraction(1, 216)
            assert (max(a, b, c) == Fraction(1, 216)) == (
                (p, q) == (Fraction(2, 9), Fraction(4, 9))
            )


def test_parts(table: Run) -> None:
    options = "--parts 1 2 --moments 2 --starts 1 --kicks 1"
    rows = table("parts", f"--goal 8 --dice 2 --seconds 0.2 {options}")
    assert {row["parts"] for row in rows} == {"1", "2"}
    for row, after in zip(rows, [*rows[1:], {"parts": ""}], strict=True):
        assert float(row["attack"]) >= 0.5 - 1e-6
        assert 1.0 <= float(row["drawn"]) <= float(row["parts"])
        last = after["parts"] != row["parts"]
        assert bool(row["bound"]) == last
        if last:
            assert float(row["processor seconds"]) >= 0.2
            assert float(row["attack"]) <= float(row["bound"]) + 1e-6
        else:
            assert int(row["iterations"]) < int(after["iterations"])
    assert (table.out / "parts.png").exists()


def test_teams(table: Run) -> None:
    rows = table("teams", "--only 3K3 3K4 --seconds 20")
    assert [row["teams"] for row in rows] == 2 * ["01/2", "02/1", "12/0"]
    for row in rows:
        if row["published"]:
            assert float(row["value"]) == pytest.approx(float(Fraction(row["published"])), abs=1e-6)
    assert [row["published"] for row in rows if row["published"]] == ["0", "-1/24"]


def test_imperfect_recall_games(table: Run) -> None:
    games = "--only forgetful wichardt su20 --seconds 8 --iterations 20"
    forgetful, wichardt, *hog = table("imperfect_recall_games", games)
    assert forgetful["in mixtures"] == "3.5000"
    # Wichardt 2008: 0 in mixtures; no policy of player 0 secures it.
    assert wichardt["in mixtures"] == "0.0000"
    assert wichardt["by CFR+"] == "-1.0000 to 0.0000"
    assert [row["in mixtures"] for row in hog] == ["0.0000"] * 2  # the coin makes both alike
    assert all(row["perfect recall"] == "no/no" for row in hog)


def test_what_the_benchmark_ships_counts_in_the_table_of_games(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    from imperfect_recall_games import GAMES, SHIPPED, shipped

    results = FOLDER.parent / "results"
    lines = (results / "imperfect_recall_games.md").read_text("utf-8").splitlines()
    printed = {row[0]: row[8] for row in (line.strip("| ").split(" | ") for line in lines)}
    assert SHIPPED.keys() <= GAMES.keys()
    for name in SHIPPED:
        lower, upper = shipped(results, name)
        ends = [float(end) for end in printed[name].split(" to ")]
        assert lower - 1e-4 < ends[0] <= ends[-1] < upper + 1e-4
    assert shipped(results, "forgetful") == (-np.inf, np.inf)


DRIVER = """node / player 1 actions exit on
node /P1:exit leaf payoffs 1=0
node /P1:on player 1 actions exit on
node /P1:on/P1:exit leaf payoffs 1=4
node /P1:on/P1:on leaf payoffs 1=0
infoset highway nodes / /P1:on
"""


BET = """node / player 1 actions bet fold
node /P1:bet leaf payoffs 1=1 2=-1
node /P1:fold leaf payoffs 1=0 2=0
infoset start nodes /
"""


def test_absent_minded(table: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a folder all texts that can be read are taken; 4x(1 - x) is 1 at 1/2."""
    folder = table.out / "suite" / "simple"
    folder.mkdir(parents=True)
    (folder / "a_broken.txt").write_text("hello\n")
    (folder / "notes.md").write_text(DRIVER)
    for name in ("driver", "again.txt"):
        (folder / name).write_text(DRIVER)
    (folder / "kuhn.txt").write_text(BET)
    options = f"--problems {folder.parent} --seconds 3 --iterations 300 --seeds 33 34"
    rows = table("absent_minded", f"{options} --work {table.out / 'work'}")
    left_out = capsys.readouterr().err
    assert "suite/simple/a_broken.txt is left out: " in left_out
    assert "a_broken.txt: line 1: got 'hello'" in left_out
    assert "kuhn.txt: is of two players; allowed: problems of one player" in left_out
    assert [row["problem"] for row in rows] == ["suite/simple/again.txt", "suite/simple/driver"]
    for row in rows:
        assert (row["nodes"], row["sets"], row["visits"]) == ("5", "1", "2")
        assert float(row["best value"]) == pytest.approx(1.0, abs=1e-9)
        assert 1.0 - 1e-9 <= float(row["bound"]) <= 1.0 + 1e-8
    text = (table.out / "absent_minded_methods.md").read_text().splitlines()[2:]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text]
    methods = ["RM", "RM+", "PRM", "PRM+", "PGD", "OGD", "AMSGrad"]
    assert [line[1] for line in lines] == 2 * methods
    for *_, ended, iterations, gap, least, share, most, _ in lines:
        assert ended == "2 of 2"
        assert int(iterations) < 300
        assert float(gap) <= 1e-6
        assert float(share) == pytest.approx(1.0, abs=1e-4)
        assert float(least) <= float(share) <= float(most)
    assert (table.out / "absent_minded.png").read_bytes().startswith(b"\x89PNG")


GRID = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
STARS = [[(0, 0), (0, 1), (0, 2), (1, 1)], [(0, 1), (1, 0), (1, 1), (1, 2)]]  # of three rays


def detection_text() -> tuple[str, list[str]]:
    """Write the suite's detection in a grid of 2 x 3, depth first; name its sets as they come."""
    lines, sets = list[str](), dict[str, list[str]]()

    def walk(path: str, star: Any, lone: Any, found: list[Any], rounds: int) -> None:
        if rounds == 3 or len(found) == 5:
            lines.append(f"node {path} leaf payoffs 1={sum(3 if c in star else 1 for c in found)}")
            return
        cells = [cell for cell in GRID if cell not in found]
        names = [f"{row},{column}" for row, column in cells]
        lines.append(f"node {path} player 1 actions {' '.join(names)}")
        sets.setdefault("_".join(f"{row},{column}" for row, column in sorted(found)), []).append(
            path
        )
        for cell, name in zip(cells, names, strict=True):
            more = [*found, cell] if cell in [*star, lone] else found
            walk(f"{path}/P1:{name}", star, lone, more, rounds + 1)

    pairs = [(star, cell) for star in STARS for cell in GRID if cell not in star]
    lines.append(f"node / chance actions {' '.join(f'{one}=0.25' for one in range(len(pairs)))}")
    for number, (star, lone) in enumerate(pairs):
        walk(f"/C:{number}", star, lone, [], 0)
    named = [f"infoset inf__{name} nodes {' '.join(paths)}" for name, paths in sets.items()]
    return "\n".join([*lines, *named, ""]), [*sets]


def test_detection_by_enumeration_is_made_from_its_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    from absent_minded import by_first_visit, in_file, starts
    from problems import _placements

    text, sets = detection_text()
    (tmp_path / "det.txt").write_text(text)
    ours, theirs = hogeq.Game("det"), hogeq.Game(str(tmp_path / "det.txt"))
    trees = ours.tree, theirs.tree
    assert (trees[0].num_nodes, trees[0].num_rows) == (trees[1].num_nodes, len(sets))
    orders = by_first_visit(trees[0]), in_file(str(tmp_path / "det.txt"), trees[1])
    assert [trees[1].names[row] for row in orders[1].tolist()] == [f"inf__{one}" for one in sets]
    assert by_first_visit(trees[1]).tolist() == orders[1].tolist()
    values = []
    for tree, order in zip(trees, orders, strict=True):
        decision = Decision.of(tree, tree.uniform())
        drawn = starts(decision, (33, 44), order)
        values.append([decision.value(drawn[..., seed]) for seed in range(2)])
    assert values[0] == pytest.approx(values[1], abs=1e-12)
    assert values[0][0] != pytest.approx(values[0][1], abs=1e-3)
    random = np.random.RandomState(33).exponential(size=6)  # of the first set, as the suite draws
    first = starts(decision, (33,), order)[order[0], :, 0]
    assert first == pytest.approx(random / random.sum(), abs=1e-15)
    # Of a square of 2 x 2, four lines of two, each with two ways to place a line of one.
    assert len(_placements(2, 2, "line 1 line 2", "1 2")) == 8
    assert len(_placements(2, 2, "cycle 4", "1")) == 1
    assert not _placements(2, 2, "clique 3", "1")


@pytest.mark.parametrize("last", [3, 60])
def test_absent_minded_goes_on(table: Run, last: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped in its first or second problem and begun again, it writes the tables of one go."""
    folder, done = table.out / "suite", list[str]()
    folder.mkdir()
    (folder / "a.txt").write_text(DRIVER)
    (folder / "b.txt").write_text(DRIVER.replace("1=4", "1=8"))
    write = files.write_arrays

    def counted(path: Path, **arrays: Any) -> None:
        write(path, **arrays)
        done.append(path.name)
        if len(done) == last:
            raise KeyboardInterrupt

    monkeypatch.setattr(files, "write_arrays", counted)

    def tables(work: str, iterations: int = 40) -> list[str]:
        options = f"--problems {folder} --seconds 3 --iterations {iterations} --seeds 33"
        table.start("absent_minded", f"{options} --work {table.out / work}")
        return [(table.out / f"absent_minded{part}.md").read_text() for part in ("", "_methods")]

    def timeless(texts: list[str]) -> list[list[str]]:
        return [line.split("|")[:-2] for text in texts for line in text.splitlines()]

    assert tables("parts")[0].count(".txt") == last // 41  # a search, 39 settings, gaps
    both = tables("parts")
    assert len(done) == len({*done})
    count = len(done)
    assert tables("parts") == both  # of the same seconds
    assert len(done) == count
    assert timeless(tables("one_go")) == timeless(both)
    assert done[count:] == done[:count]
    tables("parts", iterations=41)
    (folder / "a.txt").write_text(DRIVER + "# changed")
    tables("parts")
    assert len(done) == 3.5 * count
    assert len({*done}) == 2.5 * count


def test_points_are_projected_by_weights(table: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest probabilities: what is moved, times the weight, is one number where any are."""
    projected = runpy.run_path(str(FOLDER / "steps.py"))["projected"]
    random = np.random.default_rng(0)
    points = random.normal(size=(20, 5, 3))
    points[:5, 3:] = -np.inf  # illegal
    weights = random.uniform(0.1, 3.0, size=points.shape)
    found = projected(points, weights)
    assert found.sum(axis=1) == pytest.approx(1.0)
    moved = (points - found) * weights
    level = np.where(found > 0.0, moved, -np.inf).max(axis=1, keepdims=True)
    assert (np.abs(moved - level)[found > 0.0] < 1e-9).all()
    assert (moved <= level + 1e-9).all()
    assert (found >= 0.0).all()


def test_a_census_goes_on_where_it_was_stopped(table: Run) -> None:
    options = "--goals 4 5 --dice 2 --sides 6 --editions su20 fa18"
    first = table("census", f"{options} --seconds 0", "existence")
    assert [row["5"] for row in first] == ["open, at most 3.0e-1", "open"]
    rows = table("census", f"{options} --seconds 20", "existence")
    assert [(row["edition"], row["4"]) for row in rows] == [("su20", "pure"), ("fa18", "pure")]
    assert rows[0]["5"] == "pure"
    assert rows[1]["5"] == "**none**, 2.2e-6 to 3.3e-6"
    memory = (table.out / "existence_memory.md").read_text().splitlines()[2:]
    assert [line.count("|") for line in memory] == [6, 6]
    assert not any("none" in line for line in memory)
    kept = (table.out / "existence" / "census.jsonl").read_text()
    assert table("census", f"{options} --seconds 20", "existence") == rows
    assert (table.out / "existence" / "census.jsonl").read_text() == kept
    assert (table.out / "existence.png").stat().st_size > 1000
    assert main_of_checker(table.out / "existence" / "proofs") == 0


def main_of_checker(folder: Path) -> int:
    from check_existence import main

    return main(str(folder))
