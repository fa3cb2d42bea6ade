"""Pictures as values: panels of lines, levels and error bars, which matplotlib draws when a file is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Whatever draws itself on a panel.
Mark: TypeAlias = "Callable[[Axes], object]"
# Keywords of matplotlib, such as color, linestyle and marker.
Style: TypeAlias = Mapping[str, Any]
DOTS: Final[Style] = {"marker": "."}
# A legend to the right of its panel.
OUTSIDE: Final[Style] = {"fontsize": 8, "loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}


@dataclass(frozen=True)
class Line:
    """y over x, joined unless `style` says otherwise.

    label: in the legend.  error: lengths of error bars, one for each point, or those below and those above.
    sideways: error bars along x.
    """

    x: Sequence[Any]
    y: Sequence[Any]
    label: str | None = None
    style: Style = field(default_factory=dict)
    error: Sequence[Any] | None = None
    sideways: bool = False

    def __call__(self, axis: Axes) -> None:
        if self.error is None:
            axis.plot(self.x, self.y, label=self.label, **self.style)
        else:
            bars: Style = {"capsize": 3, "xerr" if self.sideways else "yerr": self.error}
            axis.errorbar(self.x, self.y, label=self.label, **{**bars, **self.style})


def line_of(
    rows: Iterable[Mapping[str, Any]],
    x: str,
    y: str,
    label: str | None = None,
    style: Style = DOTS,
    error: str | None = None,
) -> Line:
    """The line of two columns of rows.  error: a third column, half an interval, None for none."""
    own = list(rows)
    # NaN draws no bar: one of length 0 would say that the figure is certain.
    bars = None if error is None else [math.nan if row[error] is None else row[error] for row in own]
    return Line([row[x] for row in own], [row[y] for row in own], label, style, bars)


def line_through(curve: Mapping[Any, float], label: str | None = None, style: Style = DOTS) -> Line:
    """The line of values by their place on the x axis."""
    return Line(list(curve), list(curve.values()), label, style)


@dataclass(frozen=True)
class Band:
    """The space between two lines over x."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    style: Style = field(default_factory=dict)

    def __call__(self, axis: Axes) -> None:
        axis.fill_between(self.x, self.low, self.high, **self.style)


@dataclass(frozen=True)
class Level:
    """A straight line across the whole panel at a height, or at a place of the x axis where it is upright."""

    at: float
    label: str | None = None
    style: Style = field(default_factory=dict)
    upright: bool = False

    def __call__(self, axis: Axes) -> None:
        (axis.axvline if self.upright else axis.axhline)(self.at, label=self.label, **self.style)


@dataclass(frozen=True)
class Caption:
    """Words at a place.  style: keywords of matplotlib's `annotate`."""

    words: str
    at: tuple[float, float]
    style: Style = field(default_factory=dict)

    def __call__(self, axis: Axes) -> None:
        axis.annotate(self.words, self.at, **self.style)


@dataclass(frozen=True)
class Scale:
    """One axis of a panel: what it measures, matplotlib's name of its scale, and the keywords of that."""

    label: str = ""
    kind: str = "linear"
    options: Style = field(default_factory=dict)


def log_scale(label: str) -> Scale:
    """A logarithmic scale."""
    return Scale(label, "log")


# A logarithmic scale whose ticks are powers of 2.
LOG_2: Final[tuple[str, Style]] = ("log", {"base": 2})


@dataclass(frozen=True)
class Panel:
    """Marks on one pair of axes.  axes: further keywords of matplotlib's `Axes.set`.

    ticks: the only ones of a logarithmic x axis.  legend, grid: matplotlib's keywords of these, None for none.
    """

    marks: Sequence[Mark]
    x: Scale = Scale()
    y: Scale = Scale()
    title: str = ""
    axes: Style = field(default_factory=dict)
    ticks: Sequence[float] | None = None
    legend: Style | None = field(default_factory=dict)
    grid: Style | None = field(default_factory=dict)

    def __call__(self, axis: Axes) -> None:
        for mark in self.marks:
            mark(axis)
        axis.set(xlabel=self.x.label, ylabel=self.y.label, title=self.title)
        if self.x.kind != "linear":  # which would also take away names of places
            axis.set_xscale(self.x.kind, **self.x.options)
        if self.y.kind != "linear":
            axis.set_yscale(self.y.kind, **self.y.options)
        axis.set(**self.axes)
        if self.ticks is not None:
            axis.set_xticks(self.ticks, [f"{tick:,}" for tick in self.ticks])
            axis.minorticks_off()
        if self.grid is not None:
            axis.grid(**{"alpha": 0.3, **self.grid})
        if self.legend is not None and _labels(axis):
            axis.legend(**self.legend)


@dataclass(frozen=True)
class Picture:
    """Panels row by row; a legend that says the same as the first panel's is left out.

    title: above all of them.  columns: of panels, None for one row.  size: inches.  same_x, same_y: whether panels
    share an axis, which is then named at the edge alone.
    """

    panels: Sequence[Panel]
    title: str = ""
    columns: int | None = None
    size: tuple[float, float] | None = None
    same_x: bool = False
    same_y: bool = False

    def __call__(self, figure: Figure) -> None:
        columns = self.columns or max(len(self.panels), 1)
        if self.size is not None:
            figure.set_size_inches(*self.size)
        rows = max(-(-len(self.panels) // columns), 1)
        grid = figure.subplots(rows, columns, sharex=self.same_x, sharey=self.same_y, squeeze=False)
        axes = list(grid.flat)
        for k, (axis, panel) in enumerate(zip(axes, self.panels, strict=False)):
            panel(axis)
            if self.same_x and k + columns < len(self.panels):
                axis.set_xlabel("")
            if self.same_y and k % columns:
                axis.set_ylabel("")
            if k and axis.get_legend() is not None and _labels(axis) == _labels(axes[0]):
                axis.get_legend().remove()
        for axis in axes[len(self.panels) :]:
            axis.set_visible(False)
        if self.title:
            figure.suptitle(self.title)


def _labels(axis: Axes) -> list[str]:
    return list(axis.get_legend_handles_labels()[1])
