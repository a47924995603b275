"""Errors that the function catches: whether it would, and how its handlers get them from the program."""
