"""`python -m sog` is the command `sog`."""

from __future__ import annotations

import sys

from sog.cli.app import main

sys.exit(main())
