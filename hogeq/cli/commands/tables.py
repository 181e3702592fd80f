"""Strategy files: export, purify, and changes of a table: diff, improve."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hogeq.cli.inputs import Chosen
from hogeq.cli.options import (
    HOG_ALONE,
    MATRIX,
    OF_HOG,
    PICTURE,
    SUBMISSION,
    Against,
    AnyRulesName,
    ComputeOn,
    Forget,
    GameName,
    Jobs,
    Output,
    PlayerName,
    RulesName,
    StrategyName,
    Teams,
    Trust,
    argument,
    option,
)
from hogeq.cli.shell import Result, computing, refusing
from hogeq.support.messages import BadInputError, percent, player_name_fault
from hogeq.support.progress import phase

if TYPE_CHECKING:
    from hogeq import Difference, Game, Hog, Strategy


NAMELESS = "--player-name: {}, needed for a .py file: the entrant's name"


def export(
    strategy: StrategyName,
    rules_name: RulesName = None,
    player_name: PlayerName = None,
    out: Annotated[Path, option("The suffix is the format.", "FILE"), SUBMISSION] = Path(
        "final_strategy.py"
    ),
    part: Annotated[
        int | None, option("Of a mixture: its N-th component alone, from 1.", "N")
    ] = None,
    trust: Trust = False,
) -> Result:
    """Write a strategy file: the one to submit, or another format.

    A .py file is for a contest, self-contained; the others are .csv and .txt
    tables, .json, and numpy's .npy and .npz, which alone can hold a policy; .npz alone a mixture.
    """
    chosen = Chosen.hog(rules_name, trust, HOG_ALONE["export"])
    _check_name(player_name, strategy, out)
    game = chosen.load(strategies=[strategy])
    written = _exported(game, strategy, out, part)
    player_name = _name_for(out, player_name, strategy, written)
    written.write(out, player_name)
    data = {**chosen.facts, "strategy": strategy, "kind": written.kind, "player_name": player_name}
    return Result(data, [f"{written.kind} of {strategy} for {chosen.title} written to {out}"])


def _check_name(given: str | None, source: str, out: Path) -> None:
    """Refuse a player's name where no .py is written, and none where the source has none."""
    if out.suffix.lower() != ".py":
        if given is not None:
            allowed = "allowed only where --out ends in .py"
            raise BadInputError(f"--player-name: {allowed}, not for {out}")
    elif given is not None and given.strip():
        fault = player_name_fault(given)
        if fault:
            raise BadInputError(fault)
    elif given is not None or Path(source).suffix.lower() != ".py":
        raise BadInputError(NAMELESS.format("missing" if given is None else "blank"))


def _name_for(out: Path, given: str | None, source: str, read: "Strategy") -> str | None:
    """Give the player's name for a .py: by default that of the file that was read."""
    if given is not None or out.suffix.lower() != ".py":
        return given
    if read.name == source:
        raise BadInputError(NAMELESS.format("missing"))
    return read.name


def _exported(game: "Game", name: str, out: Path, part: int | None) -> "Strategy":
    """Choose the strategy to write; refuse one that `out` cannot hold."""
    strategy, suffix = game.strategy(name), out.suffix.lower()
    if strategy.kind != "mixture":
        if part is not None:
            raise BadInputError(f"--part: allowed for mixtures, and {name} is none")
    elif part is not None:
        count = len(strategy.weights)
        if not 1 <= part <= count:
            raise BadInputError(f"--part: {part}; allowed: 1 to {count} in {name}")
        strategy = game.strategy(strategy.components[part - 1])
    elif suffix != ".npz":
        kind = "matrices" if strategy.is_pure else "policies"
        raise BadInputError(
            f"{out}: not for a mixture, and {name} is one of {len(strategy.weights)} {kind}; "
            "--part 1 takes a component (hogeq show lists them), --out FILE.npz all"
        )
    if strategy.kind == "policy" and suffix not in {".npy", ".npz"}:
        raise BadInputError(
            f"strategy {name}: is a policy, which {out.suffix} cannot hold; "
            "hogeq purify makes it a matrix"
        )
    return strategy


def purify_(
    strategy: Annotated[str, argument("S", "A policy, or a matrix to search near.")],
    rules_name: AnyRulesName = None,
    game_name: GameName = None,
    forget: Forget = None,
    teams: Teams = None,
    method: Annotated[str, option("How: argmax, threshold or integer.", "METHOD")] = "argmax",
    overrides: Annotated[
        list[str] | None,
        option("Set a parameter: rounds=100 of integer", "KEY=VALUE", name="--set"),
    ] = None,
    out: Annotated[Path, option("The suffix is the format.", "FILE"), MATRIX] = Path("matrix.csv"),
    checkpoint: Annotated[
        Path | None,
        option(
            "With a method of rounds: keep every round, and go on from it if it is there.",
            "FILE.npz",
        ),
        Output((".npz",)),
        OF_HOG,
    ] = None,
    jobs: Jobs = None,
    on: ComputeOn = None,
    trust: Trust = False,
) -> Result:
    """Make a matrix of a policy.

    docs/parameters.md lists the parameters of each method. `hogeq attack` measures how exploitable
    the result is.
    """
    chosen = Chosen(rules_name, game_name, forget, teams, trust=trust)
    from hogeq import PURIFIERS
    from hogeq.runs.config import apply_overrides, purify_from
    from hogeq.runs.directory import saved_rounds
    from hogeq.support.messages import refusal
    from hogeq.support.parameters import ParameterError, plain

    if method not in PURIFIERS:
        raise BadInputError(refusal("--method", method, ", ".join(PURIFIERS), PURIFIERS))
    try:
        by = purify_from(apply_overrides({"method": method}, overrides or ()))
    except ParameterError as error:
        raise BadInputError(f"--set: purify.{error}") from error
    game = chosen.load(strategies=[strategy])
    with computing(on, jobs):
        if checkpoint is None:
            with refusing():
                pure = game.purify(strategy, by.method, **plain(by.params))
        elif hasattr(by.params, "rounds_from"):
            table = chosen.table(strategy).array
            *_, last = saved_rounds(chosen.hog_game, by.params, table, checkpoint)
            pure = game.strategy(last.matrix)
        else:
            raise BadInputError("--checkpoint: allowed with --method integer")
    pure.write(out)
    data = {**chosen.facts, "strategy": strategy, "method": by.method}
    data["parameters"] = plain(by.params)
    return Result(data, [f"matrix of {strategy} by {by.method} written to {out}"])


def diff(
    a: Annotated[str, argument("A", "A table: name, file or run; a policy of other games.")],
    b: Annotated[str, argument("B", "The strategy to compare with it.")],
    rules_name: AnyRulesName = None,
    game_name: GameName = None,
    forget: Forget = None,
    teams: Teams = None,
    against: Against = None,
    plot: Annotated[Path | None, option("Draw the result.", "PNG"), PICTURE, OF_HOG] = None,
    trust: Trust = False,
) -> Result:
    """Cells in which two tables differ, and the gain of each change.

    A gain is of win rate against --against, the mean of several, by that change alone. A cell is
    met in a share of games; where positions recur, so many times a game. Of games other than Hog:
    information sets of strategies, and payoffs against A itself unless --against is given.

    JSON: rules, a, b, against, before and after (win rates of A and B), match (win rate of B
    against A), changes (score, opponent, before, after, gain, reach), the best first. Of other
    games: payoffs; changes have player, infoset, and before and after by action. Where rounding
    shows there are ends as well: by before, after and match, and of a change's gain.
    """
    chosen = Chosen(rules_name, game_name, forget, teams, trust=trust)
    game = chosen.load("matches", "search", strategies=[a, b, *(against or [])])
    from hogeq import Hog

    if not isinstance(game, Hog):
        names = against or [a]
        with refusing():
            return _changes(chosen, game.diff(a, b, [*names]), a, b, names)
    one, two, rivals = game.strategy(a), game.strategy(b), _rivals(game, against)
    with refusing():
        found = game.diff(one, two, list(rivals.values()))
    if plot is not None:
        from numpy import array

        from hogeq import figures

        choices = array(game.rules.choices)
        gap = choices[two.array] - choices[one.array]
        figures.counter(gap, found.gains, found.reach, plot, chosen.title, (b, a))
    return _changes(chosen, found, a, b, list(rivals))


def improve(
    table: Annotated[str, argument("TABLE", "A table: name, file or run.")],
    rules_name: RulesName = None,
    out: Annotated[Path | None, option("Where the better table goes.", "FILE"), SUBMISSION] = None,
    against: Against = None,
    explain: Annotated[
        bool, option("Say why TABLE loses, as check does.", name="--explain")
    ] = False,
    cells: Annotated[int | None, option("Most cells to change.", "N", min=1)] = None,
    seconds: Annotated[float | None, option("Time limit; Ctrl-C stops too.", min=0.0)] = None,
    player_name: PlayerName = None,
    trust: Trust = False,
) -> Result:
    """Change a table so that it wins more, and write it.

    It wins more against --against, on average if they are several. With --cells one cell is changed
    at a time, the one that gains most (to first order, if positions recur); without, until no
    change of one cell gains anything. Stopped early, it writes the best table so far. With
    --explain alone nothing is changed, and TABLE may be a policy.

    JSON: that of diff, from TABLE to the table written, and out; with --explain, why: the keys of
    check from win_rate on.
    """
    chosen = Chosen.hog(rules_name, trust, HOG_ALONE["improve"])
    if out is None:
        if not explain or (cells, seconds, player_name) != (None, None, None):
            raise BadInputError("--out: missing; allowed without it: --explain alone")
        return _explained(chosen, table, against)
    _check_name(player_name, table, out)
    game = chosen.load_hog("matches", "search", strategies=[table, *(against or [])])
    start, rivals = game.strategy(table), _rivals(game, against)
    player_name = _name_for(out, player_name, table, start)
    opponents = list(rivals.values())
    with phase("improving", None, "steps") as progress, refusing():
        steps = game.improvements(start, opponents, cells, seconds)
        best = next(steps)  # the table itself
        try:
            for answer in steps:
                best = answer
                progress.measured(f"wins {percent(best.mean)}")
                progress.step()
        except KeyboardInterrupt:
            progress.now("stopped")
        better = game.strategy(best.strategy)
        found = game.diff(start, better, opponents)
    better.write(out, player_name)
    told = _changes(chosen, found, table, str(out), list(rivals))
    if not explain:
        return told
    why = _explained(chosen, table, against)
    return Result({**told.data, "why": why.data["why"]}, [*why.text, "", *told.text])


def _explained(chosen: Chosen, table: str, against: list[str] | None) -> Result:
    """Say why a table or a policy loses to one opponent."""
    game = chosen.load_hog("matches", "search", strategies=[table, *(against or [])])
    rivals = _rivals(game, against)
    if len(rivals) > 1:
        raise BadInputError(f"--against: {len(rivals)} opponents; allowed with --explain: one")
    ((name, rival),) = rivals.items()
    found = game.explain(table, rival)
    why = {"against": name, **found.to_json()}
    data = {**chosen.facts, "table": table, "against": [name], "why": why}
    title = f"{table}, {chosen.title}"
    return Result(data, [title, *found.text(name)])


def _rivals(game: "Hog", against: list[str] | None) -> "dict[str, Strategy]":
    from hogeq.contest.folders import named_entries

    names = named_entries(against or [game.strongest])
    return {one.entry: game.strategy(one.entry) for one in names}


def _changes(chosen: Chosen, found: "Difference", a: str, b: str, against: list[str]) -> Result:
    data = {**chosen.facts, "a": a, "b": b, "against": against, **found.to_json()}
    text = found.text(a, b, chosen.title, against, chosen.game.units)
    return Result(data, [*text, *(chosen.endless if chosen.is_hog else [])])
