"""Polynomials, differences, interpolation and special functions."""
