"""Faults put into the code on purpose, and whether the tests see them."""
