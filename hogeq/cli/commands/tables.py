"""Strategy files: export, purify, and changes of a table: diff, improve."""

from math import inf
from pathlib import Path
from typing import Annotated

import hogeq
from hogeq.cli.inputs import AnyGame, Chosen, HogGame
from hogeq.cli.options import (
    MATRIX,
    OF_HOG,
    PICTURE,
    SUBMISSION,
    Against,
    ComputeOn,
    Jobs,
    Output,
    PlayerName,
    StrategyName,
    argument,
    option,
)
from hogeq.cli.shell import Result, computing
from hogeq.support.messages import HogeqError, percent, player_name_fault
from hogeq.support.progress import phase

MISSING_NAME = "--player-name: {}, needed for a .py file: the entrant's name"  # missing or blank


def export(
    strategy: StrategyName,
    chosen: HogGame,
    player_name: PlayerName = None,
    out: Annotated[Path, option("The suffix is the format.", "FILE"), SUBMISSION] = Path(
        "final_strategy.py"
    ),
    part: Annotated[
        int | None, option("Of a mixture: its N-th component alone, from 1.", "N")
    ] = None,
) -> Result:
    """Write a strategy file: the one to submit, or another format.

    A .py file is for a contest, self-contained; the others are .csv and .txt
    tables, .json, and numpy's .npy and .npz, which alone can hold a policy; .npz alone a mixture.
    """
    _check_player_name(player_name, strategy, out)
    game = chosen.load(strategies=[strategy])
    written = _strategy_to_write(game, strategy, out, part)
    player_name = _player_name_for(out, player_name, strategy, written)
    written.write(out, player_name)
    data = {**chosen.facts, "strategy": strategy, "kind": written.kind, "player_name": player_name}
    return Result(data, [f"{written.kind} of {strategy} for {chosen.title} written to {out}"])


def _check_player_name(name: str | None, source: str, out: Path) -> None:
    """Check --player-name before anything is computed; raise `HogeqError` if it is wrong.

    Only a .py file has a name of a player. It needs one, which the strategy's file `source` may
    have if it is a .py file too.
    """
    if out.suffix.lower() != ".py":
        if name is not None:
            allowed = "allowed only where --out ends in .py"
            raise HogeqError(f"--player-name: {allowed}, not for {out}")
    elif name is not None and name.strip():
        fault = player_name_fault(name)
        if fault:
            raise HogeqError(fault)
    elif name is not None or Path(source).suffix.lower() != ".py":
        raise HogeqError(MISSING_NAME.format("missing" if name is None else "blank"))


def _player_name_for(
    out: Path, name: str | None, source: str, strategy: "hogeq.Strategy"
) -> str | None:
    """Choose the player's name for a .py file: `name`, or that of the strategy that was read.

    None if `out` is no .py file. A strategy without a name of a player is called by its `source`.
    """
    if name is not None or out.suffix.lower() != ".py":
        return name
    if strategy.name == source:
        raise HogeqError(MISSING_NAME.format("missing"))
    return strategy.name


def _strategy_to_write(
    game: "hogeq.Game", name: str, out: Path, part: int | None
) -> "hogeq.Strategy":
    """Read the strategy to write, or of a mixture the component number `part`, from 1.

    Raises `HogeqError` if the format of `out` cannot hold it.
    """
    strategy = game.strategy(name)
    suffix = out.suffix.lower()
    if strategy.kind != "mixture":
        if part is not None:
            raise HogeqError(f"--part: allowed for mixtures, and {name} is none")
    elif part is not None:
        num_components = len(strategy.weights)
        if not 1 <= part <= num_components:
            raise HogeqError(f"--part: {part}; allowed: 1 to {num_components} in {name}")
        strategy = game.strategy(strategy.components[part - 1])
    elif suffix != ".npz":
        kind = "matrices" if strategy.is_pure else "policies"
        raise HogeqError(
            f"{out}: not for a mixture, and {name} is one of {len(strategy.weights)} {kind}; "
            "--part 1 takes a component (hogeq show lists them), --out FILE.npz all"
        )
    if strategy.kind == "policy" and suffix not in {".npy", ".npz"}:
        raise HogeqError(
            f"strategy {name}: is a policy, which {out.suffix} cannot hold; "
            "hogeq purify makes it a matrix"
        )
    return strategy


def purify_(
    strategy: Annotated[str, argument("S", "A policy, or a matrix to search near.")],
    chosen: AnyGame,
    method: Annotated[str, option("How: argmax, threshold or integer.", "METHOD")] = "argmax",
    overrides: Annotated[
        list[str] | None,
        option("Set a parameter: rounds=100 of integer", "KEY=VALUE", name="--set"),
    ] = None,
    out: Annotated[
        Path, option("The suffix is the format: of games other than Hog .npz.", "FILE"), MATRIX
    ] = Path("matrix.csv"),
    checkpoint: Annotated[
        Path | None,
        option(
            "With a method of rounds: keep every round, and go on from it if it is there.",
            "FILE.npz",
        ),
        Output((".npz",)),
        OF_HOG,
    ] = None,
    seconds: Annotated[
        float | None, option("Time limit; then the best matrix so far.", min=0.0)
    ] = None,
    jobs: Jobs = None,
    on: ComputeOn = None,
) -> Result:
    """Make a matrix of a policy.

    docs/parameters.md lists the parameters of each method. `hogeq attack` measures how exploitable
    the result is.
    """
    from hogeq.runs.config import apply_overrides, purify_from
    from hogeq.runs.directory import saved_rounds
    from hogeq.support.deadline import Deadline
    from hogeq.support.messages import refusal
    from hogeq.support.parameters import ParameterError, plain

    if method not in hogeq.PURIFIERS:
        raise HogeqError(refusal("--method", method, ", ".join(hogeq.PURIFIERS), hogeq.PURIFIERS))
    try:
        settings = purify_from(apply_overrides({"method": method}, overrides or ()))
    except ParameterError as error:
        raise HogeqError(f"--set: purify.{error}") from error
    game = chosen.load(strategies=[strategy])
    with computing(on, jobs):
        if checkpoint is None:
            matrix = game.purify(strategy, settings.method, seconds, **plain(settings.params))
        elif hasattr(settings.params, "rounds_from"):
            table = chosen.table(strategy).array
            deadline = Deadline(inf if seconds is None else seconds)
            try:
                states = saved_rounds(chosen.hog_game, settings.params, table, checkpoint, deadline)
                *_, last_state = states
                matrix = game.strategy(last_state.matrix)
            except TimeoutError:  # before the first state
                matrix = game.purify(strategy)
        else:
            raise HogeqError("--checkpoint: allowed with --method integer")
    matrix.write(out)
    data = {**chosen.facts, "strategy": strategy, "method": settings.method}
    data["parameters"] = plain(settings.params)
    return Result(data, [f"matrix of {strategy} by {settings.method} written to {out}"])


def diff(
    a: Annotated[str, argument("A", "A table: name, file or run; a policy of other games.")],
    b: Annotated[str, argument("B", "The strategy to compare with it.")],
    chosen: AnyGame,
    against: Against = None,
    plot: Annotated[Path | None, option("Draw the result.", "PNG"), PICTURE, OF_HOG] = None,
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
    game = chosen.load(kernels=["matches", "search"], strategies=[a, b, *(against or [])])
    if not chosen.is_hog:
        names = against or [a]
        return _difference_result(chosen, game.diff(a, b, [*names]), a, b, names)
    game = chosen.hog_game
    first = game.strategy(a)
    second = game.strategy(b)
    rivals = _load_rivals(game, against)
    difference = game.diff(first, second, list(rivals.values()))
    if plot is not None:
        from numpy import array

        choices = array(game.rules.choices)
        dice_gap = choices[second.array] - choices[first.array]
        hogeq.figures.counter(
            dice_gap, difference.gains, difference.reach, plot, chosen.title, (b, a)
        )
    return _difference_result(chosen, difference, a, b, list(rivals))


def improve(
    table: Annotated[str, argument("TABLE", "A table: name, file or run.")],
    chosen: HogGame,
    out: Annotated[Path | None, option("Where the better table goes.", "FILE"), SUBMISSION] = None,
    against: Against = None,
    explain: Annotated[
        bool, option("Say why TABLE loses, as check does.", name="--explain")
    ] = False,
    cells: Annotated[int | None, option("Most cells to change.", "N", min=1)] = None,
    seconds: Annotated[
        float | None,
        option("Time limit of changes, before they are measured; Ctrl-C stops too.", min=0.0),
    ] = None,
    player_name: PlayerName = None,
) -> Result:
    """Change a table so that it wins more, and write it.

    It wins more against --against, on average if they are several. With --cells one cell is changed
    at a time, the one that gains most (to first order, if positions recur); without, until no
    change of one cell gains anything. Stopped early, it writes the best table so far. With
    --explain alone nothing is changed, and TABLE may be a policy.

    JSON: that of diff, from TABLE to the table written, and out; with --explain, why: the keys of
    check from win_rate on.
    """
    if out is None:
        if not explain or (cells, seconds, player_name) != (None, None, None):
            raise HogeqError("--out: missing; allowed without it: --explain alone")
        return _explain(chosen, table, against)
    _check_player_name(player_name, table, out)
    game = chosen.load_hog(kernels=["matches", "search"], strategies=[table, *(against or [])])
    start = game.strategy(table)
    rivals = _load_rivals(game, against)
    player_name = _player_name_for(out, player_name, table, start)
    opponents = list(rivals.values())
    with phase("improving", None, "steps") as progress:
        steps = game.improvements(start, opponents, cells, seconds)
        best = next(steps)  # the table itself
        try:
            for answer in steps:
                best = answer
                progress.measured(f"wins {percent(best.mean)}")
                progress.step()
        except KeyboardInterrupt:  # the best table so far is written
            progress.now("stopped")
        better = game.strategy(best.strategy)
        difference = game.diff(start, better, opponents)
    better.write(out, player_name)
    result = _difference_result(chosen, difference, table, str(out), list(rivals))
    if not explain:
        return result
    reasons = _explain(chosen, table, against)
    data = {**result.data, "why": reasons.data["why"]}
    return Result(data, [*reasons.text, "", *result.text])


def _explain(chosen: Chosen, table: str, against: list[str] | None) -> Result:
    """Explain why a table or a policy loses to one opponent: its losses, and changes that gain."""
    game = chosen.load_hog(kernels=["matches", "search"], strategies=[table, *(against or [])])
    rivals = _load_rivals(game, against)
    if len(rivals) > 1:
        raise HogeqError(f"--against: {len(rivals)} opponents; allowed with --explain: one")
    ((name, rival),) = rivals.items()  # the only one
    assessment = game.explain(table, rival)
    reasons = {"against": name, **assessment.to_json()}
    data = {**chosen.facts, "table": table, "against": [name], "why": reasons}
    title = f"{table}, {chosen.title}"
    return Result(data, [title, *assessment.text(name)])


def _load_rivals(game: "hogeq.Hog", against: list[str] | None) -> "dict[str, hogeq.Strategy]":
    """Read the opponents, by name: those of --against, by default the strongest built-in one."""
    from hogeq.contest.folders import named_entries

    entries = named_entries(against or [game.strongest])
    return {entry.entry: game.strategy(entry.entry) for entry in entries}


def _difference_result(
    chosen: Chosen, difference: "hogeq.Difference", a: str, b: str, against: list[str]
) -> Result:
    """Make the result of a command from the difference of the strategies named `a` and `b`."""
    data = {**chosen.facts, "a": a, "b": b, "against": against, **difference.to_json()}
    text = difference.text(a, b, chosen.title, against, chosen.game.units)
    return Result(data, [*text, *(chosen.endless if chosen.is_hog else [])])
