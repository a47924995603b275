"""Threads: the pool, limits, stand-ins."""
