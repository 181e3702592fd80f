"""The frame of all pages."""

from hogeq.pages import frame
from hogeq.trees.tree import _quoted


def test_what_is_not_seen_in_a_name_is_written_out() -> None:
    """A terminal would obey it, and a browser turn the text around."""
    name = "a\x1b[31m\u202eb\u2028\x00\x85 \u00e9\n"
    page = frame.page(name, f"<p>{name}</p>", styles="", scripts="", data={"name": name})
    assert not set(page) & set("\x1b\u202e\u2028\x00\x85")
    assert page.count("\\x1b[31m\\u202eb\\u2028\\x00\\x85 \u00e9") == 2
    assert _quoted('\x1b\u202e"\\') == r'"\\x1b\\u202e\"\\"'
