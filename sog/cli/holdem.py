"""Hold'em's spots at the command line: `sog solve 'holdem(...)'`, and `sog show` of what it wrote."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rich.text import Text

from sog.cli.frame import (
    Report,
    check_new,
    facts_table,
    figures_table,
    print_json,
    print_table,
    progress_bar,
    say,
    stdout,
    write_unless_there,
)
from sog.cli.options import check_apart
from sog.cli.stopping import stop_notice
from sog.errors import CheckpointError, SettingError
from sog.files import shown
from sog.pictures.svg import ON_COLOUR, action_colours

if TYPE_CHECKING:
    from sog.arrays import Bool
    from sog.games.base import Game
    from sog.games.holdem.game import Holdem
    from sog.searches.holdem.hand_values import HandValues
    from sog.searches.holdem.locks import SpotLock
    from sog.searches.holdem.solver import HoldemSolver, Progress
    from sog.searches.holdem.view import View

__all__ = ["print_grid", "show_spot", "solve_spot"]

_TARGET = 0.5  # percent of the pot
_ITERATIONS = 10_000
_BEGINS = 200  # bytes of a file, by which JSON differs from a spot
_LARGEST_LOCK = 10**8  # bytes of a file of locked decisions
_SAVE_SECONDS = 60.0  # between two saves of a long solve
_EMPTY = "#303030"  # classes without a hand here
# In a terminal of 16 colours, which has no mixtures: words on an action's colour; bets take theirs in turn.
_FEW = {"fold": "bright_white on blue", "check": "black on green", "call": "black on green"}
_FEW_BETS = ("bright_white on red", "bright_white on magenta", "black on cyan")
_WIDE, _NARROW = "  {:<4}{:>3}", "{:<3}{:>3}"  # cells of the grid; where it would be wider than the terminal


def solve_spot(
    game: Game,
    target: float | None,
    iterations: int | None,
    out: Path | None,
    threads: int,
    bits: int | None,
    lock: Path | None,
    as_json: bool,
) -> None:
    """Solve a river or turn spot until exploitability is `target` percent of the pot or `iterations` are done.

    out: a file for `sog show`, written every minute and at the end; where it holds a result of the same game already,
    solving continues from there.  bits: of regrets and averages; None: those of the file, of a new solve 32.
    lock: a file of decisions whose policy is fixed (`sog.searches.holdem.locks`).
    """
    from sog.games.holdem.game import Holdem
    from sog.searches.holdem.entries import BITS
    from sog.searches.holdem.locks import same_locks
    from sog.searches.holdem.saved import load, save
    from sog.searches.holdem.solver import HoldemSolver

    assert isinstance(game, Holdem)
    locks = () if lock is None else _locks(game, lock)
    goal = target or (_TARGET if iterations is None else 0.0)  # 0: the iterations alone end it
    if out is not None and out.exists():
        solver, _ = load(out, threads)
        if solver.game.name != game.name:
            raise SettingError(f"{out} holds {solver.game.name}; choose another name")
        if bits not in (None, solver.bits):
            raise SettingError(f"{out} was solved in {solver.bits} bits; choose another name or --bits {solver.bits}")
        if not same_locks(solver.program.locks, locks):
            raise SettingError(f"{out} was solved with other locked decisions; choose another name")
        say(f"{out} holds {solver.iterations:,} iterations: continuing from there")
        notice = [_stop_notice(out, solver.iterations)]
    else:
        notice = [""]
        if out is not None:
            check_new(out)
        solver = HoldemSolver(game, threads, bits=bits or BITS[0], locks=locks)
    if not as_json:
        need = solver.program.memory(threads, solver.bits) / 1e6
        boards = len(solver.program.boards.cards)
        stdout().print(f"memory {need:,.0f} MB, {boards} river card{'s' * (boards > 1)} solved")
    solver.iterate(0)  # compiles before the timing starts
    with stop_notice(lambda: notice[0]):
        progress, seconds = _run(solver, goal, _ITERATIONS if iterations is None else iterations, out, notice)
    if out is not None:
        save(solver, progress, out)
    _print_answer(solver, progress, seconds, as_json)
    if goal and not as_json and 100 * progress.of_pot > goal:
        stdout().print(f"The target {goal:.4g}% of the pot was not reached.")
    if out is not None and not as_json:
        stdout().print(f"written to {out}; its hands: sog show {quote(str(out))}", soft_wrap=True)


def _locks(game: Holdem, path: Path) -> tuple[SpotLock, ...]:
    from sog.files import open_regular, read_bounded
    from sog.searches.holdem.locks import read_locks

    try:
        with open_regular(path, _LARGEST_LOCK) as (file, size):
            return read_locks(game, read_bounded(file, size))
    except OSError as error:
        raise SettingError(f"cannot read {path}: {error.strerror}") from error
    except SettingError as error:
        raise SettingError(f"{path}: {error}") from error


def _stop_notice(out: Path, iterations: int) -> str:
    return f"{out} holds {iterations:,} iterations: the same command continues from there"


def _run(
    solver: HoldemSolver, goal: float, iterations: int, out: Path | None, notice: list[str]
) -> tuple[Progress, float]:
    """Solve with a progress bar; save to `out`, if given, about every minute, with what it then holds in `notice`."""
    from sog.searches.holdem.saved import save

    start = saved = perf_counter()
    with progress_bar("solve", iterations, "iterations", begun=solver.iterations) as report:

        def on_progress(now: Progress) -> None:
            nonlocal saved
            chips, percent = now.exploitability, 100 * now.of_pot
            report(now.iterations, f"exploitability {chips:.2f} chips, {percent:.3f}% of the pot")
            if out is not None and perf_counter() - saved > _SAVE_SECONDS:
                saved = perf_counter()
                try:
                    save(solver, now, out)
                    notice[0] = _stop_notice(out, now.iterations)
                except CheckpointError as error:  # the disk may have room again at the next save
                    say(f"sog: not saved, and solving continues: {error}")

        progress = solver.solve(goal / 100, iterations, report=on_progress)
    return progress, perf_counter() - start


def _print_answer(solver: HoldemSolver, progress: Progress, seconds: float, as_json: bool) -> None:
    game, locked = solver.game, len(solver.program.locks)
    solver.evaluate()
    pot = game.spot.pot
    evs = [pot / 2 + solver.chips(player) for player in (0, 1)]
    answer: dict[str, Any] = {
        "game": game.name,
        "algorithm": "dcfr",
        "iterations": progress.iterations,
        "seconds": seconds,
        "locked_decisions": locked,
        "ev_chips": evs,
        "exploitability_chips": progress.exploitability,
        "exploitability_percent_of_pot": 100 * progress.of_pot,
    }
    if as_json:
        print_json(answer)
        return
    exploitability = f"{progress.exploitability:.4g} chips, {100 * progress.of_pot:.3g}% of the pot"
    facts = {"game": game.name, "iterations": f"{progress.iterations:,}", "seconds": f"{seconds:.3g}"}
    if locked:
        facts["locked decisions"] = f"{locked:,}"
        exploitability += ", by best responses that keep to the locked decisions"
    shares = ", ".join(f"player {player} {ev:,.4g}" for player, ev in enumerate(evs))
    facts["EV"] = f"{shares} of the {pot:,} chips in the pot"
    stdout().print(facts_table({**facts, "exploitability": exploitability}))


def _refuse_text(result: Path) -> None:
    """SettingError that says what to do with a policy of `sog solve` or the records of a match, which are JSON."""
    begins = b""
    with suppress(OSError), result.open("rb") as file:  # one that cannot be read is refused as a spot
        begins = file.read(_BEGINS).lstrip()
    if begins.startswith(b'{"match"'):
        raise SettingError(f"{shown(result)} has the hands of a match; --hand N shows one of Scotland Yard")
    if begins.startswith(b"{"):
        remedy = "give a policy of `sog solve` a name that ends in .json"
        raise SettingError(f"{shown(result)} is no solved hold'em spot; {remedy}")


def show_spot(
    result: Path,
    line: str,
    hands: str | None,
    svg: Path | None,
    csv_file: Path | None,
    whole: Path | None,
    as_json: bool,
) -> None:
    """A decision of a solved spot; its grid is printed last, so that it is what a terminal shows."""
    from sog.games.holdem.lines import follow
    from sog.games.holdem.ranges import FULL, parse_range
    from sog.games.policy_picture import policy_drawn
    from sog.searches.holdem.hand_values import hand_values
    from sog.searches.holdem.locks import locked_at
    from sog.searches.holdem.saved import load
    from sog.searches.holdem.view import view, views
    from sog.searches.holdem.written import decision, hands_table, json_file, table_file

    _refuse_text(result)
    listed = parse_range(hands or FULL) > 0
    for first, second in combinations((svg, csv_file, whole), 2):
        check_apart(first, second)
    for path in (svg, csv_file, whole):
        if path is not None:
            check_new(path)
    solver, progress = load(result)
    seen = view(solver, follow(solver.game, line))
    values, name = hand_values(solver, seen), solver.game.state_name(seen.state)
    if csv_file is not None:
        write_unless_there(csv_file, hands_table(seen, values))
    if svg is not None:
        write_unless_there(svg, policy_drawn("Policy", solver.game, seen.state, seen.policy, seen.reach).svg)
    if whole is not None:
        with progress_bar(f"write {whole}", None, "decisions") as report:
            every = _counted(views(solver, seen.state), report)
            write_unless_there(whole, (table_file if whole.suffix == ".csv" else json_file)(solver.game, every))
    if as_json:
        print_json(decision(solver.game, seen, listed, values))
        return
    if hands is None:
        stdout().print(f"--hands {FULL} lists the {len(seen.hands(listed)):,} hands one by one, --hands AKs,QQ some")
    else:
        _print_hands(seen, values, listed)
    exploitable = f"{100 * progress.of_pot:.3g}% of the pot exploitable"
    lock = locked_at(solver.program.locks, seen.state)
    fixed = "" if lock is None else f", {int(lock.hands.sum()):,} hands locked"
    stdout().print(f"{name}: player {seen.actor} to act ({exploitable}{fixed})", soft_wrap=True)
    ev, equity = values.means(seen)
    if values.comes(seen):
        stdout().print(f"EV {ev:,.4g} of the {values.pot:,.4g} chips in the pot, equity {100 * equity:.1f}%")
    else:
        stdout().print(f"no hands of both players come here, with {values.pot:,.4g} chips in the pot")
    print_grid(seen)


def print_grid(seen: View) -> None:
    """A decision's hands by class, after how often the whole range takes each action."""
    from sog.pictures.grids import cell_name

    weight, taken = seen.grid()
    console = stdout()
    styles = _Styles(seen.actions, console.color_system == "standard")
    for k, (action, often) in enumerate(zip(seen.actions, seen.frequencies, strict=True)):
        alone = [float(a == k) for a in range(len(seen.actions))]
        console.print(Text("  ", style=styles.of(alone)) + Text(f" {action} {100 * often:.1f}%"))
    cell = _WIDE if console.width >= len(weight) * len(_WIDE.format("", "")) else _NARROW
    for r in range(len(weight)):
        row = Text()
        for c in range(len(weight)):
            name, shares = cell_name(r, c), taken[:, r, c]
            if weight[r, c] == 0:
                row.append(cell.format(name, ""), style=styles.empty)
            else:
                row.append(cell.format(name, f"{100 * shares.max():.0f}"), style=styles.of(shares.tolist()))
        console.print(row, no_wrap=True, overflow="ignore", crop=False)


class _Styles:
    """How a class of hands is printed, by how often it takes each action: words on the mixture of their colours.

    few: on the most frequent action's colour, in a terminal that cannot mix.
    """

    def __init__(self, actions: Sequence[str], few: bool) -> None:
        bets = [action for action in actions if action not in _FEW]
        turns = {action: _FEW_BETS[k % len(_FEW_BETS)] for k, action in enumerate(bets)}
        self.empty = "white on black" if few else f"#a0a0a0 on {_EMPTY}"
        self.few = [_FEW.get(action) or turns[action] for action in actions] if few else None
        self.parts = [[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in action_colours(list(actions))]

    def of(self, shares: Sequence[float]) -> str:
        if self.few:
            return self.few[shares.index(max(shares))]
        mixed = [round(sum(map(operator.mul, shares, part))) for part in zip(*self.parts, strict=True)]
        return f"{ON_COLOUR} on #{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}"


def _print_hands(seen: View, values: HandValues, listed: Bool) -> None:
    table = figures_table("hand", figures=("weight", "EV", "equity", *seen.actions))
    for h, (hand, weight, policy) in zip(seen.numbers(listed), seen.hands(listed), strict=True):
        worth = (f"{values.ev[h]:,.1f}", f"{100 * values.equity[h]:.1f}%") if values.met[h] > 0 else ("", "")
        table.add_row(hand, f"{weight:.3g}", *worth, *(f"{100 * x:.1f}%" for x in policy))
    print_table(table)


def _counted(every: Iterator[View], report: Report) -> Iterator[View]:
    for number, seen in enumerate(every):
        report(number, "")
        yield seen
