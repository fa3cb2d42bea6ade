"""`sog play`: a person at the terminal against the search agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.table import Table

from sog.cli.frame import check_count, stdout
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.arrays import Float64
    from sog.games.base import Game
    from sog.play.agent import SearchAgent
    from sog.play.referee import Referee, World
    from sog.search.tree.public_tree import PublicTree


def play(
    checkpoint: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT_OR_GAME",
            help="A run's folder, or a game: its shipped checkpoint, or else an untrained network.",
        ),
    ],
    seat: Annotated[int | None, typer.Option(help="Your seat, 0 or 1; by default you change seats every hand.")] = None,
    hands: Annotated[int | None, typer.Option(help="Stop after so many hands or games.")] = None,
    simulations: Annotated[
        int | None, typer.Option("--simulations", "-s", help="s: expansions a search; by default 100, on a board 400.")
    ] = None,
    per_update: Annotated[
        float | None,
        typer.Option("--per-update", "-c", help="c: expansions per regret update; by default 0.1, on a board 10."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides the deals and the agent's draws.")] = None,
) -> None:
    """Play against the agent. After each hand it shows what it believed you held and the policy it drew from.

    Answer with an action's number or name, or q to stop. On a board answer with a move's name.
    """
    from sog.agents.players import make_player
    from sog.cli.engines import open_aloud
    from sog.cli.play_board import play_board
    from sog.nets.inference import network_evaluator
    from sog.play.agent import SearchAgent
    from sog.play.referee import Referee
    from sog.play.resolver import ResolveSettings
    from sog.search.gtcfr.search import Budget
    from sog.train.sog.actor import listed_tree

    if seat not in (None, 0, 1):
        raise SettingError(f"--seat is 0 or 1, not {seat}")
    if hands is not None:
        check_count("--hands", hands)
    opened, rng = open_aloud(checkpoint), np.random.default_rng(seed)
    game = opened.game
    if game.deterministic:
        budget = Budget(400 if simulations is None else simulations, 10.0 if per_update is None else per_update)
        player = make_player(f"SoG{budget}", opened, "sog", budget, int(rng.integers(2**31)))
        play_board(game, player, seat, hands)
        return
    public = listed_tree(game)
    if public is None:
        raise SettingError(f"{game.name} is too large for the terminal player so far")
    budget = Budget(100 if simulations is None else simulations, 0.1 if per_update is None else per_update)
    settings = ResolveSettings(budget)
    referee, evaluator = Referee(public), network_evaluator(opened.network)
    total, count = 0.0, 0
    while hands is None or count < hands:
        person = count % 2 if seat is None else seat
        agent = SearchAgent(public, 1 - person, settings, evaluator, int(rng.integers(2**31)))
        stdout().print(f"\n[bold]Hand {count + 1}[/bold]: you are player {person}")
        won = _hand(game, public, referee, agent, person, rng)
        if won is None:
            break
        total, count = total + won, count + 1
        mean = f"{total / count * game.unit.per_utility:+.4g} {game.unit.name} a hand"
        stdout().print(f"You win {won:+g}; {total:+g} after {count} hands, {mean}.", markup=False)


def _hand(
    game: Game, public: PublicTree, referee: Referee, agent: SearchAgent, person: int, rng: np.random.Generator
) -> float | None:
    """One hand; the person's utility, or None where the person leaves."""
    from sog.games.base import TERMINAL

    world = referee.deal(rng)
    searched: tuple[int, Float64] | None = None
    while referee.actor(world) != TERMINAL:
        if referee.actor(world) == person:
            column = _ask(game, public, referee, world, person)
            if column is None:
                return None
        else:
            policy = agent.policy(world.node)
            searched = world.node, policy
            row = policy[:, world.pair[agent.player]]
            column = int(rng.choice(len(row), p=row / row.sum()))
            name = game.action_name(public.states[world.node], int(game.actions(public.states[world.node])[column]))
            stdout().print(f"  agent: {'moves' if _hidden(game, public, world.node) else name}", markup=False)
        world = referee.act(world, column, rng)
    state = public.states[world.node]
    stdout().print(f"  {game.state_name(state)}", markup=False)
    for p, who in ((person, "you"), (agent.player, "agent")):
        stdout().print(f"  {who} held {game.infostate_name(state, p, world.pair[p])}", markup=False)
    if searched is not None:
        _show_mind(game, public, agent, *searched)
    return referee.utility(world) * (1.0 if person == 0 else -1.0)


def _hidden(game: Game, public: PublicTree, node: int) -> bool:
    """Whether the action taken at a node can stay unknown to the other player."""
    from sog.search.tree import columns as f

    return not public.nodes[node, f.PLAIN] and not game.perfect_information


def _ask(game: Game, public: PublicTree, referee: Referee, world: World, person: int) -> int | None:
    state = public.states[world.node]
    columns = referee.legal(world)
    names = {column: game.action_name(state, int(game.actions(state)[column])) for column in columns}
    held = game.infostate_name(state, person, world.pair[person])
    stdout().print(f"  {game.state_name(state)}; you hold {held}", markup=False)
    question = "  " + "  ".join(f"{k + 1} {names[column]}" for k, column in enumerate(columns)) + " > "
    while True:
        try:
            answer = input(question).strip().lower()
        except EOFError:
            return None
        if answer in ("q", "quit", "exit"):
            return None
        if answer.isdigit() and 1 <= int(answer) <= len(columns):
            return columns[int(answer) - 1]
        matches = [column for column in columns if answer and names[column].lower().startswith(answer)]
        if len(matches) == 1:
            return matches[0]
        stdout().print("  please answer with one of the numbers, or q")


def _show_mind(game: Game, public: PublicTree, agent: SearchAgent, node: int, policy: Float64) -> None:
    """The agent's belief about the person's infostates and its policy, at its last decision."""
    state = public.states[node]
    belief = agent.belief()
    other = 1 - agent.player
    table = Table(title=f"the agent's last decision: {game.state_name(state)}", title_justify="left")
    table.add_column("you might hold")
    table.add_column("belief", justify="right")
    for i in np.argsort(-belief)[:12]:
        if belief[i] > 0.0005:
            table.add_row(game.infostate_name(state, other, int(i)), f"{belief[i]:.1%}")
    stdout().print(table)
    table = Table(title="its policy", title_justify="left")
    table.add_column("with")
    for action in game.actions(state):
        table.add_column(game.action_name(state, int(action)), justify="right")
    for i in range(min(policy.shape[1], 24)):
        table.add_row(game.infostate_name(state, agent.player, i), *(f"{x:.1%}" for x in policy[:, i]))
    stdout().print(table)
