"""Our policies measured by OpenSpiel, and our CFR+ beside OpenSpiel's."""

from __future__ import annotations

import pyspiel
import pytest
from open_spiel.python.algorithms.exploitability import nash_conv

from sog.errors import GameError
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.liars_dice import LiarsDice
from sog.games.rules.rps import RockPaperScissors
from sog.measure.openspiel_export import check_against_openspiel, infostate_policies, tabular_policy
from sog.play.openspiel_states import openspiel_game
from sog.searches.cfr import exact
from sog.searches.cfr.rules import CFR, CFR_PLUS, Rule
from sog.searches.tree.public_tree import PublicTree

GAMES = (
    Kuhn(),
    Leduc(),
    LiarsDice(1, 3),
    LiarsDice(1, 4),
    LiarsDice(1, 5),
    Goofspiel(3, "random"),
    Goofspiel(4, "descending"),
    make_game("openspiel:leduc_poker"),
)


def name(game: Game) -> str:
    return game.name


@pytest.mark.parametrize("game", GAMES, ids=name)
def test_openspiel_agrees_on_nash_conv(game: Game) -> None:
    public = PublicTree(game).list_all()
    tree = exact.solve(public, CFR_PLUS, 200)
    check = check_against_openspiel(public, exact.policy_of(tree))
    assert check.ours == 2 * exact.measure(tree).exploitability
    assert 0 < check.ours < 0.1
    assert check.openspiel == pytest.approx(check.ours, abs=1e-9, rel=0)


@pytest.mark.parametrize("game", GAMES[:4], ids=name)
def test_openspiel_agrees_in_both_of_its_languages(game: Game) -> None:
    public = PublicTree(game).list_all()
    policy = exact.policy_of(exact.solve(public, CFR_PLUS, 20))
    spiel = openspiel_game(game)
    python = nash_conv(spiel, tabular_policy(public, policy))
    assert pyspiel.nash_conv(spiel, infostate_policies(public, policy)) == pytest.approx(python, abs=1e-12)


@pytest.mark.parametrize(("rule", "solver"), [(CFR, "CFRSolver"), (CFR_PLUS, "CFRPlusSolver")], ids=["cfr", "cfr+"])
@pytest.mark.parametrize("game", [Kuhn(), Leduc(), Goofspiel(3, "descending")], ids=name)
def test_the_average_policy_is_that_of_openspiels_solver(game: Game, rule: Rule, solver: str) -> None:
    """Not in Liar's Dice: many regrets there are 0 but for rounding, which then decides between policies."""
    public = PublicTree(game).list_all()
    ours = infostate_policies(public, exact.policy_of(exact.solve(public, rule, 30)))
    theirs = getattr(pyspiel, solver)(openspiel_game(game))
    for _ in range(30):
        theirs.evaluate_and_update_policy()
    average = theirs.tabular_average_policy()
    for key, policy in ours.items():
        for action, probability in policy:
            expected = dict(average.get_state_policy(key))[action]
            # We keep a sliver of reach at infostates that are never reached, so the policies agree this far.
            assert probability == pytest.approx(expected, abs=1e-6), (key, action)


def test_a_tabular_policy_covers_openspiels_whole_game() -> None:
    public = PublicTree(Goofspiel(4, "descending")).list_all()
    policy = exact.uniform_policy(public)
    tabular = tabular_policy(public, policy)
    assert (abs(tabular.action_probability_array.sum(axis=1) - 1) < 1e-12).all()
    assert (tabular.action_probability_array[~tabular.legal_actions_mask.astype(bool)] == 0).all()


def test_a_policy_with_holes_is_refused() -> None:
    public = PublicTree(Kuhn()).list_all()
    policy = exact.uniform_policy(public)
    del policy[0]
    with pytest.raises(GameError, match="no policy for OpenSpiel's infostate"):
        tabular_policy(public, policy)


def test_a_game_that_openspiel_lacks_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    public = PublicTree(RockPaperScissors()).list_all()
    with pytest.raises(GameError, match="OpenSpiel has no game rps"):
        check_against_openspiel(public, exact.uniform_policy(public))
    assert capfd.readouterr().err == ""
