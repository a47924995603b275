"""Programs: the plan and the lowered kernels as plain data for a runtime, and the kernels by content."""
