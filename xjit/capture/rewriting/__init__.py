"""Functions rewritten from their source so that control flow calls a runtime; they know nothing of traced values."""
