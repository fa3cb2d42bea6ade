"""DeepMind's mctx beside our searches, where it is installed: its MuZero policy with a model that answers constants.

mctx has no rules of a game. Its model is a function that is compiled with the search, and all of a game's actions are
legal everywhere, so that these rows are of the search's own work alone.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

__all__ = ["is_installed", "mctx_search"]


def is_installed() -> bool:
    """Whether mctx can be imported: `pip install mctx`."""
    return importlib.util.find_spec("mctx") is not None


def mctx_search(actions: int, simulations: int, batch: int) -> Callable[[], None]:
    """A call makes `batch` searches of `simulations` simulations each; the first call compiles.

    Every value is 0 and every prior uniform over `actions` actions. A discount of -1 makes it a game of two players.
    """
    import jax
    import jax.numpy as jnp
    import mctx

    logits, zeros = jnp.zeros((batch, actions)), jnp.zeros(batch)

    def model(params: tuple[()], key: Any, action: Any, embedding: Any) -> tuple[Any, Any]:
        answer = mctx.RecurrentFnOutput(reward=zeros, discount=zeros - 1.0, prior_logits=logits, value=zeros)
        return answer, embedding

    def policy(key: Any) -> Any:
        root = mctx.RootFnOutput(prior_logits=logits, value=zeros, embedding=zeros)
        return mctx.muzero_policy((), key, root, model, simulations, dirichlet_fraction=0.0).action

    compiled, key = jax.jit(policy), jax.random.PRNGKey(0)
    return lambda: jax.block_until_ready(compiled(key))
