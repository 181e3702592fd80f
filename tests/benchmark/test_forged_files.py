"""Forged files of results: the checker refuses them in a line."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import check_benchmark as checker
import numpy as np
import pytest
import strict_files
from strict_files import RefusedError

from tests.benchmark.forgeries import GAME, HOG, TREE, Results, accepts, claims, leaf
from tests.slow import mostly_slow


@pytest.mark.slow
def test_every_claim_is_compared_by_digit_and_type(good: Results, folder: Path) -> None:
    good.copy().write(folder)
    tried = 0
    for name, facts in good.known["instances"].items():
        for key, fact in facts.items():
            others: list[Any] = [
                None,
                True,
                False,
                "",
                f"{fact} ",
                [fact],
                {},
                -1,
                1e300,
                0.5,
                10**400,
            ]
            if isinstance(fact, float):
                others += [fact - 1e-9, fact + 1e-9, fact - 1e-10, fact + 1e-10, f"{fact:.10f}"]
            if isinstance(fact, int):
                others += [float(fact), fact + 1, fact - 1]
            if isinstance(fact, list):
                others += [[True, True], [1.0, 1.0], fact[:1], [*fact, 1]]
            for other in others:
                forged = good.copy()
                forged.known["instances"][name][key] = other
                forged.write_known(folder)
                assert not accepts(folder), f"{name} {key}: {other}"
                tried += 1
            for raw in ("NaN", "Infinity", "-Infinity", "1e999", "0.5, " + f'"{key}": 0.5'):
                text = json.dumps(good.known)
                said = f'"{key}": {json.dumps(fact)}'
                (folder / "results" / "known.json").write_text(
                    text.replace(said, f'"{key}": {raw}')
                )
                assert not accepts(folder), f"{name} {key}: {raw}"
                tried += 1
    assert tried > 200


def test_a_key_twice_is_refused_though_the_last_is_right(good: Results, folder: Path) -> None:
    good.copy().write(folder)
    path = folder / "results" / "known.json"
    text = path.read_text()
    for said in ('"value": ', '"lower": ', '"instances": ', '"format": ', f'"{TREE}": '):
        path.write_text(text.replace(said, said + "0, " + said))
        assert not accepts(folder), said


def test_what_is_left_out_is_not_accepted(good: Results, folder: Path) -> None:
    forged = good.copy()
    forged.strategies = {k: v for k, v in forged.strategies.items() if k != TREE}
    forged.proofs = {k: v for k, v in forged.proofs.items() if not k.startswith(TREE)}
    del forged.known["instances"][TREE]
    forged.write(folder)
    assert not accepts(folder)
    assert accepts(folder, HOG)
    assert not accepts(folder, TREE)
    good.copy().write(folder)
    assert accepts(folder)
    assert not accepts(folder, "no such name")
    assert not accepts(folder, HOG, "no such name")
    (folder / f"{TREE}.npz").unlink()
    assert not accepts(folder)


@pytest.mark.parametrize("name", ["x: accepted\nsu20", "x\rsu20", "\x1b[2Ksu20", "\u0455u20"])
def test_a_name_does_not_stand_for_another(
    good: Results, folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = good.copy()
    for table in (forged.instances, forged.strategies, forged.proofs, forged.known["instances"]):
        for key in [key for key in table if key.split(".")[0] == TREE]:
            table[name + key.removeprefix(TREE)] = table.pop(key)
    forged.write(folder)
    capsys.readouterr()
    assert accepts(folder)
    said = capsys.readouterr().out
    assert f"{ascii(name)[1:-1]}: accepted\n" in said
    assert len(said.splitlines()) == len(forged.instances) + 1
    assert name not in said


def test_a_game_is_not_a_problem_of_one_player(good: Results, folder: Path) -> None:
    forged = good.copy()
    forged.strategies = {k: v for k, v in forged.strategies.items() if not k.startswith(GAME)}
    forged.strategies[GAME] = np.zeros(2, np.int16)
    forged.proofs |= {f"{GAME}.{key}": array for key, array in leaf().items()}
    assert claims(folder, forged, GAME) is None


def test_a_row_of_both_players_is_refused(good: Results, folder: Path) -> None:
    forged = good.copy()
    row = forged.instances[GAME]["row"].copy()
    row[:] = 0
    forged.instances[GAME]["row"] = row
    half = np.array([[[0.5, 0.5, 0.0]]])
    forged.strategies |= {f"{GAME}.{player}.policies": half for player in (0, 1)}
    assert claims(folder, forged, GAME) is None


def member(name: str, content: bytes, how: int = zipfile.ZIP_STORED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as archive:
        archive.writestr(name, content)
    return data.getvalue()


def twice(good: Results, folder: Path) -> bytes:
    path = folder / "results" / "strategies.npz"
    good.copy().write(folder)
    content = io.BytesIO()
    np.save(content, good.strategies[TREE])
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{TREE}.npy", content.getvalue())
    return path.read_bytes()


def with_header(header: str) -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64)


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"

OBJECT = "{'descr': '|O', 'fortran_order': False, 'shape': (8,), }"

FILES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "no archive": lambda _: b"nothing of the kind",
    "truncated": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-10],
    "a flipped byte": lambda data: data.replace(b"NUMPY", b"NUMPI", 1),
    "no array": lambda _: member(f"{TREE}.npy", b"text"),
    "not even named so": lambda _: member(f"{TREE}.txt", b"text"),
    "terabytes": lambda _: member(f"{TREE}.npy", with_header(HUGE)),
    "objects": lambda _: member(f"{TREE}.npy", with_header(OBJECT)),
    "no header": lambda _: member(f"{TREE}.npy", with_header("{(")),
    "packed too well": lambda _: member(f"{TREE}.npy", bytes(10**6), zipfile.ZIP_BZIP2),
    "a bomb": lambda _: member(f"{TREE}.npy", bytes(2**28 + 1), zipfile.ZIP_DEFLATED),
}


def output(folder: Path, *only: str) -> tuple[int, str]:
    """Status and text of the checker's command."""
    call = [sys.executable, checker.__file__, str(folder), str(folder / "results"), *only]
    done = subprocess.run(  # noqa: S603 - our own file
        call, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("what", mostly_slow(FILES, *(set(FILES) - {"a bomb"})))
def test_files_that_are_no_archives_are_refused_in_a_line(
    good: Results, folder: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (folder / "results" / "strategies.npz", folder / f"{TREE}.npz"):
        good.copy().write(folder)
        path.write_bytes(FILES[what](path.read_bytes()))
        good.copy().write_known(folder)
        capsys.readouterr()
        assert not accepts(folder, TREE)
        assert capsys.readouterr().out.count("\n") <= 2  # the last one counts


def test_arrays_of_nobody_and_other_packing_are_refused(good: Results, folder: Path) -> None:
    forged = good.copy()
    forged.strategies["nobody"] = np.zeros(1, np.int16)
    forged.write(folder)
    assert not accepts(folder, TREE)
    good.copy().write(folder)
    path = folder / f"{TREE}.npz"
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    for how, is_fine in ((zipfile.ZIP_DEFLATED, True), (zipfile.ZIP_BZIP2, False)):
        with zipfile.ZipFile(path, "w", how) as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        assert accepts(folder, TREE) == is_fine


def test_a_true_array_that_unpacks_to_too_much_is_refused(
    good: Results, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good.copy().write(folder)
    np.savez_compressed(folder / f"{TREE}.npz", **good.instances[TREE])
    assert accepts(folder, TREE)
    most = sum(array.nbytes for array in good.instances[TREE].values())
    monkeypatch.setattr(strict_files, "BYTES", most)  # headers are more
    with pytest.raises(RefusedError, match="arrays: over"):
        strict_files.arrays_of((folder / f"{TREE}.npz").read_bytes())


def test_a_claim_more_is_refused(good: Results, folder: Path) -> None:
    forged = good.copy()
    forged.known["instances"][TREE]["optimal"] = True
    forged.write(folder)
    assert not accepts(folder, TREE)


def test_an_array_twice_in_an_archive_is_refused(good: Results, folder: Path) -> None:
    twice(good, folder)
    good.copy().write_known(folder)
    assert not accepts(folder)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"a": 1' + "0" * 5000, "\xff"])
def test_the_command_says_in_a_line_what_it_cannot_read(
    good: Results, folder: Path, text: str
) -> None:
    good.copy().write(folder)
    (folder / "results" / "known.json").write_text(text, "latin-1")
    status, said = output(folder)
    assert status == 1
    assert said.startswith("refused: ")
    assert said.count("\n") == 1


@pytest.mark.slow
def test_the_command_accepts_what_is_true(good: Results, folder: Path) -> None:
    good.copy().write(folder)
    assert output(folder)[0] == 0
    status, said = output(folder, "nowhere")
    assert (status, said.count("\n")) == (1, 1)


@pytest.mark.parametrize("value", [0.0, -0.5, 511.7, 1023.9, -1e6, 1e6 / 3, 2.0**40 + 0.1, -1e299])
def test_a_claim_is_never_below_what_it_is_rounded_from(value: float) -> None:
    claim = checker.rounded_up(value)
    assert value < claim <= value + 1.1e-10 + 1e-15 * abs(value)
    found = Fraction(claim) - Fraction(value)
    assert found > Fraction(4, 10**14)  # more than underflow
