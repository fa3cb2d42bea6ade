"""Tests of where work runs, and what they have done there."""
