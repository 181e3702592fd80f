"""What the documents and docstrings show is so: their examples are executed."""

import doctest
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from typer.testing import CliRunner

import hogeq
from hogeq.cli import app
from hogeq.rules import EDITIONS
from hogeq.solvers import SOLVERS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")))

# Public modules that hold examples.
MODULES = (
    "hogeq",
    "hogeq.trees.audit",
    "hogeq.evaluation.win_rates",
    "hogeq.trees.gambit",
    "hogeq.trees.openspiel.game",
    "hogeq.rules.edition",
    "hogeq.trees.tree",
)

FLAGS = doctest.ELLIPSIS


def blocks(name: str, language: str) -> list[tuple[int, str]]:
    """Fenced blocks of one language, with the numbers of their first lines."""
    text = (DOCS / name).read_text("utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: match.start(1)].count("\n"), match[1]) for match in found]


@pytest.mark.parametrize("name", ["tutorial.md", "theory.md", "openspiel-best-response.md"])
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
    stub = (ROOT / "hogeq" / "__init__.pyi").read_text("utf-8")
    assert sorted(hogeq.__all__) == sorted(re.findall(r"import \w+ as (\w+)", stub))
    for name in hogeq.__all__:
        assert getattr(hogeq, name).__doc__ or name.isupper()
        assert name in dir(hogeq)
    with pytest.raises(AttributeError, match="nash"):
        getattr(hogeq, "nash")  # noqa: B009 - type checkers know that there is none


def test_asking_for_the_package_alone_is_cheap() -> None:
    code = "import sys, hogeq; assert 'numpy' not in sys.modules; hogeq.Rules"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own


def test_editions_are_described_as_they_are() -> None:
    shown = dict(
        block.removeprefix("$ hogeq ").split("\n", 1)
        for _, block in blocks("editions.md", "console")
    )
    assert list(shown) == [f"rules {name}" for name in EDITIONS]
    for command, output in shown.items():
        assert CliRunner().invoke(app, command.split()).stdout == output


def test_editions_have_one_value_everywhere() -> None:
    table = re.findall(
        r"^\| (\w+) \| [^|]* \| ([0-9.]+) \| (\d+) \|", PAGES[0].read_text(), re.MULTILINE
    )
    sections = (DOCS / "editions.md").read_text("utf-8").split("\n## ")[1:]
    for section, (name, value, roll) in zip(sections, table, strict=True):
        assert section.startswith(f"{name}: ")
        assert f"Value {value}, first roll {roll}." in " ".join(section.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        aim = page.parent / name if name else page
        assert aim.is_file(), f"{page.name}: {target}"
        heads = re.findall(r"^#+ (.*)$", aim.read_text("utf-8"), re.MULTILINE) if anchor else []
        anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
        assert not anchor or anchor in anchors, f"{page.name}: {target}"


def test_the_reference_lists_modules_that_exist_once() -> None:
    listed = re.findall(r"^   (hogeq[.\w]*)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)
    assert len(listed) == len(set(listed)) > 30
    assert set(listed) <= {module.name for module in walk_packages(hogeq.__path__, "hogeq.")}


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_needs_no_network(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-d", str(tmp_path / "trees")]
    subprocess.run([*command, str(DOCS), str(tmp_path / "site")], check=True)  # noqa: S603 - our own
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "docs/figures" not in page  # moved into the site
    for file in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link|iframe)[^>]*(?:src|href)=\"([^\"]*)\"", file.read_text()
        )
        assert loaded
        assert not [address for address in loaded if "//" in address], file.name


def test_readme_quotes_the_tables_of_the_experiments() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    measured = (ROOT / "results" / "convergence_su20.md").read_text("utf-8").splitlines()[2:]
    assert len(measured) == 13
    for line in measured:
        _, best_after, best, iterations, seconds, last, _ = line.strip("| ").split(" | ")
        quoted = f"| {float(best):.4f} | {best_after} | {float(last):.4f} | {iterations} |"
        assert f"{quoted} {float(seconds):.0f} |" in readme
    for manifest in (ROOT / "results" / "champions").glob("*/manifest.json"):
        for figures in json.loads(manifest.read_text("utf-8"))["figures"].values():
            assert f"| {figures['attack']:.6f} | {figures['bound']:.6f} |" in readme


def test_without_memory_solvers_come_as_close_to_the_tablebase_as_is_said() -> None:
    lines = (ROOT / "results" / "no_memory.md").read_text("utf-8").splitlines()[2:]
    off = {}
    for line in lines:
        edition, solver, _, policy, matrix = line.strip("| ").split(" | ")
        if policy != "refused":
            off[edition, solver] = min(float(policy), float(matrix))
    assert {edition for edition, _ in off} == {"hw13", "fa22", "fa15", "sp21"}
    assert len(off) == 4 * len(SOLVERS.keys() - {"openspiel"})
    assert max(off.values()) < 5e-5
