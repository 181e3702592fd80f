"""The game in the terminal."""

import re
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import (
    ENDLESS,
    check_output,
    expect_kernels,
    load_any,
    load_game,
    title_of,
)
from hogeq.cli.shell import (
    DigitsOption,
    JsonOption,
    RulesOption,
    TrustOption,
    emit,
    encodable,
    refusing,
    table,
)
from hogeq.rules import Rules, describe
from hogeq.rules.memory import memory_line
from hogeq.support.numbers import DIGITS, counted, percent, pp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.contest.session import Session
    from hogeq.contest.turns import Situation, Turn
    from hogeq.strategies.mixtures import Mixture

OPTIMAL = ("optimal", "memory")
HELP = (
    ("a number", "roll that many dice"),
    ("? or hint", "the best roll"),
    ("odds", "win probability of every roll; odds 4: of one"),
    ("undo", "take back your last turn"),
    ("rules", "the rules in force"),
    ("help", "this list"),
    ("quit", "leave the game"),
)


class First(StrEnum):
    """Who moves first."""

    you = "you"
    engine = "engine"
    coin = "coin"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(play)


def play(
    rules: RulesOption = "su20",
    engine: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="Who you play: a strategy, or optimal (or memory): best play that remembers "
            "everything.",
        ),
    ] = "optimal",
    first: Annotated[First, typer.Option(help="Who moves first.")] = First.coin,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of coin and dice. [a new one each time]")
    ] = None,
    transcript: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what was said: .txt or .json.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="GAME.json", help="Save the game, for hogeq review or a board."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a saved game that is there.")
    ] = False,
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Play in the terminal against an engine.

    Type help in the game for what can be typed. With --json the talk goes to standard error, and
    the game to standard output once it ends.
    """
    reads = [engine, rules]
    check_output(transcript, (".txt", ".json"), reads=reads, option="--transcript")
    check_output(save, (".json",), reads=reads, replace=overwrite, option="--save")
    game = load_game(rules)
    expect_kernels(game, "full memory", "hidden states", strategies=[engine])
    found = None if engine in OPTIMAL else load_any(engine, game, trust)
    if seed is None:
        import secrets

        seed = secrets.randbelow(10**9)
    strategy, opposite = _drawn(found, engine, seed)
    from hogeq.contest.session import Engine, Session

    with refusing():
        opponent = Engine(game, strategy)
        session = Session(game, opponent, first.value, seed)
    table_ = _Table(session, title_of(rules, game.rules), opposite, as_json, digits)
    try:
        table_.play()
    finally:
        data = {"engine_plays": "optimal" if strategy is None else engine} | session.record()
        if transcript is not None:
            _write(transcript, data, table_)
        if save is not None:
            _save(save, table_, rules)
    if as_json:
        emit(data, "", as_json)


def _drawn(
    found: "NDArray[Any] | Mixture | None", engine: str, seed: int
) -> "tuple[NDArray[Any] | None, str]":
    """Give the table that the engine plays, and what to call it."""
    if found is None:
        return None, "optimal play"
    import numpy as np

    from hogeq.strategies.mixtures import Mixture

    if not isinstance(found, Mixture):
        return found, engine
    # Turn n draws its dice by [seed, n]: another stream, or they would tell what was drawn.
    part = found.draw(np.random.default_rng([seed, 0, 1]))
    return found.parts[part], f"what was drawn from {engine}"


class _Table:
    """The loop of a game: prompts, answers, and what happens on the way."""

    def __init__(
        self, session: "Session", title: str, engine: str, to_errors: bool, digits: int
    ) -> None:
        self.session = session
        self.title = title
        self.engine = engine
        self.to_errors = to_errors
        self.digits = digits
        self.rules: Rules = session.game.rules
        self.shown: Situation | None = None  # the last situation that was announced
        self.commands: dict[str, Callable[[], None]] = {
            "?": self._hint,
            "hint": self._hint,
            "odds": self._odds,
            "undo": self._undo,
            "rules": self._rules,
            "help": self._help,
        }

    # --- the loop -------------------------------------------------------------------------------

    def play(self) -> None:
        """Play until somebody wins or leaves."""
        session = self.session
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")  # bytes that are no text are bad input
        self.say(f"{self.title}, you against {self.engine}, seed {session.seed}", "")
        self._rules()
        endless = [f"{ENDLESS[0].upper()}{ENDLESS[1:]}."] if session.game.can_be_endless else []
        counted = f"Win probabilities count on {self.then()}."
        self.say("", counted, *endless, "help lists what can be typed.", "")
        self.say("you move first" if session.yours else "engine moves first")
        while not session.over:
            if not session.yours:
                self._tell(session.engine_turn())
                continue
            line = self._ask()
            if line is None:
                self.say("", f"end of input: left at {self._score()}")
                break
            if line in {"quit", "exit", "q"}:
                self.say(f"left at {self._score()}")
                break
            self._answer(line)
        self.say(*self.summary())

    def _ask(self) -> str | None:
        """Ask for a command; None at the end of input."""
        if self.session.situation != self.shown:
            self.shown = self.session.situation
            self.say("", self._status())
        typer.echo(f"roll 0 to {self.rules.max_dice} > ", nl=False, err=self.to_errors)
        line = _read()
        if line is not None and not sys.stdin.isatty():
            # As a terminal would have shown it.
            self.say("".join(char if char.isprintable() else "?" for char in line))
        return None if line is None else " ".join(line.lower().split())

    def _answer(self, line: str) -> None:
        number = re.fullmatch(r"(odds )?([0-9]{1,9})", line)
        if number and int(number[2]) not in self.session.legal:
            self.say(f"{number[2]} dice; allowed: 0 to {self.rules.max_dice}")
        elif number and number[1]:
            self._odds(int(number[2]))
        elif number:
            self._tell(self.session.roll(int(number[2])))
        elif line in self.commands:
            self.commands[line]()
        else:
            self.say(f"{line[:40]!a}: not understood; type a number of dice, or help")

    # --- commands -------------------------------------------------------------------------------

    def _hint(self) -> None:
        odds = self.session.odds()
        best = [entry.dice for entry in odds if entry.behind == 0.0]
        also = f" (as good: {', '.join(map(str, best[1:]))})" if best[1:] else ""
        self.say(
            f"best: roll {best[0]}{also}, win probability "
            f"{percent(odds[0].win_probability, self.digits)} "
            f"with {self.then()}"
        )

    def _odds(self, only: int | None = None) -> None:
        rows = [
            (
                entry.dice,
                percent(entry.win_probability, self.digits),
                pp(entry.behind, self.digits, signed=False),
            )
            for entry in self.session.odds()
            if only in {None, entry.dice}
        ]
        header = ("dice", "win probability", "loss")
        self.say(table(rows, header, left=0), f"then {self.then()}")

    def _undo(self) -> None:
        taken = self.session.undo()
        if taken:
            plural = "" if len(taken) == 1 else "s"
            self.say(f"taken back: {len(taken)} turn{plural}, you rolled {taken[0].dice}")
        else:
            self.say("nothing to take back")

    def _rules(self) -> None:
        self.say(table(describe(self.rules), left=2))

    def _help(self) -> None:
        self.say(table(HELP, left=2))

    # --- what is said ---------------------------------------------------------------------------

    def _status(self) -> str:
        session, situation = self.session, self.session.situation
        notes = [f"turn {situation.turns + 1}: {self._score()}"]
        if session.sides != self.rules.sides:
            notes.append(f"{session.sides}-sided dice")
        if session.game.has_memory:
            notes.append(memory_line(self.rules, situation.memory))
        return "; ".join(notes)

    def then(self) -> str:
        """Say what win probabilities count on."""
        if self.session.engine.optimal:
            memory = " and remembering everything" if self.session.game.has_memory else ""
            return f"both playing optimally{memory} from the next turn on"
        return f"both playing {self.engine} from the next turn on"

    def _score(self) -> str:
        you, engine = self.session.situation.scores
        return f"you {you}, engine {engine}"

    def _tell(self, move: "Turn") -> None:
        from hogeq.contest.session import YOU

        what, *others = move.effects(self.rules)
        self.say(f"{_player(move.before.mover)} {what}", *(f"  {line}" for line in others))
        self.say(f"  {self._score()}")
        if move.before.mover == YOU:
            self.say(f"  {self.verdict(move)}; so far {self._loss(self.session.tally.loss)}")

    def summary(self) -> list[str]:
        """Say who won, and what the person's choices cost."""
        session, lines = self.session, [""]
        winner = session.situation.winner
        if winner is not None:
            you, engine = session.situation.scores
            lines.append(f"{'you win' if winner == 0 else 'the engine wins'}, {you} to {engine}")
        own = session.tally
        if own.moves:
            counts = [counted(own.grades[name], name) for name in ("mistake", "blunder")]
            lines.append(
                f"{counts[0]} and {counts[1]} in {counted(own.moves, 'turn')}; all choices "
                f"together lost {self._loss(own.loss)} of win probability"
            )
        if own.costliest:
            worst = own.costliest[0]
            score, other = worst.before.view
            lines.append(
                f"the worst: turn {worst.number}, {score} against {other}: rolled {worst.dice}, "
                f"best {worst.best[0]}, loss {self._loss(worst.loss)}, {worst.grade}"
            )
        return lines

    def verdict(self, turn: "Turn") -> str:
        """Say what a turn's choice of dice lost."""
        won = f"win probability {percent(turn.value, self.digits)}"
        if turn.loss == 0.0:
            return f"no roll is better: {won}"
        best = f"{percent(turn.best_value, self.digits)} with the best, {turn.best[0]}"
        return f"loss {self._loss(turn.loss)}, {turn.grade}: {won}, {best}"

    def _loss(self, lost: float) -> str:
        return pp(lost, self.digits, signed=False)

    def say(self, *lines: str) -> None:
        """Print lines where the talk goes."""
        stream = sys.stderr if self.to_errors else sys.stdout
        for line in lines:
            typer.echo(encodable(line, stream.encoding), err=self.to_errors)


def _player(player: int) -> str:
    from hogeq.contest.session import PLAYERS

    return PLAYERS[player]


def _read() -> str | None:
    """Read a line of standard input without its end; None when there is no more."""
    if sys.stdin is None:  # closed before the program began
        return None
    line = sys.stdin.readline()
    return line.removesuffix("\n") if line else None


def _write(path: Path, data: dict[str, Any], table_: _Table) -> None:
    import json

    from hogeq.support.files import write_whole

    if path.suffix.lower() == ".json":
        text = json.dumps(data, indent=1, allow_nan=False) + "\n"
    else:
        text = "\n".join(_transcript(table_)) + "\n"
    with refusing():
        write_whole(path, text.encode("utf-8", "surrogateescape"))


def _save(path: Path, table_: _Table, rules: str) -> None:
    from hogeq.contest.transcript import LONGEST_NAME, Transcript, written_rules
    from hogeq.support.files import write_whole
    from hogeq.support.messages import one_line

    if not table_.session.turns:
        table_.say(f"no turn was played: {path} is not written")
        return
    session = table_.session
    played = Transcript.of(
        [move.faces for move in session.turns],
        table_.rules,
        ("You", one_line(table_.engine, LONGEST_NAME)),
        session.turns[0].before.mover,
        session.seed,
        written_rules(table_.rules, rules),
    )
    with refusing():
        write_whole(path, played.to_json())


def _transcript(table_: _Table) -> list[str]:
    session = table_.session
    lines = [
        f"{table_.title}, you against {table_.engine}, seed {session.seed}",
        table(describe(table_.rules), left=2),
        "",
        f"win probabilities count on {table_.then()}",
    ]
    for move in session.turns:
        own, other = move.before.scores
        what, *others = move.effects(table_.rules)
        lines += ["", f"turn {move.number}: you {own}, engine {other}"]
        if session.game.has_memory:
            lines.append(memory_line(table_.rules, move.before.memory))
        lines.append(f"{_player(move.before.mover)} {what}")
        lines += [f"  {line}" for line in [*others, table_.verdict(move)]]
    you, engine = session.situation.scores
    return [*lines, "", f"you {you}, engine {engine}", *table_.summary()[1:]]
