"""Which statements share a loop nest, and why others do not."""
