"""Devices by name; what is not there is refused in one line."""

from __future__ import annotations

import pytest
import torch

from sog.errors import SettingError
from sog.nets.device import find_device


def test_the_cpu_is_there() -> None:
    assert find_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["", "gpu", "meta", "cuda:99", "cuda:128", "cuda:254"])
def test_others_are_refused(name: str) -> None:
    with pytest.raises(SettingError, match=r"known|sees"):
        find_device(name)
