"""Tests of draws of random numbers by routines of NumPy."""
