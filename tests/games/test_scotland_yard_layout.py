"""Places of stations: apart from each other, neighbours near, and the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from sog.games.scotland_yard.layout import APART, layout
from sog.games.scotland_yard.map import SHIPPED, read_map


@pytest.mark.parametrize("name", [*SHIPPED, "london40", "london80@67"])
def test_stations_lie_apart_and_neighbours_near(name: str) -> None:
    city = read_map(name)
    places = layout(city)
    assert places.shape == (len(city.stations), 2) and np.isfinite(places).all()
    far = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(far, np.inf)
    assert far.min() >= 0.85 * APART
    linked = np.mean([far[a, b] for a, b, _ in city.links])
    assert linked < 0.7 * far[np.isfinite(far)].mean()
    layout.cache_clear()
    assert np.array_equal(layout(city), places)
