"""Projects as students hand them in, written by hand from the rules of their semesters."""

from pathlib import Path

DICE = """
from random import randint
def make_fair_dice(sides):
    def dice():
        return randint(1, sides)
    return dice
four_sided = make_fair_dice(4)
six_sided = make_fair_dice(6)
"""

ROLLS = """
from dice import six_sided
def roll_dice(num_rolls, dice=six_sided):
    rolled = [dice() for _ in range(num_rolls)]
    return 1 if 1 in rolled else sum(rolled)
"""

PRIMES = """
def num_factors(n):
    return len([k for k in range(1, n + 1) if n % k == 0])
def is_prime(n):
    return num_factors(n) == 2
def next_prime(n):
    n = n + 1
    while not is_prime(n):
        n = n + 1
    return n
"""

UPDATE = """
def simple_update(num_rolls, player_score, opponent_score, dice=six_sided):
    return player_score + take_turn(num_rolls, player_score, opponent_score, dice)
"""

TURN = """
def take_turn(num_rolls, player_score, opponent_score, dice=six_sided):
    if num_rolls == 0:
        return {}(player_score, opponent_score)
    return roll_dice(num_rolls, dice)
"""

OLD_TURN = """
def take_turn(num_rolls, opponent_score, dice=six_sided):
    if num_rolls == 0:
        return {}(opponent_score)
    return roll_dice(num_rolls, dice)
"""

BOAR = """
def boar_brawl(player_score, opponent_score):
    return max(1, 3 * abs(opponent_score // 10 % 10 - player_score % 10))
"""

SUS = """
def sus_points(score):
    return next_prime(score) if num_factors(score) in (3, 4) else score
def sus_update(num_rolls, player_score, opponent_score, dice=six_sided):
    return sus_points(simple_update(num_rolls, player_score, opponent_score, dice))
def boar_strategy(score, opponent_score, threshold=11, num_rolls=6):
    return 0 if boar_brawl(score, opponent_score) >= threshold else num_rolls
def sus_strategy(score, opponent_score, threshold=11, num_rolls=6):
    gained = sus_update(0, score, opponent_score) - score
    return 0 if gained >= threshold else num_rolls
"""

FINAL = """
PLAYER_NAME = 'Ann'
def final_strategy(score, opponent_score):
    return 0 if boar_brawl(score, opponent_score) > 5 else 3
"""

FA25 = ROLLS + PRIMES + BOAR + TURN.format("boar_brawl") + UPDATE + SUS

PROJECTS = {
    "fa25": FA25,
    "su23": ROLLS + BOAR + TURN.format("boar_brawl") + UPDATE + """
from math import gcd
def fuzzy_points(score):
    shared = gcd(score, 100)
    return score + 2 * (shared // 10 % 10) if shared > 10 else score
def fuzzy_update(num_rolls, player_score, opponent_score, dice=six_sided):
    return fuzzy_points(simple_update(num_rolls, player_score, opponent_score, dice))
""",
    "fa22": ROLLS + """
def tail_points(opponent_score):
    return 2 * abs(opponent_score // 10 % 10 - opponent_score % 10) + 1
def take_turn(num_rolls, player_score, opponent_score, dice=six_sided):
    return roll_dice(num_rolls, dice) if num_rolls else tail_points(opponent_score)
""" + UPDATE + """
def square_update(num_rolls, player_score, opponent_score, dice=six_sided):
    score = simple_update(num_rolls, player_score, opponent_score, dice)
    roots = [k for k in range(score + 1) if k * k == score]
    return (roots[0] + 1) ** 2 if roots else score
""",
    "su22": ROLLS + PRIMES + """
def oink_points(player_score, opponent_score):
    return max(1, 2 * (opponent_score // 10 % 10) - opponent_score % 10)
""" + TURN.format("oink_points") + """
def pigs_on_prime(player_score, opponent_score):
    if player_score == 1 or is_prime(player_score):
        return next_prime(player_score) - player_score
    return 0
""",
    "fa21": ROLLS + """
def picky_piggy(score):
    return int('142857'[score % 6 - 1]) if score else 7
def hog_pile(player_score, opponent_score):
    return player_score if player_score == opponent_score else 0
""" + OLD_TURN.format("picky_piggy"),
    "su21": ROLLS + """
def piggy_points(score):
    return abs(score // 10 % 10 - score % 10) + 4
def more_boar(player_score, opponent_score):
    mine, other = str(player_score), str(opponent_score)
    return min(mine) < min(other) and max(mine) > max(other)
""" + OLD_TURN.format("piggy_points"),
    "fa20": ROLLS + """
from math import gcd
PI = '3141592653589793'
def free_bacon(score):
    return int(PI[score]) + 3
def extra_turn(player_score, opponent_score):
    align = player_score and opponent_score and gcd(player_score, opponent_score) >= 10
    return bool(align) or 0 < opponent_score - player_score < 3
""" + OLD_TURN.format("free_bacon"),
    "su20": ROLLS + """
def free_bacon(score):
    return 10 - score % 10 + score // 10
def is_swap(player_score, opponent_score):
    return abs(player_score % 10 - opponent_score % 10) == opponent_score // 10 % 10
""" + OLD_TURN.format("free_bacon"),
}  # fmt: skip
"""Projects without a fault, by edition."""

SAMPLED = """
def make_averaged(original_function, times_called=1000):
    def averaged(*args):
        return sum(original_function(*args) for _ in range(times_called)) / times_called
    return averaged
def max_scoring_num_rolls(dice=six_sided, times_called=2):
    mean = make_averaged(roll_dice, times_called)
    return max(range(1, 4), key=lambda number: mean(number, dice))
BEST = max_scoring_num_rolls()
def final_strategy(score, opponent_score):
    return (BEST + score) % 4
"""


def put(folder: Path, code: str, name: str = "hog.py") -> str:
    """Write a project; give the path of its main file."""
    folder.mkdir(exist_ok=True)
    (folder / "dice.py").write_text(DICE)
    (folder / name).write_text(code)
    return str(folder / name)
