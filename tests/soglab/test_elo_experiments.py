"""Elo over simulations and over training: who meets whom, counted points, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.algorithms.base import SOG
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.training import checkpoint
from sog.training.shipped import find_checkpoint
from soglab.papers import sog_fig4, sog_table1, training_elo
from soglab.papers.elo_matches import (
    RatedAgent,
    Reference,
    agent_of,
    describe,
    match_keys,
    play_match,
    rated,
)
from soglab.runs import training_minutes
from soglab.study import Options, StudyPoint


def network(game: str, seed: int) -> CVPN:
    """A network that answers something."""
    made = CVPN(shape_for(make_game(game), 8, 1), seed)
    with torch.no_grad():
        for weight in made.head.parameters():
            weight.normal_(0.0, 0.5, generator=torch.Generator().manual_seed(seed))
    return made


def save_run(
    folder: Path, algorithm: str, minutes: tuple[float, ...], game: str = "tic_tac_toe", later: float = 0.0
) -> Path:
    """A run with so many different snapshots and a checkpoint: the last of them, or of `later`."""
    for k, when in enumerate(minutes):
        said = {"algorithm": algorithm, "minutes": when}
        seed = k + (100 if algorithm == ALPHAZERO else 0)
        checkpoint.save(folder / "snapshots" / f"{k:06d}", network(game, seed), game, "run", 10 * k, said)
    if later:
        k, seed, said = k + 1, seed + 1, {**said, "minutes": later}
    checkpoint.save(folder / "checkpoint", network(game, seed), game, "run", 10 * k, said)
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    return (
        save_run(tmp_path / "sog", SOG, (0.0, 2.0, 4.0, 9.0)),
        save_run(tmp_path / "alphazero", ALPHAZERO, (0.0, 5.0, 10.0)),
    )


def silent(line: str) -> None:
    pass


def played(keys: list[dict[str, object]]) -> list[StudyPoint]:
    return [StudyPoint(key, play_match(key)) for key in keys]


# --- one point ---


def test_a_points_games_are_counted_from_the_first_agents_side(runs: tuple[Path, Path]) -> None:
    folder = str(runs[0] / "checkpoint")
    network_id = checkpoint.load_meta(Path(folder)).network_id
    strong, weak = (RatedAgent(ALPHAZERO, folder, network_id, s) for s in (300, 1))
    (key,) = match_keys("tic_tac_toe", [(strong, weak)], 1, 6)
    assert describe(key) == "AlphaZero(300) of checkpoint - AlphaZero(1) of checkpoint"
    (other,) = match_keys("tic_tac_toe", [(weak, strong)], 1, 6)
    result = play_match(key)
    assert sum(result.values()) == 12 and result["wins"] > result["losses"]
    assert play_match(other) == {"wins": result["losses"], "draws": result["draws"], "losses": result["wins"]}
    agents, ratings = rated([StudyPoint(key, result)])
    assert agents == [strong, weak] and ratings.difference(0, 1)[0] > 0


def test_points_are_the_same_again_and_batches_differ(runs: tuple[Path, Path]) -> None:
    folder = str(runs[0] / "checkpoint")
    network_id = checkpoint.load_meta(Path(folder)).network_id
    pair = RatedAgent(SOG, folder, network_id, 5), RatedAgent(ALPHAZERO, folder, network_id, 5)
    first, second = match_keys("tic_tac_toe", [pair], 2, 5)
    assert play_match(first) == play_match(first)
    assert (first["batch"], second["batch"]) == (0, 1)
    assert agent_of(first, "first") == pair[0] and agent_of(first, "second") == pair[1]


def test_a_network_that_changed_is_refused(runs: tuple[Path, Path]) -> None:
    folder = str(runs[0] / "checkpoint")
    stale = RatedAgent(SOG, folder, "0" * 16, 5)
    (key,) = match_keys("tic_tac_toe", [(stale, stale)], 1, 1)
    with pytest.raises(CheckpointError, match="learned on"):
        play_match(key)


# --- sog-fig4 ---


def test_fig4_lets_neighbours_meet_with_one_network(runs: tuple[Path, Path]) -> None:
    keys = sog_fig4.plan(Options(runs=runs[:1], seeds=2), silent)
    pairs = {(str(agent_of(key, "first")), str(agent_of(key, "second"))) for key in keys}
    assert len(pairs) == 5 + 4 * 4 and len(keys) == 2 * len(pairs)
    assert ("SoG(25,1)", "AlphaZero(25)") in pairs and ("SoG(25,1)", "SoG(50,1)") in pairs
    assert ("SoG(200,1)", "AlphaZero(400)") in pairs and ("AlphaZero(200)", "SoG(400,1)") in pairs
    assert len({key["first_network"] for key in keys} | {key["second_network"] for key in keys}) == 1


def test_fig4_quick(runs: tuple[Path, Path]) -> None:
    points = played(sog_fig4.plan(Options(quick=True, runs=runs[:1]), silent))
    outcome = sog_fig4.present(points)
    assert [row["agent"] for row in outcome.rows] == [
        *(f"AlphaZero({s})" for s in sog_fig4.QUICK),
        *(f"SoG({s},1)" for s in sog_fig4.QUICK),
    ]
    anchor = next(row for row in outcome.rows if row["agent"] == "SoG(4,1)")
    assert anchor["elo"] == 0.0 and anchor["interval"] == 0.0
    assert all(row["interval"] > 0 for row in outcome.rows if row is not anchor)
    for before, row in zip([None, *outcome.rows], outcome.rows, strict=False):
        if before is None or before["algorithm"] != row["algorithm"]:
            assert row["gain"] is None
        else:
            assert row["gain"] == pytest.approx(row["elo"] - before["elo"]) and row["gain_interval"] > 0
    assert list(outcome.pictures) == ["sog-fig4"]


def test_fig4_refuses(runs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match="no training run"):
        sog_fig4.plan(Options(), silent)
    with pytest.raises(SettingError, match="one --run"):
        sog_fig4.plan(Options(runs=runs), silent)
    kuhn = save_run(tmp_path / "kuhn", SOG, (0.0,), "kuhn_poker")
    with pytest.raises(SettingError, match="perfect information"):
        sog_fig4.plan(Options(runs=(kuhn,)), silent)


# --- training-elo ---


def test_training_elo_lets_snapshots_meet_those_of_their_time(runs: tuple[Path, Path]) -> None:
    keys = training_elo.plan(Options(runs=runs, seeds=1), silent)

    def named(agent: RatedAgent | Reference) -> str:
        assert isinstance(agent, RatedAgent)
        return agent.algorithm[0] + str(int(Path(agent.checkpoint).name))

    pairs = {named(agent_of(key, "first")) + named(agent_of(key, "second")) for key in keys}
    within = {"s0s1", "s1s2", "s2s3", "s0s2", "s1s3", "a0a1", "a1a2", "a0a2"}
    between = {"s0a0", "s1a0", "s2a1", "s3a2"}  # minutes 0, 2, 4, 9 and 0, 5, 10
    assert pairs == within | between
    assert {key["first_simulations"] for key in keys} == {training_elo.SIMULATIONS}


def test_training_elo_quick(runs: tuple[Path, Path]) -> None:
    outcome = training_elo.present(played(training_elo.plan(Options(quick=True, runs=runs), silent)))
    assert [(Path(row["run"]).name, row["minutes"]) for row in outcome.rows] == [
        ("alphazero", 0.0),
        ("alphazero", 5.0),
        ("alphazero", 10.0),
        ("sog", 0.0),
        ("sog", 4.0),
        ("sog", 9.0),
    ]
    assert outcome.rows[3]["elo"] == 0.0


def test_training_elo_keeps_the_first_and_the_last_snapshot(tmp_path: Path) -> None:
    run = save_run(tmp_path / "long", SOG, tuple(float(k) for k in range(13)))
    kept = training_elo.snapshots(run, 10, 4)
    assert [snapshot.minutes for snapshot in kept] == [0.0, 4.0, 8.0, 12.0]


def test_training_elo_ends_with_the_checkpoint(tmp_path: Path) -> None:
    run = save_run(tmp_path / "on", SOG, (0.0, 1.0, 2.0), later=3.0)
    outcome = training_elo.present(played(training_elo.plan(Options(quick=True, runs=(run,)), silent)))
    assert [(Path(row["run"]).name, row["minutes"]) for row in outcome.rows] == [("on", 0.0), ("on", 2.0), ("on", 3.0)]


def test_training_elo_refuses(runs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match="no training run"):
        training_elo.plan(Options(), silent)
    other = save_run(tmp_path / "connect_four", SOG, (0.0, 1.0), "connect_four")
    with pytest.raises(SettingError, match="different games"):
        training_elo.plan(Options(runs=(runs[0], other)), silent)
    short = save_run(tmp_path / "short", SOG, (0.0,))
    with pytest.raises(CheckpointError, match="fewer than two"):
        training_elo.plan(Options(runs=(short,)), silent)


# --- sog-table1 ---


@pytest.fixture
def connect_four_runs(tmp_path: Path) -> tuple[Path, Path]:
    return (
        save_run(tmp_path / "four" / "sog", SOG, (0.0, 0.1, 2.0, 4.0, 6.0), "connect_four"),
        save_run(tmp_path / "four" / "alphazero", ALPHAZERO, (0.0, 3.0, 5.0, 7.0), "connect_four"),
    )


def test_table1_is_a_grid_whose_neighbours_meet(connect_four_runs: tuple[Path, Path]) -> None:
    keys = sog_table1.plan(Options(runs=connect_four_runs, seeds=1), silent)
    pairs = [(agent_of(key, "first"), agent_of(key, "second")) for key in keys]
    assert len(set(pairs)) == len(pairs)
    agents = {agent for pair in pairs for agent in pair}
    own = [agent for agent in agents if isinstance(agent, RatedAgent)]
    assert len([agent for agent in own if agent.algorithm == SOG]) == 3 * 2 * 3  # s, c, networks
    assert len([agent for agent in own if agent.algorithm == ALPHAZERO]) == 3 * 3
    kept = {(agent.algorithm, Path(agent.checkpoint).name) for agent in own}  # after thirds of the minutes
    numbers = {SOG: "234", ALPHAZERO: "123"}
    assert kept == {(name, f"00000{number}") for name in numbers for number in numbers[name]}
    names = {(str(one), str(other)) for one, other in pairs}
    assert {("SoG(25,1)", "SoG(100,1)"), ("SoG(25,1)", "SoG(25,10)"), ("SoG(400,1)", "AlphaZero(400)")} <= names
    assert ("SoG(25,1)", "SoG(25,1)") in names  # the same search, another network
    assert ("alpha-beta(1)", "alpha-beta(3)") in names and ("alpha-beta(5)", "SoG(100,1)") in names
    met = [str(other) for one, other in pairs if one == Reference("alpha-beta", 5)]
    assert sorted(met) == ["AlphaZero(100)"] * 3 + ["SoG(100,1)"] * 3
    within = (2 * 2 + 3) * 3 + 6 * 2 + 2 * 3 + 3 * 2  # in s and c, in time, and AlphaZero's
    assert len(pairs) == within + 3 * 3 + 2 + 3 * 6


def test_table1_quick(connect_four_runs: tuple[Path, Path]) -> None:
    points = played(sog_table1.plan(Options(quick=True, runs=connect_four_runs[:1]), silent))
    outcome = sog_table1.present(points)
    (reference,) = (row for row in outcome.rows if not row["checkpoint"])
    assert (reference["agent"], reference["elo"], reference["minutes"]) == ("alpha-beta(1)", 0.0, None)
    assert [row["elo"] for row in outcome.rows] == sorted((row["elo"] for row in outcome.rows), reverse=True)
    grid = {(row["simulations"], row["per_update"], row["minutes"]) for row in outcome.rows if row["checkpoint"]}
    assert grid == {(s, c, minutes) for s in (2, 4) for c in (1.0, 10.0) for minutes in (4.0, 6.0)}
    assert list(outcome.pictures) == ["sog-table1"]


def test_references_win_by_their_strength() -> None:
    """Deep alpha-beta beats shallow in most games, and the same point is the same again."""
    (key,) = match_keys("connect_four", [(Reference("alpha-beta", 4), Reference("alpha-beta", 1))], 1, 8)
    assert describe(key) == "alpha-beta(4) - alpha-beta(1)"
    result = play_match(key)
    assert result["wins"] >= 12 and result == play_match(key)


def test_batches_that_differ_widen_the_intervals() -> None:
    """Four batches of 16 games, each won or lost whole: 16 / 3 * 4 times the variance of 64 games by themselves."""
    keys = match_keys("connect_four", [(Reference("alpha-beta", 4), Reference("alpha-beta", 1))], 4, 8)
    wins, even = [16, 16, 0, 0], {"wins": 8, "draws": 0, "losses": 8}
    _, wide = rated([StudyPoint(k, {"wins": w, "draws": 0, "losses": 16 - w}) for k, w in zip(keys, wins, strict=True)])
    _, plain = rated([StudyPoint(key, even) for key in keys])
    assert wide.difference(0, 1)[1] == pytest.approx(plain.difference(0, 1)[1] * (16 * 4 / 3) ** 0.5)


def test_table1_refuses(runs: tuple[Path, Path], connect_four_runs: tuple[Path, Path]) -> None:
    with pytest.raises(SettingError, match="--run"):
        sog_table1.plan(Options(), silent)
    with pytest.raises(SettingError, match="references for connect four and Go"):
        sog_table1.plan(Options(runs=runs[:1]), silent)


def test_a_run_of_one_process_is_timed_by_its_processor() -> None:
    """Two processes share their work, so that the clock is the fairer there; checkpoints of old may say neither."""
    meta = checkpoint.load_meta(find_checkpoint("tic_tac_toe"))
    said = {"minutes": 5.0, "processor_minutes": 4.0}
    for workers, minutes in ((1, 4.0), (2, 5.0)):
        assert training_minutes(replace(meta, settings={**said, "workers": workers})) == minutes
    assert training_minutes(replace(meta, settings={"minutes": 5.0, "workers": 1})) == 5.0
    assert math.isnan(training_minutes(replace(meta, settings={})))
