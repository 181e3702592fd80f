"""Files of rule parts: what is accepted, what is refused, and in which words."""

from pathlib import Path

import pytest

from hogeq.rules import EDITIONS, rules_from
from hogeq.rules.reading import read_rules as load_rules
from hogeq.support.yaml import ConfigError


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_rule_parts(tmp_path: Path) -> None:
    path = written(tmp_path / "rules.yaml", "{edition: su20, goal: 20}")
    assert load_rules(path) == rules_from({"edition": "su20", "goal": 20})
    assert load_rules(written(tmp_path / "rules.yaml", "fa22\n")) == EDITIONS["fa22"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "got None; allowed: a mapping of rule parts or an edition's name"),
        ("[su20]", "got \\['su20'\\]; allowed: a mapping"),
        ("{edition: su20, gaol: 20}", "rules.gaol: unknown key, given 20;.*nearest: goal"),
        ("{goal: 0}", "rules.goal: got 0"),
        ("{goal: 20", "line 1, column"),
    ],
)
def test_what_are_no_rules(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        load_rules(written(tmp_path / "rules.yaml", text))
    assert str(caught.value).isprintable()
