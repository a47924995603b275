"""Programs and their steps."""
