"""XLA's operation semantics, strict and complete: nothing is promoted, nothing broadcasts by itself."""
