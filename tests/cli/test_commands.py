"""What people type, and what comes back."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from hogeq.baselines.registry import builtin, names
from hogeq.baselines.simple import always_roll
from hogeq.evaluation.values import belief, reach, win_rate
from hogeq.model.game import HogEngine
from hogeq.rules import ALIASES, EDITIONS
from hogeq.strategies.files import read_strategy
from hogeq.support.messages import between, percent, pp
from tests.cli.calls import ask, in_full, ok, refused

# --- figures --------------------------------------------------------------------------------------


def test_tablebase(folder: Path) -> None:
    found = ask("tablebase", "--rules", "fa22", "--out", "m.csv")
    assert found["value"] == pytest.approx(0.51736, abs=0.5000001e-5)  # Tong (2023) [4]
    assert (found["first_roll"], found["against"]) == (3, None)
    assert read_strategy(folder / "m.csv").array[0, 0] == 3


# --- compare, attack, tournament ------------------------------------------------------------------


def test_numbers_have_all_their_digits(folder: Path, game: HogEngine) -> None:
    found = ask("compare", "always_roll:2", "bacon:5,3", "--rules", "small.yaml")
    matrix = always_roll(game, 3)
    matrix[:, [opponent for opponent in range(20) if 10 - opponent % 10 + opponent // 10 >= 5]] = 0
    want = win_rate(game, always_roll(game, 2), matrix)
    assert [found[name] for name in want._fields] == list(want)
    arguments = ("compare", "always_roll:2", "bacon:5,3", "--rules", "small.yaml")
    assert in_full(percent, want.win_rate) in ok(*arguments, "--digits", "10")
    assert f"win rate       {percent(want.win_rate)}\n" in ok(*arguments)


def test_the_counter_matrix_wins_what_is_said(folder: Path) -> None:
    arguments = ["--rules", "small.yaml", "--out", "m.csv", "--starts", "2", "--kicks", "1"]
    found = ask("attack", "always_roll:2", *arguments, "--seed", "3", "--jobs", "1")
    assert found["out"] == "m.csv"
    assert found["starts"] == len(found["found"]) == 2
    assert found["attack"] == max(found["found"]) <= found["bound"]
    text = ok("attack", "always_roll:2", *arguments, "--seed", "3", "--overwrite")
    low, high = (found[name] - 0.5 for name in ("attack", "bound"))
    assert f"exploitability: {between(low, high)}" in text
    assert "written to m.csv" in text


def test_where_nothing_is_hidden_an_attack_is_one_number(folder: Path) -> None:
    attack = "attack", "always_roll:2", "--rules", "fa22.yaml", "--starts", "1", "--kicks", "0"
    found, text = ask(*attack), ok(*attack)
    assert found["attack"] == pytest.approx(found["bound"], abs=1e-9)
    assert f"attack  {percent(found['attack'])}  best response, exact\n" in text
    assert f"exploitability: {pp(found['attack'] - 0.5, signed=False)}, exact\n" in text
    assert "bound" not in text
    assert "effort" not in text


def test_tournament(folder: Path) -> None:
    entries = ["always_roll:1", "always_roll:2", "always_roll:3", "always_roll:2"]
    files = ["--out", "rates.csv", "--plot", "field.png"]
    found = ask("tournament", *entries, "--rules", "small.yaml", *files)
    rates = np.array(found["win_rates"])
    assert rates + rates.T == pytest.approx(np.ones((4, 4)), abs=1e-12)
    assert rates[1, 3] == pytest.approx(0.5, abs=1e-12)
    for line in found["ranking"]:
        row = np.delete(rates[line["index"]], line["index"])
        assert line["wins"] == (row > 0.500001).sum()
        assert line["mean_win_rate"] == pytest.approx(row.mean(), abs=1e-12)
    twos = [line["rank"] for line in found["ranking"] if line["entry"] == "always_roll:2"]
    assert twos[0] == twos[1]  # equal counts share a rank
    table = (folder / "rates.csv").read_text().splitlines()
    assert table[0] == "strategy,always_roll:1,always_roll:2,always_roll:3,always_roll:2"
    assert [float(cell) for cell in table[1].split(",")[1:]] == rates[0].tolist()
    assert (folder / "field.png").read_bytes().startswith(b"\x89PNG")
    ok("tournament", *entries, "--rules", "small.yaml", "--out", "rates.json")
    assert json.loads((folder / "rates.json").read_text()).items() <= found.items()
    text = ok("tournament", *entries, "--rules", "small.yaml")
    assert re.search("strategy +rank +won +tied +mean win rate +Nash +lowest +against\n", text)


# --- positions ------------------------------------------------------------------------------------


def test_analyze_lists_every_roll_best_first(folder: Path) -> None:
    found = ask("analyze", "--rules", "fa22.yaml", "--score", "0", "--opponent", "0")
    solved = ask("tablebase", "--rules", "fa22.yaml")
    rates = [roll["win_probability"] for roll in found["rolls"]]
    assert rates == sorted(rates, reverse=True)
    assert sorted(roll["dice"] for roll in found["rolls"]) == [0, 1, 2, 3]
    assert found["rolls"][0]["dice"] == found["best_roll"] == solved["first_roll"]
    assert found["value"] == rates[0] == pytest.approx(solved["value"], abs=1e-12)
    assert found["memory"] is None
    lines = ok("analyze", "--rules", "fa22.yaml", "--score", "0", "--opponent", "0").splitlines()
    assert lines[0].endswith("0 points against 0, then optimal play")
    best = f"{found['best_roll']} {percent(rates[0])} 0.00 pp"
    assert lines[3].split() == best.split()


def test_analyze_says_whose_play_makes_the_belief(folder: Path, game: HogEngine) -> None:
    own, other = np.argwhere(reach(game, builtin("ignore_memory", game)).sum(axis=2) > 0.0)[-1]
    at = ["analyze", "--rules", "small.yaml", "--score", str(own), "--opponent", str(other)]
    assert ask(*at)["memory"] == {"source": "belief", "past": "ignore_memory"}
    assert "memory not given, averaged over how ignore_memory gets here" in ok(*at)
    at = ["analyze", "--rules", "small.yaml", "--score", "9", "--opponent", "8"]
    found = ask(*at, "--strategy", "always_roll:2")
    assert found["memory"] == {"source": "belief"}
    assert [roll["played"] for roll in found["rolls"] if roll["dice"] == 2] == [1.0]
    text = ok(*at, "--strategy", "always_roll:2")
    assert "averaged over how always_roll:2 gets here" in text


def test_analyze_where_the_usual_play_never_comes(folder: Path, game: HogEngine) -> None:
    came = [
        reach(game, past).sum(axis=2) > 0.0
        for past in (builtin("ignore_memory", game), np.full((20, 20, 4), 0.25))
    ]
    own, other = np.argwhere(came[1] & ~came[0])[0]
    position = ["--rules", "small.yaml", "--score", str(own), "--opponent", str(other)]
    assert ask("analyze", *position)["memory"] == {"source": "belief", "past": "random"}
    assert "averaged over how play at random gets here" in ok("analyze", *position)
    own, other = np.argwhere(~came[1])[0]
    position = ["--rules", "small.yaml", "--score", str(own), "--opponent", str(other)]
    assert "no play comes there; allowed: other scores" in refused("analyze", *position)
    assert ask("analyze", *position, "--own-last", "2")["memory"]["source"] == "given"


def test_analyze_with_memory(folder: Path) -> None:
    arguments = ["analyze", "--rules", "small.yaml", "--score", "5", "--opponent", "7"]
    # Rolls 1 and 3 earn the bonus after 1 point: another memory than after 2.
    one, two = (ask(*arguments, "--own-last", last) for last in ("1", "2"))
    assert one["rolls"] != two["rolls"]
    most = ask(*arguments, "--own-last", "6")
    assert ask(*arguments, "--own-last", "17")["rolls"] == most["rolls"]  # one class from 6 on
    turns = ["analyze", "--rules", "turns.yaml", "--score", "5", "--opponent", "7"]
    found = ask(*turns, "--turn", "11", "--extra")
    assert found["memory"] == {"source": "given", "turn": 3, "extra": True}
    assert ask(*turns, "--turn", "3", "--no-extra")["rolls"] != found["rolls"]
    assert "turn (mod 8): 3, extra turn: yes" in ok(*turns, "--turn", "3", "--extra")


def test_analyze_says_what_of_the_memory_it_takes(folder: Path) -> None:
    at = ["--score", "5", "--opponent", "7"]
    small, turns = (["analyze", "--rules", f"{name}.yaml", *at] for name in ("small", "turns"))
    taken = "not given, taken as before the first turn"
    given = "memory given, own last points: 1, opponent's last points: 0"
    assert f"{given}; {taken}: opponent's last points\n" in ok(*small, "--own-last", "1")
    assert ask(*small, "--own-last", "1")["memory"]["not_given"] == ["opponent_last"]
    assert taken not in ok(*small, "--own-last", "1", "--opponent-last", "2")
    assert f"turn (mod 8): 0, extra turn: no; {taken}: turn (mod 8)\n" in ok(*turns, "--no-extra")
    for impossible in (["--turn", "0", "--extra"], ["--extra"]):
        assert "--extra: turn 0 is no extra turn; allowed: --turn" in refused(*turns, *impossible)
    start = ["analyze", "--rules", "small.yaml", "--score", "0", "--opponent", "0"]
    for option in ("--own-last", "--opponent-last"):
        assert f"{option}: got 6; allowed at 0 points" in refused(*start, option, "17")


def test_beliefs(folder: Path, game: HogEngine) -> None:
    position = ["--rules", "small.yaml", "--score", "9", "--opponent", "8"]
    found = ask("beliefs", "always_roll:2", *position)
    want = belief(game, always_roll(game, 2), None, 9, 8)
    assert want is not None
    places = {(memory.own, memory.opponent): n for n, memory in enumerate(game.memories)}
    for line in found["memories"]:
        assert line["probability"] == want[places[line["own_last"], line["opponent_last"]]]
    shares = [line["probability"] for line in found["memories"]]
    assert sum(shares) == pytest.approx(1.0, abs=1e-12)
    assert shares == sorted(shares, reverse=True)
    assert 0.0 < found["reach"] < 1.0
    assert ask("beliefs", "always_roll:2", *position, "--against", "always_roll:1") != found
    text = ok("beliefs", "always_roll:2", *position, "--top", "1", "--digits", "10")
    assert f"and {len(shares) - 1} more, together {in_full(percent, 1 - shares[0])}" in text


# --- what there is --------------------------------------------------------------------------------


def test_rules() -> None:
    found = ask("rules")
    assert list(found["editions"]) == list(EDITIONS)
    assert found["editions"]["su20"]["memory_size"] == 14 * 14
    assert "digit_range" in found["parts"]["more_boar"]
    first, _, header, *lines = ok("rules").splitlines()
    assert first.startswith(f"{len(EDITIONS)} games under {len(EDITIONS) + len(ALIASES)} names; ")
    assert header.split() == ["rules", "semester", "parts"]
    assert lines[0].startswith(
        "fa25 (default)  fall 2025    Boar Brawl, Sow Sad, Sus Fuss; also fa23"
    )
    assert len(lines) == len(EDITIONS)
    named = re.findall(r"\b[a-z]{2,3}\d\d(?:_[a-z]+)?\b", "\n".join(lines))
    assert sorted(named) == sorted([*EDITIONS, *ALIASES])
    keys = ok("rules", "--parts")
    assert all(f"\n{key} " in keys for key in ("edition", "piggy_back", "swap", "pig_out"))
    assert re.search("\n +double +One score is exactly double the other\n", keys)
    assert "without RULES" in refused("rules", "fa25", "--parts")
    for page in ("README.md", "docs/editions.md"):
        text = (Path(__file__).parents[2] / page).read_text("utf-8")
        names_of_all = len(EDITIONS) + len(ALIASES)
        assert re.search(f"{len(EDITIONS)} games[^,]*, under {names_of_all} names", text)
    assert "Square Swine" in ok("rules", "fa22")


def test_strategies() -> None:
    found = ask("strategies")["strategies"]
    assert found == names()
    assert {"always_roll:N", "ignore_memory", "optimal"} <= set(found)
    assert all(usage in ok("strategies") for usage in found)


# --- files ----------------------------------------------------------------------------------------


def test_export_of_a_policy(folder: Path) -> None:
    policy = np.random.default_rng(2).dirichlet(np.ones(4), (20, 20))
    np.savez(folder / "p.npz", policy=policy)
    rules = ["--rules", "small.yaml"]
    assert ask("export", "p.npz", *rules, "--out", "q.npz")["kind"] == "policy"
    assert np.array_equal(np.load(folder / "q.npz")["policy"], policy)
    assert "hogeq purify makes it" in refused("export", "p.npz", *rules, "--out", "m.csv")
    ok("purify", "p.npz", *rules, "--out", "m.csv")
    assert np.array_equal(read_strategy(folder / "m.csv", 20, 3), policy.argmax(axis=2))


def test_opponents_of_one_file_name_are_both_on_the_board(folder: Path) -> None:
    for place, roll in (("a", 1), ("b", 2)):
        (folder / place).mkdir()
        (folder / place / "final.csv").write_text("\n".join([",".join([str(roll)] * 20)] * 20))
    given = [part for place in "ab" for part in ("--opponent", f"{place}/final.csv")]
    found = ask("board", "--rules", "fa22.yaml", *given, "--out", "board.html")
    (names,) = found["opponents"].values()
    assert {"a/final.csv", "b/final.csv"} <= set(names)
