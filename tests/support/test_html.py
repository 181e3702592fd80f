"""Tables as HTML: what is escaped, and the two forms of a table."""

from hogeq.support.html import Html, table


def test_cells_are_escaped_unless_they_are_html() -> None:
    rows = [("<b>", Html("<b>1</b>")), (2, None)]
    assert table(rows, ("a&b", "c"), "d<e") == (
        "<table><caption>d&lt;e</caption><tr><th>a&amp;b</th><th>c</th></tr>"
        "<tr><td>&lt;b&gt;</td><td><b>1</b></td></tr><tr><td>2</td><td>None</td></tr></table>"
    )


def test_without_a_caption_a_table_has_a_head_and_a_body_and_columns_their_classes() -> None:
    assert table([(1, 2)], ("a", "b"), kinds=("", "text")) == (
        '<table><thead><tr><th>a</th><th class="text">b</th></tr></thead>'
        '<tbody><tr><td>1</td><td class="text">2</td></tr></tbody></table>'
    )
