"""Runs and sweeps with plugins: kept with the run, and compared when it goes on."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from hogeq.cli import main
from hogeq.runs.config import load_config
from hogeq.runs.files import ResultsError
from hogeq.runs.index import load_runs
from hogeq.runs.runner import run_experiment
from hogeq.runs.sweep import _is_complete, load_sweep, run_sweep
from hogeq.support.workers import Remote
from hogeq.support.yaml import ConfigError
from tests.cli.calls import said
from tests.plugged import CONFIG, LAZY

pytestmark = pytest.mark.usefixtures("registries", "plain_figures")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("in", "config.yaml")
    (path.parent / "parts").mkdir(parents=True)
    (path.parent / "parts" / "lazy.py").write_text(LAZY)
    path.write_text(yaml.safe_dump(CONFIG))
    return path


def run(path: Path, *overrides: str, resume: Path | None = None, overwrite: bool = False) -> Path:
    found = load_config(path, overrides, trust=True)
    return run_experiment(found, "results", resume, overwrite, quiet=True).directory


def failing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = said(err).splitlines()
    return line


@pytest.mark.slow
def test_a_run_keeps_its_plugins(config: Path, registries: Callable[[], None]) -> None:
    made = run(config)
    manifest = json.loads((made / "manifest.json").read_text())
    ((file, digest),) = [tuple(plugin.values()) for plugin in manifest["plugins"]]
    assert (file, len(digest)) == ("lazy.py", 64)
    assert (made / "plugins" / "lazy.py").read_text() == LAZY
    assert yaml.safe_load((made / "config.yaml").read_text())["plugins"] == ["plugins/lazy.py"]
    matrix = (made / "matrix.csv").read_bytes()

    # The directory is whole: it runs again, goes on and is read without the file that was named.
    kept = config.parent / "parts" / "lazy.py"
    kept.unlink()
    registries()
    with pytest.raises(ConfigError, match=r"plugins/lazy.py: a plugin is somebody's code"):
        load_runs([made])
    assert load_runs([made], trust=True)[0].config.rules.swap == "fives"
    assert (run(made / "config.yaml", "name=again") / "matrix.csv").read_bytes() == matrix
    run(made / "config.yaml", "solver.iterations=2", resume=made)

    kept.write_text(LAZY + "\n")
    registries()
    with pytest.raises(ResultsError, match=r"results/lazy was .* other plugins: lazy.py now; --o"):
        run(config, resume=made)
    registries()
    kept.rename(config.parent / "other.py")
    with pytest.raises(ResultsError, match=r"other plugins: other.py now"):
        run(config, "plugins=[other.py]", resume=made)
    run(config, "plugins=[other.py]", overwrite=True)
    assert [path.name for path in (made / "plugins").iterdir()] == ["other.py"]


@pytest.mark.parametrize(
    ("method", "body", "says"),
    [
        (
            "step",
            "raise ValueError('diverged')",
            "ValueError: diverged (lazy.py, line 35, in _fails)",
        ),
        ("step", "return None", "its step gave None"),
        ("average", "return {}['policy']", "KeyError: 'policy' (lazy.py, line 35, in _fails)"),
    ],
)
def test_a_solver_of_a_plugin_that_fails_says_so_in_one_line(
    config: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    body: str,
    says: str,
) -> None:
    """From its third call on, or its third iteration."""
    fails = f"\n_rest = Lazy.{method}\ndef _fails(self, game, state):\n    {body}\n"
    fails += f"""
calls = []
def _later(self, game, state):
    calls.append(1)
    return (_rest if len(calls) < 3 else _fails)(self, game, state)
Lazy.{method} = _later
"""
    (config.parent / "parts" / "lazy.py").write_text(LAZY + fails)
    arguments = ["run", str(config), "--trust", "--set", "solver.iterations=4"]
    arguments += ["--set", "measure.every=1"]
    line = failing(arguments, capsys)
    kept = "results/lazy holds the checkpoint after iteration 2"
    where = "" if method == "step" and "gave" in says else " (HOGEQ_DEBUG=1 shows where)"
    failed = "hogeq: solver lazy of plugin in/parts/lazy.py failed at iteration 3"
    assert line == f"{failed}: {says}{where}; {kept}"
    monkeypatch.setenv("HOGEQ_DEBUG", "1")
    assert main([*arguments, "--overwrite"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "return 1 / 0",
            "raised ZeroDivisionError: division by zero (lazy.py, line 39, in matrix) (HOGEQ",
        ),
        ("return None", "is None; allowed: "),
        ("return [[99] * game.goal] * game.goal", "cell (row 0, column 0) is 99; allowed: whole"),
    ],
)
def test_a_purifier_of_a_plugin_that_fails_says_so_in_one_line(
    config: Path, capsys: pytest.CaptureFixture[str], body: str, says: str
) -> None:
    (config.parent / "parts" / "lazy.py").write_text(f"""{LAZY}
from hogeq.purification import Purifier
@hogeq.purifier("hasty")
@parameters
class Hasty(Purifier):
    "Gives up."
    def matrix(self, game, policy):
        {body}
""")
    line = failing(["run", str(config), "--trust", "--set", "purify.method=hasty"], capsys)
    assert line.startswith(f"hogeq: purifier hasty of plugin in/parts/lazy.py: {says}")
    assert line.endswith("; results/lazy holds the checkpoint after iteration 1")


def test_a_run_is_of_all_plugins_that_are_loaded(config: Path) -> None:
    found = load_config(config, trust=True)
    config.write_text(yaml.safe_dump({**CONFIG, "plugins": []}))
    assert load_config(config).plugins == found.plugins
    assert load_config(config).fingerprint() == found.fingerprint()


def test_a_sweep_with_plugins(config: Path) -> None:
    part = LAZY[LAZY.index("@hogeq.rule_part") :].replace("five", "seven")
    (config.parent / "sevens.py").write_text(f"import hogeq\n{part}")
    sweep = {"name": "trial", "base": "config.yaml", "plugins": ["sevens.py"]}
    path = config.parent / "sweep.yaml"
    path.write_text(yaml.safe_dump({**sweep, "grid": {"rules.swap": ["fives", "sevens"]}}))
    with pytest.raises(ConfigError, match=r"sevens.py: a plugin is somebody's code"):
        load_sweep(path)
    plan = load_sweep(path, trust=True)
    with ThreadPoolExecutor(1) as pool:
        done = run_sweep(plan, Remote(lambda: pool, 1))
    assert not done.failures
    kept = done.directory / "swap=sevens" / "plugins"
    assert sorted(file.name for file in kept.iterdir()) == ["lazy.py", "sevens.py"]
    assert all(_is_complete(point, done.directory, {}) for point in plan.points)
    manifest = done.directory / "swap=sevens" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"sha256": "', '"sha256": "0'))
    with pytest.raises(ResultsError, match=r"was made with other plugins: sevens.py, lazy.py now"):
        _is_complete(plan.points[1], done.directory, {})

    path.write_text(yaml.safe_dump({**sweep, "grid": {"plugins": [["sevens.py"]]}}))
    with pytest.raises(ConfigError, match="plugins: those of a sweep are of all its points"):
        load_sweep(path)
