"""Protocols: UCI and GTP both ways, ACPC both ways, hand histories, and tournaments."""
