"""The ACPC client: an agent of hold'em plays at any dealer; every bet that is made there enters the agent's tree.

The agent is made anew for each hand, on a public tree of its own that grows along the hand. It plays the dealer's
stacks and blinds, in chips as large as those of its own game where that comes out even.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.agents.poker import SIMPLE
from sog.errors import SettingError
from sog.games.base import NATURE, Game
from sog.games.holdem.betting import BOARD_CARDS, CALL, FOLD, PREFLOP
from sog.games.holdem.cards import hand_number
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.holdem.ranges import FULL
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game, write_game
from sog.play.hand import Entrant, agents_of
from sog.protocols.acpc_states import VERSION, AcpcGame, AcpcHand, MatchState, read_match_state
from sog.protocols.words import shown
from sog.searches.tree.offered import replace_state
from sog.searches.tree.public_tree import PublicTree

__all__ = ["AcpcClient", "ClientHand", "ClientTable", "connected", "table_of"]

_LONGEST: Final = 2**16  # bytes of a line
_LOOK: Final = 0.1  # seconds between two tries to connect


@dataclass(frozen=True)
class ClientTable:
    """What an agent plays at a dealer.  dealt: the dealer's game.  game: the agent's.  chips: of the agent's chips, how
    many one of the dealer's is.  swapped: whether position 0 is player 1, the small blind.
    """

    dealt: AcpcGame
    game: Holdem
    chips: int
    swapped: bool

    def player(self, position: int) -> int:
        """Which player of the agent's game has a position."""
        return 1 - position if self.swapped else position


def table_of(game: Game, dealt: AcpcGame) -> ClientTable:
    """The table of an agent whose own game is this; its game has the dealer's stacks and blinds.

    SettingError where it is not whole hold'em, or the dealer's is limit or has another order of play.
    """
    if not isinstance(game, Holdem) or game.street != PREFLOP or game.spot.pot or game.spot.ranges != (FULL, FULL):
        raise SettingError(f"a dealer deals whole hands of hold'em, not {game.name}: choose with --game")
    if dealt.limit:
        raise SettingError("agents of no-limit hold'em do not play a limit game")
    small, big = min(dealt.blinds), max(dealt.blinds)
    last = dealt.big_blind()  # who acts last before the flop
    chips, rest = divmod(game.spot.blinds[1], big)
    chips = chips if chips and not rest else 1
    stacks = [chips * stack for stack in dealt.stacks]
    if max(stacks) > 10**9:
        raise SettingError(f"a stack of {max(dealt.stacks):,} chips is too large: the game file names stacks")
    short, parameters = parse_game(game.name)
    parameters["stacks"] = f"{stacks[last]};{stacks[1 - last]}"
    parameters["blinds"] = f"{chips * small};{chips * big}"
    return ClientTable(dealt, holdem_from(parse_game(write_game(short, parameters))[1]), chips, last == 1)


class AcpcClient:
    """An agent at a dealer: `answer` takes the states that it is sent.  won: chips of the dealer's, by hand."""

    def __init__(self, entrant: Entrant, table: ClientTable, seed: int) -> None:
        self.entrant, self.table, self.seed = entrant, table, seed
        self.won: dict[int, int] = {}
        self.hand: ClientHand | None = None

    def serve(self, link: socket.socket) -> Iterator[int]:
        """Play until the dealer hangs up; yields how many hands are over, each time that one is.

        SettingError where the dealer says what the protocol has not, or hangs up in the middle of a hand.
        """
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            link.sendall(f"{VERSION}\r\n".encode())
            with link.makefile("rb") as lines:
                while raw := lines.readline(_LONGEST):
                    line = raw.decode("utf-8", "replace").rstrip("\r\n")
                    if not line or line[0] in "#;":
                        continue
                    before = len(self.won)
                    action = self.answer(line)
                    if action is not None:
                        link.sendall(f"{line}:{action}\r\n".encode())
                    if len(self.won) > before:
                        yield len(self.won)
        except OSError as error:
            raise SettingError(f"the dealer has hung up: {error.strerror}") from error
        if self.hand is not None and not self.hand.dealt.over:
            raise SettingError(f"the dealer has hung up in the middle of hand {self.hand.number}")

    def answer(self, line: str) -> str | None:
        """The action at a match state; None where this player is not to act. SettingError as above."""
        try:
            state = read_match_state(line)
            if self.hand is None or not self.hand.leads_to(state):
                self.hand = ClientHand(self.entrant, self.table, state, self.seed)
            hand = self.hand
            hand.follow(state)
            if hand.dealt.over:
                self.won[state.hand] = state.cards.won(hand.dealt.betting)[state.position]
                return None
        except ValueError as error:
            raise SettingError(f"the dealer says what does not fit its game: {error}") from error
        return hand.act(state) if hand.dealt.betting.actor == state.position else None


class ClientHand:
    """One hand of the agent.  number: the hand's.  dealt: as the dealer has it.  node: where the agent's tree is.

    An opponent's bet of any amount is offered at its decision (PoG, B.7), for the line of play alone: the decision has
    the game's own actions and this one, however many bets there were before it.
    """

    def __init__(self, entrant: Entrant, table: ClientTable, state: MatchState, seed: int) -> None:
        """state: any of the hand. ValueError where it has not this player's cards."""
        holes = state.cards.holes[state.position]
        if len(holes) != 2:
            raise ValueError("the state has not its player's cards")
        self.table, self.number, self.position = table, state.hand, state.position
        self.infostate, self.player = hand_number(*holes), table.player(state.position)
        sequence = np.random.SeedSequence((seed, state.hand, self.player))
        draws, drawn, agents = sequence.spawn(3)
        self.rng = np.random.default_rng(draws)
        game = table.game.drawn(np.random.default_rng(drawn))
        assert isinstance(game, Holdem)
        self.game = game
        agent_seed = int(agents.generate_state(1)[0]) >> 1  # below 2**31
        self.agent = agents_of(game, entrant, None)(self.player, agent_seed)
        self.agent.new_game()
        self.public: PublicTree = self.agent.public
        self.dealt, self.node, self.asked = AcpcHand.begun(table.dealt), 0, -1
        # Simple opponents look at the state alone: other cards that chance might deal are not listed for them.
        self.lists_chance = entrant.plays not in SIMPLE

    @property
    def state(self) -> HoldemState:
        """Where the agent's tree is."""
        state = self.public.states[self.node]
        assert isinstance(state, HoldemState)
        return state

    def leads_to(self, state: MatchState) -> bool:
        """Whether a match state is of this hand and not before what was heard of it."""
        same = (state.hand, state.position) == (self.number, self.position)
        return same and state.betting.startswith(self.dealt.text)

    def follow(self, state: MatchState) -> None:
        """Continue to a match state; ValueError where no play leads there."""
        for action in self.dealt.following(state.betting):
            self._deal(state)
            self._move(action)
            self.dealt = self.dealt.after(action)
        board = BOARD_CARDS[self.dealt.betting.street] if not self.dealt.over or self.dealt.shown_down else 0
        if len(state.cards.board) < board:
            raise ValueError(f"{board} board cards are missing")

    def act(self, state: MatchState) -> str:
        """The agent's action where it is to act, within what the dealer admits."""
        self._deal(state)
        column, self.asked = self.agent.act(self.node, self.infostate, self.rng), self.node
        action = int(self.public.actions(self.node)[column])
        if action in (FOLD, CALL):
            return "f" if action == FOLD else "c"
        amount = round(dict(self.game.raises(self.state))[action] / self.table.chips)
        smallest, largest = self.dealt.limits
        return self.dealt.written(min(max(amount, smallest), largest)) if largest else "c"

    def _deal(self, state: MatchState) -> None:
        """Put the board cards of the current round on the agent's tree."""
        if self.game.actor(self.state) != NATURE:
            return
        dealt = len(self.state.board)
        cards = state.cards.board[dealt : dealt + self.game.cards_to_deal(self.state)]
        if len(cards) < self.game.cards_to_deal(self.state):
            raise ValueError("board cards are missing")
        after = self.game.deal(self.state, tuple(sorted(cards)))
        if not self.lists_chance or not self.public.list_fan(self.node):
            self.node = self.public.add(after, self.node)
            return
        outcomes = [card for card in range(52) if card not in self.state.board]
        self.node = self.public.child(self.node, outcomes.index(cards[0]))

    def _move(self, action: str) -> None:
        """An action that the dealer admitted, on the agent's tree."""
        s, smallest, largest = self.state, *self.state.betting.raise_limits
        if self.game.actor(s) == self.player and self.asked != self.node:
            self.agent.policy(self.node)  # of a hand that was joined in its middle: so that its searches follow on
        column = int(s.betting.facing)  # of a call
        if action == "f":
            column = 0
        elif action != "c":
            # More than the shorter stack is the same as all of it.
            amount = min(self.table.chips * int(action[1:]), largest)
            if amount < smallest:
                raise ValueError(f"nobody raises to {shown(action[1:])}")
            offering = self.game.offer(s, amount)
            if offering != s:
                replace_state(self.public, self.node, offering)
            column += 1 + [total for _, total in self.game.raises(offering)].index(amount)
        self.public.list_fan(self.node)
        self.node = self.public.child(self.node, column)


def connected(host: str, port: int, seconds: float) -> socket.socket:
    """A connection to a dealer, tried for this long; SettingError where none is made."""
    until = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((host, port), timeout=None)
        except (OSError, OverflowError) as error:
            if time.monotonic() > until:
                raise SettingError(f"no dealer answers at {shown(host)}, port {port}: {error}") from error
        time.sleep(_LOOK)
