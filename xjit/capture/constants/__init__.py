"""Constants of Python's, such as text, of which only the run tells which one a variable is."""
