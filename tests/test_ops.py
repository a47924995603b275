"""Every operation on every executor against its case table."""

from __future__ import annotations

import cases_arithmetic
import cases_choice
import cases_compare
import cases_convert
import cases_fft
import cases_library
import cases_linalg
import cases_reduce
import cases_shape
import cases_sort
import cases_unary
import pytest
from harness import EXECUTORS, Case, check

CASES = [
    *cases_arithmetic.CASES,
    *cases_unary.CASES,
    *cases_compare.CASES,
    *cases_convert.CASES,
    *cases_shape.CASES,
    *cases_choice.CASES,
    *cases_reduce.CASES,
    *cases_linalg.CASES,
    *cases_sort.CASES,
    *cases_fft.CASES,
    *cases_library.CASES,
]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, executor: str) -> None:
    check(case, EXECUTORS[executor])
