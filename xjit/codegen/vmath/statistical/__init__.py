"""Error functions and gamma functions."""
