"""Operations of control: which of them become one kernel, and the graphs that it runs."""
