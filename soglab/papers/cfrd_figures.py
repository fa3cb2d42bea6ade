"""CFR-D's Figs. 3, 4 and 5: Leduc cut where the first round of betting ends, its subgames re-solved.

Suits are folded away (games/leduc/ranks.py), which changes no value and no exploitability. Exploitability is the mean
over both players of what a best response wins, in chips a hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from sog.games.base import NATURE, State
from sog.games.rules.leduc.abstract import AbstractLeduc, real_columns
from sog.games.rules.leduc.game import LeducState
from sog.games.rules.leduc.ranks import LeducRanks, plain_state
from sog.searches.cfr import exact
from sog.searches.cfr.exact import Policy
from sog.searches.cfr.rules import CFR, CFR_PLUS, DCFR, Rule
from sog.searches.resolving.decomposition import Decomposition
from sog.searches.resolving.subgame import SubgameSolver, combined, nodes_of, safely, summarise, unsafely
from sog.searches.tree.public_tree import PublicTree
from soglab.plots import DOTS, Level, Line, Panel, Picture, Scale, line_of, line_through, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

METHODS: Final = {"safe": safely, "unsafe": unsafely}
# Simultaneous updates come closest to what the paper prints of its sampling CFR; the alternating rules are ours.
RULES: Final = {"CFR": replace(CFR, alternating=False), "alternating CFR": CFR, "alternating DCFR": DCFR}
SETTINGS: Final = [(method, rule) for rule in RULES for method in METHODS]

# Averages that all but forget early iterations: exploitability falls below 1e-14 within seconds.
_EQUILIBRIUM_RULE: Final = Rule("late pcfr+", beta=-math.inf, gamma=10.0, predictive=True)
_EQUILIBRIUM_ITERATIONS: Final = 150_000


@lru_cache(maxsize=1)
def _leduc() -> tuple[PublicTree, list[int]]:
    """The listed game and the roots of its five subgames, where the board is about to be dealt."""
    public = PublicTree(LeducRanks()).list_all()
    return public, nodes_of(public, filter(_is_cut, public.states))


def _is_cut(s: State) -> bool:
    return LeducRanks().actor(s) == NATURE


def _exploitability(policy: Policy) -> float:
    return exact.measure_policy(_leduc()[0], policy).exploitability


def _resolving(base: Policy, method: str) -> list[SubgameSolver]:
    """Every subgame of a policy about to be re-solved from its best responses' values."""
    public, roots = _leduc()
    return METHODS[method](public, summarise(public, base, roots))


def _iterate(resolving: Iterable[SubgameSolver], rule: Rule, count: int) -> None:
    for subgame in resolving:
        subgame.iterate(rule, count)


def _label(key: Key) -> str:
    return f"{key['method']}, {key['rule']}"


def _slope(line: dict[int, float]) -> float:
    """The exponent b of the fit y = a x^b."""
    return float(np.polyfit(np.log(list(line)), np.log(list(line.values())), 1)[0])


def _lines(points: list[StudyPoint], measure: str = "exploitability") -> list[Line]:
    """A measure by iterations of each point: a colour for each rule, dashed for the unsafe method."""
    lines = []
    for p in points:
        style = {"color": f"C{list(RULES).index(p.key['rule'])}", "linestyle": "-" if _is_safe(p) else "--"}
        lines.append(line_through(p.curve(measure), _label(p.key), style))
    return lines


def _is_safe(p: StudyPoint) -> bool:
    return bool(p.key["method"] == "safe")


_AXES: Final = (log_scale("iterations T"), log_scale("exploitability, chips a hand"))


# --- Fig. 3: the subgames of an equilibrium ---


@lru_cache(maxsize=1)
def _equilibrium() -> Policy:
    return exact.policy_of(exact.solve(_leduc()[0], _EQUILIBRIUM_RULE, _EQUILIBRIUM_ITERATIONS))


def plan_fig3(options: Options, note: Note) -> list[Key]:
    """Every method and rule, 100 to 6.5 million iterations (the paper says 6.4)."""
    most = 100 * 2 ** (9 if options.quick else 16)
    return [{"method": method, "rule": rule, "most": most} for method, rule in SETTINGS]


def compute_fig3(key: Key) -> Result:
    """By iterations: exploitability of the equilibrium with all its subgames re-solved; and that of itself."""
    base = _equilibrium()
    resolving, done, count = _resolving(base, key["method"]), 0, 100
    curve = {}
    while count <= key["most"]:
        _iterate(resolving, RULES[key["rule"]], count - done)
        curve[str(count)] = _exploitability(combined(base, resolving))
        done, count = count, 2 * count
    return {"exploitability": curve, "base": _exploitability(base)}


def present_fig3(points: list[StudyPoint]) -> Outcome:
    """Exploitability against iterations; how fast the safe method's falls and where the unsafe one's stays."""
    rows = [{**p.key, "iterations": count, "exploitability": y} for p in points for count, y in p.curve().items()]
    beside = [Beside("the equilibrium that is re-solved", "< 2.5e-11", f"{points[0].result['base']:.1e} chips")]
    for p in points:
        iterations, line = max(p.curve()), p.curve()
        last = f"{line[iterations]:.2g} chips"
        published, ours = ("T^-0.5", f"T^{_slope(line):.2f}, {last}") if _is_safe(p) else ("around 0.080", last)
        beside.append(Beside(f"{_label(p.key)}, {iterations:,} iterations", published, ours))
    counts = list(points[0].curve())
    fall = Line(counts, [count**-0.5 for count in counts], r"$T^{-1/2}$", {"color": "grey", "linestyle": ":"})
    limit = Level(0.080, "paper's unsafe limit", {"color": "black", "linewidth": 0.8})
    title = "Re-solving the subgames of an equilibrium of Leduc"
    return Outcome(rows, {"cfrd-fig3": Picture([Panel([*_lines(points), fall, limit], *_AXES, title)])}, beside)


# --- Fig. 4: CFR-D ---

_TRUNK_ITERATIONS: Final = [500, 2_000, 8_000]
_FULL_TRUNK_ITERATIONS: Final = [32_000]
_RESOLVE_ITERATIONS: Final = 200_000
_FINE_ITERATIONS: Final = 2_000  # of alternating DCFR, whose error Fig. 3 shows to be below 1e-4 chips


def plan_fig4(options: Options, note: Note) -> list[Key]:
    """A run for each of 100 to 12,800 subgame iterations, the costliest first so that all cores end together."""
    trunks = [[100, 400]] if options.quick else [_TRUNK_ITERATIONS]
    if options.full:
        trunks.append(_FULL_TRUNK_ITERATIONS)
    resolve = _RESOLVE_ITERATIONS // 10 if options.quick else _RESOLVE_ITERATIONS
    counts = [100 * 2**k for k in range(5 if options.quick else 8)]
    keys = [{"trunks": t, "subgame": count, "resolve": resolve} for t in trunks for count in counts]
    return sorted(keys, key=lambda key: -key["trunks"][-1] * key["subgame"])


def compute_fig4(key: Key) -> Result:
    """By trunk iterations: exploitability with subgames re-solved as in the paper, and with hardly any error."""
    rule = RULES["CFR"]
    search = Decomposition(_leduc()[0].game, _is_cut, key["subgame"], rule, rule, keep_trees=True)
    curves: Result = {"exploitability": {}, "finely_resolved": {}}
    for count in key["trunks"]:
        search.iterate(count - search.trunk.iterations)
        curves["exploitability"][str(count)] = _resolved(search, rule, key["resolve"])
        curves["finely_resolved"][str(count)] = _resolved(search, RULES["alternating DCFR"], _FINE_ITERATIONS)
    return curves


def _resolved(search: Decomposition, rule: Rule, count: int) -> float:
    """Exploitability of the trunk's average policy with its subgames re-solved."""
    public, _ = _leduc()
    trunk, summaries = search.policy(), search.summaries()
    resolving = safely(public, dict(zip(nodes_of(public, summaries), summaries.values(), strict=True)))
    _iterate(resolving, rule, count)
    return _exploitability(combined(dict(zip(nodes_of(public, trunk), trunk.values(), strict=True)), resolving))


def present_fig4(points: list[StudyPoint]) -> Outcome:
    """Exploitability against subgame iterations, a line for each number of trunk iterations."""
    rows = [
        {"trunk": trunk, "subgame": p.key["subgame"], "exploitability": y, "finely_resolved": fine}
        for p in sorted(points, key=lambda p: int(p.key["subgame"]))
        for (trunk, y), fine in zip(p.curve().items(), p.curve("finely_resolved").values(), strict=True)
    ]
    rows.sort(key=lambda row: row["trunk"])
    beside, lines = [], []
    for k, (trunk, line) in enumerate(grouped(rows, lambda row: int(row["trunk"])).items()):
        first, last = line[0], line[-1]
        iterations = f"{trunk:,} trunk, {first['subgame']:,} to {last['subgame']:,} subgame iterations"
        for name, words, style in (("exploitability", "", "-"), ("finely_resolved", ", finely re-solved", ":")):
            beside.append(Beside(iterations + words, "", f"{first[name]:.2g} to {last[name]:.2g} chips"))
            label = None if words else f"{trunk:,} trunk iterations"
            lines.append(line_of(line, "subgame", name, label, {**DOTS, "color": f"C{k}", "linestyle": style}))
    title = "CFR-D on Leduc; dotted: re-solved with hardly any error"
    axes = (replace(_AXES[0], label="subgame iterations"), _AXES[1])
    return Outcome(rows, {"cfrd-fig4": Picture([Panel(lines, *axes, title)])}, beside)


# --- Fig. 5: the subgames of an abstract strategy ---

_FEW: Final = (10, 20, 50, 100, 150, 200, 300, 400, 600, 800)
_MANY: Final = (1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 5_000, 6_250, 8_000, 10_000)
_FIG5_ITERATIONS: Final = (*_FEW, *_MANY)


@lru_cache(maxsize=1)
def _abstract_strategy() -> Policy:
    """An equilibrium of abstract Leduc as a policy for the real game."""
    public, _ = _leduc()
    abstract = PublicTree(AbstractLeduc()).list_all()
    equilibrium = exact.policy_of(exact.solve(abstract, CFR_PLUS, 2_000))
    policy = {}
    for node in public.decisions():
        s = public.states[node]
        assert isinstance(s, LeducState)
        (there,) = nodes_of(abstract, [plain_state(s)])
        policy[node] = equilibrium[there][:, real_columns(s)]
    return policy


def _against(policy: Policy, other: Policy) -> float:
    """What `policy` wins against `other`, the mean over both seats."""
    public, _ = _leduc()
    seats = []
    for p in (0, 1):
        mixed = {n: (policy if public.game.actor(public.states[n]) == p else other)[n] for n in policy}
        value = exact.measure_policy(public, mixed).value
        seats.append(value if p == 0 else -value)
    return sum(seats) / 2


def plan_fig5(options: Options, note: Note) -> list[Key]:
    """Every method and rule."""
    most = 200 if options.quick else _FIG5_ITERATIONS[-1]
    return [{"method": method, "rule": rule, "most": most} for method, rule in SETTINGS]


def compute_fig5(key: Key) -> Result:
    """By iterations: exploitability with all subgames re-solved, and chips won from the abstract strategy."""
    base = _abstract_strategy()
    resolving, done = _resolving(base, key["method"]), 0
    exploitability, won = {}, {}
    for count in _FIG5_ITERATIONS:
        if count <= key["most"]:
            _iterate(resolving, RULES[key["rule"]], count - done)
            done = count
            policy = combined(base, resolving)
            exploitability[str(count)], won[str(count)] = _exploitability(policy), _against(policy, base)
    return {"exploitability": exploitability, "won": won, "base": _exploitability(base)}


def present_fig5(points: list[StudyPoint]) -> Outcome:
    """Both plots of the figure, and the figures of the paper's text."""
    rows = [
        {**p.key, "iterations": count, "exploitability": y, "won": p.result["won"][str(count)]}
        for p in points
        for count, y in p.curve().items()
    ]
    beside = [Beside("the abstract strategy", "0.382", f"{points[0].result['base']:.4f} chips")]
    for p in points:
        for span, published, pick in _FIG5_TEXT[p.key["method"]]:
            picked = [y for count, y in p.curve().items() if pick(count)]
            if picked:
                ours = f"{picked[-1]:.3f}" if len(picked) == 1 else f"{min(picked):.3f} to {max(picked):.3f}"
                beside.append(Beside(f"{_label(p.key)}, {span}", published, f"{ours} chips"))
    beside += [_edge(points, rule) for rule in RULES]
    title = "Re-solving the subgames of an abstract strategy"
    strategy = Level(points[0].result["base"], "the abstract strategy", {"color": "black", "linewidth": 0.8})
    chips = Scale("won from the abstract strategy, chips a hand")
    won = Panel(_lines(points, "won"), log_scale(""), chips, title, legend=None)
    own = Panel([*_lines(points), strategy], _AXES[0], replace(_AXES[1], kind="linear"))
    return Outcome(rows, {"cfrd-fig5": Picture([won, own], columns=1, size=(9, 9), same_x=True)}, beside)


def _edge(points: list[StudyPoint], rule: str) -> Beside:
    """How much more the unsafe method wins from the abstract strategy at the most iterations."""
    won = {p.key["method"]: p.curve("won") for p in points if p.key["rule"] == rule}
    safe, unsafe = won["safe"], won["unsafe"]
    most = max(safe)
    ours = f"{unsafe[most] - safe[most]:.4f} chips"
    return Beside(f"unsafe's edge against the abstract strategy, {rule}, {most:,}", "around 0.004", ours)


_FIG5_TEXT: Final[dict[str, list[tuple[str, str, Callable[[int], bool]]]]] = {
    "safe": [
        ("200 iterations", "0.33 within 200", lambda count: count == 200),
        ("2,000 and more", "0.23 to 0.29", lambda count: count >= 2_000),
    ],
    "unsafe": [("6,250 iterations", "0.39", lambda count: count == 6_250)],
}


FIG3: Final = Experiment(
    id="cfrd-fig3",
    paper="CFR-D",
    figure="Fig. 3",
    minutes=13,
    what="Leduc: the five subgames of an equilibrium re-solved, safe and unsafe, 100 to 6.5 million iterations",
    study=Study(plan_fig3, compute_fig3, present_fig3),
)
FIG4: Final = Experiment(
    id="cfrd-fig4",
    paper="CFR-D",
    figure="Fig. 4",
    minutes=45,
    what="Leduc: CFR-D with 500 to 8,000 trunk iterations (--full: 32,000) and 100 to 12,800 in its subgames",
    study=Study(plan_fig4, compute_fig4, present_fig4, takes=("full",)),
)
FIG5: Final = Experiment(
    id="cfrd-fig5",
    paper="CFR-D",
    figure="Fig. 5",
    minutes=1,
    what="Leduc: the subgames of an abstract strategy re-solved, safe and unsafe; "
    "exploitability, and chips won from it",
    study=Study(plan_fig5, compute_fig5, present_fig5),
)
EXPERIMENTS: Final = (FIG3, FIG4, FIG5)
