"""The mean of networks is a checkpoint with the mean of their weights; what does not fit together is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sog.errors import CheckpointError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.training import checkpoint
from soglab.mean_network import mean_network


def saved(folder: Path, game: str, seed: int, width: int = 8) -> str:
    network = CVPN(shape_for(make_game(game), width, 1), seed)
    checkpoint.save(folder, network, game, "run", seed, {"algorithm": "sog"})
    return str(folder)


def test_the_weights_are_the_means(tmp_path: Path) -> None:
    networks = [saved(tmp_path / str(seed), "kuhn_poker", seed) for seed in (1, 2, 3)]
    mean_network(tmp_path / "mean", networks)
    game, mean, meta = checkpoint.load_network(tmp_path / "mean")
    assert (game, meta.step) == ("kuhn_poker", 3)
    for name, weight in mean.arrays().items():
        parts = [checkpoint.load_network(Path(one))[1].arrays()[name] for one in networks]
        np.testing.assert_allclose(weight, np.mean(parts, axis=0), atol=1e-6)


@pytest.mark.parametrize(("game", "width"), [("leduc_poker", 8), ("kuhn_poker", 16)])
def test_networks_that_do_not_fit_together_are_refused(game: str, width: int, tmp_path: Path) -> None:
    networks = [saved(tmp_path / "one", "kuhn_poker", 1), saved(tmp_path / "two", game, 2, width)]
    with pytest.raises(CheckpointError, match="different games or shapes"):
        mean_network(tmp_path / "mean", networks)
    with pytest.raises(CheckpointError, match="is there already"):
        mean_network(tmp_path / "one", networks)
