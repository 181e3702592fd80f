"""The sample strategies that the course's project asks for, by the names of each term.

Every term has two of them. The first rolls no dice where that scores enough points. The second
counts what the term's special rule adds: to the score, or as a turn to be rolled for.

======================  ==============================  ====================================
term                    by points                       by the special rule
======================  ==============================  ====================================
fall 2023 and later     ``boar:11,6``                   ``sus:11,6``, by the rise of the score
summer 2023             ``boar:12,6``                   ``fuzzy:12,6``, by the rise
fall 2022, spring 2023  ``tail:12,6``                   ``square:12,6``, by the rise
summer 2022             ``oink_points:8,6``             ``pigs_on_prime:8,6``, wherever it acts
spring 2022             ``hefty_hogs:8,6``              ``hog_pile:8,6``, wherever it acts
fall 2021               ``picky_piggy:8,6``             ``hog_pile:8,6``, wherever it acts
spring, summer 2021     ``piggypoints:8,6``             ``more_boar:8,6``, wherever it acts
fall 2020               ``bacon:8,6``                   ``extra_turn:8,6``, wherever it acts
======================  ==============================  ====================================

Names, meanings and usual numbers are those of the project's files [6].
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from hogeq.baselines.simple import always_roll, bacon
from hogeq.rules import EDITIONS, Rules
from hogeq.rules.outcomes import TurnTable
from hogeq.rules.parts import MORE_BOAR
from hogeq.support.aliases import Matrix

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

Sample = Callable[["HogEngine", int, int], Matrix]


def rise(game: "HogEngine", threshold: int, dice: int) -> Matrix:
    """Matrix that rolls no dice where that raises the own score by `threshold` or more.

    Points, landings and swaps are counted; Feral Hogs are not, since they depend on what a strategy
    may not see.
    """
    matrix = always_roll(game, dice)
    turns = TurnTable(game.rules)
    for score in range(game.goal):
        for opponent in range(game.goal):
            reached = score + turns.free(score, opponent).points
            if turns.land(reached, opponent).score - score >= threshold:
                matrix[score, opponent] = 0
    return matrix


def special(game: "HogEngine", threshold: int, dice: int) -> Matrix:
    """Matrix that rolls no dice where that makes a special rule act, or scores `threshold` points.

    A rule acts if it changes a score, or earns another turn by where the score lands.
    """
    matrix = bacon(game, threshold, dice)
    turns = TurnTable(game.rules)
    earns = MORE_BOAR[game.rules.more_boar]
    for score in range(game.goal):
        for opponent in range(game.goal):
            reached = score + turns.free(score, opponent).points
            landing = turns.land(reached, opponent)
            changed = (landing.score, landing.opponent) != (reached, opponent)
            if changed or earns(landing.score, landing.opponent):
                matrix[score, opponent] = 0
    return matrix


def _usually(make: Sample, threshold: int, dice: int) -> Callable[..., Matrix]:
    """Give a maker usual numbers."""

    def sample(game: "HogEngine", threshold: int = threshold, dice: int = dice) -> Matrix:
        return make(game, threshold, dice)

    return sample


_POINTS = "roll 0 dice for at least THRESHOLD points, else N"
_RISE = "roll 0 dice if the own score rises by at least THRESHOLD, {} counted, else N"
_ACTS = "roll 0 dice if {}, or for at least THRESHOLD points, else N"

SAMPLES: tuple[tuple[str, str, Callable[..., Matrix]], ...] = (
    ("rise:THRESHOLD,N", _RISE.format("landings and swaps"), rise),
    ("special:THRESHOLD,N", _ACTS.format("a score changes or a turn is earned"), special),
    ("boar:THRESHOLD,N", f"{_POINTS}: Boar Brawl", _usually(bacon, 11, 6)),
    ("sus:THRESHOLD,N", _RISE.format("Sus Fuss"), _usually(rise, 11, 6)),
    ("fuzzy:THRESHOLD,N", _RISE.format("Fuzzy Factors"), _usually(rise, 12, 6)),
    ("tail:THRESHOLD,N", f"{_POINTS}: Pig Tail", _usually(bacon, 12, 6)),
    ("square:THRESHOLD,N", _RISE.format("Square Swine"), _usually(rise, 12, 6)),
    ("oink_points:THRESHOLD,N", f"{_POINTS}: Oink Points", _usually(bacon, 8, 6)),
    ("pigs_on_prime:THRESHOLD,N", _ACTS.format("Pigs on Prime acts"), _usually(special, 8, 6)),
    ("hefty_hogs:THRESHOLD,N", f"{_POINTS}: Hefty Hogs", _usually(bacon, 8, 6)),
    ("picky_piggy:THRESHOLD,N", f"{_POINTS}: Picky Piggy", _usually(bacon, 8, 6)),
    ("hog_pile:THRESHOLD,N", _ACTS.format("Hog Pile acts"), _usually(special, 8, 6)),
    ("piggypoints:THRESHOLD,N", f"{_POINTS}: Piggy Points", _usually(bacon, 8, 6)),
    ("more_boar:THRESHOLD,N", _ACTS.format("More Boar earns a turn"), _usually(special, 8, 6)),
    ("extra_turn:THRESHOLD,N", _ACTS.format("it earns a turn"), _usually(special, 8, 6)),
)
"""How to write each, one line about it, and what makes it."""

BY_EDITION: dict[str, tuple[str, str]] = {
    "fa23": ("boar:11,6", "sus:11,6"),
    "su23": ("boar:12,6", "fuzzy:12,6"),
    "fa22": ("tail:12,6", "square:12,6"),
    "su22": ("oink_points:8,6", "pigs_on_prime:8,6"),
    "sp22": ("hefty_hogs:8,6", "hog_pile:8,6"),
    "fa21": ("picky_piggy:8,6", "hog_pile:8,6"),
    "sp21": ("piggypoints:8,6", "more_boar:8,6"),
    "su21": ("piggypoints:8,6", "more_boar:8,6"),
    "fa20": ("bacon:8,6", "extra_turn:8,6"),
}
"""The two of each edition, with the course's own numbers."""


def samples_of(rules: Rules) -> tuple[str, ...]:
    """List the course's sample strategies for a game, whatever its name, goal and dice."""
    for edition, samples in BY_EDITION.items():
        sized = replace(
            EDITIONS[edition], name=rules.name, goal=rules.goal, max_dice=rules.max_dice
        )
        if sized == rules:
            return samples
    return ()
