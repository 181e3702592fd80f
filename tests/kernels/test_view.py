"""What kernels are handed for tables is of one type for all games with as many lanes."""

from dataclasses import replace

from hogeq.kernels.view import TablesView, ViewType
from hogeq.model.game import compile_game
from hogeq.rules import EDITIONS


def shape(kind: ViewType) -> dict[str, object]:
    return {
        name: (place, shape(field) if isinstance(field, ViewType) else field)
        for name, (place, field) in kind.fields.items()
    }


def test_games_with_as_many_lanes_share_their_kernels() -> None:
    types: dict[str, object] = {}
    for edition in EDITIONS.values():
        game = compile_game(replace(edition, goal=5, max_dice=2))
        kind = TablesView(game.tables)._numba_type_
        assert types.setdefault(kind.name, shape(kind)) == shape(kind)
    assert 1 < len(types) < len(EDITIONS)
