"""Games of the papers on teams and on imperfect recall, of as many players and cards as one likes.

Each has the papers' name: 3K4 is Kuhn poker of three players and four ranks; 3L133 is Leduc poker
of three players, one bet a round, three ranks and three suits; 3D3 is liar's dice of three players
with three-sided dice (B. H. Zhang, G. Farina and T. Sandholm, "Team belief DAG", ICML 2023).
"""
# ruff: noqa: D102 - the base class says what each method does

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import perm
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

from pydantic import Field

from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import Count, Natural
from hogeq.trees import decision_problems  # noqa: F401 - whose games have names, too
from hogeq.trees.building import require_few_nodes
from hogeq.trees.flat import CHANCE
from hogeq.trees.rules import END, GameRules, register_game

Players = Annotated[int, Field(ge=2, le=9)]
Dealt = tuple[tuple[int, ...], str]  # cards or dice dealt, and the first letters of all bets
Rolled = tuple[tuple[int, ...], tuple[str, ...]]  # dice and bids
Bids = tuple[tuple[int, ...], tuple[int, ...]]  # prizes shown and cards bid

ENOUGH: Final = 30  # most raises that are counted: no tree of three players with more is small

PAPERS: Final = {
    "K": "kuhn(players={},ranks={})",
    "L": "leduc(players={},bets={},ranks={},suits={})",
    "D": "liars(players={},sides={})",
}


def full_name(name: str) -> str:
    """Write a name of the papers, 3K4, as that of a registered game with its parameters.

    ``liar`` is also a name of `LiarsDice`, and ``goofspiel`` of `Goofspiel` where it has `cards`:
    OpenSpiel's game of that name has `num_cards`.
    """
    if re.match(r"liar(\(|$)", name):
        return name.replace("liar", "liars", 1)
    if re.match(r"goofspiel\(([^)]*,)?\s*cards\s*=", name):
        return name.replace("goofspiel", "gops", 1)
    # Players, family and sizes: 3K4, 3D3 or 3L133.
    match = re.fullmatch(r"([2-9])(?:([KD])(\d+)|(L)(\d)(\d)(\d))", name.upper())
    if match is None:
        return name
    players, family, *sizes = filter(None, match.groups())  # of two alternatives one has no groups
    return PAPERS[family].format(players, *map(int, sizes))


# --- poker ----------------------------------------------------------------------------------------


class Bets(NamedTuple):
    """The betting after some bets."""

    paid: tuple[int, ...]  # by each player
    active: tuple[int, ...]  # players that have not folded
    waiting: tuple[int, ...]  # those who must act before the round ends, the next one first
    raises: int = 0  # in this round, the bet among them
    words: str = ""  # bets by their first letters, rounds with a stroke between
    actions: tuple[str, ...] = ()  # of the next player


@lru_cache(None)
def betting(players: int, most: int, sizes: tuple[int, ...], bets: str) -> Bets:
    """Return the betting after some bets, which are given by their first letters.

    All players ante 1. Each round has a size of its bets, and at most so many bets and raises.
    """
    everybody = tuple(range(players))
    if not bets:
        return Bets((1,) * players, everybody, everybody, actions=("check", "bet"))
    before = betting(players, most, sizes, bets[:-1])
    last_bet = bets[-1]
    player, *others = before.waiting
    waiting = tuple(others)
    paid = [*before.paid]
    active = before.active
    raises = before.raises
    words = before.words + last_bet
    if last_bet == "f":
        active = tuple(other for other in active if other != player)
    else:  # whoever does not fold pays as much as the highest so far
        paid[player] = max(paid)
    if last_bet in "br":  # all others act again, from the next one around
        paid[player] += sizes[words.count("/")]
        others_after = tuple(other for other in active if other > player)
        waiting = others_after + tuple(other for other in active if other < player)
        raises += 1
    if len(active) == 1:
        waiting = ()
    elif not waiting and words.count("/") < len(sizes) - 1:  # the next round begins
        waiting = active
        raises = 0
        words += "/"
    actions = ["fold", "call"] if raises else ["check"]
    if raises < most:
        actions.append("raise" if raises else "bet")
    return Bets(tuple(paid), active, waiting, raises, words, tuple(actions))


@lru_cache(None)
def _ends(active: int, waiting: int, raises_left: int, *, has_bet: bool = False) -> int:
    """Count the ways in which a round of bets can end.

    `active` players have not folded; `waiting` ones must still act, if nobody bets or raises.
    """
    if active == 1 or not waiting:
        return 1
    ends = _ends(active, waiting - 1, raises_left, has_bet=has_bet)  # check or call
    if has_bet:  # fold
        ends += _ends(active - 1, waiting - 1, raises_left, has_bet=True)
    if raises_left:  # bet or raise: all others act again
        ends += _ends(active, active - 1, raises_left - 1, has_bet=True)
    return ends


class Poker(GameRules):
    """Base of games in which players bet on hands; the best hand of those left wins the pot."""

    bets: int = 1  # most bets and raises of a round
    sizes: ClassVar[tuple[int, ...]]  # of a bet, by round

    @abstractmethod
    def needed(self, round_: int) -> int:
        """Count the cards that are dealt before a round's bets."""

    @abstractmethod
    def strength(self, dealt: tuple[int, ...], player: int) -> int:
        """Rank a hand at the end."""

    @abstractmethod
    def deals(self) -> int:
        """Count ways to deal all cards, or fewer."""

    def fewest_nodes(self) -> int:
        """Bound the number of nodes from below: ways to end one round of bets, for every deal."""
        ends = _ends(self.players, self.players, min(self.bets, ENOUGH))
        return max(self.deals(), 1) * max(ends, self.bets)

    def now(self, state: Dealt) -> Bets:
        """Return the betting at a state."""
        return betting(self.players, self.bets, self.sizes, state[1])

    def initial(self) -> Dealt:
        return (), ""

    def to_move(self, state: Dealt) -> int:
        # Who bets, or chance as long as cards of the round are to be dealt.
        dealt, _ = state
        now = self.now(state)
        if not now.waiting:
            return END
        round_ = now.words.count("/")
        return now.waiting[0] if len(dealt) >= self.needed(round_) else CHANCE

    def actions(self, state: Dealt) -> Sequence[str]:
        return self.now(state).actions

    def next(self, state: Dealt, action: Any) -> Dealt:
        dealt, bets = state
        return (dealt, bets + action[0]) if isinstance(action, str) else ((*dealt, action), bets)

    def payoffs(self, state: Dealt) -> list[float]:
        # The pot, shared by the best hands that have not folded, less what each has paid.
        dealt, _ = state
        now = self.now(state)
        winners = now.active
        if len(winners) > 1:  # the best hands share the pot
            hands = [self.strength(dealt, player) for player in winners]
            best = max(hands)
            winners = tuple(
                winner for winner, hand in zip(winners, hands, strict=True) if hand == best
            )
        pot_share = sum(now.paid) / len(winners)
        won = [pot_share if player in winners else 0.0 for player in range(self.players)]
        return [gain - paid for gain, paid in zip(won, now.paid, strict=True)]


@lru_cache(None)
def _deck(ranks: int, suits: int, dealt: tuple[int, ...]) -> Mapping[int, float]:
    """Return the probability of each rank of the next card, after some cards were dealt."""
    num_cards = {rank: suits - dealt.count(rank) for rank in range(ranks)}
    total = sum(num_cards.values())
    return {rank: number / total for rank, number in num_cards.items() if number}


@register_game("kuhn")
class Kuhn(Poker):
    """Kuhn poker of n players with r ranks, one card of each: nKr.

    One chip each, and one bet of one chip. With three players and four ranks it is that of N. Abou
    Risk and D. Szafron, "Using counterfactual regret minimization to create competitive multiplayer
    poker agents", AAMAS 2010, and OpenSpiel's. 3K4 has 617 nodes, 312 ends, 48 information sets.
    """

    players: Players = 2
    ranks: Count = 3
    sizes: ClassVar[tuple[int, ...]] = (1,)

    def __post_init__(self) -> None:
        """Refuse fewer cards than players, and trees that are too large to be built."""
        if self.ranks < self.players:
            raise HogeqError(refusal("ranks", self.ranks, f"{self.players} or more, one a player"))
        require_few_nodes(self.fewest_nodes())

    def deals(self) -> int:
        return perm(self.ranks, self.players)

    def needed(self, round_: int) -> int:  # noqa: ARG002 - there is one
        return self.players

    def chances(self, state: Dealt) -> Mapping[int, float]:
        return _deck(self.ranks, 1, state[0])

    def knows(self, state: Dealt, player: int) -> str:
        return f"{state[0][player]} {state[1]}"

    def strength(self, dealt: tuple[int, ...], player: int) -> int:
        return dealt[player]


@register_game("leduc")
class Leduc(Poker):
    """Leduc poker of n players with b bets a round, r ranks and s suits: nLbrs.

    One card each, a round of bets of 2, a public card, a round of bets of 4. A pair with the public
    card wins, else the higher rank (F. Southey and others, "Bayes' bluff", UAI 2005). Chance draws
    ranks, as in the papers, and in OpenSpiel with `suit_isomorphism`, which has 2L232 and 3L242.
    3L133 has 12,700 nodes, 6,477 ends and 684 information sets.
    """

    players: Players = 2
    bets: Count = 2
    ranks: Count = 3
    suits: Count = 2
    sizes: ClassVar[tuple[int, ...]] = (2, 4)

    def __post_init__(self) -> None:
        """Refuse fewer cards than are dealt, and trees that are too large to be built."""
        if self.ranks * self.suits <= self.players:
            allowed = f"more than {self.players} cards, ranks times suits"
            raise HogeqError(refusal("suits", self.suits, allowed))
        require_few_nodes(self.fewest_nodes())

    def deals(self) -> int:
        return perm(self.ranks, self.players + 1)  # all of another rank

    def needed(self, round_: int) -> int:
        return self.players + round_

    def chances(self, state: Dealt) -> Mapping[int, float]:
        return _deck(self.ranks, self.suits, state[0])

    def knows(self, state: Dealt, player: int) -> str:
        dealt = state[0]
        words = self.now(state).words
        return f"{dealt[player]} {words.replace('/', f' {dealt[-1]} ')}"

    def strength(self, dealt: tuple[int, ...], player: int) -> int:
        is_pair = dealt[player] == dealt[-1]
        return dealt[player] + (self.ranks if is_pair else 0)


@register_game("die_roll_poker")
class DieRollPoker(Poker):
    """Die-roll poker: a die each before each of two rounds, with at most two bets of 2, then of 4.

    The larger sum wins. With `forgets`, players know the sum of their dice alone (M. Lanctot, R.
    Gibson, N. Burch, M. Zinkevich and M. Bowling, "No-regret learning in extensive-form games with
    imperfect recall", ICML 2012). It has 97,741 nodes.
    """

    sides: Count = 6
    forgets: bool = False
    bets: Count = 2
    sizes: ClassVar[tuple[int, ...]] = (2, 4)

    def __post_init__(self) -> None:
        """Refuse trees that are too large to be built."""
        require_few_nodes(self.fewest_nodes())

    def deals(self) -> int:
        return self.sides**4

    def needed(self, round_: int) -> int:
        return 2 + 2 * round_

    def chances(self, state: Dealt) -> Mapping[Any, float]:  # noqa: ARG002 - dice are alike
        faces = range(1, self.sides + 1)
        return dict.fromkeys(product(faces, faces), 1 / self.sides**2)

    def next(self, state: Dealt, action: Any) -> Dealt:
        dealt, bets = state
        return super().next(state, action) if isinstance(action, str) else (dealt + action, bets)

    def knows(self, state: Dealt, player: int) -> str:
        own = state[0][player::2]
        return f"{sum(own) if self.forgets else own} {self.now(state).words}"

    def strength(self, dealt: tuple[int, ...], player: int) -> int:
        return sum(dealt[player::2])


# --- dice and bids --------------------------------------------------------------------------------


@lru_cache(None)
def _higher(dice: int, sides: int, first: str, last: str | None) -> Sequence[str]:
    """List the bids after the last one: `2-3` is that two dice or more show 3; then `liar`."""
    bids = [f"{many}-{face}" for many in range(1, dice + 1) for face in range(1, sides + 1)]
    if first == "face":
        bids.sort(key=lambda bid: bid.split("-")[1])
    return bids if last is None else [*bids[bids.index(last) + 1 :], "liar"]


@register_game("liars")
class LiarsDice(GameRules):
    """Liar's dice of n players with a private die of d sides each: nDd.

    In turn players raise the bid, or call the last bid a lie. Of bidder and caller, the one who is
    wrong pays 1 to the other. A bid is higher by its face `first`, then by its number, or the
    other way round. With `wild` the highest face counts as every face. The papers have the
    defaults; OpenSpiel has `wild` and two players alone, with `first=number`, or with `first=face`
    by `bidding_rule=reset-quantity`. 3D3 has 27,634 nodes, 13,797 ends and 1,536 information sets.
    """

    players: Players = 2
    sides: Annotated[int, Field(ge=1, le=9)] = 3
    wild: bool = False
    first: Literal["face", "number"] = "face"

    def initial(self) -> Rolled:
        return (), ()

    def to_move(self, state: Rolled) -> int:
        dice, bids = state
        if len(dice) < self.players:
            return CHANCE
        return END if bids and bids[-1] == "liar" else len(bids) % self.players

    def actions(self, state: Rolled) -> Sequence[Any]:
        dice, bids = state
        if len(dice) < self.players:
            return range(1, self.sides + 1)
        return _higher(self.players, self.sides, self.first, bids[-1] if bids else None)

    def next(self, state: Rolled, action: Any) -> Rolled:
        dice, bids = state
        return (dice, (*bids, action)) if isinstance(action, str) else ((*dice, action), bids)

    def knows(self, state: Rolled, player: int) -> str:
        return " ".join((str(state[0][player]), *state[1]))

    def payoffs(self, state: Rolled) -> list[int]:
        dice, bids = state  # the last bid is `liar`, which challenges the one before
        bid_number, face = map(int, bids[-2].split("-"))
        number = sum(die == face or (self.wild and die == self.sides) for die in dice)
        bidder = (len(bids) - 2) % self.players
        caller = (len(bids) - 1) % self.players
        winner, loser = (bidder, caller) if number >= bid_number else (caller, bidder)
        payoffs = {winner: 1, loser: -1}
        return [payoffs.get(player, 0) for player in range(self.players)]


@register_game("gops")
class Goofspiel(GameRules):
    """Goofspiel, the "game of pure strategy", of n players with one card of each rank.

    In each turn all bid a card for a prize of 1 to `cards` points; the highest bid wins it, and
    nobody where two are highest. Payoffs are points less the mean. With all `turns`, 0, the last
    cards are played out. Where bids are `hidden`, players see the winner alone. OpenSpiel's
    `goofspiel` with `returns_type=point_difference`, turn by turn; its players forget the order of
    bids that all have seen.
    """

    players: Players = 2
    cards: Count = 3
    turns: Natural = 0
    order: Literal["descending", "ascending", "random"] = "descending"
    hidden: bool = False

    def initial(self) -> Bids:
        prizes = range(1, self.cards + 1)
        shown = {"ascending": prizes, "descending": reversed(prizes), "random": ()}
        return tuple(shown[self.order]), ()

    def to_move(self, state: Bids) -> int:
        prizes, bids = state
        turn, player = divmod(len(bids), self.players)
        if turn >= min(self.turns or self.cards, self.cards - 1):  # nobody chooses the last card
            return END
        return CHANCE if turn >= len(prizes) else player

    def actions(self, state: Bids) -> Sequence[int]:
        prizes, bids = state
        turn, player = divmod(len(bids), self.players)
        if turn >= len(prizes):  # chance draws a prize
            return self._cards_without(prizes)
        return self._cards_without(bids[player :: self.players])

    def _cards_without(self, used: tuple[int, ...]) -> list[int]:
        """List the ranks of a suit without those that were used."""
        return [card for card in range(1, self.cards + 1) if card not in used]

    def next(self, state: Bids, action: int) -> Bids:
        prizes, bids = state
        is_prize = len(bids) // self.players >= len(prizes)
        return ((*prizes, action), bids) if is_prize else (prizes, (*bids, action))

    def knows(self, state: Bids, player: int) -> str:
        # All prizes up to now, and all bids or, if bids are hidden, the own ones and the winners.
        prizes, bids = state
        turn = len(bids) // self.players
        past_bids = bids[: turn * self.players]  # those of this turn are not shown yet
        prize_text = f"prizes {prizes[: turn + 1]}"
        if self.hidden:
            own_bids = past_bids[player :: self.players]
            winners = self._winners(past_bids)
            return f"{prize_text} bids {own_bids} winners {winners}"
        return f"{prize_text} bids {past_bids}"

    def _winners(self, bids: tuple[int, ...]) -> list[int | None]:
        """List the player of the highest bid in each turn; None where two have it."""
        turns = [bids[start : start + self.players] for start in range(0, len(bids), self.players)]
        return [turn.index(max(turn)) if turn.count(max(turn)) == 1 else None for turn in turns]

    def payoffs(self, state: Bids) -> list[float]:
        prizes, bids = state
        if (self.turns or self.cards) >= self.cards:  # all turns: play the last cards out
            players = range(self.players)
            last_bids = [self._cards_without(bids[player :: self.players])[0] for player in players]
            prizes = (*prizes, *self._cards_without(prizes))
            bids = (*bids, *last_bids)
        won = [0] * self.players
        # There may be more prizes than turns.
        for prize, winner in zip(prizes, self._winners(bids), strict=False):
            if winner is not None:
                won[winner] += prize
        mean = sum(won) / self.players
        return [points - mean for points in won]
