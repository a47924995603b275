"""Regions to loop nests: buffers, accumulators, values."""
