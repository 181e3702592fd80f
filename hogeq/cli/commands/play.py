"""Games turn by turn: played in the terminal (play), and reviewed (review)."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hogeq.cli import options
from hogeq.cli.inputs import ENDLESS, Chosen, reading
from hogeq.cli.options import TRANSCRIPT, argument, option, readable
from hogeq.cli.result import Result, say
from hogeq.cli.shell import refusing
from hogeq.rules import ALIASES, Rules, describe
from hogeq.rules.memory import memory_line
from hogeq.support.files import write_whole
from hogeq.support.messages import Table, counted, loss, one_line, percent

if TYPE_CHECKING:
    from hogeq.contest.turns import Session, Situation, Turn

OPTIMAL = ("optimal", "memory")
HELP = (
    ("a number", "roll that many dice"),
    ("?, h or hint", "the best roll"),
    ("odds", "win probability of every roll; odds 4: of one"),
    ("u or undo", "take back your last turn"),
    ("rules", "the rules in force"),
    ("help", "this list"),
    ("quit", "leave the game"),
)


def play(
    chosen: Chosen,
    engine: Annotated[
        str,
        option(
            "Your opponent: a strategy, or optimal (or memory): best play that remembers all.", "S"
        ),
    ] = "optimal",
    first: Annotated[
        Literal["you", "engine", "coin"], option("The player to move first.")
    ] = "coin",
    seed: Annotated[int | None, option("Of coin and dice. [a new one each time]", min=0)] = None,
    save: Annotated[
        Path | None, option("Save the game, for hogeq review or a board.", "GAME.json"), TRANSCRIPT
    ] = None,
) -> Result:
    """Play in the terminal against an engine.

    Type help in the game for a list of commands. With --json the talk goes to standard error, and
    the game to standard output once it ends.
    """
    game = chosen.load("full memory", "hidden states", strategies=[engine], own_goals=True)
    import numpy as np

    from hogeq.contest.turns import Engine, Session

    seed = int(np.random.default_rng().integers(10**9)) if seed is None else seed
    table, opposite = None, "optimal play"
    if engine not in OPTIMAL:
        strategy = game.second.strategy(engine)
        table, opposite = strategy.array, engine
        if strategy.kind == "mixture":
            # Turn n draws its dice by [seed, n]: another stream, or they would tell what was drawn.
            chances = strategy.weights / strategy.weights.sum()
            drawn = np.random.default_rng([seed, 0, 1]).choice(len(chances), p=chances)
            table, opposite = strategy.components[drawn], f"what was drawn from {engine}"
    with refusing():
        session = Session(chosen.engine, Engine(chosen.engine, table), first, seed)
    talk = _Talk(session, chosen.title, opposite)
    try:
        talk.play()
    finally:
        if save is not None:
            _save(save, talk, chosen.name)
    return Result({"engine_plays": "optimal" if table is None else engine} | session.record())


class _Talk:
    """The loop of a game: prompts, answers and events."""

    def __init__(self, session: "Session", title: str, engine: str) -> None:
        self.session = session
        self.title = title
        self.engine = engine
        self.rules: Rules = session.game.rules
        self.choices = f"{min(self.rules.choices)} to {self.rules.max_dice}"
        self.shown: Situation | None = None  # the last situation that was announced
        self.commands: dict[str, Callable[[], None]] = {
            "?": self._hint,
            "h": self._hint,
            "hint": self._hint,
            "odds": self._odds,
            "u": self._undo,
            "undo": self._undo,
            "rules": lambda: say(Table(describe(self.rules), left=2)),
            "help": lambda: say(Table(HELP, left=2)),
        }

    def play(self) -> None:
        """Play until somebody wins or leaves."""
        session = self.session
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")  # bytes that are no text are bad input
        endless = [f"{ENDLESS[0].upper()}{ENDLESS[1:]}."] if session.game.can_be_endless else []
        say(
            f"{self.title}, you against {self.engine}, seed {session.seed}",
            "",
            Table(describe(self.rules), left=2),
            "",
            f"Win probabilities count on {self._then()}.",
            *endless,
            "help lists what can be typed.",
            "",
            "you move first" if session.yours else "engine moves first",
        )
        while not session.over:
            if not session.yours:
                self._tell(session.play())
                continue
            line = self._ask()
            if line is None:
                say("", f"end of input: left at {self._score()}")
                break
            if line in {"quit", "exit", "q"}:
                say(f"left at {self._score()}")
                break
            self._answer(line)
        say(*self._summary())

    def _ask(self) -> str | None:
        """Ask for a command; None at the end of input."""
        session, situation = self.session, self.session.situation
        if situation != self.shown:
            self.shown = situation
            notes = [f"turn {situation.turns + 1}: {self._score()}"]
            if session.sides != self.rules.sides:
                notes.append(f"{session.sides}-sided dice")
            if session.game.has_memory:
                notes.append(memory_line(self.rules, situation.memory))
            say("", "; ".join(notes))
        typer.echo(f"roll {self.choices} > ", nl=False)
        line = "" if sys.stdin is None else sys.stdin.readline()  # None: closed from the start
        if not line:
            return None
        line = line.removesuffix("\n")
        if not sys.stdin.isatty():  # as a terminal would have shown it
            say("".join(char if char.isprintable() else "?" for char in line))
        return " ".join(line.lower().split())

    def _answer(self, line: str) -> None:
        number = re.fullmatch(r"(odds )?(-?[0-9]{1,9})", line)
        if number and int(number[2]) not in self.session.game.choices:
            say(f"{number[2]} dice; allowed: {self.choices}")
        elif number and number[1]:
            self._odds(int(number[2]))
        elif number:
            self._tell(self.session.play(int(number[2])))
        elif line in self.commands:
            self.commands[line]()
        else:
            say(f"{line[:40]!a}: not understood; type a number of dice, or help")

    def _hint(self) -> None:
        odds = self.session.odds()
        best = [entry.dice for entry in odds if entry.behind == 0.0]
        also = f" (as good: {', '.join(map(str, best[1:]))})" if best[1:] else ""
        chance = percent(odds[0].win_probability)
        say(f"best: roll {best[0]}{also}, win probability {chance} with {self._then()}")

    def _odds(self, only: int | None = None) -> None:
        rows = [
            (entry.dice, percent(entry.win_probability), loss(entry.behind))
            for entry in self.session.odds()
            if only in {None, entry.dice}
        ]
        say(Table(rows, ("dice", "win probability", "loss"), left=0), f"then {self._then()}")

    def _undo(self) -> None:
        taken = self.session.undo()
        done = taken and f"taken back: {counted(len(taken), 'turn')}, you rolled {taken[0].dice}"
        say(done or "nothing to take back")

    def _then(self) -> str:
        """Name the play that win probabilities assume."""
        if self.session.engine.optimal:
            memory = " and remembering everything" if self.session.game.has_memory else ""
            return f"both playing optimally{memory} from the next turn on"
        return f"both playing {self.engine} from the next turn on"

    def _score(self) -> str:
        you, engine = self.session.situation.scores
        return f"you {you}, engine {engine}"

    def _tell(self, move: "Turn") -> None:
        from hogeq.contest.turns import PLAYERS

        what, *others = move.effects(self.rules)
        say(f"{PLAYERS[move.before.mover]} {what}", *(f"  {line}" for line in others))
        say(f"  {self._score()}")
        if move.before.mover == 0:
            won = f"win probability {percent(move.value)}"
            verdict = f"no roll is better: {won}"
            if move.loss:
                best = f"{percent(move.best_value)} with the best, {move.best[0]}"
                verdict = f"loss {loss(move.loss)}, {move.grade}: {won}, {best}"
            say(f"  {verdict}; so far {loss(self.session.tally.loss)}")

    def _summary(self) -> list[str]:
        """Sum up: the winner, and the losses by the person's choices."""
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
                f"together lost {loss(own.loss)} of win probability"
            )
        if own.costliest:
            worst = own.costliest[0]
            score, other = worst.before.view
            lines.append(
                f"the worst: turn {worst.number}, {score} against {other}: rolled {worst.dice}, "
                f"best {worst.best[0]}, loss {loss(worst.loss)}, {worst.grade}"
            )
        return lines


def _save(path: Path, talk: _Talk, rules: str) -> None:
    from hogeq.contest.transcript import LONGEST_NAME, Transcript, written_rules

    session = talk.session
    if not session.turns:
        say(f"no turn was played: {path} is not written")
        return
    played = Transcript.of(
        [None if move.dice < 0 else move.faces for move in session.turns],
        talk.rules,
        ("You", one_line(talk.engine, LONGEST_NAME)),
        session.turns[0].before.mover,
        session.seed,
        written_rules(talk.rules, rules),
    )
    write_whole(path, played.to_json())
    say(f"saved to {path}: hogeq review {path} says what each turn cost")


# --- a game that was played -----------------------------------------------------------------------


def review_(
    transcript: Annotated[
        Path,
        argument(
            "GAME.json",
            "A transcript: of hogeq play --save, or of a board.",
            callback=readable,
        ),
    ],
    rules: Annotated[
        str | None, option("Refuse a game by other rules than these. [the transcript's]", "RULES")
    ] = None,
    start: options.Start = None,
    trust: options.Trust = False,
) -> Result:
    """Review a game, move by move: best rolls, losses, and luck.

    Win probabilities are exact, of optimal play that remembers everything, from there on. A choice
    is best (it loses nothing), good (less than 0.5 pp), an inaccuracy (less than 2), a mistake
    (less than 5) or a blunder. All else is luck.
    """
    asked = Chosen(rules, trust=trust)
    wanted = None if rules is None else asked.choose(own_goals=True)
    from hogeq.contest.transcript import read_transcript

    with reading(transcript):
        played = read_transcript(transcript, wanted, asked.start(start))
    chosen = Chosen.of(played.rules)
    chosen.expect("full memory")
    reviewed = chosen.game.review(played)
    named = played.rules_given if isinstance(played.rules_given, str) else ""
    title = (rules and asked.name) or (named if named in ALIASES else chosen.title)
    return Result(reviewed.to_json(), reviewed.text(title, chosen.endless[1:]))
