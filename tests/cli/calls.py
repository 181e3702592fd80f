"""The command line, called in this process or in one of its own."""

import json
import re
import subprocess
from collections.abc import Callable
from typing import Any

from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.cli.commands import GROUPS
from hogeq.support.messages import digits
from tests.processes import python

COMMANDS = [command for group in GROUPS.values() for command in group]


def ok(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    assert said(result.stderr) == ""
    return result.stdout


def ask(*arguments: str) -> dict[str, Any]:
    """Answer of a command with --json: one object, and nothing else."""
    found = json.loads(ok(*arguments, "--json"))
    assert isinstance(found, dict)
    return found


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    line = said(result.stderr)
    assert re.fullmatch(r"hogeq: [^\n]+\n", line), line
    return line


def in_full(write: Callable[[float], str], number: float) -> str:
    """Write a number as a command does with --digits 10."""
    before = digits.set(10)
    try:
        return write(number)
    finally:
        digits.reset(before)


def said(stderr: str) -> str:
    """Leave out of standard error the default rules, and what a slow machine adds."""
    default = r"rules fa25, the default[^\n]*"
    steps = r"[a-z ]+ (?:\d+ %|\d+/\d+ \w+), \d+:\d\d[^\n]*"
    return re.sub(rf"hogeq: (?:compiling kernels, once[^\n]*|{default}|{steps})\n", "", stderr)


def hogeq(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return python("-m", "hogeq", *arguments, timeout=120, **more)
