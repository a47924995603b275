"""Random programs composed of ordinary statements."""
