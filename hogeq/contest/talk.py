"""Lines of a game in the terminal, for each event and each command of the player."""

import re
from collections.abc import Callable
from typing import Final

from hogeq import Hog, Session, Situation, Turn, describe
from hogeq.support.messages import Table, Text, counted, indented, loss, percent

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
        """Prepare a session's talk, and the commands that a person may type."""
        self.session = session
        self.engine = engine
        self.rules = game.rules
        self.memory_line = game.memory_line
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
        """Introduce the players, the rules and the first mover; `endless` are more lines."""
        return [
            f"{title}, you against {self.engine}, seed {self.session.seed}",
            "",
            Table(describe(self.rules), left=2),
            "",
            f"Win probabilities count on {self._assumed_play()}.",
            *endless,
            "help lists what can be typed.",
            "",
            "you move first" if self.session.yours else "engine moves first",
        ]

    def before_turn(self) -> Text:
        """Announce the situation, unless it was announced before."""
        session = self.session
        situation = session.situation
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
        match = re.fullmatch(r"(odds )?(-?[0-9]{1,9})", line)
        if match:
            dice = int(match[2])
            if not self.rules.least_answer <= dice <= self.rules.max_dice:
                return [f"{match[2]} dice; allowed: {self.choices}"]
            is_about_odds = match[1] is not None
            return self._odds(dice) if is_about_odds else self.after_turn(self.session.play(dice))
        if line in self.commands:
            return self.commands[line]()
        if not line:
            return ["type a number of dice, or help"]
        return [f"{line[:40]!a}: not understood; type a number of dice, or help"]

    def after_turn(self, turn: Turn) -> Text:
        """Describe the effects of a turn, and the loss of the person's own roll."""
        roll, *further_effects = turn.effects(self.rules)
        player = Session.PLAYERS[turn.before.mover]
        lines = [*further_effects, self.score()]
        if turn.before.mover == 0:  # the person
            probability = f"win probability {percent(turn.value)}"
            verdict = f"no roll is better: {probability}"
            if turn.loss:
                best = f"{percent(turn.best_value)} with the best, {turn.best[0]}"
                verdict = f"loss {loss(turn.loss)}, {turn.grade}: {probability}, {best}"
            lines.append(f"{verdict}; so far {loss(self.session.tally.loss)}")
        return [f"{player} {roll}", *indented(lines)]

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
        tally = self.session.tally  # of the person's own choices
        if tally.moves:
            mistakes = counted(tally.grades["mistake"], "mistake")
            blunders = counted(tally.grades["blunder"], "blunder")
            lines.append(
                f"{mistakes} and {blunders} in {counted(tally.moves, 'turn')}; all choices "
                f"together lost {loss(tally.loss)} of win probability"
            )
        if tally.costliest:
            worst = tally.costliest[0]
            score, opponent = worst.before.view
            lines.append(
                f"the worst: turn {worst.number}, {score} against {opponent}: rolled {worst.dice}, "
                f"best {worst.best[0]}, loss {loss(worst.loss)}, {worst.grade}"
            )
        return lines

    def _hint(self) -> Text:
        """Name the best roll, and others that are as good."""
        odds = self.session.odds()
        best, *equally_good = [entry.dice for entry in odds if entry.loss == 0.0]
        also = f" (as good: {', '.join(map(str, equally_good))})" if equally_good else ""
        chance = percent(odds[0].win_probability)
        return [f"best: roll {best}{also}, win probability {chance} with {self._assumed_play()}"]

    def _odds(self, only_dice: int | None = None) -> Text:
        """Tabulate the win probability and the loss of every roll, or of one number of dice."""
        rows = [
            (entry.dice, percent(entry.win_probability), loss(entry.loss))
            for entry in self.session.odds()
            if only_dice in {None, entry.dice}
        ]
        table = Table(rows, ("dice", "win probability", "loss"), left=0)
        return [table, f"then {self._assumed_play()}"]

    def _undo(self) -> Text:
        """Take back the person's last turn, and those after it."""
        undone = self.session.undo()
        if not undone:
            return ["nothing to take back"]
        return [f"taken back: {counted(len(undone), 'turn')}, you rolled {undone[0].dice}"]

    def _assumed_play(self) -> str:
        """Name the play that win probabilities assume."""
        if self.session.engine.optimal:
            memory = " and remembering everything" if self.remembers else ""
            return f"both playing optimally{memory} from the next turn on"
        return f"both playing {self.engine} from the next turn on"
