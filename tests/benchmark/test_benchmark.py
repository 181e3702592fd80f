"""The benchmark of imperfect recall: its instances, its checker and its results."""

import hashlib
import json
import shutil
from argparse import Namespace
from itertools import product
from pathlib import Path
from typing import Any

import check_benchmark as checker
import numpy as np
import pytest
from benchmark import PARTS, anneal, certify, compare, finish
from benchmark_tables import instances as listing
from benchmark_tables import tables
from certificates import certified
from check_instances import Instance
from check_trees import player_tree
from methods import EXACT, SEARCHES
from proofs import LinearProgram, branch_and_bound
from strict_files import RefusedError

import hogeq
from hogeq.benchmark.catalogue import catalogue, hog_game, seeded
from hogeq.cli.commands.bench_games import interval_texts
from hogeq.evaluation.values import win_rate
from hogeq.graph.hog import of_hog
from hogeq.model.game import HogEngine
from hogeq.search.bounds import full_memory_bound
from hogeq.search.certificate_files import Certificate, CertificateError
from hogeq.support.files import write_arrays
from hogeq.trees.building import Node, flatten
from hogeq.trees.decision_problems import Interview, RandomTree, Trials
from hogeq.trees.flat import TERMINAL, FlatTree, payoff
from hogeq.trees.graphs import of_tree
from hogeq.trees.rules import from_rules
from tests.benchmark.tiny_problems import TINY, entry, read
from tests.cli.calls import ask, refused

RESULTS = Path(__file__).parents[2] / "results" / "benchmark"

SMALL_HOG = (("su20", 9, 3), ("sp20", 8, 2), ("su21", 9, 2), ("fa18", 9, 3), ("fa13", 8, 2))

TREES = (
    from_rules(Trials(3, 3, 2, 5)),
    from_rules(Interview(3, 2, 3, 5)),
    from_rules(RandomTree(3, 3, 2, 5)),
)


def all_legal(rows: int, actions: int) -> Any:
    return np.ones((rows, actions), bool)


@pytest.mark.parametrize(("edition", "goal", "dice"), SMALL_HOG)
def test_the_form_has_the_win_rates_and_bounds_of_hog(edition: str, goal: int, dice: int) -> None:
    game = hog_game(edition, goal, dice).engine
    random = np.random.default_rng(1)
    policy = random.dirichlet(np.ones(game.num_actions), (goal, goal))
    instance = read(of_hog(game.rules).against(policy))
    for _ in range(3):
        matrix = random.integers(game.num_actions, size=(goal, goal))
        won = instance.value(matrix.ravel())
        assert won == pytest.approx(_rate(game, matrix, policy), abs=1e-12)
    bound = instance.bound(all_legal(instance.rows, game.num_actions))
    assert bound == pytest.approx(full_memory_bound(game, policy), abs=1e-12)


def _rate(game: HogEngine, matrix: Any, policy: Any) -> float:
    table = np.eye(game.num_actions)[matrix]
    return win_rate(game, table, policy).win_rate


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_the_form_has_the_payoffs_of_a_tree(tree: FlatTree) -> None:
    instance = read(of_tree(tree).against(tree.uniform()))
    random = np.random.default_rng(2)
    for _ in range(3):
        choices = random.integers(tree.num_legal)
        strategy = np.eye(tree.num_actions)[choices]
        assert instance.value(choices) == pytest.approx(payoff(tree, strategy, strategy), abs=1e-12)


def test_the_form_has_both_seats_of_a_game() -> None:
    tree = hogeq.Game("liars_dice_ir(dice_sides=2)").tree
    random = np.random.default_rng(3)
    choices = random.integers(tree.num_legal)
    joint = np.eye(tree.num_actions)[choices]
    both = payoff(tree, joint, joint)
    assert read(of_tree(tree)).value(choices) == pytest.approx(both, abs=1e-12)
    for seat in (0, 1):
        instance = read(of_tree(tree).against(joint, seat))
        won = instance.value(choices[tree.seat == seat])
        assert won == pytest.approx((1 - 2 * seat) * both, abs=1e-12)


def test_the_command_lists_and_writes_what_the_form_says(tmp_path: Path) -> None:
    listed = ask("bench-games", "list")["instances"]
    assert len(listed) >= 60
    assert [one["name"] for one in listed] == [*catalogue()]
    names = ("random-3x4x4", "fa13-10x3-always")
    written = ask("bench-games", "write", str(tmp_path), *(f"--only={name}" for name in names))
    for row in written["instances"]:
        with np.load(tmp_path / f"{row['name']}.npz") as arrays:
            instance = Instance(dict(arrays))
        assert instance.digest() == row["digest"] == catalogue()[row["name"]].make().digest
        assert (instance.states, instance.rows) == (row["states"], row["rows"])


@pytest.mark.slow
def test_the_command_solves_and_bounds() -> None:
    names = ("random-3x4x4", "fa13-10x3-always", "liars_dice_ir-4-game")
    run = ask("bench-games", "run", "--seconds", "600", *(f"--only={name}" for name in names))
    known = json.loads((RESULTS / "known.json").read_text(encoding="utf-8"))["instances"]
    for row in run["instances"]:
        one = known[row["name"]]
        value, bound = one.get("value", one.get("lower")), one.get("bound", one.get("upper"))
        assert row["value"] <= bound + 1e-6
        assert row["bound"] >= value - 1e-6
        assert row["bound"] - row["value"] < 1e-6


def test_the_command_calls_proved_what_is_and_rounds_bounds_outward() -> None:
    apart = 0.25, 0.25 + 2.0**-22
    assert interval_texts(*apart) == ("0.2500000", "0.2500003", "2.4e-07")
    assert interval_texts(0.25, np.inf) == ("0.2500000", "inf", "inf")
    assert interval_texts(0.25, 0.25) == ("0.2500000", "0.2500000", "0")
    # One number that is proved may have more digits than are written.
    assert interval_texts(2.0 / 3.0, 2.0 / 3.0) == ("0.6666666", "0.6666667", "0")
    tree = catalogue()["random-3x4x4"]
    _, _, is_proved = tree.solve(kicks=0, seconds=0.0)
    assert is_proved == tree.load().attack("uniform", hogeq.Budget(kicks=0, seconds=0.0)).is_proved
    value, bound, is_proved = catalogue()["su20-10x2-always"].solve(kicks=0, seconds=0.0)
    assert is_proved == (bound - value <= 1e-12)


def test_the_command_refuses_what_it_cannot_do() -> None:
    assert "allowed: bench-games write DIR" in refused("bench-games", "write")
    assert "run: got random; allowed: a folder for write" in refused("bench-games", "run", "random")
    assert "--only: got ['nothing']" in refused("bench-games", "list", "--only", "nothing")


# --- proofs and the checker -----------------------------------------------------------------------


@pytest.mark.parametrize("tree", TINY, ids=lambda tree: tree.name)
def test_no_prices_and_no_questions_give_less_than_a_strategy_wins(tree: FlatTree) -> None:
    instance = read(of_tree(tree))
    every = [np.array(one) for one in product(*(range(legal) for legal in tree.num_legal))]
    best = max(map(instance.value, every))
    pasts = player_tree(instance)
    random = np.random.default_rng(7)
    for _ in range(20):
        prices = random.exponential(0.1, (len(pasts.row), pasts.actions))
        prices *= random.random(prices.shape) < 0.5
        assert pasts.bound(pasts.legal, prices) >= best - 1e-12
        allowed = pasts.legal & (random.random(pasts.legal.shape) < 0.7)
        left = [one for one in every if allowed[np.arange(len(one)), one].all()]
        if left:
            assert pasts.bound(allowed, prices) >= max(map(instance.value, left)) - 1e-12


@pytest.mark.parametrize("tree", TINY, ids=lambda tree: tree.name)
def test_branch_and_bound_meets_the_best_of_all(tree: FlatTree) -> None:
    instance = read(of_tree(tree))
    every = product(*(range(legal) for legal in tree.num_legal))
    best = max(instance.value(np.array(one)) for one in every)
    pasts = player_tree(instance)
    start = np.zeros(tree.num_rows, np.int64)
    relax = LinearProgram(pasts, 10.0)
    pure, value, proof = branch_and_bound(relax, pasts.legal, instance.value, start, 60.0)
    assert value == instance.value(pure) == pytest.approx(best, abs=1e-12)
    assert best - 1e-12 <= proof.bound(pasts, pasts.legal) <= best + 1e-7


@pytest.mark.slow
def test_prices_of_cuts_close_what_prices_of_pasts_do_not() -> None:
    """Value and bound were found by other code, with prices summed over plans."""
    pasts = player_tree(read(catalogue()["interview-8x3x4"].make()))
    assert pasts.bound(pasts.legal) > 0.465
    assert LinearProgram(pasts, 30.0)(pasts.legal, None).bound == pytest.approx(0.4269859, abs=1e-6)


def test_a_row_that_is_met_twice_is_refused() -> None:
    def look(moves: tuple[int, ...]) -> Node:
        if len(moves) == 2:
            payoff = float(moves == (0, 1))
            return Node(TERMINAL, payoffs=(payoff, -payoff))
        return Node(0, "crossing", moves=[(move, 1.0, (*moves, move)) for move in (0, 1)])

    driver = flatten("driver", (), look, lambda moves: [str(move) for move in moves])
    with pytest.raises(RefusedError, match="row: met twice"):
        player_tree(read(of_tree(driver)))


CHECKED = ("random-3x4x4", "interview-3x3x3", "fa13-10x3-ignore", "hog_fa13-5x1-game")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Instances, and what is proved of them."""
    folder = tmp_path_factory.mktemp("benchmark")
    made = [catalogue()[name] for name in CHECKED]
    strategies = dict[str, Any]()
    for one in made:
        instance = one.make()
        instance.save(folder / f"{one.name}.npz")
        if one.family != "game":
            strategies[one.name] = np.zeros(instance.rows, np.int16)
    work = tmp_path_factory.mktemp("work")
    certify(folder / "benchmark", made, strategies, work, 20.0)
    return folder, folder / "benchmark"


@pytest.mark.slow
def test_annealing_takes_the_place_of_a_worse_strategy_alone(results: tuple[Path, Path]) -> None:
    folder, benchmark = results
    entries = [catalogue()[name] for name in CHECKED[:2]]
    before = json.loads((benchmark / "known.json").read_text())["instances"]
    proofs = (benchmark / "proofs.npz").read_bytes()
    strategies = dict(np.load(benchmark / "strategies.npz"))
    worse = {**strategies, CHECKED[0]: np.zeros_like(strategies[CHECKED[0]])}
    lower = {**before, CHECKED[0]: {**before[CHECKED[0]], "value": 0.0}}
    finish(benchmark, worse, dict(np.load(benchmark / "proofs.npz")), lower)
    anneal(benchmark, entries, 0.5)
    after = json.loads((benchmark / "known.json").read_text())["instances"]
    assert after == before
    assert (benchmark / "proofs.npz").read_bytes() == proofs
    assert accepts(folder, benchmark)


@pytest.mark.slow
def test_a_run_makes_tables_of_quartiles(tmp_path: Path) -> None:
    made = [seeded()["random-4x3x8-1"], catalogue()["fa18-10x3-always"]]
    held_out = entry(from_rules(RandomTree(2, 2, 2, 201)))._replace(name="random-4x3x8-201")
    given = Namespace(evaluations=64, seeds=2, exact=0.2)
    compare([*made, held_out], tmp_path, given)
    records = {one.name: dict(np.load(tmp_path / f"{one.name}.npz")) for one in (*made, held_out)}
    assert records["random-4x3x8-201"]["courses"].shape == (len(SEARCHES), 2, 5)
    before = [path.stat().st_mtime_ns for path in tmp_path.iterdir()]
    compare([*made, held_out], tmp_path, given)  # nothing anew
    assert before == [path.stat().st_mtime_ns for path in tmp_path.iterdir()]
    tables(tmp_path, records, given.exact)
    methods, *_ = zip(*read_table(tmp_path / "benchmark.md"), strict=True)
    assert [*methods] == ["method", *SEARCHES, *EXACT]
    for row in read_table(tmp_path / "benchmark.md")[1:]:
        quartiles = [float(cell) for cell in row[3:6] if cell]
        assert quartiles == sorted(quartiles)
        assert row[2] == str(int(quartiles[len(quartiles) // 2] == 0.0))
    groups = [row[0] for row in read_table(tmp_path / "benchmark_groups.md")[1:]]
    assert groups == ["Hog (1)", "random-4x3x8 (1)"]
    assert (tmp_path / "benchmark.png").exists()


@pytest.mark.slow
def test_the_shipped_tables_are_those_of_the_shipped_runs(tmp_path: Path) -> None:
    shutil.copytree(RESULTS, tmp_path / "benchmark")
    runs = dict(np.load(RESULTS / "seeds" / "runs.npz"))
    names = {key.rpartition(".")[0] for key in runs}
    in_order = [name for name in (*seeded(), *catalogue()) if name in names]
    records = {name: {part: runs[f"{name}.{part}"] for part in PARTS} for name in in_order}
    tables(tmp_path, records, 10.0)
    for name in ("benchmark.md", "benchmark_groups.md"):
        assert (tmp_path / name).read_text() == (RESULTS.parent / name).read_text()


def read_table(path: Path) -> list[list[str]]:
    """Cells of a table in Markdown, its header first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip("| ").split(" | ") for line in lines if not line.startswith("| ---")]


def accepts(instances: Path, folder: Path) -> bool:
    return checker.main(str(instances), str(folder)) == 0


@pytest.fixture
def copied(results: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    shutil.copytree(results[0], tmp_path, dirs_exist_ok=True)
    return tmp_path, tmp_path / "benchmark"


@pytest.mark.slow
def test_the_checker_accepts_a_run_and_its_tables_agree(results: tuple[Path, Path]) -> None:
    made, folder = results
    assert accepts(made, folder)
    known = json.loads((folder / "known.json").read_text())["instances"]
    assert known["interview-3x3x3"]["bound"] - known["interview-3x3x3"]["value"] < 1e-6
    assert known["fa13-10x3-ignore"]["bound"] - known["fa13-10x3-ignore"]["value"] < 1e-6
    assert abs(known["hog_fa13-5x1-game"]["lower"]) < 1e-6  # a symmetric game
    assert [row[0] for row in listing(folder)] == [*CHECKED]


@pytest.mark.slow
def test_the_checker_refuses_a_changed_digit_of_what_is_known(copied: tuple[Path, Path]) -> None:
    instances, folder = copied
    path = folder / "known.json"
    text = path.read_text()
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    random = np.random.default_rng(8)
    # Digits of names are no digits of what is known: without its name an instance has no file.
    for place in random.choice(digits, 20, replace=False):
        other = str((int(text[place]) + random.integers(1, 10)) % 10)
        path.write_text(text[:place] + other + text[place + 1 :])
        assert not accepts(instances, folder), text[place - 30 : place + 2]


@pytest.mark.slow
def test_the_checker_refuses_a_changed_number_of_an_array(copied: tuple[Path, Path]) -> None:
    instances, folder = copied
    random = np.random.default_rng(9)
    files = [*(instances / f"{name}.npz" for name in CHECKED)]
    files += [folder / "strategies.npz", folder / "proofs.npz"]
    for path in files:
        with np.load(path) as stored:
            arrays = dict(stored)
        for name in random.choice([*arrays], 4):
            changed = arrays[name].copy()
            if changed.size:
                changed.flat[random.integers(changed.size)] += 1
                write_arrays(path, **{**arrays, name: changed})
                assert not accepts(instances, folder), f"{path.name} {name}"
        write_arrays(path, **arrays)


@pytest.mark.slow
def test_the_checker_believes_no_claim_whose_hash_is_right(copied: tuple[Path, Path]) -> None:
    instances, folder = copied
    path = folder / "known.json"
    known = json.loads(path.read_text())
    with np.load(folder / "proofs.npz") as stored:
        proofs = dict(stored)
    with np.load(folder / "strategies.npz") as stored:
        strategies = dict(stored)
    free = {**proofs, "random-3x4x4.target": np.zeros(0)}
    high = {**proofs, "random-3x4x4.target": proofs["random-3x4x4.target"] + 0.1}
    shorter = {**proofs, "random-3x4x4.questions": proofs["random-3x4x4.questions"][:-1]}
    price: dict[str, Any] = {"first": np.array([0, 1], np.int32)}
    price |= {"place": np.zeros(1, np.int32), "price": -np.ones(1, np.float32)}
    negative = {**free, **{f"random-3x4x4.{name}": array for name, array in price.items()}}
    other = 1 - np.minimum(strategies["random-3x4x4"], 1)
    played = {**strategies, "random-3x4x4": other}
    for what, arrays in (
        *(("proofs", one) for one in (free, high, shorter, negative)),
        ("strategies", played),
    ):
        original = proofs if what == "proofs" else strategies
        write_arrays(folder / f"{what}.npz", **arrays)
        digest = hashlib.sha256((folder / f"{what}.npz").read_bytes()).hexdigest()
        path.write_text(json.dumps({**known, what: digest}))
        assert not accepts(instances, folder)
        write_arrays(folder / f"{what}.npz", **original)


@pytest.mark.slow
def test_the_checker_refuses_an_instance_under_the_name_of_another(
    copied: tuple[Path, Path],
) -> None:
    instances, folder = copied
    path = folder / "known.json"
    text = path.read_text()
    path.write_text(text.replace(f'"{CHECKED[0]}"', f'"{CHECKED[1]}"'))  # the later one counts
    assert not accepts(instances, folder)


@pytest.mark.slow
@pytest.mark.parametrize(("options", "part"), [([], ""), (["--seeds"], "seeds")])
def test_the_checker_accepts_all_that_is_known(
    tmp_path: Path, options: list[str], part: str
) -> None:
    ask("bench-games", "write", str(tmp_path), *options)
    assert accepts(tmp_path, RESULTS / part)


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """Copy what is known, and two certificates of small games."""
    (folder := tmp_path / "benchmark" / "certificates").mkdir(parents=True)
    shutil.copy(RESULTS / "known.json", tmp_path / "benchmark")
    for name in ("sp20-20x4-always", "su20-20x4-ignore"):
        shutil.copy(RESULTS / "certificates" / f"{name}.json.gz", folder)
    return folder


def prove(folder: Path, *names: str) -> list[list[object]]:
    return list(certified(Namespace(out=folder.parents[1], benchmark=names, seconds=0.5)))


@pytest.mark.slow
def test_shipped_certificates_are_about_their_instances() -> None:
    known = json.loads((RESULTS / "known.json").read_text())["instances"]
    paths = sorted((RESULTS / "certificates").iterdir())
    assert len(paths) > 15
    for path in paths:
        said, name = Certificate.read(path), path.name.removesuffix(".json.gz")
        assert known[name]["value"] <= said.bound < known[name]["bound"], name
        if said.rules.size < 100 or said.rules.name == "fa13":
            about = of_hog(said.rules).against(said.strategy.policy)
            assert about.digest == known[name]["instance"], name


@pytest.mark.slow
def test_certificates_are_proved_again_and_made_where_missing(certificates: Path) -> None:
    rows = prove(certificates, "su20-20x4-ignore", "sp20-20x4-always")
    assert [row[0] for row in rows] == ["su20-20x4-ignore", "sp20-20x4-always"]
    made, *others = prove(certificates, "su20-14x2-always")
    assert (made[0], others) == ("su20-14x2-always", rows)
    assert (certificates / "su20-14x2-always.json.gz").exists()
    assert float(str(made[1])) <= float(str(made[2])) < float(str(made[3]))


@pytest.mark.slow
def test_certificates_of_other_instances_and_of_too_little_are_refused(certificates: Path) -> None:
    name = "sp20-20x4-always"
    good = Certificate.read(path := certificates / f"{name}.json.gz")
    good._replace(bound=good.bound - 1e-6).write(path)
    with pytest.raises(CertificateError, match="prove"):
        prove(certificates, name)
    shutil.copy(certificates / "su20-20x4-ignore.json.gz", path)
    with pytest.raises(SystemExit, match="another game or opponent"):
        prove(certificates, name)
