"""Decisions of a hold'em spot whose policy a file fixes: what such a file says, read and checked.

A file is one decision or a list of them, as `sog show --json` prints one:

    {"line": "bet 0.5", "hands": {"full": {"fold": 1}, "AA,KK": {"call": 0.7, "raise to allin": 0.3}}}

line: as `sog show --line` takes it, in which "any" is every river card; or state: as `sog show` names it.  player: who
decides there, and may be left out.  hands: for hands in players' notation the actions' probabilities; or a list of
{"hand", "policy"}, with policy by the names of actions or in the order of "actions".
What comes later in a file replaces what came before. Hands that no entry names are free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from sog.arrays import Bool, Float64
from sog.errors import GameError, SettingError
from sog.files import bounded_json, shown
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.cards import HANDS, cards_name, live_hands, parse_cards
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.holdem.lines import action_place, follow, follow_all
from sog.games.holdem.ranges import parse_range

__all__ = ["FREE", "SpotLock", "locked_at", "locks_of", "read_locks", "same_locks"]

FREE: Final = -1.0  # where a hand's policy is not fixed
_SUM: Final = 1e-6  # how far the probabilities of a hand may be from 1 in all
_BOARD: Final = "board "

# A decision of a file.
_Entry: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class SpotLock:
    """A decision with its fixed policy, float64[A, 1326]: FREE at all actions of a hand that is free."""

    state: HoldemState
    policy: Float64

    @property
    def hands(self) -> Bool:
        """bool[1326]: those that are not free."""
        fixed: Bool = self.policy[0] != FREE
        return fixed


def locked_at(locks: Sequence[SpotLock], s: HoldemState) -> SpotLock | None:
    """The lock of a public state; None where its decision is free."""
    return next((lock for lock in locks if lock.state == s), None)


def same_locks(some: Sequence[SpotLock], others: Sequence[SpotLock]) -> bool:
    """Whether two spots have the same decisions fixed, to the same policies."""
    if len(some) != len(others):
        return False
    pairs = [(lock, locked_at(others, lock.state)) for lock in some]
    return all(other is not None and np.array_equal(lock.policy, other.policy) for lock, other in pairs)


def locks_of(game: Holdem, names: Sequence[str], policies: Float64) -> tuple[SpotLock, ...]:
    """The locks at public states with these names, whose policies float64[*, 1326] lie one behind the other.

    SettingError where they do not fit the game or are no policies.
    """
    locks, at = [], 0
    for name in names:
        s = _named(game, name)
        policy = policies[at : at + len(game.actions(s))]
        at += len(policy)
        fixed = (policy >= 0).all(axis=0) & (np.abs(policy.sum(axis=0) - 1) <= _SUM)
        right = policy.shape == (len(game.actions(s)), HANDS) and len(policy) > 0
        if not right or not (fixed | (policy == FREE).all(axis=0)).all():
            raise SettingError(f"no policy is fixed at {_quoted(name)}")
        locks.append(SpotLock(s, policy))
    if at != len(policies):
        raise SettingError("there are more policies than locked decisions")
    return tuple(locks)


def read_locks(game: Holdem, content: bytes) -> tuple[SpotLock, ...]:
    """The locks that a file's content says, in the order of their lines; SettingError for what cannot be."""
    try:
        parsed = bounded_json(content)
    except ValueError as error:
        raise SettingError(f"it is not JSON: {error}") from error
    entries = parsed if isinstance(parsed, list) else [parsed]
    if not entries:
        raise SettingError("it names no decision")
    policies: dict[HoldemState, Float64] = {}
    for number, entry in enumerate(entries, 1):
        try:
            _read_decision(game, entry, policies)
        except (GameError, SettingError) as error:
            raise SettingError(f"decision {number}: {error}") from error
    return tuple(SpotLock(s, policies[s]) for s in sorted(policies, key=lambda s: (s.line, s.board)))


def _read_decision(game: Holdem, entry: object, policies: dict[HoldemState, Float64]) -> None:
    """Write one decision of a file into the policies by public state."""
    if not isinstance(entry, dict) or "hands" not in entry:
        raise SettingError('a decision is {"line": ..., "hands": {...}}')
    states = _states(game, entry)  # of one line of betting
    first = states[0]
    player, name = game.actor(first), game.state_name(first)
    if player in (NATURE, TERMINAL):
        raise SettingError(f"nobody decides at {name}")
    if entry.get("player", player) != player:
        raise SettingError(f"player {player} decides at {name}, not {shown(entry['player'])}")
    in_range = game.root_ranges()[player] > 0
    held = [in_range & live_hands(s.board) for s in states]
    places: dict[str, int] = {}  # of actions by their words
    for words, shares in _rows(entry):
        for action in shares.keys() - places.keys():
            places[action] = action_place(game, first, action)
        named, policy = _hands(words), _probabilities(words, shares, places, len(game.actions(first)))
        for s, own in zip(states, held, strict=True):
            fixed = policies.setdefault(s, np.full((len(policy), HANDS), FREE))
            fixed[:, named & own] = policy[:, None]
        if not any((named & own).any() for own in held):
            raise SettingError(f"player {player} has no hand of {_quoted(words)} at {name}")


def _states(game: Holdem, entry: _Entry) -> list[HoldemState]:
    """The public states of a decision, by its line or by its name; the board of a name must be the game's."""
    line, name = entry.get("line"), entry.get("state")
    if (line is None) == (name is None) or not isinstance(line if name is None else name, str):
        raise SettingError('a decision has either a "line" or a "state", as text')
    return follow_all(game, str(line)) if name is None else [_named(game, name)]


def _named(game: Holdem, name: str) -> HoldemState:
    """The public state of a name as `Holdem.state_name` writes it; SettingError where its board is another."""
    first, _, line = name.partition(",")
    cards, root = parse_cards(first.strip().removeprefix(_BOARD)), game.spot.board
    if cards[: len(root)] != root:
        raise SettingError(f"{_quoted(name)} is not on the board {cards_name(root)}")
    s = follow(game, line)
    # Files of earlier versions name a card of the line only once there is an action after it.
    if len(s.board) < len(cards) and game.actor(s) == NATURE:
        s = follow(game, f"{line},{cards_name(cards[len(s.board) :])}")
    if s.board != cards:
        raise SettingError(f"the cards of {_quoted(name)} are not those of its board")
    return s


def _rows(entry: _Entry) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each entry of a decision's hands: hands in players' notation, and probabilities by the words of actions."""
    hands, actions = entry["hands"], entry.get("actions")
    if isinstance(hands, dict):
        rows = list(hands.items())
    elif isinstance(hands, list) and all(isinstance(row, dict) and {"hand", "policy"} <= row.keys() for row in hands):
        rows = [(row["hand"], row["policy"]) for row in hands]
    else:
        raise SettingError('"hands" is {"AA,KK": {"check": 1}, ...} or a list of {"hand": ..., "policy": ...}')
    if not rows:
        raise SettingError('"hands" names no hand; "full" is every hand')
    for words, policy in rows:
        if isinstance(policy, list) and isinstance(actions, list) and len(policy) == len(actions):
            if len({str(action) for action in actions}) < len(actions):
                raise SettingError('"actions" names an action twice')
            policy = dict(zip(map(str, actions), policy, strict=True))
        if not isinstance(words, str) or not isinstance(policy, dict):
            wanted = '{"check": 1, ...} or a list in the order of "actions"'
            raise SettingError(f"the probabilities of {_quoted(words)} are {wanted}")
        yield words, policy


@lru_cache(maxsize=2 * HANDS)  # a whole strategy names each hand at each decision
def _hands(words: str) -> Bool:
    """bool[1326]: hands in players' notation without weights."""
    weights = parse_range(words)
    if not np.isin(weights, (0.0, 1.0)).all():
        raise SettingError(f"{_quoted(words)} has weights; a policy is fixed for a hand or is not")
    named: Bool = weights > 0
    return named


def _probabilities(words: str, shares: Mapping[str, Any], places: Mapping[str, int], count: int) -> Float64:
    """float64[A]: of each action of a decision; SettingError unless they are probabilities that sum to 1."""
    out = np.full(count, np.nan)
    for action, share in shares.items():
        if not np.isnan(out[places[action]]):
            raise SettingError(f"{_quoted(words)} has the action {_quoted(action)} twice")
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise SettingError(f"{_quoted(words)}: a probability is a number from 0 to 1, not {_quoted(share)}")
        out[places[action]] = share
    policy: Float64 = np.where(np.isnan(out), 0.0, out)
    total = math.fsum(policy)
    if abs(total - 1) > _SUM:
        raise SettingError(f"the probabilities of {_quoted(words)} are {total:.8g} in all, and not 1")
    return policy


def _quoted(value: object) -> str:
    return f"'{shown(value)}'" if isinstance(value, str) else shown(value)
