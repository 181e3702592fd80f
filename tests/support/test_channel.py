import random
from collections.abc import Sequence

from hogeq.support.channel import EntryOutput


def mutated(random: random.Random, lines: Sequence[bytes]) -> bytes:
    """Change a few lines, or bytes, of what a process says."""
    changed = list(lines)
    words = [*lines, b"", b"-0", b"1" * 30, b"?", b"!", b"\xff", b"f", b't"', b"1\n1", b'"', b"[]"]
    for _ in range(random.randrange(1, 4)):
        place = random.randrange(len(changed))
        match random.randrange(4):
            case 0:
                changed[place] = random.choice(words)
            case 1:
                del changed[place]
            case 2:
                changed.insert(place, random.choice(words))
            case _:
                line = bytearray(changed[place] or b"x")
                line[random.randrange(len(line))] = random.randrange(256)
                changed[place] = bytes(line)
        if not changed:
            break
    return b"\n".join(changed) + b"\n"


def test_thousands_of_forged_transcripts_are_answers_or_faults() -> None:
    draw = random.Random(56)  # noqa: S311 - any will do
    cells = [(own, other) for own in range(3) for other in range(3)]
    honest = [
        b"ready", b'"Ann"', b"1", b"0", b"-1", b"?6.0 (float)", b"!ValueError: no", b"10", b"3",
        b"4", b"5", b'f"a.txt"', b't"open /x"', b"s1 23 4", b"p", b".",
    ]  # fmt: skip
    outcomes = {"heard": 0, "code": 0, "crash": 0}
    for _ in range(5000):
        heard = EntryOutput(mutated(draw, honest), len(cells))
        if heard.fault:
            outcomes[heard.fault[0]] += 1
            continue
        outcomes["heard"] += 1
        assert heard.load_failure or len(heard.answers) == len(cells)
        for one in heard.answers:
            assert isinstance(one, int) or one[:1] in {"?", "!"}
            assert isinstance(one, int) or (one.isprintable() and one.isascii())
        assert heard.name is None or isinstance(heard.name, str)
        assert heard.load_failure.isprintable()
        assert all(one.isprintable() and len(one) <= 200 for one in heard.attempts)
    assert min(outcomes.values()) > 100
