"""Presets of ReBeL: what two cores learn Liar's Dice and turn endgames with, and the paper's own (appendix G)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sog.algorithms.boards.presets import require_papers_inputs
from sog.algorithms.rebel.actor import RebelActing
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.holdem.game import Holdem
from sog.measure.endgame import is_turn_spot
from sog.nets.shape import shape_for
from sog.searches.cfr.fictitious import FictitiousPlay
from sog.searches.depth_limited.settings import Solver, SolveSettings
from sog.searches.tree.whole import is_large
from sog.training.settings import OVER_HANDS, LearnerSettings, TrainSettings

__all__ = ["playing", "rebel_preset", "with_solver"]

# Fictitious play nears its values so slowly that those of a quarter of play's updates mislead the network for good.
_FP_UPDATES = 1024
_POLICY_WEIGHT = 0.1  # PoG's w_p, as in every other preset; ReBeL's text has none
_PAPERS: Final = SolveSettings(updates=1024, correct=False, hold=0.0)  # nothing of ours
_PAPERS_HOLDEM: Final = replace(_PAPERS, depth=0, to_chance=True)  # to the end of the betting round, on every street
# ReBeL, C.2: a subgame ends with its betting round. Each iteration is measured with rivers of its own.
_TO_THE_TURNS_END: Final = SolveSettings(updates=512, depth=0, to_chance=True)


def rebel_preset(game: Game, name: str) -> TrainSettings:
    """The settings called demo, full, or paper."""
    if name == "paper":
        require_papers_inputs(game)
        return _sized(_paper_holdem(game) if isinstance(game, Holdem) else _paper(game), game)
    small = _turn_endgame(game) if is_turn_spot(game) else _small(game)
    settings = _sized(small, game)
    if name == "full":
        return settings
    if is_turn_spot(game):
        return replace(settings, rounds=10, learner=replace(settings.learner, decay_steps=150))
    return replace(
        settings, rounds=40, games=min(64, settings.games), learner=replace(settings.learner, decay_steps=1_000)
    )


def _sized(settings: TrainSettings, game: Game) -> TrainSettings:
    """With rounds of as many games as take half a minute, where the game is too large to list."""
    return replace(settings, games=0) if is_large(game) else settings


def with_solver(settings: TrainSettings, solver: Solver, warm: int) -> TrainSettings:
    """A preset of ReBeL with another solver or a warm start; SettingError for what no network can serve.

    Where leaves are evaluated by pair of infostates, the network answers with matchups. A warm start needs a policy,
    which is then learned too.
    """
    acting = settings.acting
    assert isinstance(acting, RebelActing)
    fewest = _FP_UPDATES if isinstance(solver.rule, FictitiousPlay) else 0
    solve = replace(acting.solve, solver=solver, warm=warm, updates=max(acting.solve.updates, fewest))
    if solve.pairs and settings.shape.kind != "mlp":
        raise SettingError(f"{solver.name} needs a plain MLP, which this preset's network is not: choose demo or full")
    shape = replace(settings.shape, matchups=solve.pairs)
    learner = replace(settings.learner, policy_weight=_POLICY_WEIGHT if warm else 0.0)
    return replace(settings, acting=replace(acting, solve=solve), learner=learner, shape=shape)


def playing(preset: str, game: object = None) -> SolveSettings:
    """How a network is played with that this preset trained: as it was trained (ReBeL, section 6)."""
    if preset == "paper":
        return _PAPERS_HOLDEM if isinstance(game, Holdem) else _PAPERS
    return _TO_THE_TURNS_END if is_turn_spot(game) else SolveSettings()


def _small(game: Game) -> TrainSettings:
    """Subgames solved with a quarter of the updates of play, so that there are four times as many rows."""
    return TrainSettings(
        acting=RebelActing(SolveSettings(updates=256)),
        learner=LearnerSettings(
            batch=512, learning_rate=2e-3, decay=0.5, decay_steps=10_000, policy_weight=0.0, updates_per_example=32.0
        ),
        shape=shape_for(game, width=256, depth=2, crossed=game.crossed),
        replay=300_000,
        games=256,
        rounds=20_000,
    )


def _turn_endgame(game: Holdem) -> TrainSettings:
    """Hold'em from the turn on: the turn whole, sixteen hands from each solve, rivers by the spot solver."""
    return TrainSettings(
        acting=RebelActing(replace(_TO_THE_TURNS_END, updates=64), games_a_draw=16 if game.draws else 1, exact=32),
        learner=replace(OVER_HANDS, policy_weight=0.0),
        shape=shape_for(game, 64, 2, "hands"),
        games=0,
        rounds=600,
    )


def _paper(game: Game) -> TrainSettings:
    """ReBeL, appendix G, Liar's Dice: epochs of 25,600 examples; the learning rate halves every 400.

    The paper learns for 1,000 epochs; here 40,000 rounds of 256 games give some 800 to 900 of them.
    Each example is learned from once on average, and the window is that of 40 epochs, which the paper leaves open.
    Networks have GELU and layer normalisation; policies, where they are learned, squared errors (section 7). Half of
    the window is dropped after 20 epochs.
    """
    return TrainSettings(
        acting=RebelActing(_PAPERS, share=False),
        learner=LearnerSettings(
            batch=512,
            learning_rate=3e-4,
            decay=0.5,
            decay_steps=20_000,
            stepped=True,
            policy_weight=0.0,
            squared_policies=True,
            updates_per_example=1.0,
        ),
        shape=shape_for(game, width=256, depth=2, kind="gelu"),
        # 25,600 examples an epoch: 40 epochs.
        replay=1_024_000,
        games=256,
        rounds=40_000,
        halved_at=20 * 25_600,
    )


def _paper_holdem(game: Holdem) -> TrainSettings:
    """ReBeL, appendix G, hold'em: epochs of 2,560,000 examples.

    The paper learns the whole game for 1,750 of them and turn endgames for 300; a run here ends by --minutes. The
    learning rate halves every 800 epochs, on turn endgames every 100. Each example is learned from once on average,
    which the paper leaves open. A subgame ends with its betting round (C.1).
    """
    epoch, turn = 2_560_000, is_turn_spot(game)
    learner = replace(
        _paper(game).learner,
        batch=1024,
        learning_rate=4e-4 if turn else 3e-4,
        decay_steps=(100 if turn else 800) * epoch // 1024,
    )
    return TrainSettings(
        acting=RebelActing(_PAPERS_HOLDEM, share=False),
        learner=learner,
        shape=shape_for(game, width=1536, depth=6, kind="gelu"),
        replay=12_000_000,
        rounds=40_000,
        halved_at=20 * epoch,
    )
