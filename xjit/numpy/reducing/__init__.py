"""Reductions, scans, order statistics and comparisons of arrays."""
