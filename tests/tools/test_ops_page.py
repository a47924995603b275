"""docs/ops.md: up to date, with an entry for every public operation that says who computes it."""

from __future__ import annotations

import doctest

import pytest

from tools import ops_page


def test_the_page_is_up_to_date() -> None:
    """After an operation has come, gone or changed its docstring: ``python -m tools.ops_page``."""
    assert ops_page.PAGE.read_text(encoding="utf-8") == ops_page.text()


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("sin", "kernel"),
        ("rng_bit_generator", "kernel"),
        ("argmax", "kernel"),
        ("zeros", "kernel"),
        ("logical_and", "kernel"),
        ("dot", "library and kernel"),
        ("cholesky", "library"),
        ("infeed", "effect"),
        ("optimization_barrier", "effect"),
        ("rng_uniform", "effect and kernel"),
        ("infeed_enqueue", "outside"),
        ("create_token", "outside"),
    ],
)
def test_words(name: str, word: str) -> None:
    assert ops_page.entry(name, ops_page.functions()[name]).word == word


def test_compositions_name_their_records() -> None:
    entry = ops_page.entry("argmin", ops_page.functions()["argmin"])
    assert {"reduce", "convert_element_type"} <= {op.name for op in entry.records}
    assert "`reduce`" in str(entry)


def test_arrays_of_an_example_are_arguments() -> None:
    graph = ops_page.graph_of("add", ops_page.functions()["add"])
    assert len(graph.parameters) == 2 and len(graph.outputs) == 1


def test_examples() -> None:
    assert doctest.testmod(ops_page).failed == 0
