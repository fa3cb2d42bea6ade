"""Scotland Yard on any map: Mr X (player 0) hides from detectives (player 1) who move one by one.

Mr X wins 1 if he escapes and loses 1 if he is caught. The rules are the classic board's:

- Mr X moves first, then every detective in a fixed order; a move is one ticket and one link of its
  kind, and who can move must. `rounds` counts Mr X's moves, so a double move uses up two of them
  (24 moves with both double cards are 22 rounds); he wins when the detectives have answered the last.
- His ticket is public, his station is not, except at the moves in `reveals`. A black ticket takes any
  link, ferries too. With a double card he moves twice before the detectives; he may play it only where
  two moves are left and possible. A detective's used ticket goes to Mr X, his own leave the game.
- Nobody enters a station that a detective holds; a detective who enters Mr X's station catches him.
- A detective who cannot move sits out his turn and continues blocking. When it is the detectives' turn and
  none of them can move, Mr X wins; when Mr X cannot move at his turn, he loses.
- The cards are the classic 18: Mr X draws his start first and unseen, then the detectives draw theirs.

Public states. Mr X's infostates are the stations where he can be by the tickets, the reveals and the
detectives' stations: paths to one station merge, since only the station matters from then on. The
detectives have one infostate. What Mr X's station decides (caught or missed, stuck or free) is a NATURE
state of probability 1, left out where the outcome is certain. A reveal is the public edge of the move
itself. Two public states are the same only if all that was seen up to them is the same.

Actions. An identity is a (ticket, station entered) pair that the map has, tickets in the order taxi,
bus, underground, black and stations ascending, then the double card as its own action played before the
two moves: 475 in London instead of 4 x 199 x 2, and on the glasses map simply the station's index.

Two maps are shipped. `glasses` is the small map of Player of Games, appendix C.2 (11 stations, Mr X at
6, detectives at 1 and 11, five taxi cards each, five rounds, no reveal). The paper shows it in a figure
only, so ours is a RECONSTRUCTION: two hexagons sharing station 6. Its value is 0 (by linear program over
its 2768 public states). The graph is bipartite and the detectives start a step out of phase, so
they never land on Mr X: they win by leaving him no move. `london` is the board of 199 stations with five
detectives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from sog.arrays import Bool, Float32, Int32
from sog.games.base import NATURE, TERMINAL, Carry, Fan, Game, Moves, Operator, Scaled, State
from sog.games.legal_pairs import LegalPairs
from sog.games.scotland_yard.features import num_features, paper_features, station_features
from sog.games.scotland_yard.map import CityMap, read_map
from sog.games.scotland_yard.moves import kinds_of, links_of_those_left, move_table, spend
from sog.games.scotland_yard.rules import (
    BLACK,
    DOUBLE,
    PAPER,
    STATIONS,
    TICKETS,
    ScotlandYardRules,
    read_rules,
    starting_stations,
)

# What a public state waits for, and how the chase ended.
_DEAL, _ACT, _LOOK, _CAUGHT, _STUCK, _ESCAPED = "deal", "act", "look", "caught", "stuck", "escaped"
_ONLY: Final[Int32] = np.zeros(1, dtype=np.int32)  # the detectives' slot
_WAITS: Final = {_ACT: 0, _LOOK: 1, _DEAL: 2}  # as features have it


@dataclass(frozen=True, slots=True)
class Chase:
    """A public state, identified by its log: what everybody has seen, in words.

    kind: what it waits for or how it ended.  turn: who moves (0 Mr X, k the k-th detective), at a look or
    deal who moves or draws next.  hidden: the stations (indices, ascending) where Mr X can be.
    moved: Mr X's moves so far.  owed: how many moves of a double card he still has to make.
    scale: the chance of the deal for each pair.
    """

    log: tuple[str, ...]
    kind: str = field(compare=False)
    turn: int = field(compare=False)
    hidden: tuple[int, ...] = field(compare=False)
    detectives: tuple[int, ...] = field(compare=False)
    tickets: tuple[tuple[int, ...], ...] = field(compare=False)
    x_tickets: tuple[int, ...] = field(compare=False)
    moved: int = field(default=0, compare=False)
    owed: int = field(default=0, compare=False)
    scale: float = field(default=1.0, compare=False)


def scotland_yard(values: Mapping[str, str | None]) -> Game:
    """The game with a value for each of its parameters (rules.py); GameError where they make no sense."""
    rules = read_rules(values)
    return ScotlandYard(rules, read_map(rules.map))


class ScotlandYard(Game):
    """Scotland Yard under the given rules on the given map; GameError where the two do not fit.

    ticket_of, dest_of: int64[M], the ticket and the station entered of each move; the double card's action is M.
    reach: bool[N, M], from where each move can be made.
    """

    player_names = ("Mr X", "the detectives")

    def __init__(self, rules: ScotlandYardRules, city: CityMap) -> None:
        self.rules, self.city = rules, city
        self.name = rules.game_name()
        self.u_max = 1.0
        n = len(city.stations)
        self.ticket_of, self.dest_of, self.reach = move_table(city, black=rules.x_tickets[BLACK] > 0)
        self._double = len(self.ticket_of)  # the double card's action
        self._reach_bits = np.packbits(self.reach, axis=1)
        # Found once each: by the kinds of tickets, and by a detective's station and kinds.
        self._paid: dict[int, Bool] = {}
        self._ways: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.num_actions = self._double + (rules.x_tickets[DOUBLE] > 0)
        self.num_slots = (n, 1)
        self.num_features = num_features(rules, n, rules.inputs == PAPER)
        self.legal_pairs = self._pairs()
        self._ones = [Operator(np.ones((k, 1))) for k in range(n + 1)]
        self._root = self._start()

    def _start(self) -> Chase:
        hidden, placed = starting_stations(self.rules, self.city)
        tickets = (self.rules.tickets,) * self.rules.detectives
        kind, turn = (_LOOK, 0) if placed else (_DEAL, 1)
        scale = 1.0 / len(hidden)
        return self._settle(Chase((), kind, turn, hidden, placed, tickets, self.rules.x_tickets, scale=scale))

    # --- which moves there are ---

    def _pairs(self) -> LegalPairs:
        """Mr X's moves from each station, with a double card where he can have one; any detective's, none by black."""
        doubles = np.ones((len(self.reach), self.num_actions - self._double), dtype=bool)
        mine = np.column_stack([self.reach, doubles])
        paid = np.append(self.ticket_of != BLACK, [False] * doubles.shape[1])
        return LegalPairs.of((mine, paid[None, :]))

    def _payable(self, tickets: tuple[int, ...], detectives: Sequence[int]) -> Bool:
        """bool[M]: Mr X's moves that these tickets pay for into a station that no detective holds."""
        paid = kinds_of(tickets)
        if paid not in self._paid:
            self._paid[paid] = np.array([paid >> ticket & 1 == 1 for ticket in self.ticket_of], dtype=bool)
        free = np.ones(len(self.reach), dtype=bool)
        free[list(detectives)] = False
        payable: Bool = self._paid[paid] & free[self.dest_of]
        return payable

    def _detective_ways(self, station: int, tickets: tuple[int, ...]) -> list[tuple[int, int]]:
        """(move, station entered) of what a detective's tickets pay for from a station; held stations among them."""
        key = station, kinds_of(tickets)
        if key not in self._ways:
            moves = np.flatnonzero(self.reach[station]).tolist()
            self._ways[key] = [(a, int(self.dest_of[a])) for a in moves if key[1] >> self.ticket_of[a] & 1]
        return self._ways[key]

    def _detective_moves(self, s: Chase, k: int) -> Int32:
        """int32[A]: the moves of the k-th detective (from 1), empty where he has to sit out."""
        ways = self._detective_ways(s.detectives[k - 1], s.tickets[k - 1])
        return np.array([move for move, station in ways if station not in s.detectives], dtype=np.int32)

    def _next_turn(self, detectives: tuple[int, ...], tickets: Sequence[tuple[int, ...]], k: int) -> int:
        """The first detective after the k-th who can move, or 0 for Mr X."""
        for j in range(k, len(detectives)):
            if any(station not in detectives for _, station in self._detective_ways(detectives[j], tickets[j])):
                return j + 1
        return 0

    def _x_moves(self, s: Chase) -> tuple[Int32, Bool]:
        """int32[A], bool[I, A]: Mr X's actions at s, and from which of his stations each is legal."""
        actions, moves, twice = self._x_actions(s)
        here = self.reach[list(s.hidden)]
        legal: Bool = here[:, actions[actions < self._double]] & moves[actions[actions < self._double]]
        if len(actions) > legal.shape[1]:
            legal = np.column_stack([legal, (here & twice).any(axis=1)])
        return actions, legal

    def _x_actions(self, s: Chase) -> tuple[Int32, Bool, Bool]:
        """int32[A]: Mr X's actions at s; bool[M]: the moves that he may make, and those that a second can follow."""
        free = self._payable(s.x_tickets, s.detectives)
        can_double = s.x_tickets[DOUBLE] > 0 and not s.owed and s.moved + 2 <= self.rules.rounds
        twice = self._followed(s, free) if can_double or s.owed == 2 else np.zeros_like(free)
        # The moves from any of his stations, eight to a byte.
        bits = np.bitwise_or.reduce(self._reach_bits[list(s.hidden)], axis=0)
        here = np.unpackbits(bits, count=self._double).view(np.bool_)
        moves = twice if s.owed == 2 else free
        actions = np.flatnonzero(here & moves).astype(np.int32)
        if can_double and (here & twice).any():
            actions = np.append(actions, np.int32(self._double))
        return actions, moves, twice

    def _followed(self, s: Chase, free: Bool) -> Bool:
        """bool[M]: those of Mr X's free moves after which he can make a second one at once."""
        # By what can be paid after the first move, which few tickets change.
        spent: dict[int, list[int]] = {}
        for ticket in range(DOUBLE):
            if s.x_tickets[ticket]:
                spent.setdefault(kinds_of(spend(s.x_tickets, ticket)), []).append(ticket)
        followed = np.zeros_like(free)
        for tickets in spent.values():
            second = np.packbits(self._payable(spend(s.x_tickets, tickets[0]), s.detectives))
            onward: Bool = np.logical_or.reduce(self._reach_bits & second, axis=1)[self.dest_of]
            followed |= onward & (free if len(spent) == 1 else free & np.isin(self.ticket_of, tickets))
        return followed

    # --- the game interface ---

    @property
    def family(self) -> str:
        """With inputs=stations one network plays every map, by any rules."""
        return f"scotland_yard(inputs={STATIONS})" if self.rules.inputs == STATIONS else self.name

    def root(self) -> State:
        return self._root

    def actor(self, s: State) -> int:
        c = _chase(s)
        if c.kind in (_DEAL, _LOOK):
            return NATURE
        return min(c.turn, 1) if c.kind == _ACT else TERMINAL

    def num_infostates(self, s: State) -> tuple[int, int]:
        return len(_chase(s).hidden), 1

    def actions(self, s: State) -> Int32:
        c = _chase(s)
        if c.kind != _ACT:
            return np.empty(0, dtype=np.int32)
        return self._detective_moves(c, c.turn) if c.turn else self._x_actions(c)[0]

    def fan(self, s: State) -> Fan:
        c = _chase(s)
        if c.kind == _DEAL:
            return self._deal_fan(c)
        if c.kind == _LOOK:
            return self._look_fan(c)
        return self._detective_fan(c) if c.turn else self._x_fan(c)

    def weights(self, s: State) -> Scaled:
        c = _chase(s)
        return Scaled(self._ones[len(c.hidden)], c.scale)

    def payoff(self, s: State) -> Scaled:
        c = _chase(s)
        return Scaled(self._ones[len(c.hidden)], c.scale if c.kind == _ESCAPED else -c.scale)

    def slot(self, s: State, p: int) -> Int32:
        """int32[I_p(s)]: Mr X's slots are his stations' indices."""
        return np.array(_chase(s).hidden, dtype=np.int32) if p == 0 else _ONLY

    def features(self, s: State) -> Float32:
        """float32[num_features]: see features.py."""
        c, n = _chase(s), len(self.city.stations)
        if self.rules.inputs == PAPER:
            return paper_features(c, self.rules, n, c.kind in (_DEAL, _LOOK))
        return station_features(c, self.rules, n, _WAITS.get(c.kind, 0))

    # --- fans ---

    def _x_fan(self, c: Chase) -> Fan:
        """Mr X's move: one edge per ticket, or per ticket and station where he has to show himself."""
        actions, legal = self._x_moves(c)
        # Action a takes edge number[a]. Behind a ticket that shows nothing his stations are numbered as they come.
        shown, double = c.moved + 1 in self.rules.reveals, self._double
        tickets = np.append(self.ticket_of, DOUBLE)[actions]
        first, number = np.unique(
            np.arange(len(actions)) if shown else tickets, return_index=True, return_inverse=True
        )[1:]
        target = np.where(legal, np.arange(len(actions)) - first[number], 0).astype(np.int32)
        # None but Mr X moves before his next turn: whose turn it is then is the same for all.
        turn = 0 if c.owed == 2 else self._next_turn(c.detectives, c.tickets, 0)
        last, entered = np.append(first[1:], len(actions)).tolist(), self.dest_of[actions[actions < double]].tolist()
        children: list[State] = []
        for begin, end in zip(first.tolist(), last, strict=True):
            if actions[begin] == double:
                allowed = legal[:, begin]
                stays = tuple(x for x, can in zip(c.hidden, allowed.tolist(), strict=True) if can)
                target[allowed, begin] = np.arange(len(stays))
                children.append(self._after_double_card(c, stays))
            else:
                children.append(self._after_x_move(c, int(tickets[begin]), tuple(entered[begin:end]), shown, turn))
        edge = np.where(legal, number.astype(np.int32), np.int32(-1))
        return Fan(children, Moves(edge, target))

    def _after_double_card(self, c: Chase, stays: tuple[int, ...]) -> Chase:
        tickets = spend(c.x_tickets, DOUBLE)
        return replace(c, log=(*c.log, TICKETS[DOUBLE]), hidden=stays, x_tickets=tickets, owed=2)

    def _after_x_move(self, c: Chase, ticket: int, entered: tuple[int, ...], shown: bool, turn: int) -> Chase:
        word = f"{TICKETS[ticket]}@{self.city.stations[entered[0]]}" if shown else TICKETS[ticket]
        return Chase(  # by position, as after a detective's move: a reveal has hundreds of these
            (*c.log, word),
            _ACT if turn or c.owed == 2 else _ESCAPED,
            turn,
            entered,
            c.detectives,
            c.tickets,
            spend(c.x_tickets, ticket),
            c.moved + 1,
            max(c.owed - 1, 0),
            c.scale,
        )

    def _detective_fan(self, c: Chase) -> Fan:
        actions = self._detective_moves(c, c.turn)
        children = [self._after_detective(c, int(a)) for a in actions]
        return Fan(children, Moves(np.arange(len(actions), dtype=np.int32)[None, :]))

    def _after_detective(self, c: Chase, action: int) -> Chase:
        k, ticket, station = c.turn, int(self.ticket_of[action]), int(self.dest_of[action])
        detectives = (*c.detectives[: k - 1], station, *c.detectives[k:])
        tickets = (*c.tickets[: k - 1], spend(c.tickets[k - 1], ticket), *c.tickets[k:])
        turn = self._next_turn(detectives, tickets, k)
        # Where Mr X cannot be at the station and another detective moves, nothing is to be seen.
        quiet = turn > 0 and station not in c.hidden
        after = Chase(  # by position: `replace` is most of what listing a tree would take
            (*c.log, f"{k}:{TICKETS[ticket]}@{self.city.stations[station]}"),
            _ACT if quiet else _LOOK,
            turn,
            c.hidden,
            detectives,
            tickets,
            (*c.x_tickets[:ticket], c.x_tickets[ticket] + 1, *c.x_tickets[ticket + 1 :]),
            c.moved,
            c.owed,
            c.scale,
        )
        return after if quiet else self._settle(after)

    def _outcomes(self, c: Chase) -> list[tuple[str, tuple[int, ...]]]:
        """How the chase continues from a look, and from which of Mr X's stations each way."""
        caught = tuple(x for x in c.hidden if x in c.detectives)
        rest = tuple(x for x in c.hidden if x not in c.detectives)
        if c.turn or not rest:
            ways = [(_CAUGHT, caught), (_ACT, rest)]
        elif c.moved == self.rules.rounds:
            ways = [(_CAUGHT, caught), (_ESCAPED, rest)]
        else:
            free = self._payable(c.x_tickets, c.detectives)
            ways_out = np.logical_or.reduce(self.reach[list(rest)] & free, axis=1)
            stuck = tuple(x for x, can in zip(rest, ways_out.tolist(), strict=True) if not can)
            ways = [(_CAUGHT, caught), (_STUCK, stuck), (_ACT, tuple(x for x in rest if x not in stuck))]
        return [(kind, stations) for kind, stations in ways if stations]

    def _settle(self, c: Chase) -> Chase:
        """The look itself where Mr X's station decides how it continues, else the only way it can."""
        if c.kind != _LOOK:
            return c
        ways = self._outcomes(c)
        return c if len(ways) > 1 else replace(c, kind=ways[0][0])

    def _look_fan(self, c: Chase) -> Fan:
        children: list[State] = []
        carry: list[tuple[Carry, Carry]] = []
        for kind, stations in self._outcomes(c):
            word = "at large" if kind in (_ACT, _ESCAPED) else kind
            children.append(replace(c, log=(*c.log, word), kind=kind, hidden=stations))
            carry.append((links_of_those_left(c.hidden, stations), None))
        return Fan(children, carry=carry)

    def _deal_fan(self, c: Chase) -> Fan:
        """The next detective draws one of the cards that are left; Mr X's own card is one of them."""
        children: list[State] = []
        carry: list[tuple[Carry, Carry]] = []
        done = c.turn == self.rules.detectives
        for card in c.hidden:
            others = tuple(x for x in c.hidden if x != card)
            child = replace(
                c,
                log=(*c.log, f"{c.turn}:starts@{self.city.stations[card]}"),
                kind=_LOOK if done else _DEAL,
                turn=0 if done else c.turn + 1,
                hidden=others,
                detectives=(*c.detectives, card),
                scale=c.scale / len(others),
            )
            children.append(self._settle(child))
            carry.append((links_of_those_left(c.hidden, others), None))
        return Fan(children, carry=carry)

    # --- words ---

    def state_name(self, s: State) -> str:
        c = _chase(s)
        who = f"detective {c.turn}" if c.turn else "Mr X"
        now = {_DEAL: f"{who} draws a card", _ACT: f"{who} to move", _LOOK: "is Mr X there?"}
        places = ", ".join(str(self.city.stations[x]) for x in c.detectives) or "no station yet"
        travel = " ".join(w for w in c.log if w.split("@")[0] in TICKETS) or "no move yet"
        done = f"{c.moved} of {self.rules.rounds} moves"
        return f"{now.get(c.kind, c.kind)}; {done}; detectives on {places}; Mr X: {travel}"

    def action_name(self, s: State, action: int) -> str:
        if action == self._double:
            return "double card"
        return f"{TICKETS[self.ticket_of[action]]} to {self.city.stations[self.dest_of[action]]}"

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return f"on {self.city.stations[_chase(s).hidden[i]]}" if p == 0 else "nothing hidden"


def _chase(s: State) -> Chase:
    assert isinstance(s, Chase)
    return s
