"""Game strings of OpenSpiel's that would end the process, take all memory or never end are refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sog.errors import CheckpointError, GameError
from sog.games.catalog import make_game, make_history_game
from sog.games.openspiel import first_look, histories
from sog.nets.cvpn import CVPN
from sog.nets.shape import NetworkShape
from sog.training.checkpoint import load_network, save

CRASHING = "connect_four(rows=100000,columns=100000)"
_LIMIT = "memory|10 seconds"  # a slow processor meets the limit of time first
BOMBS = [
    (CRASHING, _LIMIT),
    (f"universal_poker(stack={' '.join(['1'] * 20_000)})", "end the program"),
    ("mnk(m=100000,n=100000,k=5)", _LIMIT),
    ("goofspiel(num_cards=100000000)", _LIMIT),
    ("oshi_zumo(coins=100000000)", _LIMIT),
    ("first_sealed_auction(max_value=100000000)", _LIMIT),
    ("hex(board_size=400)", "10 seconds"),
    ("dots_and_boxes(num_rows=100,num_cols=100)", "10 seconds"),
    ("blotto(coins=1000,fields=20)", "10 seconds"),
]


@pytest.mark.parametrize(("name", "why"), BOMBS, ids=[name.partition("(")[0] for name, _ in BOMBS])
def test_bombs_are_refused(name: str, why: str) -> None:
    for make in (make_game, make_history_game):
        with pytest.raises(GameError, match=why) as error:
            make(f"openspiel:{name}")
        assert "\n" not in str(error.value) and len(str(error.value)) < 400


def test_a_checkpoint_of_a_bomb_is_refused(tmp_path: Path) -> None:
    name = f"openspiel:{CRASHING}"
    save(tmp_path, CVPN(NetworkShape(3, (2, 2), 2, 4, 1)), name, f"{name} run", 0, {})
    with pytest.raises(CheckpointError, match="take more"):
        load_network(tmp_path)
    with pytest.raises(CheckpointError, match="not of leduc_poker"):  # its own game is not even looked at
        load_network(tmp_path, "leduc_poker")


def test_a_string_is_tried_once_and_an_error_of_openspiels_is_its_own() -> None:
    first_look._verdict.cache_clear()
    make_game("openspiel:kuhn_poker(players=2)")
    make_history_game("openspiel:kuhn_poker(players=2)")
    assert first_look._verdict.cache_info().misses == 1
    with pytest.raises(GameError, match="does not load kuhn_poker"):
        make_game("openspiel:kuhn_poker(players=two)")
    make_game("openspiel:kuhn_poker")  # of OpenSpiel's own size
    assert first_look._verdict.cache_info().misses == 2


def test_a_child_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_look, "_PATIENCE", 0.001)
    with pytest.raises(GameError, match="more than 10 seconds"):
        make_game("openspiel:kuhn_poker(players=2 )")


def test_states_that_wait_count_against_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a history or leads to one, so that a wide game is refused before its states are made."""
    added: list[object] = []
    add = histories._Walk._add
    monkeypatch.setattr(histories._Walk, "_add", lambda *given: added.append(given) or add(*given))
    with pytest.raises(GameError, match="matrix_rps is too large to enumerate: more than 2 histories"):
        histories.list_histories("matrix_rps", limit=2)
    assert len(added) == 1
