"""The functions of a student's project, compared with the rules at every pair of scores.

A function is found by the name that it has in the semester's project [6], in the text of a file:
nothing is run to find it. Then a copy of the file, and of the files of its folder that it imports,
runs in the sandbox of strategies (:mod:`hogeq.contest.probe`). It is asked at every pair of scores;
if it takes dice, also for rolls that dice show. What a wrong value costs is the win rate that
final_strategy gains if the same code is given right values.
"""

import contextlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice, product
from pathlib import Path, PurePath
from random import Random
from typing import Any, Final, NamedTuple

import numpy as np

import hogeq
from hogeq.contest import probe
from hogeq.support.channel import Cell, EntryOutput
from hogeq.support.child import ERROR
from hogeq.support.files import json_text, read_whole
from hogeq.support.kinds import SUBMISSION
from hogeq.support.messages import EXACT, Text, loss, printable
from hogeq.support.sandbox import Entry, run_entry

PROJECT: Final = "hog.py"  # the file that holds the functions of a project
SECONDS: Final = 4.5  # most that one function is given
MOST_SCORES: Final = 100  # scores of a player at which functions are compared
_MOST_FILES: Final = 100  # most files of a project that are copied
_MOST_NAMES: Final = 1000  # most names of files that are looked for
_MOST_BYTES: Final = 2**20  # most bytes of each
PAST: Final = 20  # scores past these at which functions of one's own score are compared
_BEYOND: Final = 100  # scores past the goal at which right values stand in for wrong ones
_ROLLS: Final = 216  # most rolls of a number of dice that are all tried
_DRAWN: Final = 5  # random rolls of more dice; and three times as many without a 1

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


def functions_of(rules: hogeq.Rules) -> dict[str, RuleFunction]:
    """Make the functions of a semester's project by name, each after those that it may call.

    Each computes the value that the rules give to a call.
    """
    points = partial(_points_of_turn, rules)
    functions = {
        "num_factors": RuleFunction(lambda call: _count_factors(call.own), least=1),
        "is_prime": RuleFunction(lambda call: _count_factors(call.own) == 2, least=2),
    }
    for part in rules.part_names("zero_dice"):
        for name in ("free_bacon", _NO_DICE.get(part, part)):
            functions[name] = RuleFunction(points, OTHER)
    for part in rules.part_names("landing"):
        name, gives_gain = _LANDINGS.get(part, ("", 0))
        functions[name] = RuleFunction(partial(_value_of_part, rules, "landing", gives_gain))
    if rules.swap != "none":
        functions["is_swap"] = RuleFunction(partial(_value_of_part, rules, "swap", 0))
    if rules.more_boar != "none":
        extra_turn = RuleFunction(partial(_value_of_part, rules, "more_boar", 0))
        functions |= {"more_boar": extra_turn, "extra_turn": extra_turn}
    return functions | {
        "roll_dice": RuleFunction(points, has_dice=True),
        "take_turn": RuleFunction(points, OTHER, has_dice=True),
        "simple_update": RuleFunction(lambda call: call.own + points(call), has_dice=True),
        **dict.fromkeys(_UPDATES, RuleFunction(partial(_score_after, rules), has_dice=True)),
    }


def _count_factors(number: int) -> int:
    """Count the whole numbers that divide a number."""
    return sum(number % divisor == 0 for divisor in range(1, number + 1))


def _points_of_turn(rules: hogeq.Rules, call: Call) -> int:
    """Return the points of a turn."""
    return rules.points(call.faces if call.dice else (), call.own, call.other)


def _score_after(rules: hogeq.Rules, call: Call) -> int:
    """Return the own score after a turn, with the rule on where it lands."""
    return rules.landed(call.own + _points_of_turn(rules, call), call.other)


def _value_of_part(rules: hogeq.Rules, field: str, gives_gain: int, call: Call) -> int:
    """Return what a part of the rules makes of two scores.

    With `gives_gain` 1 instead of 0 it is the gain: the own score is subtracted.
    """
    return rules.part(field, call.own, call.other) - gives_gain * call.own


def _calls_to_compare(
    rule: RuleFunction, parameters: Sequence[str], rules: hogeq.Rules
) -> Iterator[Call]:
    """Yield the calls of a function: no dice at all scores that it takes, then rolls at one.

    `parameters` are the fields of a `Call` that it takes; others are 0.
    """
    end = min(MOST_SCORES, *rules.goals)
    if OTHER not in parameters:
        end += PAST  # scores past the goal, where a turn may lead
    scores = range(rule.least, end)
    own_scores = scores if OWN in parameters else [0]
    other_scores = scores if OTHER in parameters else [0]
    if len(own_scores) * len(other_scores) > 1:
        yield from (Call(0, own, other) for own, other in product(own_scores, other_scores))
    if rule.has_dice:
        for dice in range(1, rules.max_dice + 1):
            for faces in _rolls_to_try(dice, rules.sides):
                yield Call(dice, own_scores[0], other_scores[0], [*faces])


def _rolls_to_try(dice: int, sides: int) -> Iterable[Sequence[int]]:
    """List all rolls of some dice, or random ones if there are more than `_ROLLS`."""
    if sides**dice <= _ROLLS:
        return product(range(1, sides + 1), repeat=dice)
    random = Random(dice)  # noqa: S311 - any rolls will do, and the same each time
    lowest_faces = [1, 2, 2, 2] * _DRAWN  # most rolls of many dice would have a 1
    return [[random.randint(lowest, sides) for _ in range(dice)] for lowest in lowest_faces]


def _value_table(rule: RuleFunction, parameters: Sequence[str], rules: hogeq.Rules) -> Any:
    """Tabulate the values of a function: nested lists, a level for each parameter but faces.

    Scores go beyond the goals; the number of dice is 0.
    """
    sizes = {DICE: 1, OWN: rules.goals[0] + _BEYOND, OTHER: rules.goals[1] + _BEYOND}
    fields = [field for field in parameters if field != FACES]
    values = []
    for numbers in product(*(range(sizes[field]) for field in fields)):
        arguments: dict[str, Any] = dict(zip(fields, numbers, strict=True))
        call = Call(dice=0, own=0, other=0)._replace(**arguments)
        values.append(int(rule.value(call)))
    return np.reshape(values, [sizes[field] for field in fields]).tolist()


# --- the project's files --------------------------------------------------------------------------


class Project:
    """The files that the main file of a project needs, read through no link; their functions."""

    def __init__(self, game: "hogeq.Hog", main: Path, more: Sequence[str] = ()) -> None:
        """Read `main`, the files `more` of its folder, and all that they import from there."""
        self.game = game
        self.rule_functions = functions_of(game.rules)
        self.main = PurePath(main.name)
        self.texts: dict[PurePath, str] = {}  # of files, by their paths in the folder
        folder = main.parent.resolve()
        queue = [self.main, *map(PurePath, more)]
        known = set(queue)  # all paths that were met, even if the queue had no room for them
        for path in queue:  # which grows by what each file imports
            with contextlib.suppress(OSError, ValueError):  # no file of the project, or no text
                text = read_whole(path, _MOST_BYTES, within=folder).decode()
                self.texts[path] = text
                imported = islice(_imported_files(text), _MOST_NAMES)
                new_paths = [path for path in imported if path not in known]
                queue += new_paths[: _MOST_NAMES - len(known)]
                known.update(new_paths)
            if len(self.texts) == _MOST_FILES:
                break

    @cached_property
    def functions(self) -> list[ProjectFunction]:
        """The functions that the rules know by name, each once: of the main file, then others."""
        functions: dict[str, ProjectFunction] = {}
        # False sorts before True: the main file comes first, then that of the project.
        for path in sorted(self.texts, key=lambda path: (path != self.main, path.name != PROJECT)):
            for name, signature in _DEFINED.findall(self.texts[path]):
                if name in self.rule_functions and name not in functions:
                    parameters = _parameters(signature, self.rule_functions[name])
                    if parameters:
                        functions[name] = ProjectFunction(name, path, parameters)
        return [functions[name] for name in self.rule_functions if name in functions]

    def ask(
        self, function: str, file: PurePath, cells: Sequence[Cell], **options: Any
    ) -> EntryOutput:
        """Run a copy of the project in the sandbox, and ask a function of one of its files.

        The copy has :mod:`hogeq.contest.probe` beside it, which takes the `options` (calls, values,
        means). `cells` are the questions: the number of a call, or scores for final_strategy.
        """
        module = ".".join(file.with_suffix("").parts)
        options |= {"module": module, "file": str(file), "function": function}
        with tempfile.TemporaryDirectory(prefix="hogeq-project-") as temporary:
            folder = Path(temporary).resolve()
            for path, text in self.texts.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, newline="")
            program = folder / "hogeq_probe.py"
            program.write_text(Path(probe.__file__).read_text())
            (folder / "probe.json").write_text(json_text(options))
            return run_entry(Entry(program, is_alone=False, seconds=SECONDS), cells)


def _imported_files(text: str) -> Iterator[PurePath]:
    """Yield the files that a program may import from its folder: modules, and packages above."""
    for source, modules in _IMPORTED.findall(text):  # of "from source import", "import modules"
        for name in [source] if source else re.findall(r"[\w.]+", modules):
            parts = [part for part in name.split(".") if part]
            for depth, part in enumerate(parts):
                yield PurePath(*parts[:depth], part, "__init__.py")
                yield PurePath(*parts[:depth], f"{part}.py")


def _parameters(signature: str, rule: RuleFunction) -> tuple[str, ...]:
    """Guess the fields of a `Call` that the parameters of a function take; none if it is unclear.

    Dice are known by name, and parameters with a default are left out. Others are in this order the
    number of dice, if the function has dice, the own score and the opponent's.
    """
    parameters: list[str] = []
    for parameter in signature.split(","):
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
    if OTHER not in parameters and OWN in parameters:  # one score: the rule says whose
        parameters[parameters.index(OWN)] = rule.single
    return tuple(parameters)


def main_file(folder: Path) -> Path | None:
    """Return the file of a project's folder that is judged, if there is one."""
    files = [folder / name for name in (SUBMISSION, PROJECT)]
    return next((file for file in files if file.is_file()), None)


# --- the comparison -------------------------------------------------------------------------------


class Comparison(NamedTuple):
    """The functions of a project, compared."""

    functions: list[ComparedFunction]
    failed: list[str]  # why files could not be asked, a line each
    exact: hogeq.Strategy | None  # table of a final_strategy that samples, by exact means

    def text(self) -> Text:
        """List the functions that differ, each with how and at what cost, then the right ones.

        Nothing if none was compared.
        """
        right_names = [compared.function for compared in self.functions if not compared.differ]
        lines = [compared.told for compared in self.functions if compared.differ]
        if right_names:
            lines.append(f"as in the game: {', '.join(right_names)}")
        lines += self.failed
        return ["", *lines] if lines else []


def compare_functions(
    project: Project, table: hogeq.Strategy | None, against: hogeq.Strategy, *, samples: bool
) -> Comparison:
    """Compare the functions of a project with the rules, and measure what those that differ cost.

    1. A function is asked for all its calls. If it calls a wrong one, that is given its right
       values, so that each is judged by itself.
    2. The cost of a wrong one is the win rate that `table`, that of final_strategy, gains if this
       function alone is given its right values.

    Parameters
    ----------
    project : Project
    table : Strategy or None
        The answers of final_strategy; None if they are no valid table.
    against : Strategy
        The opponent of win rates.
    samples : bool
        Whether final_strategy averages random rolls. Then its table is the one that it makes of
        exact means, if its roll_dice is right.
    """
    game = project.game
    compared: list[ComparedFunction] = []
    failures: dict[str, None] = {}  # a set of lines, in order: each file has one
    right_values: dict[str, Any] = {}  # tables of wrong functions, by name
    has_right_rolls = True  # until roll_dice is found to be wrong
    for function in project.functions:
        rule = project.rule_functions[function.name]
        calls = list(_calls_to_compare(rule, function.parameters, game.rules))
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
        result = _compare_answers(function, rule, calls, output)
        compared.append(result)
        if result.differ:
            has_right_rolls = has_right_rolls and function.name != "roll_dice"
            if OWN in function.parameters or OTHER in function.parameters:
                right_values[function.name] = _value_table(rule, function.parameters, game.rules)
    means = _exact_means(game.rules) if samples else {}
    if samples:
        is_averaging = any(
            result.function == "roll_dice" and not result.differ for result in compared
        )
        table = _ask_for_table(project, {}, means) if is_averaging else None
    rate = None if table is None else _win_rate(game, table, against)
    for index, result in enumerate(compared):
        if rate is not None and result.function in right_values:
            corrections = {result.function: right_values[result.function]}
            corrected = _ask_for_table(project, corrections, means)
            cost = None if corrected is None else _win_rate(game, corrected, against) - rate
            compared[index] = result._replace(cost=cost)
    return Comparison(compared, [*failures], table if samples else None)


def _compare_answers(
    function: ProjectFunction, rule: RuleFunction, calls: Sequence[Call], output: EntryOutput
) -> ComparedFunction:
    """Compare the answers of a process to `calls` with the values by the rules; without a cost."""
    values = [rule.value(call) for call in calls]
    num_missing = len(calls) - len(output.answers)  # positive if the process was stopped
    answers = [*output.answers, *[None] * num_missing]
    wrong = [number for number, answer in enumerate(answers) if answer != values[number]]
    first = ""
    if wrong:
        number = wrong[0]
        value = values[number]
        answer = _describe_answer(answers[number], type(value)) or _fault_line(output)
        first = f"{_call_text(function, calls[number])} {answer}, the game's is {value}"
    if rule.has_dice:
        kind = "calls"
    else:
        has_pairs = OWN in function.parameters and OTHER in function.parameters
        kind = "pairs" if has_pairs else "scores"
    return ComparedFunction(
        function=function.name,
        file=str(function.file),
        calls=len(calls),
        differ=len(wrong),
        kind=kind,
        first=first,
        cost=None,
    )


def _fault_line(output: EntryOutput) -> str:
    """Explain why a process was stopped; empty if it was not."""
    return output.fault[1] if output.fault else ""


def _win_rate(game: "hogeq.Hog", table: hogeq.Strategy, against: hogeq.Strategy) -> float:
    """Return the win rate; games that never end are half wins."""
    return float(game.round_robin([table, against])[0, 1])


def _describe_answer(answer: int | str | None, value_type: type) -> str:
    """Describe an answer of a process; empty if there is none.

    Numbers 0 and 1 are shown as the type of the rules' value, bool or int. A text begins with a
    character that says whether it is an error, `ERROR`, or a value of another type.
    """
    if answer is None:
        return ""
    if isinstance(answer, int):
        return f"is {value_type(answer) if answer in {0, 1} else answer}"
    roll_fault = answer.removeprefix(f"{ERROR}RolledError: ")  # of the probe, in our own words
    if roll_fault != answer:
        return roll_fault.partition(" (in ")[0]
    return f"raised {answer[1:]}" if answer.startswith(ERROR) else f"is {answer[1:]}"


def _call_text(function: ProjectFunction, call: Call) -> str:
    """Write a call, with its dice."""
    fields = [field for field in function.parameters if field != FACES]
    arguments = ", ".join(str(getattr(call, field)) for field in fields)
    dice = f" with dice {', '.join(map(str, call.faces))}" if call.faces else ""
    return f"{function.name}({arguments}){dice}"


def _exact_means(rules: hogeq.Rules) -> dict[str, list[float]]:
    """Compute the mean points of 0, 1, ... dice, by the names of the course's dice."""
    sides_by_name = {"six_sided": rules.sides, "four_sided": 4}
    return {
        name: [0.0, *(rules.mean_points(dice, sides) for dice in range(1, rules.max_dice + 1))]
        for name, sides in sides_by_name.items()
    }


def _ask_for_table(project: Project, values: Any, means: Any) -> hogeq.Strategy | None:
    """Ask final_strategy for its table; None if an answer is no number of dice.

    `values` are tables that stand in for functions, by name; `means` stand in for sampled rolls.
    """
    rules = project.game.rules
    cells = [*product(range(rules.size), range(rules.size))]
    output = project.ask("final_strategy", project.main, cells, values=values, means=means)
    allowed = range(rules.least_answer, rules.most_answer + 1)
    answers = [answer for answer in output.answers if isinstance(answer, int) and answer in allowed]
    if output.is_stopped or len(answers) < len(cells):
        return None
    rolls = np.minimum(answers, rules.max_dice)  # with Hog Tied more dice than allowed are cut
    return project.game.strategy(rolls.reshape(rules.size, rules.size))
