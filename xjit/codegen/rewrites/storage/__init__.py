"""Rewrites that give elements other storage: nearer, smaller, in another order, or one of their own."""
