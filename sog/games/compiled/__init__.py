"""Games compiled from their histories into public states, as arrays."""
