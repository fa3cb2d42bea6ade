"""One network for many searches: an evaluator process that actors of the same machine query through shared memory.

Read wire.py (the messages), client.py (the actors' side), server.py (the process), resident.py (the network on its
device).
"""
