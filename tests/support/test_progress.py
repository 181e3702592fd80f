"""Progress bars: on a terminal only, and alike."""

import io

import pytest

from hogeq.support.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_shown_on_a_terminal_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress_bar("matches", 6, "pair", done=2) as bar:
        bar.update()
        assert (bar.n, bar.total) == (3, 6)
    shown = terminal.getvalue()
    assert "matches:" in shown
    assert "2/6" in shown
    assert shown.endswith("\r")


@pytest.mark.parametrize(("stream", "hidden"), [(io.StringIO(), False), (Terminal(), True)])
def test_nothing_is_shown_elsewhere(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, hidden: bool
) -> None:
    monkeypatch.setattr("sys.stderr", stream)
    with progress_bar("passes", hidden=hidden) as bar:
        bar.update()
    assert not stream.getvalue()
