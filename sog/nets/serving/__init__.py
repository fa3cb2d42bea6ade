"""One network for many searches: an evaluator process that actors of the same machine ask through shared memory."""
