"""Forged proofs about equilibria: the checker of experiments/ accepts none that says what is false.

One game has a matrix that is an equilibrium, so every proof that none exists is false; another one
has no equilibrium in policies, so every proof of one is.
"""

import gzip
import json
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import check_existence as checker
import numpy as np
import pytest
from census import FORMAT, rounded_down
from check_prices import priced_worth
from strict_files import RefusedError

import hogeq

PURE = {"edition": "su20", "goal": 5, "max_dice": 2, "sides": 6}
NONE = {"edition": "fa18", "goal": 4, "max_dice": 2, "sides": 2}
MIXED = {"edition": "fa13", "goal": 5, "max_dice": 1, "sides": 6}
Said = dict[str, Any]


def proof(rules: dict[str, Any], seconds: float = 60.0) -> Said:
    found = hogeq.Game(rules).existence(seconds)
    lower = rounded_down(found.lower)
    head = {"format": FORMAT, "rules": dict(rules), "kind": found.kind, "lower": lower}
    return json.loads(json.dumps({**head, **found.proof}))


@pytest.fixture(scope="module")
def good() -> dict[str, Said]:
    return {"matrix": proof(PURE), "none": proof(NONE), "policy": proof(MIXED)}


def accepts(said: Any) -> bool:
    """Whether the checker accepts a proof; whatever else it raises fails the test."""
    try:
        checker.Proof(said).check()
    except (RefusedError, KeyError, TypeError):
        return False
    return True


@pytest.mark.slow
def test_true_proofs_are_accepted(good: dict[str, Said]) -> None:
    for kind, said in good.items():
        assert said["kind"] == kind
        assert accepts(said)


def test_the_turns_are_those_of_the_package(good: dict[str, Said]) -> None:
    for said in good.values():
        game, hog = hogeq.Game(said["rules"]), checker.game_of(said["rules"])
        table = np.full((hog.rows, hog.actions), 1.0 / hog.actions)
        mixture = checker.Mixture(hog, np.ones(1), table[None])
        problem = checker.Problem(mixture, [np.eye(hog.actions)] * hog.rows)
        pure = np.random.default_rng(0).integers(0, hog.actions, hog.rows)
        rate = game.win_rate(pure.reshape(hog.goal, -1), table.reshape(hog.goal, hog.goal, -1))
        assert problem.relaxed(pure) == pytest.approx(rate.win_rate, abs=1e-11)


def test_a_loss_is_not_rounded_up(good: dict[str, Said], tmp_path: Path, capsys: Any) -> None:
    lower = checker.Proof(good["none"]).check()
    (tmp_path / "fa18-4x2-2_sides.json.gz").write_bytes(
        gzip.compress(json.dumps(good["none"]).encode())
    )
    assert checker.main(str(tmp_path)) == 0
    written = capsys.readouterr().out.splitlines()[0].rpartition(" ")[2]
    assert 0.99 * lower < float(written) <= lower
    assert checker.rounded_down(2.0069e-05) == "2.00e-05"
    assert checker.rounded_down(9.999e-05) == "9.99e-05"


def random_tree(
    draw: np.random.Generator, corners: list[int], leaves: tuple[int, ...] = (-1,)
) -> list[int]:
    """Draw a tree of rows with so many corners, whose walk is right."""
    if draw.random() < 0.5 or not corners:
        return [int(draw.choice(leaves))]
    row = int(draw.integers(len(corners)))
    parts = range(corners[row])
    return [row, *(one for _ in parts for one in random_tree(draw, corners[:row], leaves))]


def random_policies(draw: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw policies whose probabilities are multiples of one part in `CHANCES`."""
    parts = (draw.dirichlet(np.full(shape[-1], 0.5), shape[:-1]) * checker.CHANCES).astype(int)
    parts[..., 0] += checker.CHANCES - parts.sum(axis=-1)
    return parts / checker.CHANCES


def random_none(draw: np.random.Generator, hog: Any, rules: Said, near: list[int]) -> Said:
    """Claim that a game has no equilibrium, of random numbers about some matrix or near it."""
    size, actions = hog.rows, hog.actions
    count = int(draw.integers(1, 4))

    def matrices(number: int) -> list[list[int]]:
        changed = draw.random((number, size)) < draw.choice([0.0, 0.05, 1.0])
        return np.where(changed, draw.integers(0, actions, (number, size)), near).tolist()

    def weights(number: int) -> list[int]:
        shares = (draw.dirichlet(np.ones(number)) * checker.WHOLE).astype(int)
        shares[0] += checker.WHOLE - shares.sum()
        return shares.tolist()

    counters: list[Any] = matrices(3)
    if draw.random() < 0.5:  # policies near these
        others = random_policies(draw, (3, size, actions))
        share = draw.choice([0.0, 2.0**-6, 0.5])
        mixed = (1.0 - share) * np.eye(actions)[counters] + share * others
        parts = np.floor(checker.CHANCES * mixed).astype(int)
        parts[..., 0] += checker.CHANCES - parts.sum(axis=-1)
        counters = parts.tolist()
    corners = [actions] * size
    cut = [[int(draw.integers(size)), 0, 1]] if draw.random() < 0.3 else []
    leaves = [
        [weights(count), draw.integers(0, 3, count).tolist(), random_tree(draw, corners, (-1, -2))]
        for _ in range(1 + len(cut))
    ]
    return {
        "format": FORMAT,
        "rules": dict(rules),
        "kind": "none",
        "lower": float(draw.choice([1e-300, 1e-12, 1e-3])),
        "counters": counters,
        "boxes": [*cut, *leaves],
    }


def test_a_game_with_an_equilibrium_is_not_proved_to_have_none(good: dict[str, Said]) -> None:
    said = good["matrix"]
    hog, draw = checker.game_of(PURE), np.random.default_rng(1)
    near = [int(np.argmax(row)) for row in said["policy"]]
    for _ in range(300):
        assert not accepts(random_none(draw, hog, PURE, near))
    # Counters that are the equilibrium itself: no response wins more than 1/2, but some win 1/2.
    priced = [-2 if one == -1 else one for one in said["tree"]]
    for lower, tree in product((1e-300, 1e-16, 1e-13, 1e-11), (said["tree"], priced, [-2])):
        forged = random_none(draw, hog, PURE, near) | {"lower": lower, "counters": [near]}
        forged["boxes"] = [[[checker.WHOLE], [0], tree]]
        assert not accepts(forged)


def test_prices_are_refused_where_fractions_are_asked_for(good: dict[str, Said]) -> None:
    for kind in ("matrix", "policy"):
        said = good[kind]
        assert not accepts({**said, "tree": [-2 if one == -1 else one for one in said["tree"]]})


def test_no_response_wins_more_than_prices_say(good: dict[str, Said]) -> None:
    """The bound of the checker is no less than the best of all responses, found one by one."""
    hog, draw = checker.game_of(NONE), np.random.default_rng(7)
    lowered = 0
    for number in range(100):
        count, some = int(draw.integers(1, 4)), draw.choice(hog.rows, 5, replace=False)
        tables = np.eye(hog.actions)[draw.integers(0, hog.actions, (count, hog.rows))]
        if number % 2:
            tables = random_policies(draw, tables.shape)
        mixture = checker.Mixture(hog, draw.dirichlet(np.ones(count)), tables)
        problem = checker.Problem(mixture, [np.eye(hog.actions)] * hog.rows)
        fixed = draw.integers(0, hog.actions, hog.rows)
        best = 0.0
        for corners in product(range(hog.actions), repeat=5):
            fixed[some] = corners
            best = max(best, problem.relaxed(fixed))
        fixed[some] = -1
        problem.priced(fixed, problem.relaxed(fixed) + 1e-8)
        problem.priced(fixed, best + 1e-8)  # by branching, where prices are not enough
        with pytest.raises(RefusedError):
            problem.priced(fixed, best - 1e-11)
        known = (
            mixture.arrays,
            mixture.starts,
            problem.first,
            problem.corners,
            fixed,
            problem.near(),
        )
        assert priced_worth(*known, best - 1e-9)[0] >= best - 1e-11
        lowered += priced_worth(*known, best + 1e-6)[0] <= best + 1e-6 < problem.relaxed(fixed)
    assert lowered > 20


def test_a_priced_leaf_proves_no_more_than_is_true(good: dict[str, Said]) -> None:
    said = good["none"]
    every = [(at, place) for at, step in enumerate(said["boxes"]) if isinstance(step[0], list)
             for place, one in enumerate(step[2]) if one == -2]  # fmt: skip
    assert every  # prices are used
    best = next(lower for lower in np.arange(0.0126, 0.0, -1e-4)
                if accepts({**said, "lower": float(lower)}))  # fmt: skip
    assert said["lower"] <= best <= 0.01257  # what the best policy known loses


@pytest.mark.slow
def test_a_game_without_one_is_not_proved_to_have_one(good: dict[str, Said]) -> None:
    said, draw = good["none"], np.random.default_rng(2)
    hog = checker.game_of(NONE)
    for number in range(300):
        kind = ("matrix", "policy")[number % 2]
        near = draw.choice(said["counters"])
        rows = np.eye(hog.actions, dtype=int)[near]
        if kind == "policy":
            mean = np.mean([np.eye(hog.actions)[one] for one in said["counters"]], axis=0)
            rows = np.round(1000 * mean).astype(int) + (draw.random(rows.shape) < 0.1)
        forged = {"format": FORMAT, "rules": dict(NONE), "kind": kind, "lower": 0.0}
        forged |= {"policy": rows.tolist(), "tree": random_tree(draw, [hog.actions] * hog.rows)}
        assert not accepts(forged)


def test_a_larger_claim_is_refused(good: dict[str, Said]) -> None:
    for kind, said in good.items():
        for lower in (said["lower"] * 2 + 1e-12, 0.5, 1.0, float("nan"), float("inf"), -1e-9):
            assert not accepts({**said, "lower": lower}), (kind, lower)
    assert not accepts({**good["none"], "lower": 0.0})
    others = {"none": "matrix", "matrix": "none", "policy": "matrix"}
    for kind, other in others.items():
        assert not accepts({**good[kind], "kind": other})


def test_a_proof_of_another_game_is_refused(good: dict[str, Said]) -> None:
    for said in good.values():
        for key, other in (("goal", 6), ("max_dice", 3), ("sides", 4)):
            forged = {**said, "rules": {**said["rules"], key: other}}
            assert not accepts(forged) or said["kind"] != "none"
    for edition in ("su20", "sp20", "su21", "fa19", "fa13"):  # these have a pure one: the census
        rules = {**NONE, "edition": edition}
        if hogeq.Game(rules).existence(20.0).exists:
            assert not accepts({**good["none"], "rules": rules})


def places(said: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the paths to all values of a proof."""
    inside = said.items() if isinstance(said, dict) else enumerate(said)
    found = []
    for key, value in inside:
        found.append((*path, key))
        if isinstance(value, dict | list):
            found += places(value, (*path, key))
    return found


def test_what_is_no_whole_number_or_list_is_refused(good: dict[str, Said]) -> None:
    draw, tried = np.random.default_rng(3), 0
    others: list[Any] = [None, True, "0", 0.0, 0.5, -2, 10**30, [], {}, [[0]], "x", float("nan")]
    for said in good.values():
        paths = places(said)
        for at in draw.choice(len(paths), 120):
            forged = deepcopy(said)
            inner = forged
            for key in paths[at][:-1]:
                inner = inner[key]
            old, new = inner[paths[at][-1]], others[draw.integers(len(others))]
            inner[paths[at][-1]] = new
            is_number = type(old) is int and type(new) is int
            if is_number and paths[at][0] == "policy":
                continue  # another policy, which may be an equilibrium too
            if is_number and new == old:
                continue  # the proof itself
            assert not accepts(forged), (paths[at], new)
            tried += 1
    assert tried > 250


def test_less_or_more_of_a_walk_is_refused(good: dict[str, Said]) -> None:
    draw = np.random.default_rng(4)
    for said in good.values():
        for key in ("tree", "boxes"):
            steps = said.get(key, [])
            for _ in range(20 if steps else 0):
                cut = int(draw.integers(len(steps)))
                for other in (
                    steps[:cut],
                    steps + steps[: cut + 1],
                    [*steps, -1],
                    steps[cut + 1 :],
                ):
                    if other != steps:
                        assert not accepts({**said, key: other}), (key, cut)
        for key in said:
            assert not accepts({one: value for one, value in said.items() if one != key})
        assert not accepts({**said, "proved": True})


def test_a_box_that_is_not_beaten_is_refused(good: dict[str, Said]) -> None:
    """Leaves and cuts left out, changed, or of other counters: fewer boxes prove less."""
    said, draw = good["none"], np.random.default_rng(6)
    boxes = said["boxes"]
    cuts = [at for at, step in enumerate(boxes) if isinstance(step[0], int)]
    leaves = [at for at, step in enumerate(boxes) if isinstance(step[0], list)]
    assert cuts
    assert len(leaves) == len(cuts) + 1
    for at in leaves:
        assert not accepts({**said, "boxes": [boxes[at]]})  # a leaf for the whole
        weights, members, _ = boxes[at]
        for other in range(len(said["counters"])):
            changed = [[checker.WHOLE], [other], [-1]]
            assert not accepts({**said, "boxes": [*boxes[:at], changed, *boxes[at + 1 :]]})
        changed = [weights, members, [-1]]
        assert accepts({**said, "boxes": [*boxes[:at], changed, *boxes[at + 1 :]]}) == (
            boxes[at][2] == [-1]
        )
    for at in cuts:
        row, one, two = boxes[at]
        for _ in range(20):
            other = int(draw.integers(len(said["counters"][0])))
            changed = [[row, one, one], [other, one, two], [row, two + 1, one]][at % 3]
            if changed != boxes[at]:
                assert not accepts({**said, "boxes": [*boxes[:at], changed, *boxes[at + 1 :]]})


def test_counters_are_matrices_or_policies(good: dict[str, Said]) -> None:
    """A policy may stand for the matrix that it is; one whose rows are no distributions may not."""
    said = good["none"]
    actions = checker.game_of(NONE).actions
    policies = [
        [[checker.CHANCES * int(action == roll) for action in range(actions)] for roll in matrix]
        for matrix in said["counters"]
    ]
    assert accepts({**said, "counters": policies})
    assert accepts({**said, "counters": [said["counters"][0], *policies[1:]]})
    whole = [checker.CHANCES, *[0] * (actions - 1)]
    rows: list[Any] = [
        [*whole, 0],
        whole[:-1],
        [checker.CHANCES - 1, *whole[1:]],
        [checker.CHANCES + 1, -1, *whole[2:]],
        [float(checker.CHANCES), *whole[1:]],
        [True, *whole[1:]],
        0,
        [],
        [whole],
    ]
    for counter in range(len(policies)):
        for row in rows:
            forged = deepcopy(policies)
            forged[counter][-1] = row
            assert not accepts({**said, "counters": forged}), row
        for forged_counter in (policies[counter][1:], [*policies[counter], whole], []):
            forged = [*policies[:counter], forged_counter, *policies[counter + 1 :]]
            assert not accepts({**said, "counters": forged})
    # Policies that all play alike beat no box.
    uniform = [[checker.CHANCES // actions] * actions] * len(policies[0])
    for row in uniform:
        row[0] += checker.CHANCES - sum(row)
    assert not accepts({**said, "counters": [uniform] * len(policies)})


def test_the_error_counts_all_that_a_mixture_of_policies_adds_up() -> None:
    """Of each policy, what each action wins at once is a term; in a game to 1 they are all."""
    hog = checker.made("su20", 1, 6, 6)
    tables = random_policies(np.random.default_rng(8), (60, hog.rows, hog.actions))
    mixture = checker.Mixture(hog, np.full(60, 1.0 / 60.0), tables)
    terms = np.count_nonzero(tables[:, 0])
    assert len(mixture.moves(1, 0, tuple(range(60)))) == terms > 300
    assert mixture.longest > terms
    assert mixture.error > 2 * terms * checker.ROUNDING


def test_components_play_as_they_are_drawn(good: dict[str, Said]) -> None:
    """A component of no weight would give chances of 0 / 0, which compare with nothing."""
    said = good["none"]
    at = next(at for at, step in enumerate(said["boxes"]) if isinstance(step[0], list))
    weights, members, tree = said["boxes"][at]
    forged = deepcopy(said)
    forged["boxes"][at] = [[*weights, 0], [*members, 0], tree]
    assert not accepts(forged)
    hog, draw = checker.game_of(NONE), np.random.default_rng(5)
    corners = [np.eye(hog.actions)] * hog.rows
    for number in range(10):
        weights = np.array([1, 2, 3, 10]) / 16
        tables = random_policies(draw, (4, hog.rows, hog.actions))
        if number % 2:
            tables = np.eye(hog.actions)[tables.argmax(axis=-1)]
        tables[1, hog.rows // 2 :] = tables[0, hog.rows // 2 :]  # play that tells nothing more
        pure, free = draw.integers(0, hog.actions, hog.rows), np.full(hog.rows, -1)
        alone = [checker.Mixture(hog, np.ones(1), one[None]) for one in tables]
        mixture = checker.Mixture(hog, weights, tables)
        for fixed, sign in ((pure, 0), (free, 1)):
            rates = [checker.Problem(one, corners).relaxed(fixed) for one in alone]
            gain = weights @ rates - checker.Problem(mixture, corners).relaxed(fixed)
            assert (gain > -1e-11) if sign else (abs(gain) < 1e-11)


@pytest.mark.slow
def test_files_are_read_with_care(
    good: dict[str, Said], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps(good["matrix"])
    path = tmp_path / "su20-5x2.json.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert checker.main(str(tmp_path)) == 0
    wrong = {
        "a key twice": gzip.compress(text.replace('"kind"', '"kind": "none", "kind"', 1).encode()),
        "no JSON": gzip.compress(b"{"),
        "deep": gzip.compress(b"[" * 200_000),
        "not packed": text.encode(),
        "empty": b"",
        "cut": gzip.compress(text.encode())[:-9],
        "a bomb": gzip.compress(bytes(2**28 + 2)),
        "a list": gzip.compress(b"[]"),
    }
    for name, data in wrong.items():
        path.write_bytes(data)
        capsys.readouterr()
        assert checker.main(str(tmp_path)) == 1, name
        assert "refused: " in capsys.readouterr().out
    path.unlink()
    assert checker.main(str(tmp_path)) == 1  # nothing is no proof
    (tmp_path / "su20-9x2.json.gz").write_bytes(gzip.compress(text.encode()))
    assert checker.main(str(tmp_path)) == 1  # under another's name
