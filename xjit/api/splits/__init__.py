"""Split functions at the call: what their steps in Python are, and whether they are worth it."""
