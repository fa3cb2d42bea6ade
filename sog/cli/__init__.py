"""The command line `sog`: one file a command; app.py puts them together.

Read app.py (the commands, and how errors end), frame.py and options.py (what all commands share), then a command, such
as solve.py or train.py. stopping.py has Ctrl-C and SIGTERM; train_watch.py and event_log.py what training shows.
"""
