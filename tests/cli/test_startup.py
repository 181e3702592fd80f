"""What is done to start fast changes nothing that is computed."""

import subprocess
import sys


def test_numba_is_loaded_without_blas_and_nothing_is_hidden_after() -> None:
    code = (
        "import sys; from hogeq.cli.startup import BLAS, load_numba_without_blas; "
        "load_numba_without_blas(); assert 'numba' in sys.modules; assert BLAS not in sys.modules; "
        "import scipy.linalg.cython_blas; load_numba_without_blas(); assert BLAS in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)  # noqa: S603 - ourselves


def test_the_collector_rests_in_commands() -> None:
    code = (
        "import gc; from hogeq.cli import main; from hogeq.cli.startup import KEPT_OBJECTS; "
        "before = gc.get_threshold()[0]; main(['rules', '--json']); "
        "assert before != KEPT_OBJECTS == gc.get_threshold()[0]"
    )
    subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-c", code], check=True, timeout=120, stdout=subprocess.DEVNULL
    )
