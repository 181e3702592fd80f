"""What the documents and docstrings show is so: their examples are executed."""

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import hogeq

DOCS = Path(__file__).parents[1] / "docs"

# Public modules that hold examples.
MODULES = (
    "hogeq",
    "hogeq.audit",
    "hogeq.evaluate",
    "hogeq.gambit",
    "hogeq.openspiel",
    "hogeq.rules.edition",
    "hogeq.tree",
)

FLAGS = doctest.ELLIPSIS


def blocks(name: str, language: str) -> list[tuple[int, str]]:
    """Fenced blocks of one language, with the numbers of their first lines."""
    text = (DOCS / name).read_text("utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: match.start(1)].count("\n"), match[1]) for match in found]


@pytest.mark.parametrize("name", ["tutorial.md", "openspiel-best-response.md"])
def test_examples_in_the_documents_are_as_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner, report = doctest.DocTestRunner(optionflags=FLAGS), list[str]()
    names: dict[str, object] = {}
    for line, block in blocks(name, "pycon"):
        test = doctest.DocTestParser().get_doctest(block, names, name, str(DOCS / name), line)
        runner.run(test, out=report.append, clear_globs=False)
        names = test.globs
    assert not report, "".join(report)
    assert runner.tries > 10


def test_the_ten_line_script_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ((_, script),) = blocks("tutorial.md", "python")
    assert len([line for line in script.splitlines() if line.strip()]) == 10
    exec(compile(script, "tutorial.md", "exec"), {})  # noqa: S102 - our own
    assert capsys.readouterr().out.startswith("Interval(attack=0.5")
    assert (tmp_path / "matrix.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_as_shown(name: str) -> None:
    module = import_module(name)
    found = doctest.testmod(module, optionflags=FLAGS)
    assert found.failed == 0
    assert found.attempted > 0


def test_public_names_are_all_there() -> None:
    assert sorted(hogeq.__all__) == sorted([*hogeq._HOME, *hogeq._MODULES])
    for name in hogeq.__all__:
        thing = getattr(hogeq, name)
        assert isinstance(thing, ModuleType) is (name in hogeq._MODULES)
        assert name in dir(hogeq)
    with pytest.raises(AttributeError, match="has no attribute 'nash'"):
        _ = hogeq.nash


def test_asking_for_the_package_alone_is_cheap() -> None:
    code = "import sys, hogeq; assert 'numpy' not in sys.modules; hogeq.Rules; hogeq.purify.argmax"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own
