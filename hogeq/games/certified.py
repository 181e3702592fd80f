"""Certificates of any game: bounds on what a response to a strategy gets, with their proofs."""

from collections.abc import Sequence

from hogeq.games.game import Game
from hogeq.games.given import StrategySpec
from hogeq.games.hog import Hog
from hogeq.games.rows import RowGame
from hogeq.model.priced import Problem
from hogeq.rules import Rules
from hogeq.search import certificate
from hogeq.search.certificate import Certificate, CertificateError, OtherGame
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.messages import refusal


def certify(
    game: Game,
    strategy: StrategySpec,
    seconds: float,
    name: str,
    forget: str | None = None,
    teams: str | None = None,
) -> Certificate:
    """Look for so many seconds for a bound on all responses to a strategy.

    Other games than Hog are loaded by their `name`, with what players `forget`, and `teams`.
    """
    if isinstance(game, Hog):
        return certificate.certified_bound(game.engine, game.strategy(strategy), seconds)
    about = OtherGame(name, _digest(game), forget, teams)
    target = game.strategy(strategy).whole()
    found = certificate.certify(_problems(game, target), seconds, shown=game.units.exact)
    return certificate.certificate_of(about, target, found)


def check(game: Game, given: Certificate) -> Certificate:
    """Prove a certificate again, of the game that it names; nothing else that it says is believed.

    Raises
    ------
    CertificateError
        If the game is another one than the certificate is about.
    """
    if isinstance(given.game, Rules):
        return certificate.check_certificate(given)
    if _digest(game) != given.game.digest:
        there = f"that of {given.game.name}, {_digest(game)}"
        raise CertificateError(refusal("game.digest", given.game.digest, there))
    chances, policies = given.strategy.chances, given.strategy.policies
    is_one = given.strategy.kind != "mixture"
    target = game.strategy(policies[0] if is_one else Mixture(chances, policies))
    return certificate.check_certificate(given._replace(strategy=target), _problems(game, target))


def _digest(game: Game) -> str:
    """Hash of a game other than Hog."""
    if not isinstance(game, RowGame):
        raise CertificateError(refusal("game", game.name, "games other than Hog"))
    return game.rows.digest()


def _problems(game: Game, target: Strategy) -> Sequence[Problem]:
    return game._problems(target)  # noqa: SLF001 - users have no use for it
