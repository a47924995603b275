"""Products: what is formed at once, and what is written as sums."""
