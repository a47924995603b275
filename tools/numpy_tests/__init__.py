"""NumPy's own tests, run with functions that are compiled in place of NumPy's."""
