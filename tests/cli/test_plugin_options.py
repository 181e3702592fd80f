"""The option --plugin, and the key `plugins` of configs and sweeps."""

import json
from pathlib import Path

import pytest
import yaml

from hogeq.cli.commands import name_of
from tests.cli.calls import COMMANDS, ask, hogeq, ok, refused
from tests.plugged import CONFIG, LAZY

pytestmark = pytest.mark.usefixtures("registries")


@pytest.fixture
def config(folder: Path) -> Path:
    (folder / "in" / "parts").mkdir(parents=True)
    (folder / "in" / "parts" / "lazy.py").write_text(LAZY)
    path = Path("in", "config.yaml")
    path.write_text(yaml.safe_dump(CONFIG))
    return path


@pytest.mark.slow
def test_every_command_takes_plugins() -> None:
    for command in COMMANDS:
        name = name_of(command)
        shown = ok(name, "--help")
        assert shown.count("--plugin FILE.py") == shown.count("  --trust  ") == 1, name


def test_a_plugin_of_a_command(config: Path) -> None:
    lazy = ("--plugin", "in/parts/lazy.py")
    game = {"edition": "fa22", "goal": 20, "max_dice": 3, "swap": "fives"}
    Path("fives.yaml").write_text(yaml.safe_dump(game))
    rules = ("--rules", "fives.yaml")
    found = ask("compare", "most", "always_roll:3", *rules, *lazy, "--trust")
    assert found["win_rate"] == pytest.approx(0.5, abs=1e-14)
    assert "scores trade places if both scores end in 5 (fives)" in ok("rules", "fives.yaml")
    assert "most" in ok("strategies")
    assert config.exists()


def test_plugins_that_are_refused(config: Path) -> None:
    said = refused("rules", "--plugin", "in/parts/lazy.py")
    assert "lazy.py: a plugin is somebody's code" in said
    said = refused("run", str(config))
    assert said.startswith("hogeq: in/config.yaml: plugins: in/parts/lazy.py: a plugin is some")
    config.write_text(yaml.safe_dump({**CONFIG, "plugins": "lazy.py"}))
    said = refused("run", str(config), "--trust")
    assert "plugins: got 'lazy.py'; allowed: a list of Python files, as seen" in said
    (config.parent / "parts" / "lazy.py").write_text(LAZY.replace("return Nothing()", "return 3"))
    config.write_text(yaml.safe_dump(CONFIG))
    said = refused("run", str(config), "--trust")
    assert "solver lazy of plugin in/parts/lazy.py: its init gave 3; allowed: a named" in said
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return None", "got None; allowed: a matrix (G, G) or a policy"),
        ("return 1 / 0", "raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_faulty_strategy_of_a_plugin_is_bad_input(folder: Path, body: str, says: str) -> None:
    head = "import hogeq, numpy as np\n@hogeq.baseline('faulty', 'made to fail')\n"
    Path("faults.py").write_text(f"{head}def faulty(game):\n    {body}\n")
    trusted = "--rules", "small.yaml", "--plugin", "faults.py", "--trust"
    line = refused("compare", "faulty", "always_roll:3", *trusted)
    assert line.startswith(f"hogeq: strategy 'faulty' of plugin faults.py: {says}")


LOUD = """
import os
import hogeq, numpy as np
print("on the way in")
@hogeq.baseline("loud", "says what it does")
def loud(game):
    print("in Python")
    os.system("echo by another program")
    return np.full((game.goal, game.goal), 3)
"""


@pytest.mark.slow
def test_what_a_plugin_prints_spoils_no_json(folder: Path) -> None:
    Path("loud.py").write_text(LOUD)
    trusted = "--rules", "small.yaml", "--plugin", "loud.py", "--trust"
    found = hogeq("compare", "loud", "always_roll:3", *trusted, "--json")
    assert json.loads(found.stdout)["a"] == "loud"
    for line in ("on the way in", "in Python", "by another program"):
        assert line in found.stderr.splitlines()
    assert "in Python" in ok("compare", "loud", "always_roll:3", *trusted).splitlines()
