"""Numba kernels that write training rows as bytes and read them again; packing.py says how a row lies there.

Reading trusts no byte: what would lie outside the row or name no slot or action ends it with a fault.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Bool, Float32, Int64
from sog.searches.kernels.jit import njit
from sog.training.packing_bytes import clear, get, is_set, put, set_bit

__all__ = ["FAULTS", "Dense", "RowLayout", "longest_row", "read_rows", "write_rows"]

_ONE: Final = 0x3F800000  # 1.0 as float32
_SIGN: Final = 0x80000000  # -0.0
_FEW: Final = 16  # legal actions up to which a cumulative share is one byte in rows of many slots; above it is two
_MANY: Final = 64  # slots from which on a row has many

# Kinds of policies in a row: none is trained, all slots have the same legal actions, each slot has its own.
_NONE: Final = 0
_SAME: Final = 1
_OWN: Final = 2
_FINE: Final = 4  # added to these: every cumulative share has two bytes

# What a row can have that cannot be written, by the number that `write_rows` returns.
FAULTS: Final = {
    1: "a plane of a game is 0 or one value everywhere",
    2: "a mask of a training row is 0 or 1",
    3: "a policy of a training row is a distribution over at least one legal action",
}


class Dense(NamedTuple):
    """Rows as the learner has them; features, ranges and values seen as whole numbers, which are copied bit by bit.

    bits: uint32[N, D], the inputs.  halves: uint16[2, N, S0 + S1], float16 ranges and values.
    matchups: uint16[N, M], float16.  value_mask: float32[N, S0 + S1].  policies: float32[N, L].
    policy_mask: float32[N, S].  legal: bool[N, L].  owners: float32[N, C].  owners_mask: float32[N, 0 or 1].
    """

    bits: Array
    halves: Array
    matchups: Array
    value_mask: Float32
    policies: Float32
    policy_mask: Float32
    legal: Bool
    owners: Float32
    owners_mask: Float32


class RowLayout(NamedTuple):
    """What a row is made of.

    features: of a public state.  cells: features that share one value (those of a plane; otherwise 1).
    slots: S0 + S1.  matchups: M.  owners: C.
    starts: int64[S + 1], where each slot's actions begin among all L of a row, and L.
    """

    features: int
    cells: int
    slots: int
    matchups: int
    starts: Int64
    owners: int


def longest_row(layout: RowLayout) -> int:
    """The bytes that a row has at most."""
    features = -(-layout.features // 8) + 4 + 8 * (layout.features // layout.cells)
    belief = 2 * -(-layout.slots // 8) + 4 * layout.slots + 2 * layout.matchups
    slots = len(layout.starts) - 1
    policies = 1 + -(-slots // 8) + 2 * slots + 4 * int(layout.starts[-1])
    return features + belief + policies + 1 + layout.owners


@njit
def write_rows(dense: Dense, layout: RowLayout, out: Array, ends: Int64) -> int:
    """Write all rows into `out` and where each ends into `ends`; a number of FAULTS, or 0."""
    at = 0
    for r in range(len(ends)):
        at = _write_features(dense, layout, r, out, at)
        if at < 0:
            return 1
        at = _write_belief(dense, layout, r, out, at)
        if at < 0:
            return 2
        at = _write_policies(dense, layout, r, out, at)
        if at < 0:
            return int(-at)
        at = _write_owners(dense, layout, r, out, at)
        ends[r] = at
    return 0


@njit
def read_rows(dense: Dense, layout: RowLayout, content: Array, ends: Int64) -> int:
    """Read all rows into arrays of zeros; 1 where the bytes are not rows of this layout, otherwise 0."""
    start = 0
    for r in range(len(ends)):
        end = ends[r]
        if not start < end <= len(content):
            return 1
        at = _read_features(dense, layout, r, content[:end], start)
        if at >= 0:
            at = _read_belief(dense, layout, r, content[:end], at)
        if at >= 0:
            at = _read_policies(dense, layout, r, content[:end], at)
        if at >= 0:
            at = _read_owners(dense, layout, r, content[:end], at)
        if at != end:
            return 1
        start = end
    return 0


# --- features ---


@njit
def _write_features(dense: Dense, layout: RowLayout, r: int, out: Array, at: int) -> int:
    """Which features are not 0, then (group, value) of each group whose value is not 1; -1 for two values in one."""
    marks = at
    at = clear(out, at, layout.features)
    count, counted = 0, at
    at += 4
    for group in range(layout.features // layout.cells):
        value = 0
        for f in range(group * layout.cells, (group + 1) * layout.cells):
            bits = int(np.int64(dense.bits[r, f]))
            if bits == 0 or bits == _SIGN:
                continue
            if value not in (0, bits):
                return -1
            value = bits
            set_bit(out, marks, f)
        if value not in (0, _ONE):
            at = put(out, at, group, 4)
            at = put(out, at, value, 4)
            count += 1
    put(out, counted, count, 4)
    return at


@njit
def _read_features(dense: Dense, layout: RowLayout, r: int, content: Array, at: int) -> int:
    marks = at
    at += (layout.features + 7) // 8
    for f in range(layout.features):
        if is_set(content, marks, f):
            dense.bits[r, f] = _ONE
    count = get(content, at, 4)
    at += 4
    if at + 8 * count > len(content):
        return -1
    for _ in range(count):
        group, value = get(content, at, 4), get(content, at + 4, 4)
        at += 8
        if group >= layout.features // layout.cells:
            return -1
        for f in range(group * layout.cells, (group + 1) * layout.cells):
            if dense.bits[r, f] != 0:
                dense.bits[r, f] = value
    return at


# --- ranges, values and matchups ---


@njit
def _write_belief(dense: Dense, layout: RowLayout, r: int, out: Array, at: int) -> int:
    """Which slots the row speaks of, which of these have a trained value, the ranges, the values; -1 for a bad mask."""
    ranges, values, mask = dense.halves[0, r], dense.halves[1, r], dense.value_mask[r]
    marks, count = at, 0
    at = clear(out, at, layout.slots)
    for s in range(layout.slots):
        if mask[s] != 0.0 and mask[s] != 1.0:
            return -1
        if ranges[s] != 0 or mask[s] != 0.0:
            set_bit(out, marks, s)
            count += 1
    trained = at
    at = clear(out, at, count)
    k, value_at = 0, at + 2 * count  # the values follow all ranges
    for s in range(layout.slots):
        if not is_set(out, marks, s):
            continue
        at = put(out, at, np.int64(ranges[s]), 2)
        if mask[s] != 0.0:
            set_bit(out, trained, k)
            value_at = put(out, value_at, np.int64(values[s]), 2)
        k += 1
    at = value_at
    for m in range(layout.matchups):
        at = put(out, at, np.int64(dense.matchups[r, m]), 2)
    return at


@njit
def _read_belief(dense: Dense, layout: RowLayout, r: int, content: Array, at: int) -> int:
    marks, count = at, 0
    at += (layout.slots + 7) // 8
    for s in range(layout.slots):
        count += is_set(content, marks, s)
    trained = at
    at += (count + 7) // 8
    k, value_at = 0, at + 2 * count
    for s in range(layout.slots):
        if not is_set(content, marks, s):
            continue
        dense.halves[0, r, s] = get(content, at, 2)
        at += 2
        if is_set(content, trained, k):
            dense.value_mask[r, s] = 1.0
            dense.halves[1, r, s] = get(content, value_at, 2)
            value_at += 2
        k += 1
    at = value_at
    for m in range(layout.matchups):
        dense.matchups[r, m] = get(content, at, 2)
        at += 2
    return at if at <= len(content) else -1


# --- policies ---


@njit
def _write_policies(dense: Dense, layout: RowLayout, r: int, out: Array, at: int) -> int:
    """The kind, which slots have a trained policy, their legal actions and shares; -2 or -3 for a fault.

    Where all of them have the same legal actions (poker's hands) these are written once.
    """
    mask, legal, kind, first = dense.policy_mask[r], dense.legal[r], _NONE, -1
    starts, slots = layout.starts, len(layout.starts) - 1
    for s in range(slots):
        if mask[s] == 0.0:
            continue
        if mask[s] != 1.0:
            return -2
        if first < 0:
            first, kind = s, _SAME
        elif kind == _SAME:
            width = starts[s + 1] - starts[s]
            if width != starts[first + 1] - starts[first]:
                kind = _OWN
                continue
            for a in range(width):
                if legal[starts[s] + a] != legal[starts[first] + a]:
                    kind = _OWN
                    break
    fine = kind != _NONE and slots < _MANY
    at = put(out, at, kind + _FINE if fine else kind, 1)
    if kind == _NONE:
        return at
    marks = at
    at = clear(out, at, slots)
    for s in range(slots):
        if mask[s] == 0.0:
            continue
        set_bit(out, marks, s)
        own = legal[starts[s] : starts[s + 1]]
        if kind == _OWN or s == first:
            at = _write_actions(own, out, at)
        at = _write_shares(dense.policies[r, starts[s] : starts[s + 1]], own, fine, out, at)
        if at < 0:
            return -3
    return at


@njit
def _write_actions(legal: Bool, out: Array, at: int) -> int:
    """How many actions are legal, and which."""
    count, counted = 0, at
    at += 2
    for a in range(len(legal)):
        if legal[a]:
            at = put(out, at, a, 2)
            count += 1
    put(out, counted, count, 2)
    return at


@njit
def _write_shares(policy: Float32, legal: Bool, fine: bool, out: Array, at: int) -> int:
    """c_k = round(L (p_1 + ... + p_k) / sum p) for all legal actions but the last, whose c is L; -1 for no policy.

    L is 255, a byte each, and 65,535 where it is fine or above 16 legal actions. Rounding the sums and not the shares
    keeps their sum at 1 and each share within 1 / L of what it was; an action that is never played has
    c_k = c_(k - 1).
    """
    total, count = 0.0, 0
    for a in range(len(legal)):
        if legal[a]:
            if not 0.0 <= policy[a] <= 2.0:
                return -1
            total += policy[a]
            count += 1
    if not total > 0.0:
        return -1
    size = 2 if fine or count > _FEW else 1
    whole, so_far, k = (1 << (8 * size)) - 1, 0.0, 0
    for a in range(len(legal)):
        if legal[a]:
            k += 1
            so_far += policy[a]
            if k < count:
                at = put(out, at, np.int64(whole * (so_far / total) + 0.5), size)
    return at


@njit
def _read_policies(dense: Dense, layout: RowLayout, r: int, content: Array, at: int) -> int:
    kind = get(content, at, 1)
    at += 1
    if kind == _NONE:
        return at
    fine = kind > _FINE
    kind -= _FINE if fine else 0
    if kind not in (_SAME, _OWN):
        return -1
    marks, actions = at, -1
    starts, slots = layout.starts, len(layout.starts) - 1
    at += (slots + 7) // 8
    for s in range(slots):
        if not is_set(content, marks, s):
            continue
        if kind == _OWN or actions < 0:
            actions = at
            at += 2 + 2 * get(content, at, 2)
        own, legal = dense.policies[r, starts[s] : starts[s + 1]], dense.legal[r, starts[s] : starts[s + 1]]
        at = _read_shares(own, legal, fine, content, actions, at)
        if at < 0:
            return -1
        dense.policy_mask[r, s] = 1.0
    return at


@njit
def _read_shares(policy: Float32, legal: Bool, fine: bool, content: Array, actions: int, at: int) -> int:
    """A policy over the actions listed at `actions`, p_k = (c_k - c_(k - 1)) / L; -1 where it does not read so."""
    count = get(content, actions, 2)
    size = 2 if fine or count > _FEW else 1
    whole, before = (1 << (8 * size)) - 1, 0
    if count == 0 or at + size * (count - 1) > len(content):
        return -1
    for k in range(count):
        action, reached = get(content, actions + 2 + 2 * k, 2), whole
        if k < count - 1:
            reached = get(content, at, size)
            at += size
        if action >= len(legal) or reached < before:
            return -1
        legal[action] = True
        policy[action] = np.float32(reached - before) / np.float32(whole)
        before = reached
    return at


# --- who owned each cell ---


@njit
def _write_owners(dense: Dense, layout: RowLayout, r: int, out: Array, at: int) -> int:
    """Whether the row knows its owners, and if so -1, 0 or 1 a cell."""
    known = layout.owners > 0 and dense.owners_mask[r, 0] != 0.0
    at = put(out, at, 1 if known else 0, 1)
    if known:
        for c in range(layout.owners):
            at = put(out, at, np.int64(dense.owners[r, c]) + 1, 1)
    return at


@njit
def _read_owners(dense: Dense, layout: RowLayout, r: int, content: Array, at: int) -> int:
    known = get(content, at, 1)
    at += 1
    if known == 0:
        return at
    if known != 1 or layout.owners == 0 or at + layout.owners > len(content):
        return -1
    for c in range(layout.owners):
        dense.owners[r, c] = get(content, at, 1) - 1
        at += 1
    dense.owners_mask[r, 0] = 1.0
    return at
