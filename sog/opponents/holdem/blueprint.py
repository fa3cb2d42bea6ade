"""A blueprint of whole hold'em: a table from MCCFR over buckets of hands, its file, and the agent that plays it.

The table has a policy for each line of betting of its own game and each bucket. The agent plays any game of whole
hold'em: a raise stands for the nearest one of the blueprint's, in fractions of the pot after a call.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from sog.arrays import Array, Float32, Float64, Int64
from sog.errors import CheckpointError, GameError, SettingError, SogError
from sog.files import open_regular, read_bounded, replace_file, shown
from sog.games.base import Game
from sog.games.holdem.bets import EveryAmount
from sog.games.holdem.betting import CALL, FLOP, PREFLOP, Betting
from sog.games.holdem.cards import HANDS
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.holdem.ranges import FULL
from sog.games.holdem.strings import SHORT, holdem_from
from sog.games.strings import parse_game
from sog.opponents.holdem.buckets import (
    CLASSES,
    FLOPS,
    BucketTables,
    canonical_flops,
    class_of,
    hand_buckets,
    table_row,
)
from sog.opponents.holdem.monte_carlo import FOLDED, BettingTree, BlueprintSums, betting_tree, iterate, work_of
from sog.play.agent import Agent
from sog.searches.tree.public_tree import PublicTree

__all__ = [
    "BUCKETS",
    "Blueprint",
    "BlueprintAgent",
    "BlueprintSolver",
    "is_blueprint",
    "is_whole",
    "load",
    "refuse_unsolved",
    "save",
]

BUCKETS: Final = 50  # on each street after the flop
_MOST_BUCKETS: Final = 256  # that a byte can tell apart
_VERSION: Final = 1  # of the file
_FIELDS: Final = ("blueprint", "game", "iterations", "buckets", "policy", "flops")
_MOST_BYTES: Final = 2**31
_MARK: Final = b"blueprint.npy"  # the name of a blueprint's first array, near the file's beginning


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A table that plays.

    iterations: how many made it.  buckets: a street after the flop.  policy: float32[E], the probabilities of the
    actions by decision and bucket, all 0 where a walk never came.  flops: uint8[1755, 1326], as in `BucketTables`.
    digest: of the file's bytes.
    """

    game: Holdem
    iterations: int
    buckets: int
    policy: Float32
    flops: Array
    digest: str = ""

    @cached_property
    def built(self) -> tuple[BettingTree, list[HoldemState]]:
        """The tree of the table's own game, and a state of each node."""
        return betting_tree(self.game, self.widths)

    @property
    def tree(self) -> BettingTree:
        return self.built[0]

    @property
    def states(self) -> list[HoldemState]:
        return self.built[1]

    @cached_property
    def keys(self) -> Int64:
        """int64[1755]: whose buckets the rows of `flops` are, as in `BucketTables`."""
        return canonical_flops().keys

    def node_of(self, game: Holdem, s: HoldemState) -> int:
        """The node that a decision of any whole game stands at; -1 where the blueprint's line has ended before."""
        betting, n = game.root().betting, 0
        for action in s.line:
            if betting.closed:
                betting = betting.next_round(game.spot.blinds[1])
            n = self._child(n, betting, action, game.spot.pot)
            if n < 0:
                return n
            betting = betting.call() if action == CALL else betting.raise_to(abs(action))
        fits = self.tree.kind[n] == s.betting.actor and self.tree.street[n] == s.betting.street
        return n if fits else -1

    def _child(self, n: int, betting: Betting, action: int, dead: float) -> int:
        if self.tree.kind[n] >= FOLDED or self.tree.street[n] != betting.street:
            return -1
        call = int(self.tree.first[n]) + self.states[n].betting.facing
        if action == CALL:
            return call
        known = self.fractions(n)
        return call + 1 + _nearest(known, _fraction(betting, abs(action), dead)) if known else -1

    def fractions(self, n: int) -> list[float]:
        """The raises at a node, in fractions of the pot after a call."""
        s = self.states[n]
        return [_fraction(s.betting, amount, self.game.spot.pot) for _, amount in self.game.raises(s)]

    def rows(self, n: int, board: tuple[int, ...]) -> Float64:
        """float64[A, 1326]: the policy at a node, by the hands on a board; 0 where the table has none."""
        if not board:
            bucket = class_of()
        elif len(board) == 3:
            bucket = table_row(board, self.keys, self.flops)
        else:
            bucket = hand_buckets(tuple(sorted(board)), self.buckets)
        count = self.tree.actions[n]
        entries = self.tree.entry[n] + bucket * count + np.arange(count)[:, None]
        rows: Float64 = self.policy[entries].astype(np.float64)
        total = rows.sum(axis=0)
        rows /= np.where(total > 0, total, 1.0)
        return rows

    @property
    def widths(self) -> tuple[int, ...]:
        """How many buckets each street has."""
        return _widths(self.buckets)

    @property
    def known(self) -> int:
        """How many information sets have a policy."""
        return int(np.count_nonzero(np.add.reduceat(self.policy, _infosets(self.tree, self.buckets)[0])))


class BlueprintSolver:
    """MCCFR of a game's blueprint.  iterations: done so far."""

    def __init__(self, game: Holdem, tables: BucketTables, buckets: int = BUCKETS, seed: int = 0) -> None:
        """SettingError for a game that has no blueprint.  tables: of all flops, with as many buckets."""
        refuse_unsolved(game)
        self.game, self.tables, self.buckets, self.seed, self.iterations = game, tables, buckets, seed, 0
        self.tree, _ = betting_tree(game, _widths(buckets))
        self.starts, self.counts = _infosets(self.tree, buckets)
        size = int(self.starts[-1] + self.counts[-1])
        self.sums, self._work = BlueprintSums(np.zeros(size), np.zeros(size)), work_of(self.tree)

    def iterate(self, count: int) -> None:
        """`count` more iterations; a run in parts is the same run."""
        iterate(self.tree, self.tables, self.sums, self._work, self.iterations, count, np.uint64(self.seed))
        self.iterations += count

    @property
    def decisions(self) -> int:
        """How many the tree has, without cards."""
        return int(np.count_nonzero(self.tree.actions))

    @property
    def memory(self) -> int:
        """The bytes of regrets, averages and bucket tables."""
        return sum(array.nbytes for array in (*self.sums, *self.tables))

    def blueprint(self) -> Blueprint:
        """The average policy so far."""
        average = self.sums.average
        total = np.repeat(np.add.reduceat(average, self.starts), self.counts)
        policy = np.divide(average, total, out=np.zeros_like(total), where=total > 0).astype(np.float32)
        return Blueprint(self.game, self.iterations, self.buckets, policy, self.tables.flops)


class BlueprintAgent(Agent):
    """Plays a blueprint; checks or calls where the table has nothing, or a raise that is not possible here."""

    def __init__(self, public: PublicTree, player: int, blueprint: Blueprint) -> None:
        """GameError for other games than whole hold'em."""
        super().__init__(public, player)
        if not is_whole(public.game):
            raise GameError(f"a blueprint plays whole hold'em, not {public.game.name}")
        self.blueprint = blueprint

    def policy(self, node: int) -> Float64:
        game, s = self.game, self.state(node)
        assert isinstance(game, Holdem) and isinstance(s, HoldemState)
        call, table = int(s.betting.facing), self.blueprint
        policy = np.zeros((len(self.public.actions(node)), HANDS))
        if (n := table.node_of(game, s)) >= 0:
            offered = [_fraction(s.betting, amount, game.spot.pot) for _, amount in game.raises(s)]
            raises = [call + 1 + _nearest(offered, x) if offered else call for x in table.fractions(n)]
            # Where nothing is asked here, the fold of a blueprint in which something is becomes a check, too.
            columns = [0] * table.states[n].betting.facing + [call, *raises]
            for column, row in zip(columns, table.rows(n, s.board), strict=True):
                policy[column] += row
        policy[call] += 1.0 - policy.sum(axis=0).round()
        return policy


def is_whole(game: Game) -> bool:
    """Whether a game is hold'em that begins before the flop."""
    return isinstance(game, Holdem) and game.street == PREFLOP


def refuse_unsolved(game: Holdem) -> None:
    """SettingError for a game without a blueprint: a spot, one with every bet or drawn ones, or with chosen ranges."""
    if not is_whole(game):
        raise SettingError(f"{game.name} begins after the flop: a blueprint is of the whole game")
    if isinstance(game.sizes, EveryAmount):
        raise SettingError(f"{game.name} has too many lines of betting for a table: name fewer bet sizes")
    if game.draws:
        raise SettingError(f"{game.name} is drawn anew for each hand: a blueprint is of one game, as holdem(bets=0.75)")
    if game.spot.ranges != (FULL, FULL):
        raise SettingError("a blueprint is of a game in which every hand is dealt: leave out range0 and range1")


def save(blueprint: Blueprint, path: Path) -> int:
    """Write a blueprint in place of what the name has; the file's bytes. CheckpointError where the disk refuses."""
    content = io.BytesIO()
    np.savez(
        content,
        blueprint=np.int64(_VERSION),
        game=np.array(blueprint.game.name),
        iterations=np.int64(blueprint.iterations),
        buckets=np.int64(blueprint.buckets),
        policy=blueprint.policy,
        flops=blueprint.flops,
    )
    try:
        replace_file(path, content.getvalue())
    except OSError as error:
        raise CheckpointError(f"cannot write {path}: {error.strerror or error}") from error
    return content.tell()


def is_blueprint(path: Path) -> bool:
    """Whether a file begins as `save` writes it."""
    try:
        with open_regular(path, _MOST_BYTES) as (file, size):
            return _MARK in read_bounded(file, min(size, 64), whole=False)
    except OSError:
        return False


def load(path: Path) -> Blueprint:
    """A blueprint as it was saved; CheckpointError where the file is missing, broken or foreign."""
    try:
        with open_regular(path, _MOST_BYTES) as (file, size):
            content = read_bounded(file, size)
        # No pickles: a file of unknown origin runs no code.
        with np.load(io.BytesIO(content), allow_pickle=False) as saved:
            arrays = {name: np.asarray(saved[name]) for name in _FIELDS}
        return _blueprint_of(arrays, path, hashlib.sha256(content).hexdigest()[:16])
    except (SogError, MemoryError):
        raise
    except Exception as error:  # of many kinds: whatever NumPy and zipfile stumble over in a damaged file
        why = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
        raise CheckpointError(f"{shown(path)} is not a blueprint that can be read{why}") from None


def _blueprint_of(saved: dict[str, Array], path: Path, digest: str) -> Blueprint:
    if int(saved["blueprint"]) != _VERSION:
        raise CheckpointError(f"{shown(path)} was written by another version of sog")
    short, parameters = parse_game(str(saved["game"]))
    if short != SHORT:
        raise CheckpointError(f"{shown(path)} holds {short}, not {SHORT}")
    game, buckets, policy, flops = holdem_from(parameters), int(saved["buckets"]), saved["policy"], saved["flops"]
    refuse_unsolved(game)
    damaged = CheckpointError(f"{shown(path)} is damaged")
    if not 1 <= buckets <= _MOST_BUCKETS or flops.shape != (FLOPS, HANDS) or flops.dtype != np.uint8:
        raise damaged
    blueprint = Blueprint(game, int(saved["iterations"]), buckets, policy, flops, digest)
    starts, counts = _infosets(blueprint.tree, buckets)
    if policy.shape != (starts[-1] + counts[-1],) or policy.dtype != np.float32 or flops.max() >= buckets:
        raise damaged
    total = np.add.reduceat(policy, starts)
    if not (policy >= 0).all() or not ((total == 0) | (np.abs(total - 1) < 1e-3)).all():
        raise damaged
    return blueprint


def _widths(buckets: int) -> tuple[int, ...]:
    return (CLASSES, *[buckets] * (4 - FLOP))


def _infosets(tree: BettingTree, buckets: int) -> tuple[Int64, Int64]:
    """int64[I] twice: where each infoset's probabilities begin, ascending, and how many there are."""
    decisions = np.flatnonzero(tree.actions)
    width = np.array(_widths(buckets))[tree.street[decisions]]
    counts = np.repeat(tree.actions[decisions], width).astype(np.int64)
    return np.concatenate([[0], np.cumsum(counts)[:-1]]), counts


def _fraction(betting: Betting, amount: int, dead: float) -> float:
    """What a raise adds, in fractions of the pot after a call."""
    return (amount - max(betting.paid)) / betting.pot_after_call(dead)


def _nearest(known: list[float], fraction: float) -> int:
    return min(range(len(known)), key=lambda k: abs(known[k] - fraction))
