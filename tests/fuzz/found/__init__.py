"""Programs as text that failed once."""
