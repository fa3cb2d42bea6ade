"""CFR-D's memory against full CFR's as Leduc's deck grows: the trunk and one subgame at a time.

With R ranks the game has S ~ R^2 infostates, while a trunk that ends where the board is dealt has about R and so has
each subgame under one board: full CFR must grow with S, CFR-D with its square root. A cut after the board has the
same subgames and a trunk that keeps values at the roots under every board, R^2 of them; its subgames can be re-solved
one board at a time, where those cut before it need all boards of a betting line at once. Counted are the numbers that
the algorithm holds (regrets, policies, ranges, values) between iterations and at most, and all that Python and NumPy
hold, the listed rules and their R x R payoff matrices included.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sog.games.base import NATURE, State
from sog.games.rules.leduc.game import LeducState
from sog.games.rules.leduc.ranks import LeducRanks
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR
from sog.searches.resolving.decomposition import BeginsSubgame, Decomposition
from sog.searches.tree.public_tree import PublicTree
from soglab.plots import DOTS, Line, Panel, Picture, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key

RANKS: Final = (3, 6, 12, 24)
FULL, BEFORE, AFTER = "full CFR", "CFR-D, cut before the board", "CFR-D, cut after the board"
# What memory should grow like in S infostates, between iterations and at most.
THEORY: Final = {
    FULL: ("S", "S"),
    BEFORE: ("S^0.5", "S^0.5"),
    AFTER: ("S, at the roots alone", "S, at the roots alone"),
}
MEASURES: Final = {
    "between": "numbers between iterations",
    "during": "numbers at most",
    "kept": "all memory between iterations",
    "peak": "all memory at most",
}
_ITERATIONS: Final = 2


def plan(options: Options, note: Note) -> list[Key]:
    """Every method on every deck; --full adds decks of 48 and 96 ranks."""
    ranks = RANKS[:2] if options.quick else (*RANKS, 48, 96) if options.full else RANKS
    return [{"method": method, "ranks": r} for r in ranks for method in THEORY]


@dataclass(frozen=True, eq=False)
class _Memory:
    """A method that has run: what it keeps alive, and the bytes of its numbers between and during iterations."""

    alive: object
    between: int
    during: int


def compute(key: Key) -> Result:
    """Infostates of the game, and bytes: numbers between and during iterations, and all that Python and NumPy hold."""
    method = _METHODS[key["method"]]
    for ranks in (2, 4):  # kernels are loaded, and Numba knows their arguments, before anything is counted
        method(LeducRanks(ranks))
    gc.collect()
    tracemalloc.start()
    try:
        run = method(LeducRanks(key["ranks"]))
        gc.collect()
        current, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return {
        "infostates": _infostates(LeducRanks(key["ranks"])),
        "between": run.between,
        "during": run.during,
        "kept": current,
        "peak": peak,
    }


def _full(game: LeducRanks) -> _Memory:
    public = PublicTree(game).list_all()
    tree = Lookahead(public, 0, game.root_ranges(), room=public.size).expand_all()
    tree.iterate(replace(CFR, alternating=False), _ITERATIONS)
    return _Memory(tree, tree.num_bytes, tree.num_bytes)


def _before_board(game: LeducRanks) -> _Memory:
    return _decomposed(game, lambda s: game.actor(s) == NATURE)


def _after_board(game: LeducRanks) -> _Memory:
    return _decomposed(game, _has_board)


def _has_board(s: State) -> bool:
    assert isinstance(s, LeducState)
    return s.board >= 0


def _decomposed(game: LeducRanks, cut: BeginsSubgame) -> _Memory:
    search = Decomposition(game, cut, _ITERATIONS)
    search.iterate(_ITERATIONS)
    trunk = search.trunk.num_bytes
    return _Memory(search, trunk, trunk + search.largest)


_METHODS: Final[dict[str, Callable[[LeducRanks], _Memory]]] = {FULL: _full, BEFORE: _before_board, AFTER: _after_board}


def _infostates(game: LeducRanks) -> int:
    """Infostates where somebody acts."""
    public = PublicTree(game).list_all()
    return sum(public.num_infostates(n)[public.actor(n)] for n in public.decisions())


# --- the figure ---


def present(points: list[StudyPoint]) -> Outcome:
    """Bytes against infostates, and the exponent with which each measure grows."""
    beside, lines = [], by_key(points, "method")
    for (method,), line in lines.items():
        between, during = THEORY[method]
        for measure, words in MEASURES.items():
            sizes = [p.result[measure] for p in line]
            ours = f"S^{_exponent(line, measure):.2f}; {_size_text(sizes[0])} to {_size_text(sizes[-1])}"
            theory = between if measure in ("between", "kept") else during
            beside.append(Beside(f"{method}: {words}", theory, ours))
    panels = [_panel(lines, measure) for measure in ("during", "peak")]
    return Outcome([p.row for p in points], {"cfrd-memory": Picture(panels, same_y=True)}, beside)


def _panel(lines: dict[tuple[str, ...], list[StudyPoint]], measure: str) -> Panel:
    marks = [
        Line(*_sizes(line, measure), f"{method}: S^{_exponent(line, measure):.2f}", DOTS)
        for (method,), line in lines.items()
    ]
    return Panel(marks, log_scale("infostates S"), log_scale("bytes"), MEASURES[measure])


def _sizes(line: list[StudyPoint], measure: str) -> tuple[list[int], list[int]]:
    """Infostates and bytes."""
    return [p.result["infostates"] for p in line], [p.result[measure] for p in line]


def _exponent(line: list[StudyPoint], measure: str) -> float:
    """The exponent b of the fit bytes = a S^b, without the smallest deck, where what never grows weighs most."""
    s, y = _sizes(line[1:] if len(line) > 2 else line, measure)
    return float(np.polyfit(np.log(s), np.log(y), 1)[0])


def _size_text(size: int) -> str:
    return f"{size / 1e6:.2f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


EXPERIMENT: Final = Experiment(
    id="cfrd-memory",
    paper="CFR-D",
    figure="Memory",
    minutes=1,
    what="Bytes of full CFR and of CFR-D as Leduc's deck grows from 3 to 24 ranks (--full: 48, 96)",
    study=Study(plan, compute, present, takes=("full",)),
)
