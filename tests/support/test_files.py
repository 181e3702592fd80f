"""Files are read whole or refused, and never waited for."""

import csv
import errno
import os
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from hogeq.runs.directory import read_checkpoint
from hogeq.runs.files import LOCK_FILE
from hogeq.runs.index import find_runs
from hogeq.support import files, kinds
from hogeq.support.files import (
    csv_text,
    json_entries,
    json_lines,
    json_text,
    read_whole,
    redirected,
)
from hogeq.support.plugins import PluginError, read_plugin
from hogeq.support.text import parse_json
from tests.refusals import refuses


def test_json_has_paths_as_texts_and_no_numbers_that_are_none() -> None:
    assert json_text({"a": Path("b/c"), "d": (1, None)}) == '{"a": "b/c", "d": [1, null]}'
    assert json_text({"a": [1, 2]}, compact=True) == '{"a":[1,2]}'
    assert json_text({"a": 1}, 1) == '{\n "a": 1\n}'
    refuses(lambda: json_text(float("nan")), "not JSON compliant")


def test_json_with_one_entry_a_line() -> None:
    assert json_entries({"a": [1], '"': {"b": 2}}) == ['"a": [1]', '"\\"": {"b": 2}']
    for value in ([[0, 1], [2, 3]], {"a": [[0, 0.5]], "b": []}, [], {}):
        text = json_lines(value)
        assert parse_json(text) == value
        assert len(text.splitlines()) == max(len(value), 1) + 2


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_whole(path, 5) == b"12345"
    with pytest.raises(OSError, match="is larger than 4 bytes") as caught:
        read_whole(path, 4)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))


@pytest.mark.skipif(not Path("/proc/self/mem").is_file(), reason="only on Linux")
def test_a_read_that_fails_names_the_file() -> None:
    with pytest.raises(OSError, match="error") as caught:
        read_whole("/proc/self/mem", 100)
    assert caught.value.filename == "/proc/self/mem"


def test_a_device_that_would_wait_has_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Waiting:
        def read(self, _: int) -> None:
            """Give None, as raw files do that must not wait."""

    for module in (files, kinds):
        monkeypatch.setattr(module, "opened", lambda *_, **__: nullcontext((Waiting(), 0)))
    assert read_whole("kmsg", 100) == b""
    assert kinds.kind_of("kmsg") == ""


@pytest.mark.parametrize("name", ["manifest.json", "config.yaml", "metrics.csv", LOCK_FILE])
def test_pipes_in_run_directories_are_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "manifest.json").write_text('{"status": "running"}')
    (tmp_path / "config.yaml").write_text("{name: a}")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    found, broken = find_runs(tmp_path)
    assert len(found) + len(broken) == 1
    assert all("is not a file" in why for why in broken.values())


def test_pipes_as_checkpoints_and_plugins_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "checkpoint.npz")
    refuses(lambda: read_checkpoint(tmp_path / "checkpoint.npz", "cfr", "", {}), "not a file")
    os.mkfifo(tmp_path / "plugin.py")
    refuses(lambda: read_plugin(tmp_path / "plugin.py"), "is not a file", PluginError)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"a": 1, "a": 2}', "key 'a' stands twice"),
        (b"[NaN]", "is not JSON: got NaN; allowed: finite numbers$"),
        (b"\xff", "is not UTF-8 text at byte 0"),
        (b"[" * 10**5, "is not JSON: nested too deeply"),
        (b"9" * 5000, "is not JSON: "),
    ],
)
def test_what_is_no_json_is_refused_in_one_line(data: bytes, says: str) -> None:
    refuses(lambda: parse_json(data), f"^{says}")


def test_json_may_begin_with_a_mark_of_its_encoding_and_hold_nan_where_allowed() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": [1]}') == {"a": [1]}
    assert str(parse_json("[NaN]", allow_nan=True)) == "[nan]"


def test_a_spreadsheet_takes_no_text_for_a_formula_and_no_number_for_a_text() -> None:
    texts = [
        "=1+1",
        "+1",
        "-1",
        "@SUM(1)",
        " =1",
        "\t=1",
        "\r=1",
        "\uff1d1",
        "a;=1",
        'a; "=1',
        "a,=1",
        'a"=1',
    ]
    numbers = [-1, -0.5, 1e-300, float("-inf"), 0, None, True]
    written = csv_text(["=head", "b"], [["name", *texts], ["number", *numbers]])
    header, words, figures = written.splitlines()
    assert header == "'=head,b"
    assert figures == "number,-1,-0.5,1e-300,-inf,0,,True"
    # As a spreadsheet splits it in one country or another.
    for separator in (",", ";"):
        (cells,) = csv.reader([words], delimiter=separator)
        assert not [cell for cell in cells if cell.strip(' "')[:1] in {*"=+-@\uff1d"}]
    (cells,) = csv.reader([words])
    assert cells[1:6] == ["'=1+1", "'+1", "'-1", "'@SUM(1)", " '=1"]
    assert cells[6:8] == [r"\t=1", r"\r=1"]
    assert cells[8:] == ["'\uff1d1", "a;'=1", "a; \"'=1", "a,=1", 'a"=1']


def test_nothing_is_opened_by_way_of_a_link(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    (inside / "real").mkdir(parents=True)
    (inside / "real" / "file").write_text("here")
    (tmp_path / "secret").write_text("there")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "up").symlink_to("..")
    (inside / "beside").symlink_to("real")
    os.mkfifo(inside / "pipe")
    assert read_whole("real/file", 9, within=inside) == b"here"
    for path in ("link", "up/secret", "beside/file", "../secret", str(tmp_path / "secret")):
        with pytest.raises(OSError, match=r"link|directory|leads out"):
            read_whole(path, 9, within=inside)
    for path in ("pipe", "real"):
        with pytest.raises(OSError, match=r"is not a file|Is a directory"):
            read_whole(path, 9, within=inside)
    with pytest.raises(OSError, match="is larger than 3 bytes"):
        read_whole("real/file", 3, within=inside)


def test_what_compiled_libraries_print_is_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(1, b"before\n")
    with redirected(1):
        os.write(1, b"a line of a compiled library\n")
    with suppress(ValueError), redirected(1):
        raise ValueError
    os.write(1, b"after\n")
    assert capfd.readouterr().out == "before\nafter\n"
