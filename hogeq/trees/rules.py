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
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, Forget, NumberedNames
from hogeq.trees.forgetting import forget_by_name
from hogeq.trees.lasting_names import in_lasting_order, number_of
from hogeq.trees.teams import sides_of

END: Final = TERMINAL
NODES_CACHED: Final = 100_000  # nodes of states that a cache holds
DECIMAL_EXPONENTS: Final = range(-1000, 301)  # powers of 10 that a Decimal may have

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

    `longest` is the number of moves of players after which the tree is cut; with `once` the node of
    a state is computed once, for all histories that lead to it.
    """
    name = name or name_of(rules)
    try:
        players = operator.index(rules.players)
        root = rules.initial()
    except Exception as error:
        raise HogeqError(f"{name}: at the start: {raised(error)}") from error
    sides = sides_of(teams, players, name)
    numbers: dict[Hashable, int] = {}  # of actions, in the order in which they first occur
    node_of_state: Callable[[Any], Node] = partial(_node_with_numbers, rules, numbers)
    if once:
        node_of_state = lru_cache(NODES_CACHED)(node_of_state)
    words = NumberedNames(numbers)
    tree = flatten(name, root, node_of_state, words, longest, forget=forget, sides=sides)
    return forget_by_name(tree, forget)


def name_of(rules: GameRules) -> str:
    """Name the game by its class and parameters."""
    return str(rules) if is_dataclass(rules) else type(rules).__name__


def node_of(rules: GameRules, state: Any) -> Node:
    """Ask the rules for the node of a state: player, information set, moves or payoffs.

    Raises `NodeError` if an answer is not of the kind that `GameRules` asks for.
    """
    mover: Any = rules.to_move(state)
    if not (hasattr(mover, "__index__") and END <= mover < rules.players):
        allowed = f"a player from 0 to {rules.players - 1}, hogeq.CHANCE or hogeq.END"
        raise NodeError(refusal("to_move", mover, allowed))
    player = operator.index(mover)
    if player == END:
        payoffs = _check_numbers(rules.payoffs(state), "payoffs")
        if len(payoffs) != rules.players:
            allowed = f"{rules.players}, one for each player"
            raise NodeError(f"{len(payoffs)} payoffs; allowed: {allowed}")
        return Node(END, payoffs=payoffs)
    infoset: Hashable = None
    if player == CHANCE:
        choices: Iterable[tuple[Any, Any]] = _check_chances(rules.chances(state))
        if type(rules).chances is not GameRules.chances:  # the inherited method needs no check
            chances = _check_numbers([chance for _, chance in choices], "chances")
            choices = [*zip([action for action, _ in choices], chances, strict=True)]
    else:
        infoset = rules.knows(state, player)
        _require_key("knows", infoset)
        # Moves of players have chance 1.
        choices = [(action, 1.0) for action in in_lasting_order(rules.actions(state))]
    _require_key("actions", tuple(action for action, _ in choices))
    moves = [(action, chance, rules.next(state, action)) for action, chance in choices]
    return Node(player, infoset, moves=moves)


def _require_key(method: str, value: Any) -> None:
    """Raise `NodeError` if what a method of the rules returned cannot be hashed."""
    try:
        hash(value)
    except TypeError:
        raise NodeError(refusal(method, value, "what a dictionary takes as keys")) from None


def _check_chances(chances: Any) -> Iterable[tuple[Any, Any]]:
    """Check the form of what `GameRules.chances` returned; return (action, probability) pairs."""
    allowed = "a dictionary, or pairs of an action, each once, and a number"
    if isinstance(chances, Iterable):
        pairs = chances.items() if isinstance(chances, Mapping) else [*chances]
        if all(isinstance(pair, Sequence) and len(pair) == 2 for pair in pairs):
            by_action = dict(pairs)
            if len(by_action) == len(pairs):
                return by_action.items()
    raise NodeError(refusal("chances", chances, allowed))


def _check_numbers(values: Any, method: str) -> tuple[Fraction | float, ...]:
    """Check that a method of the rules returned a list of numbers; return them.

    A text is refused, though Python would turn it into a number, and so are a mapping and a set.
    """
    allowed = "a list of numbers, one for each player" if method == "payoffs" else "numbers"
    if type(values) in {tuple, list} and all(type(number) in {int, float} for number in values):
        return tuple(values)  # as most games have it
    is_no_list = isinstance(values, str | bytes | Mapping | AbstractSet)
    if is_no_list or not isinstance(values, Iterable):
        raise NodeError(refusal(method, values, allowed))
    numbers = list(values)
    for number in numbers:
        if isinstance(number, str | bytes | bytearray) or not hasattr(number, "__float__"):
            raise NodeError(refusal(method, number, allowed))
    return tuple(map(_convert_number, numbers))


def _convert_number(value: Any) -> Fraction | float:
    """Convert a number to int or Fraction if it is rational (a Decimal is), else to float."""
    if isinstance(value, Decimal):
        if not (value.is_finite() and value.adjusted() in DECIMAL_EXPONENTS):
            raise NodeError(refusal("number", value, "finite ones, 1e-1000 to 1e300 in size"))
        value = Fraction(value)
    if isinstance(value, float) or not isinstance(value, Rational):
        return float(value)
    numerator = int(value.numerator)
    return numerator if value.denominator == 1 else Fraction(numerator, int(value.denominator))


def _node_with_numbers(rules: GameRules, numbers: dict[Hashable, int], state: Any) -> Node:
    """Ask the rules for the node of a state; replace actions by numbers, adding new ones."""
    node = node_of(rules, state)
    moves = [(number_of(action, numbers), chance, after) for action, chance, after in node.moves]
    return node._replace(moves=moves)


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
        """Register a class of rules under `name`, after making it a dataclass."""
        if isinstance(kind, type) and "__init__" in vars(kind) and not is_dataclass(kind):
            raise HogeqError(f"game {name}: has a method __init__; allowed: annotated fields")
        if isinstance(kind, type) and not is_dataclass(kind):
            parameters(kind)  # makes the class itself a dataclass
        entering(GAMES, "game", name, GameRules)(kind)
        return kind

    return decorate


def named_rules(text: str) -> GameRules | None:
    """Make the rules of a registered game, ``poker(cards=4)``; None if no game has the name.

    Raises `HogeqError` if the parameters in brackets are not those of the game.
    """
    name, bracket, inside = text.partition("(")
    if name not in GAMES:
        return None
    from hogeq.support.yaml import ConfigError, parse_yaml  # here: small commands need no YAML

    try:
        # "cards=4, suits=2" is read as the YAML mapping {cards: 4, suits: 2}.
        mapping = "{" + inside.removesuffix(")").replace("=", ": ") + "}"
        values = parse_yaml(mapping, f"game {name}")
        if not bracket or inside.endswith(")"):
            return read(GAMES[name], values)
    except ConfigError as error:
        raise HogeqError(one_line(error)) from error
    except ParameterError as error:
        raise HogeqError(f"game {name}: {one_line(error)}") from error
    raise HogeqError(refusal("game", text, f"{name}(parameter=value,...)"))
