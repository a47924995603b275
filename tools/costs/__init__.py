"""What loops over elementary functions cost on processors that are not at hand, counted from their machine code."""
