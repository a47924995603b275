"""The same as pure functions under JAX, for some of the programs.

A module has `PORTS`, functions by the name of the program. They take the arguments of the program, with whole numbers
known while tracing, and return its results followed by the arguments that it writes.
"""
