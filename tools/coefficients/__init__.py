"""Derives every number of the vector math functions from its definition."""
