"""Naive loops of one group: a loop for each axis, the statements of each pass in order."""
