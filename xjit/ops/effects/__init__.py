"""Operations with effects: tokens, transfers within the process, barriers, calls of registered functions."""
