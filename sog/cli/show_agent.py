"""`sog show` of an agent: what it does and believes along a line of play, and on a board the moves it considers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sog.cli.frame import (
    count_preflop,
    figures_table,
    print_json,
    print_table,
    progress_bar,
    small_tree,
    stdout,
    write_unless_there,
)
from sog.cli.options import searching
from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL

if TYPE_CHECKING:
    from sog.agents.line_seen import SeenState
    from sog.algorithms.base import Algorithm
    from sog.arrays import Float64
    from sog.games.base import Game, State
    from sog.play.hand import Entrant
    from sog.play.move_tree import MoveTree
    from sog.play.player import Candidate, Thought
    from sog.training.opened import Opened

__all__ = ["AgentShown", "show_agent"]

_WIDEST: Final = 12  # infostates whose ranges are shown after each action
_MOVES: Final = 12  # of a board's position


@dataclass(frozen=True)
class AgentShown:
    """What is named on the command line: who plays, another game to play, how it searches, and what to show.

    agent: a run's folder, a game, or the file of a solved policy.  line: in words as of `sog.games.public_lines`.
    hands: of hold'em, as a range.  svg: a new file.
    """

    agent: str
    other: str | None
    simulations: int | None
    per_update: float | None
    algorithm: str | None
    seed: int
    limit_gb: float | None
    line: str
    hands: str | None
    svg: Path | None
    as_json: bool


def show_agent(asked: AgentShown) -> None:
    """Show an agent's play at the end of a line; SettingError or GameError where it cannot be followed."""
    from sog.agents.opening import player_with
    from sog.algorithms.base import SOG
    from sog.algorithms.table import read
    from sog.cli.engines import open_with_note
    from sog.play.hand import Entrant

    if asked.agent.endswith(".json"):
        _show_policy(asked)
        return
    chosen = None if asked.algorithm is None else read(asked.algorithm)
    opened = open_with_note(asked.agent, SOG if chosen is None else chosen.name, asked.other)
    game = opened.game
    plays = searching(player_with(opened, chosen, game.deterministic), asked.simulations, asked.per_update)
    if game.deterministic:
        _show_board(game, opened, plays, asked)
        return
    plays.refuse_training()
    _show_line(game, Entrant(str(plays), "", lambda public: plays.agents(public, opened), plays.plays_unlisted), asked)


def _show_policy(asked: AgentShown) -> None:
    """The policy in a file of `sog solve --out`."""
    from sog.agents.entrants import policy_entrant
    from sog.agents.written_policy import game_of_policy
    from sog.games.catalog import make_game

    if asked.seed or any(
        each is not None for each in (asked.other, asked.simulations, asked.per_update, asked.algorithm)
    ):
        raise SettingError("a solved policy searches nothing: leave out --game, -s, -c, --algorithm and --seed")
    game = make_game(game_of_policy(Path(asked.agent)))
    _show_line(game, policy_entrant("the policy", asked.agent, game), asked)


def _show_line(game: Game, entrant: Entrant, asked: AgentShown) -> None:
    """Where information is hidden: ranges after each action, then policy, range and values at the end."""
    from sog.agents.line_seen import seen_along
    from sog.errors import TooLarge
    from sog.games.holdem.game import Holdem
    from sog.games.policy_picture import policy_drawn
    from sog.games.public_lines import states_along
    from sog.searches.tree.public_tree import PublicTree

    if asked.hands is not None and not isinstance(game, Holdem):
        raise SettingError(f"--hands is for hold'em, not for {game.name}")
    states = states_along(game, asked.line)
    count_preflop(game)
    listed = small_tree(game, asked.limit_gb)
    if listed is None and not entrant.grows:
        raise TooLarge(f"{game.name} has too many public states to list, which {entrant.name} needs to play")
    public = PublicTree(game) if listed is None else listed
    make = entrant.seats(public)
    with progress_bar("search", len(states), "decisions") as report:
        seen = list(seen_along(game, lambda p: make(p, asked.seed), public, states, lambda done: report(done, "")))
    last = seen[-1]
    if asked.svg is not None:
        if last.policy is None:
            raise SettingError(f"nobody acts at {game.state_name(last.state)}: there is no policy to draw")
        write_unless_there(
            asked.svg, policy_drawn("Policy", game, last.state, last.policy, last.ranges[last.actor]).svg
        )
    if asked.as_json:
        about = {"game": game.name, "agent": asked.agent, "algorithm": entrant.name, "seed": asked.seed}
        print_json(about | _answer(game, seen))
        return
    _print_steps(game, seen)
    _print_end(game, last, asked.hands)


def _answer(game: Game, seen: list[SeenState]) -> dict[str, Any]:
    """Each state of the line, and what is known at its end."""
    last = seen[-1]
    return {
        "unit": game.unit.name,
        "line": [
            {
                "state": game.state_name(each.state),
                "actor": _actor(each.actor),
                "likely": each.likely,
                "ranges": [each.ranges[0].tolist(), each.ranges[1].tolist()],
            }
            for each in seen
        ],
        "state": game.state_name(last.state),
        "actor": _actor(last.actor),
        "actions": _actions(game, last),
        "policy": None if last.policy is None else last.policy.tolist(),
        "infostates": [_names(game, last.state, p, len(last.ranges[p])) for p in (0, 1)],
        "value": None if last.mean is None else last.mean * game.unit.per_utility,
        "values": None if last.values is None else [(v * game.unit.per_utility).tolist() for v in last.values],
    }


def _actor(actor: int) -> int | str:
    return "chance" if actor == NATURE else "over" if actor == TERMINAL else actor


def _actions(game: Game, seen: SeenState) -> list[str]:
    if seen.policy is None:
        return []
    return [game.action_name(seen.state, int(action)) for action in game.actions(seen.state)]


def _names(game: Game, state: State, p: int, width: int) -> list[str]:
    return [game.infostate_name(state, p, i) for i in range(width)]


def _print_steps(game: Game, seen: list[SeenState]) -> None:
    """What was done, how likely it was, and the range of who did it, where it has few infostates."""
    from sog.games.public_lines import new_words

    narrow = all(max(map(len, each.ranges)) <= _WIDEST for each in seen)
    for before, after in pairwise(seen):
        word = new_words(game.state_name(before.state), game.state_name(after.state))
        if before.policy is None:
            stdout().print(f"  {word}", highlight=False)
            continue
        likely = "never, by its policy" if after.likely in (None, 0.0) else f"{100 * after.likely:.3g}%"
        stdout().print(f"  player {before.actor}: {word}, {likely}", highlight=False)
        if narrow:
            names = _names(game, after.state, before.actor, len(after.ranges[before.actor]))
            shares = zip(names, after.ranges[before.actor], strict=True)
            stdout().print("    holds " + ", ".join(f"{name} {share:.0%}" for name, share in shares), highlight=False)


def _print_end(game: Game, seen: SeenState, hands: str | None) -> None:
    from sog.games.holdem.game import HoldemState
    from sog.games.policy_picture import cut_words, likely

    name = game.state_name(seen.state)
    if seen.policy is None:
        stdout().print(f"{name}: {'the game is over' if seen.actor == TERMINAL else 'chance is next'}", highlight=False)
        return
    stdout().print(f"{name}: player {seen.actor} to act", highlight=False, soft_wrap=True)
    own, actions = seen.ranges[seen.actor], _actions(game, seen)
    values = None if seen.values is None else seen.values[seen.actor] * game.unit.per_utility
    if seen.mean is not None:
        mean = seen.mean * game.unit.per_utility
        stdout().print(f"value {mean:+,.4g} {game.unit.name} for player {seen.actor}", highlight=False)
    if isinstance(seen.state, HoldemState):
        _print_hands(game, seen, actions, values, hands)
        return
    table = figures_table("infostate", figures=("range", *(("value",) if values is not None else ()), *actions))
    for i in likely(own):
        worth = (f"{values[i]:+,.4g}",) if values is not None else ()
        name = game.infostate_name(seen.state, seen.actor, i)
        table.add_row(name, f"{own[i]:.1%}", *worth, *(f"{x:.1%}" for x in seen.policy[:, i]))
    print_table(table)
    if cut := cut_words(own):
        stdout().print(f"{cut}; --json has all")


def _print_hands(game: Game, seen: SeenState, actions: list[str], values: Float64 | None, hands: str | None) -> None:
    """Hold'em: the grid of classes of hands, after the hands that --hands names."""
    from sog.cli.holdem import print_grid
    from sog.games.holdem.game import HoldemState
    from sog.games.holdem.ranges import parse_range
    from sog.searches.holdem.view import View

    assert isinstance(seen.state, HoldemState) and seen.policy is not None
    own, other = seen.ranges[seen.actor], seen.ranges[1 - seen.actor]
    view = View(seen.state, seen.actor, tuple(actions), seen.policy, own, other)
    if hands is not None:
        listed = parse_range(hands) > 0
        table = figures_table("hand", figures=("range", *(("value",) if values is not None else ()), *actions))
        for h, (hand, weight, policy) in zip(view.numbers(listed), view.hands(listed), strict=True):
            worth = (f"{values[h]:+,.4g}",) if values is not None else ()
            table.add_row(hand, f"{weight:.3%}", *worth, *(f"{x:.1%}" for x in policy))
        print_table(table)
    print_grid(view)


def _show_board(game: Game, opened: Opened, plays: Algorithm, asked: AgentShown) -> None:
    """On a board: the position, and the moves that the agent considers, best first."""
    from sog.agents.opening import make_player
    from sog.games.public_lines import moves_along
    from sog.play.move_tree import MoveTree
    from sog.play.player import Limits, think

    if asked.limit_gb is not None:
        raise SettingError("--limit-gb does nothing on a board: no states are listed there")
    tree, moves = MoveTree(game), moves_along(game, asked.line)
    state = tree.public.states[tree.node_after(moves)]
    if game.actor(state) == TERMINAL:
        raise SettingError(f"the game is over at {game.state_name(state)}: there is no move to consider")
    player = make_player(opened, plays, asked.seed)
    player.new_game(game)
    thought = think(player, moves, Limits())
    if asked.svg is not None:
        _draw_moves(game, state, thought, asked.svg)
    rows = [_considered(game, tree, moves, candidate) for candidate in thought.candidates]
    if asked.as_json:
        place = {"game": game.name, "agent": asked.agent, "algorithm": player.name, "seed": asked.seed}
        position = {"state": game.state_name(state), "actor": game.actor(state), "value": thought.value}
        print_json(place | position | {"moves": rows})
        return
    stdout().print(game.picture(state), highlight=False)
    mover = f"player {game.actor(state)} to move, value {thought.value:+.2f} by {player.name}"
    stdout().print(mover, highlight=False)
    table = figures_table("move", "expects", figures=("share", "value", "visits"))
    for row in rows[:_MOVES]:
        value = "" if row["value"] is None else f"{row['value']:+.2f}"
        played = f"{row['share']:.1%}", value, f"{row['visits']:,}"
        table.add_row(row["move"], " ".join(row["line"][1:6]), *played)
    print_table(table)
    if len(rows) > _MOVES:
        stdout().print(f"and {len(rows) - _MOVES:,} more; --json has all")


def _considered(game: Game, tree: MoveTree, moves: list[int], candidate: Candidate) -> dict[str, Any]:
    """A move with the play that the agent expects after it, in names."""
    names, line = list[str](), list(moves)
    for action in candidate.line:
        names.append(game.action_name(tree.public.states[tree.node_after(line)], action))
        line.append(action)
    figures = {"share": candidate.share, "value": candidate.value, "visits": candidate.visits}
    return {"move": names[0], "line": names, **figures}


def _draw_moves(game: Game, state: State, thought: Thought, svg: Path) -> None:
    import numpy as np

    from sog.games.policy_picture import policy_drawn

    shares = {candidate.action: candidate.share for candidate in thought.candidates}
    policy = np.array([[shares.get(int(action), 0.0)] for action in game.actions(state)])
    write_unless_there(svg, policy_drawn("Policy", game, state, policy, np.ones(1)).svg)
