"""Memory of values: layouts, views, which values share a buffer."""
