"""Random programs over larger arrays, which reach blocks and chunks, and lengths that only the run knows."""
