"""What derives and checks parts of the product; not installed."""
