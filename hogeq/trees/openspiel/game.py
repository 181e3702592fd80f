"""The registered game ``python_hog``."""

import warnings
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import pyspiel

from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.memory import all_memories
from hogeq.support.messages import HogeqError
from hogeq.trees.rules import END
from hogeq.trees.tree import START, HogRules, refuse_endless

NAME = "python_hog"  # short name of the game

_DEFAULTS: dict[str, Any] = {
    "edition": "su20",
    "goal": 100,
    "max_dice": 10,
    "sides": 6,
    "parts": "",
    "memory": False,
}

_OWN_PARAMETERS = ("goal", "max_dice", "sides")

_NOT_RECALLED = (
    "python_hog has imperfect recall by these rules: OpenSpiel's best responses, NashConv and "
    "exploitability assume perfect recall, and are too low here; hogeq.Game(...).attack and "
    ".bound are right"
)

_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Hog",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    provides_factored_observation_string=False,
    parameter_specification=_DEFAULTS,
)


def game_of(rules: Rules, *, memory: bool = False) -> Any:
    """Load Hog by these rules as a game of OpenSpiel; `memory` gives players perfect recall."""
    refuse_endless(rules, NAME)
    return pyspiel.load_game(NAME, {**parameters_of(rules), "memory": memory})


def parameters_of(rules: Rules) -> dict[str, Any]:
    """Parameters of ``python_hog`` that stand for these rules, ``memory`` left out.

    They are the edition that differs in the fewest parts, and these parts.
    """
    nearest = min(EDITIONS.values(), key=lambda edition: len(_different_parts(edition, rules)))
    parts = "+".join(
        f"{name}:{_value_text(getattr(rules, name))}" for name in _different_parts(nearest, rules)
    )
    own_parameters = {name: getattr(rules, name) for name in _OWN_PARAMETERS}
    return {"edition": nearest.name, **own_parameters, "parts": parts}


def _different_parts(edition: Rules, rules: Rules) -> list[str]:
    """Name the parts in which rules differ from an edition, without `_OWN_PARAMETERS`."""
    names = [field.name for field in fields(Rules) if field.name not in ("name", *_OWN_PARAMETERS)]
    return [name for name in names if getattr(edition, name) != getattr(rules, name)]


def rules_of(parameters: Mapping[str, Any]) -> Rules:
    """Make the rules of Hog that parameters of ``python_hog`` stand for.

    ``parts`` is a text such as ``swap:double+hog_wild:true``. Raises `HogeqError` for other forms,
    unknown parts and games that may never end.
    """
    completed = {**_DEFAULTS, **parameters}
    spec: dict[str, Any] = {key: completed[key] for key in ("edition", *_OWN_PARAMETERS)}
    for part in filter(None, completed["parts"].split("+")):
        name, colon, text = part.partition(":")
        if not colon:
            raise HogeqError(
                f"{NAME}: parts has {part!r}; allowed: name:value pairs joined by +, as in "
                "swap:double+hog_wild:true"
            )
        spec[name] = _parse_value(name, text)
    rules = rules_from(spec)
    refuse_endless(rules, NAME)
    return rules


def _value_text(value: object) -> str:
    """Write the value of a part: ``true``, ``none``, ``3``."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _parse_value(name: str, text: str) -> object:
    """Read the value of the part `name`, as `_value_text` writes it."""
    if text in {"true", "false"}:
        return text == "true"
    if name == "extra_turn_sides" and text == "none":
        return None
    return int(text) if text.isdecimal() else text


def information_state(player: int, own: int, opponent: int) -> str:
    """Key of an information set of the game without memory."""
    return f"player {player}: {own}-{opponent}"


class HogGame(pyspiel.Game):  # type: ignore[misc]
    """Hog as a game of OpenSpiel; its parameters are those of :mod:`hogeq.trees.openspiel`."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Make the game of parameters, as OpenSpiel calls this; missing ones have defaults."""
        params = dict(params or {})
        self.rules = rules = rules_of(params)
        self.memory = bool({**_DEFAULTS, **params}["memory"])
        self.tree = HogRules(rules, memory=True)  # its positions hold their history, in words
        if len(all_memories(rules)) > 1 and not self.memory:
            warnings.warn(_NOT_RECALLED, stacklevel=1)  # once, by Python's own rule
        most_points, _ = self.tree.turns.most_points_and_gift()
        info = pyspiel.GameInfo(
            num_distinct_actions=rules.num_actions,
            # Outcomes are named by points, or by who begins.
            max_chance_outcomes=1 + max(1, most_points),
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            # Each turn raises the sum of the scores, which starts at 0.
            max_game_length=2 * rules.size - 1,
        )
        super().__init__(_TYPE, info, params)

    def new_initial_state(self) -> "OpenSpielState":
        """State before the coin is tossed."""
        return OpenSpielState(self)

    def make_py_observer(self, *_: Any) -> "HogObserver":
        """Observer of information states, which are text alone."""
        return HogObserver(self.memory)


class OpenSpielState(pyspiel.State):  # type: ignore[misc]
    """State of a game of Hog."""

    def __init__(self, game: HogGame) -> None:
        super().__init__(game)
        self.tree = game.tree
        self.memory = game.memory
        self.position = game.tree.initial()

    def current_player(self) -> int:
        """Return the player to move: 0, 1, chance, or terminal."""
        player = self.tree.to_move(self.position)
        return int(pyspiel.PlayerId.TERMINAL) if player == END else player

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.position.winner is not None

    def returns(self) -> list[float]:
        """1 for the winner and -1 for the loser, 0 while the game goes on."""
        return [*self.tree.payoffs(self.position)] if self.is_terminal() else [0.0, 0.0]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcomes of the coin or of the dice, with probabilities."""
        if self.position.mover == START:
            return [(0, 0.5), (1, 0.5)]
        chances = self.tree.chances(self.position).items()
        return [(points, float(chance)) for points, chance in chances]

    def scores(self, player: int) -> tuple[int, int]:
        """Own score and opponent's score of a player."""
        position = self.position
        if player == position.mover:
            return position.own, position.opponent
        return position.opponent, position.own

    def _legal_actions(self, player: int) -> list[int]:  # noqa: ARG002 - OpenSpiel's signature
        return list(range(self.tree.rules.num_actions))

    def _apply_action(self, action: int) -> None:
        is_roll = self.position.dice is not None  # whose outcomes are named by points
        move = action if is_roll else self.tree.actions(self.position)[action]
        self.position = self.tree.next(self.position, move)

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            return f"roll {self.tree.rules.choices[action]}"
        if self.position.mover == START:
            return f"player {action} begins"
        return f"{action} points"

    def __str__(self) -> str:
        """Write the history, and the scores of players 0 and 1."""
        position = self.position
        if position.mover == START:
            return "before the coin"
        wins = "" if position.winner is None else f", player {position.winner} wins"
        own, opponent = self.scores(0)
        return f"{position.past}{wins} ({own}-{opponent})"


class HogObserver:
    """Information state of a player as text; OpenSpiel's observer protocol."""

    def __init__(self, memory: bool) -> None:
        self.memory = memory
        self.tensor = np.zeros(0, np.float32)
        self.dict: dict[str, Any] = {}

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Leave the tensor empty."""

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """Write the information state of a player."""
        text = information_state(player, *state.scores(player))
        return f"{text}, {state}" if self.memory else text


pyspiel.register_game(_TYPE, HogGame)
