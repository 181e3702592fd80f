"""Games other than Hog on the command line: audit, attack and equilibrium."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import hogeq
from tests.cli.calls import ask, ok, refused
from tests.trees.own_hog import OwnHog
from tests.trees.test_example_games import example
from tests.trees.test_flat import DRIVER

GAME = ("--game", "liars_dice_ir(dice_sides=3)")
LEARNT = "game: kuhn_poker, solver: {name: double_oracle, iterations: 20}, measure: {every: 20}"


def test_an_audit_says_what_each_player_recalls() -> None:
    audit = ask("audit", *GAME)
    assert audit["nodes"] == 1147
    assert audit["infosets"] == [93, 93]
    first, second = audit["players"]
    assert not first["perfect_recall"]["holds"]
    assert len(first["perfect_recall"]["witness"]) == 2
    assert first["a_loss_recall"] == {"holds": True, "note": "", "witness": []}
    assert not second["a_loss_recall"]["holds"]
    assert first["absent_minded"]["holds"] is False
    assert "one information set after either of" in ok("audit", *GAME)


def test_an_equilibrium_is_proved_and_written(tmp_path: Path) -> None:
    path = tmp_path / "mixtures.npz"
    solved = ask("equilibrium", "--game", "kuhn_poker", "--out", str(path))
    assert solved["lower"] == pytest.approx(-1 / 18, abs=1e-9)  # Kuhn 1950
    assert solved["proved"]
    # One strategy for both seats: nothing wins from it, and it is worth the game's value.
    found = ask("attack", str(path), "--game", "kuhn_poker")
    assert found["attack"] == pytest.approx(0.0, abs=1e-9)
    played = ask("compare", str(path), str(path), "--game", "kuhn_poker")
    assert played["first"] == pytest.approx(-1 / 18, abs=1e-9)
    assert "--overwrite" in refused("equilibrium", "--game", "kuhn_poker", "--out", str(path))


def test_a_game_held_by_its_positions_is_solved_and_has_no_audit(tmp_path: Path) -> None:
    """Pig to 4 points, whose plays need not end; who is even with the best player wins half."""
    pig = ("--game", f"{example('pig')}(goal=4)")
    path = tmp_path / "best.npz"
    solved = ask("equilibrium", *pig, "--out", str(path))
    assert (solved["method"], solved["proved"]) == ("tablebase", True)
    assert solved["lower"] == pytest.approx(ask("tablebase", *pig)["value"], abs=1e-12)
    assert ask("attack", str(path), *pig)["attack"] == pytest.approx(0.5, abs=1e-12)
    line = refused("audit", *pig)
    assert "is held by its" in line
    assert "has no audit; allowed: what needs no tree" in line
    assert "method: got 'dag'; allowed: auto" in refused("equilibrium", *pig, "--method", "dag")


@pytest.mark.slow
@pytest.mark.usefixtures("registries")
def test_a_game_by_its_positions_that_hides_something_is_run_attacked_and_shown(
    folder: Path,
) -> None:
    class Small(OwnHog):
        goal: int = 8
        max_dice: int = 2

    hogeq.register_game("own_hog")(Small)
    solver = "{name: cfr_plus, iterations: 20}"
    (folder / "own.yaml").write_text(f"name: own\ngame: own_hog\nsolver: {solver}\n")
    ok("run", "own.yaml")
    facts = json.loads((folder / "results/own/manifest.json").read_text())["game"]
    assert (facts["positions"], facts["infosets"], facts["even"]) == (3175, 114, 0.5)
    ok("run", "own.yaml", "--resume", "results/own", "--set", "solver.iterations=21")
    found = ask("attack", "results/own", "--starts", "1", "--kicks", "0")
    assert found["method"] == "full information"
    assert 0.5 < found["attack"] <= found["bound"] + 1e-9 < 0.51
    assert len(ask("show", "results/own/policy.npz", "--game", "own_hog")["rows"]) == 114
    game = ("--game", "own_hog")
    changes = ask("diff", "uniform", "results/own/policy.npz", *game)
    assert changes["after"] > changes["before"] == pytest.approx(0.5)
    assert ask("report", "results/own", "--out", "own.html")["bytes"] > 0


def test_a_team_shows_the_plans_that_it_draws_from(folder: Path) -> None:
    game = ("--game", "3K4", "--teams", "01/2")
    ok("equilibrium", *game, "--method", "columns", "--out", "agreed.npz")
    text = ok("show", "agreed.npz", *game)
    assert "agreed.npz, 3K4, teams 01/2: each side draws a plan before the game" in text
    assert "\nteam 0 (players 0, 1) draws  " in text
    assert "\nplayer 2: 3 cb  " in text
    found = ask("show", "agreed.npz", *game)["plans"]
    for side in (0, 1):
        assert sum(one["probability"] for one in found if one["player"] == side) == pytest.approx(1)
    first = [one["actions"]["player 0: 3 ccb"] for one in found if one["player"] == 0]
    assert len(first) > 1  # several plans, each without a draw of its own
    assert all([*one.values()] == [1.0] for one in first)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("audit", "--game", "kuhn_pocker"), "nearest: kuhn_poker"),
        (("audit", "--game", "none.efg"), "none.efg: cannot be read"),
        (("attack", "always_roll:6", *GAME), "allowed: uniform, a run, a file .npz"),
        (("attack", "a\0b.npz", *GAME), "allowed: uniform, a run, a file .npz"),
        (("audit", *GAME, "--forget", "all"), "allowed: own_actions, order, or last:K"),
        (("run", "both.yaml"), "rules: got 'su20'; allowed: none where a game is given"),
        (("diff", "uniform", "uniform", "--game", "driver.efg"), "games without absent-mindedness"),
        (("review", "g.json", *GAME), "--game: review is of Hog alone (turns are Hog's)"),
        (("attack", "uniform", *GAME, "--rules", "su20"), "--rules: allowed only without --game"),
        (
            ("compare", "uniform", "uniform", *GAME, "--start", "1:0"),
            "--start: allowed only for Hog; l",
        ),
        (("attack", "a.csv", "--game", "su20", "--forget", "order"), "only for games other than"),
        (("attack", "uniform", "--game", "kuhn_poker", "--plot", "p.png"), "--plot: allowed where"),
        (
            ("attack", "always_roll:1", "--rules", "fa25", "--exact", "1"),
            "exact_seconds: a game to 100",
        ),
    ],
)
def test_refusals(words: tuple[str, ...], reason: str, folder: Path) -> None:
    Path("driver.efg").write_text(DRIVER)
    Path("both.yaml").write_text(f"{{name: both, rules: su20, {LEARNT}}}")
    assert reason in refused(*words)


def test_folders_that_hold_no_run_hide_no_names(folder: Path) -> None:
    for name in ("kuhn_poker", "3K4", "uniform"):
        (folder / name).mkdir()
    assert ask("attack", "uniform", "--game", "kuhn_poker")["attack"] == pytest.approx(11 / 24)
    assert ok("audit", "--game", "3K4", "--teams", "01/2").startswith("3K4, teams 01/2: 617 nodes")
    (folder / "other").mkdir()
    assert "game: got 'other'; allowed: " in refused("audit", "--game", "other")


def test_a_policy_of_another_game_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "policy.npz")
    for shape, says in (((3, 2), "has shape (3, 2); allowed: (186, 6)"), ((186, 6), "set 0")):
        np.savez(path, policy=np.ones(shape))
        assert says in refused("attack", path, *GAME)


def test_the_first_line_of_a_run_says_that_weights_have_no_guarantee(folder: Path) -> None:
    Path("kuhn.yaml").write_text(
        "{name: kuhn, game: kuhn_poker, solver: {name: cfr, iterations: 2}, measure: {every: 2}}"
    )
    assert ok("run", "kuhn.yaml").startswith("kuhn_poker, cfr, 2 iterations\n")
    told = ok("run", "kuhn.yaml", "--overwrite", "--set", "solver.regret_weight=reach")
    line = "kuhn_poker, cfr, 2 iterations; no guarantee: regret_weight reach, average_weight own"
    assert told.splitlines()[0] == line


def test_a_run_learns_a_game_and_goes_on_where_it_stopped(folder: Path) -> None:
    Path("kuhn.yaml").write_text(f"{{name: kuhn, {LEARNT}}}")
    summary = ask("run", "kuhn.yaml")
    assert summary["rules"] == "kuhn_poker"
    assert {path.name for path in Path("results/kuhn").iterdir()} >= {
        *("config.yaml", "manifest.json", "metrics.csv", "exploitability.png"),
        *("policy.npz", "mixture.npz", "matrix.csv"),
    }
    lines = Path("results/kuhn/matrix.csv").read_text().splitlines()
    assert len(lines) == 1 + 12 * 2  # sets, and the actions of each
    assert "game: kuhn_poker" in Path("results/kuhn/config.yaml").read_text()
    assert ask("run", "--resume", "results/kuhn", "--set", "solver.iterations=21")["iterations"]
    # What the run says of its policy is what the exact response wins.
    attacked = ask("run", "--resume", "results/kuhn", "--set", "solver.iterations=22")
    best = attacked["average_policy"]["attack"]
    assert attacked["average_policy"]["nash_conv"] == pytest.approx(2 * best, abs=1e-12)
    found = ask("attack", "results/kuhn", "--game", "kuhn_poker")
    assert found["attack"] == pytest.approx(best, abs=1e-9)
    assert found["proved"]


def test_the_config_of_a_run_is_not_read_where_game_says_what_is_played(folder: Path) -> None:
    Path("run").mkdir()
    hogeq.Game("kuhn_poker").strategy("uniform").write("run/policy.npz")
    Path("run/config.yaml").write_text("{solver: [")
    assert "against run, kuhn_poker" in ok("attack", "run", "--game", "kuhn_poker")


@pytest.mark.slow
def test_a_run_given_as_a_strategy_brings_its_game(folder: Path) -> None:
    learnt = LEARNT.replace("game: kuhn_poker", "game: kuhn_poker, forget: own_actions")
    Path("kuhn.yaml").write_text(f"{{name: kuhn, {learnt}}}")
    ok("run", "kuhn.yaml")
    ok("run", "kuhn.yaml", "--set", "name=other", "--game", GAME[1])
    found = ask("attack", "results/kuhn")
    assert (found["game"], found["forget"]) == ("kuhn_poker", "own_actions")
    assert found == ask("attack", "results/kuhn", "--rules", "results/kuhn") | {
        "seconds": found["seconds"]
    }
    assert ask("compare", "uniform", "results/kuhn")["game"] == "kuhn_poker"
    rows = ask("show", "results/kuhn")["rows"]
    assert len(rows) == 12
    assert {name for row in rows for name, _ in row["actions"]} == {"Pass", "Bet"}
    assert "results/kuhn takes --forget" in refused(
        "compare", "results/kuhn", "uniform", "--start", "1:0"
    )
    assert "kuhn_poker: allowed: games of Hog (the contest" in refused(
        "tournament", "results/kuhn", "uniform"
    )
    made = ask("report", "results/kuhn", "--against", "uniform", "--out", "kuhn.html")
    assert (made["game"], made["forget"]) == ("kuhn_poker", "own_actions")
    assert made["counters"]["kuhn: mixture"]["attack"] == pytest.approx(
        ask("attack", "results/kuhn/mixture.npz", "--game", "results/kuhn")["attack"], abs=1e-9
    )
    assert made["entries"][-1] == "uniform"
    payoff = ask("compare", "uniform", "results/kuhn")["payoff"]
    assert made["payoffs"][-1][0] == pytest.approx(payoff, abs=1e-12)
    page = Path("kuhn.html").read_text()
    assert page.count("<img") == 1
    assert "at 12 of 12 information sets" in page
    assert "<td>2pb</td>" in page  # the highest card, after a pass and a bet
    assert "--kicks: allowed only for Hog" in refused("report", "results/kuhn", "--kicks", "1")
    assert "runs of one game" in refused("report", "results/kuhn", "results/other")
    assert "results/kuhn: plays kuhn_poker; allowed with --rules: runs of Hog" in refused(
        "attack", "results/kuhn", "--rules", "small.yaml"
    )
    Path("hog.yaml").write_text(
        "{name: hog, game: small.yaml, solver: {name: cfr, iterations: 1}, measure: {every: 1}}"
    )
    assert ask("run", "hog.yaml")["rules"] == "su20 with goal=20, max_dice=3"
    assert "runs of different games; --game chooses" in refused(
        "compare", "results/kuhn", "results/hog"
    )


PLUGIN = """
import hogeq

@hogeq.register_game("higher")
class Higher(hogeq.GameRules):
    "Player 0 names a number and is paid it."
    below: int = 2
    def initial(self): return -1
    def to_move(self, state): return 0 if state < 0 else hogeq.END
    def actions(self, state): return range(self.below)
    def next(self, state, action): return action
    def payoffs(self, state): return state, -state
"""


@pytest.mark.slow
def test_a_game_of_a_plugin_is_learnt_and_asked_about(
    folder: Path, registries: Callable[[], None]
) -> None:
    Path("plug.py").write_text(PLUGIN)
    learnt = LEARNT.replace("kuhn_poker", "higher(below=3)").replace("double_oracle", "cfr")
    Path("plug.yaml").write_text(f"{{name: a, plugins: [plug.py], {learnt}}}")
    assert "run only with --trust" in refused("run", "plug.yaml")
    name = ("--game", "higher(below=3)", "--plugin", "plug.py", "--trust")
    # From the uniform strategy a best response wins 2 in the first seat, and -1 in the second.
    assert ask("attack", "uniform", *name)["seats"] == pytest.approx([2.0, -1.0])
    registries()
    assert ask("run", "plug.yaml", "--trust")["rules"] == "higher(below=3)"
    for words in (
        ("attack", "results/a"),
        ("compare", "results/a", "uniform"),
        ("diff", "results/a", "uniform"),
        ("show", "results/a"),
        ("audit", "--game", "results/a"),
        ("equilibrium", "--game", "results/a"),
        ("report", "results/a"),
    ):
        registries()
        assert "run only with --trust" in refused(*words)
        assert ok(*words, "--trust")


def test_an_attack_on_a_tree_takes_the_effort_of_one_on_hog(folder: Path) -> None:
    tree = ("--game", "leduc_poker", "--forget", "last:1", "--exact", "0")
    few = ask("attack", "uniform", *tree, "--starts", "1", "--kicks", "0", "--plot", "search.png")
    assert (folder / "search.png").read_bytes().startswith(b"\x89PNG")
    assert (few["starts"], few["kicks"], len(few["found"])) == (1, 0, 1)
    # Payoffs, as all figures of a tree: the best start is the attack, the mean of both seats.
    assert max(few["found"]) == pytest.approx(few["attack"], abs=1e-9)
    assert sum(few["seats"]) / 2.0 == pytest.approx(few["attack"], abs=1e-9)
    assert few["attack"] <= few["bound"] == few["full_memory"]
    text = ok("attack", "uniform", *tree, "--seed", "3", "--kicks", "1")
    assert "effort: 4 starts, 60 anneal steps, damping 0.5, 1 kick, seed 3" in text


def test_a_small_game_of_hog_is_solved(folder: Path) -> None:
    Path("tiny.yaml").write_text("{edition: su20, goal: 5, max_dice: 2}")
    solved = ask("equilibrium", "--rules", "tiny.yaml", "--out", "mixture.npz")
    assert solved["lower"] <= 0.5 <= solved["upper"]
    assert solved["proved"]
    effort = ("--starts", "1", "--kicks", "0", "--exact", "20")
    attacked = ask("attack", "mixture.npz", "--game", "tiny.yaml", *effort)
    assert attacked["rules"] == solved["rules"]
    assert attacked["attack"] == pytest.approx(0.5, abs=1e-9)
    assert attacked["proved"]


def test_a_config_of_hog_can_play_another_game(folder: Path) -> None:
    Path("hog.yaml").write_text(
        "{name: hog, rules: su20, solver: {name: cfr, iterations: 2}, measure: {every: 2}}"
    )
    summary = ask("run", "hog.yaml", "--game", "kuhn_poker", "--forget", "last:1")
    assert summary["rules"] == "kuhn_poker, forgetting last:1"


def test_strategies_of_a_game_are_compared_and_made_pure(folder: Path) -> None:
    best = ask("attack", "uniform", *GAME, "--exact", "20", "--out", "best.npz")
    assert best["proved"]
    assert best["attack"] == pytest.approx(best["bound"], abs=1e-9)
    rate = ask("compare", "best.npz", "uniform", *GAME)
    assert rate["payoff"] == pytest.approx(best["attack"], abs=1e-12)
    assert rate["payoff"] == pytest.approx((rate["first"] + rate["second"]) / 2, abs=1e-12)
    ok("purify", "uniform", *GAME, "--method", "argmax", "--out", "pure.npz")
    with np.load("pure.npz") as arrays:
        assert arrays["matrix"].shape == (186,)
    assert ask("compare", "pure.npz", "best.npz", *GAME)["payoff"] < 0.0
    # Against the uniform strategy, the best response loses by no change alone.
    found = ask("diff", "best.npz", "uniform", *GAME, "--against", "uniform")
    assert found["before"] == pytest.approx(best["attack"], abs=1e-12)
    assert max(one["gain"] for one in found["changes"]) < 1e-9
    told = ok("diff", "uniform", "best.npz", *GAME)
    assert "against uniform: 0.000000000 becomes" in told
    assert "information set  before" in told
    assert "pp" not in told
    assert "--plot: allowed only for Hog" in refused("diff", "a", "b", *GAME, "--plot", "p.png")


@pytest.mark.slow
@pytest.mark.parametrize("forget", [(), ("--forget", "own_actions")])
def test_an_exported_game_is_the_same_game(forget: tuple[str, ...], folder: Path) -> None:
    game = ("--game", "leduc_poker", *forget)
    ok("export-game", *game, "--out", "leduc.efg")
    before, after = (ask("audit", *one) for one in (game, ("--game", "leduc.efg")))
    assert before["infosets"] == after["infosets"]
    assert before["nodes"] == after["nodes"]


@pytest.mark.parametrize(("unit", "written"), [("1e-12", "5.000000000e-13"), ("1", "0.500000000")])
def test_payoffs_are_written_as_their_size_asks(unit: str, written: str, in_folder: Path) -> None:
    ends = f't "" 1 "" {{ {unit}, -{unit} }}\nt "" 2 "" {{ -{unit}, {unit} }}\n'
    start = 'EFG 2 R "g" { "1" "2" }\np "" 1 1 "" { "a" "b" } 0\n'
    Path("game.efg").write_text(start + ends)
    assert written in ok("attack", "uniform", "--game", "game.efg")
    solved = ask("equilibrium", "--game", "game.efg")
    assert solved["lower"] == pytest.approx(float(unit))
    assert solved["proved"]


def test_a_matrix_of_another_game_has_a_name_that_can_be_written(folder: Path) -> None:
    ok("purify", "uniform", "--game", "kuhn_poker")
    assert [path.name for path in folder.glob("matrix.*")] == ["matrix.npz"]
    assert ask("compare", "matrix.npz", "uniform", "--game", "kuhn_poker")
    assert "matrix.npz: exists already" in refused("purify", "uniform", "--game", "kuhn_poker")
    line = refused("purify", "uniform", "--game", "kuhn_poker", "--out", "matrix.csv")
    assert line.strip().endswith("matrix.csv: cannot be written; allowed: names ending in .npz")
