"""Protocols: UCI and GTP both ways, and tournaments."""
