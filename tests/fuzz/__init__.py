"""Random programs against NumPy: generators, judges, shrinkers; ``python -m tests.fuzz``."""
