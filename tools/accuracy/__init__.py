"""Errors of the vector functions of kernels: every float32, millions of float64, and where.

``python -m tools.accuracy --help`` lists what can be asked.  :mod:`tools.accuracy.records` says for every function
what it is compared with and where it is looked at; the tests use the same records.
"""
