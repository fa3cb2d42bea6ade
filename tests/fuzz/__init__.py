"""Machines that look for what breaks the program: `python -m tests.fuzz.NAME --minutes M`, or all by `make fuzz`."""
