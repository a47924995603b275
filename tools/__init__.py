"""Tools that derive and check parts of the product; not installed."""
