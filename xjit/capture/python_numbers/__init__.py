"""Python's numbers that only the run tells: conversions, arithmetic, builtin functions, the module math."""
