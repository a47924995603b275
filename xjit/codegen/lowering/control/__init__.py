"""Loops that carry values, and branches, as one kernel."""
