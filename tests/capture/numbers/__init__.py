"""Numbers of Python's that only the run tells."""
