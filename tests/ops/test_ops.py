"""Every operation on every executor against its case table."""

from __future__ import annotations

import pytest

from tests.cases import (
    cases_arithmetic,
    cases_batch_norm,
    cases_choice,
    cases_compare,
    cases_control,
    cases_conv,
    cases_convert,
    cases_dynamic,
    cases_fft,
    cases_indexing,
    cases_library,
    cases_linalg,
    cases_literals,
    cases_random,
    cases_reduce,
    cases_shape,
    cases_sort,
    cases_unary,
    cases_windows,
)
from tests.cases.element_types import cases_eight_bits, cases_element_types
from tests.cases.regions import cases_compaction, cases_limited_windows, cases_strided_slices
from tests.helpers.harness import EXECUTORS, Case, check

CASES = [
    *cases_arithmetic.CASES,
    *cases_unary.CASES,
    *cases_compare.CASES,
    *cases_control.CASES,
    *cases_convert.CASES,
    *cases_conv.CASES,
    *cases_shape.CASES,
    *cases_choice.CASES,
    *cases_reduce.CASES,
    *cases_linalg.CASES,
    *cases_sort.CASES,
    *cases_fft.CASES,
    *cases_indexing.CASES,
    *cases_strided_slices.CASES,
    *cases_limited_windows.CASES,
    *cases_compaction.CASES,
    *cases_library.CASES,
    *cases_dynamic.CASES,
    *cases_literals.CASES,
    *cases_random.CASES,
    *cases_windows.CASES,
    *cases_batch_norm.CASES,
    *cases_element_types.CASES,
    *cases_eight_bits.CASES,
]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, executor: str) -> None:
    check(case, EXECUTORS[executor])
