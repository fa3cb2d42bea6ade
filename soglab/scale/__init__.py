"""What a cluster would do: measured rates of one machine, and a model of many."""
