"""Hypothesis settings for all tests: no deadlines (kernels compile on first use), one fixed draw in CI."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("sog", deadline=None, max_examples=50, derandomize=bool(os.environ.get("CI")))
settings.load_profile("sog")
