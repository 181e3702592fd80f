"""Workspaces belong to threads: none is shared by two, and many threads do not evict each other."""

from threading import Barrier, Thread

from hogeq.model.game import compile_game
from hogeq.model.many import quick_workspace, shared_duels, shared_workspace
from hogeq.model.workspace import Workspace
from hogeq.rules import rules_from

GAME = compile_game(rules_from({"edition": "su20", "goal": 6, "max_dice": 2}))


def test_a_thread_finds_its_workspace_again() -> None:
    assert shared_workspace(GAME, 2) is shared_workspace(GAME, 2)
    assert shared_workspace(GAME, 1) is not shared_workspace(GAME, 2)
    assert quick_workspace(GAME, 2) is quick_workspace(GAME, 2)
    assert shared_duels(GAME) is shared_duels(GAME)


def test_any_number_of_threads_keep_their_own() -> None:
    number = 40
    all_have_one = Barrier(number)
    found: list[tuple[Workspace, Workspace]] = []

    def use() -> None:
        first = shared_workspace(GAME, 2)
        all_have_one.wait()
        found.append((first, shared_workspace(GAME, 2)))

    threads = [Thread(target=use) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(first) for first, _ in found}) == number
    assert all(first is again for first, again in found)
