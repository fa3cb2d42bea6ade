"""The papers' figures and tables, one file each, run by `sog reproduce`."""
