"""Dynamic sizes: dimensions whose extent only the run knows, carried beside values that stay at their bound."""
