"""All turns of a game of Hog as plain values: ways to roll, their outcomes, landings of scores.

By these a program in another language plays and solves a game, and needs no rule by name.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hogeq.graph.turns import Way, landing_kinds, landings, lanes_of, no_dice_turns, ways_of
from hogeq.model.game import HogEngine
from hogeq.rules.memory import Memory, memory_columns, memory_texts
from hogeq.rules.register import title as title_of
from hogeq.rules.rules import Throw, boosted, minus_one_points, pig_out
from hogeq.rules.turn import (
    Branch,
    TurnTable,
    again_effect,
    bonus_effects,
    gift_effects,
    landing_effects,
    points_effects,
)


def turn_data(game: HogEngine) -> dict[str, Any]:
    """Give all turns of a game, fit for JSON."""
    return {**_Transitions(game).data(), **_memory(game)}


class _Transitions:
    """All turns of a game as arrays: ways to roll, the outcomes of each, landings of scores.

    A way to roll is an action with the dice, the bonus and the rest that a position and a memory
    make of it (`hogeq.graph.turns.Way`). A lane is a class of memories after which the next
    mover's memory depends on the turn in the same way.
    """

    def __init__(self, game: HogEngine) -> None:
        self.game = game
        self.rules = replace(game.rules, goal=game.goal)
        self.turns = TurnTable(self.rules)
        self.situation, number, self.ways = ways_of(self.rules)  # (G, G); (S, H, K); a list of W
        lane = lanes_of(self.rules).memory_lane
        # Where each player has a goal, the seat of the mover counts as a part of the memory:
        # memory m of seat s has the number s * H + m.
        seats = np.arange(2 if game.has_own_goals else 1)
        self.seat = np.repeat(seats, game.memory_size)  # (seats * H,), as the lane
        self.lane = np.tile(lane, len(seats)) + self.seat * (lane.max() + 1)
        self.number = np.tile(number, (1, len(seats), 1))  # (S, seats * H, K), a way to roll
        self.texts: dict[tuple[str, ...], int] = {(): 0}  # number of each text, lines of it
        self.lists: list[dict[str, Any]] = []  # outcomes of rolls, see `_add_outcomes`

    def text(self, lines: Sequence[str]) -> int:
        """Give a text its number: lines about the effects of rules, a new text the next number."""
        return self.texts.setdefault(tuple(lines), len(self.texts))

    def branches(self, way: Way) -> Sequence[Branch]:
        """List the outcomes of a way to roll; for no dice the one at the scores 0 and 0."""
        choice = self.rules.choices[way.action]
        if choice == 0:
            return [self.turns.branch_of_no_dice(0, 0)]
        return self.turns.branches(choice, way.throw)

    def data(self) -> dict[str, Any]:
        """Collect all arrays of the game by name, as the page's script edition.js reads them.

        1. List the outcomes of every way to roll; ways with the same throw and dice share a list.
        2. Add landings, and last the texts, to which everything else refers by number.
        """
        rules = self.rules
        kind_of_position, first_free_list = self._add_free(
            {way.throw.way_to_score for way in self.ways}
        )
        list_of_roll: dict[tuple[Throw, int], int] = {}
        rows = []  # one for each way
        for action, throw, bonus, forced in self.ways:
            dice = throw.dice(rules.choices[action])
            if dice == 0:
                outcome_list = first_free_list[throw.way_to_score]
            else:
                if (throw, dice) not in list_of_roll:
                    list_of_roll[throw, dice] = self._add_roll(throw, dice)
                outcome_list = list_of_roll[throw, dice]
            bonus_text = self.text(bonus_effects(rules, bonus))
            rows.append((outcome_list, dice, throw.sides, bonus, int(forced), bonus_text))
        names = ("list", "dice", "sides", "bonus", "forced", "told")
        columns = zip(*rows, strict=True)
        landing_data = self._landings()  # before the texts are listed, since it adds some
        return {
            "ways": dict(zip(names, columns, strict=True)),
            # The way to roll by situation, memory and choice, and the situation by position.
            "number": self.number.reshape(len(self.number), -1).tolist(),
            "situations": self.situation.ravel().tolist(),
            # By position: to be added to the number of the list of a way without dice.
            "free": kind_of_position,
            "seats": self.seat.tolist(),
            "lane": self.lane.tolist(),
            **self.sums(),
            "lists": self.lists,
            **landing_data,
            "texts": list(self.texts),
            # Texts about an extra turn: by another rule, then by the landing.
            "extra": [again_effect(rules, landed=by_landing) for by_landing in (False, True)],
            "minus": title_of(rules.memory),
        }

    def sums(self) -> dict[str, Any]:
        """List the distinct sums that are values of rolls, so that memories with the same share it.

        The value of a choice, a number of dice, is a sum over the outcomes of the roll. It depends
        on the position and on three numbers of the mover's memory: the way to roll (its dice, bonus
        and so on) in every situation, a kind of position; the mover's seat; and the lane, by which
        the next mover's memory follows. Memories that are equal in all three have one sum; those
        that differ in the lane alone are a mode.

        Returns "modes", a list of modes for each choice: the "ways" to roll by situation, the
        "seat", the number of the "first" sum, and "lanes", those of this sum and the next ones;
        "slots", the number of the sum by memory and choice, flat; and "sums", how many there are.
        """
        modes_by_choice = []
        sum_of_memory_by_choice = []  # of each choice, (H,)
        num_sums = 0
        for choice in range(self.game.num_actions):
            ways_by_situation = self.number[:, :, choice]  # (S, H), numbers of ways to roll
            columns = np.vstack([ways_by_situation, self.seat, self.lane])  # (S + 2, H)
            classes, class_of_memory = np.unique(columns, axis=1, return_inverse=True)
            modes: dict[tuple[int, ...], dict[str, Any]] = {}
            # Classes are sorted, so that the lanes of a mode have numbers one after another.
            for sum_number, (*ways, seat, lane) in enumerate(classes.T.tolist(), num_sums):
                new_mode = {"ways": ways, "seat": seat, "first": sum_number, "lanes": []}
                mode = modes.setdefault((*ways, seat), new_mode)
                mode["lanes"].append(lane)
            modes_by_choice.append([*modes.values()])
            sum_of_memory_by_choice.append(num_sums + class_of_memory.ravel())
            num_sums += classes.shape[1]
        sums_by_memory = np.transpose(sum_of_memory_by_choice)  # (H, K)
        return {
            "modes": modes_by_choice,
            "slots": sums_by_memory.ravel().tolist(),
            "sums": num_sums,
        }

    def _add_outcomes(
        self,
        branches: Sequence[Branch],
        results: Sequence[tuple[int, int, int]],
        ones: list[int] | None = None,
    ) -> int:
        """Append the outcomes of a roll to `self.lists`, in columns by name; return their number.

        `results` are those that dice can show, "plains": points shown, number of the outcome, and
        number of a text about that. `ones` are points by the number of ones, of a roll of dice.
        """
        points, gifts, records, probabilities = zip(*branches, strict=True)
        outcomes = {
            "points": points,
            "gifts": gifts,
            "records": records,
            "told": [self.text(gift_effects(gift)) for gift in gifts],
            "chances": [float(probability) for probability in probabilities],
            "plains": results,
        }
        self.lists.append(outcomes if ones is None else {**outcomes, "ones": ones})
        return len(self.lists) - 1

    def _add_roll(self, throw: Throw, dice: int) -> int:
        """Append the outcomes of a roll of dice, or of the choice -1; return the list's number.

        `throw` says how dice are thrown: their sides, whether ones hurt (Pig Out: then the points
        depend on their number alone, otherwise they are the sum), and `scores`, how the hidden
        memory changes the points. Points shown by the dice differ from those of a branch, which
        are after the rules that boost them.
        """
        rules = self.rules
        branches = self.turns.branches(dice, throw)
        if dice < 0:  # the choice -1 scores a fixed number of points
            shown = minus_one_points(rules)
            effects = points_effects(rules, shown, branches[0].points, boosted=False)
            return self._add_outcomes(branches, [(shown, 0, self.text(effects))])
        pig_out_points = []
        least_face = 1
        if throw.ones_hurt:
            pig_out_points = [pig_out(rules, ones, dice) for ones in range(1, dice + 1)]
            least_face = 2  # a sum has no ones
        sums = range(dice * least_face, dice * throw.sides + 1)
        # The same branches in the same order, with the points before the memory changes them.
        unchanged = self.turns.branches(dice, throw._replace(way_to_score=0))
        outcome_of = {branch.points: index for index, branch in enumerate(unchanged)}
        results = []
        for shown in sorted({*pig_out_points, *sums}):
            outcome = outcome_of[boosted(rules, shown)]
            effects = points_effects(rules, shown, branches[outcome].points)
            results.append((shown, outcome, self.text(effects)))
        return self._add_outcomes(branches, results, pig_out_points)

    def _add_free(self, scores: set[int]) -> tuple[list[int], dict[int, int]]:
        """Append the outcomes of rolling no dice: a list of one outcome for each kind of position.

        Positions are of one kind if rolling no dice scores the same there, before and after the
        rules that boost points. `scores` are codes of how the memory changes points
        (`Throw.way_to_score`); each has its own lists, in the order of the kinds.

        Returns the kind of each position, flat, and by code the number of its first list.
        """
        unboosted = replace(self.rules, prime_boost=False, touchdown=False)
        points = np.stack(
            [no_dice_turns(rules).points.ravel() for rules in (unboosted, self.rules)]
        )
        # Kinds are the distinct columns of points, each with the first position that has it.
        kinds, first_positions, kind_of_position = np.unique(
            points, axis=1, return_index=True, return_inverse=True
        )
        first_list = {}
        for score_code in sorted(scores):
            first_list[score_code] = len(self.lists)
            for shown, position in zip(kinds[0].tolist(), first_positions.tolist(), strict=True):
                own, other = divmod(position, self.game.goal)
                branch = self.turns.branch_of_no_dice(own, other, score_code)
                effects = points_effects(self.rules, shown, branch.points)
                self._add_outcomes([branch], [(shown, 0, self.text(effects))])
        return kind_of_position.ravel().tolist(), first_list

    def _landings(self) -> dict[str, Any]:
        """Tabulate landings by the two scores that a turn leaves, the mover's and the opponent's.

        Tables are flat. "moves": by how much a landing changes each score; "kinds": the next mover
        or the winner, one table for each seat of the mover if each player has a goal; "landed": the
        number of a text about it; "others": the number of opponent's scores, the length of a row.
        """
        ends = landings(self.rules)
        own_left, other_left = np.indices(ends.own_score.shape)
        is_changed = (ends.own_score != own_left) | (ends.opponent_score != other_left)
        text_numbers = np.zeros_like(ends.own_score)
        for own, other in np.argwhere(is_changed).tolist():
            text_numbers[own, other] = self.text(landing_effects(self.rules, own, other))
        goals = self.game.rules.goals
        goals_by_seat = dict.fromkeys((goals, goals[::-1]))  # one if both are equal
        kinds = [landing_kinds(ends, *seat_goals) for seat_goals in goals_by_seat]
        own_moves = ends.own_score - own_left
        other_moves = ends.opponent_score - other_left
        return {
            "others": ends.own_score.shape[1],
            "moves": [own_moves.ravel().tolist(), other_moves.ravel().tolist()],
            "kinds": [kind.ravel().tolist() for kind in kinds],
            "landed": text_numbers.ravel().tolist(),
        }


def _memory(game: HogEngine) -> dict[str, Any]:
    """Describe the memories of the mover by number: texts, goals, the start, and which follows.

    Where each player has a goal, memory m of the player with the second goal has number H + m.
    "following" has two flat arrays, after a turn that passes and after one that earns another: the
    next mover's memory by the record of the turn and the mover's lane (`hogeq.graph.turns.Lanes`).
    """
    rules = game.rules
    goals = rules.goals
    size = game.memory_size
    seats = range(2 if game.has_own_goals else 1)
    columns = memory_columns(rules)
    texts = [memory_texts(rules, memory) for memory in game.memories]
    if game.has_own_goals:
        columns = ["goals", *columns]
        goal_texts = [f"{goals[0]} against {goals[1]}", f"{goals[1]} against {goals[0]}"]
        texts = [[goal_texts[seat], *text] for seat in seats for text in texts]
    passed, earned_again = lanes_of(replace(rules, goal=game.goal)).next_memory
    # By seat of the mover: after a turn that passes, the other seat's memory is next.
    after_pass = [passed + size * next_seat for next_seat in reversed(seats)]
    after_again = [earned_again + size * seat for seat in seats]
    start = game.memories.index(Memory())
    return {
        "columns": columns,
        "memories": texts,
        "goals": [goals, goals[::-1]],
        "starts": [start, start + size * seats[-1]],
        "following": [
            np.concatenate(by_seat, axis=1).ravel().tolist()
            for by_seat in (after_pass, after_again)
        ],
    }
