"""Text of others: decoded, and refused by the place and in words of our own."""

import pytest

from hogeq.support.messages import HogeqError
from hogeq.support.text import csv_rows, parse_json, text_of
from hogeq.support.yaml import parse_yaml


def test_text_has_one_kind_of_line_end_and_no_mark() -> None:
    assert text_of(b"\xef\xbb\xbfa\r\nb\rc\n") == "a\nb\nc\n"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"a\xff", "is not UTF-8 text at byte 1; allowed: UTF-8"),
        ("a".encode("utf-16"), "is not UTF-8 text at byte 0, it is UTF-16; allowed: UTF-8"),
        (b"\x1f\x8b\x08", "is compressed by gzip; allowed: its content, unpack it first"),
    ],
)
def test_bytes_that_are_no_text_are_named(data: bytes, says: str) -> None:
    with pytest.raises(HogeqError, match=f"^{says}$"):
        text_of(data)


@pytest.mark.parametrize(
    ("text", "where", "got", "allowed"),
    [
        ('{"a": nope}', "line 1, column 7", "'nope}'", "a value: a number"),
        ('{"a": 1', "line 1, column 8", "the end of the file", "a comma before the next one, or"),
        ('{"a": 1\n\n "b": 2}', "line 3, column 2", "'\"b\": 2}'", "a comma before the next"),
        ("[1,]", "line 1, column 4", "']'", "a value"),
        ("{a: 1}", "line 1, column 2", "'a: 1}'", "a key in double quotes"),
        ('{"a" 1}', "line 1, column 6", "'1}'", "a colon after a key"),
        ("[1] x", "line 1, column 5", "'x'", "one value, and nothing after it"),
        ('"a\tb"', "line 1, column 3", repr('\tb"'), "line breaks and tabs in a text as"),
        ('"abc', "line 1, column 1", "'\"abc'", "a text that ends with a double quote"),
        (r'"\q"', "line 1, column 2", repr(r'\q"'), "after a backslash in a text one of"),
        (r'"\u12"', "line 1, column 3", "'u12\"'", "after a backslash"),
    ],
)
def test_json_is_refused_by_its_place(text: str, where: str, got: str, allowed: str) -> None:
    with pytest.raises(HogeqError) as refused:
        parse_json(text)
    assert refused.value.where == f"{where}: is not JSON"
    assert refused.value.got == got
    assert refused.value.allowed.startswith(allowed)


@pytest.mark.parametrize(
    ("text", "where", "got", "allowed"),
    [
        ("a: [1", "line 1, column 6", "the end of the file", "a comma, or ] at the end of a list"),
        ("a: {b: 1\nc: 2", "line 2, column 2", "': 2'", "a comma, or } at the end of a mapping"),
        ("a: b: c", "line 1, column 5", "': c'", "one `key: value` a line"),
        ("a:\n\t- 1", "line 2, column 1", "'\\t- 1'", "no tab before a value"),
        ("a: 'x", "line 1, column 6", "the end of the file", "a text with a quote at its end"),
        ("- a\nb: 1", "line 2, column 1", "'b: 1'", "the next `- value` of a list"),
        ("a: 1\nb", "line 2, column 2", "the end of the file", "a colon after a key"),
        ("--- a\n--- b", "line 2, column 1", "'--- b'", "one document"),
        ("é: é\nää: \1", "line 2, column 5", repr("\1"), "characters that can be seen"),
        ("day: 2020-01-01", "line 1, column 6", "'2020-01-01'", "texts, numbers, true, false"),
    ],
)
def test_yaml_is_refused_by_its_place(text: str, where: str, got: str, allowed: str) -> None:
    with pytest.raises(HogeqError) as refused:
        parse_yaml(text, "f.yaml")
    assert refused.value.where == f"f.yaml: {where}: not plain YAML"
    assert refused.value.got == got
    assert refused.value.allowed.startswith(allowed)


def test_rows_of_a_csv_have_the_numbers_of_their_lines() -> None:
    assert [*csv_rows('a,b\n"1\n2",3\n\n4\n')] == [
        (1, ["a", "b"]),
        (2, ["1\n2", "3"]),
        (4, []),
        (5, ["4"]),
    ]
    for text, line in (('a\n"b\nc\n', 2), ('a\n"b"c\n', 2), (f"a\n{'x' * 200_000}\n", 2)):
        with pytest.raises(HogeqError, match=rf"^line {line}: got '.{{1,32}}'; allowed: cells"):
            [*csv_rows(text)]
