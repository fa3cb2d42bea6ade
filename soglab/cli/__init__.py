"""The laboratory's commands: `sog bench` and `sog reproduce`."""
