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
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice, product
from pathlib import Path, PurePath
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hogeq import Rules, Strategy
from hogeq.contest import probe
from hogeq.support.channel import Cell, EntryOutput
from hogeq.support.child import ERROR
from hogeq.support.files import read_whole
from hogeq.support.kinds import SUBMISSION
from hogeq.support.messages import EXACT, Text, loss, printable
from hogeq.support.sandbox import Entry, run_entry

if TYPE_CHECKING:
    from hogeq import Hog

PROJECT: Final = "hog.py"  # the file that holds the functions of a project
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


class Call(NamedTuple):
    """What a function may be given."""

    dice: int  # number of dice
    own: int  # score
    other: int  # score of the opponent
    faces: Sequence[int] = ()  # that the dice will show


DICE, OWN, OTHER, FACES = Call._fields
"""What a parameter of a function takes: a field of a `Call`."""


class RuleFunction(NamedTuple):
    """A function of the project, as the rules have it."""

    value: Callable[[Call], int]
    single: str = OWN  # the score that a function of one score takes
    least: int = 0  # lowest score that it is asked for
    has_dice: bool = False


class ProjectFunction(NamedTuple):
    """A function that a file defines."""

    name: str
    file: PurePath
    parameters: tuple[str, ...]  # fields of a `Call`


class ComparedFunction(NamedTuple):
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
        if not self.differ:
            return ""
        line = f"your {self.first}; {self.differ:,} of {self.calls:,} {self.kind} differ"
        if self.cost is None:
            return line
        if abs(self.cost) <= EXACT:
            return f"{line}, at no cost"
        gain = f", a gain of {loss(-self.cost)}"
        return line + (f", at a cost of {loss(self.cost)}" if self.cost > 0 else gain)


# --- what the rules say ---------------------------------------------------------------------------


def functions_of(rules: Rules) -> dict[str, RuleFunction]:
    """Give the functions of a semester's project by name, each after those that it may call."""

    def no_dice(call: Call) -> int:
        return rules.points((), call.own, call.other)

    def points(call: Call) -> int:
        return rules.points(call.faces if call.dice else (), call.own, call.other)

    def update(call: Call) -> int:
        return rules.landed(call.own + points(call), call.other)

    functions = {
        "num_factors": RuleFunction(lambda call: _factors(call.own), least=1),
        "is_prime": RuleFunction(lambda call: _factors(call.own) == 2, least=2),
    }
    for part in rules.part_names("zero_dice"):
        for name in ("free_bacon", _NO_DICE.get(part, part)):
            functions[name] = RuleFunction(no_dice, OTHER)
    for part in rules.part_names("landing"):
        name, added = _LANDINGS.get(part, ("", 0))
        functions[name] = RuleFunction(partial(_of_scores, rules, "landing", added))
    for field, part, names in (
        ("swap", rules.swap, ("is_swap",)),
        ("more_boar", rules.more_boar, ("more_boar", "extra_turn")),
    ):
        if part != "none":
            functions |= dict.fromkeys(names, RuleFunction(partial(_of_scores, rules, field, 0)))
    return functions | {
        "roll_dice": RuleFunction(points, has_dice=True),
        "take_turn": RuleFunction(points, OTHER, has_dice=True),
        "simple_update": RuleFunction(lambda call: call.own + points(call), has_dice=True),
        **dict.fromkeys(_UPDATES, RuleFunction(update, has_dice=True)),
    }


def _factors(number: int) -> int:
    return sum(number % divisor == 0 for divisor in range(1, number + 1))


def _of_scores(rules: Rules, field: str, added: int, call: Call) -> int:
    """Give what a part of the rules makes of two scores, less the own score if `added` is 1."""
    return rules.part(field, call.own, call.other) - added * call.own


def _calls(rule: RuleFunction, parameters: Sequence[str], rules: Rules) -> Iterator[Call]:
    """List the calls of a function: no dice at all scores that it takes, then rolls at one."""
    most = min(MOST_SCORES, *rules.goals)
    if OTHER not in parameters:
        most += PAST  # where a turn may lead
    scores = range(rule.least, most)
    own_scores = scores if OWN in parameters else [0]
    other_scores = scores if OTHER in parameters else [0]
    if len(own_scores) * len(other_scores) > 1:
        yield from (Call(0, own, other) for own, other in product(own_scores, other_scores))
    if rule.has_dice:
        for dice in range(1, rules.max_dice + 1):
            for faces in _rolls(dice, rules.sides):
                yield Call(dice, own_scores[0], other_scores[0], [*faces])


def _rolls(dice: int, sides: int) -> Iterable[Sequence[int]]:
    """List all rolls of some dice, or if they are many some that are drawn."""
    if sides**dice <= _ROLLS:
        return product(range(1, sides + 1), repeat=dice)
    random = Random(dice)  # noqa: S311 - any rolls will do, and the same each time
    lowest_faces = [1, 2, 2, 2] * _DRAWN  # most rolls of many dice would have a 1
    return [[random.randint(lowest, sides) for _ in range(dice)] for lowest in lowest_faces]


def _value_table(rule: RuleFunction, parameters: Sequence[str], rules: Rules) -> Any:
    """Give the values of a function as lists in lists, a level for each parameter but faces.

    Scores go beyond the goals; the number of dice is 0.
    """
    sizes = {DICE: 1, OWN: rules.goals[0] + _BEYOND, OTHER: rules.goals[1] + _BEYOND}

    def table(parameters: Sequence[str], given: dict[str, int]) -> Any:
        if not parameters:
            return int(rule.value(Call(given[DICE], given[OWN], given[OTHER])))
        first, *rest = parameters
        return [table(rest, {**given, first: number}) for number in range(sizes[first])]

    return table([field for field in parameters if field != FACES], {DICE: 0, OWN: 0, OTHER: 0})


# --- the project's files --------------------------------------------------------------------------


class Project:
    """The files that the main file of a project needs, read through no link; their functions."""

    def __init__(self, game: "Hog", main: Path, more: Sequence[str] = ()) -> None:
        self.game = game
        self.rule_functions = functions_of(game.rules)
        self.main = PurePath(main.name)
        self.texts: dict[PurePath, str] = {}  # of files, by their paths in the folder
        folder = main.parent.resolve()
        waiting = [self.main, *map(PurePath, more)]
        names = set(waiting)  # of all files looked for
        for path in waiting:  # which grows by what each file imports
            with contextlib.suppress(OSError, ValueError):  # not of the project, or no text
                text = read_whole(path, _MOST_BYTES, within=folder).decode()
                self.texts[path] = text
                imported = islice(_imported(text), _MOST_NAMES)
                new = [name for name in imported if name not in names]
                waiting += new[: _MOST_NAMES - len(names)]
                names.update(new)
            if len(self.texts) == _MOST_FILES:
                break

    @cached_property
    def functions(self) -> list[ProjectFunction]:
        """The functions that the rules know by name, each once: of the main file, then others."""
        found: dict[str, ProjectFunction] = {}
        for path in sorted(self.texts, key=lambda path: (path != self.main, path.name != PROJECT)):
            for name, written in _DEFINED.findall(self.texts[path]):
                if name in self.rule_functions and name not in found:
                    parameters = _parameters(written, self.rule_functions[name])
                    if parameters:
                        found[name] = ProjectFunction(name, path, parameters)
        return [found[name] for name in self.rule_functions if name in found]

    def ask(
        self, function: str, file: PurePath, cells: Sequence[Cell], **options: Any
    ) -> EntryOutput:
        """Run a copy of the project, and ask a function: see :mod:`hogeq.contest.probe`."""
        module = ".".join(file.with_suffix("").parts)
        options |= {"module": module, "file": str(file), "function": function}
        with tempfile.TemporaryDirectory(prefix="hogeq-project-") as temporary:
            folder = Path(temporary).resolve()
            for path, text in self.texts.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, newline="")
            program = folder / "hogeq_probe.py"
            program.write_text(Path(probe.__file__).read_text())
            (folder / "probe.json").write_text(json.dumps(options))
            return run_entry(Entry(program, False, SECONDS), cells)


def _imported(text: str) -> Iterator[PurePath]:
    """List the files that a file may import from its folder: modules, and packages above them."""
    for source, several in _IMPORTED.findall(text):
        for name in [source] if source else re.findall(r"[\w.]+", several):
            parts = [part for part in name.split(".") if part]
            for depth, part in enumerate(parts):
                yield PurePath(*parts[:depth], part, "__init__.py")
                yield PurePath(*parts[:depth], f"{part}.py")


def _parameters(written: str, rule: RuleFunction) -> tuple[str, ...]:
    """Say which fields of a `Call` the parameters of a function take; none if that is not known.

    Dice are known by name. Others are the number of dice, if it has dice, and the scores.
    """
    parameters: list[str] = []
    for parameter in written.split(","):
        name, _, default = (part.strip() for part in parameter.partition("="))
        if "dice" in name:
            parameters.append(FACES)
        elif name and not default:
            if rule.has_dice and not parameters:
                parameters.append(DICE)
            else:
                parameters.append(OTHER if OWN in parameters else OWN)
    if parameters.count(OTHER) > 1 or rule.has_dice != (FACES in parameters):
        return ()
    if OTHER not in parameters and OWN in parameters:
        parameters[parameters.index(OWN)] = rule.single
    return tuple(parameters)


def main_file(folder: Path) -> Path | None:
    """Name the file of a project's folder that is judged, if there is one."""
    files = [folder / name for name in (SUBMISSION, PROJECT)]
    return next((file for file in files if file.is_file()), None)


# --- the comparison -------------------------------------------------------------------------------


class Comparison(NamedTuple):
    """The functions of a project, compared."""

    functions: list[ComparedFunction]
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
    """Compare the functions of a project with the rules, and measure what those that differ cost.

    1. A function is asked for all its calls. If it calls a wrong one, that is given its right
       values, so that each is judged by itself.
    2. The cost of a wrong one is the win rate that `table`, that of final_strategy, gains if this
       function alone is given its right values.

    If final_strategy `samples`, its table is the one that exact means give, if they give one.
    """
    game = project.game
    compared: list[ComparedFunction] = []
    failures: dict[str, None] = {}  # a line for each file
    right_values: dict[str, Any] = {}  # of wrong functions, by name
    has_right_rolls = True
    for function in project.functions:
        rule = project.rule_functions[function.name]
        calls = list(_calls(rule, function.parameters, game.rules))
        if not has_right_rolls:
            calls = [call for call in calls if not call.dice]
        arguments = [[getattr(call, field) for field in function.parameters] for call in calls]
        cells = [(number, 0) for number in range(len(calls))]
        options = {"calls": arguments, "values": right_values}
        output = project.ask(function.name, function.file, cells, **options)
        if output.load_failure or not output.is_loaded:
            reason = output.load_failure or _fault_line(output)
            failures[f"{printable(function.file)}: not compared: {reason}"] = None
            continue
        result = _compared(function, rule, calls, output)
        compared.append(result)
        if result.differ:
            has_right_rolls = has_right_rolls and function.name != "roll_dice"
            if OWN in function.parameters or OTHER in function.parameters:
                right_values[function.name] = _value_table(rule, function.parameters, game.rules)
    means = _means(game.rules) if samples else {}
    if samples:
        sampled = any(one.function == "roll_dice" and not one.differ for one in compared)
        table = _table(project, {}, means) if sampled else None
    rate = None if table is None else _win_rate(game, table, against)
    for index, one in enumerate(compared):
        if rate is not None and one.function in right_values:
            better = _table(project, {one.function: right_values[one.function]}, means)
            cost = None if better is None else _win_rate(game, better, against) - rate
            compared[index] = one._replace(cost=cost)
    return Comparison(compared, [*failures], table if samples else None)


def _compared(
    function: ProjectFunction, rule: RuleFunction, calls: Sequence[Call], output: EntryOutput
) -> ComparedFunction:
    """Compare the answers to some calls with the values by the rules; without a cost."""
    values = [rule.value(call) for call in calls]
    missing = len(calls) - len(output.answers)  # if it was stopped
    answers = [*output.answers, *[None] * missing]
    wrong = [number for number, answer in enumerate(answers) if answer != values[number]]
    first = ""
    if wrong:
        number = wrong[0]
        value = values[number]
        answer = _answer_text(answers[number], type(value)) or _fault_line(output)
        first = f"{_call_text(function, calls[number])} {answer}, the game's is {value}"
    has_pairs = OWN in function.parameters and OTHER in function.parameters
    kind = "pairs" if has_pairs else "scores"
    kind = "calls" if rule.has_dice else kind
    file = str(function.file)
    return ComparedFunction(function.name, file, len(calls), len(wrong), kind, first, None)


def _fault_line(output: EntryOutput) -> str:
    return output.fault[1] if output.fault else ""


def _win_rate(game: "Hog", table: Strategy, against: Strategy) -> float:
    """Win rate; games that never end are half wins."""
    return float(game.round_robin([table, against])[0, 1])


def _answer_text(answer: int | str | None, kind: type) -> str:
    """Describe an answer of a function of this type, bool or int; nothing if there is none."""
    if answer is None:
        return ""
    if isinstance(answer, int):
        return f"is {kind(answer) if answer in {0, 1} else answer}"
    rolled = answer.removeprefix(f"{ERROR}RolledError: ")
    if rolled != answer:
        return rolled.partition(" (in ")[0]
    return f"raised {answer[1:]}" if answer.startswith(ERROR) else f"is {answer[1:]}"


def _call_text(function: ProjectFunction, call: Call) -> str:
    """Write a call, with its dice."""
    fields = [field for field in function.parameters if field != FACES]
    arguments = ", ".join(str(getattr(call, field)) for field in fields)
    dice = f" with dice {', '.join(map(str, call.faces))}" if call.faces else ""
    return f"{function.name}({arguments}){dice}"


def _means(rules: Rules) -> dict[str, list[float]]:
    """Give the mean points of 0, 1, ... dice, by the names of the course's dice."""
    sides_by_name = {"six_sided": rules.sides, "four_sided": 4}
    return {
        name: [0.0, *(rules.mean_points(dice, sides) for dice in range(1, rules.max_dice + 1))]
        for name, sides in sides_by_name.items()
    }


def _table(project: Project, values: Any, means: Any) -> Strategy | None:
    """Ask final_strategy for its table, with right values and means; None if it has none."""
    rules = project.game.rules
    cells = [*product(range(rules.size), range(rules.size))]
    output = project.ask("final_strategy", project.main, cells, values=values, means=means)
    least, most = rules.least_answer, rules.most_answer
    answers = [one for one in output.answers if isinstance(one, int) and least <= one <= most]
    if output.is_stopped or len(answers) < len(cells):
        return None
    rolls = np.minimum(answers, rules.max_dice)
    return project.game.strategy(rolls.reshape(rules.size, rules.size))
