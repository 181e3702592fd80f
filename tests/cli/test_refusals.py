"""How bad input is refused, and how commands end."""

import json
import re
from pathlib import Path
from typing import Annotated, Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from hogeq import HogeqError
from hogeq.cli import Result, RulesName, StrategyName, app, main
from hogeq.cli.commands import GROUPS, name_of
from hogeq.cli.options import Output, option
from tests.cli.calls import COMMANDS, ok, refused
from tests.processes import python

# --- bad input ------------------------------------------------------------------------------------

R = ("--rules", "small.yaml")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        # usage
        (("comapre",), "No such command 'comapre'. Did you mean 'compare'?"),
        (("rules", "--rules", "fa25"), "--rules: no option here; allowed: the name alone"),
        (("compare",), "Missing argument 'A'; see hogeq compare --help"),
        (("compare", "a", "b", "--no-such"), "No such option: --no-such"),
        (("play", "--first", "me"), "Invalid value for '--first': 'me' is not one of 'you', 'engi"),
        # rules
        (("compare", "always_roll:1", "always_roll:2", "--rules", "su2"), "unknown edition 'su2'"),
        (("tablebase", "--rules", "broken.yaml"), "broken.yaml: line 1"),
        (("tablebase", "--rules", "huge.yaml"), "GiB"),
        (("tablebase", "--rules", ""), "rules: the name is empty; allowed: an edition's name"),
        # strategies
        (("compare", "", "always_roll:2", *R), "strategy '': the name is empty; allowed: those"),
        (("compare", "always_rol:1", "always_roll:2", *R), "; nearest: always_roll"),
        (("compare", "always_roll:4", "always_roll:2", *R), "N is 4; allowed: 0 to 3"),
        (("compare", "code.py", "always_roll:2", *R), "only with --trust"),
        (("compare", "code.py", "always_roll:2", *R, "--trust"), "raised"),
        (("compare", "optimal", "always_roll:2", *R), "have hidden memory"),
        # numbers
        (("attack", "always_roll:1", *R, "--starts", "0"), "starts: got 0; allowed: "),
        (("attack", "always_roll:1", *R, "--jobs", "1025"), "--jobs"),
        (("play", *R, "--seed", "4294967296"), "seed: got 4294967296; allowed: whole numbers"),
        (("analyze", *R, "--score", "20", "--opponent", "1"), "--score: 20; allowed: 0 to 19"),
        # memory
        (
            ("analyze", *R, "--score", "1", "--opponent", "1", "--remembered", "3"),
            "do not remember that; allowed: --own-last (own last points), --opponent-last (oppon",
        ),
        (
            ("analyze", "--rules", "fa22.yaml", "--score", "1", "--opponent", "1", "--turn", "1"),
            "do not remember that; allowed: no such option, as they remember nothing",
        ),
        (("analyze", *R, "--score", "1", "--opponent", "1", "--own-last", "-1"), "--own-last: -1"),
        (
            ("analyze", "--rules", "fa19", "--score", "1", "--opponent", "1", "--own-last", "11"),
            "--own-last: 11 dice; allowed: 0 to 10",
        ),
        (
            ("analyze", *R, "--score", "19", "--opponent", "0", "--strategy", "always_roll:1"),
            "play never comes to 19 points against 0",
        ),
        (
            ("beliefs", "bacon:5,3", *R, "--score", "19", "--opponent", "0"),
            "play never comes to 19",
        ),
        (("tablebase", *R, "--out", "m.csv"), "the best roll depends on it"),
        # files to write
        (("attack", "always_roll:1", *R, "--out", "m.xls"), "m.xls: cannot be written; allowed"),
        (("attack", "always_roll:1", *R, "--out", "no/m.csv"), "there is no folder no"),
        (("attack", "always_roll:1", *R, "--out", "folder.csv"), "it is a folder"),
        (("tournament", "a", "b", *R, "--plot", "m.jpg"), "allowed: names ending in .png"),
        (("show", "always_roll:1", *R, "--out", "m" * 300 + ".png"), "File name too long"),
        (("export", "always_roll:1", *R), "--player-name: missing, needed for a .py file"),
        (
            ("export", "always_roll:1", *R, "--out", "m.csv", "--player-name", "a"),
            "--player-name: allowed only where --out ends in .py",
        ),
        (("runs", ".", "--sort", "atack"), "; nearest: attack"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    folder: Path, arguments: tuple[str, ...], says: str
) -> None:
    for name, text in {
        "broken.yaml": "{edition: su20",
        "huge.yaml": "{edition: su20, goal: 2000, max_dice: 50}",
        "code.py": "raise SystemExit(3)\n",
    }.items():
        (folder / name).write_text(text)
    (folder / "folder.csv").mkdir()
    before = sorted(path.name for path in folder.iterdir())
    assert says in refused(*arguments)
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("attack", "mine.csv", "--out", "mine.csv"),
        ("attack", "./mine.csv", "--out", "link.csv", "--overwrite"),
        ("attack-field", "mine.csv", "always_roll:1", "--out", "mine.csv"),
        ("attack", "rows.json", "--certify", "1", "--certificate", "rows.json", "--overwrite"),
        ("export", "mine.csv", "--out", "mine.csv", "--overwrite"),
        ("purify", "state.npz", "--checkpoint", "state.npz"),
        ("play", "--engine", "rows.json", "--save", "rows.json", "--overwrite"),
        ("tournament", "mine.csv", "always_roll:1", "--csv", "./mine.csv"),
        ("tournament", "mine.csv", "always_roll:1", "--out", "mine.csv"),
    ],
)
def test_what_is_read_is_never_written_over(folder: Path, arguments: tuple[str, ...]) -> None:
    rows = 20 * [20 * [1]]
    (folder / "mine.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    (folder / "link.csv").symlink_to("mine.csv")
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "state.npz").write_bytes(b"")
    files = [path for path in folder.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    assert "cannot be written: it is read as well" in refused(*arguments, *R)
    assert {path: path.read_bytes() for path in files} == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("attack", "always_roll:1", "--starts", "1", "--kicks", "0", "--out", "there.csv"),
        pytest.param(
            ("attack", "always_roll:1", "--certify", "1", "--certificate", "there.json"),
            marks=pytest.mark.slow,
        ),
        ("export", "always_roll:1", "--out", "there.csv"),
        ("purify", "always_roll:1", "--out", "there.csv"),
        ("play", "--save", "there.json"),
        ("board", "--out", "there.html"),
        ("show", "always_roll:1", "--out", "there.png"),
        ("export-game", "--goal", "3", "--max-dice", "1", "--out", "there.efg"),
    ],
)
def test_what_a_command_is_called_for_is_replaced_only_if_that_is_said(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    there = folder / arguments[-1]
    there.write_text("mine")
    option = arguments[-2]
    told = refused(*arguments, *R)
    assert f"exists already; --overwrite replaces it, {option} FILE leaves it alone" in told
    assert there.read_text() == "mine"
    result = CliRunner().invoke(app, [*arguments, *R, "--overwrite"], input="1\nquit\n")
    assert result.exit_code == 0, result.stderr
    assert there.read_bytes() != b"mine"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("export", "optmal", "--player-name", "Me", *R), "nearest: optimal"),
        (("export", "optimal", "--player-name", "Me", "--rules", "fa26"), "'fa26' is not here"),
        (("board", "--rules", "fa26"), "'fa26' is not here"),
        (("board", *R, "--against", "optmal"), "nearest: optimal"),
        (("purify", "uniform", "--game", "kuhn_pokr"), "kuhn_pokr"),
    ],
)
def test_a_typo_is_said_before_a_file_that_is_there(
    folder: Path, arguments: tuple[str, ...], says: str
) -> None:
    for name in ("final_strategy.py", "board.html", "matrix.csv", "matrix.npz"):
        (folder / name).write_text("mine")
    line = refused(*arguments)
    assert says in line
    assert "exists already" not in line


def test_a_command_of_ones_own_refuses_files_as_all_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Annotated[Path | None, option("Write it.", "FILE"), Output((".csv",))]

    def first_move(strategy: StrategyName, rules_name: RulesName = None, out: out = None) -> Result:
        raise AssertionError

    monkeypatch.setattr(app, "registered_commands", [*app.registered_commands])
    app.command()(first_move)
    command = "first-move", "always_roll:1", "--out", "worth.txt", "--rules"
    allowed = "worth.txt: cannot be written; allowed: names ending in .csv"
    assert allowed in refused(*command, "fa22")
    assert "unknown edition 'su2'" in refused(*command, "su2")


def test_a_folder_names_the_file_in_it(folder: Path) -> None:
    (folder / "project").mkdir()
    for name in ("dice.py", "final_strategy.py", "notes.md"):
        (folder / "project" / name).write_text("")
    line = refused("export", "project", *R, "--trust", "--out=x.csv")
    assert line.endswith(f"; nearest: {Path('project/final_strategy.py')}\n")
    found = CliRunner().invoke(app, ["check", "project", *R, "--trust"])
    assert found.exit_code == 2
    assert found.stdout.startswith(f"{Path('project/final_strategy.py')}: not valid")
    (folder / "empty").mkdir()
    assert "empty: is a folder; allowed: a file\n" in refused("check", "empty", *R)


def test_a_name_that_cannot_be_printed_is_still_one_line(folder: Path) -> None:
    refused("compare", "always_roll:1\nalways_roll:2\x1b[2J", "always_roll:1", *R)
    refused("tablebase", "--rules", "a\nb")


# --- how it ends ----------------------------------------------------------------------------------


def test_help_and_version() -> None:
    assert ok("--version").strip()
    assert main(["version"]) == main(["-V"]) == main(["help", "export"]) == 0
    assert "tournament" in ok()
    assert ok() == ok("--help")
    assert "--anneal-steps" in ok("attack", "--help")
    listed = ok("--help")
    commands = listed.partition("Submit and play:")[2]
    assert "..." not in commands
    assert max(map(len, listed.splitlines())) <= 80
    # One line for each command, a head and an empty line for each group.
    assert len(commands.strip().splitlines()) == len(COMMANDS) + 2 * len(GROUPS) - 2
    assert "--first you|engine|coin" in ok("play", "--help")
    assert not re.search(r"<\w|[{}]|x[<>]=|\[\[", ok("tournament", "--help"))
    assert [line for line in listed.splitlines() if line in {f"{name}:" for name in GROUPS}] == [
        f"{name}:" for name in GROUPS
    ]


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_every_command_has_an_example_that_it_takes(folder: Path, command: Any) -> None:
    name = name_of(command)
    lines = [line.strip() for line in ok(name, "--help").splitlines()]
    example = f"Example: hogeq {name}"
    assert any(line.startswith(example) for line in lines)
    words = next(group[command] for group in GROUPS.values() if command in group).split()
    for word in words:
        if "." in word or "/" in word:
            Path(word).parent.mkdir(exist_ok=True)
            Path(word).touch()
    every: Any = get_command(app)
    context = every.commands[name].make_context(name, words)  # refuses what it does not take
    every.commands[name].require_use(context)


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (KeyboardInterrupt(), 130, "hogeq: stopped\n"),
        (ValueError("deep\ninside"), 1, "hogeq: internal failure: ValueError: deep inside"),
        (MemoryError(), 1, "hogeq: internal failure: MemoryError"),
        (HogeqError("goal: got 0"), 2, "hogeq: goal: got 0\n"),
    ],
)
def test_interruptions_refusals_and_failures_of_ours(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    says: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("hogeq.evaluation.values.win_rate", fail)
    monkeypatch.delenv("HOGEQ_DEBUG", raising=False)
    assert main(["compare", "always_roll:1", "always_roll:2", *R]) == status
    out, err = capfd.readouterr()
    assert out == ""
    *where, line = err.splitlines(keepends=True)
    assert line.startswith(says)
    assert bool(where) == (status == 1)  # a failure of ours says where


@pytest.mark.parametrize(
    "error",
    [
        ImportError("libscipy.so: failed to map segment from shared object"),
        OSError("libllvmlite.so: cannot allocate memory"),
        RuntimeError("can't start new thread"),
    ],
)
def test_a_library_or_thread_without_memory_is_one_line(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("Could not load shared object file") from error

    monkeypatch.setattr("hogeq.evaluation.values.win_rate", fail)
    monkeypatch.delenv("HOGEQ_DEBUG", raising=False)
    assert main(["compare", "always_roll:1", "always_roll:2", *R]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err == f"hogeq: not enough memory: {error}; allowed: a larger limit, see ulimit -v\n"


def test_main_gives_back_the_status(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "su20", "--json"]) == 0
    assert main(["rules", "nothing"]) == 2
    assert main(["no-such-command"]) == 2
    assert main([]) == 0
    assert "Traceback" not in capfd.readouterr().err


def modules(*calls: tuple[str, ...]) -> set[str]:
    """Modules that a process has imported after some commands."""
    code = (
        f"import sys; from hogeq.cli import main; [main(call) for call in {calls}]; "
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    found = python("-c", code)
    assert found.returncode == 0, found.stderr
    return set(found.stderr.split("\n"))


@pytest.mark.slow
def test_small_commands_import_little() -> None:
    heavy = {"matplotlib", "loky", "scipy.linalg", "pandas", "pyspiel", "rich"}
    heavy |= {"hogeq.runs.config"}
    assert not modules(("rules",)) & (heavy | {"numpy", "numba"})
    assert not modules(("strategies",)) & (heavy | {"numba"})
    # Its kernel is kept from tests before; to load one takes nothing of numba's compiler.
    ok("compare", "always_roll:0", "always_roll:6", "--rules", "su20")
    compiler = {"numba.cpython.rangeobj", "numba.np.random.generator_core"}
    compare = ("compare", "always_roll:0", "always_roll:6", "--rules", "su20")
    assert not modules(compare) & (heavy | compiler)


def test_files_and_names_are_looked_at_before_libraries_are_imported(folder: Path) -> None:
    heavy = {"numba", "scipy", "matplotlib", "pyspiel", "hogeq.model.game"}
    none = (
        ("--version",),
        ("--help",),
        ("check", "--help"),
        ("help", "export"),
        ("chekc", "a.csv"),
        ("attack", "optimal", "--of-no-use"),
        ("check", "no.csv"),
        ("review", "no.json"),
        ("certify", "no.json"),
        ("run", "no.yaml"),
        ("sweep", "no.yaml"),
        ("report", "no"),
        ("compare", "optimal", "champion", "--rules", "fa99"),
        ("analyze", "--rules", "fa25", "--score", "100", "--opponent", "0"),
        ("tablebase", "--rules", "fa25", "--start", "100:0"),
        ("export", "optimal", "--rules", "fa25", "--out", "a.xls"),
    )
    assert not modules(*none) & {*heavy, "numpy"}
    few = (
        ("check", "small.yaml", "--against", "optiml"),
        ("compare", "optimal", "always_rol:6", "--rules", "fa25"),
        ("attack", "no.npz", "--rules", "fa25"),
        ("show", "no.csv", "--rules", "fa25"),
        ("board", "--opponent", "no.csv", "--rules", "fa25"),
        ("attack", "unifrm", "--game", "kuhn_poker"),
        ("equilibrium", "--game", "no.efg"),
    )
    assert not modules(*few) & heavy
