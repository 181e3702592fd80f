"""No option is dropped in silence: in every call each does something, or is refused by name."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.cli.commands import name_of
from hogeq.support import workers
from tests.cli.calls import COMMANDS, ok, said

SLOW = """
import time
PLAYER_NAME = "Slow"
def final_strategy(score, opponent_score):
    time.sleep(0.02)
    return 2
"""
TREE = "--game kuhn_poker"
LARGER = "--game leduc_poker --forget last:1"  # its best response takes a search
AT = "--score 3 --opponent 4"


def calls_of(text: str) -> dict[str, list[str]]:
    """Read `COMMAND: CALL | CALL`, a command a line; lines that begin with a bar go on with it."""
    lines = text.strip().replace("\n    |", " |").splitlines()
    split = (line.partition(":") for line in lines)
    return {command: [*map(str.strip, calls.split("|"))] for command, _, calls in split}


CALLS = calls_of(f"""
analyze: {AT} | {AT} --json | --rules turns.yaml {AT} --turn 1 | --rules parts.yaml {AT}
attack: always_roll:2 --starts 2 --kicks 0 | always_roll:2 --starts 2 --kicks 0 --json
    | always_roll:2 --starts 2 --kicks 5 --until-saturated
    | always_roll:2 --starts 2 --kicks 0 --certify 0.01
    | always_roll:2 --starts 2 --kicks 0 --out there.csv | uniform {TREE} | uniform {TREE} --json
    | uniform {TREE} --out there.npz | uniform {LARGER} | uniform {LARGER} --json
    | always_roll:2 --game small.yaml --starts 1 --kicks 0 | results/tree
attack-field: always_roll:1 always_roll:2 --starts 2 | always_roll:1 always_roll:2 --starts 2 --json
    | always_roll:1 always_roll:2 --starts 2 --out there.csv | slow.py always_roll:2
audit: --goal 4 | --goal 4 --json | {TREE} | {TREE} --json
beliefs: always_roll:1 {AT} | always_roll:1 {AT} --json | slow.py {AT}
bench-games: list | list --json | write new --only su20-10x2-always
    | run --only su20-10x2-always --json | run --only interview-3x3x3 --json
board: --out b.html | --out b.html --json | --opponent slow.py | --out there.html
    | --out b.html {TREE}
certify: proof.json | proof.json --json | proof.json --of slow.py
check: a.csv | a.csv --json | a.csv --json --html page.html | slow.py --trust | slow.py
compare: a.csv always_roll:2 | a.csv always_roll:2 --json | a.csv slow.py | uniform best.npz {TREE}
    | uniform best.npz {TREE} --json
diff: a.csv b.csv | a.csv b.csv --json | a.csv slow.py | uniform best.npz {TREE}
    | uniform best.npz {TREE} --json
doctor:  | --json
equilibrium: {TREE} | {TREE} --json | {TREE} --out there.npz |
export: a.csv --out new.csv | a.csv --out new.csv --json | a.csv --player-name Me
    | mixture.npz --out new.npz | a.csv --out there.csv | slow.py --out new.csv
export-game: --goal 2 --out g.efg | --goal 2 --out g.efg --json | {TREE} --out g.efg
    | {TREE} --out g.efg --json | {TREE} --out there.npz
improve: a.csv --out new.csv | always_roll:0 --rules larger.yaml --out new.csv --json
    | a.csv --out new.py --player-name Me | a.csv --out there.csv | slow.py --out new.csv
play: --seed 1 | --seed 1 --json | --seed 1 --save there.json | --seed 1 --engine slow.py
    | --seed 2 {TREE} | --seed 2 {TREE} --json
purify: rise:2,2 --method threshold --out new.csv | a.csv --method threshold --out new.csv --json
    | a.csv --out there.csv | slow.py --out new.csv
    | uniform {TREE} --method threshold --out new.npz --json | uniform {TREE} --out there.npz
report: results/hog --out r.html | results/hog --out r.html --against slow.py
    | results/hog --out there.html
review: game.json | game.json --json
rules:  | --json | fa22 | fa22 --json
run: config.yaml | config.yaml --json | newtree.yaml | --resume results/hog | taken.yaml
runs:  | --json
show: a.csv | a.csv --json | a.csv --out there.png | slow.py | uniform {TREE}
    | uniform {TREE} --json
strategies:  | --json
sweep: sweep.yaml | sweep.yaml --json | done.yaml
tablebase:  | --json | --rules fa22.yaml | --rules fa22.yaml --out there.csv | --against slow.py
    | {TREE} | {TREE} --json
tournament: a.csv b.csv | a.csv b.csv --json | a.csv b.csv --json --html page.html
    | a.csv b.csv bad.csv | a.csv slow.py | a.csv b.csv slow.py --trust | class --out pages
    | class --out contest --roster roster.csv
warmup: --rules fa22.yaml | --rules fa22.yaml --json
""")


TYPED = """
--against=always_roll:1 --anneal-steps=7 --cells=1 --certificate=new.json --certify=0.01
--checkpoint=rounds.npz --csv=ranks.csv --engine=always_roll:1 --exact=0 --first=engine
--forget=own_actions --teams=1/0 --goal=3 --goals=goals.csv --roster=roster.csv --points=valid=2
--html=new.html --jobs=1 --kicks=6 --matrices/--no-matrices= --max-dice=1 --method=integer
--most-kicks=6 --objective=beaten --of=always_roll:1 --on=local --only=interview-3x3x3
--opponent=always_roll:1 --opponent-last=1 --out=made.csv --out-root=elsewhere --own-last=1 --part=1
--player-name=You --plot=plot.png --remembered=yes --resume=results/hog --rules=fa22.yaml
--save=saved.json --score=2 --seconds=0 --seed=5 --set=seed=9 --sort=seconds --start=2:1 --starts=1
--strategy=always_roll:1 --threshold=0.9 --time-limit=0.2 --top=1 --turn=1 --where=rules.goal=50
"""
SAMPLES = dict(one.split("=", 1) for one in TYPED.split())
"""What options are given; flags are given nothing."""


OF_COMMANDS = {
    "analyze --opponent": "2",
    "beliefs --against": "always_roll:2",
    "beliefs --opponent": "2",
    "board --rules": "fa22.yaml",
    "equilibrium --method": "dag",
    "equilibrium --out": "new.npz",
    "export --out": "new.txt",
    "export-game --out": "new.efg",
    "board --out": "new.html",
    "purify --set": "method=integer",
    "report --out": "new.html",
    "report --starts": "3",
    "review --start": "9:9",
    "show --out": "new.png",
    "sweep --on": "dask://127.0.0.1:1",
    "sweep --set": "measure.attack.starts=2",
    "tournament --out": "made.json",
}
"""The same, where a command takes something else."""

GRANTS = {
    "Hog": {"--time-limit", "--skip-bad", "--seconds", "--exact"},
    "tree": {"--exact", "--seconds", "--starts", "--anneal-steps", "--kicks", "--seed"}
    | {"--until-saturated"},
}
"""What allows more, or limits: a call that needs none of it has kept to it."""

WRITERS = {"export", "improve", "purify", "run", "sweep"}
"""Commands that write files without an option, which --overwrite allows to replace."""

UNSEEN = {
    "--digits",
    "--trust",
    "--plugin",
    "--game",
    "--no-sandbox",
    "--open",
    "equilibrium --seconds",
    "warmup --jobs",
}
UNSEEN |= {"equilibrium --method", "equilibrium --policies"}
"""Options of every command, which takes them whether it needs them or not; what chooses the other
kind of game, which has calls of its own; what opens a browser, or needs a machine without
bubblewrap; a game that is solved at once, and nothing left to compile, need no limit.
"""


class Seen(NamedTuple):
    """What a call comes to; who computed is seen where that was asked."""

    status: int
    output: str
    error: str
    files: dict[str, bytes]
    workers: list[Any]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a folder of all that the calls read."""
    folder = tmp_path_factory.mktemp("inputs")
    learnt = (
        "solver: {name: dcfr, iterations: 2}, "
        "measure: {every: 2, attack: {starts: 1, anneal_steps: 3, kicks: 0}}"
    )
    hog = f"rules: {{edition: fa22, goal: 6, max_dice: 2}}, {learnt}"
    rows = ["121212"[row:] + "121212"[:row] for row in range(6)]
    table = "".join(",".join(row) + "\n" for row in rows)
    texts = {
        "small.yaml": "{edition: su20, goal: 6, max_dice: 2}",
        "larger.yaml": "{edition: su20, goal: 20, max_dice: 4}",
        "fa22.yaml": "{edition: fa22, goal: 6, max_dice: 2}",
        "turns.yaml": "{edition: su21, goal: 6, max_dice: 2}",
        "parts.yaml": "{edition: fa13, goal: 6, max_dice: 2}",
        "slow.py": SLOW,
        "a.csv": table,
        "b.csv": table.replace("1", "0", 3),
        "bad.csv": "no table",
        "class/a.csv": table,
        "class/b.csv": table.replace("1", "0", 3),
        "class/c.py": f"PLAYER_NAME = 'Cy'\nROLLS = {[[2] * 6] * 6}\n",
        "goals.csv": "entry,goal\na.csv,5\n",
        "roster.csv": "account\na.csv\nb.csv\n",
        "there.csv": "",
        "there.html": "",
        "there.json": "",
        "there.npz": "",
        "there.png": "",
        "config.yaml": f"{{name: new, {hog}}}",
        "taken.yaml": f"{{name: hog, {hog}}}",
        "tree.yaml": f"{{name: tree, game: kuhn_poker, {learnt}}}",
        "newtree.yaml": f"{{name: new, game: kuhn_poker, {learnt}}}",
        "sweep.yaml": "{name: sweep, base: config.yaml, grid: {seed: [1]}}",
        "done.yaml": "{name: done, base: config.yaml, grid: {seed: [1]}}",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HOGEQ_RULES", "small.yaml")
        Path("class").mkdir()
        matrices = [[[number] * 6] * 6 for number in (1, 2)]
        np.savez("mixture.npz", weights=[0.5, 0.5], matrices=np.array(matrices, np.int8))
        for name, text in texts.items():
            Path(name).write_text(text)
        ok("run", "taken.yaml")
        ok("run", "tree.yaml")
        ok("sweep", "done.yaml")
        ok("warmup", "--rules", "fa22.yaml")
        proof = ("--certify", "0.01", "--certificate", "proof.json")
        ok("attack", "always_roll:2", "--starts", "1", "--kicks", "0", *proof)
        ok("attack", "uniform", *TREE.split(), "--out", "best.npz")
        played = ["play", "--seed", "1", "--first", "you", "--save", "game.json"]
        assert CliRunner().invoke(app, played, input="2\n" * 60).exit_code == 0
        yield folder


@pytest.fixture
def see(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registries: Callable[[], None]
) -> Callable[[str], Seen]:
    """Give what calls a command in a fresh folder of inputs and looks at what came of it."""
    monkeypatch.setenv("HOGEQ_RULES", "small.yaml")
    monkeypatch.setattr("secrets.token_hex", lambda size: "0" * 2 * size)  # in names of pages
    asked: list[Any] = []
    start = workers.workers

    def watched(jobs: int | None = None, on: str | None = None) -> AbstractContextManager[Any]:
        asked.append((jobs, on))
        return start(1)  # processes would take seconds to start, and change nothing else

    monkeypatch.setattr(workers, "workers", watched)

    def call(words: str) -> Seen:
        registries()
        asked.clear()
        folder = tmp_path / "work"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(inputs, folder)
        monkeypatch.chdir(folder)
        found = CliRunner().invoke(app, words.split(), input="2\n1\nquit\n")
        files = {
            str(path.relative_to(folder)): _content(path)
            for path in folder.rglob("*")
            if path.is_file()
        }
        return Seen(found.exit_code, _timeless(found.stdout), said(found.stderr), files, [*asked])

    return call


def _content(path: Path) -> bytes:
    """Read a file, unless times are in it."""
    timed = {"manifest.json", "metrics.csv", "checkpoint.npz", "table.csv", "cache.json"}
    if path.name in timed or path.suffix == ".png":
        return b""
    return path.read_bytes()


def _timeless(text: str) -> str:
    """Leave out how long something took."""
    times = r'"(load|slowest|table|\w*seconds|elapsed)": [\d.e-]+|[\d.]+ (s|ms|us)\b'
    return re.sub(times, "", text)


def options_of(command: str) -> dict[str, tuple[str, bool]]:
    """Say how to give the options of a command against their defaults, and whether alone."""
    every: Any = get_command(app)
    return {
        one.opts[0]: (
            [*one.opts, *one.secondary_opts][-1 if one.default is True else 0],
            one.is_flag,
        )
        for one in every.commands[command].params
        if one.param_type_name == "option"
    }


def is_granted(call: str, option: str) -> bool:
    """Whether a call may need nothing of what an option allows."""
    if option == "--overwrite":
        return "--out" in call or call.partition(" ")[0] in WRITERS
    is_tree = any(word in call for word in (TREE, LARGER, "results/tree"))
    return option in GRANTS["tree" if is_tree else "Hog"]


def test_every_command_is_called() -> None:
    assert set(CALLS) == {name_of(command) for command in COMMANDS}


@pytest.mark.slow
@pytest.mark.parametrize("command", [*map(name_of, COMMANDS)])
def test_every_option_does_something_or_is_refused(
    command: str, see: Callable[[str], Seen]
) -> None:
    used, faults = set(), []
    options = {
        name: how
        for name, how in options_of(command).items()
        if UNSEEN.isdisjoint({name, f"{command} {name}"})
    }
    for more in CALLS[command]:
        call = f"{command} {more}"
        before = see(call)
        assert before == see(call)
        for option, (written, is_alone) in options.items():
            if is_alone and written in call.split():
                continue
            value = OF_COMMANDS.get(f"{command} {option}", SAMPLES.get(option, ""))
            after = see(f"{call} {written} {value}")
            if f"hogeq: {option}: allowed only" in after.error:
                continue
            if after.status == 2 != before.status and not after.output:
                words = (option[2:], value.partition("=")[0] or option, "another config")
                if option not in call and not any(word in after.error for word in words):
                    faults.append(f"{call} {option}: {after.error}")
                used.add(option)
            elif after != before:
                used.add(option)
            elif before.status != 2 and option not in call and not is_granted(call, option):
                faults.append(f"{call} {option}: vanished")
    faults += [f"{command} {one}: of no use" for one in sorted({*options} - used)]
    assert not faults, "\n".join(faults)
