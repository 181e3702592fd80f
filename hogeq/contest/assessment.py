"""A submission assessed, for the text, the JSON and the page of a check."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hogeq import Assessment, EndlessError, Hog, Strategy, Submission, WinRates
from hogeq.support.messages import Part, Table, Text, as_dicts, percent


class Outcome(NamedTuple):
    """Exact win rates against one opponent, as `WinRate` has them; None if games never end."""

    strategy: str  # name of the opponent
    win_rate: float | None
    first: float | None
    second: float | None


class Reference(NamedTuple):
    """Whom submissions are compared with."""

    against: Strategy  # the opponent of losses and changes
    opponents: Mapping[str, Strategy]  # those that a submission is played against, by name


@dataclass(frozen=True)
class Facts:
    """What is known of a submission, for its text, its JSON and its page."""

    rules: str  # their title
    file: str
    submission: Submission
    against: str | None = None  # name of the opponent of the assessment
    assessment: Assessment | None = None  # None, as is `against`, if there is no valid table
    win_rates: Sequence[Outcome] = ()

    def to_json(self) -> dict[str, Any]:
        """Return them as plain values.

        ``rules``, ``file``, ``valid``, ``player_name``, ``bytes``, ``name`` (the player's again),
        ``answered`` (positions), ``asked`` (the one at which it was stopped), ``files`` (other
        files that it says it used), ``alone`` (whether it works without them), ``prints`` (whether
        it says that it prints, which is lost), ``draws`` (whether it says that it draws random
        numbers without a seed), ``seconds`` (load, table, slowest: the longest wait for an answer;
        None for a table), ``faults`` (kind, count, told); and, None if there is no valid table:
        ``win_rates`` (strategy, win_rate, first, second), ``against``, ``win_rate``,
        ``best_response`` (with hidden memory, win rate of the best found), ``bound`` (no response
        wins more), ``effort`` (of that search: starts, anneal_steps, damping, kicks, seed; None if
        best_response is exact), ``loss`` (kind, loss, positions: of each kind of mistake, with the
        sum best_response - win_rate), ``loss_by_phase`` and ``loss_by_lead`` (the same),
        ``rule_changes`` (change, positions, gain: simple changes of the table), ``losses`` (score,
        opponent, roll, best, loss, reach), ``changes`` (score, opponent, roll, instead, gain),
        ``changed`` (win rate with all the changes), ``endless`` (win rate lost by games that never
        end).
        """
        submission = self.submission
        same_names = ("name", "answered", "asked", "files", "alone", "prints", "draws")
        described = {
            "rules": self.rules,
            "file": self.file,
            "valid": not submission.faults,
            "player_name": submission.name,
            "bytes": submission.size,
            **{key: getattr(submission, key) for key in same_names},
            "seconds": submission.seconds or None,
            "faults": [
                {"kind": fault.kind, "count": fault.times, "told": [fault.line]}
                for fault in submission.faults
            ],
        }
        arrays = {"costs", "rolls", "best"}
        keys = [key for key in Assessment._fields if key not in arrays]
        assessed: dict[str, Any] = dict.fromkeys(["win_rates", "against", *keys])
        if self.assessment is not None:
            assessed |= {"win_rates": as_dicts(self.win_rates), "against": self.against}
            assessed |= self.assessment.to_json()
        return described | assessed


def facts_of(
    game: Hog, file: str, rules: str, submission: Submission, reference: Reference | None
) -> Facts:
    """Assess a submission, if its table is valid and there is a reference; see `Facts.to_json`."""
    strategy = submission.strategy
    if strategy is None or reference is None:
        return Facts(rules, file, submission)
    against = reference.against
    assessment = game.explain(strategy, against)
    win_rates = outcomes(game, strategy, reference.opponents)
    return Facts(rules, file, submission, against.name, assessment, win_rates)


def game_with_goal(game: Hog, goal: int) -> tuple[Hog, Reference]:
    """Make the game in which an entrant has this goal, and its opponents the goal of the rules.

    Returns the game, and the opponents as strategies of its second player.
    """
    rules = game.rules
    entrant_game = game if goal == rules.goal else Hog(replace(rules, goal=(goal, rules.size)))
    opponent_game = entrant_game.second
    strongest = opponent_game.strategy(opponent_game.strongest)
    return entrant_game, Reference(strongest, opponent_game.baselines())


def outcomes(game: Hog, strategy: Strategy, opponents: Mapping[str, Strategy]) -> list[Outcome]:
    """Compute the exact win rates against each opponent; None where games never end."""
    outcomes = []
    for name, opponent in opponents.items():
        outcome = Outcome(name, win_rate=None, first=None, second=None)
        with suppress(EndlessError):
            outcome = Outcome(name, *game.win_rate(strategy, opponent))
        outcomes.append(outcome)
    return outcomes


def assessed_text(facts: Facts) -> Text:
    """Lay out the assessment of a submission, most useful first; nothing if it is not valid."""
    if facts.assessment is None:
        return []
    return facts.assessment.text(str(facts.against), results(facts.win_rates))


def results(win_rates: Iterable[Outcome]) -> Iterator[Part]:
    """Lay out the win rates against all opponents as one part, with its table and bars."""
    rows = []
    bars = []  # length and colour
    for opponent, rate, *_ in win_rates:
        rows.append((opponent, "never ends" if rate is None else percent(rate)))
        bars.append((rate or 0.0, f"half {outcome(rate)}"))
    yield Part("wins against (`hogeq strategies` says how they play)", Table(rows), bars)


def outcome(rate: float | None, threshold: float = WinRates.WIN) -> str:
    """Classify a win rate: "good" above the threshold, "bad" if the opponent's is; else empty."""
    if rate is None:
        return ""
    if WinRates.is_above(rate, threshold):
        return "good"
    return "bad" if WinRates.is_above(1.0 - rate, threshold) else ""
