"""Integer expressions and what is proved of them, held against Python's own integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xjit.codegen.language.uncompiled import run_kernel
from xjit.codegen.text.integer_text import IntegerText
from xjit.ir.loops import intexpr
from xjit.ir.loops.intexpr import IntExpr, constant, evaluate, maximum, minimum, substitute, variable, word
from xjit.ir.loops.ranges import Ranges

AT, J, N = variable("i"), variable("j"), word("n")


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    divisors = st.sampled_from([1, 2, 3, 8])
    return st.one_of(
        st.tuples(st.sampled_from("+-*mM"), inner, inner), st.tuples(st.sampled_from("/%"), inner, divisors)
    )


# An expression as a tree, so that it can be built and computed apart.
TREES = st.recursive(st.one_of(st.integers(-9, 9), st.sampled_from(["i", "j", "n"])), combined, max_leaves=12)


def built(tree: Any) -> IntExpr:
    if not isinstance(tree, tuple):
        return constant(tree) if isinstance(tree, int) else word(tree) if tree == "n" else variable(tree)
    operator, one, other = tree
    a, b = built(one), built(other)
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "m":
            return minimum(a, b)
        case "M":
            return maximum(a, b)
        case "/":
            return a // b
    return a % b


def computed(tree: Any, values: dict[str, int]) -> int:
    if not isinstance(tree, tuple):
        return tree if isinstance(tree, int) else values[tree]
    operator, one, other = tree
    a, b = computed(one, values), computed(other, values)
    results = {"+": a + b, "-": a - b, "*": a * b, "m": min(a, b), "M": max(a, b)}
    return a // b if operator == "/" else a % b if operator == "%" else results[operator]


@given(TREES, st.integers(-20, 20), st.integers(-20, 20), st.integers(0, 20))
def test_simplified_expressions_have_the_same_value(tree: Any, i: int, j: int, n: int) -> None:
    values = {"i": i, "j": j, "n": n}
    assert evaluate(built(tree), values) == computed(tree, values)


@given(TREES, TREES, st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 9))
def test_substitution_is_evaluation_in_two_steps(tree: Any, other: Any, i: int, j: int, n: int) -> None:
    values = {"i": i, "j": j, "n": n}
    inner = computed(other, values)
    assert evaluate(substitute(built(tree), {"i": built(other)}), values) == computed(tree, {**values, "i": inner})


@given(TREES, TREES)
def test_equal_expressions_are_one_object(one: Any, other: Any) -> None:
    for known in (intexpr._added, intexpr._multiplied):  # they may know objects that are forgotten elsewhere
        known.cache_clear()
    a, b = built(one), built(other)
    assert a + b is b + a and a * b is b * a and a - a is constant(0) and minimum(a, b) is minimum(b, a)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ((AT + 1) * 4 - AT, "3*i + 4"),
        ((AT * N + J) * 2 - AT * N * 2, "2*j"),
        (minimum(AT + 4, AT + 1), "i + 1"),
        (minimum(N, 4, 7), "min(4, n)"),
        (minimum(minimum(AT, J), N), "min(i, j, n)"),
        (maximum(0, AT - 3), "max(0, i - 3)"),
        ((AT * 16 + 5) // 8, "2*i"),
        ((AT * 16 + J) % 8, "(j % 8)"),
        ((N + 511) // 512, "((n + 511) // 512)"),
        (-AT, "-i"),
        (AT - AT, "0"),
    ],
)
def test_texts(expr: IntExpr, text: str) -> None:
    assert str(expr) == text


def test_what_has_no_value_says_so() -> None:
    with pytest.raises(ZeroDivisionError):
        AT // 0
    with pytest.raises(KeyError):
        evaluate(AT + N, {"i": 3})
    with pytest.raises(ZeroDivisionError):
        evaluate(AT // N, {"i": 3, "n": 0})


def test_names_and_words() -> None:
    expr = minimum(AT * N + 1, J // 3)
    assert expr.names() == {"i", "j"} and expr.words() == {"n"}


@given(TREES, st.integers(-20, 20), st.integers(-20, 20), st.integers(0, 20))
def test_kernel_text_computes_the_same(tree: Any, i: int, j: int, n: int) -> None:
    words = [f"    {name} = word(table, {slot})\n" for slot, name in enumerate("ijn", 1)]
    text = f"def kernel(lo, hi, table):\n{''.join(words)}    out = ptr_i64(table, 0)\n"
    found = np.zeros(1, np.int64)
    run_kernel(f"{text}    st(out, 0, i64({IntegerText().of(built(tree))}))\n", 0, 1, [found, i, j, n])
    assert found[0] == computed(tree, {"i": i, "j": j, "n": n})


# ---- proofs


def test_ranges_of_loops() -> None:
    known = Ranges().within("i", constant(0), N)
    assert known.at_most(constant(0), AT) and known.below(AT, N) and not known.below(AT + 1, N)
    assert not known.at_most(N, AT) and not known.at_most(constant(1), AT)


def test_ranges_of_blocks() -> None:
    known = Ranges().within("b", constant(0), N).within("i", variable("b"), minimum(variable("b") + 512, N))
    assert known.below(AT, N) and known.at_most(variable("b"), AT) and known.at_most(AT, variable("b") + 511)
    assert not known.at_most(AT, variable("b") + 510)


def test_a_range_that_is_entered_is_not_empty() -> None:
    known = Ranges().within("k", constant(0), N).within("i", variable("k") + 1, N)
    assert known.apart(AT, variable("k")) and known.below(variable("k"), N - 1)


def test_named_integers_are_what_they_name() -> None:
    known = Ranges().within("i", constant(0), N).named("j", AT * 2 + 1)
    assert known.below(J, N * 2) and known.apart(J, AT * 2) and not known.at_most(J, AT)


def test_facts_are_used() -> None:
    known = Ranges().within("i", constant(0), N).within("j", constant(0), N)
    assert not known.apart(AT, J)
    assert known.supposing(J - AT - 1).apart(AT, J)
    assert known.supposing(J - AT - 8).below(AT + 7, J)


def test_facts_about_words_are_used() -> None:
    known = Ranges().supposing(N - 3)
    assert known.at_most(constant(0), minimum(N - 3, N * 2 - 5)) and not known.at_most(constant(4), N)


def test_quotients_are_between_their_dividends() -> None:
    start, stop, middle = map(variable, ("b", "e", "w"))
    known = Ranges().within("b", constant(0), N).named("e", minimum(start + 512, N))
    known = known.named("w", start + (stop - start) // 64 * 64)
    assert known.at_most(start, middle) and known.at_most(middle, stop) and known.at_most(stop - 63, middle)
    assert not known.below(start, middle) and not known.below(middle, stop)


def test_products_with_words_grow() -> None:
    known = Ranges().within("i", constant(0), N)
    assert known.at_most(constant(0), AT * N) and known.at_most(AT * N, (N - 1) * N)
    assert not known.at_most(constant(0), AT * J)


@given(TREES, TREES, st.integers(0, 6), st.integers(0, 6), st.integers(1, 6))
def test_what_is_proved_holds(one: Any, other: Any, start: int, extent: int, n: int) -> None:
    known = Ranges().within("i", constant(start), constant(start + extent)).within("j", AT, minimum(AT + 3, N + AT))
    if extent and known.at_most(built(one), built(other)):
        for i in range(start, start + extent):
            for j in range(i, min(i + 3, n + i)):
                values = {"i": i, "j": j, "n": n}
                assert computed(one, values) <= computed(other, values)
