"""Terms of calls in Python: the functions that are written of them."""

from __future__ import annotations

from typing import Any

import pytest

from xjit.ir.python_terms import Expression, Term, call_of


def operand(number: int) -> Term:
    return Term("operand", number)


def constant(number: int) -> Term:
    return Term("constant", number)


def given(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


NAMES = ("plain", "class", "two words", "ﬁ", "__debug")


def test_every_kind_of_term() -> None:
    pairs = Term("dict", terms=(constant(1), operand(0)))
    cut = Term("cut", terms=(operand(1), operand(0)))
    terms = (
        Term("tuple"),
        Term("tuple", terms=(operand(0),)),
        Term("list", terms=(operand(0), constant(1))),
        pairs,
        cut,
    )
    made = Expression(Term("call", terms=(constant(0), *terms)), 2, (given, "key")).function()
    assert made(2, "abc") == (((), (2,), [2, "key"], {"key": 2}, "ab"), {})


def test_names_of_arguments_are_any_text() -> None:
    term = Term("call", terms=(constant(0), operand(0), *(constant(1) for _ in NAMES)), names=NAMES)
    assert Expression(term, 1, (given, 5)).function()(3) == ((3,), dict.fromkeys(NAMES, 5))


def test_results_may_be_called() -> None:
    inner = Term("call", terms=(constant(0), operand(0)))
    assert Expression(Term("call", terms=(inner, operand(1))), 2, (lambda a: lambda b: (a, b),)).function()(1, 2) == (
        1,
        2,
    )


def test_the_call_of_a_function() -> None:
    assert call_of(given, 3).function()(1, 2, 3) == ((1, 2, 3), {})


WRONG = {
    "operand": operand(1),
    "negative operand": operand(-1),
    "constant": constant(1),
    "names": Term("call", terms=(constant(0),), names=("a",)),
    "pairs": Term("dict", terms=(constant(0),)),
    "function": Term("call"),
    "array": Term("cut"),
}


@pytest.mark.parametrize("name", WRONG)
def test_terms_that_contradict_themselves(name: str) -> None:
    with pytest.raises(ValueError, match=r"of 1|names|zip|unpack"):
        Expression(WRONG[name], 1, (given,)).function()
