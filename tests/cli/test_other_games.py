"""Games other than Hog on the command line: audit, attack and equilibrium."""

from pathlib import Path

import numpy as np
import pytest

from tests.cli.calls import ask, ok, refused

GAME = ("--game", "liars_dice_ir(dice_sides=3)")
DRIVER = """EFG 2 R "Absent-minded driver" { "Driver" "Nobody" }
p "" 1 1 "Crossing" { "exit" "on" } 0
t "" 1 "" { 0, 0 }
p "" 1 1 "Crossing" { "exit" "on" } 0
t "" 2 "" { 4, -4 }
t "" 3 "" { 1, -1 }
"""


def test_an_audit_says_what_each_player_recalls() -> None:
    audit = ask("audit", *GAME)
    assert audit["nodes"] == 1147
    assert audit["infosets"] == [93, 93]
    first, second = (player["properties"] for player in audit["players"])
    assert not first["perfect recall"]["holds"]
    assert len(first["perfect recall"]["witness"]["histories"]) == 2
    assert first["A-loss recall"] == {"holds": True, "note": "", "witness": None}
    assert not second["A-loss recall"]["holds"]
    assert "one information set after either of" in ok("audit", *GAME)


def test_an_attack_writes_a_response_that_can_be_attacked(tmp_path: Path) -> None:
    path = str(tmp_path / "response.npz")
    first = ask("attack", "uniform", *GAME, "--exact", "20", "--out", path)
    assert first["proved"]
    assert first["attack"] == pytest.approx(first["bound"], abs=1e-9)
    assert "proved" in ok("attack", path, *GAME)


def test_an_equilibrium_is_proved_and_written(tmp_path: Path) -> None:
    path = tmp_path / "mixtures.npz"
    solved = ask("equilibrium", "--game", "kuhn_poker", "--out", str(path))
    assert solved["lower"] == pytest.approx(-1 / 18, abs=1e-9)  # Kuhn 1950
    assert solved["proved"]
    with np.load(path) as arrays:
        assert arrays["strategies_0"].shape == (1, 12, 2)
    assert "--overwrite" in refused("equilibrium", "--game", "kuhn_poker", "--out", str(path))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("audit", "--game", "kuhn_pocker"), "nearest: kuhn_poker"),
        (("audit", "--game", "none.efg"), "none.efg: cannot be read"),
        (("attack", "always_roll:6", *GAME), "allowed: uniform, or a file .npz"),
        (("equilibrium", "--game", "driver.efg"), "allowed: games without absent-mindedness"),
    ],
)
def test_refusals(
    words: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("driver.efg").write_text(DRIVER)
    assert reason in refused(*words)


def test_a_policy_of_another_game_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "policy.npz")
    np.savez(path, policy=np.ones((3, 2)))
    assert "is of shape (3, 2); allowed: (186, 6)" in refused("attack", path, *GAME)
    np.savez(path, policy=np.ones((186, 6)))
    assert "information set 0" in refused("attack", path, *GAME)
