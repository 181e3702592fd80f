"""Random files in Gambit's extensive form, in every style, and their worth by plain sums."""

import random
from dataclasses import dataclass, field
from fractions import Fraction

LABELS = ("a", "b", "a", "", 'say "no"', "back\\slash", "ö \u2190", "x y", "{", "1", "t", "a (1)")
PAYOFFS = (-3, -1, 0, 1, 2, 7)
Strategy = dict[tuple[int, int], list[Fraction]]  # of player and number of an information set


@dataclass
class Place:
    """A node: its player (from 0; -1 is chance, None nobody), its children, and what it pays."""

    player: int | None
    number: int = 0
    labels: tuple[str, ...] = ()
    chances: tuple[Fraction, ...] = ()
    pays: Fraction = Fraction()  # to player 0
    children: list["Place"] = field(default_factory=list)

    def value(self, strategy: Strategy) -> Fraction:
        """Compute the expected payoff to player 0 from here on."""
        chances = self.chances if self.player in (None, -1) else strategy[self.player, self.number]
        pairs = zip(chances, self.children, strict=True)
        return self.pays + sum((p * one.value(strategy) for p, one in pairs), Fraction())

    def all(self) -> list["Place"]:
        """Give every node from here on, as the file lists them."""
        return [self, *(place for child in self.children for place in child.all())]


class Maker:
    """Makes random games, and writes one in a random style."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - not for cryptography
        self.sets: dict[tuple[int, int], tuple[str, ...]] = {}
        self.events: dict[int, tuple[tuple[str, ...], tuple[Fraction, ...]]] = {}

    def game(self, depth: int = 4) -> Place:
        """Make a tree; its information sets join any nodes of a player, at most one on a path."""
        return self._place(depth, frozenset())

    def _place(self, depth: int, met: frozenset[tuple[int, int]]) -> Place:
        draw = self.random
        pays = Fraction(draw.choice(PAYOFFS), draw.choice((1, 1, 2, 3))) * (draw.random() < 0.4)
        kind = draw.random()
        if not depth or kind < 0.15:
            return Place(None, pays=Fraction(draw.choice(PAYOFFS)) + pays)
        if kind < 0.4:
            number = draw.choice((1, 2, 7, 40))
            labels, chances = self.events.setdefault(number, self._event())
            place = Place(-1, number, labels, chances, pays)
        else:
            player = draw.randrange(2)
            free = [one for one in range(1, 30, 3) if (player, one) not in met]
            number = draw.choice(free[:3])
            met |= {(player, number)}
            labels = self.sets.setdefault((player, number), self._labels())
            place = Place(player, number, labels, (), pays)
        place.children = [self._place(depth - 1, met) for _ in labels]
        return place

    def _labels(self) -> tuple[str, ...]:
        return tuple(self.random.choices(LABELS, k=self.random.choice((1, 2, 2, 3))))

    def _event(self) -> tuple[tuple[str, ...], tuple[Fraction, ...]]:
        labels = self._labels()
        weights = [self.random.choice((0, 1, 1, 2, 3)) for _ in labels]
        weights[0] = weights[0] or 1
        total = sum(weights)
        return labels, tuple(Fraction(one, total) for one in weights)

    def strategy(self) -> Strategy:
        """Draw a strategy of both players."""
        drawn = {}
        for key, labels in sorted(self.sets.items()):
            weights = [self.random.randrange(1, 5) for _ in labels]
            drawn[key] = [Fraction(one, sum(weights)) for one in weights]
        return drawn

    # --- text -------------------------------------------------------------------------------------

    def text(self, root: Place) -> str:
        """Write a game: what may be left out is left out at random, and what may vary varies."""
        draw = self.random
        self.known: set[tuple[int, int]] = set()
        self.outcomes: dict[Fraction, list[int]] = {}
        self.named = {key: draw.choice(LABELS) for key in self.sets}
        title = ["EFG", "2", draw.choice("RD"), quoted(draw.choice(LABELS)), "{", '"A"', '"B"', "}"]
        words = [*title, *draw.choice(([], ['""'], ['"a \\"comment\\"\n{"']))]
        for place in root.all():
            words += ["\n", *self._node(place)]
        return "".join(self._apart(words))

    def _apart(self, words: list[str]) -> list[str]:
        draw, spaced = self.random, []
        for word in words:
            loose = word in "{}," and draw.random() < 0.5  # needs no space before or after
            spaced += (
                [word] if loose and word != "," else [draw.choice((" ", " ", "\t", "\n\r ")), word]
            )
            spaced += [" "] * (draw.random() < 0.1)
        return [draw.choice(("", "\ufeff")), *spaced[1:], draw.choice(("", "\n", "\r\n\t "))]

    def _node(self, place: Place) -> list[str]:
        draw = self.random
        name = quoted(draw.choice(LABELS))
        if place.player is None:
            return ["t", name, *self._outcome(place.pays)]
        key = place.player, place.number
        first = key not in self.known
        self.known.add(key)
        called = [quoted(self.named.get(key, ""))] if first or draw.random() < 0.5 else ['""']
        listed = ["{"]
        for at, label in enumerate(place.labels):
            listed.append(quoted(label))
            listed += [str(place.chances[at])] if place.player < 0 else []
        listed.append("}")
        words = ["c"] if place.player < 0 else ["p"]
        words += [name] if place.player < 0 else [name, str(place.player + 1)]
        words.append(str(place.number))
        if first or draw.random() < 0.5:
            words += [*called, *listed]
        return [*words, *self._outcome(place.pays)]

    def _outcome(self, pays: Fraction) -> list[str]:
        draw = self.random
        if not pays and draw.random() < 0.8:
            return ["0"]
        known = self.outcomes.setdefault(pays, [])
        if known and draw.random() < 0.7:
            number = draw.choice(known)
            if draw.random() < 0.5:
                return [str(number), *draw.choice(([], ['"again"']))]
        else:
            number = 1 + 3 * sum(map(len, self.outcomes.values()))
            known.append(number)
        comma = draw.choice(([","], []))
        both = self._number(pays), self._number(-pays)
        return [str(number), quoted(draw.choice(LABELS)), "{", both[0], *comma, both[1], "}"]

    def _number(self, value: Fraction) -> str:
        ways = [f"{value.numerator * 6}/{value.denominator * 6}"]
        if value.denominator == 1:
            ways += [str(value), f"{value}.", f"{value}.00", f"{value}0e-1", f"{value}E+0"]
        if value.denominator == 2:
            ways += [str(float(value)), f"{float(value) * 1000:.1f}e-3"]
        if value > 0:
            ways.append(f"+{ways[-1]}")
        return self.random.choice(ways)


def quoted(text: str) -> str:
    """Write a text in quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
