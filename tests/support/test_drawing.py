"""What lies in the current folder is not read, and not run, where pictures and workers begin."""

import json
import os
from pathlib import Path

import pytest

from tests.processes import printed, python


def ran(folder: Path, *words: str, options: tuple[str, ...] = ("-P",)) -> str:
    """Run Python in a folder as a console script does, hogeq being found but not the folder."""
    return printed(*options, *words, cwd=folder)


def test_settings_of_pictures_are_not_those_of_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 31\ntext.usetex: True\n", "utf-8")
    code = (
        "from hogeq.figures.style import dice_colours; dice_colours(3); "
        "import matplotlib; print(matplotlib.rcParams['font.size'])"
    )
    assert float(ran(tmp_path, "-c", code)) == 10.0


@pytest.mark.slow
def test_workers_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    for name in ("loky.py", "concurrent.py", "multiprocessing.py"):
        (tmp_path / name).write_text("open('it_ran', 'w').close()\n", "utf-8")
    (tmp_path / "small.yaml").write_text("{edition: su20, goal: 8, max_dice: 2}", "utf-8")
    attack = ("-m", "hogeq", "attack", "always_roll:1", "--rules", "small.yaml", "--json")
    effort = ("--starts", "2", "--kicks", "1")
    here = json.loads(ran(tmp_path, *attack, *effort))
    local = json.loads(ran(tmp_path, *attack, *effort, "--jobs", "2", "--on", "local"))
    assert {**local, "seconds": 0} == {**here, "seconds": 0}
    assert not (tmp_path / "it_ran").exists()


def test_the_cleaners_of_a_script_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    """Python's own, which loky starts too, has -P only if the script has."""
    here = tmp_path / "here"
    here.mkdir()
    (here / "multiprocessing.py").write_text("open('it_ran', 'w').close()\n", "utf-8")
    script = tmp_path / "script.py"
    script.write_text(
        "from hogeq.support.workers import workers, compute\n"
        "with workers(2, 'local'): print(list(compute(abs, [-1, -2])))\n"
    )
    assert ran(here, str(script), options=()) == "[1, 2]\n"
    assert not (here / "it_ran").exists()


@pytest.mark.slow
def test_workers_leave_the_environment_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text("print('found')\n", "utf-8")
    (tmp_path / "script.py").write_text("import near\n", "utf-8")
    code = (
        "import subprocess, sys; from hogeq.support.workers import workers, compute\n"
        "with workers(2, 'local'): print(list(compute(abs, [-1, -2])))\n"
        "subprocess.run([sys.executable, 'script.py'], check=True)"
    )
    assert ran(tmp_path, "-c", code).splitlines() == ["[1, 2]", "found"]


IMPORT = "from hogeq.support.drawing import import_matplotlib; import_matplotlib()"


@pytest.mark.parametrize("named", ["device", "pipe", "folder"])
def test_settings_that_may_never_end_are_refused(named: str, tmp_path: Path) -> None:
    """Matplotlib reads them while it is imported."""
    settings = tmp_path / "matplotlibrc"
    os.mkfifo(settings)
    given = {"device": "/dev/zero", "pipe": str(settings), "folder": str(tmp_path)}[named]
    done = python("-P", "-c", IMPORT, env={"MATPLOTLIBRC": given}, timeout=60.0)
    last_line = done.stderr.splitlines()[-1]
    assert "MATPLOTLIBRC: got '" in last_line
    assert last_line.endswith("allowed: a file of settings, or its folder")


def test_a_file_of_settings_of_the_user_is_read(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 31\n", "utf-8")
    code = f"{IMPORT}; import matplotlib; print(matplotlib.rcParams['font.size'])"
    for given in (tmp_path, tmp_path / "matplotlibrc"):
        assert printed("-P", "-c", code, env={"MATPLOTLIBRC": str(given)}) == "31.0\n"
