"""Traces of one function: what calls find, what is built of them, and those for values of the run."""
