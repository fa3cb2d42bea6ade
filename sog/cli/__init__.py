"""The command line `sog`: one file a command; app.py puts them together."""
