"""Hold'em as in SoG's Table 2: what the network wins of simple opponents, and what local best response wins of it.

Slumbot, the paper's opponent, is no program that can be had here: the opponents are simple ones, and the figures say
what was searched, with which network, and how many hands. Matches are corrected by AIVAT with equity as its values,
which was chosen before any was played.
"""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from sog.agents.entrants import open_entrant
from sog.agents.poker import open_agent
from sog.algorithms.student.algorithm import Student
from sog.games.catalog import make_game
from sog.measure.aivat import AivatSettings, aivat
from sog.measure.aivat_values import HoldemEquity
from sog.measure.intervals import mean_interval, mean_of_pairs, plus_minus
from sog.measure.lbr import LbrSettings, local_best_response
from sog.play.hand import HandMatch
from sog.play.hand_match import play_match, read_records
from sog.training.checkpoint import load_meta
from sog.training.shipped import find_checkpoint
from soglab.runs import check_unchanged
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key, one_run

__all__ = ["EXPERIMENT", "LBR", "compute", "plan", "present"]

GAME: Final = "holdem(bets=random)"
_OPPONENTS: Final = ("always-call", "always-fold", "random", "equity")
LBR: Final = "local best response, fold or call"
_BATCH: Final = 20  # hands a point
_HANDS: Final = 200
_PER_UPDATE: Final = {1.0: _HANDS, 0.1: 20}  # c, and hands against each
_SIMULATIONS: Final = 10
_PAPER: Final = "LBR loses 434 ± 9; Slumbot2019 loses 7 ± 3"


def plan(options: Options, note: Note) -> list[Key]:
    """Batches of hands against each opponent by budget; --seeds how many batches."""
    folder = find_checkpoint(one_run(options) or GAME)
    meta = load_meta(folder)
    budgets = {1.0: _HANDS} if options.quick else _PER_UPDATE
    keys = []
    for per_update, hands in budgets.items():
        batches = 1 if options.quick else options.seeds or hands // _BATCH
        keys += [
            {
                "game": meta.game,
                "folder": str(folder),
                "network": meta.network_id,
                "simulations": _SIMULATIONS,
                "per_update": per_update,
                "against": against,
                "hands": 2 if options.quick else _BATCH,
                "seed": seed,
            }
            for against in (*_OPPONENTS, LBR)
            for seed in range(batches)
        ]
    return keys


def compute(key: Key) -> Result:
    """Chips: the mean of each pair of hands, as played and corrected; of LBR what it wins, as it is scored."""
    check_unchanged(Path(key["folder"]), key["network"])
    if key["against"] == LBR:
        player = Student(simulations=key["simulations"], per_update=key["per_update"])
        opened = open_agent(key["folder"], key["game"], lambda: player, key["seed"])
        figure = local_best_response(
            opened.game, opened.seats, key["hands"], LbrSettings("fold-call", 0, False, key["seed"])
        )
        return {"corrected": figure.pairs.tolist(), "raw": None}
    game = make_game(key["game"])
    budget = {"simulations": key["simulations"], "per_update": key["per_update"]}
    first = open_entrant("A", key["folder"], game, None, budget)
    second = open_entrant("B", key["against"], game, None, {})
    match = HandMatch(game, (first, second), key["seed"], None, policies=True)
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "hands.jsonl"
        play_match(match, key["hands"], records, lambda done: nullcontext(lambda done, words: None))
        values = HoldemEquity()
        estimate = aivat(game, None, lambda: read_records(records), AivatSettings((values, values), key["seed"]))
    return {"corrected": estimate.corrected, "raw": estimate.raw}


def present(points: list[StudyPoint]) -> Outcome:
    """Thousandths of a big blind a hand against each opponent, by budget, with 95% intervals."""
    rows: list[dict[str, Any]] = []
    beside = []
    for (per_update, against), own in by_key(points, "per_update", "against").items():
        per_chip = make_game(own[0].key["game"]).unit.per_utility
        corrected = [per_chip * one for point in own for one in point.result["corrected"]]
        hands = sum(point.key["hands"] for point in own)
        budget = f"({own[0].key['simulations']}, {float(per_update):g})"
        if against == LBR:
            mean, half = mean_interval(corrected)
            words, paper = f"LBR wins {plus_minus(mean, half)} mbb/h, {hands} hands", _PAPER
            raw: tuple[float, float | None] = (mean, half)
        else:
            mean, half = mean_of_pairs(corrected)
            raw = mean_of_pairs([per_chip * one for point in own for one in point.result["raw"]])
            words = f"wins {plus_minus(mean, half)} mbb/h (as played {plus_minus(*raw)}), {hands} hands"
            paper = ""
        rows.append(
            {
                "search": budget,
                "against": against,
                "hands": hands,
                "mean": mean,
                "half": half,
                "raw_mean": raw[0],
                "raw_half": raw[1],
            }
        )
        beside.append(Beside(f"{budget}, {against}", paper, words))
    return Outcome(rows, {}, beside)


EXPERIMENT: Final = Experiment(
    id="sog-table2",
    paper="SoG",
    figure="Table 2 (PoG Table 1)",
    minutes=90,
    what="Hold'em by the shipped network (or --run) against simple opponents and local best response, with AIVAT",
    study=Study(plan, compute, present, takes=("runs", "seeds")),
)
