"""Offers more actions at a decision of a public tree while a game is played, such as a bet of another size."""

from __future__ import annotations

import numpy as np

from sog.errors import GameError
from sog.games.base import NATURE, State
from sog.searches.tree.public_tree import PublicTree

__all__ = ["replace_state"]


def replace_state(public: PublicTree, node: int, s: State) -> None:
    """Put a state in a decision node's place: the same decision, where other actions are offered.

    It is used in play, where a search follows one line and the opponent makes a bet that the tree lacks (PoG, B.7).
    The node keeps its number. Every node that was ever its child is the child over the edge that leads to its state; a
    child whose state has no edge any more waits until it has one again. Trees of searches that hold the node keep the
    actions they had. GameError where somebody else decides, or infostates differ.
    """
    game, before = public.game, public.states[node]
    if game.actor(s) >= NATURE:
        raise GameError(f"{game.name}: nobody decides at {game.state_name(s)!r}")
    if game.actor(s) != game.actor(before) or game.num_infostates(s) != game.num_infostates(before):
        raise GameError(f"{game.name}: {game.state_name(s)!r} is another decision than {game.state_name(before)!r}")
    former_children = {public.states[c]: c for c in np.flatnonzero(public.parent[: public.size] == node).tolist()}
    # The rows of its actions and edges are written for a node of no parent, and are the decision's from then on.
    written = public.add(s, -1)
    public.list_fan(written)
    nodes = public.nodes
    for column in (nodes.action0, nodes.actions, nodes.edge0, nodes.edges, nodes.plain, nodes.same):
        column[node] = column[written]
    public.states[node] = s
    first = int(nodes.edge0[node])
    for e, state in enumerate(game.fan(s).children):
        child = former_children[state] if state in former_children else public.add(state, node)
        public.edges.child[first + e] = child
