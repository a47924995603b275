"""Expected values that are computed apart from the code under test."""
