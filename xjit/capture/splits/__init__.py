"""Splits: what cannot be captured is called in Python, between the compiled parts of a program."""
