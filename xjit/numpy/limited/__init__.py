"""Arrays whose lengths only the run knows: slices between integers of the run, and what NumPy does with them."""
