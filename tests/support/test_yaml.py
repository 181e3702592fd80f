"""YAML that would take long, or is no plain YAML: refused at once."""

import os
import socket
import time
from pathlib import Path

import pytest

from hogeq.rules import rules_from
from hogeq.rules.reading import read_rules as load_rules
from hogeq.runs.config import load_config
from hogeq.runs.sweep import load_sweep
from hogeq.support.yaml import ConfigError, parse_yaml

CONFIG = {"name": "a", "solver": {"name": "cfr_plus", "iterations": 1}}
BOMB = "".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]\n"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)]
)
HUGE_YAML = {
    "bomb": (BOMB, "more than 50000 values, counting what aliases repeat"),
    "merged bomb": (BOMB.replace("[", "{<<: [").replace("]", "]}"), "more than 50000 values"),
    "wide": ("[" + "1," * 2**18, "more than 50000 values"),
    "deep": ("[" * 2**19, "nested too deeply; allowed: 50 levels"),
    "deep block": ("- " * 2**19, "nested too deeply"),
    "long number": ("9" * 5000, "a value of 5000 characters; allowed: 1000"),
    "long text": ("a" * 2**19, "a value of 524288 characters"),
    "tags": ("".join(f"%TAG !a{n}! b\n" for n in range(50000)) + "--- a", "%TAG is not allowed"),
    "base 60": ("1:" * 300 + "1.0", "a value is none of those allowed"),
}


@pytest.mark.parametrize("kind", HUGE_YAML)
def test_a_document_that_would_take_long_is_refused_at_once(kind: str) -> None:
    text, says = HUGE_YAML[kind]
    start = time.perf_counter()
    with pytest.raises(ConfigError, match=says):
        parse_yaml(text, "here")
    assert time.perf_counter() - start < 1


def test_a_file_of_rules_holds_parts_or_the_name_of_an_edition(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("{edition: su20, goal: 20}")
    assert load_rules(path) == rules_from({"edition": "su20", "goal": 20})
    path.write_text("fa22\n")
    assert load_rules(path) == rules_from("fa22")
    path.write_text("[su20]")
    with pytest.raises(ConfigError, match=r"got \['su20'\]; allowed: a mapping of rule parts or"):
        load_rules(path)


def test_floats_as_people_write_them() -> None:
    assert parse_yaml("[1e-3, 1.0e-3, 0.001, +1E-3]", "here") == [0.001] * 4


def test_aliases_of_little_are_read() -> None:
    assert parse_yaml("a: &a {b: 1}\nc: {<<: *a, d: *a}", "here") == {
        "a": {"b": 1},
        "c": {"b": 1, "d": {"b": 1}},
    }


@pytest.mark.parametrize(
    "text",
    [
        *("!!bool foo", "!!int ''", "!!float ''", "!!float x", "!!timestamp x", "2020-01-01"),
        *("!!binary aGk=", "!!set {a}", "!!omap [a: 1]", "!!pairs [a: 1]", "=", "<<: 1", "a: <<"),
        *("? {a: 1}\n: 2", "a\0b", "\ud800", '"\\ud800"', "\ufffe", "!!seq {}", "!!int 1e5"),
    ],
)
def test_what_is_no_plain_value(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^here: .*not plain YAML: ") as caught:
        parse_yaml(text, "here")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "folder"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "rules.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    for read in (load_rules, load_config, load_sweep):
        with pytest.raises(ConfigError, match=r"cannot be read: (is not a f|No such d|Is a d)"):
            read(path)
