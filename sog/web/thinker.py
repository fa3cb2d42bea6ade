"""What runs in a process of its own: agents of games in play, and searches of positions, recorded or watched.

An agent is given public states and its own infostates, never the opponent's. One that a new process makes anew goes
through its earlier decisions first, so that it continues as it would have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from sog.agents.entrants import open_entrant
from sog.agents.opening import make_player, open_network, player_with
from sog.algorithms.student.algorithm import Student
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.boards.chess import Chess
from sog.games.catalog import make_game
from sog.lru import LruCache
from sog.opponents.random_player import RandomPlayer
from sog.play.hand import agents_of
from sog.play.match import ContestantFault
from sog.play.player import Limits, Player, think
from sog.protocols.gtp_client import GtpContestant
from sog.protocols.uci_client import UciContestant
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import listed_tree
from sog.training.opened import Opened
from sog.web.asked import (
    RANDOM,
    SOLUTION,
    Chair,
    HintReply,
    MoveAsked,
    MoveReply,
    PositionAsked,
    SearchGrowth,
    SideSeen,
    SpotAsked,
    SpotSeen,
    Way,
)
from sog.web.compared import WholePolicies, side_of
from sog.web.searching import Growing, PositionSearching, child_after, moves_of, recorded, searching_of
from sog.web.solved import SolvedSpots

__all__ = ["Thinker"]

_GAMES: Final = 8  # agents in mid-game that a process keeps
_NETWORKS: Final = 4
_BELIEVED: Final = 1_326  # infostates of a belief that are kept, the likeliest; all hands of hold'em
_ENGINE_SECONDS: Final = 1.0  # for an engine's move
_PATIENCE: Final = 10.0  # and beyond
_EXPECTED: Final = 5  # moves of the line that a player of a board expects


T = TypeVar("T")


class _InPlay(Protocol):
    """An agent in the middle of a game."""

    def move(self, asked: MoveAsked) -> MoveReply | None:
        """Its action; None where it was asked already, and cannot be again."""

    def hint(self, asked: MoveAsked) -> HintReply | None:
        """Its policy; None as of `move`. SettingError where it has no policy."""

    def close(self) -> None:
        """End whatever it has started."""


class Thinker:
    """Answers the server, one question after the other."""

    def __init__(self) -> None:
        threadpool_limits(1)
        self._playing = LruCache[str, _InPlay](_GAMES)
        self._listed = LruCache[str, "PublicTree | None"](2)
        self._networks = LruCache[tuple[str, str], Opened](_NETWORKS)
        self._growing = dict[PositionAsked, Growing]()
        self._spots, self._whole = SolvedSpots(), WholePolicies()

    def move(self, asked: MoveAsked) -> MoveReply:
        """An agent's action in a game. SogError where what the chair names cannot play it."""
        return self._answer(f"{asked.table} {asked.player}", asked, lambda agent: agent.move(asked))

    def hint(self, asked: MoveAsked) -> HintReply:
        """What an agent would do in a person's place. Errors of `move`; SettingError where it has no policy."""
        return self._answer(f"{asked.table} hint", asked, lambda agent: agent.hint(asked))

    def _answer(self, key: str, asked: MoveAsked, ask: Callable[[_InPlay], T | None]) -> T:
        """What an agent in mid-game answers; it is made anew where it cannot continue from its last decision."""
        answer = ask(self._playing[key]) if key in self._playing else None
        if answer is None:
            self._keep(key, self._seated(asked))
            answer = ask(self._playing[key])
        assert answer is not None
        return answer

    def _keep(self, key: str, agent: _InPlay) -> None:
        """In place of the one before, or of the one that was not asked for longest."""
        full = len(self._playing) >= self._playing.most
        gone = key if key in self._playing else next(iter(self._playing)) if full else None
        if gone is not None:
            self._playing[gone].close()
            self._playing.drop(gone)
        self._playing[key] = agent

    def look(self, asked: PositionAsked) -> SearchGrowth:
        """A search of a position, recorded. SogError where the network or the position cannot be opened."""
        return recorded(self.searching(asked))

    def grow(self, asked: PositionAsked) -> SearchGrowth:
        """What a search that is watched knows a moment after the last time. Errors of `look`."""
        growing = self._growing.pop(asked, None) or Growing(self.searching(asked))
        growth = growing.next()
        if not growth.finished:
            self._growing[asked] = growing
        return growth

    def forget(self, asked: PositionAsked) -> None:
        """Nobody watches this search any more."""
        self._growing.pop(asked, None)

    def side(self, asked: PositionAsked) -> SideSeen:
        """What an agent, or the solution, does in a position. Errors of `look`; SettingError for a large game."""
        public = self._tree(make_game(asked.game))
        if asked.agent == SOLUTION:
            if public is None:
                raise SettingError("this game has too many public states to be solved here")
            return self._whole.solution(public, asked)
        if public is None or not self._whole.fits(public, asked):
            growth = self.look(asked)
            return side_of(growth.snapshots[-1], growth.trained)
        opened, plays = self._opened(asked)
        return self._whole.played(public, opened, plays, asked)

    def spot(self, asked: SpotAsked) -> SpotSeen | str:
        """A public state of a solved spot, or a decision's hands as text. Errors of `SolvedSpots.see`."""
        return self._spots.written(asked) if asked.form else self._spots.see(asked)

    def searching(self, asked: PositionAsked) -> PositionSearching:
        """The search of a position, ready to run. Errors of `look`."""
        return searching_of(*self._opened(asked), asked)

    def _opened(self, asked: PositionAsked) -> tuple[Opened, Student]:
        """The network that values leaves, and how it searches."""
        opened = self._network(asked.agent, asked.game)
        chosen = Student(simulations=asked.simulations, per_update=asked.per_update)
        plays = player_with(opened, chosen, opened.game.deterministic)
        assert isinstance(plays, Student)
        return opened, plays

    def _seated(self, asked: MoveAsked) -> _InPlay:
        game, chair = make_game(asked.game), asked.chair
        if chair.is_engine:
            return _EngineAgent(game, chair.command, asked.seed)
        if game.deterministic and not chair.is_code:
            return _BoardAgent(game, self._board_player(game, chair, asked.seed))
        listed = None if chair.agent == RANDOM else self._tree(game)  # random moves need no tree beyond their line
        return _HandAgent(game, chair, asked, listed)

    def _board_player(self, game: Game, chair: Chair, seed: int) -> Player:
        if chair.agent == RANDOM:
            return RandomPlayer(seed=seed)
        opened = self._network(chair.agent, game.name)
        plays = player_with(opened, None, True)
        return make_player(opened, plays.varied(**_budget(chair, tuple(plays.own()))), seed)

    def _network(self, agent: str, game: str) -> Opened:
        if (agent, game) not in self._networks:
            self._networks[agent, game] = open_network(agent, game=game)
        return self._networks[agent, game]

    def _tree(self, game: Game) -> PublicTree | None:
        if game.deterministic:
            return None
        if game.name not in self._listed:
            self._listed[game.name] = listed_tree(game)
        return self._listed[game.name]


def _budget(chair: Chair, takes: tuple[str, ...]) -> dict[str, int | float | str | None]:
    """The chair's search budget, as far as there is one."""
    budget = {"simulations": chair.simulations, "per_update": chair.per_update}
    return {name: value for name, value in budget.items() if value is not None and name in takes}


class _HandAgent:
    """An agent of a game with hidden information or chance."""

    def __init__(self, game: Game, chair: Chair, asked: MoveAsked, listed: PublicTree | None) -> None:
        entrant = open_entrant(chair.label, chair.agent, game, None, _budget(chair, ("simulations", "per_update")))
        self.agent, self.note = agents_of(game, entrant, listed)(asked.player, asked.seed), entrant.note
        self.agent.new_game()
        self._nodes = [0]
        self._way: Way = ()
        self._own: tuple[tuple[int, int], ...] = ()

    def move(self, asked: MoveAsked) -> MoveReply | None:
        column = self._acted(asked)
        if column is None:
            return None
        belief = self.agent.belief(asked.own[-1][1])
        likely = [] if belief is None else np.argsort(-belief, kind="stable")[:_BELIEVED].tolist()
        likeliest = () if belief is None else tuple((i, round(float(belief[i]), 6)) for i in likely if belief[i] > 1e-5)
        return MoveReply(column, likeliest, note=self.note)

    def hint(self, asked: MoveAsked) -> HintReply | None:
        if self._acted(asked) is None:
            return None
        policy = self.agent.drawn_from
        if policy is None:
            raise SettingError("this agent has no policy to show")
        row = policy[:, asked.own[-1][1]] / policy[:, asked.own[-1][1]].sum()
        return HintReply(tuple((a, float(p)) for a, p in enumerate(row) if p > 0), self.note)

    def close(self) -> None:
        pass

    def _acted(self, asked: MoveAsked) -> int | None:
        """Its action's column, after its decisions before; None where it has gone past this one, or another way."""
        done = len(self._own)
        if len(asked.own) <= done or asked.own[:done] != self._own or asked.way[: len(self._way)] != self._way:
            return None
        for step in asked.way[len(self._nodes) - 1 :]:
            self._nodes.append(child_after(self.agent.public, self._nodes[-1], step))
        column = -1
        for number, (depth, infostate) in enumerate(asked.own[done:], start=done):
            rng = np.random.default_rng((asked.seed, number))
            column = int(self.agent.act(self._nodes[depth], infostate, rng))
        self._way, self._own = asked.way, asked.own
        return column


class _EngineAgent:
    """Another program, which plays chess behind UCI or Go behind GTP."""

    def __init__(self, game: Game, command: Sequence[str], seed: int) -> None:
        self.game, self.seed, name, limits = game, seed, command[0], Limits(seconds=_ENGINE_SECONDS)
        self._made: list[int] | None = None  # the moves that it was sent, and its own
        self._engine: UciContestant | GtpContestant
        if isinstance(game, Chess):
            self._engine = UciContestant(name, command, limits, {}, _PATIENCE)
        else:
            self._engine = GtpContestant(name, command, limits, _PATIENCE)

    def move(self, asked: MoveAsked) -> MoveReply:
        moves = moves_of(self.game, asked.way)
        try:
            if self._made is None or moves[: len(self._made)] != self._made:  # the first move, or one was taken back
                self._engine.begin(self.game, self.seed)
            action = self._engine.move(moves)
        except ContestantFault as fault:
            self.close()
            raise SettingError(f"the engine {self._engine.name}: {fault}") from fault
        if action is None:
            raise SettingError(f"the engine {self._engine.name} resigns: you win")
        self._made = [*moves, action]
        tree = self._engine.tree
        return MoveReply(tree.actions(tree.node_after(moves)).index(action))

    def hint(self, asked: MoveAsked) -> HintReply:
        raise SettingError("an engine has no policy to show")

    def close(self) -> None:
        self._engine.close()
        self._made = None


class _BoardAgent:
    """A player of a game of perfect information without chance."""

    def __init__(self, game: Game, player: Player) -> None:
        self.game, self.player = game, player
        player.new_game(game)

    def move(self, asked: MoveAsked) -> MoveReply:
        moves = moves_of(self.game, asked.way)
        thought = think(self.player, moves, Limits())
        state = self.player.tree.public.states[self.player.tree.node_after(moves)]
        expected, line = list[str](), list(moves)
        for action in thought.candidates[0].line[:_EXPECTED]:
            expected.append(self.game.action_name(state, action))
            line.append(action)
            state = self.player.tree.public.states[self.player.tree.node_after(line)]
        words = f"value {thought.value:+.2f}, expects {' '.join(expected)}" if thought.nodes > 1 else ""
        column = self.player.tree.actions(self.player.tree.node_after(moves)).index(thought.action)
        return MoveReply(column, words=words)

    def hint(self, asked: MoveAsked) -> HintReply:
        moves = moves_of(self.game, asked.way)
        thought = think(self.player, moves, Limits())
        actions = self.player.tree.actions(self.player.tree.node_after(moves))
        return HintReply(
            tuple((actions.index(each.action), each.share) for each in thought.candidates if each.share > 0)
        )

    def close(self) -> None:
        pass
