"""Guards: where values were read from, and the check of all that a trace took for granted."""
