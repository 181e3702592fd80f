"""The hidden memory: its values, and its names for people."""

from typing import Any

import pytest

import hogeq
from hogeq.rules import EDITIONS, Rules
from hogeq.rules.memory import (
    Memory,
    all_memories,
    axes,
    count_records,
    memory_columns,
    memory_fields,
    memory_line,
    memory_texts,
    states,
)
from hogeq.rules.turn import play_turn, turn_effects


def test_a_memory_in_words() -> None:
    feral, trot = EDITIONS["su20"], EDITIONS["su21"]
    last = Memory(own=13, opponent=2)
    assert memory_fields(feral, last) == {"own_last": 13, "opponent_last": 2}
    assert memory_columns(feral) == ["own last points", "opponent's last points"]
    assert memory_texts(feral, last) == ["13+", "2"]
    assert memory_line(trot, Memory(turn=3, extra=1)) == "turn (mod 8): 3, extra turn: yes"
    assert memory_line(EDITIONS["hw13"], Memory()) == ""


def test_ticks_are_the_values_and_the_last_class_of_points_is_open() -> None:
    for axis in axes(EDITIONS["su20"]):
        assert axis.ticks == (*map(str, range(13)), "13+")
    for axis in axes(EDITIONS["fa19"]):
        assert axis.ticks == tuple(map(str, range(11)))
    turn, extra = axes(EDITIONS["fa18"])
    assert (turn.name, turn.ticks) == ("turn (mod 5)", ("0", "1", "2", "3", "4"))
    assert (extra.name, extra.ticks) == ("extra turn", ("no", "yes"))


SIZES: list[tuple[dict[str, Any], list[tuple[str, int]]]] = [
    ({}, []),
    ({"feral_hogs": "dice", "max_dice": 1}, [("own_last", 2), ("opponent_last", 2)]),
    ({"feral_hogs": "points", "max_dice": 1}, [("own_last", 5), ("opponent_last", 5)]),
    ({"more_boar": "digit_range", "extra_turn_sides": 8}, [("extra", 2)]),
    ({"more_boar": "digit_range", "extra_turn_sides": 6}, []),
    # An extra turn with the usual number of sides still escapes Hog Wild.
    ({"more_boar": "digit_range", "extra_turn_sides": 6, "hog_wild": True}, [("extra", 2)]),
    ({"time_trot": True, "time_trot_period": 1}, [("extra", 2)]),
    ({"time_trot": True, "time_trot_period": 2}, [("turn", 2), ("extra", 2)]),
    (
        {"time_trot": True, "time_trot_period": 3, "feral_hogs": "dice", "max_dice": 1},
        [("turn", 3), ("extra", 2), ("own_last", 2), ("opponent_last", 2)],
    ),
]


@pytest.mark.parametrize(("switches", "parts"), SIZES)
def test_exactly_what_varies_is_told(
    switches: dict[str, Any], parts: list[tuple[str, int]]
) -> None:
    rules = Rules(**switches)
    memories = all_memories(rules)
    told = [memory_fields(rules, memory) for memory in memories]
    texts = [memory_texts(rules, memory) for memory in memories]
    for place, (name, size) in enumerate(parts):
        assert len({fields[name] for fields in told}) == size
        assert len({text[place] for text in texts}) == size
    assert {tuple(fields) for fields in told} == {tuple(name for name, _ in parts)}
    assert len(set(map(str, told))) == len(set(map(str, texts))) == len(memories)
    assert len(memory_columns(rules)) == len(parts)
    sizes = dict(parts)
    pictured = ("own_last", "opponent_last") if "own_last" in sizes else ("turn", "extra")
    assert [len(axis.ticks) for axis in axes(rules)] == [sizes.get(name, 1) for name in pictured]


class Copycat(hogeq.MemoryPart):
    """2 more points for as many dice as were rolled last; none after one earn an extra turn."""

    start = 0
    text = "dice rolled last"

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del value, points, again
        return dice

    def effect(self, rules: Any, score: int, opponent: int, memory: Any, dice: int) -> Any:
        del rules, score, opponent
        return 2 if dice == memory else 0, memory == 1 and dice == 0


# By the alphabet before "none", and after it.
@pytest.mark.parametrize("name", ["Copycat", "no", "none_other", "zero"])
@pytest.mark.usefixtures("registries")
def test_a_part_of_any_name_is_played_and_told(name: str) -> None:
    hogeq.rule_part("memory")(type(name, (Copycat,), {"__doc__": Copycat.__doc__}))
    rules = Rules(goal=20, max_dice=2, memory=name)
    assert len(all_memories(rules)) == states(rules) == count_records(rules) == 3
    one, two = Memory(state=1), Memory(state=2)
    assert play_turn(rules, 0, 0, Memory(), 2, (2, 3))[:2] == (5, 0)
    assert play_turn(rules, 0, 0, Memory(), 2, (2, 3)).memory == two
    rolled = play_turn(rules, 0, 5, two, 2, (2, 3))
    assert (rolled.points, rolled.bonus, rolled.landing.score) == (5, 2, 7)
    title = {"Copycat": "Copycat", "no": "No", "none_other": "None Other", "zero": "Zero"}[name]
    assert turn_effects(rules, 0, 5, (2, 3), rolled)[1] == f"{title}: 2 points more"
    none = play_turn(rules, 0, 5, one, 0, ())
    assert none.again
    assert turn_effects(rules, 0, 5, (), none)[1] == f"{title}: an extra turn"
    assert memory_fields(rules, two) == {"remembered": "2"}
    assert memory_line(rules, two) == "dice rolled last: 2"

    rows, columns = axes(rules)
    assert rows == ("dice rolled last", ("0", "1", "2"))
    assert columns == ("extra turn", ("no",))
    trot = Rules(goal=20, max_dice=2, memory=name, time_trot=True, time_trot_period=3)
    assert axes(trot) == (rows, ("turn (mod 3)", ("0", "1", "2")))
    on_time = play_turn(trot, 0, 5, Memory(turn=2, state=1), 2, (2, 3))
    assert turn_effects(trot, 0, 5, (2, 3), on_time)[1] == f"Time Trot or {title}: an extra turn"


def test_without_a_part_nothing_else_is_remembered() -> None:
    rules = Rules(goal=20, max_dice=2, memory=str(b"none", "ascii"))  # not the same object
    assert states(rules) == count_records(rules) == 1
    assert memory_fields(rules, Memory()) == {}
    turn = play_turn(rules, 0, 0, Memory(), 0, ())
    assert (turn.bonus, turn.again, turn.memory) == (0, False, Memory())
