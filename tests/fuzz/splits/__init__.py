"""Random programs with calls in Python, lengths that data decide, and objects."""
