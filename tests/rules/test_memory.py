"""The hidden memory: its values, and its names for people."""

import pytest

from hogeq.rules import EDITIONS
from hogeq.rules.memory import (
    Memory,
    all_memories,
    axes,
    memory_columns,
    memory_fields,
    memory_line,
    memory_sizes,
    memory_texts,
)


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_memory_is_listed_once(edition: str) -> None:
    rules = EDITIONS[edition]
    turns, extras, records = memory_sizes(rules)
    found = all_memories(rules)
    assert len(found) == len(set(found)) == turns * extras * records**2
    assert found[0] == Memory()
    assert list(found) == sorted(found)


def test_a_memory_in_words() -> None:
    feral, trot = EDITIONS["su20"], EDITIONS["su21"]
    last = Memory(own=13, opponent=2)
    assert memory_fields(feral, last) == {"own_last": 13, "opponent_last": 2}
    assert memory_columns(feral) == ["own last points", "opponent's last points"]
    assert memory_texts(feral, last) == ["13+", "2"]
    assert memory_line(trot, Memory(turn=3, extra=1)) == "turn (mod 8): 3, extra turn: yes"
    assert memory_line(EDITIONS["hw13"], Memory()) == ""


@pytest.mark.parametrize("edition", EDITIONS)
def test_axes_have_a_name_for_every_value(edition: str) -> None:
    rows, columns = axes(EDITIONS[edition])
    turns, extras, records = memory_sizes(EDITIONS[edition])
    sizes = (records, records) if records > 1 else (turns, extras)
    assert (len(rows.ticks), len(columns.ticks)) == sizes


def test_ticks_are_the_values_and_the_last_class_of_points_is_open() -> None:
    for axis in axes(EDITIONS["su20"]):
        assert axis.ticks == (*map(str, range(13)), "13+")
    for axis in axes(EDITIONS["fa19"]):
        assert axis.ticks == tuple(map(str, range(11)))
    turn, extra = axes(EDITIONS["fa18"])
    assert (turn.name, turn.ticks) == ("turn (mod 5)", ("0", "1", "2", "3", "4"))
    assert (extra.name, extra.ticks) == ("extra turn", ("no", "yes"))
