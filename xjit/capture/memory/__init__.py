"""The memory of arrays while they are traced: versions of buffers, views of them, and writes."""
