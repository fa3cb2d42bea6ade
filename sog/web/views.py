"""What a viewer may know of a game: one frozen type, of which page, JSON and record are made, and nothing else.

A viewer is a seat, or nobody; once the game is over, both hands are open. Two games that are the same to a viewer
give equal views (tests/web/test_leaks.py). So nothing here may depend on the other player's infostate: not its legal
actions, not the agent's belief (which is given the agent's own hand), not the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import cast

from sog.errors import SettingError
from sog.files import shown
from sog.games.base import Game, State
from sog.games.game_records import GameRecord
from sog.games.holdem.betting import PREFLOP
from sog.games.holdem.cards import HIGH, LOW
from sog.games.holdem.game import Holdem, HoldemState
from sog.play.referee import is_seen
from sog.protocols.phh import PlayedHand
from sog.web.loaded import SavedGame
from sog.web.looks import (
    BoardSeen,
    ChaseSeen,
    ChipsSeen,
    ShownCard,
    board_of,
    cards_of,
    chase_of,
    chips_of,
    roles_of,
    seas_of,
    text_of,
)
from sog.web.tables import Made, PlayTable

__all__ = [
    "GameView",
    "LegalMove",
    "Mind",
    "line_of",
    "may_ask_hint",
    "move_asked",
    "view_of",
    "viewer_at",
]


@dataclass(frozen=True)
class LegalMove:
    """A legal action of the viewer.  column: its place among the public state's actions."""

    column: int
    name: str


@dataclass(frozen=True)
class Mind:
    """What an agent thought at one of its moves; only of games that are over.  chase: the map with the belief."""

    player: int
    title: str
    belief: tuple[tuple[str, float], ...]
    words: str
    chase: ChaseSeen | None = None


@dataclass(frozen=True)
class GameView:
    """All that a viewer may know of a game.

    table: the game's id.  viewer: the seat that looks, None for nobody.  names: who plays.  moves: how many were made.
    state: the public state in words.  hands: what each player holds, None where it is hidden.  actor: who is to move,
    None at the end.  choices: the viewer's legal actions, where it is to move.  log: (player, words) of each move.
    at: moves and takings back so far.  undoable: whether the viewer can take its last move back.  asks_hint: whether it
    may ask for a hint, and hint: what it was shown, as (action, probability), likeliest first.
    notes: what a person should know of the agents.  won: player 0's utility, and result in words, "" before the end.
    record: the game as text; while it lasts only where there is neither chance nor anything hidden.  saved: the same as
    what can be loaded again.  hand: a finished hand of hold'em, for hand histories.  line: the public edges of a
    finished game, where all its events are listed, and edges: how many of them come before each move.
    text: the board in letters, where no picture of it is drawn.
    """

    table: str
    game: str
    viewer: int | None
    names: tuple[str, str]
    roles: tuple[str, str]
    moves: int
    state: str
    board: BoardSeen | None
    cards: tuple[ShownCard, ...]
    chips: ChipsSeen | None
    chase: ChaseSeen | None
    seas: tuple[BoardSeen, BoardSeen] | None
    hands: tuple[str | None, str | None]
    hidden: bool
    actor: int | None
    choices: tuple[LegalMove, ...]
    log: tuple[tuple[int, str], ...]
    notes: tuple[str, ...] = ()
    won: float | None = None
    result: str = ""
    minds: tuple[Mind, ...] = ()
    at: int = 0
    undoable: bool = False
    asks_hint: bool = False
    hint: tuple[tuple[str, float], ...] = ()
    record: str | None = None
    saved: SavedGame | None = None
    hand: PlayedHand | None = None
    line: tuple[int, ...] | None = None
    edges: tuple[int, ...] = ()
    text: str = ""

    @property
    def is_over(self) -> bool:
        return self.result != ""


def viewer_at(table: PlayTable) -> int | None:
    """Whose view the screen has: the only person's; of two, that of whoever is to move; else nobody's."""
    persons = [p for p in (0, 1) if table.chairs[p].is_person]
    if len(persons) == 1:
        return persons[0]
    return table.actor if persons and not table.is_over else None


def view_of(table: PlayTable, viewer: int | None) -> GameView:
    """The view of a seat, or of nobody; `table.lock` is held."""
    game, world, over = table.game, table.world, is_revealed(table)
    state = table.public.states[world.node]
    first, second = (world.pair[p] if over or p == viewer else None for p in (0, 1))
    hands = (_held(game, state, 0, first), _held(game, state, 1, second))
    mine = not over and viewer is not None and table.actor == viewer and table.chairs[viewer].is_person
    return GameView(
        table=table.name,
        game=game.name,
        viewer=viewer,
        names=(table.chairs[0].label, table.chairs[1].label),
        roles=roles_of(game),
        moves=len(table.made),
        state=game.state_name(state),
        board=board_of(game, state, _before(table)),
        cards=cards_of(game, state, hands, viewer),
        chips=chips_of(game, state),
        chase=chase_of(game, state, first),
        seas=seas_of(game, state, (first, second)),
        hands=(None, None) if game.perfect_information else hands,
        hidden=not game.perfect_information,
        actor=None if over else table.actor,
        choices=tuple(_choices(table)) if mine else (),
        log=tuple((made.player, _move_text(table, made, viewer, over)) for made in table.made),
        notes=tuple(sorted({made.reply.note for made in table.made if made.reply and made.reply.note})),
        won=table.referee.utility(world) if over else None,
        result=_result(table) if over else "",
        minds=tuple(_minds(table)) if over else (),
        at=table.changes,
        undoable=viewer == table.person and table.undoable() > 0,
        asks_hint=mine and may_ask_hint(table) and table.hint is None,
        hint=tuple(_hints(table)) if mine else (),
        record=_record(table) if may_record(table) else None,
        saved=_saved(table) if may_record(table) else None,
        hand=_hand(table) if over else None,
        line=line_of(table) if over else None,
        edges=_edges(table) if over else (),
        text=text_of(game, state),
    )


def _held(game: Game, state: State, player: int, infostate: int | None) -> str | None:
    """What a player holds, where the viewer may know it."""
    return None if infostate is None else game.infostate_name(state, player, infostate)


def is_revealed(table: PlayTable) -> bool:
    """Whether everything may be shown."""
    return table.is_over


def may_record(table: PlayTable) -> bool:
    """Whether the record may be read: it has every action, both hands and what chance will do."""
    return table.is_over or table.game.deterministic


def may_ask_hint(table: PlayTable) -> bool:
    """Whether a person is to move whose opponent can say what it would do."""
    if table.is_over or table.actor != table.person:
        return False
    return table.chairs[1 - table.actor].gives_hints


def _hints(table: PlayTable) -> Iterator[tuple[str, float]]:
    """What the person who is to move was shown."""
    if table.hint is not None:
        for column, share in sorted(table.hint.shares, key=lambda each: -each[1]):
            yield _action(table, table.world.node, column), share


def _choices(table: PlayTable) -> Iterator[LegalMove]:
    """The legal actions of whoever is to move."""
    for column in table.referee.legal(table.world):
        yield LegalMove(column, _action(table, table.world.node, column))


def move_asked(table: PlayTable, column: int | None, typed: str) -> int:
    """The action that a person asks for, by its place or by its name. SettingError for what is neither.

    typed: "" without a name; capitals and spaces around it do not matter.
    """
    if column is not None:
        return column
    named = {choice.name.casefold(): choice.column for choice in _choices(table)}
    if (name := typed.strip().casefold()) not in named:
        raise SettingError(f"{shown(typed.strip())!r} is no move of this position")
    return named[name]


def _move_text(table: PlayTable, made: Made, viewer: int | None, over: bool) -> str:
    """A move as the viewer learns of it: what others do unseen is not said before the end."""
    seen = made.player == viewer or over or is_seen(table.public, made.before, made.column)
    return _name(table, made) if seen else "a hidden move"


def _name(table: PlayTable, made: Made) -> str:
    """A move's name."""
    return _action(table, made.before.node, made.column)


def _action(table: PlayTable, node: int, column: int) -> str:
    return table.game.action_name(table.public.states[node], int(table.public.actions(node)[column]))


def _before(table: PlayTable) -> State | None:
    return table.public.states[table.made[-1].before.node] if table.made else None


def _result(table: PlayTable) -> str:
    """Who won how much."""
    won = table.referee.utility(table.world)
    if won == 0:
        return "A draw."
    winner = 0 if won > 0 else 1
    amount = "" if table.game.deterministic else f" {table.game.unit.amount(abs(won))}"
    role = roles_of(table.game)[winner]
    return f"{role[:1].upper()}{role[1:]} ({table.chairs[winner].label}) won{amount}."


def _minds(table: PlayTable) -> Iterator[Mind]:
    """What the agents thought."""
    for number, made in enumerate(table.made, start=1):
        if made.reply is not None and (made.reply.belief or made.reply.words):
            state = table.public.states[made.before.node]
            probabilities, other = dict(made.reply.belief), 1 - made.player
            count = table.game.num_infostates(state)[other]
            if count == 1 and not made.reply.words:
                continue  # there was nothing to believe
            belief = tuple((table.game.infostate_name(state, other, i), p) for i, p in probabilities.items())
            shares = tuple(probabilities.get(i, 0.0) for i in range(count))
            chase = chase_of(table.game, state, made.before.pair[0], shares) if other == 0 else None
            yield Mind(made.player, f"Move {number}, {_name(table, made)}", belief, made.reply.words, chase)


def line_of(table: PlayTable) -> tuple[int, ...] | None:
    """The public edges of the game, where all its events are listed."""
    way = table.way(table.world.node)
    return tuple(cast("tuple[int, ...]", way)) if all(isinstance(step, int) for step in way) else None


def _edges(table: PlayTable) -> tuple[int, ...]:
    """How many public edges come before each move."""
    depth = {node: k for k, node in enumerate(table.public.path(table.world.node))}
    return tuple(depth[made.before.node] for made in table.made)


def _saved(table: PlayTable) -> SavedGame:
    """The game's own record."""
    seed = None if table.game.deterministic else table.seed
    return SavedGame(table.game.name, seed, tuple(made.column for made in table.made))


def _hand(table: PlayTable) -> PlayedHand | None:
    """The hand, if it is a whole one of hold'em."""
    game, end = table.game, table.public.states[table.world.node]
    if not isinstance(game, Holdem) or game.street != PREFLOP or game.spot.pot or not isinstance(end, HoldemState):
        return None
    holes = [(int(HIGH[hand]), int(LOW[hand])) for hand in table.world.pair]
    names = (table.chairs[0].label, table.chairs[1].label)
    won = round(table.referee.utility(table.world))
    spot = game.spot
    return PlayedHand(1, spot.stacks, spot.blinds, (holes[0], holes[1]), end.board, end.line, names, won)


def _record(table: PlayTable) -> str:
    """The game as text: in the format that programs of it read, or both hands and every move in words."""
    game, names = table.game, (table.chairs[0].label, table.chairs[1].label)
    if game.deterministic:
        moves = tuple(int(table.public.actions(made.before.node)[made.column]) for made in table.made)
        today = date.today().isoformat()
        won = table.referee.utility(table.world) / game.u_max if table.is_over else None
        why = "the end of the game" if table.is_over else "not over"
        return game.write_record(GameRecord(names, today, "sog serve", "1", moves, won, why))
    lines = [f"game: {game.name}", *(f"{game.player_names[p]}: {names[p]}" for p in (0, 1))]
    for made in (None, *table.made):
        world = table.first if made is None else made.after
        state = table.public.states[world.node]
        held = [f"{game.player_names[p]}: {game.infostate_name(state, p, world.pair[p])}" for p in (0, 1)]
        if made is not None:
            lines.append(f"{game.player_names[made.player]} plays {_name(table, made)}")
        lines.append(f"  {game.state_name(state)} ({'; '.join(held)})")
    return "\n".join([*lines, _result(table) if table.is_over else "", ""])
