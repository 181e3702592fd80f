"""Commands say beforehand which kernels they need, so that all cores compile them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

WATCHED = """
import json, sys
from hogeq.cli import app
from hogeq.kernels import cache
from hogeq.model import compiling

needed, said = set(), set()
load, expect, read = cache.KernelCache.load_overload, compiling.expect_listed, cache._read

def loading(self, signature, context):
    needed.add(self._file(signature, context.codegen()))
    return load(self, signature, context)

def expecting(listed):
    cache._read = lambda _file: None  # as if nothing were kept
    cache.KernelCache.load_overload = load
    said.update(kernel.file for kernel in listed())
    cache.KernelCache.load_overload = loading
    cache._read = read
    expect(listed)

compiling.expect_listed = expecting
cache.KernelCache.load_overload = loading
app(sys.argv[1:], standalone_mode=False)
print(json.dumps([len(needed), sorted(needed - said)]), file=sys.stderr)
"""
SMALL = "{edition: su20, goal: 12, max_dice: 3}"
CONFIG = f"""
name: small
rules: {SMALL}
solver: {{name: dcfr, iterations: 2}}
measure: {{attack: {{starts: 1, anneal_steps: 2}}}}
"""


def test_run_report_and_check_say_what_they_need(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(SMALL)
    (tmp_path / "run.yaml").write_text(CONFIG)
    (tmp_path / "mine.csv").write_text("\n".join(["3," * 11 + "3"] * 12))
    for command in (
        ["run", "run.yaml"],
        ["report", "results/small"],
        ["check", "mine.csv", "--rules", "rules.yaml"],
    ):
        found = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-c", WATCHED, *command],
            capture_output=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            text=True,
            timeout=300,
        )
        needed, unsaid = json.loads(found.stderr.splitlines()[-1])
        assert (needed > 1, unsaid) == (True, []), command
