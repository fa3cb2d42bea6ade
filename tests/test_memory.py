"""Free memory, as a container's limits and use leave it."""

from __future__ import annotations

import pytest

from sog import memory

HOST = "MemTotal: 64000000 kB\nMemAvailable: 61000000 kB"
LIMIT, HELD, PARTS = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, 61e9 * 1.024),
        ({LIMIT: "max", HELD: "6000000000"}, 61e9 * 1.024),
        ({LIMIT: "8000000000", HELD: "6000000000"}, 2e9),
        ({LIMIT: "8000000000", HELD: "6000000000", PARTS: "anon 1\ninactive_file 1500000000"}, 3.5e9),
        ({LIMIT: "8000000000", HELD: "9000000000"}, 0),
        (
            {
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": "8000000000",
                "/sys/fs/cgroup/memory/memory.usage_in_bytes": "5000000000",
                "/sys/fs/cgroup/memory/memory.stat": "total_inactive_file 1000000000",
            },
            4e9,
        ),
    ],
)
def test_what_a_container_holds_is_not_free(
    files: dict[str, str], free: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_read", lambda path: {"/proc/meminfo": HOST, **files}.get(path, ""))
    monkeypatch.setattr(memory.os, "sysconf", lambda name: {"SC_PHYS_PAGES": 16_000_000, "SC_PAGE_SIZE": 4096}[name])
    assert memory.available_bytes() == pytest.approx(free)
