"""What a text names: an edition, a file or a run, of Hog or of another game; nothing is built."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hogeq.rules import Rules, reading


class GameName:
    """Name of a game as a user types it: an edition's, or that of a file, a run or another game.

    Attributes
    ----------
    text : str
        The name; an edition's in its own spelling.

    Examples
    --------
    >>> import hogeq
    >>> name = hogeq.GameName("FA25")
    >>> name.text, name.is_hog, name.rules().goal
    ('fa25', True, 100)
    >>> hogeq.GameName("kuhn_poker").is_hog
    False
    """

    def __init__(self, text: object) -> None:
        self.text = reading.edition_name(str(text))

    @property
    def is_hog(self) -> bool:
        """Whether it names rules of Hog rather than another game."""
        return reading.is_hog(self.text)

    @property
    def config(self) -> Mapping[str, Any]:
        """Config of the run that it names; empty if it names none."""
        return reading.config_of(Path(self.text))

    @property
    def is_run(self) -> bool:
        """Whether it names the folder of a run."""
        return reading.run_file(Path(self.text)) is not None

    @property
    def how(self) -> dict[str, Any]:
        """Teams of the game of the run that it names, and its forgetting."""
        return reading.how_of(self.config)

    @property
    def holds_tree(self) -> bool:
        """Whether it names a file of a game other than Hog."""
        return bool(reading.tree_suffix(self.text))

    def rules(self, trust: bool = False) -> Rules:
        """Find the rules that it names, of Hog."""
        return reading.find_rules(self.text, trust)

    def load_plugins(self, trust: bool) -> None:
        """Load the plugins of the run that it names."""
        reading.load_plugins_of(Path(self.text), trust)

    def require(self) -> None:
        """Refuse the name of no game, other than Hog."""
        from hogeq.trees.loading import require_game

        require_game(self.text)

    def title(self, forget: str | None = None, teams: str | None = None) -> str:
        """Name of a game other than Hog in texts, with what players forget, and teams."""
        from hogeq.trees.teams import title_of

        return title_of(self.text, forget, teams)

    @staticmethod
    def teams(teams: Any) -> str:
        """Write teams as a text, ``01/2``; `ValueError` if they are none."""
        from hogeq.trees.teams import teams_text

        return teams_text(teams)

    @staticmethod
    def with_tables(rules: Any, folder: Path, source: str) -> Any:
        """Read the tables that rules, as plain values, name as files seen from `folder`."""
        return reading.with_tables(rules, folder, source)


def require_strategy(name: str, *, hog: bool = True) -> None:
    """Refuse a text that names neither a strategy nor a file; no game is needed.

    Parameters
    ----------
    name : str
    hog : bool
        Whether the game is Hog; in others the strategy that has a name is ``uniform``.

    Raises
    ------
    ValueError
        With the nearest name.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.require_strategy("always_roll:6")
    >>> try:
    ...     hogeq.require_strategy("allways_roll:6")
    ... except hogeq.StrategyError as error:
    ...     print(error.where)
    strategy 'allways_roll:6'
    """
    if hog:
        from hogeq.baselines.registry import require_known

        require_known(name)
        return
    from hogeq.trees.strategies import require_named

    require_named(name)
