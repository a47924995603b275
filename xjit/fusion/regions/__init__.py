"""Statements and the values that each of them computes."""
