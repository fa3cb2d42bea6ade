"""Where a network's weights are kept: on the CPU, or on a CUDA device where there is one."""

from __future__ import annotations

import torch

from sog.errors import SettingError


def find_device(name: str) -> torch.device:
    """The device called cpu, cuda or cuda:N; SettingError where the machine lacks it."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SettingError(f"no device is called {name}; known: cpu, cuda, cuda:N") from None
    if device.type not in ("cpu", "cuda"):
        raise SettingError(f"no device is called {name}; known: cpu, cuda, cuda:N")
    number = int(name.partition(":")[2] or 0)  # torch.device keeps eight bits of it
    if device.type == "cuda" and not number < torch.cuda.device_count():
        raise SettingError(f"there is no {name} here: PyTorch {torch.__version__} sees {_seen()}")
    return device


def _seen() -> str:
    count = torch.cuda.device_count()
    return f"{count} CUDA device{'s' * (count > 1)}" if count else "no CUDA device"
