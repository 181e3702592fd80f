"""Games turn by turn: played in the terminal (play), and reviewed (review)."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import hogeq
from hogeq.cli.inputs import ENDLESS, AnyGame, Chosen
from hogeq.cli.options import (
    OF_HOG,
    OPTIMAL,
    Output,
    Start,
    StartOfHog,
    Trust,
    argument,
    option,
    readable,
)
from hogeq.cli.shell import Result, computing, refusing, say
from hogeq.support.files import write_whole
from hogeq.support.messages import one_line

if TYPE_CHECKING:
    from hogeq.contest.talk import Talk


def play(
    chosen: AnyGame,
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
) -> Result:
    """Play in the terminal against an engine.

    Type help in the game for a list of commands. With --json the talk goes to standard error, and
    the game to standard output once it ends. Of games other than Hog you have the first seat with
    --first you, the second with engine, and optimal is an equilibrium.
    """
    strategies = [] if engine in OPTIMAL else [engine]
    game = chosen.load(
        kernels=["full memory", "hidden states"], strategies=strategies, own_goals=True, start=start
    )
    if not chosen.is_hog:
        return _play_tree(chosen, game, engine, first, seed)
    import numpy as np

    from hogeq.contest.talk import Talk

    seed = int(np.random.default_rng().integers(10**9)) if seed is None else seed
    table = None  # of the opponent
    opponent_text = "optimal play"
    if engine not in OPTIMAL:
        strategy = game.second.strategy(engine)
        table = strategy.array
        opponent_text = engine
        if strategy.kind == "mixture":
            # Turn n draws its dice from the stream [seed, n]. The component is drawn from another
            # stream, so that dice tell nothing about it.
            chances = strategy.weights / strategy.weights.sum()
            component = np.random.default_rng([seed, 0, 1]).choice(len(chances), p=chances)
            table = strategy.components[component]
            opponent_text = f"what was drawn from {engine}"
    session = chosen.hog_game.play(table, first, seed, chosen.scores)
    talk = Talk(chosen.hog_game, session, opponent_text)
    try:
        _converse(talk, chosen.title, chosen.hog_game.can_be_endless)
    finally:
        if save is not None:
            _save(save, talk, chosen)
    return Result({"engine_plays": "optimal" if table is None else engine} | session.record())


def _converse(talk: "Talk", title: str, can_be_endless: bool) -> None:
    """Play a game of Hog in the terminal until somebody wins, or the person leaves."""
    session = talk.session
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")  # bytes that are no text must not raise an error
    endless = [f"{ENDLESS[0].upper()}{ENDLESS[1:]}."] if can_be_endless else []
    say(*talk.opening(title, endless))
    while not session.over:
        if not session.yours:
            say(*talk.after_turn(session.play()))
            continue
        say(*talk.before_turn())
        line = _ask(f"roll {talk.choices}")
        if line is None:
            say("", f"end of input: left at {talk.score()}")
            break
        if line in {"quit", "exit", "q"}:
            say(f"left at {talk.score()}")
            break
        say(*talk.answer(line))
    say(*talk.summary())


def _play_tree(
    chosen: Chosen, game: "hogeq.Game", engine: str, first: str, seed: int | None
) -> Result:
    """Play a game tree in the terminal, against an equilibrium or a strategy.

    `first` is "you" for the first seat, "engine" for the second, or "coin".
    """
    import numpy as np

    from hogeq.cli.tree_play import TreePlay
    from hogeq.pages.tree_page import require_small

    with computing():
        tree = require_small(game).tree
        is_optimal = engine in OPTIMAL
        opponent = game.equilibrium().profile if is_optimal else game.strategy(engine).whole()
    seed = int(np.random.default_rng().integers(10**9)) if seed is None else seed
    coin = seed % 2
    seat = {"you": 0, "engine": 1}.get(first, coin) if tree.num_players > 1 else 0
    opponent_text = "an equilibrium" if is_optimal else engine
    say(
        f"{chosen.title}: you are player {seat}, against {opponent_text}, seed {seed}; ? is a hint",
        "",
    )
    tree_play = TreePlay(tree, opponent, seat, seed)
    is_over = tree_play.converse(_ask, say)
    history = list(map(str, tree.history(tree_play.node)))
    payoff = tree_play.payoff if is_over else None
    say("", f"payoff to you: {payoff:g}" if is_over else "left", *history)
    data = {"engine_plays": opponent_text, "seat": seat, "seed": seed, "history": history}
    return Result({**chosen.facts, **data, "payoff": payoff})


def _ask(choices: str) -> str | None:
    """Ask for a command: read a line, in lower case and with single spaces; None at the end."""
    typer.echo(f"{choices} > ", nl=False)
    line = "" if sys.stdin is None else sys.stdin.readline()  # None if it was closed at the start
    if not line:
        return None
    line = line.removesuffix("\n")
    if not sys.stdin.isatty():  # show the line, as a terminal does while the user types
        say("".join(char if char.isprintable() else "?" for char in line))
    return " ".join(line.lower().split())


def _save(path: Path, talk: "Talk", chosen: Chosen) -> None:
    """Write the transcript of a game of Hog, if any turn was played."""
    session = talk.session
    if not session.turns:
        say(f"no turn was played: {path} is not written")
        return
    transcript = hogeq.Transcript.of(
        [None if turn.dice < 0 else turn.faces for turn in session.turns],
        talk.rules,
        ("You", one_line(talk.engine, hogeq.Transcript.LONGEST_NAME)),
        session.turns[0].before.mover,
        session.seed,
        chosen.name,
        chosen.scores,
    )
    write_whole(path, transcript.to_json())
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
    required = Chosen.hog(rules_name, trust)
    required_rules = None if rules_name is None else required.choose(own_goals=True)
    with refusing():
        game_record = hogeq.read_transcript(transcript, required_rules, required.start(start))
    chosen = Chosen.of(game_record.rules)
    chosen.hog_game.prepare("full memory")
    review = chosen.game.review(game_record)
    # The title is the name that the user gave, or the transcript's, which may be an alias.
    if rules_name:
        title = required.name
    elif isinstance(game_record.rules_given, str) and game_record.rules_given in hogeq.ALIASES:
        title = game_record.rules_given
    else:
        title = chosen.title
    data = {**review.to_json(), "rules": title}
    return Result(data, review.text(title, chosen.endless[1:]))
