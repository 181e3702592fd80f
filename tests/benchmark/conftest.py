"""Results of which all is true, and a folder for forged ones."""

from pathlib import Path

import pytest

from tests.benchmark.forgeries import Results, accepts


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Results of three small instances, of which all is true."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "results").mkdir()
    results = Results()
    results.known["instances"] = {}
    results.claim_what_is_computed(folder)
    assert accepts(folder)
    return results


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    return tmp_path
