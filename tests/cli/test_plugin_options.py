"""The option --plugin, and the key `plugins` of configs and sweeps."""

from pathlib import Path

import pytest
import yaml

from hogeq.cli.commands import COMMANDS
from tests.cli.calls import ask, ok, refused
from tests.plugged import CONFIG, LAZY

pytestmark = pytest.mark.usefixtures("registries")


@pytest.fixture
def config(folder: Path) -> Path:
    (folder / "in" / "parts").mkdir(parents=True)
    (folder / "in" / "parts" / "lazy.py").write_text(LAZY)
    path = Path("in", "config.yaml")
    path.write_text(yaml.safe_dump(CONFIG))
    return path


def test_every_command_takes_plugins() -> None:
    for command in COMMANDS:
        name = command.__name__.rpartition(".")[2].replace("_", "-")
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
    assert "lazy.py: a plugin is somebody's code" in refused(
        "rules", "--plugin", "in/parts/lazy.py"
    )
    assert "none.py: plugin cannot be read: No such file" in refused(
        "compare", "most", "most", "--plugin", "none.py", "--trust"
    )
    assert "'most': no built-in; allowed" in refused("compare", "most", "most")
    said = refused("run", str(config))
    assert said.startswith("hogeq: in/config.yaml: plugins: in/parts/lazy.py: a plugin is some")
    config.write_text(yaml.safe_dump({**CONFIG, "plugins": "lazy.py"}))
    assert "plugins: got 'lazy.py'; allowed: a list of Python files, as seen" in refused(
        "run", str(config), "--trust"
    )
    (config.parent / "parts" / "lazy.py").write_text("import hogeq\nhogeq.solver(3)(int)")
    assert "lazy.py: line 2: solver 3: got <class 'int'>; allowed: a subclass of Solver" in refused(
        "run", str(config), "--trust", "--set", "plugins=[parts/lazy.py]"
    )
    (config.parent / "parts" / "lazy.py").write_text(LAZY.replace("return Nothing()", "return 3"))
    config.write_text(yaml.safe_dump(CONFIG))
    assert "solver lazy: its init gave 3; allowed: a named tuple of arrays" in refused(
        "run", str(config), "--trust"
    )
    assert not Path("results").exists()
