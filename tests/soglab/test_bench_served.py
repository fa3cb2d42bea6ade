"""Processes that share an evaluator process search as those that have a network each."""

from __future__ import annotations

from sog.nets.serving.resident import Residence
from soglab.scale.served import OWN, ServedSearches, bench_served


def test_both_search() -> None:
    subject = ServedSearches("kuhn_poker", 1, 8, 5, 1.0, 4)
    served, own = (bench_served(subject, residence, 2, 0.2) for residence in (Residence(), None))
    assert served.searches_per_second > 0 and own.searches_per_second > 0
    assert served.counters is not None and served.counters.actors == 2 and served.counters.mean_batch >= 4
    assert (served.device, own.device, own.counters) == ("cpu", OWN, None)
