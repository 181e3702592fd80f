"""Functions of a project, compared with the rules."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hogeq
from hogeq.cli import app
from hogeq.contest import functions
from hogeq.contest.functions import Comparison, Project, compare_functions, main_file
from hogeq.rules import rules_from
from tests.cli.calls import ask, refused
from tests.contest.projects import BOAR, FA25, FINAL, PROJECTS, SAMPLED, put
from tests.slow import mostly_slow

GOAL, MOST_DICE = 14, 3

WRONG = BOAR.replace("// 10 % 10 -", "% 10 -")
"""Boar Brawl with the opponent's ones digit in the place of its tens digit."""

RULES = ("--rules", "rules.yaml", "--trust")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.yaml").write_text(f"{{edition: fa25, goal: {GOAL}, max_dice: {MOST_DICE}}}\n")


def small(edition: str = "fa25", **more: object) -> hogeq.Hog:
    return hogeq.Hog(rules_from({"edition": edition, "goal": GOAL, "max_dice": MOST_DICE, **more}))


def compared(code: str, game: hogeq.Hog | None = None, *, samples: bool = False) -> Comparison:
    game = game or small()
    project = Project(game, Path(put(Path("hogproj"), code)))
    rival = hogeq.Game({"edition": "fa25", "goal": GOAL, "max_dice": MOST_DICE}).strategy(
        "boar:9,2"
    )
    return compare_functions(project, None, rival, samples=samples)


def told(found: Comparison) -> dict[str, str]:
    return {one.function: one.told for one in found.functions}


@pytest.mark.parametrize("edition", mostly_slow(PROJECTS, "fa25"))
def test_a_right_project_is_right(edition: str) -> None:
    found = compared(PROJECTS[edition], small(edition, max_dice=6))
    defined = set(re.findall(r"^def (\w+)", PROJECTS[edition], re.MULTILINE))
    assert set(told(found)) == defined - {"next_prime", "boar_strategy", "sus_strategy"}
    assert set(told(found).values()) == {""}
    assert found.failed == []


@pytest.mark.slow
def test_a_wrong_boar_brawl_is_told_at_once_with_its_cost() -> None:
    put(Path("hogproj"), FA25.replace(BOAR, WRONG) + FINAL)
    call = ["check", "hogproj", *RULES, "--html", "page.html"]
    text = CliRunner().invoke(app, call).stdout
    # |1 - 0| x 3 and |0 - 0| x 3: at least 1
    line = next(line for line in text.splitlines() if line.startswith("your "))
    assert line.startswith("your boar_brawl(0, 1) is 3, the game's is 1; ")
    assert "// 10" not in text  # never the code that would be right
    assert "\nas in the game: num_factors, is_prime, sus_points, roll_dice, take_turn" in text
    assert f"<li>{line}".replace("'", "&#x27;") in Path("page.html").read_text()

    def brawl(own: int, digit: int) -> int:
        return max(1, 3 * abs(digit - own % 10))

    def table(*, is_right: bool) -> Any:
        digits = [other // 10 if is_right else other % 10 for other in range(GOAL)]
        return [[0 if brawl(own, digit) > 5 else 3 for digit in digits] for own in range(GOAL)]

    pairs = [(own, other) for own in range(GOAL) for other in range(GOAL)]
    differ = sum(brawl(own, other % 10) != brawl(own, other // 10) for own, other in pairs)
    assert f"; {differ} of {GOAL**2} pairs differ, at a" in line
    game = hogeq.Game({"edition": "fa25", "goal": GOAL, "max_dice": MOST_DICE})
    rates = [
        game.win_rate(table(is_right=is_right), "optimal").win_rate for is_right in (True, False)
    ]
    Path("one.py").write_text(WRONG + FINAL)
    alone = ask("check", "one.py", *RULES)  # a single file is compared as well, and stays valid
    (one,) = alone["functions"]
    assert one["told"] == line
    assert one["cost"] == pytest.approx(rates[0] - rates[1], abs=1e-12)
    assert alone["win_rate"] == pytest.approx(rates[1], abs=1e-12)


@pytest.mark.slow
def test_what_is_called_is_blamed_and_not_its_callers() -> None:
    code = FA25.replace("n % k == 0", "n % k < 1 and k != 3").replace(BOAR, WRONG)
    found = told(compared(code))
    assert {name for name, line in found.items() if line} == {"num_factors", "boar_brawl"}


def test_rules_with_other_numbers_are_those_that_are_compared() -> None:
    found = compared(BOAR.replace("3 * abs", "2 * abs"), small(zero_dice={"boar_brawl": 2}))
    assert told(found) == {"boar_brawl": ""}


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ("[dice() for _ in range(num_rolls)][-1]", "roll_dice(2) with dice 1, 2 is 2"),
        ("1 if dice() == 1 else 1", "roll_dice(1) with dice 2 is 1"),
        ("1 if any(dice() == 1 for _ in range(num_rolls)) else 4", "roll_dice(1) with dice 2 is 4"),
        ("[dice(), dice()][0]", "roll_dice(1) with dice 1 rolls more dice than it should"),
        (
            "dice() if num_rolls == 1 else 1",
            "roll_dice(2) with dice 1, 1 rolls fewer dice than it should",
        ),
    ],
)
def test_dice_are_scripted(wrong: str, line: str) -> None:
    found = told(compared(f"def roll_dice(num_rolls, dice=None):\n    return {wrong}\n"))
    assert found["roll_dice"].startswith(f"your {line}, the game's is ")


@pytest.mark.slow
def test_what_samples_is_random_and_is_measured_with_exact_means() -> None:
    put(Path("hogproj"), FA25 + SAMPLED)
    text = CliRunner().invoke(app, ["check", "hogproj", *RULES]).stdout
    assert " when asked again: it must depend on the scores alone" in text
    assert "it is random; its table with exact means in place of its samples:" in text
    # Of 1 to 3 dice 3 score most on average: 12 (5/6)^3 + 1 - (5/6)^3.
    found = compared(FA25 + SAMPLED, samples=True).exact
    assert found is not None
    assert found.array.tolist() == [[(3 + own) % 4] * GOAL for own in range(GOAL)]
    wrong = "def roll_dice(num_rolls, dice=six_sided):\n    return sum([dice()])\n"
    assert compared(FA25 + SAMPLED + wrong, samples=True).exact is None


HOSTILE = {
    "loops": ("while True: pass", "gave no answer within 1 seconds"),
    "raises": ("raise ValueError('x' * 9999)", "raised ValueError: xxx"),
    "text": ("return 'no\\x1b[2Jnumber'", r"is 'no\\x1b[2Jnumber' (str)"),
    "float": ("return 1.0", "is 1.0 (float)"),
    "none": ("pass", "is None (NoneType)"),
    "huge": ("return 10**5000", "is a whole number of 16610 bits (int)"),
    "exits": ("import os; os._exit(0)", "ended without an answer"),
    "forges": ("import os; os.write(3, b'7\\n' * 9999); os._exit(0)", ""),
    "reads": ("return open('/etc/hostname').read()", "raised FileNotFoundError"),
    "deep": ("return boar_brawl(player_score, opponent_score)", "raised RecursionError"),
    "line": ("\n    return 1 // opponent_score", "zero (in boar_brawl, line 3), the game's is 1"),
}


@pytest.mark.parametrize("kind", mostly_slow(HOSTILE, "raises", "text", "exits", "line"))
def test_a_function_that_does_anything_is_told_in_one_line(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "SECONDS", 1.0)
    body, words = HOSTILE[kind]
    found = compared(f"def boar_brawl(player_score, opponent_score):\n    {body}\n")
    line = told(found)["boar_brawl"]
    assert words in line
    assert line.isprintable()
    assert len(line) < 400


@pytest.mark.parametrize(
    "code", mostly_slow(["import nothing_such\n", "while True: pass\n", "def (\n"], "def (\n")
)
def test_a_file_that_cannot_be_run_is_said_once(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "SECONDS", 1.0)
    (line,) = compared(BOAR + FINAL + code).failed
    assert line.startswith("hog.py: not compared: ")


def test_files_are_copied_through_no_link_and_from_no_other_folder(tmp_path: Path) -> None:
    Path("secret.py").write_text("SECRET = 1\n")
    put(Path("hogproj"), "import secret\nimport .. secret\nfrom ...secret import x\nimport dice\n")
    Path("hogproj/secret.py").symlink_to(tmp_path / "secret.py")
    Path("hogproj/other.py").write_text("")
    found = Project(small(), Path("hogproj/hog.py"))
    assert sorted(map(str, found.texts)) == ["dice.py", "hog.py"]


def test_a_folder_of_many_files_is_bounded() -> None:
    names = [f"m{number}" for number in range(3000)]
    put(Path("hogproj"), "import " + ", ".join(names) + "\nimport dice\n")
    for name in names[:300]:
        Path(f"hogproj/{name}.py").write_text("import dice\n")
    assert len(Project(small(), Path("hogproj/hog.py")).texts) == functions._MOST_FILES


def test_functions_of_no_known_form_are_left_alone() -> None:
    code = (
        "def boar_brawl(): return 1\ndef sus_points(a, b, c): return 1\n"
        "def roll_dice(number): return 1\ndef tail_points(score): return 1\n"
        "class A:\n    def is_prime(n): return 1\n"
    )
    assert Project(small(), Path(put(Path("hogproj"), code))).functions == []


def test_a_folder_is_judged_by_its_final_strategy() -> None:
    put(Path("hogproj"), BOAR)
    Path("hogproj/final_strategy.py").write_text("")
    main = main_file(Path("hogproj"))
    assert main == Path("hogproj/final_strategy.py")
    found = Project(small(), main, ["hog.py"]).functions
    assert [(one.name, str(one.file)) for one in found] == [("boar_brawl", "hog.py")]
    Path("empty").mkdir()
    assert "is a folder; allowed: a file" in refused("check", "empty", *RULES)
    assert "allowed only with --trust" in refused("check", "hogproj", *RULES[:2])
