"""Every name of an edition through every command that takes rules, to a small goal."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.rules import ALIASES, EDITIONS, rules_from
from hogeq.rules.memory import all_memories
from tests.cli.calls import ask, ok, refused
from tests.slow import FEW_EDITIONS, mostly_slow

NAMES = [*EDITIONS, *ALIASES]
FEW = ["su20", "su21", "fa19", "sp22", "fa25"]
"""Points, turns or dice remembered; games that may never end; an alias, nothing remembered."""
LEAST = ("--starts", "1", "--anneal-steps", "1", "--kicks", "0")


@pytest.fixture
def rules(folder: Path, name: str) -> tuple[str, str]:
    """Give the option that names an edition's game to 12 with 3 dice."""
    (folder / "twelve.yaml").write_text(f"{{edition: {name}, goal: 12, max_dice: 3}}")
    return "--rules", "twelve.yaml"


@pytest.mark.parametrize("name", mostly_slow(NAMES, *FEW_EDITIONS, "sp22"))
def test_rules(name: str) -> None:
    text, facts = ok("rules", name), ask("rules", name)["editions"]
    edition = ALIASES.get(name, name)
    assert list(facts) == [name]
    assert name in facts[name]["semesters"]
    assert text.startswith(name if name == edition else f"{name}, the game of {edition}")
    assert text.count(name) == 1


@pytest.mark.parametrize("name", mostly_slow(FEW, "su20"))
def test_every_command(folder: Path, name: str, rules: tuple[str, str]) -> None:
    remembers = len(all_memories(rules_from(name))) > 1
    three = "always_roll:3"
    title = f"{name} with goal=12, max_dice=3"
    at = "--score", "4", "--opponent", "5"

    solved = ask("tablebase", *rules)
    assert 0.0 < solved["value"] < 1.0
    assert (solved["memory_size"] > 1) == remembers
    assert title in ok("compare", "ignore_memory", three, *rules)
    assert len(ask("analyze", *rules, *at)["rolls"]) == 4
    if remembers:
        assert "hidden memory" in refused("compare", "optimal", three, *rules)
        assert ask("beliefs", three, *rules, "--score", "0", "--opponent", "0")["memories"]
    else:
        assert "no hidden memory" in refused("beliefs", three, *rules, *at)
    (folder / "four.yaml").write_text(f"{{edition: {name}, goal: 4, max_dice: 2}}")
    assert "Recall in" in ok("audit", "--rules", "four.yaml")

    played = CliRunner().invoke(app, ["play", *rules, "--seed", "1"], input="2\n0\n?\nodds\nq\n")
    assert played.exit_code == 0, played.stderr
    assert played.stdout.startswith(f"{title}, you against optimal play")

    assert "written" in ok("export", three, *rules, "--out", "me.csv")
    assert ask("check", "me.csv", *rules)["valid"]
    assert title in ok("show", "me.csv", *rules)
    found = ask("attack", three, *rules, *LEAST)
    assert 0.5 <= found["attack"] <= found["bound"] + 1e-12
    field = ask("tournament", "me.csv", "ignore_memory", "always_roll:2", *rules)
    assert field["ranking"][0]["rank"] == 1


def test_mean_points_of_dice() -> None:
    """Exact: 6 dice 8.702653463648836, 5 dice 8.635673868312756; 4 four-sided ones 4.48046875."""
    means = ask("rules", "hw13")["editions"]["hw13"]["mean_points"]
    assert list(means) == ["6", "4"]
    assert means["6"][4:6] == pytest.approx([8.635673868312756, 8.702653463648836], abs=2e-15)
    assert means["4"][3] == pytest.approx(4.48046875, abs=1e-15)
    text = ok("rules", "hw13", "--dice")
    assert "   4           8.2338           4.4805" in text
    assert "most on average: 6 of 6 sides, 8.7027; 4 of 4 sides, 4.4805" in text
    assert "--dice: allowed for one game" in refused("rules", "--dice")
