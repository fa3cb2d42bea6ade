"""`python -m sog` is the command `sog`."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

from sog.cli.stopping import listening

_SIGNALLED = 128  # exit codes above are those of commands that a signal ended


def run() -> None:
    """Run the command and leave with its exit code; Ctrl-C counts from the first import until the process exits."""
    with listening():
        try:
            from sog.cli.app import main

            code = main()
        except KeyboardInterrupt:
            print("sog: stopped", file=sys.stderr)
            code = 130
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interpreter is leaving, and has nothing to lose
    if code > _SIGNALLED:  # a thread of a solver may wait, for good, for the one that was stopped
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
