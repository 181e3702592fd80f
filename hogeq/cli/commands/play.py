"""Games turn by turn: played in the terminal (play), and reviewed (review)."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hogeq import ALIASES
from hogeq.cli.inputs import ENDLESS, Chosen
from hogeq.cli.options import (
    OF_HOG,
    OPTIMAL,
    AnyRulesName,
    Forget,
    GameName,
    Output,
    Start,
    StartOfHog,
    Teams,
    Trust,
    argument,
    option,
    readable,
)
from hogeq.cli.shell import Result, computing, refusing, say
from hogeq.support.files import write_whole
from hogeq.support.messages import one_line

if TYPE_CHECKING:
    from hogeq import Game
    from hogeq.contest.talk import Talk


def play(
    rules_name: AnyRulesName = None,
    game_name: GameName = None,
    forget: Forget = None,
    teams: Teams = None,
    engine: Annotated[
        str,
        option(
            "Your opponent: a strategy, or optimal (or memory): optimal play; an equilibrium.",
            "S",
            name="--against --engine",
        ),
    ] = "optimal",
    first: Annotated[
        Literal["you", "engine", "coin"], option("The player to move first.")
    ] = "coin",
    start: StartOfHog = None,
    seed: Annotated[int | None, option("Of coin and dice. [a new one each time]", min=0)] = None,
    save: Annotated[
        Path | None,
        option("Save the game, for hogeq review or a board.", "GAME.json"),
        Output((".json",), is_kept=True),
        OF_HOG,
    ] = None,
    trust: Trust = False,
) -> Result:
    """Play in the terminal against an engine.

    Type help in the game for a list of commands. With --json the talk goes to standard error, and
    the game to standard output once it ends. Of games other than Hog you have the first seat with
    --first you, the second with engine, and optimal is an equilibrium.
    """
    chosen = Chosen(rules_name, game_name, forget, teams, trust=trust)
    named = [engine] * (engine not in OPTIMAL)
    game = chosen.load(
        "full memory", "hidden states", strategies=named, own_goals=True, start=start
    )
    if not chosen.is_hog:
        return _play_tree(chosen, game, engine, first, seed)
    import numpy as np

    from hogeq.contest.talk import Talk

    seed = int(np.random.default_rng().integers(10**9)) if seed is None else seed
    table, opposite = None, "optimal play"
    if engine not in OPTIMAL:
        strategy = game.second.strategy(engine)
        table, opposite = strategy.array, engine
        if strategy.kind == "mixture":
            # Turn n draws its dice by [seed, n]: another stream, or they would tell what was drawn.
            chances = strategy.weights / strategy.weights.sum()
            drawn = np.random.default_rng([seed, 0, 1]).choice(len(chances), p=chances)
            table, opposite = strategy.components[drawn], f"what was drawn from {engine}"
    with refusing():
        session = chosen.hog_game.play(table, first, seed, chosen.scores)
    talk = Talk(chosen.hog_game, session, opposite)
    try:
        _converse(talk, chosen.title, chosen.hog_game.can_be_endless)
    finally:
        if save is not None:
            _save(save, talk, chosen)
    return Result({"engine_plays": "optimal" if table is None else engine} | session.record())


def _converse(talk: "Talk", title: str, can_be_endless: bool) -> None:
    """Play until somebody wins or leaves."""
    session = talk.session
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")  # bytes that are no text are bad input
    endless = [f"{ENDLESS[0].upper()}{ENDLESS[1:]}."] if can_be_endless else []
    say(*talk.opening(title, endless))
    while not session.over:
        if not session.yours:
            say(*talk.after_turn(session.play()))
            continue
        say(*talk.before_turn())
        line = _asked(f"roll {talk.choices}")
        if line is None:
            say("", f"end of input: left at {talk.score()}")
            break
        if line in {"quit", "exit", "q"}:
            say(f"left at {talk.score()}")
            break
        say(*talk.answer(line))
    say(*talk.summary())


def _play_tree(chosen: Chosen, game: "Game", engine: str, first: str, seed: int | None) -> Result:
    """Play a tree, against an equilibrium or a strategy."""
    import numpy as np

    from hogeq.cli.tree_play import TreePlay
    from hogeq.pages.tree_page import require_small

    with refusing(), computing():
        tree = require_small(game).tree
        optimal = engine in OPTIMAL
        opponent = game.equilibrium().profile if optimal else game.strategy(engine).whole()
    seed = int(np.random.default_rng().integers(10**9)) if seed is None else seed
    seat = {"you": 0, "engine": 1}.get(first, seed % 2) if tree.num_players > 1 else 0
    opposite = "an equilibrium" if optimal else engine
    say(f"{chosen.title}: you are player {seat}, against {opposite}, seed {seed}; ? is a hint", "")
    played = TreePlay(tree, opponent, seat, seed)
    is_over = played.converse(_asked, say)
    history = list(map(str, tree.history(played.node)))
    payoff = played.payoff if is_over else None
    say("", f"payoff to you: {payoff:g}" if is_over else "left", *history)
    data = {"engine_plays": opposite, "seat": seat, "seed": seed, "history": history}
    return Result({**chosen.facts, **data, "payoff": payoff})


def _asked(choices: str) -> str | None:
    """Ask for a command; None at the end of input."""
    typer.echo(f"{choices} > ", nl=False)
    line = "" if sys.stdin is None else sys.stdin.readline()  # None: closed from the start
    if not line:
        return None
    line = line.removesuffix("\n")
    if not sys.stdin.isatty():  # as a terminal would have shown it
        say("".join(char if char.isprintable() else "?" for char in line))
    return " ".join(line.lower().split())


def _save(path: Path, talk: "Talk", chosen: Chosen) -> None:
    from hogeq import Transcript

    session = talk.session
    if not session.turns:
        say(f"no turn was played: {path} is not written")
        return
    played = Transcript.of(
        [None if move.dice < 0 else move.faces for move in session.turns],
        talk.rules,
        ("You", one_line(talk.engine, Transcript.LONGEST_NAME)),
        session.turns[0].before.mover,
        session.seed,
        chosen.name,
        chosen.scores,
    )
    write_whole(path, played.to_json())
    start = () if chosen.scores == (0, 0) else ("--start", "{}:{}".format(*chosen.scores))
    review = chosen.command("review", path, *start)
    say(f"saved to {path}: {review} says what each turn cost")


# --- a game that was played -----------------------------------------------------------------------


def review_(
    transcript: Annotated[
        Path,
        argument(
            "GAME.json", "A transcript: of hogeq play --save, or of a board.", callback=readable
        ),
    ],
    rules_name: Annotated[
        str | None,
        option(
            "Refuse a game by other rules than these. [the transcript's]", "RULES", name="--rules"
        ),
    ] = None,
    start: Start = None,
    trust: Trust = False,
) -> Result:
    """Review a game, move by move: best rolls, losses, and luck.

    Win probabilities are exact, of optimal play that remembers everything, from there on. A choice
    is best (it loses nothing), good (less than 0.5 pp), an inaccuracy (less than 2), a mistake
    (less than 5) or a blunder. All else is luck.
    """
    asked = Chosen.hog(rules_name, trust)
    wanted = None if rules_name is None else asked.choose(own_goals=True)
    from hogeq import read_transcript

    with refusing():
        played = read_transcript(transcript, wanted, asked.start(start))
    chosen = Chosen.of(played.rules)
    chosen.expect("full memory")
    reviewed = chosen.game.review(played)
    named = played.rules_given if isinstance(played.rules_given, str) else ""
    title = (rules_name and asked.name) or (named if named in ALIASES else chosen.title)
    data = {**reviewed.to_json(), "rules": title}
    return Result(data, reviewed.text(title, chosen.endless[1:]))
