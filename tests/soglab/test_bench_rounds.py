"""What a round of self-play is worth: shares that add up, and the command that prints them."""

from __future__ import annotations

import json

import pytest

from sog.cli.app import main
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.serialized import network_bytes
from sog.nets.shape import shape_for
from sog.searches.gtcfr.search import SearchLog
from sog.training.checkpoint import load_network
from sog.training.rows import blank_rows
from sog.training.shipped import find_checkpoint
from soglab.bench.rounds import bench_round, one_hot_targets
from soglab.cli.bench import _network


def test_a_network_of_the_games_family_is_measured() -> None:
    """The one that ships for 7x7 Go plays with another komi, too."""
    name, network = _network("go(board_size=7,komi=7.5)")
    shipped = load_network(find_checkpoint("go(board_size=7,komi=9)"))[1]
    assert name.startswith("go(board_size=7") and network_bytes(network) == network_bytes(shipped)


def test_shares_of_a_round() -> None:
    game = make_game("kuhn_poker")
    row = bench_round("kuhn_poker", CVPN(shape_for(game, 8, 1, crossed=game.crossed)), 6)
    assert row.game == "kuhn_poker" and row.searches >= 12 and row.grown_share == 1.0
    assert 0 <= row.one_hot_share <= 1 and row.won_share == 1.0  # nobody draws in Kuhn poker
    distinct = row.distinct_positions_share * row.searches
    assert distinct == pytest.approx(round(distinct)) and 2 <= round(distinct) <= 4  # Kuhn has four decisions


def test_one_hot_targets_are_those_with_a_choice() -> None:
    shape = shape_for(make_game("kuhn_poker"), 8, 1)
    rows = blank_rows(shape, 4)
    rows.policies[:, 0] = [[1, 0], [0.995, 0.005], [0.98, 0.02], [1, 0]]
    rows.policy_mask[:3, 0] = 1.0  # the fourth row has no policy
    rows.legal[:, 0] = [[True, False], [True, True], [True, True], [True, True]]
    assert one_hot_targets(shape, rows).tolist() == [True, False]


def test_searches_that_do_not_grow_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("kuhn_poker")
    monkeypatch.setattr(SearchLog, "grown", property(lambda log: False))
    assert bench_round("kuhn_poker", CVPN(shape_for(game, 8, 1, crossed=game.crossed)), 2).grown_share == 0.0


def test_games_that_nobody_wins_are_seen() -> None:
    """The better card first: most games of Goofspiel with two cards are tied."""
    game = make_game("goofspiel(imp_info=True,num_cards=2,points_order=descending)")
    row = bench_round(game.name, CVPN(shape_for(game, 8, 1, crossed=game.crossed)), 40)
    assert 0.0 < row.won_share < 0.5


def test_a_round_that_leaves_no_row_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("kuhn_poker")
    monkeypatch.setattr("soglab.bench.rounds._jobs", lambda actor, network, games: iter(()))
    with pytest.raises(SettingError, match="2 games of self-play left no training row"):
        bench_round("kuhn_poker", CVPN(shape_for(game, 8, 1, crossed=game.crossed)), 2)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "training", "tic_tac_toe", "--played", "2", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    shares = {"grown_share", "one_hot_share", "distinct_positions_share", "won_share"}
    assert set(row) == {"game", "searches"} | shares and all(0 <= row[share] <= 1 for share in shares)
    assert row["game"] == "tic_tac_toe" and row["searches"] >= 10 and row["grown_share"] == 1.0
    folder = str(find_checkpoint("tic_tac_toe"))
    assert main(["bench", "training", "tic_tac_toe", folder, "--played", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == [row, row]
    assert main(["bench", "training", "tic_tac_toe", "--played", "2"]) == 0
    assert "grown" in capsys.readouterr().out
    assert main(["bench", "training", "--played", "0"]) == 2
