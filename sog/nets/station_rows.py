"""The network over Scotland Yard's stations on one core, its layers by Numba: values belief by belief, logits by row.

A search asks for a leaf's values at every update and for its logits once, when it is opened.
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Float32
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.scotland_yard.station_inputs import CONTEXT, pairs_of, station_inputs
from sog.nets.cpu import station_layers
from sog.nets.cpu.dense import registers_here
from sog.nets.network import Network
from sog.nets.packed_layers import PackedLayers, linear, linear_layers, table_of, through
from sog.nets.shape import station_game
from sog.searches.kernels.vectors import padded
from sog.searches.leaves.evaluator import Wanted

__all__ = ["StationRows"]


class StationRows:
    """The outputs of a network over stations (sog.nets.stations), with a copy of its weights.

    A belief's values are the same bits whatever it is joined with.
    """

    def __init__(self, network: Network) -> None:
        self.shape, self.game = network.shape, station_game(network.shape)
        self.weights = {name.removeprefix("body."): weight.copy() for name, weight in network.arrays().items()}
        self.plain = tuple(self._packed(self.game))
        self._layers: dict[str, tuple[PackedLayers, int]] = {}  # by part, with how many outputs it has

    def __call__(self, x: Float32, wanted: Wanted) -> Float32:
        """float32[B, N + 1 + P] of encoded beliefs float32[B, D], or the part of it that is wanted."""
        parts = []
        if wanted is not Wanted.POLICIES:
            values: Float32 = np.zeros((len(x), self.shape.num_values), dtype=np.float32)
            known = station_inputs(x, self.game)[0]
            station_layers.evaluate(self.plain, tuple(known), values)
            parts.append(values)
        if wanted is not Wanted.VALUES:
            parts.append(self._logits(x))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _logits(self, x: Float32) -> Float32:
        """float32[B, P]: the formulas of StationNetwork."""
        every, around = station_inputs(x, self.game, moves=True)
        possible = np.flatnonzero(every.rows[:, 2] > 0)
        belief, share = every.belief[possible], every.share[possible]
        h = self._active("first", every.rows[possible])
        weighed, mean = np.zeros((2, len(x), h.shape[1]), dtype=np.float32)
        # Sums over a belief's stations, weighed by the range and evenly.
        np.add.at(weighed, belief, share[:, None] * h)
        np.add.at(mean, belief, h)
        mean /= np.bincount(belief, minlength=len(x)).clip(1)[:, None]
        # A detective without a station has only zeros.
        chasers = self._active("each", every.detectives.reshape(-1, every.detectives.shape[2]))
        each = chasers.reshape(*every.places.shape, -1) * (every.places >= 0)[:, :, None]
        c = self._last("context", np.concatenate((weighed, mean, every.context, each.sum(axis=1)), axis=1))
        e = self._active("second", np.maximum(h + c[belief], 0))
        rows = np.concatenate((every.rows, around), axis=1)
        enter, by = self._last("enter", rows), self.weights["by.weight"].T
        leave = np.zeros((len(rows), e.shape[1]), dtype=np.float32)
        leave[possible] = self._linear("leave", e)
        out: Float32 = np.zeros((len(x), self.shape.num_logits), dtype=np.float32)
        mine, theirs = pairs_of(every, self.game)
        chase = self._linear("chase", c)[theirs.belief] + self._linear("stay", rows[theirs.source])
        for at, own, last in ((mine, leave[mine.source], "leave_last"), (theirs, chase, "chase_last")):
            logits = self._linear(last, np.maximum(own + enter[at.dest] + by[at.ticket], 0))
            out[at.belief, at.pair] = logits[:, 0]
        return out

    def _linear(self, name: str, x: Float32) -> Float32:
        return self._through(name, x, -np.inf)

    def _active(self, part: str, x: Float32) -> Float32:
        """A part's linear layers, with ReLU after each."""
        return self._through(part, x, 0.0)

    def _last(self, part: str, x: Float32) -> Float32:
        """A hidden layer with ReLU, and one without."""
        return self._linear(f"{part}.2", self._active(f"{part}.0", x))

    def _through(self, part: str, x: Float32, floor: float) -> Float32:
        if part not in self._layers:
            named = f"{part}.weight" in self.weights
            layers = [linear(self.weights, part)] if named else linear_layers(self.weights, part)
            self._layers[part] = PackedLayers.of(layers), len(layers[-1][1])
        packed, outputs = self._layers[part]
        return through(packed, x, floor, outputs)

    def _packed(self, game: ScotlandYard) -> station_layers.Stations:
        """The layers with widths padded to whole registers; a padded output is 0, and its weights are."""
        layers = {part: linear_layers(self.weights, part) for part in ("first", "each", "context", "second")}
        each, narrow, wide = PackedLayers.of(layers["each"]), self.shape.width, padded(self.shape.width)
        # The context sees both summaries, each padded, what is public, and the sum over detectives, padded.
        chasing = len(layers["each"][-1][1])
        places = np.concatenate([np.arange(narrow), wide + np.arange(narrow), 2 * wide + np.arange(CONTEXT + chasing)])
        parts = [
            PackedLayers.of(layers["first"]),
            each,
            PackedLayers.of(layers["context"], places, 2 * wide + CONTEXT + each.widths[-1]),
            PackedLayers.of(layers["second"], inputs=wide),
            PackedLayers.of([linear(self.weights, "value_last")], inputs=wide),
        ]
        widths, depths = table_of(parts)
        # Room for a row of each station, or each detective, that is as wide as the widest layer.
        most, rows = int(widths.max()), max(self.shape.slots[0], game.rules.detectives)
        seen, one, two = np.zeros((3, rows * most), dtype=np.float32)
        asked, added = np.zeros(int(widths[2, 0]), dtype=np.float32), np.zeros(wide, dtype=np.float32)
        first, _, context, second, last = (part.weights for part in parts)
        weights = first, each.weights, context, second, last
        return station_layers.Stations(*weights, widths, depths, registers_here(), seen, one, two, asked, added)
