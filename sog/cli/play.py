"""`sog play`: a person at the terminal against the search agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from sog.cli.frame import LimitOption, choose, count_preflop, print_table, say, small_tree, stdout
from sog.cli.options import (
    AlgorithmOption,
    PaperOption,
    PerUpdateOption,
    SimulationsOption,
    count,
    searching,
    seed_of,
    word,
)
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.algorithms.base import MakeAgent
    from sog.arrays import Float64
    from sog.games.base import Game, State
    from sog.play.agent import Agent
    from sog.play.referee import Referee, World
    from sog.searches.tree.public_tree import PublicTree

__all__ = ["play"]


_HELD = 24  # infostates of the agent that are shown


def play(
    checkpoint: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT_OR_GAME",
            help="A run's folder, or a game: its shipped checkpoint, or else an untrained network.",
        ),
    ],
    other: Annotated[
        str | None, word("A game to play that the same network plays: another komi or position.", "--game")
    ] = None,
    seat: Annotated[
        int | None, typer.Option(min=0, max=1, help="Your seat, 0 or 1; by default you change seats every hand.")
    ] = None,
    hands: Annotated[int | None, count("Stop after this many hands or games.")] = None,
    simulations: SimulationsOption = None,
    per_update: PerUpdateOption = None,
    algorithm: AlgorithmOption = None,
    paper: PaperOption = False,
    agent: Annotated[
        str | None, typer.Option(metavar="MODULE:CLASS", help="Play the game against this agent, a class of your own.")
    ] = None,
    seed: Annotated[int | None, seed_of("Seed of the deals and of the agent.")] = None,
    limit_gb: LimitOption = None,
) -> None:
    """Play against the agent. After each hand it shows what it believed you held and the policy it drew from.

    Answer with an action's number, its name or the beginning of it, or q to stop. On a board answer with a move's
    name.
    """
    from sog.agents.entrants import code_entrant
    from sog.games.base import refuse_finished
    from sog.games.catalog import make_game
    from sog.play.hand import Entrant, agents_of

    rng = np.random.default_rng(seed)
    if agent is not None:
        if any(each is not None for each in (simulations, per_update, paper or None, algorithm)):
            raise SettingError("an agent of your own has no search budget to be chosen here")
        if other is not None:
            raise SettingError("an agent of your own plays the game that is named first: leave out --game")
        game = make_game(checkpoint)
        entrant = code_entrant(agent, agent, game)
    else:
        from sog.agents.opening import make_player, player_with
        from sog.algorithms.base import SOG
        from sog.algorithms.table import read
        from sog.cli.engines import open_with_note
        from sog.cli.play_board import play_board

        chosen = None if algorithm is None else read(algorithm)
        opened = open_with_note(checkpoint, SOG if chosen is None else chosen.name, other)
        game = opened.game
        plays = searching(player_with(opened, chosen, game.deterministic), simulations, per_update, paper)
        if game.deterministic:
            trained = opened.algorithm.partition("(")[0] or plays.name
            if chosen is None and plays.name != trained:
                say(f"sog: {trained} does not play on boards: {plays.name} searches with its network")
            if limit_gb is not None:
                raise SettingError("--limit-gb does nothing on a board: no states are listed there")
            play_board(game, make_player(opened, plays), seat, hands, rng)
            return
        plays.refuse_training()
        entrant = Entrant(plays.name, "", lambda public: plays.agents(public, opened), plays.plays_unlisted)
    refuse_finished(game)
    count_preflop(game)
    listed = small_tree(game, limit_gb)
    _play_hands(game, listed, agents_of(game, entrant, listed), seat, hands, rng)


def _play_hands(
    game: Game,
    listed: PublicTree | None,
    seats: MakeAgent,
    seat: int | None,
    hands: int | None,
    rng: np.random.Generator,
) -> None:
    """Hands one after another, each against a new agent, until the person leaves or there were enough.

    listed: the game's whole public tree; None: that of each hand grows along it.
    """
    total, count = 0.0, 0
    while hands is None or count < hands:
        person = count % 2 if seat is None else seat
        agent = seats(1 - person, int(rng.integers(2**31)))
        stdout().print(Text.assemble((f"\nHand {count + 1}", "bold"), f": you are player {person}"))
        won = _hand(agent, listed, person, rng)
        if won is None:
            break
        total, count = total + won, count + 1
        mean = f"{total / count * game.unit.per_utility:+.4g} {game.unit.name} a hand"
        word = f"You win {game.unit.amount(won)}" if won > 0 else f"You lose {game.unit.amount(-won)}"
        sign = "+" if total > 0 else ""
        so_far = f"{sign}{game.unit.amount(total)} after {count} hand{'s' * (count > 1)}"
        stdout().print(f"{word if won else 'A draw'}; {so_far}, {mean}.")


def _hand(agent: Agent, listed: PublicTree | None, person: int, rng: np.random.Generator) -> float | None:
    """One hand; the person's utility, or None where the person leaves."""
    from sog.games.base import TERMINAL
    from sog.play.referee import Follower, Referee, is_seen
    from sog.searches.tree.public_tree import PublicTree

    game, public = agent.game, PublicTree(agent.game) if listed is None else listed
    referee = Referee(public)
    follower = Follower(referee, agent.public)
    world = referee.deal(rng)
    last: tuple[int, int] | None = None  # the agent's node and infostate
    while referee.actor(world) != TERMINAL:
        if referee.actor(world) == person:
            column = _ask(game, public, referee, world, person)
            if column is None:
                return None
        else:
            last = follower.place(world.node), world.pair[agent.player]
            column = agent.act(*last, rng)
            name = game.action_name(public.states[world.node], int(game.actions(public.states[world.node])[column]))
            stdout().print(f"  agent: {name if is_seen(public, world, column) else 'moves'}")
        world = referee.act(world, column, rng)
    state = public.states[world.node]
    stdout().print(_place(game, state))
    for p, who in () if game.perfect_information else ((person, "you"), (agent.player, "agent")):
        stdout().print(f"  {who} held {game.infostate_name(state, p, world.pair[p])}")
    if last is not None and agent.drawn_from is not None:
        _show_mind(agent, *last, agent.drawn_from)
    return referee.utility(world) * (1.0 if person == 0 else -1.0)


def _place(game: Game, state: State) -> str:
    """Where the game is, in the lines that a person reads."""
    words = game.picture(state) if game.perfect_information else game.state_name(state)
    return "\n".join(f"  {line}" for line in words.splitlines())


def _ask(game: Game, public: PublicTree, referee: Referee, world: World, person: int) -> int | None:
    """The column that the person names; None to leave."""
    state = public.states[world.node]
    columns = referee.legal(world)
    names = [game.action_name(state, int(game.actions(state)[column])) for column in columns]
    held = "" if game.perfect_information else f"; you hold {game.infostate_name(state, person, world.pair[person])}"
    stdout().print(_place(game, state) + held)
    numbered = not any(name.isdigit() for name in names)  # a bid of 2 is no second entry of a list
    listed = "  ".join(f"{k}) {name}" if numbered else name for k, name in enumerate(names, start=1))
    hint = f"  please answer with {'a number of this list, ' * numbered}a name or its beginning, or q"
    chosen = choose(f"  {listed} > ", names, hint, numbered)
    return None if chosen is None else columns[chosen]


def _show_mind(agent: Agent, node: int, infostate: int, policy: Float64) -> None:
    """The agent's belief about the person's infostates, where it has one, and its policy, where it last decided."""
    game, state = agent.game, agent.state(node)
    other = 1 - agent.player
    belief = None if game.perfect_information else agent.belief(infostate)
    title = f"where the agent decided last: {game.state_name(state)}"
    if belief is not None:
        table = Table(title=title, title_justify="left")
        table.add_column("you might hold")
        table.add_column("belief", justify="right")
        for i in np.argsort(-belief)[:12]:
            if belief[i] > 0.0005:
                table.add_row(game.infostate_name(state, other, int(i)), f"{belief[i]:.1%}")
        print_table(table)
    table = Table(title="its policy" if belief is not None else title, title_justify="left")
    table.add_column("" if game.perfect_information else "with")
    for action in game.actions(state):
        table.add_column(game.action_name(state, int(action)), justify="right")
    for i in range(min(policy.shape[1], _HELD)):
        held = "" if game.perfect_information else game.infostate_name(state, agent.player, i)
        table.add_row(held, *(f"{x:.1%}" for x in policy[:, i]))
    print_table(table)
    if policy.shape[1] > _HELD:
        stdout().print(f"and {policy.shape[1] - _HELD:,} more")
