"""What players gain who alone deviate, against all their pure strategies."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.trees.members import nash_conv
from hogeq.trees.sequences import SequenceForm
from tests.cli.calls import ask, ok
from tests.own_rules import Moves
from tests.trees.test_teams import PARTNERS
from tests.trees.test_time import LOOKS, ticking

State = tuple[int, ...]


class Parity(Moves):
    """Chance draws a bit that player 1 sees; 0, 1, 2 say one each, then 0 a second: even sums win.

    Player 0 forgets what it said first if `forgets`.
    """

    players = 3
    movers = (hogeq.CHANCE, 0, 1, 2, 0)
    choices = (0, 1)
    forgets: bool = False

    def chances(self, state: Any) -> dict[int, float]:
        del state
        return {0: 0.25, 1: 0.75}

    def knows(self, state: Any, player: int) -> Any:
        own = {0: () if self.forgets else state[1:2], 1: state[:1], 2: ()}
        return len(state), own[player]

    def payoffs(self, state: Any) -> list[float]:
        won = 1.0 if sum(state) % 2 == 0 else -1.0 - state[2] - state[1] * state[4]
        return [won / 4, 3 * won / 4, -won]


class Forgetful(Parity):
    forgets = True


def gain_by_hand(game: Any, policy: Floats, player: int) -> float:
    """Try all pure strategies of one player."""
    tree = game.tree
    rows = np.flatnonzero(tree.member == player)
    sign = -1.0 if len(rows) and tree.seat[rows[0]] else 1.0
    gains = [0.0]
    for acts in product(*(range(int(tree.num_legal[row])) for row in rows)):
        other = policy.copy()
        other[rows] = np.eye(tree.num_actions)[list(acts)]
        gains.append(sign * (game.value(other).first - game.value(policy).first))
    return max(gains)


@pytest.mark.parametrize("rules", [Parity(), Forgetful()])
@pytest.mark.parametrize("teams", ["01/2", "02/1", "12/0"])
def test_a_player_alone_gains_what_its_best_pure_strategy_does(rules: Any, teams: str) -> None:
    game = hogeq.Game(rules, teams=teams)
    policy = np.random.default_rng(1).dirichlet([1.0, 1.0], game.tree.num_rows)
    found = game.nash_conv(policy)
    for player, one in enumerate(found.members):
        assert one.player == player
        assert one.lower == pytest.approx(gain_by_hand(game, policy, player), abs=1e-9)
        assert one.upper == pytest.approx(one.lower, abs=1e-9)
    assert found.lower == pytest.approx(2.0 * game.exploitability(policy).lower)
    # One who has no partner gains as much as its side does.
    alone = int(teams[-1])
    side, value = int(game.tree.seat[game.tree.member == alone][0]), game.value(policy)
    assert found.members[alone].lower == pytest.approx(
        found.response.seats[side] - (value.first if side == 0 else value.second)
    )


def test_partners_may_gain_together_what_none_gains_alone(in_folder: Path) -> None:
    Path("partners.efg").write_text(PARTNERS)
    call = "attack", "uniform", "--game", "partners.efg", "--teams", "01"
    found = ask(*call)
    assert found["nash_conv"] == pytest.approx({"lower": 1.0, "upper": 1.0})
    assert found["members"] == [{"player": one, "lower": 0.0, "upper": 0.0} for one in (0, 1)]
    lines = [line.split()[:3] for line in ok(*call).splitlines()[3:]]
    assert lines[:3] == [
        ["NashConv", "1.000000000", "gains"],
        ["player", "0", "0.000000000"],
        ["player", "1", "0.000000000"],
    ]


def test_without_teams_players_alone_are_the_sides() -> None:
    found = hogeq.Game("kuhn_poker").nash_conv("uniform")
    assert found.upper == pytest.approx(2 * 0.458333, abs=1e-6)
    assert sum(one.upper for one in found.members) == pytest.approx(found.upper)
    mixture = hogeq.Game("kuhn(players=3,ranks=3)", teams="01/2").equilibrium(5.0)
    if mixture.profile.kind == "mixture":
        with pytest.raises(hogeq.HogeqError, match="NashConv"):
            hogeq.Game("kuhn(players=3,ranks=3)", teams="01/2").nash_conv(mixture)


def test_ends_hold_whenever_the_time_is_over() -> None:
    game = hogeq.Game(Forgetful(), teams="01/2")
    policy = game.strategy(np.random.default_rng(1).dirichlet([1.0, 1.0], game.tree.num_rows))
    whole = game.nash_conv(policy)
    for looks in LOOKS:
        found = nash_conv(
            game.tree, policy, lambda *_: whole.response, hogeq.Budget(), ticking(looks)
        )
        for one, known in zip(found.members, whole.members, strict=True):
            assert one.lower <= known.upper <= one.upper + 1e-12
    none_left = game.nash_conv(policy, hogeq.Budget(seconds=0.0))
    assert [one[1:] for one in none_left.members] == [(0.0, none_left.upper)] * 3


def test_players_alone_do_not_wait_for_their_team() -> None:
    game = hogeq.Game(Forgetful(), teams="01/2")
    whole, clock = game.nash_conv("uniform"), [0.0]

    def respond(*_: object) -> hogeq.Response:
        clock[0] = 20.0
        return whole.response

    limit = Deadline(10.0, lambda: clock[0])
    uniform = game.strategy("uniform")
    assert nash_conv(game.tree, uniform, respond, hogeq.Budget(), limit) == whole


def test_rows_of_players_alone_are_split_in_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """No inflation has more than the time that is left."""
    limits: list[Deadline] = []
    inflate = SequenceForm._split

    def noted(form: SequenceForm, deadline: Deadline) -> tuple[SequenceForm, bool]:
        limits.append(deadline)
        return inflate(form, deadline)

    monkeypatch.setattr(SequenceForm, "_split", noted)
    game = hogeq.Game(Forgetful(), teams="01/2")
    game.nash_conv("uniform", hogeq.Budget(seconds=7.0))
    assert limits
    assert max(limit.seconds for limit in limits) < 7.0
