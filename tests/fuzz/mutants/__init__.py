"""Random changes of ordinary programs and of what they are called with."""
