"""A long local search on one matrix, saved after every round.

    python experiments/local_search.py --strategy results/cfr_br/policy.npz --rounds 500 --jobs 2

Starts from a policy (its argmax, or rounded first with --start round) or a matrix; a search that
was cut off goes on where it was when the same command is given again. Known counter-matrices can
be given to begin with: files of strategies, or the state of another search. Writes
results/local_search/state.npz and matrix.csv, and prints a line for each new matrix.
"""

import argparse

import numpy as np
from common import arguments, small_game
from tqdm import tqdm

from hogeq.model.game import Game
from hogeq.purification.local_search import LocalSearch, SearchState
from hogeq.strategies.read import read_strategy
from hogeq.strategies.write import write_strategy
from hogeq.support.files import replacing
from hogeq.support.workers import workers


def main() -> None:
    """Search and save."""
    given = arguments(
        __doc__,
        edition="su20",
        goal=0,
        dice=0,
        strategy="",
        counters=("",),
        start="argmax",
        rounds=500,
        radius=64,
        warm=3,
        starts=2,
        anneal_steps=60,
        most=128,
        active=32,
        seed=0,
        jobs=1,
    )
    with workers(given.jobs):
        search_on(given)


def search_on(given: argparse.Namespace) -> None:
    """Do the rounds that are left."""
    game = small_game(given.edition, given.goal, given.dice)
    names = ("radius", "start", "warm", "starts", "anneal_steps", "most", "active", "seed")
    search = LocalSearch(given.rounds, **{name: getattr(given, name) for name in names})
    folder = given.out / "local_search"
    folder.mkdir(parents=True, exist_ok=True)
    saved = folder / "state.npz"
    if saved.exists():
        with np.load(saved) as arrays:
            state = SearchState(**{name: arrays[name] for name in SearchState._fields})
    else:
        strategy = read_strategy(given.strategy, game.goal, game.rules.max_dice)
        counters = [known(game, path) for path in given.counters if path]
        state = search.init(game, strategy, np.concatenate(counters) if counters else None)
        print(f"round 0: attack {float(state.rate):.6f}", flush=True)
    bar = tqdm(total=given.rounds, initial=int(state.iteration), disable=None)
    while int(state.iteration) < given.rounds:
        before = state
        state = search.step(game, state)
        with replacing(saved) as path, path.open("wb") as file:
            np.savez(file, **state._asdict())
        write_strategy(folder / "matrix.csv", state.matrix)
        bar.update()
        if not np.array_equal(before.matrix, state.matrix):
            size = f"pool {len(state.pool)}, radius {float(state.radius):.0f}"
            rate = f"attack {float(state.rate):.6f}"
            print(f"round {int(state.iteration)}: {rate}, {size}", flush=True)


def known(game: Game, path: str) -> np.ndarray:
    """Counter-matrices of a file, (n, G, G)."""
    if path.endswith(".npz"):
        with np.load(path) as arrays:
            if "pool" in arrays:
                return arrays["pool"]
    return read_strategy(path, game.goal, game.rules.max_dice)[None]


if __name__ == "__main__":
    main()
