"""Lines of a game in the terminal, for each event and each command of the player."""

import re
from collections.abc import Callable
from typing import Final

from hogeq import Hog, Session, Situation, Turn, describe
from hogeq.support.messages import Table, Text, counted, loss, percent

HELP: Final = (
    ("a number", "roll that many dice"),
    ("?, h or hint", "the best roll"),
    ("odds", "win probability of every roll; odds 4: of one"),
    ("u or undo", "take back your last turn"),
    ("rules", "the rules in force"),
    ("help", "this list"),
    ("quit", "leave the game"),
)


class Talk:
    """One game between a person and an engine, as lines: `engine` names the engine's play."""

    def __init__(self, game: Hog, session: Session, engine: str) -> None:
        self.session, self.engine = session, engine
        self.rules, self.memory_line = game.rules, game.memory_line
        self.remembers = len(game.memories) > 1
        self.choices = f"{self.rules.least_answer} to {self.rules.max_dice}"
        self.shown: Situation | None = None  # the last situation that was announced
        self.commands: dict[str, Callable[[], Text]] = {
            **dict.fromkeys(("?", "h", "hint"), self._hint),
            "odds": self._odds,
            **dict.fromkeys(("u", "undo"), self._undo),
            "rules": lambda: [Table(describe(self.rules), left=2)],
            "help": lambda: [Table(HELP, left=2)],
        }

    def opening(self, title: str, endless: list[str]) -> Text:
        """Say the players, the rules and the first mover."""
        return [
            f"{title}, you against {self.engine}, seed {self.session.seed}",
            "",
            Table(describe(self.rules), left=2),
            "",
            f"Win probabilities count on {self._then()}.",
            *endless,
            "help lists what can be typed.",
            "",
            "you move first" if self.session.yours else "engine moves first",
        ]

    def before_turn(self) -> Text:
        """Announce the situation, unless that is done."""
        session, situation = self.session, self.session.situation
        if situation == self.shown:
            return []
        self.shown = situation
        notes = [f"turn {situation.turns + 1}: {self.score()}"]
        if session.sides != self.rules.sides:
            notes.append(f"{session.sides}-sided dice")
        if self.remembers:
            notes.append(self.memory_line(situation.memory))
        return ["", "; ".join(notes)]

    def answer(self, line: str) -> Text:
        """Carry out a typed line: a roll, or a command."""
        number = re.fullmatch(r"(odds )?(-?[0-9]{1,9})", line)
        if number and not self.rules.least_answer <= int(number[2]) <= self.rules.max_dice:
            return [f"{number[2]} dice; allowed: {self.choices}"]
        if number and number[1]:
            return self._odds(int(number[2]))
        if number:
            return self.after_turn(self.session.play(int(number[2])))
        if line in self.commands:
            return self.commands[line]()
        if not line:
            return ["type a number of dice, or help"]
        return [f"{line[:40]!a}: not understood; type a number of dice, or help"]

    def after_turn(self, turn: Turn) -> Text:
        """Say the effect of a turn, and the loss of the person's own roll."""
        roll, *others = turn.effects(self.rules)
        player = Session.PLAYERS[turn.before.mover]
        lines: Text = [f"{player} {roll}", *(f"  {line}" for line in others)]
        lines.append(f"  {self.score()}")
        if turn.before.mover == 0:
            won = f"win probability {percent(turn.value)}"
            verdict = f"no roll is better: {won}"
            if turn.loss:
                best = f"{percent(turn.best_value)} with the best, {turn.best[0]}"
                verdict = f"loss {loss(turn.loss)}, {turn.grade}: {won}, {best}"
            lines.append(f"  {verdict}; so far {loss(self.session.tally.loss)}")
        return lines

    def score(self) -> str:
        """Write both scores."""
        you, engine = self.session.situation.scores
        return f"you {you}, engine {engine}"

    def summary(self) -> Text:
        """Sum up: the winner, and the losses by the person's choices."""
        lines: Text = [""]
        situation = self.session.situation
        if situation.winner is not None:
            you, engine = situation.scores
            winner = "you win" if situation.winner == 0 else "the engine wins"
            lines.append(f"{winner}, {you} to {engine}")
        own = self.session.tally
        if own.moves:
            mistakes = counted(own.grades["mistake"], "mistake")
            blunders = counted(own.grades["blunder"], "blunder")
            lines.append(
                f"{mistakes} and {blunders} in {counted(own.moves, 'turn')}; all choices "
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

    def _hint(self) -> Text:
        odds = self.session.odds()
        best, *equals = [entry.dice for entry in odds if entry.loss == 0.0]
        also = f" (as good: {', '.join(map(str, equals))})" if equals else ""
        chance = percent(odds[0].win_probability)
        return [f"best: roll {best}{also}, win probability {chance} with {self._then()}"]

    def _odds(self, only: int | None = None) -> Text:
        rows = [
            (entry.dice, percent(entry.win_probability), loss(entry.loss))
            for entry in self.session.odds()
            if only in {None, entry.dice}
        ]
        return [Table(rows, ("dice", "win probability", "loss"), left=0), f"then {self._then()}"]

    def _undo(self) -> Text:
        undone = self.session.undo()
        if not undone:
            return ["nothing to take back"]
        return [f"taken back: {counted(len(undone), 'turn')}, you rolled {undone[0].dice}"]

    def _then(self) -> str:
        """Name the play that win probabilities assume."""
        if self.session.engine.optimal:
            memory = " and remembering everything" if self.remembers else ""
            return f"both playing optimally{memory} from the next turn on"
        return f"both playing {self.engine} from the next turn on"
