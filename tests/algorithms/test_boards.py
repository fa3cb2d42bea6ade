"""Self-play on boards: both searches, openings, playout caps, rows, and runs that are the same after a stop."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.caps import PlayoutCaps
from sog.algorithms.boards.game import BoardGame, BoardPlay, PositionVisit, QuerySolve
from sog.algorithms.boards.halving import visits_before
from sog.algorithms.boards.openings import random_opening
from sog.algorithms.boards.rows import game_rows, repeats, value_targets
from sog.algorithms.boards.searches import GtcfrSearch, MctsSearch, Searching, _Mcts
from sog.algorithms.table import settings_of
from sog.errors import CheckpointError, SettingError
from sog.games.base import TERMINAL
from sog.games.boards.connect_four import ConnectFour
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.serialized import network_bytes
from sog.nets.shape import is_for, shape_for
from sog.play.referee import Referee
from sog.searches.leaves.drive import run as run_search
from sog.searches.leaves.evaluator import SearchGenerator, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint
from sog.training.replay import WindowGrowth
from sog.training.run import Run, Until, with_known_head
from sog.training.self_play import train
from sog.training.settings import LearnerSettings, TrainSettings
from sog.training.workers import make_actor, play_round
from tests.boards import connect_four_settings

GAME = make_game("tic_tac_toe")
SHAPE = shape_for(GAME, 16, 1)
SEARCHES: list[Searching] = [GtcfrSearch(), MctsSearch(), MctsSearch(considered=4)]
EITHER = pytest.mark.parametrize("search", SEARCHES, ids=["gtcfr", "mcts", "halving"])
CAPS = PlayoutCaps(simulations=12, cheap=4, share=0.5)


def playing(search: Searching, **changes: object) -> BoardPlay:
    return replace(BoardPlay(search, CAPS, openings=2, sampled_moves=5, queries=0.5), **changes)  # type: ignore[arg-type]


def played(play: BoardPlay, seed: int = 0, number: int = 0) -> BoardGame:
    game = BoardGame(PublicTree(GAME), play, number, np.random.default_rng(seed))
    run_search(game, network_evaluator(CVPN(SHAPE, 3)))
    return game


# --- games ---


@EITHER
def test_a_game_is_searched_from_its_opening_to_its_end(search: Searching) -> None:
    for seed in range(4):
        game = played(playing(search), seed)
        paths = [game.public.path(visit.node) for visit in game.visits]
        assert all(len(after) == len(before) + 1 for before, after in pairwise(paths))
        assert game.utility in (-1.0, 0.0, 1.0) and all(visit.grown for visit in game.visits)
        for visit in game.visits:
            assert -1.0 <= visit.value <= 1.0
            if visit.policy is not None:
                assert len(visit.policy) == len(game.public.actions(visit.node))
                assert visit.policy.sum() == pytest.approx(1.0) and (visit.policy > 0).all()
                assert visit.surprise >= 0.0


@EITHER
def test_the_first_moves_are_drawn_and_later_ones_are_the_targets_best(search: Searching) -> None:
    play = playing(search, caps=replace(CAPS, share=1.0), openings=0, sampled_moves=3, queries=0.0)
    drawn, best = [], []
    for seed in range(8):
        game = played(play, seed)
        nodes = [visit.node for visit in game.visits] + ([] if game.final is None else [game.final])
        for k, (visit, after) in enumerate(zip(game.visits, nodes[1:], strict=True)):
            assert visit.policy is not None
            (drawn if k < 3 else best).append(after == game.public.child(visit.node, int(visit.policy.argmax())))
    assert all(best) and np.mean(drawn) < 0.9


@EITHER
def test_the_same_seed_is_the_same_game(search: Searching) -> None:
    def told(game: BoardGame) -> list[object]:
        return [(v.node, v.value, None if v.policy is None else v.policy.tobytes()) for v in game.visits]

    first, again, other = (told(played(playing(search), seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_random_openings_have_up_to_so_many_moves_and_leave_no_rows() -> None:
    public = PublicTree(GAME)
    rng = np.random.default_rng(0)
    plies = [len(public.path(random_opening(Referee(public), 4, rng).node)) - 1 for _ in range(500)]
    counts = np.bincount(plies, minlength=5)
    assert len(counts) == 5 and counts.min() > 60
    assert all(public.actor(random_opening(Referee(public), 8, rng).node) != TERMINAL for _ in range(200))
    starts = set()
    for seed in range(12):
        game = played(playing(MctsSearch(), openings=4), seed)
        depths = [len(game.public.path(visit.node)) - 1 for visit in game.visits]
        starts.add(depths[0])
        assert depths == list(range(depths[0], depths[0] + len(depths)))  # the opening's positions are not there
    assert len(starts) > 2


@EITHER
def test_only_moves_searched_in_full_give_policies(search: Searching) -> None:
    games = [played(playing(search, caps=replace(CAPS, share=0.25)), seed) for seed in range(40)]
    full = [visit.policy is not None for game in games for visit in game.visits]
    assert len(full) > 150 and 0.15 < np.mean(full) < 0.35
    assert all(visit.policy is not None for visit in played(playing(search, caps=PlayoutCaps(8))).visits)


def test_budgets_grow_over_the_rounds_of_a_run() -> None:
    caps = PlayoutCaps(64, 16, 0.25, begin_share=0.25, growing_rounds=10)
    assert [caps.of_move(True, k) for k in (0, 5, 10, 99)] == [16, 40, 64, 64]
    assert [caps.of_move(False, k) for k in (0, 5, 10)] == [4, 10, 16]
    for wrong in ({"simulations": 0}, {"simulations": 8, "share": 0.0}, {"simulations": 8, "begin_share": 2.0}):
        with pytest.raises(SettingError):
            PlayoutCaps(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("number", "simulations"), [(0, 2), (5, 5), (10, 8)])
def test_a_rounds_number_reaches_its_searches(monkeypatch: pytest.MonkeyPatch, number: int, simulations: int) -> None:
    budgets = []

    def steps(self: _Mcts, node: int, simulations: int, noise: object) -> SearchGenerator:
        budgets.append(simulations)
        return search_as_ever(self, node, simulations, None)

    search_as_ever = _Mcts.steps
    monkeypatch.setattr(_Mcts, "steps", steps)
    caps = PlayoutCaps(simulations=8, cheap=8, begin_share=0.25, growing_rounds=10)
    acting = BoardActing(playing(MctsSearch(), caps=caps, queries=0.0), side_by_side=4)
    settings = TrainSettings(acting, LearnerSettings(batch=16), SHAPE, 150, games=2)
    play_round(make_actor("tic_tac_toe", settings), settings, 0, 0, network_bytes(CVPN(SHAPE, 1)), number)
    assert len(budgets) > 4 and set(budgets) == {simulations}


def test_cheap_and_full_searches_take_their_budgets() -> None:
    searcher = MctsSearch().begin(PublicTree(GAME), np.random.default_rng(0))
    for simulations in (4, 12):
        run_search(searcher.steps(0, simulations, None), zero_evaluator)
    assert searcher.root().visits.sum() == 16.0


@EITHER
def test_noise_moves_the_search_and_leaves_the_priors(search: Searching) -> None:
    evaluator = network_evaluator(CVPN(SHAPE, 3))
    noise = np.zeros(9)
    noise[7] = 20.0
    plain, noisy = (search.begin(PublicTree(GAME), np.random.default_rng(0)) for _ in range(2))
    run_search(plain.steps(0, 20, None), evaluator)
    run_search(noisy.steps(0, 20, noise), evaluator)
    assert noisy.root().logits == pytest.approx(plain.root().logits)
    assert noisy.root().visits[7] > plain.root().visits[7]


@EITHER
def test_values_are_the_movers(search: Searching) -> None:
    """Player 1 is to move and can win at once; then so can player 0."""
    for moves, mover in (((0, 3, 1, 4, 8), 1), ((0, 3, 1, 4), 0)):
        public, node = PublicTree(GAME), 0
        for action in moves:
            public.list_fan(node)
            node = public.child(node, public.edge_of(node, public.actions(node).tolist().index(action)))
        searcher = search.begin(public, np.random.default_rng(0))
        run_search(searcher.steps(node, 60, None), zero_evaluator)
        found, winning = searcher.root(), public.actions(node).tolist().index(5 if mover else 2)
        assert public.actor(node) == mover and found.values[winning] == pytest.approx(1.0)
        assert found.shares.argmax() == winning and found.value > 0.5


def test_games_may_be_cut_short_or_given_up() -> None:
    cut = played(playing(MctsSearch(), openings=0, moves_max=3))
    assert len(cut.visits) == 3 and cut.utility is None
    lost = played(playing(MctsSearch(), openings=0, resign_below=1.0, no_resign=0.0))
    assert len(lost.visits) == 1 and lost.utility == -1.0


def test_sequential_halving_shares_out_the_simulations() -> None:
    # 16 simulations, 4 actions: 2 phases of 8, so 2 visits each, then 4 more for each of the best two.
    assert visits_before(4, 16) == (0,) * 4 + (1,) * 4 + (2, 2, 3, 3, 4, 4, 5, 5)
    assert visits_before(1, 3) == (0, 1, 2) and len(visits_before(16, 5)) == 5


@pytest.mark.parametrize("considered", [2, 3, 5, 8, 16])
@pytest.mark.parametrize("simulations", [1, 7, 16, 50, 200])
def test_sequential_halving_is_mctxs(considered: int, simulations: int) -> None:
    """The plan of DeepMind's mctx (seq_halving.py): two actions at least are compared to the end."""
    phases, visits, left, plan = math.ceil(math.log2(considered)), [0] * considered, considered, list[int]()
    while len(plan) < simulations:
        for _ in range(max(1, int(simulations / (phases * left)))):
            plan += visits[:left]
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2)
    assert visits_before(considered, simulations) == tuple(plan[:simulations])
    searcher = MctsSearch(considered=4).begin(PublicTree(GAME), np.random.default_rng(0))
    noise = np.array([0.0, 9.0, 0.0, 8.0, 7.0, 0.0, 6.0, 0.0, 0.0])
    run_search(searcher.steps(0, 16, noise), zero_evaluator)
    assert sorted(searcher.root().visits) == [0, 0, 0, 0, 0, 2, 2, 6, 6]
    assert set(np.flatnonzero(searcher.root().visits)) == {1, 3, 4, 6}


# --- where games begin ---


def begun(name: str, play: BoardPlay, games: int) -> list[str]:
    """The games that a round of self-play plays, by name, each cut short at once."""
    game = make_game(name)
    actor = BoardActing(replace(play, moves_max=1, openings=0, queries=0.0)).make(game, shape_for(game, 8, 1))
    jobs = actor.finished(games, zero_evaluator, np.random.default_rng(0))
    return [job.public.game.name for job in jobs]


def test_variants_are_drawn_with_equal_chance() -> None:
    play = BoardPlay(MctsSearch(), PlayoutCaps(1))
    names = begun("go(board_size=3,komi=7.5)", play, 900)
    counts = [names.count(f"go(board_size=3,komi={5.5 + k / 2})") for k in range(9)]
    assert sum(counts) == 900 and min(counts) > 70 and max(counts) < 130
    assert set(begun("tic_tac_toe", play, 3)) == {"tic_tac_toe"}


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_so_many_games_begin_from_the_games_starts(share: float) -> None:
    names = begun("chess", BoardPlay(MctsSearch(), PlayoutCaps(1), starts=share), 400)
    found = sum(name.startswith("chess(fen=") for name in names)
    assert abs(found - 400 * share) <= 40 * (0 < share < 1)
    assert len({name for name in names if "fen" in name}) > 0.98 * found - 1  # hardly two alike


def test_games_from_named_starts_have_no_opening_and_end_earlier() -> None:
    """They are random enough: the first position is searched itself; and the loser sees how it ends."""
    play = BoardPlay(
        MctsSearch(),
        PlayoutCaps(4),
        openings=5,
        sampled_moves=20,
        moves_max=50,
        starts=0.5,
        start_moves=5,
        resign_below=1.0,
        no_resign=0.0,
    )
    own = play.from_start()
    assert (own.openings, own.sampled_moves, own.moves_max) == (0, 0, 5)
    assert replace(play, start_moves=0).from_start().moves_max == 50 and own.caps == play.caps
    often = replace(play, caps=PlayoutCaps(4, cheap=2, share=0.25), start_simulations=9).from_start()
    assert {often.caps.of_move(often.caps.is_full(np.random.default_rng(k)), 0) for k in range(9)} == {9}
    chess = make_game("chess")
    actor = BoardActing(replace(play, moves_max=7)).make(chess, shape_for(chess, 8, 1))
    found = {True: 0, False: 0}
    for job in actor.finished(24, zero_evaluator, np.random.default_rng(0)):
        assert isinstance(job, BoardGame)
        named = job.public.game.name != "chess"
        found[named] += 1
        if named:
            assert job.visits[0].node == 0 and len(job.visits) <= 5
        given_up = job.utility is not None and job.final is None
        assert given_up is not named  # every value is below 2
    assert min(found.values()) > 4
    with pytest.raises(SettingError, match="start_moves"):
        replace(play, start_moves=-1)


def test_only_games_that_name_starts_have_any() -> None:
    play = playing(MctsSearch(), starts=0.5)
    for name in ("tic_tac_toe", "connect_four(moves=44)", "chess(fen=4k3/8/8/8/8/8/8/4K2R w K - 0 1)"):
        game = make_game(name)
        with pytest.raises(SettingError, match="names no positions"):
            BoardActing(play).make(game, shape_for(game, 8, 1))
    with pytest.raises(SettingError, match="share"):
        replace(play, starts=1.5)
    for name, share in (("go(board_size=7,komi=9)", 0.0), ("connect_four", 0.5), ("chess", 0.5)):
        acting = settings_of(make_game(name), "demo").acting
        assert isinstance(acting, BoardActing) and acting.play.starts == share
        # Chess's endgames are searched in full, which took KQK from a third to 61% (docs/notes.md).
        assert (acting.play.start_simulations > acting.play.caps.simulations) == (name == "chess")


# --- rows ---


def test_a_nearer_end_is_worth_more() -> None:
    """The last position before the end counts in full; a game cut short comes to what its last search found."""
    visits = [PositionVisit(k, None, value, 0.0, True) for k, value in enumerate((0.5, 0.0, -0.25))]
    assert value_targets(visits, 2.0, 2.0, 0.0, 0.9) == pytest.approx([2 * 0.81, 2 * 0.9, 2.0])
    assert value_targets(visits, None, 2.0, 0.5, 0.8) == pytest.approx([0.5 - 0.25 * 0.64, -0.25 * 0.8, -0.5])
    game = make_game("chess")
    acting = settings_of(game, "demo").acting
    assert isinstance(acting, BoardActing) and 0.9 < acting.discount < 1.0
    for wrong in (0.0, 1.5):
        with pytest.raises(SettingError, match="discount"):
            replace(acting, discount=wrong)


def test_an_actors_rows_hold_discounted_outcomes() -> None:
    """The last move of a finished game is worth its outcome, the one before half of that."""
    acting = BoardActing(playing(MctsSearch(), openings=0), value_share=0.0, discount=0.5)
    actor = acting.make(GAME, SHAPE)
    for job in actor.finished(8, zero_evaluator, np.random.default_rng(0)):
        if isinstance(job, BoardGame) and job.utility:
            (rows,) = actor.rows_of(job, np.random.default_rng(0))
            expected = job.utility * 0.5 ** np.arange(len(job.visits) - 1, -1, -1)
            assert rows.values[:, 0] == pytest.approx(expected)
            return
    raise AssertionError("nobody won")


def test_a_row_holds_the_policy_and_a_mix_of_outcome_and_search() -> None:
    public = PublicTree(GAME)
    public.list_fan(0)
    node = public.child(0, 0)
    visits = [PositionVisit(0, np.full(9, 1 / 9), 0.5, 0.0, True), PositionVisit(node, None, -0.25, 0.0, True)]
    assert value_targets(visits, -1.0, 1.0, 0.5) == pytest.approx([-0.25, -0.625])
    assert value_targets(visits, None, 1.0) == pytest.approx([0.5, -0.25])
    rows = game_rows(public, visits, 1.0, SHAPE, 0.2)
    assert rows.values[:, 0] == pytest.approx([0.9, 0.75]) and rows.values[:, 1] == pytest.approx([-0.9, -0.75])
    assert rows.value_mask.all() and rows.policy_mask[:, 0].tolist() == [1.0, 0.0]
    assert rows.policies[0, 0] == pytest.approx(1 / 9) and not rows.policies[1].any()
    assert rows.legal.sum(axis=2)[:, 0].tolist() == [9, 8]


def test_surprising_rows_are_repeated() -> None:
    policy, rng = np.ones(1), np.random.default_rng(0)
    visits = [PositionVisit(k, policy, 0.0, s, True) for k, s in enumerate((0.0, 1.0, 3.0))] + [
        PositionVisit(3, None, 0.0, 0.0, True)
    ]
    drawn = np.concatenate([repeats(visits, 0.5, rng) for _ in range(4_000)])
    # Half of three rows' weight evenly, half by 0, 1/4 and 3/4 of it; the row without a policy once.
    assert np.bincount(drawn) / 4_000 == pytest.approx([0.5, 0.875, 1.625, 1.0], abs=0.03)
    assert repeats(visits, 0.0, rng).tolist() == [0, 1, 2, 3]


@EITHER
def test_a_round_does_not_depend_on_how_many_games_stand_side_by_side(search: Searching) -> None:
    found, evaluator = [], network_evaluator(CVPN(SHAPE, 3))
    for width in (1, 5):
        actor = BoardActing(playing(search), surprise=0.5, side_by_side=width).make(GAME, SHAPE)
        found.append(actor.round(6, evaluator, np.random.default_rng(7)))
    assert found[0].games == 6 and found[0].queries > 0
    assert found[0].rows.content.tobytes() == found[1].rows.content.tobytes()


def test_queries_are_positions_met_and_searched_in_full() -> None:
    game = played(playing(MctsSearch(), queries=2.0), 3)
    solves = [make() for make in game.followers()]
    assert len(solves) == len(game.queried) > 0
    visited = {visit.node for visit in game.visits}
    assert {game.public.actor(solve.node) for solve in solves} <= {0, 1} and not set(game.queried) <= visited
    solve = solves[0]
    run_search(solve, zero_evaluator)
    assert isinstance(solve, QuerySolve) and solve.visit.policy is not None
    rows = BoardActing(playing(MctsSearch())).make(GAME, SHAPE).rows_of(solve, np.random.default_rng(0))
    assert rows[0].values[0, 0] == pytest.approx(solve.visit.value) and rows[0].policy_mask.all()


def test_what_is_out_of_range_is_refused() -> None:
    play = playing(MctsSearch())
    for wrong in ({"value_share": 1.5}, {"surprise": -0.1}, {"side_by_side": 0}):
        with pytest.raises(SettingError):
            BoardActing(play, **wrong)  # type: ignore[arg-type]
    with pytest.raises(SettingError):
        replace(play, openings=-1)
    with pytest.raises(SettingError, match="starts is a share"):
        replace(play, starts=-0.5)
    kuhn = make_game("kuhn_poker")
    with pytest.raises(SettingError, match="perfect information"):
        BoardActing(play).make(kuhn, shape_for(kuhn, 8, 1))


# --- presets and runs ---


@pytest.mark.parametrize("name", ["connect_four", "chess", "go(board_size=7)"])
def test_both_algorithms_share_all_but_the_search(name: str) -> None:
    game = make_game(name)
    for chosen in ("demo", "full"):
        own, other = (settings_of(game, chosen, algorithm) for algorithm in ("sog", "alphazero"))
        assert isinstance(own.acting, BoardActing) and isinstance(other.acting, BoardActing)
        assert isinstance(own.acting.play.search, GtcfrSearch) and isinstance(other.acting.play.search, MctsSearch)
        play = replace(own.acting.play, search=other.acting.play.search)
        assert other == replace(own, acting=replace(own.acting, play=play))


def test_the_window_grows_less_than_the_rows_do() -> None:
    growth = WindowGrowth(window_begin=1_000)
    assert [growth.rows(n) for n in (0, 400, 1_000)] == [0, 400, 1_000]
    # 1000 * (1 + 0.4 * (16 ** 0.75 - 1) / 0.75) = 1000 * (1 + 0.4 * 7 / 0.75)
    assert growth.rows(16_000) == int(1_000 * (1 + 0.4 * 7 / 0.75))
    with pytest.raises(SettingError):
        WindowGrowth(window_begin=0)


def weights(folder: Path) -> dict[str, bytes]:
    _, network, _ = checkpoint.load_network(folder / "checkpoint")
    return {name: weight.tobytes() for name, weight in network.arrays().items()}


@EITHER
def test_a_run_is_the_same_again_and_after_a_stop(search: Searching, tmp_path: Path) -> None:
    """With a window that grows, budgets that grow and a learning rate that warms up."""
    caps = replace(CAPS, begin_share=0.5, growing_rounds=5)
    acting = BoardActing(playing(search, caps=caps), surprise=0.5, side_by_side=4)
    learner = LearnerSettings(batch=16, policy_weight=1.0, warm_up=10)
    tiny = TrainSettings(acting, learner, SHAPE, 150, games=4, rounds=6, window=WindowGrowth(20))
    run = Run("tic_tac_toe", "tiny", 1, 1)
    for name in ("once", "again"):
        train(run, tiny, tmp_path / name)
    train(run, tiny, tmp_path / "stopped", Until(rounds=3))
    train(run, tiny, tmp_path / "stopped", resume=True)
    assert weights(tmp_path / "once") == weights(tmp_path / "again") == weights(tmp_path / "stopped")
    train(run, replace(tiny, window=None), tmp_path / "other")
    assert weights(tmp_path / "other") != weights(tmp_path / "once")


def test_processor_time_counts_over_resumes(tmp_path: Path) -> None:
    acting = BoardActing(playing(MctsSearch()), side_by_side=4)
    tiny = TrainSettings(acting, LearnerSettings(batch=16), SHAPE, 150, games=2, rounds=50)
    run = Run("tic_tac_toe", "tiny", 1, 1)
    assert train(run, tiny, tmp_path, Until(processor=1e-9)).round == 1
    assert train(run, tiny, tmp_path, Until(processor=1e-9), resume=True).round == 1
    assert train(run, tiny, tmp_path, Until(processor=60.0, rounds=3), resume=True).round == 3


def test_the_learning_rate_warms_up() -> None:
    settings = LearnerSettings(learning_rate=1.0, decay=0.5, decay_steps=4, warm_up=4)
    assert [settings.rate_of(t) for t in (0, 3, 4)] == pytest.approx([0.25, 0.5**0.75, 0.5])
    assert LearnerSettings(learning_rate=1.0).rate_of(0) == 1.0


def test_a_run_keeps_the_value_planes_of_its_network(tmp_path: Path) -> None:
    """Shipped networks have one plane, as presets had: a run that begins or goes on with one keeps it."""
    game, run = ConnectFour(), Run("connect_four", algorithm="alphazero")
    one = connect_four_settings()
    many = replace(one, shape=replace(one.shape, value_planes=16))
    folders = {name: tmp_path / name / "checkpoint" for name in ("old", "begun", "new")}
    train(run, one, tmp_path / "old", Until(rounds=1))
    train(replace(run, begins=str(folders["old"]), seed=1), many, tmp_path / "begun", Until(rounds=1))
    train(run, many, tmp_path / "old", Until(rounds=2), resume=True)
    train(run, many, tmp_path / "new", Until(rounds=1))
    found = {name: checkpoint.load_meta(folder).shape.value_planes for name, folder in folders.items()}
    assert found == {"old": 1, "begun": 1, "new": 16}
    wider = replace(many, shape=replace(many.shape, width=16))
    with pytest.raises(CheckpointError, match="not of the shape"):
        train(run, wider, tmp_path / "old", Until(rounds=3), resume=True)
    assert is_for(one.shape, game) and is_for(many.shape, game)
    with pytest.raises(SettingError, match="at least"):
        replace(one.shape, value_planes=0)
    with pytest.raises(SettingError, match="value planes are a resnet's"):
        replace(shape_for(game, 8, 1), value_planes=2)


def test_a_new_run_looks_for_value_planes_in_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the one where it was called either, whatever that holds."""
    (tmp_path / "meta.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    settings = connect_four_settings()
    assert settings.shape.kind == "resnet"
    run = Run("connect_four", "demo", 0, 1)
    assert with_known_head(run, settings, tmp_path / "out") == settings
    with pytest.raises(CheckpointError):
        with_known_head(replace(run, begins="."), settings, tmp_path / "out")
