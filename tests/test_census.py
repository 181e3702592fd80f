"""The census that is shipped: a proof lies beside each game that is decided, and is accepted."""

import re
from pathlib import Path

import check_existence
import pytest
from census import FORMAT, read

FOLDER = Path(__file__).parents[1] / "results" / "existence"
PROOFS = FOLDER / "proofs"
PAGE = Path(__file__).parents[1] / "docs" / "existence.md"
LINES = read(FOLDER / "census.jsonl")


def test_every_decided_game_has_its_proof_and_no_other_has() -> None:
    decided = {name for name, line in LINES.items() if line["kind"] != "open"}
    assert {path.name for path in PROOFS.iterdir()} == {f"{name}.json.gz" for name in decided}


def test_a_line_says_what_its_proof_says() -> None:
    for name, line in LINES.items():
        if line["kind"] == "open":
            continue
        proof = check_existence.load(PROOFS / f"{name}.json.gz")
        rules = {key: line[key] for key in ("edition", "goal", "max_dice", "sides")}
        assert (proof["format"], proof["rules"]) == (FORMAT, rules)
        assert (proof["kind"], proof["lower"]) == (line["kind"], line["lower"])
        assert line["lower"] <= line["upper"]
        assert line["exists"] is (line["kind"] != "none")


def test_the_page_counts_the_games_that_are_open() -> None:
    text = PAGE.read_text("utf-8")
    told = [int(count) for count in re.findall(r"- (\d+) games are not decided", text)]
    (of_twins,) = re.findall(r"games are not decided; (\d+) of them are of fa18 and sp19", text)
    is_open = [line for line in LINES.values() if line["kind"] == "open"]
    assert told == [sum(line["sides"] == sides for line in is_open) for sides in (6, 2)]
    coins = [line["edition"] for line in is_open if line["sides"] == 2]
    assert int(of_twins) == coins.count("fa18") + coins.count("sp19")


def test_some_proofs_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["su20-10x3", "fa13-13x1", "fa17-5x3-2_sides"]
    assert check_existence.main(str(PROOFS), *names) == 0
    assert "all 3 accepted" in capsys.readouterr().out


def test_a_proof_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_existence.main(str(PROOFS), "su20-8x2", "su20-8x9") == 1
    assert "1 refused" in capsys.readouterr().out


@pytest.mark.slow
def test_all_proofs_are_checked() -> None:
    assert check_existence.main(str(PROOFS)) == 0
