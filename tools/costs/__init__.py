"""Costs of loops over elementary functions on processors that are not at hand, counted from their machine code."""
