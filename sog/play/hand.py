"""Hands of hidden information between two agents: duplicate deals, each agent with what it may know, many at once.

Hands 2k and 2k + 1 are the same deal with the seats swapped: chance draws the same, and so does whoever sits in a seat.
A hand depends on the match's seed and on its number alone, and agents are made anew for each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from sog.errors import SogError, TooLarge
from sog.games.base import NATURE, TERMINAL, Game
from sog.play.agent import Agent
from sog.play.hand_record import Chance, HandDecision, HandRecord, chance_of, draws_of
from sog.play.referee import Follower, Referee, World
from sog.play.side_by_side import Router
from sog.progress import Report
from sog.searches.leaves.drive import drive
from sog.searches.leaves.evaluator import Beliefs, Evaluations, SearchGenerator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Entrant", "Hand", "HandMatch", "Seats", "agents_of"]

# Makes the agents of a tree: (player, seed) -> agent.
Seats: TypeAlias = Callable[[PublicTree], Callable[[int, int], Agent]]

# Deals that are played side by side: of a game that is listed, and of one whose every agent has a tree of its own.
_DEALS: Final = 8
_DEALS_UNLISTED: Final = 1


@dataclass(frozen=True, eq=False)
class Entrant:
    """One side of a match.

    name: as messages have it.  plays: all that decides its play, in words.  seats: makes its agents, whose play is
    checked.  grows: whether they play, too, where the public tree grows along the hand.  note: what a person should
    know of it.  takes: the settings that it was offered and has.
    """

    name: str
    plays: str
    seats: Seats
    grows: bool
    note: str = ""
    takes: tuple[str, ...] = ()


def agents_of(game: Game, entrant: Entrant, listed: PublicTree | None) -> Callable[[int, int], Agent]:
    """Makes an entrant's agents: (player, seed) -> agent, on the game's whole tree, or each on a new one, which grows.

    listed: the whole tree. TooLarge where an entrant needs it and the game is not listed.
    """
    if listed is not None:
        return entrant.seats(listed)
    if not entrant.grows:
        raise TooLarge(f"{game.name} has too many public states to list, which {entrant.name} needs to play")
    return lambda player, seed: entrant.seats(PublicTree(game))(player, seed)


class HandMatch:
    """Two entrants and the deals of a seed.  listed: the game's whole public tree; None: trees grow along each hand.

    policies: whether records have them. TooLarge as of `agents_of`.
    """

    def __init__(
        self,
        game: Game,
        entrants: tuple[Entrant, Entrant],
        seed: int,
        listed: PublicTree | None,
        policies: bool = False,
    ) -> None:
        self.game, self.entrants, self.seed, self.listed, self.policies = game, entrants, seed, listed, policies
        self.router = Router()
        self._referee = None if listed is None else Referee(listed)  # one for all hands: nothing in it changes
        self._agents = [agents_of(game, entrant, listed) for entrant in entrants]

    def play(self, first: int, stop: int, report: Report) -> Iterator[list[HandRecord]]:
        """The hands from `first` up to `stop`, in order, as many at a time as are played side by side."""
        width = 2 * (_DEALS_UNLISTED if self.listed is None else _DEALS)
        while first < stop:
            # Blocks begin at the same hands wherever a match is continued: some networks' last bits depend on what is
            # evaluated together.
            last = min(stop, (first // width + 1) * width)
            records: list[HandRecord] = []
            for hand in drive((Hand(self, number) for number in range(first, last)), self.router, width):
                records.append(hand.record())
                report(first + len(records), "")
            yield sorted(records, key=lambda record: record.number)
            first = last

    def referee(self) -> Referee:
        """The referee of a hand."""
        return Referee(PublicTree(self.game)) if self._referee is None else self._referee

    def agent(self, who: int, player: int, deal: int) -> Agent:
        """A new agent of an entrant, for one hand."""
        seed = int(np.random.SeedSequence((self.seed, deal, 1, player)).generate_state(1)[0]) >> 1  # below 2**31
        return self._agents[who](player, seed)


class Hand:
    """One hand of a match: drive `steps()`, then read `record()`."""

    def __init__(self, match: HandMatch, number: int) -> None:
        self.match, self.number = match, number
        self.deal, self.a = divmod(number, 2)
        self.referee = match.referee()
        self.pair: tuple[int, int] = (0, 0)
        self.taken: list[Chance | HandDecision] = []
        self.won = 0.0

    def steps(self) -> SearchGenerator:
        """The hand, as a generator of its agents' leaf beliefs."""
        referee, chance = self.referee, chance_of(self.match.seed, self.deal)
        seats = [_Seat(self, player) for player in (0, 1)]
        world = referee.first(chance)
        self.pair = world.pair
        while (actor := referee.actor(world)) != TERMINAL:
            if actor == NATURE:
                world = referee.draw(world, chance)
                self.taken.append(Chance(referee.edge_into.get(world.node), world.pair))
            else:
                # A seat learns where the game publicly is, and its own player's infostate.
                column = yield from seats[actor].act(world.node, world.pair[actor])
                world = self._take(world, column, seats[actor])
        self.won = referee.utility(world) * (1.0 if self.a == 0 else -1.0)

    def record(self) -> HandRecord:
        """What happened."""
        return HandRecord(self.number, self.a, self.pair, tuple(self.taken), self.won)

    def _take(self, world: World, column: int, seat: _Seat) -> World:
        """The world after a seat's action, which is noted."""
        with _fault_of(seat.name):
            after = self.referee.take(world, column)
        player, action = seat.player, int(self.referee.public.actions(world.node)[column])
        edge, policy = self.referee.edge_into[after.node], seat.agent.drawn_from if self.match.policies else None
        self.taken.append(HandDecision(player, world.pair[player], action, edge, policy))
        return after


class _Seat:
    """A seat of a hand with the agent in it."""

    def __init__(self, hand: Hand, player: int) -> None:
        match, who = hand.match, player if hand.a == 0 else 1 - player
        self.name, self.player, self.router = match.entrants[who].name, player, match.router
        with _fault_of(self.name):
            self.agent = match.agent(who, player, hand.deal)
            self.agent.new_game()
        self.follower = Follower(hand.referee, self.agent.public)
        self.rng = draws_of(match.seed, hand.deal, player)

    def act(self, node: int, infostate: int) -> Generator[Beliefs, Evaluations, int]:
        """The column of the agent's action at the referee's node, with its own infostate."""
        own = self.follower.place(node)
        with _fault_of(self.name):
            yield from self.router.routed(self.agent.steps(own), self.agent.evaluator)
            return self.agent.act(own, infostate, self.rng)


@contextmanager
def _fault_of(name: str) -> Iterator[None]:
    """Errors of the block name whose they are."""
    try:
        yield
    except SogError as error:
        raise type(error)(f"{name}: {error}") from error
