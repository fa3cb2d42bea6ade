"""How much memory this machine, or the container that the program runs in, has and this process holds."""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path
from typing import Final

try:
    import resource
except ImportError:  # Windows
    _HAVE_USAGE = False
else:
    _HAVE_USAGE = True

__all__ = ["available_bytes", "gigabytes", "held_bytes", "machine_bytes"]

_CGROUP_USE: Final = (  # how much is held, and the words for what of it is a cache of files, given up when needed
    ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "inactive_file"),
    ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"),
)
_CGROUP_LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_ASSUMED: Final = 4 * 10**9  # of a machine whose system does not say
_RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024  # of getrusage's largest resident set


def machine_bytes() -> int:
    """All the memory that the machine or its container has; 4 GB where the system does not say."""
    whole = [os.sysconf("SC_PHYS_PAGES") * mmap.PAGESIZE] if hasattr(os, "sysconf") else []
    limits = [int(text) for path in _CGROUP_LIMITS if (text := _read(path)).isdecimal()]
    return min([*whole, *(limit for limit in limits if limit > 0)], default=_ASSUMED)


def available_bytes() -> int:
    """What could still be used without swapping, as the system says; all memory where it says nothing."""
    for line in _read("/proc/meminfo").splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return max(0, min(1024 * int(amount.split()[0]), machine_bytes() - _container_bytes()))
    return max(0, machine_bytes() - _container_bytes())


def _container_bytes() -> int:
    """What the container that the program runs in holds already; 0 where it has no limit."""
    limited = [limit for limit in map(_read, _CGROUP_LIMITS) if limit.isdecimal()]
    for held, parts, cache in _CGROUP_USE if limited else ():
        if (text := _read(held)).isdecimal():
            usage = dict(line.split(maxsplit=1) for line in _read(parts).splitlines())
            return max(0, int(text) - int(usage.get(cache, "0")))
    return 0


def held_bytes() -> int:
    """What this process holds in memory now; where the system does not say, what it held at most, or else 0."""
    fields = _read("/proc/self/statm").split()
    if len(fields) > 1:
        return int(fields[1]) * mmap.PAGESIZE
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT if _HAVE_USAGE else 0


def gigabytes(count: float) -> str:
    """A number of bytes for people, such as 1.5 GB."""
    return f"{count / 1e9:,.3g} GB" if count < 1e12 else f"{count / 1e9:,.0f} GB"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
