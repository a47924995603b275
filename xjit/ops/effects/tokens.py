"""Tokens: values without data that say what comes after what.

Operations with effects keep the order of the program by themselves. A token is therefore no value of a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xjit.errors import DTypeError
from xjit.ops.define.core import outline

__all__ = ["Token", "after_all", "create_token"]


class Token:
    """A value without data: what hands it out has happened.

    >>> Token()
    Token()
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "Token()"


def create_token() -> Token:
    """A new token, which is ready.

    >>> create_token()
    Token()
    """
    return Token()


def after_all(operands: Sequence[Any]) -> Token:
    """A token that is ready when all of these are; a new one of none. Raises DTypeError for what is no token.

    >>> after_all((create_token(), create_token()))
    Token()
    """
    for place, operand in enumerate(operands):
        if not isinstance(operand, Token):
            raise DTypeError(f"ops.after_all: operands[{place}]: a token is required; got {outline(operand)}")
    return Token()
