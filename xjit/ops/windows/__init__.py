"""Operations over windows: padding, the windowed access, reductions of windows."""
