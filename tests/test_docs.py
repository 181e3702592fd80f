"""What the documents and docstrings show is so: their examples are executed."""

import ast
import doctest
import json
import math
import os
import pydoc
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cached_property
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from docutils.core import publish_doctree
from docutils.nodes import system_message
from sphinx.ext.napoleon.docstring import NumpyDocstring
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

import hogeq
from hogeq.cli import app
from hogeq.rules import EDITIONS
from hogeq.search.certificate_files import Certificate
from hogeq.solvers import SOLVERS
from hogeq.support.messages import at_least, at_most
from hogeq.support.parameters import meanings
from tests.defaults import PAGE
from tests.processes import python
from tests.slow import mostly_slow

PUBLIC: list[str] = vars(hogeq)["__all__"]  # made from the stub
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
HOW_TO = sorted((DOCS / "how-to").glob("*.md"))
PAGES = (
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(DOCS.glob("*.md")),
    *sorted((DOCS / "games").glob("*.md")),
    *HOW_TO,
)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

# Modules that hold examples.
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "hogeq").rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)

FLAGS = doctest.ELLIPSIS


def blocks(name: str, language: str) -> list[tuple[int, str]]:
    """Fenced blocks of one language, with the numbers of their first lines."""
    text = (DOCS / name).read_text("utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: match.start(1)].count("\n"), match[1]) for match in found]


# One runs every solver, and the others take more than a second.
LONG = {"choosing-a-solver.md", "tutorial.md", "exact-response.md", "theory.md", "mixtures.md"}
LONG_MODULES = {
    "hogeq.runs.index",
    "hogeq.runs.summary",
    "hogeq.search.population",
    "hogeq.support.progress",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(page.name, marks=[pytest.mark.slow] if page.name in LONG else [])
        for page in sorted(DOCS.glob("*.md"))
        if "```pycon" in page.read_text("utf-8")
    ],
)
def test_examples_in_the_documents_are_as_shown(name: str, in_folder: Path) -> None:
    runner, report = doctest.DocTestRunner(optionflags=FLAGS), list[str]()
    names: dict[str, object] = {}
    for line, block in blocks(name, "pycon"):
        test = doctest.DocTestParser().get_doctest(block, names, name, str(DOCS / name), line)
        runner.run(test, out=report.append, clear_globs=False)
        names = test.globs
    assert not report, "".join(report)
    assert runner.tries >= 5


@pytest.mark.slow
def test_the_ten_line_script_runs(in_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (_, script), (_, shorter) = blocks("tutorial.md", "python")
    assert len([line for line in script.splitlines() if line.strip()]) == 10
    names: dict[str, object] = {}
    exec(compile(script, "tutorial.md", "exec"), names)  # noqa: S102 - our own
    by_steps = capsys.readouterr().out
    assert by_steps.startswith("Interval(lower=0.00")
    exec(compile(shorter, "tutorial.md", "exec"), names)  # noqa: S102 - our own
    assert capsys.readouterr().out.startswith(by_steps.strip())
    assert (in_folder / "matrix.png").read_bytes().startswith(b"\x89PNG")


def test_the_six_lines_of_the_readme_run(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = README.read_text("utf-8").split("```python\n", 1)[1].split("```", 1)[0]
    exec(compile(script, "README.md", "exec"), {})  # noqa: S102 - our own
    assert capsys.readouterr().out.startswith("WinRate(win_rate=0.721")
    assert (in_folder / "table.csv").exists()


def outside(folder: Path, *command: str, status: int = 0) -> str:
    """Run a command in a folder that holds nothing of the project; give what it prints."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = python(*command, cwd=folder, env={"PYTHONPATH": paths}, timeout=None)
    assert done.returncode == status, done.stderr
    return done.stderr if status else done.stdout


def steps(page: Path) -> list[tuple[str, str]]:
    """List the files that a page says to write, and the commands with what they print."""
    found = []
    fence = re.compile(r"^```(python|yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for language, block in fence.findall(page.read_text("utf-8")):
        if language == "console":
            found += [
                tuple(part.split("\n", 1))
                for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
            ]
        elif block.startswith("# "):
            found.append((block.split("\n", 1)[0].removeprefix("# "), block))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", [README, *HOW_TO], ids=lambda page: page.stem)
def test_what_is_added_from_outside_does_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for what, text in steps(page):
        command = shlex.split(what)
        if len(command) == 1:
            (tmp_path / what).write_text(text, encoding="utf-8")
            continue
        start = {"python": [], "hogeq": ["-m", "hogeq"]}[command[0]]
        refused = text.startswith("hogeq: ")
        given = outside(tmp_path, *start, *command[1:], status=2 if refused else 0)
        assert doctest.OutputChecker().check_output(text, given, FLAGS), f"$ {what}\n{given}"


def test_there_is_a_page_for_each_thing_that_can_be_added() -> None:
    things = {"baseline", "command", "edition", "experiment", "purifier", "rule-part", "solver"}
    things |= {"absent-mindedness", "any-game", "contest", "engine", "index", "teams"}
    things |= {"other-tools", "your-own-rules"}
    assert {page.stem for page in HOW_TO} == things
    for page in HOW_TO:
        shown = [what for what, _ in steps(page) if " " in what]
        assert shown or page.stem == "index"


def test_what_is_added_imports_the_public_face_alone() -> None:
    needed = {
        "command": {"hogeq.cli"},
        "engine": {"hogeq.model.protocol", "hogeq.model.rows", "hogeq.search.attack"},
    }
    for page in HOW_TO:
        found = re.findall(
            r"^ *(?:from|import) (hogeq\.[\w.]+)", page.read_text("utf-8"), re.MULTILINE
        )
        assert set(found) == needed.get(page.stem, set()), page.name


PRINTED = {
    "attack": "exploitability is in [0.0",
    "experiment": "average policy: attack 0.50",
    "own_game": "value -0.055556; Kuhn",
    "own_rules": "swap none: first roll 3, it wins 0.521285",
    "solve": "whoever moves first wins 0.521284834",
    "win_rate": "always 6 against always 7 wins 0.51725123",
}


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_examples_are_short_and_run(script: Path, tmp_path: Path) -> None:
    lines = script.read_text("utf-8").splitlines()
    assert 5 <= len([line for line in lines if line.strip()]) <= 30
    assert outside(tmp_path, str(script)).startswith(PRINTED[script.stem])


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("name", mostly_slow(MODULES, *(set(MODULES) - LONG_MODULES)))
def test_examples_in_docstrings_are_as_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    module = import_module(name)
    found = doctest.testmod(module, optionflags=FLAGS)
    assert found.failed == 0
    assert found.attempted > 0


def test_public_names_are_all_there() -> None:
    stub = (ROOT / "hogeq" / "__init__.pyi").read_text("utf-8")
    assert sorted(PUBLIC) == sorted(re.findall(r"import \w+ as (\w+)", stub))
    for name in PUBLIC:
        assert name.isupper() or ">>> " in getattr(hogeq, name).__doc__, f"{name}: no example"
        assert name in dir(hogeq)
    with pytest.raises(AttributeError, match="nash"):
        getattr(hogeq, "nash")  # noqa: B009 - type checkers know that there is none


def test_help_tells_what_is_public_and_how_to_begin() -> None:
    lines = pydoc.plain(pydoc.render_doc(hogeq)).splitlines()
    overview = str(hogeq.__doc__)
    tasks = [overview.index(f"**{task}.**") for task in ("Solve", "Attack", "Plot", "Export")]
    assert tasks == sorted(tasks)
    assert {*re.findall(r"`(\w+)`", overview)} >= {*PUBLIC}
    assert [*dir(hogeq)] == sorted(PUBLIC)
    assert lines.index("DESCRIPTION") < 10


def script_of_the_docs(name: str) -> Any:
    """Import a script of the folder of documents."""
    spec = spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_parameter_has_a_meaning_on_its_page_and_in_help() -> None:
    assert PAGE.read_text("utf-8").endswith("\n\n```{include} api/parameters.md\n```\n")
    page = script_of_the_docs("conf").parameter_meanings()
    tables = [part.split("\n\n| ") for part in page.split("\n\n`")]
    rows = {
        (solver, line)
        for names, *lines in tables
        for solver in re.findall(r"\w+", names)
        for line in lines[0].splitlines()
    }
    for key, kind in (*SOLVERS.items(), *hogeq.PURIFIERS.items()):
        for name, meaning in meanings(kind).items():
            assert meaning.text
            assert (key, f"| {name} | {meaning.allowed} | {meaning.text} |") in rows
            default = "empty" if meaning.default == "" else repr(meaning.default)
            entry = f"\n{name} : {meaning.allowed}, default {default}\n"
            assert entry in str(kind.__doc__)


@pytest.mark.parametrize("kind", [hogeq.Game, hogeq.Hog, hogeq.TreeGame])
def test_every_public_method_of_a_game_has_an_example(kind: type) -> None:
    """Doctest runs those of methods and properties; those of cached properties are run here."""
    without, failed = list[str](), list[str]()
    for name in dir(kind):
        if name.startswith("_"):
            continue
        value = getattr(kind, name)
        is_of_all = kind is hogeq.TreeGame and hasattr(hogeq.Game, name)
        if ">>> import hogeq" not in (value.__doc__ or "") and not is_of_all:
            without.append(name)
        if isinstance(value, cached_property):
            test = doctest.DocTestParser().get_doctest(str(value.__doc__), {}, name, None, None)
            doctest.DocTestRunner(optionflags=FLAGS).run(test, out=failed.append)
    assert not without
    assert not failed, "".join(failed)


def test_asking_for_the_package_alone_is_cheap() -> None:
    code = "import sys, hogeq; assert 'numpy' not in sys.modules; hogeq.Rules"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own


@pytest.mark.slow
def test_editions_are_described_as_they_are() -> None:
    """The page includes their rules as the command prints them, and a table of their values."""
    page = (DOCS / "editions.md").read_text("utf-8")
    assert "```{include} ../results/edition_rules.md\n```" in page
    shown = dict(
        block.removeprefix("$ hogeq ").split("\n", 1)
        for _, block in blocks("../results/edition_rules.md", "console")
    )
    assert list(shown) == [f"rules {name}" for name in EDITIONS]
    for command, output in shown.items():
        assert CliRunner().invoke(app, command.split()).stdout == output


def test_the_families_and_the_table_name_every_edition_once() -> None:
    families = (DOCS / "games" / "index.md").read_text("utf-8")
    named = [
        name
        for names in re.findall(r"^\| \[[^|]*\| ([^|]*) \|", families, re.MULTILINE)
        for name in re.sub(r" \([^)]*\)", "", names).split(", ")
    ]
    assert sorted(named) == sorted(EDITIONS)
    table = (ROOT / "results" / "editions.md").read_text("utf-8")
    listed = re.findall(r"^\| (\w+) \| [^|]* \| [0-9.]+ \| -?\d+ \|", table, re.MULTILINE)
    assert listed == list(EDITIONS)


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


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    module, rest = name, list[str]()
    while True:
        try:
            found: Any = import_module(module)
        except ImportError:
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
            continue
        break
    try:
        for part in rest:
            found = getattr(found, part)
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_what_there_is(page: Path) -> None:
    text = page.read_text("utf-8")
    # The left column of the changelog says what was.
    text = (
        re.sub(r"^\| `[^|]* \|", "|", text, flags=re.MULTILINE) if "CHANGE" in page.name else text
    )
    for name in re.findall(r"(?:`|import |from |-m |\s)(hogeq(?:\.[a-zA-Z_]\w*)+)", text):
        assert exists(name), f"{page.name}: {name}"
    folders = "hogeq|tests|docs|experiments|examples|benchmarks|configs"
    for path in re.findall(rf"[`\s(]((?:{folders})/[\w/.-]+\.\w+)", text):
        assert (ROOT / path).exists(), f"{page.name}: {path}"


def test_the_architecture_is_drawn_and_listed_as_it_is() -> None:
    draw = script_of_the_docs("draw_architecture")
    assert draw.PICTURE.read_text("utf-8") == draw.picture(), "python docs/draw_architecture.py"
    levels = draw.floors()
    page = (DOCS / "architecture.md").read_text("utf-8")
    listed = re.findall(r"^\| (\d+) \| (`.*?`) \|", page, re.MULTILINE)
    rooms = [(int(number), room) for number, names in listed for room in re.findall(r"\w+", names)]
    assert sorted(rooms) == sorted(
        (number, room) for number, names in enumerate(levels) for room in names
    )
    walked = {room for room, _ in draw.WAY}
    assert walked <= draw.ROOMS.keys()


def test_choosing_a_solver_quotes_what_was_measured() -> None:
    measured = {}
    for line in (ROOT / "results" / "convergence_su20.md").read_text("utf-8").splitlines()[2:]:
        solver, _, best, iterations, seconds, _, _ = line.strip("| ").split(" | ")
        measured[solver] = f"{1000 * float(seconds) / int(iterations):.0f} | {float(best):.4f}"
    off: dict[str, float] = {}
    for line in (ROOT / "results" / "no_memory.md").read_text("utf-8").splitlines()[2:]:
        _, solver, _, policy, matrix = line.strip("| ").split(" | ")
        if policy != "refused":
            off[solver] = max(off.get(solver, 0.0), min(float(policy), float(matrix)))
    page = (DOCS / "choosing-a-solver.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    assert rows.keys() == SOLVERS.keys()
    for solver in rows.keys() - {"mixture_bundle", "dag_cfr"}:  # which has no figures there
        least = f"{off[solver]:.0e}" if off[solver] > 0 else "exact"
        assert f" | {measured[solver]} | {least} | " in rows[solver]


def test_the_glossary_is_in_order_and_names_are_those_of_the_package() -> None:
    text = (DOCS / "glossary.md").read_text("utf-8")
    terms = re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE)
    assert terms == sorted(terms, key=str.lower)
    assert len(terms) >= 40
    for name in re.findall(r"`hogeq\.(\w+)`", text):
        assert hasattr(hogeq, name)


def test_who_cites_finds_the_version_that_is_installed() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"version: {hogeq.__version__}" in citation
    newest, *_ = re.findall("^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest in {hogeq.__version__, "Unreleased"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"license: {project['license']}" in citation
    assert project["authors"][0]["name"] in citation


def markup_errors(docstring: str) -> list[str]:
    """Return what docutils says of a docstring, but for roles and directives, which Sphinx adds."""
    quiet = {"report_level": 5, "halt_level": 6}
    starred = re.sub(r"([(, ])\*(\w+[,)])", r"\1\\*\2", docstring)  # (n, *rows) is a shape
    document = publish_doctree(str(NumpyDocstring(starred)), settings_overrides=quiet)
    messages = [message.astext() for message in document.findall(system_message)]
    serious = [text for text in messages if "(ERROR" in text or "(WARNING" in text]
    return [text for text in serious if "Unknown" not in text]


@pytest.mark.slow
def test_every_docstring_is_well_formed() -> None:
    assert markup_errors("Steps:\n1. one\n   - two\n2. three")
    for path in sorted((ROOT / "hogeq").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                errors = markup_errors(ast.get_docstring(node) or "")
                assert not errors, (path, getattr(node, "name", "module"), errors)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_needs_no_network(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-d", str(tmp_path / "trees")]
    subprocess.run([*command, str(DOCS), str(tmp_path / "site")], check=True)  # noqa: S603 - our own
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "docs/figures" not in page  # moved into the site
    for name in ("install", "first-table", "how-to/contest", "security", "api/commands"):
        assert f'href="{name}.html"' in page  # in the navigation
    search = (tmp_path / "site" / "searchindex.js").read_text("utf-8")
    assert "api/commands" in search
    assert "PricedResponders" not in search  # internals are none of its answers
    parameters = (tmp_path / "site" / "parameters.html").read_text("utf-8")
    assert "<td><p>regret_weight</p></td>" in parameters
    for file in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link|iframe)[^>]*(?:src|href)=\"([^\"]*)\"", file.read_text()
        )
        assert loaded or file.name == "board.html"  # which holds all it needs
        assert not [address for address in loaded if "//" in address], file.name


def certificates_of(edition: str) -> list[Path]:
    """List the shipped certificates of the champion policy of an edition."""
    names = f"certificate_{edition}.json.gz", f"benchmark/certificates/{edition}-*-champion.json.gz"
    return [path for name in names for path in (ROOT / "results").glob(name)]


def test_the_champions_figures_are_those_of_their_manifests() -> None:
    """Bounds are the best that is proved in the folder of results."""
    assert [len(certificates_of(edition)) for edition in ("su20", "sp20", "fa19", "sp19")] == [
        2,
        1,
        1,
        1,
    ]
    readme = README.read_text("utf-8")
    table = (ROOT / "results" / "champions.md").read_text("utf-8")
    rows = 0
    for manifest in (ROOT / "results" / "champions").glob("*/manifest.json"):
        edition = manifest.parent.name
        figures = json.loads(manifest.read_text("utf-8"))["figures"]
        shown = {}
        for kind, one in figures.items():
            name = f"| {edition} | {kind.removeprefix('average_')} |"
            bounds = [one["bound"]]
            if kind == "average_policy":
                bounds += [Certificate.read(path).bound for path in certificates_of(edition)]
            bound = min(bounds)
            high, full = (f"{math.ceil(1e6 * end) / 1e6:.6f}" for end in (bound, one["bound"]))
            ends = rf"\| {one['attack']:.6f} \| {high} \| {full} \|"
            assert re.search(rf"^{re.escape(name)}.* {ends}", table, re.MULTILINE), name
            most = max(one["attack"], one.get("known", 0.0))
            shown[kind] = f"{at_least(most)} | {at_most(bound)}"
        row = f"| {edition} | {shown['average_policy']} | {shown['matrix']} |"
        assert row in readme.splitlines(), row
        if "mixture" in shown:
            row = rf"^\| {edition}, .* \| {re.escape(shown['mixture'])} \| \| \|$"
            assert re.search(row, readme, re.MULTILINE), row
        rows += len(figures)
    assert len(table.splitlines()) == 2 + rows


def test_readme_is_short_and_names_commands_that_there_are() -> None:
    readme = README.read_text("utf-8")
    assert len(readme.splitlines()) <= 110
    named = set(re.findall(r"(?:`|\$ )hogeq ([a-z-]+)", readme))
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    assert named <= group.commands.keys()
    assert len(named) > 15
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"^make (\w+)", readme, re.MULTILINE)) <= set(targets)
