"""For all tests: Hypothesis without deadlines (kernels compile on first use), and kernels whose types are checked."""

from __future__ import annotations

import os

from hypothesis import settings

from sog.searches.kernels.dispatch import SameTypes

settings.register_profile("sog", deadline=None, max_examples=50, derandomize=bool(os.environ.get("CI")))
settings.load_profile("sog")

SameTypes.checked = True
