"""The pool, its threads, and their limits."""
