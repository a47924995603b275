"""The functions, written from their mathematics: no annotation, nothing that only a compiler asks for."""
