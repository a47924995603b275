"""docs/coverage.md: what it says of a sample of functions is so, and no function is left out."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tools import coverage
from xjit.ir.current import current

PAGE = coverage.PAGE.read_text(encoding="utf-8")
SECTIONS = dict(zip(*[iter(re.split(r"^## ([\w.]+): \d+ of \d+$", PAGE, flags=re.MULTILINE)[1:])] * 2, strict=True))
SAMPLE = """
    add exp arctan2 logaddexp frexp sum std argmax cumsum take where einsum kron tile pad diff trace matmul nansum
    sort unique histogram2d linspace polyfit packbits nonzero zeros
"""


def listed(section: str, name: str) -> str:
    """The word that the page has for a function."""
    for word, names in re.findall(r"^\*\*([\w ]+)\*\* \(\d+\): (.*)$", SECTIONS[section], re.MULTILINE):
        if f"`{name}`" in names.split():
            return str(word)
    raise AssertionError(f"{section}.{name} is not listed")


@pytest.mark.parametrize("name", SAMPLE.split())
def test_what_the_page_says_is_so(name: str) -> None:
    assert coverage.status(getattr(np, name)) == listed("numpy", name)


def frozen(x: Any) -> Any:
    """Constants where it is traced, what its argument holds elsewhere."""
    return x * 2.0 if current() is None else np.arange(6.0)


def picky(x: Any) -> Any:
    """Takes numbers, and arrays whose elements decide the shape of the result."""
    return np.trim_zeros(x) if np.ndim(x) else 2.0


def test_constants_are_not_counted_as_compiled() -> None:
    assert coverage.status(frozen) == "not yet"
    assert coverage.status(picky) == "depends on data"


def test_the_page_has_all_functions_that_are_traced() -> None:
    from xjit.numpy.traced_functions import traced_functions
    from xjit.numpy.ufuncs import ROWS

    text = SECTIONS["numpy"]
    missing = [
        name
        for section, name, function in coverage.functions()
        if section == "numpy" and (function in ROWS or function in traced_functions()) and f"`{name}`" not in text
    ]
    assert missing == []
