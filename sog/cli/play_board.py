"""`sog play` where nothing is hidden: a person against the search agent, on a board at the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from sog.cli.frame import choose, stdout
from sog.games.base import TERMINAL, refuse_finished

if TYPE_CHECKING:
    import numpy as np

    from sog.games.base import Game
    from sog.play.move_tree import MoveTree
    from sog.play.player import Player, Thought

__all__ = ["play_board"]

# Legal moves that are listed before every question; `?` always lists them.
_LISTED = 10


def play_board(game: Game, player: Player, seat: int | None, games: int | None, rng: np.random.Generator) -> None:
    """Games one after another until the person leaves or `games` are played; seats change unless one is given.

    rng: gives each game a seed of its own. GameError for a game that is over where it begins.
    """
    refuse_finished(game)
    total, count = 0.0, 0
    while games is None or count < games:
        person = count % 2 if seat is None else seat
        first = game.actor(game.root()) == person
        stdout().print(Text.assemble((f"\nGame {count + 1}", "bold"), f": you move {'first' if first else 'second'}"))
        player.seed = int(rng.integers(2**31))
        result = _game(game, player, person)
        if result is None:
            break
        total, count = total + result, count + 1
        word = "You win" if result > 0 else "You lose" if result < 0 else "A draw"
        stdout().print(f"{word}; {total:+g} after {count} game{'s' * (count > 1)}.")


def _game(game: Game, player: Player, person: int) -> float | None:
    """One game; the person's utility, or None where the person leaves."""
    from sog.play.move_tree import MoveTree
    from sog.play.player import Limits, think

    tree, moves = MoveTree(game), list[int]()
    player.new_game(game)
    while tree.actor(node := tree.node_after(moves)) != TERMINAL:
        if tree.actor(node) == person:
            stdout().print(game.picture(tree.public.states[node]))
            action = _ask(game, tree, node)
            if action is None:
                return None
        else:
            thought = think(player, moves, Limits())
            action = thought.action
            stdout().print(_move_text(game, tree, moves, thought))
        moves.append(action)
    stdout().print(game.picture(tree.public.states[node]))
    share = tree.result(node)
    assert share is not None
    utility = share * game.u_max
    return utility if person == 0 else -utility


def _ask(game: Game, tree: MoveTree, node: int) -> int | None:
    """The action that the person names; None to leave."""
    actions = tree.actions(node)
    names = [game.action_name(tree.public.states[node], action) for action in actions]
    listed = "  ".join(names)
    question = f"{listed} > " if len(names) <= _LISTED else "your move (? lists them, q leaves) > "
    chosen = choose(question, names, f"one of: {listed}")
    return None if chosen is None else actions[chosen]


def _move_text(game: Game, tree: MoveTree, moves: list[int], thought: Thought) -> str:
    """The agent's move, what it thinks of its position and the play that it expects."""
    names, line = [], list(moves)
    for action in thought.candidates[0].line:
        names.append(game.action_name(tree.public.states[tree.node_after(line)], action))
        line.append(action)
    expects = f", expects {' '.join(names[1:6])}" if names[1:] else ""
    return f"agent: {names[0]}  (value {thought.value:+.2f}{expects})"
