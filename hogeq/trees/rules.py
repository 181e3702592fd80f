"""Games by rules of one's own in Python, and their names."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from numbers import Rational
from typing import Any, Final, TypeVar, dataclass_transform

from hogeq.support.messages import HogeqError, one_line, raised, refusal
from hogeq.support.parameters import ParameterError, parameters, read
from hogeq.support.plugins import entering
from hogeq.support.teams import Teams
from hogeq.trees.building import Node, NodeError, flatten
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, Forget
from hogeq.trees.forgetting import coarser
from hogeq.trees.lasting_names import in_lasting_order, number_of
from hogeq.trees.teams import sides_of

END: Final = TERMINAL
MOST_KEPT: Final = 100_000  # states of which the nodes are kept
EXPONENTS: Final = range(-1000, 301)  # of decimals

Kind = TypeVar("Kind", bound="type[GameRules]")


class GameRules(ABC):
    """Base of the rules of a game in Python: one player, or two sides of a constant sum of payoffs.

    A state is any value, and no method changes one. Histories of one player with equal `knows` are
    one information set. hogeq walks through all histories once; if they are many, or without end,
    through all states, where equal ones are one position.

    Attributes
    ----------
    players : int
        Number of players, 1 or 2; or more, for two teams.
    endless : float, optional
        Payoff to player 0 of a play that never ends, if players can make one.

    Examples
    --------
    >>> import hogeq
    >>> class Nim(hogeq.GameRules):
    ...     "Take one or two of five matches in turn; the player who takes the last one wins."
    ...
    ...     def initial(self):
    ...         return 5, 0  # matches, whose turn
    ...
    ...     def to_move(self, state):
    ...         return state[1] if state[0] else hogeq.END
    ...
    ...     def actions(self, state):
    ...         return [take for take in (1, 2) if take <= state[0]]
    ...
    ...     def next(self, state, action):
    ...         return state[0] - action, 1 - state[1]
    ...
    ...     def payoffs(self, state):
    ...         return (-1, 1) if state[1] == 0 else (1, -1)
    >>> from hogeq.trees.rules import from_rules
    >>> from_rules(Nim())
    FlatTree(Nim: 20 nodes, 8 infosets)
    """

    players: int = 2
    endless: float | None = None

    @abstractmethod
    def initial(self) -> Any:
        """Return the state at the start."""

    @abstractmethod
    def to_move(self, state: Any) -> int:
        """Return the number of the player to move, from 0; `hogeq.CHANCE`, or `hogeq.END`."""

    @abstractmethod
    def actions(self, state: Any) -> Iterable[Hashable]:
        """Return the legal actions, in the same order wherever the player knows the same."""

    def chances(self, state: Any) -> Mapping[Any, Any] | Iterable[tuple[Any, Any]]:
        """Return each action of chance with its probability; by default all are alike."""
        drawn = list(in_lasting_order(self.actions(state)))
        return dict.fromkeys(drawn, Fraction(1, len(drawn) or 1))

    @abstractmethod
    def next(self, state: Any, action: Any) -> Any:
        """Return the state after an action of a player or of chance."""

    def knows(self, state: Any, player: int) -> Hashable:
        """Return all that the player to move knows; by default the state itself."""
        del player
        known: Hashable = state
        return known

    @abstractmethod
    def payoffs(self, state: Any) -> Sequence[float]:
        """Return the payoff to each player at an end."""


def from_rules(
    rules: GameRules,
    *,
    name: str | None = None,
    forget: str | Forget | None = None,
    teams: Teams = None,
    longest: int | None = None,
    once: bool = False,
) -> FlatTree:
    """Build the tree of a game; `ValueError` names the history where its rules break down.

    `longest` is of the moves of players laid out; with `once` equal states are looked at once.
    """
    name = name or name_of(rules)
    try:
        players, root = operator.index(rules.players), rules.initial()
    except Exception as error:
        raise HogeqError(f"{name}: at the start: {raised(error)}") from error
    sides = sides_of(teams, players, name)
    numbers: dict[Hashable, int] = {}
    look: Callable[[Any], Node] = partial(_numbered, rules, numbers)
    look = lru_cache(MOST_KEPT)(look) if once else look
    tree = flatten(name, root, look, partial(_words, numbers), longest, forget=forget, sides=sides)
    return coarser(tree, forget)


def name_of(rules: GameRules) -> str:
    """Name the game by its class and parameters."""
    return str(rules) if is_dataclass(rules) else type(rules).__name__


def node_of(rules: GameRules, state: Any) -> Node:
    """Give the node of a state; its moves have the actions of the rules."""
    mover: Any = rules.to_move(state)
    if not (hasattr(mover, "__index__") and END <= mover < rules.players):
        allowed = f"a player from 0 to {rules.players - 1}, hogeq.CHANCE or hogeq.END"
        raise NodeError(refusal("to_move", mover, allowed))
    player = operator.index(mover)
    if player == END:
        paid = _numbers(rules.payoffs(state), "payoffs")
        if len(paid) != rules.players:
            raise NodeError(f"{len(paid)} payoffs; allowed: {rules.players}, one for each player")
        return Node(END, payoffs=paid)
    known: Hashable = None
    if player == CHANCE:
        drawn: Iterable[tuple[Any, Any]] = _drawn(rules.chances(state))
        if type(rules).chances is not GameRules.chances:  # else they are right
            chances = _numbers([chance for _, chance in drawn], "chances")
            drawn = [*zip([action for action, _ in drawn], chances, strict=True)]
    else:
        known = rules.knows(state, player)
        _require_key("knows", known)
        drawn = [(action, 1.0) for action in in_lasting_order(rules.actions(state))]
    _require_key("actions", tuple(action for action, _ in drawn))
    moves = [(action, chance, rules.next(state, action)) for action, chance in drawn]
    return Node(player, known, moves=moves)


def _require_key(method: str, given: Any) -> None:
    try:
        hash(given)
    except TypeError:
        raise NodeError(refusal(method, given, "what a dictionary takes as keys")) from None


def _drawn(given: Any) -> Iterable[tuple[Any, Any]]:
    """Take actions of chance with their probabilities, each once."""
    allowed = "a dictionary, or pairs of an action, each once, and a number"
    if isinstance(given, Iterable):
        pairs = given.items() if isinstance(given, Mapping) else [*given]
        if all(isinstance(one, Sequence) and len(one) == 2 for one in pairs):
            chances = dict(pairs)
            if len(chances) == len(pairs):
                return chances.items()
    raise NodeError(refusal("chances", given, allowed))


def _numbers(given: Any, method: str) -> tuple[Fraction | float, ...]:
    """Take a list of numbers; texts are none, though Python would make numbers of them."""
    allowed = "a list of numbers, one for each player" if method == "payoffs" else "numbers"
    is_text = isinstance(given, str | bytes | Mapping | AbstractSet)
    if is_text or not isinstance(given, Iterable):
        raise NodeError(refusal(method, given, allowed))
    numbers = list(given)
    for one in numbers:
        if isinstance(one, str | bytes | bytearray) or not hasattr(one, "__float__"):
            raise NodeError(refusal(method, one, allowed))
    return tuple(map(_number, numbers))


def _number(given: Any) -> Fraction | float:
    """Give a whole number, a fraction or a decimal as it is, another one as a double."""
    if isinstance(given, Decimal):
        if not (given.is_finite() and given.adjusted() in EXPONENTS):
            raise NodeError(refusal("number", given, "finite ones, 1e-1000 to 1e300 in size"))
        given = Fraction(given)
    if isinstance(given, float) or not isinstance(given, Rational):
        return float(given)
    whole = int(given.numerator)
    return whole if given.denominator == 1 else Fraction(whole, int(given.denominator))


def _numbered(rules: GameRules, numbers: dict[Hashable, int], state: Any) -> Node:
    node = node_of(rules, state)
    moves = [(number_of(action, numbers), chance, after) for action, chance, after in node.moves]
    return node._replace(moves=moves)


def _words(numbers: dict[Hashable, int], moves: Sequence[int]) -> list[str]:
    actions = list(numbers)
    return [str(actions[move]) for move in moves]


# --- names ----------------------------------------------------------------------------------------

GAMES: Final[dict[str, type[GameRules]]] = {}
"""Games that are known by a name."""


@dataclass_transform(frozen_default=True)
def register_game(name: str) -> Callable[[Kind], Kind]:
    """Class decorator that gives a subclass of `hogeq.GameRules` a name, for commands and configs.

    Annotated fields of the class are parameters: with ``cards: int = 3``, ``poker(cards=4)`` is the
    game with 4.

    Raises
    ------
    ValueError
        When the class is decorated: another game has that name, or the class lacks a method.

    Examples
    --------
    >>> import hogeq
    >>> @hogeq.register_game("guess")
    ... class Guess(hogeq.GameRules):
    ...     "One player guesses a number that chance draws."
    ...
    ...     players = 1
    ...     numbers: int = 10
    ...
    ...     def initial(self):
    ...         return ()
    ...
    ...     def to_move(self, state):
    ...         return (hogeq.CHANCE, 0, hogeq.END)[len(state)]
    ...
    ...     def actions(self, state):
    ...         return range(self.numbers)
    ...
    ...     def next(self, state, action):
    ...         return (*state, action)
    ...
    ...     def knows(self, state, player):
    ...         return "nothing"
    ...
    ...     def payoffs(self, state):
    ...         return [state[0] == state[1]]
    >>> from hogeq.trees.rules import from_rules, named_rules
    >>> from_rules(named_rules("guess(numbers=3)"))
    FlatTree(Guess(numbers=3): 13 nodes, 1 infosets)
    """

    def decorate(kind: Kind) -> Kind:
        if isinstance(kind, type) and "__init__" in vars(kind) and not is_dataclass(kind):
            raise HogeqError(f"game {name}: has a method __init__; allowed: annotated fields")
        if isinstance(kind, type) and not is_dataclass(kind):
            parameters(kind)  # makes the class itself a dataclass
        entering(GAMES, "game", name, GameRules)(kind)
        return kind

    return decorate


def named_rules(text: str) -> GameRules | None:
    """Make the rules of a registered game, ``poker(cards=4)``; None if none has the name."""
    name, bracket, inside = text.partition("(")
    if name not in GAMES:
        return None
    from hogeq.support.yaml import ConfigError, parse_yaml  # here: small commands need no YAML

    try:
        given = parse_yaml("{" + inside.removesuffix(")").replace("=", ": ") + "}", f"game {name}")
        if not bracket or inside.endswith(")"):
            return read(GAMES[name], given)
    except ConfigError as error:
        raise HogeqError(one_line(error)) from error
    except ParameterError as error:
        raise HogeqError(f"game {name}: {one_line(error)}") from error
    raise HogeqError(refusal("game", text, f"{name}(parameter=value,...)"))
