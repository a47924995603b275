"""Loops and branches over the values of NumPy code, with nested containers as their state."""
