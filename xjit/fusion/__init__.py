"""Groups the nodes of a graph into kernels and library steps; every merge and every refusal has a reason."""
