"""A network whose weights are the mean of several networks', each trained on from another of them.

    python -m soglab.mean_network OUT NETWORK NETWORK ...

Networks that one training passed through lie in one valley of the loss, and their mean is often better than each
(Izmailov et al., 2018; Wortsman et al., 2022).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sog.errors import CheckpointError
from sog.nets.network import StoredNetwork
from sog.training import checkpoint
from sog.training.shipped import find_checkpoint

__all__ = ["mean_network"]


def mean_network(out: Path, networks: Sequence[str]) -> None:
    """Write the mean of these checkpoints' or runs' networks to the folder `out`, as the newest one's run.

    CheckpointError where `out` is there already, or the networks are of different games or shapes.
    """
    if os.path.lexists(out):
        raise CheckpointError(f"{out} is there already")
    loaded = [checkpoint.load_network(find_checkpoint(name)) for name in networks]
    game, _, newest = max(loaded, key=lambda one: one[2].step)
    if any(meta.shape != newest.shape or name != game for name, _, meta in loaded):
        raise CheckpointError("the networks are of different games or shapes")
    weights = [network.arrays() for _, network, _ in loaded]
    mean = {name: np.mean([one[name] for one in weights], axis=0, dtype=x.dtype) for name, x in weights[0].items()}
    settings = {key: value for key, value in newest.settings.items() if key != "window_bytes"}
    checkpoint.save(out, StoredNetwork(newest.shape, mean), game, newest.run, newest.step, settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("networks", nargs="+", metavar="NETWORK", help="a checkpoint, a run, or a game's shipped one")
    args = parser.parse_args()
    mean_network(args.out, args.networks)
    print(f"the mean of {len(args.networks)} networks is in {args.out}")


if __name__ == "__main__":
    main()
