"""One network for many searches: an evaluator process that actors of the same machine query through shared memory."""
