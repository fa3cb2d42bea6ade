"""`sog solve`: the exact solution of a game on its whole public tree."""

from __future__ import annotations

import json
import math
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sog.cli.compile import compile_solver
from sog.cli.frame import (
    JsonOption,
    LimitOption,
    Report,
    check_new,
    facts_table,
    print_json,
    progress_bar,
    stdout,
    write_unless_there,
)
from sog.cli.options import count, plain_file, positive, processes, seed_of, word
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.games.base import Game, Unit
    from sog.searches.cfr.algorithms import IterativeSolver
    from sog.searches.cfr.exact import Measure
    from sog.searches.cfr.lookahead import Lookahead
    from sog.searches.tree.public_tree import PublicTree

_ALGORITHM = "cfr+"
_BLUEPRINT = "external-mccfr"
_LIST = "list"
# The modules of games that have solvers of their own.
_HOLDEM, _CONNECT_FOUR = "sog.games.holdem.game", "sog.games.boards.connect_four"
_ITERATIONS = 1_000
_ITERATIONS_TO_TARGET = 1_000_000

# Batches between two updates of the progress bar last about this long.
_BATCH_SECONDS = 0.1


def solve(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game string; `sog games` lists them.")],
    algorithm: Annotated[
        str | None,
        word("The algorithm, by default cfr+; `sog solve GAME --algorithm list` names all. Hold'em: dcfr only."),
    ] = None,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Update both players at once instead of in turn.")
    ] = False,
    seed: Annotated[int | None, seed_of("Seed of the mccfr algorithms; by default 0.")] = None,
    iterations: Annotated[
        int | None,
        count(
            f"Iterations at most: {_ITERATIONS:,}, or {_ITERATIONS_TO_TARGET:,} with --target; in hold'em 10,000, "
            "those that --out holds included."
        ),
    ] = None,
    target: Annotated[
        float | None, positive("Stop when exploitability, in utilities, is this small; in hold'em, percent of the pot.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the average policy to this new file, as JSON; in hold'em, for `sog show`."),
    ] = None,
    check_openspiel: Annotated[
        bool, typer.Option("--check-openspiel", help="Also measure the policy with OpenSpiel's nash_conv.")
    ] = False,
    threads: Annotated[int | None, processes("Threads, in hold'em; by default 1.")] = None,
    bits: Annotated[
        int | None,
        typer.Option(
            help="Of regrets and averages in hold'em: 32, or 16, which takes half of the memory and a tenth more time."
        ),
    ] = None,
    lock: Annotated[
        Path | None,
        typer.Option(
            callback=plain_file,
            help="A file of hold'em decisions whose policy is fixed: `sog show --json` of one, edited, or written like "
            '[{"line": "check", "hands": {"full": {"check": 1}}}].',
        ),
    ] = None,
    limit_gb: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Solve a game exactly: the average policy of CFR or another iterative solver, its value and exploitability.

    Exploitability is the mean over both players of what a best response would win; `seconds` counts the
    iterations alone. Checks for --target come at fixed iterations, so a run can be repeated. Hold'em's river
    and turn spots have a solver of their own (dcfr, to 0.5 percent of the pot); --out continues an earlier result;
    `seconds` are then those of this run, measuring and saving included. Whole hold'em becomes a blueprint for
    `sog match`: a table by MCCFR over buckets of hands, 10,000,000 iterations. Connect four has a solver too, which
    gives every move's exact value, such as for 'connect_four(moves=4433)'.
    """
    from sog.searches.cfr.algorithms import DRAWING, named

    if algorithm == _LIST:
        others = (simultaneous, seed is not None, iterations, target, out, check_openspiel, threads, bits, limit_gb)
        if any(others) or lock is not None:
            raise SettingError("--algorithm list solves nothing: leave out the other options but --json")
        _list_algorithms(as_json)
        return
    rules = _game(game)
    module = type(rules).__module__  # its class need not be imported for other games
    if module == _HOLDEM:
        from sog.cli.holdem import solve_spot
        from sog.games.holdem.game import Holdem

        assert isinstance(rules, Holdem)
        if not rules.spot.board:
            from sog.cli.blueprint import solve_blueprint

            spots = (target, threads, bits, lock, limit_gb)
            if algorithm not in (None, _BLUEPRINT) or simultaneous or check_openspiel or any(spots):
                raise SettingError("whole hold'em takes --iterations, --seed, --out and --json alone")
            solve_blueprint(rules, iterations, seed or 0, out, as_json)
            return
        if algorithm not in (None, "dcfr") or simultaneous or check_openspiel:
            raise SettingError("hold'em spots are solved by dcfr, in turn, and OpenSpiel cannot measure them")
        if seed is not None or limit_gb is not None:
            raise SettingError("--seed and --limit-gb do nothing in hold'em: dcfr draws nothing and lists no states")
        solve_spot(rules, target, iterations, out, threads or 1, bits, lock, as_json)
        return
    if threads is not None or bits is not None or lock is not None:
        raise SettingError("--threads, --bits and --lock are for hold'em spots")
    if module == _CONNECT_FOUR:
        from sog.cli.connect_four import solve_position

        chosen = {"--algorithm": algorithm, "--iterations": iterations, "--target": target, "--out": out}
        chosen |= {"--seed": seed is not None, "--limit-gb": limit_gb is not None}
        solve_position(rules, {**chosen, "--simultaneous": simultaneous, "--check-openspiel": check_openspiel}, as_json)
        return
    name = _ALGORITHM if algorithm is None else algorithm
    solver = named(name, simultaneous, seed or 0)
    if seed is not None and name not in DRAWING:
        raise SettingError(f"--seed is for {' and '.join(DRAWING)}; {name} draws nothing")
    if iterations is None:
        iterations = _ITERATIONS if target is None else _ITERATIONS_TO_TARGET
    answer = _solve_tree(rules, solver, iterations, target, out, check_openspiel, limit_gb)
    if as_json:
        print_json(answer)
        return
    _print_answer(answer, rules.unit, target)
    if out is not None:
        stdout().print(f"policy written to {out}", soft_wrap=True)


def _solve_tree(
    rules: Game,
    solver: IterativeSolver,
    iterations: int,
    target: float | None,
    out: Path | None,
    check_openspiel: bool,
    limit_gb: float | None,
) -> dict[str, Any]:
    """List the game's public states, iterate, measure, write the policy; what was found, as one object."""
    from sog.games.rules.kuhn import Kuhn
    from sog.play.openspiel_states import openspiel_game
    from sog.searches.cfr import exact
    from sog.searches.tree.whole import whole_tree

    if out is not None:
        check_new(out)
    if check_openspiel:
        openspiel_game(rules)  # a game that OpenSpiel lacks is refused before the work
    with progress_bar("listing public states", None, "states") as report:
        public = whole_tree(rules, limit_gb=limit_gb, report=lambda listed: report(listed, ""))
        tree = exact.full_tree(public)
    compile_solver(solver, Kuhn())  # before anything is timed
    with progress_bar("solve", iterations, "iterations") as report:
        measure, seconds = _run(tree, solver, iterations, target, rules.unit, report)
    answer: dict[str, Any] = {
        "game": rules.name,
        "algorithm": solver.name,
        "iterations": tree.iterations,
        "seconds": seconds,
        "value": measure.value,
        "exploitability": measure.exploitability,
    }
    if check_openspiel:
        from sog.measure.openspiel_export import check_against_openspiel

        check = check_against_openspiel(public, exact.policy_of(tree))
        answer |= {"nash_conv": check.ours, "openspiel_nash_conv": check.openspiel}
    if out is not None:
        write_unless_there(out, json.dumps({**answer, "policy": _written_policy(public, tree)}, indent=1) + "\n")
    return answer


def _list_algorithms(as_json: bool) -> None:
    """Name every algorithm there is."""
    from sog.searches.cfr.algorithms import ABOUT, NAMES

    if as_json:
        print_json({"algorithms": list(NAMES)})
    else:
        width = max(map(len, NAMES))
        stdout().print("\n".join(f"{name:{width}}  {ABOUT.get(name, '')}".rstrip() for name in NAMES))


def _game(name: str) -> Game:
    from sog.games.catalog import make_game
    from sog.games.checks.own import check_own

    game = make_game(name)
    check_own(game)
    return game


def _run(
    tree: Lookahead, solver: IterativeSolver, iterations: int, target: float | None, unit: Unit, report: Report
) -> tuple[Measure, float]:
    """Iterate until enough; the last measure and the seconds that the iterations took.

    Exploitability is measured every iteration at first, then whenever there are a tenth more.
    """
    from sog.searches.cfr import exact

    seconds, batch, note = 0.0, 1, ""
    while True:
        until = min(iterations, tree.iterations + max(1, tree.iterations // 10))
        while tree.iterations < until:
            start = perf_counter()
            solver.iterate(tree, min(batch, until - tree.iterations))
            took = perf_counter() - start
            seconds += took
            batch = batch * 2 if took < _BATCH_SECONDS else max(1, batch // 2)
            report(tree.iterations, note)
        tree.update_average_policy()
        measure = exact.measure(tree)
        note = f"exploitability {measure.exploitability * unit.per_utility:.3g} {unit.name}"
        report(tree.iterations, note)
        if tree.iterations >= iterations or (target is not None and measure.exploitability <= target):
            return measure, seconds


def _written_policy(public: PublicTree, tree: Lookahead) -> list[dict[str, Any]]:
    """The average policy, one entry per public state and infostate of its actor, in the game's words."""
    from sog.searches.cfr import exact

    rules, out = public.game, []
    for node, policy in exact.policy_of(tree).items():
        s = public.states[node]
        actor = rules.actor(s)
        fan = rules.fan(s)
        assert fan.moves is not None
        names = [rules.action_name(s, int(a)) for a in rules.actions(s)]
        for i in range(policy.shape[1]):
            legal = fan.moves.edge[i] >= 0
            out.append(
                {
                    "state": rules.state_name(s),
                    "player": actor,
                    "infostate": rules.infostate_name(s, actor, i),
                    "policy": {names[a]: float(policy[a, i]) for a in range(len(names)) if legal[a]},
                }
            )
    return out


def _utility_text(utility: float, unit: Unit) -> str:
    """A utility, and the same in the game's own unit where it has one."""
    own = "" if unit.per_utility == 1.0 else f" ({utility * unit.per_utility:.4g} {unit.name})"
    return f"{utility:.4g}{own}"


def _print_answer(answer: dict[str, Any], unit: Unit, target: float | None) -> None:
    per_iteration = answer["seconds"] / answer["iterations"] * 1e6
    facts = {
        "game": answer["game"],
        "algorithm": answer["algorithm"],
        "iterations": f"{answer['iterations']:,}",
        "seconds": f"{answer['seconds']:.3g} ({per_iteration:.3g} microseconds an iteration)",
        "value of player 0": _utility_text(answer["value"], unit),
        "exploitability": _utility_text(answer["exploitability"], unit),
    }
    if "nash_conv" in answer:
        facts["nash_conv, ours"] = f"{answer['nash_conv']:.12g}"
        facts["nash_conv, OpenSpiel's"] = f"{answer['openspiel_nash_conv']:.12g}"
    stdout().print(facts_table(facts))
    if target is not None and not answer["exploitability"] <= target:
        stdout().print(f"The target {target:.4g} was not reached.")
    assert math.isfinite(answer["exploitability"])
