"""Random numbers that functions draw from NumPy's generators, as parts of programs."""
