import pytest

from hogeq.support import sandbox
from hogeq.support.messages import HogeqError


def test_where_nothing_isolates_others_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = sandbox.Isolation(None, "bubblewrap is not installed")
    monkeypatch.setattr(sandbox, "isolation", lambda: nothing)
    with pytest.raises(HogeqError) as caught:
        sandbox.require_isolation()
    assert str(caught.value) == (
        "code of others: nothing isolates it here (bubblewrap is not installed); allowed: with "
        "bubblewrap, or with --no-sandbox, by which it runs with all your rights"
    )


@pytest.mark.skipif(
    not sandbox.isolation().bubblewrap, reason="bubblewrap is missing, or not permitted"
)
def test_where_bubblewrap_works_others_code_is_run() -> None:
    sandbox.require_isolation()
