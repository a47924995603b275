"""Operations in every element type that they admit, and in every one that they refuse."""
