"""`sog distil`: the critic of a policy network's training becomes a value network for search by public states."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sog.cli.frame import JsonOption, LimitOption, print_json, progress_bar, say, stdout
from sog.cli.options import count, positive, seed_of, word

__all__ = ["distil"]


def distil(
    checkpoint: Annotated[
        str, typer.Argument(metavar="CHECKPOINT", help="The folder of a run with a critic: one by sepot.")
    ],
    out: Annotated[Path, typer.Option(help="The folder that gets checkpoint/, for sog exploit and sog play.")],
    minutes: Annotated[float | None, positive("Stop after this many minutes; schedules do not change.")] = None,
    steps: Annotated[int, count("Learner steps, over which the learning rate falls.")] = 4_000,
    network: Annotated[str | None, word("Hidden layers x width; by default those of sog train's demo.")] = None,
    values: Annotated[
        str, word("identity: of the policy itself; choice: of the best transformations of it.")
    ] = "identity",
    seed: Annotated[int, seed_of("Seed; without --minutes it fixes all.")] = 0,
    limit_gb: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Distil a critic of histories into a counterfactual value-and-policy network, which GT-CFR and ReBeL search with.

    Beliefs are drawn at public states that the checkpoint's policy and others around it reach. Targets are what
    the critic says of their histories, and the checkpoint's policy. The game must be small enough to be listed by its
    public states. A run that is stopped keeps nothing.
    """
    from sog.algorithms.distil.distil import distil_into, refuse_used
    from sog.algorithms.distil.from_checkpoint import distillation

    started = time.monotonic()
    refuse_used(out)  # before the game is listed and the critic is read
    work = distillation(checkpoint, limit_gb, values, network, steps, seed, progress_bar)
    game = work.meta.game
    with progress_bar(f"distil {game}", steps, "steps", minutes=minutes) as report:
        distilled = distil_into(out, lambda: work.work(minutes, report), game, work.run, say)
    answer = {
        "game": game,
        "checkpoint": checkpoint,
        "out": str(out),
        "values": values,
        "steps": distilled.steps,
        "rows": distilled.rows,
        "value_loss": distilled.value_loss,
        "policy_loss": distilled.policy_loss,
        "seconds": time.monotonic() - started,
    }
    if as_json:
        print_json(answer)
        return
    loss = f"value loss {distilled.value_loss:.4g}, policy loss {distilled.policy_loss:.4g}"
    stdout().print(f"{game}: {distilled.steps:,} steps on {distilled.rows:,} rows, {loss}; {out}", soft_wrap=True)
