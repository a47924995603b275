"""Quotients, remainders, roots and the parts of floats."""
