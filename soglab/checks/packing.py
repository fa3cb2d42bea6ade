"""Prints what packing changes in the training rows of a round of self-play, and how small it makes them.

    python -m soglab.checks.packing

For each game: bytes a row as the learner takes it and packed, and the largest error of a value, of a range and of an
entry of a policy. Values and ranges are float16, so that their errors are relative; those of policies are absolute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from sog.algorithms.boards.actor import BoardActor
from sog.algorithms.student.actor import SogActor
from sog.algorithms.table import settings_of
from sog.arrays import Array
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import NetworkShape
from sog.training.packing import pack, unpack
from sog.training.rows import Rows
from sog.training.settings import TrainSettings

__all__ = ["GAMES", "Packed", "packing_of", "self_play_rows"]

GAMES: Final = ("leduc_poker", "liars_dice(numdice=1,dice_sides=4)", "scotland_yard(map=glasses)", "connect_four")
_PLAYED: Final = 8  # games of a round


@dataclass(frozen=True)
class Packed:
    """What packing did to rows: bytes a row before and after, and its largest errors.

    value, reach: relative to the number itself, of values and ranges.  policy: absolute, of an entry of a policy.
    others: whether all else came back exactly: features, masks and legal actions.
    """

    rows: int
    plain: int
    packed: int
    value: float
    reach: float
    policy: float
    others: bool


def self_play_rows(name: str, seed: int = 0) -> tuple[NetworkShape, Iterator[Rows]]:
    """The rows of a round of self-play of the demo preset with a fresh network, before they are packed."""
    game = make_game(name)
    settings = settings_of(game, "demo")
    assert isinstance(settings, TrainSettings)
    actor, rng = settings.acting.make(game, settings.shape), np.random.default_rng(seed)
    evaluator = network_evaluator(CVPN(settings.shape, seed))
    assert isinstance(actor, SogActor | BoardActor)

    def rows() -> Iterator[Rows]:
        for job in actor.finished(_PLAYED, evaluator, rng):
            yield from actor.rows_of(job, rng)  # type: ignore[arg-type]

    return settings.shape, rows()


def packing_of(shape: NetworkShape, rows: Rows) -> Packed:
    """What packing does to rows."""
    packed = pack(shape, rows)
    again = unpack(shape, packed)
    first, slots = shape.features, shape.num_values
    trained = rows.policy_mask > 0
    if shape.legal_pairs:
        trained = np.repeat(trained, shape.legal_pairs, axis=1)[:, None, :]
    else:
        trained = trained[:, :, None]
    exact = [np.array_equal(getattr(again, name), getattr(rows, name)) for name in ("value_mask", "policy_mask")]
    exact += [np.array_equal(again.inputs[:, :first], rows.inputs[:, :first])]
    exact += [np.array_equal(again.legal & trained, rows.legal & trained)]
    return Packed(
        rows=len(rows),
        plain=sum(column.nbytes for column in rows.columns().values()) // max(1, len(rows)),
        packed=len(packed.content) // max(1, len(rows)),
        value=_relative(again.values, rows.values * rows.value_mask),
        reach=_relative(again.inputs[:, first : first + slots], rows.inputs[:, first : first + slots]),
        policy=float(np.abs((again.policies - rows.policies) * trained).max(initial=0.0)),
        others=all(exact),
    )


def _relative(unpacked: Array, wanted: Array) -> float:
    """The largest error of a number, relative to it; numbers under 2^-14 count as that, where float16 is coarser."""
    return float((np.abs(unpacked - wanted) / np.maximum(np.abs(wanted), 2.0**-14)).max(initial=0.0))


def main() -> None:
    print("game | rows | bytes a row, packed | error of a value | of a range | of a policy's entry | all else exact")
    for name in GAMES:
        shape, parts = self_play_rows(name)
        columns = [part.columns() for part in islice(parts, 2_000)]
        rows = Rows(**{key: np.concatenate([column[key] for column in columns]) for key in columns[0]})
        packing = packing_of(shape, rows)
        errors = " | ".join(f"{error:.2g}" for error in (packing.value, packing.reach, packing.policy))
        print(f"{name} | {packing.rows:,} | {packing.plain:,}, {packing.packed:,} | {errors} | {packing.others}")


if __name__ == "__main__":
    main()
