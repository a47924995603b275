"""The same as loops under Numba; arguments are written in place where the program writes them.

A module has `BY_HAND`, functions by the name of the program. They are compiled for all cores where that is faster.
"""
