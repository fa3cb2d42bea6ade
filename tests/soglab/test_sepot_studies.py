"""SePoT's experiments: their quick versions, the position of Fig. 1, and matches with seats swapped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sog
from sog.algorithms.policy.matches import UniformPolicy, play_pairs
from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.policy.settings import RnadSettings
from sog.algorithms.sepot.learner import train_sepot
from sog.algorithms.sepot.presets import SepotSettings
from sog.algorithms.table import settings_of
from sog.cli.app import main
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_history_game
from sog.games.histories.listing import histories_of
from sog.nets.shape import policy_shape
from sog.training.run import Run, Until
from soglab.bench.histories import BATTLESHIPS
from soglab.checks import sepot_critic
from soglab.papers import policy_learners, sepot_distilled, sepot_fig1, sepot_figures, sepot_table1
from soglab.papers.sepot_runs import UNTRAINED, opened, own_measure
from soglab.study import Key, Options, Study, StudyPoint
from tests.policies import RandomPolicy, value_of


def quiet(line: str) -> None:
    """Nobody reads the notes."""


def carried_out(study: Study, options: Options) -> list[StudyPoint]:
    return [StudyPoint(key, study.compute(key)) for key in study.plan(options, quiet)]


@pytest.mark.parametrize(
    "study",
    [
        sepot_fig1.EXPERIMENT.study,
        sepot_figures.FIG3.study,
        sepot_figures.FIG4.study,
        sepot_figures.FIG5.study,
        policy_learners.EXPERIMENT.study,
        sepot_table1.EXPERIMENT.study,
        sepot_distilled.EXPERIMENT.study,
        sepot_critic.EXPERIMENT.study,
    ],
)
def test_quick_versions_need_no_run(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = study.present(carried_out(study, Options(quick=True)))
    assert outcome.rows and outcome.beside
    if study is not policy_learners.EXPERIMENT.study:  # which trains its own
        with pytest.raises(SettingError, match="no training run in runs/"):
            study.plan(Options(), quiet)


def test_figures_take_a_runs_snapshots(tmp_path: Path) -> None:
    game = make_history_game("kuhn_poker")
    settings = PolicySettings(SepotSettings("kuhn_poker", count=3), policy_shape(game, 8, 1), games=8, steps=2)
    train_sepot(Run("kuhn_poker", algorithm="sepot"), settings, tmp_path, Until(rounds=2))
    keys = sepot_figures.FIG4.study.plan(Options(runs=(tmp_path,), quick=True), quiet)
    assert [key["step"] for key in keys] == [0] * 3 + [4] * 3
    points = [StudyPoint(key, sepot_figures.FIG4.study.compute(key)) for key in keys]
    assert len(sepot_figures.FIG4.study.present(points).rows) == 6
    with pytest.raises(CheckpointError):
        sepot_figures.FIG4.study.plan(Options(runs=(tmp_path / "no",)), quiet)


def test_a_runs_critic_stands_beside_exact_values(tmp_path: Path) -> None:
    game = make_history_game("kuhn_poker")
    settings = settings_of(game, "demo", "sepot")
    assert isinstance(settings, PolicySettings)
    train_sepot(Run("kuhn_poker", "demo", algorithm="sepot"), settings, tmp_path, Until(rounds=1))
    errors, alone, *searches = sepot_critic.EXPERIMENT.study.plan(Options(runs=(tmp_path,), quick=True), quiet)
    turns = sepot_critic.EXPERIMENT.study.compute(errors)["turns"]
    assert [turn["turn"] for turn in turns] == [0, 1, 2, 3, 4]  # two cards and at most two actions before the last
    assert all(turn["error"] > 0 and turn["change"] > 0 for turn in turns[2:])
    found = {(key["leaves"], key.get("choosers", "")): sepot_critic.EXPERIMENT.study.compute(key) for key in searches}
    assert len(searches) == 8 and all(0 <= one["exploitability"] < 1 for one in found.values())
    assert sepot_critic.EXPERIMENT.study.compute(alone)["exploitability"] > 0


def test_what_the_choice_at_leaves_is_worth_is_a_difference_within_each_run() -> None:
    way = {"depth": 1, "gadget": "critic"}
    points = []
    for run, (alone, chosen, without) in {"a": (0.1, 0.2, 0.5), "b": (0.2, 0.4, 0.6)}.items():
        about: Key = {"game": "kuhn_poker", "run": run, "folder": run, "step": 4, "policy": "", "k": 0.0}
        about |= {"transformations": "learned"}
        for how, found in (
            ({"depth": sepot_figures.NETWORK, "gadget": ""}, alone),
            (way, chosen),
            ({**way, "choosers": sepot_figures.NOBODY}, without),
        ):
            points.append(StudyPoint({**about, **how}, {"exploitability": found, "searched": 1}))
    beside = {row.what: row.ours for row in sepot_figures.FIG5.study.present(points).beside}
    (worth,) = (ours for what, ours in beside.items() if "choice at leaves, less without, 2 runs" in what)
    assert worth.startswith("-0.25 ± 0.64 utility; 0.516 times [")  # the root of 0.4 times 0.667
    gains = {what: ours for what, ours in beside.items() if "less the network alone, 2 seeds" in what}
    assert [ours for what, ours in gains.items() if "without a choice" not in what] == ["+0.15 ± 0.64 utility"]
    assert any("leaves without a choice" in what for what in gains)


GOOF4 = "goofspiel(imp_info=True,num_cards=4,points_order=random)"


def shipped(name: str) -> Path:
    return Path(sog.__file__).parent / "checkpoints" / name


def test_figures_show_other_algorithms_runs_by_their_own_measure() -> None:
    """Student of Games' and ReBeL's networks as lines beside SePoT's, each by the play it is watched by."""
    runs = (shipped("liars_dice_1x4_sog"), shipped("liars_dice_1x4_rebel"))
    keys = sepot_figures.FIG3.study.plan(Options(runs=runs), quiet)
    assert [key["by"] for key in keys] == [
        "Student of Games: search at (100,1), one seed",
        "ReBeL: ReBeL's mean policy",
    ]
    (point,) = [StudyPoint(key, sepot_figures.FIG3.study.compute(key)) for key in keys[:1]]
    assert point.result["exploitability"] == pytest.approx(0.0029, abs=3e-4)  # as the pages have it
    assert point.result["exploitability"] == own_measure(runs[0])
    (row,) = sepot_figures.FIG3.study.present([point]).rows
    assert row["line"] == keys[0]["by"] and row["seeds"] == 1
    with pytest.raises(CheckpointError, match="trained by sog, so it has no critic"):
        sepot_table1.EXPERIMENT.study.plan(Options(runs=runs), quiet)


def test_policy_learners_are_compared_by_minutes_and_their_last_networks(tmp_path: Path) -> None:
    """Two seeds of one learner are one line, whose figure is the mean of their last networks."""
    small = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"
    for seed in (0, 1):
        run = Run(small, seed=seed, algorithm="sepot(network=1x8,policy=nashpg)")
        settings = settings_of(make_history_game(small), "demo", run.algorithm)
        assert isinstance(settings, PolicySettings)
        train_sepot(run, replace(settings, games=8, steps=2), tmp_path / str(seed), Until(rounds=2))
    runs = (tmp_path / "0", tmp_path / "1", shipped("liars_dice_1x4_sog"))
    points = carried_out(policy_learners.EXPERIMENT.study, Options(runs=runs, quick=True))
    outcome = policy_learners.EXPERIMENT.study.present(points)
    assert len(outcome.rows) == 2 * 2 * 3 + 1
    assert [line.what.rpartition(", ")[0] for line in outcome.beside] == [
        "goofspiel: NashPG: network",
        "goofspiel: NashPG: search to depth 1, gadget from the critic",
        "goofspiel: NashPG: search to depth 1, gadget from the search before",
        "liars_dice: Student of Games: search at (100,1), one seed",
    ]
    search = "NashPG: search to depth 1, gadget from the critic"
    ends = [row for row in outcome.rows if row["steps"] == 4 and row["line"] == search]
    mean = sum(row["exploitability"] for row in ends) / 2
    assert [row["run"] for row in ends] == [str(run) for run in runs[:2]]
    assert outcome.beside[1].ours.startswith(f"{mean:.4g} ±")
    assert "2 runs of" in outcome.beside[1].what


def test_policy_learners_are_trained_by_the_study_itself_and_stand_beside_what_ships() -> None:
    """Three learners on three games; a changed preset is another point, and named runs are not trained."""
    keys = policy_learners.EXPERIMENT.study.plan(Options(seeds=2, minutes=1.0), quiet)
    trained = [key for key in keys if key["what"] == policy_learners.TRAIN]
    assert len({(key["game"], key["policy"], key["seed"]) for key in trained}) == len(trained) == 2 * 3 * 3
    assert len({key["made_of"] for key in trained}) == 3 * 3 and {key["minutes"] for key in trained} == {1.0}
    beside = {key["checkpoint"] for key in keys if key["what"] == policy_learners.SHIPPED}
    assert beside == {"leduc_poker", "liars_dice_1x4_sog", "liars_dice_1x4_rebel"}
    with pytest.raises(SettingError, match="leave out --seeds and --minutes"):
        policy_learners.EXPERIMENT.study.plan(Options(runs=(shipped("leduc_poker"),), seeds=1), quiet)


def test_a_run_that_a_study_trains_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that has had its minutes is measured as it was found; its networks stand in the order of training."""
    monkeypatch.chdir(tmp_path)
    (key, *_) = policy_learners.EXPERIMENT.study.plan(Options(quick=True, minutes=0.005), quiet)
    first = policy_learners.EXPERIMENT.study.compute(key)
    assert policy_learners.EXPERIMENT.study.compute(key) == first
    steps = [network["step"] for network in first["networks"]]
    assert steps == sorted(set(steps)) and steps[0] == 0 and len(steps) >= 2
    searches = [way for network in first["networks"] for way in network["ways"] if way["gadget"]]
    assert len(searches) == 3 * len(steps) and all(way["searched"] > 0 for way in searches)
    rows = policy_learners.EXPERIMENT.study.present([StudyPoint(key, first)]).rows
    assert len(rows) == 4 * len(steps) and {row["run"] for row in rows} == {"seed 0"}


def test_with_paper_the_gadget_alone_decides_the_opponents_range() -> None:
    for study in (sepot_fig1.EXPERIMENT.study, sepot_figures.FIG4.study, sepot_table1.EXPERIMENT.study):
        for paper, alpha in ((True, 1.0), (False, 0.9)):
            assert {key["alpha"] for key in study.plan(Options(quick=True, paper=paper), quiet)} == {alpha}


def test_table1_counts_what_was_searched() -> None:
    """Points do not depend on those before them, though they share a search; where nothing is searched, nothing is won.

    Both games of a pair have the same draws, so that a network against itself wins as much as it loses.
    """
    about = {"game": GOOF4, "run": UNTRAINED, "against": UNTRAINED, "networks": ["", ""], "pairs": 20}
    about |= {"iterations": 30, "alpha": 0.9}
    keys = [{**about, "histories": 60, "part": part} for part in (0, 1)]
    first, second = (sepot_table1.compute(key) for key in keys)
    sepot_table1._searching.cache_clear()
    assert first["won"] == sepot_table1.compute(keys[0])["won"] != second["won"]
    assert 0 < first["searched"] < first["moves"] and any(first["won"])
    own = opened(UNTRAINED, GOOF4, "")
    searching = sepot_table1._CountingSearch(sepot_table1._searching(own, 30, 60, 0.9))
    pairs = play_pairs(own.game, searching, NetworkPolicy(own.game, own.network), 20, 0)
    assert first["won"] == [(as_0 + as_1) / 2 for as_0, as_1 in pairs.tolist()]  # a game's, not a pair's
    none = sepot_table1.compute({**about, "histories": 1, "part": 0})
    assert none["searched"] == 0 and not any(none["won"])
    (row,) = sepot_table1.present([StudyPoint(keys[0], first)]).rows
    assert row["moves searched"] == first["searched"] and row["games"] == 40


def test_table1_has_the_papers_figure_beside_its_very_game() -> None:
    """Other ships on the same board, or other rules, are another game."""
    game = BATTLESHIPS[0]
    about = {"run": "one", "against": "one", "networks": ["", ""], "pairs": 1, "part": 0, "histories": 25_000}
    result = {"won": [0.5, 0.0], "moves": 4, "searched": 2, "seconds": 1.0}
    for name, said in (
        (game, "6.2 ± .06"),
        (game.replace("2;2", "2;1"), ""),
        (game.replace("num_shots=9", "num_shots=8"), ""),
        ("goofspiel(imp_info=True,num_cards=8,points_order=random)", "2.70 ± .05"),
        ("goofspiel(imp_info=False,num_cards=8,points_order=random)", ""),
    ):
        (line,) = sepot_table1.present([StudyPoint({**about, "game": name}, result)]).beside
        assert (line.paper, line.ours.split()[0]) == (said, "+25.00")


def test_sepots_search_beside_distilled_networks_is_as_long_as_the_papers(tmp_path: Path) -> None:
    settings = PolicySettings(SepotSettings("kuhn_poker", count=3), policy_shape(make_history_game("kuhn_poker"), 8, 1))
    train_sepot(Run("kuhn_poker", algorithm="sepot"), replace(settings, games=8, steps=2), tmp_path, Until(rounds=1))
    keys = sepot_distilled.EXPERIMENT.study.plan(Options(runs=(tmp_path,)), quiet)
    assert {key["iterations"] for key in keys if key["way"] == "sepot"} == {800}
    assert sepot_distilled.WAYS["rebel"].iterations == 1_024


def test_distilled_networks_stand_beside_their_run_and_student_of_games(tmp_path: Path) -> None:
    game = make_history_game("kuhn_poker")
    settings = PolicySettings(SepotSettings("kuhn_poker", count=3), policy_shape(game, 8, 1), games=8, steps=2)
    run, out = tmp_path / "run", tmp_path / "out"
    train_sepot(Run("kuhn_poker", algorithm="sepot"), settings, run, Until(rounds=1))
    assert main(["distil", str(run), "--out", str(out), "--steps", "3", "--network", "1x8"]) == 0
    own = tmp_path / "own"
    line = ["--algorithm", "sog(network=1x8)", "--rounds", "1", "--workers", "1", "--out", str(own)]
    assert main(["train", "kuhn_poker", *line]) == 0
    keys = sepot_distilled.EXPERIMENT.study.plan(Options(runs=(run, out, own), quick=True), quiet)
    ways = [(key["by"], key["way"]) for key in keys]
    assert ways[:3] == [("SePoT", "policy"), ("SePoT", "sepot"), ("SePoT", "critic")]
    by = "distilled from SePoT (identity)"
    assert ways[3:] == [(by, "gtcfr"), (by, "rebel"), ("Student of Games", "gtcfr"), ("Student of Games", "rebel")]
    points = [StudyPoint(key, sepot_distilled.EXPERIMENT.study.compute(key)) for key in keys]
    outcome = sepot_distilled.EXPERIMENT.study.present(points)
    assert len(outcome.rows) == 7 and all(0.0 <= row["mean"] <= 2.0 for row in outcome.rows)
    means = {(row["by"], row["way"]): row["mean"] for row in outcome.rows}
    ratio = means[by, "gtcfr"] / means["Student of Games", "gtcfr"]
    assert outcome.beside[-1].ours == f"{ratio:.2f} times"
    train_sepot(
        Run("kuhn_poker", algorithm="rnad"),
        replace(settings, learning=RnadSettings()),
        tmp_path / "rnad",
        Until(rounds=1),
    )
    with pytest.raises(CheckpointError, match="without a critic"):
        sepot_distilled.EXPERIMENT.study.plan(Options(runs=(tmp_path / "rnad",)), quiet)


def test_in_fig_1_each_fleet_lies_in_one_of_two_ways() -> None:
    game, state = make_history_game(sepot_fig1.GAME), sepot_fig1.position()
    assert game.actors(state)[0] == 0
    found = histories_of(game, game.public(state)[0])
    for player in (0, 1):
        masks = game.private(found.states, np.full(len(found), player, dtype=np.int32))
        fleets = {tuple(sorted(row.tolist())) for row in masks}
        assert len(fleets) == 2


def test_pairs_of_games_swap_seats_and_share_chance() -> None:
    game = make_history_game("leduc_poker")
    policy = RandomPolicy(game)
    same = play_pairs(game, policy, policy, 200, 0)
    np.testing.assert_array_equal(same[:, 0], -same[:, 1])
    uniform = UniformPolicy(game)
    won = play_pairs(game, policy, uniform, 3000, 1)
    for seat, pair in ((0, (policy, uniform)), (1, (uniform, policy))):
        exact = (1 - 2 * seat) * value_of(game, game.begin(1), pair)[0]
        assert abs(won[:, seat].mean() - exact) < 4 * won[:, seat].std() / 3000**0.5


def test_table1_of_two_runs_counts_no_game_twice(tmp_path: Path) -> None:
    """Each run's games against uniform play once, each game of a run by a seed of its own, rows by run."""
    runs = tuple(tmp_path / name for name in ("one", "two", "three"))
    settings = PolicySettings(SepotSettings(GOOF4, count=2), policy_shape(make_history_game(GOOF4), 8, 1), games=4)
    for seed, run in enumerate(runs):
        train_sepot(Run(GOOF4, algorithm="sepot", seed=seed), replace(settings, steps=1), run, Until(rounds=1))
    keys = sepot_table1.EXPERIMENT.study.plan(Options(runs=runs), quiet)
    for run in runs:
        own = [key for key in keys if key["run"] == str(run)]
        assert sum(key["histories"] == -1 for key in own) == 1 and sum(key["histories"] == 0 for key in own) == 2
        searched = [(key["histories"], key["part"]) for key in own if key["histories"] > 0]
        assert len(searched) == len(set(searched)) == 250
    assert len({tuple(key["networks"]) for key in keys}) == 6
    some = [key for key in keys if key["histories"] == 0]
    rows = sepot_table1.present([StudyPoint(key, sepot_table1.compute({**key, "pairs": 50})) for key in some]).rows
    assert len(rows) == 3 and all(row["games"] == 200 for row in rows)
    assert [row["run"] for row in rows] == [str(run) for run in runs]
