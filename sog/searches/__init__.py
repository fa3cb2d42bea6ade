"""Trees, kernels, the CFR family, GT-CFR and exact solutions; no rules, no network.

`sog.search(...)` is also a function, the front door's: growing-tree CFR from the first decision of a game.

    sog.search("leduc_poker", sog.Budget(1000, 1.0), leaves="leduc_poker").policy

See `sog.api.search` for its arguments.
"""
