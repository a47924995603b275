"""Exponentials, logarithms, powers and hyperbolic functions."""
