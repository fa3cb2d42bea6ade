"""AIVAT: what A wins a hand from B with most of the luck taken out, without bias (Burch et al., 2018).

A player is known where records have the policy of each of its decisions for all of its infostates. On the line of play
let W be a public state's weights and r the ranges: of a known player its reach by its policies, of an unknown one 1 at
the infostate that it has and 0 elsewhere. A place is worth the mean over all hands that known players may have, each
weighed by how likely it is given what is public and what unknown players have:

    v(s, r) = (sum over (i0, i1) of W[i0, i1] r0[i0] r1[i1] v_s(i0, i1)) / m(s, r),
    m(s, r) =  sum over (i0, i1) of W[i0, i1] r0[i0] r1[i1]

The corrected utility is that of the end, the utilities u in the same mean, u(z, r), plus for the deal, for each chance
event and for each decision of a known player

    k = (sum over outcomes e of m(s_e, r_e) v(s_e, r_e)) / (sum over e of m(s_e, r_e)) - v(s_o, r_o)

o: the outcome that happened. An outcome is what the other player sees, a public edge; after a chance event, too, the
infostate of an unknown player. The mean of k is 0 for any values v that do not depend on what happens later, so what is
corrected has the mean of what was won. Decisions of unknown players have no k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import TERMINAL, Fan, Game, carried_down
from sog.games.edges import range_over
from sog.games.holdem.game import Holdem
from sog.measure.aivat_values import Ranges, Values
from sog.play.hand_record import Chance, HandDecision, HandRecord, draws_of, replay
from sog.play.referee import Referee, World
from sog.searches.cfr.exact import flaw_of
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Aivat", "AivatFigure", "AivatSettings", "aivat"]

_TURN = 4  # cards on the board from where equities of two ranges are quick
_SAME = 1e-9  # utilities as a replay and a record have them, as shares of u_max


@dataclass(frozen=True)
class AivatFigure:
    """What A won in each hand, in utilities, as played and corrected; pairs of hands only.

    known: which of "a" and "b" have logged all their policies.
    """

    known: tuple[str, ...]
    raw: list[float] = field(repr=False)
    corrected: list[float] = field(repr=False)


@dataclass(frozen=True)
class AivatSettings:
    """values: where A is player 0, and where A is player 1.  seed: the match's.  own_draws: actions need not be those
    that the logged policies draw from the match's seed, as of agents that draw in their own way.
    """

    values: tuple[Values, Values]
    seed: int
    own_draws: bool = False


def aivat(
    game: Game,
    listed: PublicTree | None,
    records: Callable[[], Iterable[HandRecord]],
    settings: AivatSettings,
    report: Callable[[int], None] = lambda done: None,
) -> AivatFigure:
    """The figure of a match's records, which are read anew where an agent turns out to log no policies.

    listed: the game's whole tree; None: trees grow along each hand.  report: takes the hands done.
    SettingError names the hand that cannot be: of other rules, another deal, or not drawn from its policy.
    """
    known, shared = frozenset((0, 1)), None if listed is None else Referee(listed)
    figure: AivatFigure | None = None
    while figure is None:
        try:
            figure = _figure(Aivat(game, settings, known), shared, records(), report)
        except _Unknown as agent:
            known -= {agent.agent}
    if len(figure.raw) < 2:
        raise SettingError("the records have no pair of hands")
    return figure


class _Unknown(Exception):
    """A decision has no policy.  agent: whose, 0 for A and 1 for B."""

    def __init__(self, agent: int) -> None:
        self.agent = agent


def _figure(
    corrects: Aivat, shared: Referee | None, records: Iterable[HandRecord], report: Callable[[int], None]
) -> AivatFigure:
    settings, raw, corrected = corrects.settings, list[float](), list[float]()
    for record in records:
        referee = Referee(PublicTree(corrects.game)) if shared is None else shared
        if record.a != record.number % 2:
            raise SettingError(
                f"hand {record.number}: seats are swapped from hand to hand, and A sits in the wrong one"
            )
        worlds = list(replay(referee, record, settings.seed))
        corrected.append(corrects.corrected(referee.public, record, worlds))
        if not settings.own_draws:
            _check_draws(referee.public, record, worlds, settings.seed)
        raw.append(record.won)
        report(len(raw))
    whole = len(raw) // 2 * 2  # a match that was stopped may lack the second hand of a deal
    return AivatFigure(tuple("ab"[agent] for agent in sorted(corrects.known)), raw[:whole], corrected[:whole])


def _check_draws(public: PublicTree, record: HandRecord, worlds: list[World], seed: int) -> None:
    """SettingError where an action is not the one that its logged policy draws."""
    rngs = [draws_of(seed, record.deal, player) for player in (0, 1)]
    for world, step in zip(worlds, record.steps, strict=False):
        if isinstance(step, HandDecision) and step.policy is not None:
            row = step.policy[:, step.infostate]
            column = int(rngs[step.player].choice(len(row), p=row / row.sum()))  # as `Agent.act`
            if public.actions(world.node)[column] != step.action:
                who = "AB"[step.player ^ record.a]
                raise SettingError(
                    f"hand {record.number}: what {who} played is not what the recorded policy draws; an agent that "
                    "draws in its own way needs --own-draws"
                )


class Aivat:
    """Corrects hands of a game.

    known: whose policies are, 0 for A and 1 for B.  averaged: over whose hands values are a mean. In hold'em that
    begins before the turn, where equities are quick against a single hand only, that is one agent: the other's range is
    1 at its hand, known or not.
    """

    def __init__(self, game: Game, settings: AivatSettings, known: frozenset[int]) -> None:
        self.game, self.settings, self.known = game, settings, known
        wide = isinstance(game, Holdem) and len(game.spot.board) < _TURN
        self.averaged = frozenset(sorted(known)[:1]) if wide else known
        self.ranges = game.root_ranges()
        self._lines: _RangeLines | None = None
        self._deals: dict[int, float] = {}  # the mean before the deal, by where A sits

    def corrected(self, public: PublicTree, record: HandRecord, worlds: Iterable[World]) -> float:
        """What A wins in a hand, corrected, in utilities.  worlds: at the root, then after each step.

        SettingError where the record cannot be.
        """
        if self._lines is None or self._lines.public is not public:
            self._lines = _RangeLines(public)
        lines, values, line = self._lines, self.settings.values[record.a], iter(worlds)
        world = next(line)
        ranges = self._seen(public, record, world, self.ranges)
        if record.a not in self._deals:
            self._deals[record.a] = _mean([values.sums(public, 0, self.ranges)])
        total = self._deals[record.a] - _mean([values.sums(public, 0, ranges)])
        for step, after in zip(record.steps, line, strict=True):
            corrects = isinstance(step, Chance) or step.player ^ record.a in self.known
            if corrects and isinstance(step, HandDecision) and step.policy is None:
                raise _Unknown(step.player ^ record.a)
            if isinstance(step, HandDecision) and corrects:
                below = lines.outcomes(record, world.node, step, ranges)
                total += _mean([values.sums(public, child, each) for child, each in below])
                ranges = below[step.edge][1]
            else:
                if corrects:  # what a chance event is worth is the mean over its outcomes: see aivat_values.py
                    total += _mean([values.sums(public, world.node, ranges)])
                ranges = lines.carried(world.node, after.node, step.edge, ranges)
            ranges = self._seen(public, record, after, ranges)
            if corrects:
                total -= _mean([values.sums(public, after.node, ranges)])
            world = after
        sign = -1.0 if record.a else 1.0
        ended, close = public.actor(world.node) == TERMINAL, _SAME * self.game.u_max
        if not ended or not abs(sign * public.utility(world.node, world.pair) - record.won) <= close:  # NaN is neither
            raise SettingError(f"hand {record.number} does not end as its record says")
        return sign * (total + _mean([values.sums(public, world.node, ranges)]))

    def _seen(self, public: PublicTree, record: HandRecord, world: World, ranges: Ranges) -> Ranges:
        """The ranges at a world: 1 at its infostate for each player over whose hands there is no mean."""
        if len(self.averaged) == 2:
            return ranges
        zero, one = ranges
        for p, width in enumerate(public.num_infostates(world.node)):
            if p ^ record.a not in self.averaged:
                only = np.zeros(width)
                only[world.pair[p]] = 1.0
                zero, one = (only, one) if p == 0 else (zero, only)
        return zero, one


class _RangeLines:
    """How ranges go down the lines of a public tree."""

    def __init__(self, public: PublicTree) -> None:
        self.public = public
        self._fans: dict[int, Fan] = {}

    def outcomes(self, record: HandRecord, node: int, step: HandDecision, ranges: Ranges) -> list[tuple[int, Ranges]]:
        """(node, ranges) at the end of every public edge of a decision whose policy is known."""
        public, p, policy = self.public, step.player, step.policy
        assert policy is not None
        prefix = f"hand {record.number}, {public.game.state_name(public.states[node])}"
        if flaw := flaw_of(policy, public.legal(node)):
            raise SettingError(f"{prefix}: {flaw}")
        if policy[public.actions(node).tolist().index(step.action), step.infostate] <= 0:
            raise SettingError(f"{prefix}: the action that was played has probability 0")
        outcomes = []
        for edge in range(public.num_edges(node)):
            plain = public.is_plain(node)
            own = ranges[p] * policy[edge] if plain else self._over(node, edge, p, ranges[p], policy)
            other = self._over(node, edge, 1 - p, ranges[1 - p])
            outcomes.append((public.child(node, edge), (own, other) if p == 0 else (other, own)))
        return outcomes

    def carried(self, node: int, child: int, edge: int | None, ranges: Ranges) -> Ranges:
        """Ranges after a chance event, or a decision of an unknown player, whose own is left as it is."""
        public, actor = self.public, self.public.actor(node)
        if edge is None:  # an outcome that no tree lists
            carries = public.game.chance_carry(public.states[node], public.states[child])
            widths = public.num_infostates(child)
            return carried_down(carries[0], ranges[0], widths[0]), carried_down(carries[1], ranges[1], widths[1])
        zero, one = (r if p == actor else self._over(node, edge, p, r) for p, r in enumerate(ranges))
        return zero, one

    def _over(self, node: int, edge: int, p: int, reach: Float64, policy: Float64 | None = None) -> Float64:
        """A player's range at the end of an edge.  policy: where it acts."""
        if node not in self._fans:
            self._fans[node] = self.public.game.fan(self.public.states[node])
        width = self.public.num_infostates(self.public.child(node, edge))[p]
        return range_over(self._fans[node], edge, p, reach, width, policy)


def _mean(sums: list[tuple[float, float]]) -> float:
    """What places are worth together, each by its own mass."""
    return sum(won for won, _ in sums) / sum(mass for _, mass in sums)
