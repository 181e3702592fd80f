from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq import Hog
from hogeq.analysis.tournament import WinRates, check_rates
from hogeq.contest import folders
from hogeq.contest.entries import Entries, entries_of, identical_entries, short_names
from hogeq.contest.folders import named_entries
from hogeq.contest.judging import Judge
from hogeq.contest.staff import Contest
from hogeq.rules import rules_from
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.support.workers import workers

GAME = Hog(rules_from({"edition": "fa22", "goal": 6, "max_dice": 2}))
ROW = "1 1 1 1 1 1\n"
LINK = "is a link; allowed: files and folders"


def named(names: list[str], unless: Iterable[Path] = ()) -> list[str]:
    return [one.entry for one in named_entries(names, unless)]


def read(names: list[str], *, skip_bad: bool = True, **judge: Any) -> Entries:
    entrants = named_entries(names)
    return entries_of(Judge(GAME, **judge).judge(entrants, skip_bad=skip_bad))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all").mkdir()
    for name in ("a10.txt", "a2.txt", "b.txt"):
        (tmp_path / "all" / name).write_text(6 * ROW)
    (tmp_path / "all" / "notes.md").write_text("no strategy")
    (tmp_path / "all" / ".hidden.txt").write_text("no strategy")
    return tmp_path


def test_folders_and_patterns_stand_for_their_files_in_natural_order(folder: Path) -> None:
    files = ["all/a2.txt", "all/a10.txt", "all/b.txt"]
    assert named(["all"]) == files
    (folder / "all" / "deep").mkdir()
    (folder / "all" / "deep" / "c.txt").write_text(6 * ROW)
    assert named(["all"]) == [*files, "all/deep/c.txt"]
    assert named(["all/a*.txt"]) == files[:2]
    assert named(["all/**/*.txt"]) == [*files, "all/deep/c.txt"]
    assert named(["optimal", "all/d*"]) == ["optimal", "all/deep/c.txt"]
    assert named([""]) == [""]  # which is no folder, not even this one
    assert named(["a\0b.csv"]) == ["a\0b.csv"]  # no file has this name: reading it says so
    # A file whose name looks like a pattern is that file.
    (folder / "[x].txt").write_text("")
    assert named(["[x].txt"]) == ["[x].txt"]


def test_a_file_met_again_is_one_entry_and_a_name_given_twice_is_two(folder: Path) -> None:
    files = ["all/a2.txt", "all/a10.txt", "all/b.txt"]
    assert named(["all/b.txt", "all"]) == ["all/b.txt", "all/a2.txt", "all/a10.txt"]
    for again in ("all/../all/b.txt", str(folder / "all" / "b.txt")):
        assert named(["all", again, "./all", "all/*.txt"]) == files
    assert named(["all/b.txt", "all/b.txt", "./all/b.txt"]) == ["all/b.txt"]
    (folder / "link.txt").symlink_to(folder / "all" / "b.txt")
    assert named(["all", "link.txt"]) == files
    (folder / "all" / "z.txt").symlink_to(folder / "all" / "b.txt")
    assert named(["all"]) == named(["all/*.txt"]) == [*files, "all/z.txt"]
    assert [one.reason for one in read(["all"]).refused] == ["all/z.txt: " + LINK]
    assert named(["always_roll:1", "always_roll:1"]) == 2 * ["always_roll:1"]


def test_what_is_written_is_no_entry_of_a_folder(folder: Path) -> None:
    files = ["all/a2.txt", "all/a10.txt"]
    written = [folder / "all" / "b.txt", folder / "all" / "new.csv"]
    assert named(["all"], written) == named(["all/*.txt"], written) == files
    assert named(["all/b.txt", "all"], written) == ["all/b.txt", *files]


def test_a_folder_stands_for_a_folder_for_each_student(folder: Path) -> None:
    for name in ("ann/mine.py", "bob/hog.py", "bob/final_strategy.py", "cid/one.py", "cid/two.py"):
        (folder / "class" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "class" / name).write_text("def final_strategy(score, opponent): return 1")
    (folder / "class" / "__pycache__").mkdir()
    found = named_entries(["class"])
    counted = ["class/ann/mine.py", "class/bob/final_strategy.py", "class/cid/two.py"]
    assert [one.entry for one in found] == counted
    assert [one.earlier for one in found] == [(), (), ("cid/one.py",)]
    assert named_entries(["class/*"]) == found


def test_code_is_judged_as_by_check_and_called_by_its_player(folder: Path) -> None:
    code = "PLAYER_NAME = {!r}\ndef final_strategy(score, opponent): return 1\n"
    for name, player in (("a", "Ann\x1b"), ("b", "Bob"), ("c", "Bob"), ("d", "")):
        (folder / f"{name}.py").write_text(code.format(player))
    (folder / "README.txt").write_text("Notes of ours\n")
    names = [*(f"{name}.py" for name in "abcd"), "README.txt", "optimal"]
    found = read(names, trust=True)
    assert found.names == ["Ann\\x1b", "Bob (b.py)", "Bob (c.py)", "optimal"]
    assert found.namesakes == [[1, 2]]
    assert [one.entry for one in found.refused] == ["d.py", "README.txt"]
    assert found.refused[0].reason.startswith("d.py: ")
    # What is bad at sight is told before any code is run.
    quick = read(names, trust=True, skip_bad=False)
    assert [one.entry for one in quick.refused] == ["README.txt"]
    assert quick.entries == ["optimal"]
    field = Contest(named_entries(names), GAME).judge(True, 60.0, skip_bad=False)
    assert (field.entries, field.refused) == (quick.entries, quick.refused)


@pytest.mark.slow
def test_nobody_is_called_as_another_would_be(folder: Path) -> None:
    code = "PLAYER_NAME = {!r}\ndef final_strategy(score, opponent): return 1\n"
    players = {"a": "Bob (b.py)", "b": "Bob", "c": "Bob", "d": "Bob (b.py) (a.py)", "e": "optimal"}
    for name, player in players.items():
        (folder / f"{name}.py").write_text(code.format(player))
    found = read([*(f"{name}.py" for name in players), "optimal"], trust=True)
    names = [f"{player} ({name}.py)" for name, player in players.items()]
    assert found.names == [*names, "optimal"]
    assert len(set(found.names)) == 6


@pytest.mark.slow
def test_code_has_a_time_limit(folder: Path) -> None:
    (folder / "slow.py").write_text("def final_strategy(score, opponent):\n    while True: pass\n")
    (refused,) = read(["slow.py"], trust=True, time_limit=3.0).refused
    assert refused.reason == (
        "slow.py: final_strategy(0, 0) gave no answer within 3 seconds; 0 of 36 positions were "
        "answered"
    )


def test_links_in_a_folder_lead_nowhere_and_harm_nobody(folder: Path) -> None:
    (folder / "secret.txt").write_text("canary\n")
    (folder / "out").mkdir()
    (folder / "out" / "final_strategy.txt").write_text(6 * ROW)
    (folder / "all" / "0.txt").symlink_to("b.txt")  # before the file that it leads to
    (folder / "all" / "s.txt").symlink_to(folder / "secret.txt")
    (folder / "all" / "student").symlink_to(folder / "out")
    (folder / "all" / "up").symlink_to("..")
    (folder / "all" / "run").mkdir()
    (folder / "all" / "run" / "manifest.json").write_text("{}")
    (folder / "all" / "run" / "matrix.csv").symlink_to(folder / "secret.txt")
    good = ["all/a2.txt", "all/a10.txt", "all/b.txt"]
    for names in (["all"], ["all/*", "all/*/*.txt"], ["./all"]):
        found = read(names)
        assert {*found.entries} == {*good}
        for one in found.refused:
            assert "canary" not in one.reason
        assert "all/s.txt" in {one.entry for one in found.refused}
    told = [one.reason for one in read(["all"]).refused]
    linked = ("0.txt", "run: run/matrix.csv", "s.txt", "student", "up")
    assert told == [f"all/{name}: {LINK}" for name in linked]
    # Of a link that is named itself somebody knows.
    (folder / "mine.txt").symlink_to("all/b.txt")
    assert read(["mine.txt"]).entries == ["mine.txt"]


def test_the_directory_of_a_run_is_one_entry(folder: Path) -> None:
    run = folder / "run"
    run.mkdir()
    for name in ("matrix.csv", "counter.csv"):
        (run / name).write_text("")
    assert named(["run"]) == ["run/counter.csv", "run/matrix.csv"]
    (run / "manifest.json").write_text("{}")
    assert named(["run"]) == ["run"]


def test_a_pattern_does_not_stand_for_a_whole_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MOST_MATCHES", 2)
    with pytest.raises(StrategyError, match=r"\*\*: matches more than 2 files; allowed: patterns"):
        named([str(folder / "**")])


def test_what_stands_for_nothing_is_refused(folder: Path) -> None:
    with pytest.raises(StrategyError, match=r"none/\*\.csv: matches no file"):
        named(["none/*.csv"])
    (folder / "empty").mkdir()
    with pytest.raises(StrategyError, match=r"empty: holds no strategy file; allowed: .*\.csv"):
        named(["empty"])


def test_every_bad_entry_is_told_and_the_good_ones_are_read(folder: Path) -> None:
    (folder / "all" / "a2.txt").write_text(5 * ROW)
    (folder / "all" / "old.pkl").write_text("")
    seen: list[int] = []
    with workers(2):
        found = entries_of(
            Judge(GAME).judge(named_entries(["all", "optimal"]), lambda: seen.append(0))
        )
    assert found.entries == ["all/a10.txt", "all/b.txt", "optimal"]
    assert len(found.strategies) == 3
    assert [one.entry for one in found.refused] == ["all/a2.txt", "all/old.pkl"]
    assert found.refused[0].reason.startswith("all/a2.txt: cell (row 5, column 0) is missing")
    assert len(seen) == 5


def test_identical_entries_and_short_names() -> None:
    one, two = np.ones((2, 2), np.int8), np.zeros((2, 2), np.int8)
    entries = [strategy_of_shape((2, 2, 3), each) for each in (one, two, one, two, two + 2)]
    assert identical_entries(entries) == [[0, 2], [1, 3]]
    assert short_names(["a/x.csv", "optimal", "a/y.csv"]) == ["x.csv", "optimal", "y.csv"]
    assert short_names(["a/x.csv", "b/x.csv"]) == ["a/x.csv", "b/x.csv"]


# --- the game of picking an entry -----------------------------------------------------------------


def test_no_entry_beats_the_mixture_and_equals_share() -> None:
    random = np.random.default_rng(0)
    field = [random.integers(GAME.rules.num_actions, size=(6, 6)) for _ in range(12)]
    rates = GAME.round_robin([*field, field[3], field[3]])
    weights, gap = WinRates.of(rates).equilibrium()
    assert gap < 1e-12
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (rates @ weights).max() <= 0.5 + 1e-12
    assert weights[3] == weights[12] == weights[13]
    # Twins change nothing for the others.
    alone, _ = WinRates.of(rates[:12, :12]).equilibrium()
    assert weights[3] * 3 == pytest.approx(alone[3], abs=1e-9)


@pytest.mark.parametrize("edge", [2e-3, 1e-6, 1e-9])
def test_entries_that_differ_by_little_are_not_the_same(edge: float) -> None:
    rates = np.array([[0.5, 0.5 + edge], [0.5 - edge, 0.5]])
    weights, gap = WinRates.of(rates).equilibrium()
    assert weights == pytest.approx([1.0, 0.0], abs=1e-6)
    assert gap == 0.0


def test_rates_of_one_but_for_rounding_are_one() -> None:
    sure = np.array([[0.5, np.nextafter(1.0, 2.0)], [-1e-16, 0.5]])
    assert check_rates(sure).tolist() == [[0.5, 1.0], [0.0, 0.5]]


@pytest.mark.slow
def test_files_of_one_folder_that_are_named_one_by_one_do_not_see_each_other(folder: Path) -> None:
    rest = "\nPLAYER_NAME = 'Me'\ndef final_strategy(score, opponent_score): return 1\n"
    (folder / "all" / "ann.py").write_text("SECRET = 2" + rest)
    (folder / "all" / "eve.py").write_text("from ann import SECRET" + rest)
    both = ["all/ann.py", "all/eve.py"]
    found = read(both, trust=True)
    assert found.entries == both[:1]
    (refused,) = found.refused
    assert refused.entry == both[1]
    assert "No module named 'ann'" in refused.reason
    # Alone it is one's own file.
    assert read(both[1:], trust=True).entries == both[1:]
