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

import torch

from sog.errors import CheckpointError
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
    game, mean, newest = max(loaded, key=lambda one: one[2].step)
    if any(meta.shape != newest.shape or name != game for name, _, meta in loaded):
        raise CheckpointError("the networks are of different games or shapes")
    weights = [network.state_dict() for _, network, _ in loaded]
    mean.load_state_dict({name: torch.stack([one[name] for one in weights]).mean(dim=0) for name in weights[0]})
    settings = {key: value for key, value in newest.settings.items() if key != "window_bytes"}
    checkpoint.save(out, mean, game, newest.run, newest.step, settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("networks", nargs="+", metavar="NETWORK", help="a checkpoint, a run, or a game's shipped one")
    args = parser.parse_args()
    mean_network(args.out, args.networks)
    print(f"the mean of {len(args.networks)} networks is in {args.out}")


if __name__ == "__main__":
    main()
