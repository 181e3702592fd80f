"""The functions of a student's project, compared with the rules at every pair of scores.

A function is found by the name that it has in the semester's project [6], in the text of a file:
nothing is run to find it. Then a copy of the file, and of the files of its folder that it imports,
runs in the sandbox of strategies (:mod:`hogeq.contest.probe`). It is asked at every pair of scores;
if it takes dice, also for rolls that dice show. What a wrong value costs is the win rate that
final_strategy gains if the same code is given right values.
"""

import contextlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice, product
from pathlib import Path, PurePath
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hogeq.contest import probe
from hogeq.rules import Rules
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, is_prime, square_swine
from hogeq.rules.rules import HOG_WILD_SIDES, Throw, rolled_points, zero_points
from hogeq.rules.settings import base_names
from hogeq.rules.turn import TurnTable
from hogeq.strategies.arrays import StrategyError, check_matrix
from hogeq.strategies.channel import EntryOutput
from hogeq.strategies.files import SUBMISSION
from hogeq.strategies.sandbox import Entry, run_entry
from hogeq.strategies.strategy import Strategy, strategy_of
from hogeq.support.files import read_whole
from hogeq.support.messages import EXACT, Text, loss, printable

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

PROJECT: Final = "hog.py"
"""Name of the file that holds the functions of a project."""

SECONDS: Final = 4.5  # most that one function is given
MOST_SCORES: Final = 100  # scores of a player at which functions are compared

_MOST_FILES: Final = 100  # of a project that are copied
_MOST_NAMES: Final = 1000  # of files that are looked for
_MOST_BYTES: Final = 2**20  # of each
PAST: Final = 20  # scores past these at which functions of one's own score are compared
_BEYOND: Final = 100  # scores past the goal at which right values stand in for wrong ones
_ROLLS: Final = 216  # most rolls of a number of dice that are all tried
_DRAWN: Final = 5  # rolls of more dice that are drawn; and three times as many without a 1

_NO_DICE: Final = {
    "twice_digit_gap_plus_one": "tail_points",
    "twice_tens_minus_ones": "oink_points",
    "seventh_digit": "picky_piggy",
    "digit_gap_plus_four": "piggy_points",
    "min_square_digit_plus_three": "piggy_points",
}
"""Functions of projects by parts of `zero_dice`; of others ``free_bacon``, or the part's name."""

_LANDINGS: Final = {
    "sus_fuss": ("sus_points", 0),
    "fuzzy_factors": ("fuzzy_points", 0),
    "pigs_on_prime": ("pigs_on_prime", 1),
    "hog_pile_digit": ("hog_pile", 1),
    "hog_pile_double": ("hog_pile", 1),
}
"""Functions by parts of `landing`; with 1 if they give the points that are added."""

_UPDATES: Final = ("sus_update", "fuzzy_update", "square_update")

_DEFINED: Final = re.compile(r"^def[ \t]+(\w+)[ \t]*\(([^()]*)\)", re.MULTILINE)
_IMPORTED: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+(.*))", re.MULTILINE
)

DICE, OWN, OTHER, FACES = range(4)
"""Parts of a `Call`."""


class Call(NamedTuple):
    """What a function may be given."""

    dice: int
    own: int
    other: int
    faces: Sequence[int] = ()  # that the dice will show


class Asked(NamedTuple):
    """A function of the project, as the rules have it."""

    value: Callable[[Call], int]
    single: int = OWN  # the score that a function of one score takes
    least: int = 0  # lowest score that it is asked for
    has_dice: bool = False


class Found(NamedTuple):
    """A function that a file defines."""

    name: str
    file: PurePath
    takes: tuple[int, ...]  # parts of a `Call`


class Compared(NamedTuple):
    """A function, compared with the rules."""

    function: str
    file: str
    calls: int
    differ: int  # calls that give another value, or none
    kind: str  # of calls: pairs of scores, scores, or calls with dice
    first: str  # the first that differs, in words; empty if none does
    cost: float | None  # win rate that it costs final_strategy, if that is known

    @property
    def told(self) -> str:
        """How it differs, and at what price; never how it should be written."""
        cost = self.cost or 0.0
        price = f", at a cost of {loss(cost)}" if cost > 0 else f", a gain of {loss(-cost)}"
        if abs(cost) <= EXACT:
            price = "" if self.cost is None else ", at no cost"
        many = f"{self.differ:,} of {self.calls:,} {self.kind} differ"
        return f"your {self.first}; {many}{price}" if self.differ else ""


# --- what the rules say ---------------------------------------------------------------------------


def functions_of(rules: Rules) -> dict[str, Asked]:
    """Give the functions of a semester's project by name, each after those that it may call."""
    land = LANDINGS[rules.landing]

    def points(at: Call) -> int:
        return rolled_points(rules, at.faces) if at.dice else zero_points(rules, at.own, at.other)

    def update(at: Call) -> int:
        score = at.own + points(at)
        return land(square_swine(score) if rules.square_swine else score, at.other)

    found = {
        "num_factors": Asked(
            lambda at: sum(at.own % one == 0 for one in range(1, at.own + 1)), least=1
        ),
        "is_prime": Asked(lambda at: is_prime(at.own), least=2),
    }
    for part in base_names(rules.zero_dice):
        for name in ("free_bacon", _NO_DICE.get(part, part)):
            found[name] = Asked(lambda at: zero_points(rules, at.own, at.other), OTHER)
    for part in base_names(rules.landing):
        name, added = _LANDINGS.get(part, ("", 0))
        found[name] = Asked(partial(_landed, land, added))
    for parts, part, names in (
        (SWAPS, rules.swap, ("is_swap",)),
        (MORE_BOAR, rules.more_boar, ("more_boar", "extra_turn")),
    ):
        if part != "none":
            found |= dict.fromkeys(names, Asked(partial(_landed, parts[part], 0)))
    return found | {
        "roll_dice": Asked(points, has_dice=True),
        "take_turn": Asked(points, OTHER, has_dice=True),
        "simple_update": Asked(lambda at: at.own + points(at), has_dice=True),
        **dict.fromkeys(_UPDATES, Asked(update, has_dice=True)),
    }


def _landed(part: Callable[[int, int], int], added: int, at: Call) -> int:
    """Give what a part makes of two scores, or the points that it adds."""
    return part(at.own, at.other) - added * at.own


def _calls(asked: Asked, takes: Sequence[int], rules: Rules) -> Iterator[Call]:
    """List what a function is asked: no dice at all scores that it takes, then rolls."""
    most = min(MOST_SCORES, *rules.goals)
    scores = range(asked.least, most if OTHER in takes else most + PAST)  # where a turn may lead
    owns, others = (scores if part in takes else [0] for part in (OWN, OTHER))
    if len(owns) + len(others) > 2:
        yield from (Call(0, own, other) for own, other in product(owns, others))
    for dice in range(1, rules.max_dice + 1) if asked.has_dice else ():
        rolls: Any = product(range(1, rules.sides + 1), repeat=dice)
        if rules.sides**dice > _ROLLS:
            draw = Random(dice)  # noqa: S311 - any rolls will do, and the same each time
            least = [1, 2, 2, 2] * _DRAWN  # most rolls of many dice would have a 1
            rolls = ([draw.randint(one, rules.sides) for _ in range(dice)] for one in least)
        yield from (Call(dice, owns[0], others[0], [*faces]) for faces in rolls)


def _values(asked: Asked, takes: Sequence[int], rules: Rules) -> Any:
    """Give the values of a function as lists in lists, one for each score that it takes."""
    sizes = (1, rules.goals[0] + _BEYOND, rules.goals[1] + _BEYOND)

    def values(left: Sequence[int], at: list[int]) -> Any:
        if not left:
            return int(asked.value(Call(at[DICE], at[OWN], at[OTHER])))
        each = range(sizes[left[0]])
        return [values(left[1:], [*at[: left[0]], n, *at[left[0] + 1 :]]) for n in each]

    return values([part for part in takes if part != FACES], [0, 0, 0])


# --- the project's files --------------------------------------------------------------------------


class Project:
    """The files that the main file of a project needs, read through no link; their functions."""

    def __init__(self, game: "HogEngine", main: Path, more: Sequence[str] = ()) -> None:
        self.game, self.known = game, functions_of(game.rules)
        folder, self.main = main.parent.resolve(), PurePath(main.name)
        self.texts: dict[PurePath, str] = {}
        names = dict.fromkeys([self.main, *map(PurePath, more)])
        for path in (waiting := [*names]):
            with contextlib.suppress(OSError, ValueError):  # not of the project, or no text
                text = read_whole(path, _MOST_BYTES, within=folder).decode()
                self.texts[path] = text
                new = [one for one in islice(_imported(text), _MOST_NAMES) if one not in names]
                waiting += new[: _MOST_NAMES - len(names)]
                names |= dict.fromkeys(new)
            if len(self.texts) == _MOST_FILES:
                break

    @cached_property
    def functions(self) -> list[Found]:
        """The functions that are known by name, each once."""
        found: dict[str, Found] = {}
        for path in sorted(self.texts, key=lambda path: (path != self.main, path.name != PROJECT)):
            for name, parameters in _DEFINED.findall(self.texts[path]):
                takes = _takes(parameters, self.known[name]) if name in self.known else ()
                if takes:
                    found.setdefault(name, Found(name, path, takes))
        return [found[name] for name in self.known if name in found]

    def ask(self, function: str, file: PurePath, cells: Sequence[Any], **more: Any) -> EntryOutput:
        """Run a copy of the project in the sandbox, and ask a function of a file."""
        module = ".".join(file.with_suffix("").parts)
        asked = {"module": module, "file": str(file), "function": function}
        with tempfile.TemporaryDirectory(prefix="hogeq-project-") as temporary:
            place = Path(temporary).resolve()
            for path, text in self.texts.items():
                (place / path).parent.mkdir(parents=True, exist_ok=True)
                (place / path).write_text(text, newline="")
            asks = place / "hogeq_probe.py"
            asks.write_text(Path(probe.__file__).read_text())
            (place / "probe.json").write_text(json.dumps(asked | more))
            return run_entry(Entry(asks, False, SECONDS), cells)


def _imported(text: str) -> Iterator[PurePath]:
    """List the files that a file may import from its folder."""
    for source, several in _IMPORTED.findall(text):
        for name in [source] if source else re.findall(r"[\w.]+", several):
            parts = [part for part in name.split(".") if part]
            for count in range(1, len(parts) + 1):
                yield PurePath(*parts[:count], "__init__.py")
                yield PurePath(*parts[: count - 1], f"{parts[count - 1]}.py")


def _takes(parameters: str, asked: Asked) -> tuple[int, ...]:
    """Say what a function takes, by the names of its parameters; nothing if that is not known."""
    takes: list[int] = []
    for one in parameters.split(","):
        name, _, default = (part.strip() for part in one.partition("="))
        if "dice" in name:
            takes.append(FACES)
        elif name and not default:
            takes.append(DICE if asked.has_dice and not takes else OTHER if OWN in takes else OWN)
    if takes.count(OTHER) > 1 or asked.has_dice != (FACES in takes):
        return ()
    return tuple(takes if OTHER in takes else [asked.single if n == OWN else n for n in takes])


def main_file(folder: Path) -> Path | None:
    """Name the file of a project's folder that is judged, if there is one."""
    files = [folder / name for name in (SUBMISSION, PROJECT)]
    return next((file for file in files if file.is_file()), None)


# --- the comparison -------------------------------------------------------------------------------


class Comparison(NamedTuple):
    """The functions of a project, compared."""

    functions: list[Compared]
    failed: list[str]  # why files could not be asked, a line each
    exact: Strategy | None  # table of a final_strategy that samples, by exact means

    def text(self) -> Text:
        """Say which functions differ, and how."""
        right = ", ".join(one.function for one in self.functions if not one.differ)
        lines = [one.told for one in self.functions if one.differ]
        return ["", *lines, *[f"as in the game: {right}"] * bool(right), *self.failed]


def compare_functions(
    project: Project, table: Strategy | None, against: Strategy, *, samples: bool
) -> Comparison:
    """Compare the functions of a project, and measure what those that differ cost `table`.

    A function that calls a wrong one is given its right values, so as to be judged by itself. If
    final_strategy `samples`, its table is the one that exact means give, if they give one.
    """
    game, compared, values = project.game, list[Compared](), dict[str, Any]()
    failed, rolls_right = dict[str, None](), True
    for found in project.functions:
        asked, scores = project.known[found.name], {OWN, OTHER} & {*found.takes}
        calls = [
            one for one in _calls(asked, found.takes, game.rules) if rolls_right or not one.dice
        ]
        given = [[call[part] for part in found.takes] for call in calls]
        cells = [(number, 0) for number in range(len(calls))]
        heard = project.ask(found.name, found.file, cells, calls=given, values=values)
        end = (heard.fault or ("", ""))[1]
        if heard.load_failure or not heard.is_loaded:
            failed[f"{printable(found.file)}: not compared: {heard.load_failure or end}"] = None
            continue
        right = [asked.value(call) for call in calls]
        told = [*heard.answers, *[None] * (len(calls) - len(heard.answers))]
        wrong = [number for number, answer in enumerate(told) if answer != right[number]]
        first = ""
        if wrong:
            at, word = wrong[0], _word(told[wrong[0]], type(right[wrong[0]]))
            first = f"{_written(found, calls[at])} {word or end}, the game's is {right[at]}"
            values |= {found.name: _values(asked, found.takes, game.rules)} if scores else {}
            rolls_right = rolls_right and found.name != "roll_dice"
        kind = "calls" if asked.has_dice else "pairs" if len(scores) > 1 else "scores"
        numbers = len(calls), len(wrong)
        compared.append(Compared(found.name, str(found.file), *numbers, kind, first, None))
    means = _means(game.rules) if samples else {}
    if samples:
        sampled = any(one.function == "roll_dice" and not one.differ for one in compared)
        table = _table(project, {}, means) if sampled else None
    rate = None if table is None else _rate(game, table, against)
    for place, one in enumerate(compared):
        if rate is not None and one.function in values:
            better = _table(project, {one.function: values[one.function]}, means)
            cost = None if better is None else _rate(game, better, against) - rate
            compared[place] = one._replace(cost=cost)
    return Comparison(compared, [*failed], table if samples else None)


def _rate(game: "HogEngine", table: Strategy, against: Strategy) -> float:
    from hogeq.evaluation.values import win_rate  # brings compiled code with it

    return win_rate(game, table, against, endless_is_draw=True).win_rate


def _word(answer: int | str | None, kind: type) -> str:
    """Say what a function did, whose answers are truth or numbers; nothing if it was stopped."""
    if isinstance(answer, str):
        rolled = answer.removeprefix("!RolledError: ")
        if rolled != answer:
            return rolled.partition(" (in ")[0]
        return f"raised {answer[1:]}" if answer[0] == "!" else f"is {answer[1:]}"
    return "" if answer is None else f"is {kind(answer) if answer in {0, 1} else answer}"


def _written(found: Found, call: Call) -> str:
    """Write a call, with its dice."""
    given = ", ".join(str(call[part]) for part in found.takes if part != FACES)
    dice = f" with dice {', '.join(map(str, call.faces))}" if call.faces else ""
    return f"{found.name}({given}){dice}"


def _means(rules: Rules) -> dict[str, list[float]]:
    """Give the mean points of all numbers of dice, by the names of the course's dice."""
    turns, kinds = TurnTable(rules), {"six_sided": rules.sides, "four_sided": HOG_WILD_SIDES}
    return {
        name: [0.0, *(turns.mean(dice, Throw(sides)) for dice in range(1, rules.max_dice + 1))]
        for name, sides in kinds.items()
    }


def _table(project: Project, values: Any, means: Any) -> Strategy | None:
    """Ask final_strategy for its table, with right values and means; None if it has none."""
    game, rules = project.game, project.game.rules
    cells = [*product(range(game.goal), repeat=2)]
    heard = project.ask("final_strategy", project.main, cells, values=values, means=means)
    if heard.is_stopped:
        return None
    rows = [heard.answers[first : first + game.goal] for first in range(0, len(cells), game.goal)]
    try:
        least, most = rules.least_answer, rules.most_answer
        return strategy_of(game, check_matrix(rows, game.goal, rules.max_dice, "", least, most))
    except StrategyError:
        return None
