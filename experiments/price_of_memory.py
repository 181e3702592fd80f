"""What a responder's memory is worth: of nothing, of the own last turn, of everything.

    python experiments/price_of_memory.py                      exact, on small games
    python experiments/price_of_memory.py --goals 100 --dice 10 --most 0     what full size allows

Against the average policy of discounted CFR. On small games what a responder wins who remembers
nothing, the record of the own last turn, or that of the opponent's last turn, is found by branch
and bound ("*": the best found, not proved). With --most 0 only the attack found and the
full-memory bound are given. Prints a Markdown table and writes results/price_of_memory.md, or
with --most 0 results/price_of_memory_full.md.
"""

from common import EFFORT, arguments, effort, publish, small_game, solved
from research.branch_and_bound import branch_and_bound
from research.process import decision_process

from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__,
        editions=("su20",),
        goals=(10, 12, 14),
        dice=(3,),
        iterations=100,
        most=2000,
        **EFFORT,
    )
    rows = []
    for edition in given.editions:
        for goal in given.goals:
            for dice in given.dice:
                game = small_game(edition, goal, dice)
                policy = solved(game, "dcfr", given.iterations)
                won = [f"{attack(game, policy, effort(given)).win_rate:.6f}"]
                for kept in ("nothing", "own", "opponent") if given.most else ():
                    process = decision_process(game, policy, kept)
                    found = branch_and_bound(process, None, given.most)
                    won.append(f"{found.win_rate:.6f}{'' if found.is_exact else '*'}")
                won += [""] * (4 - len(won))
                bound = full_memory_bound(game, policy)
                rows.append([edition, goal, dice, *won, f"{bound:.6f}"])
    header = ["edition", "goal", "dice", "attack found", "nothing", "own", "opponent's"]
    name = "price_of_memory" if given.most else "price_of_memory_full"
    publish(given.out, name, [*header, "everything"], rows)


if __name__ == "__main__":
    main()
