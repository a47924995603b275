"""Comprehensions and generators whose conditions only the run tells: loops of the graph that fill arrays."""
