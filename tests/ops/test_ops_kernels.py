"""Every operation through the whole pipeline against its case table.

Uncompiled, all cases of moderate size. Compiled, which takes longer, each operation once with each element type and
a sample of the rest that is fixed by the names of the cases.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest

from tests.helpers.gaps import declared, refused_then_run
from tests.helpers.harness import Case, check
from tests.helpers.kernel_executors import Executor, run_parallel, run_serial, run_uncompiled
from tests.ops.test_ops import CASES

# Elements that plain Python gets through in a moment.
MODERATE = 256
# One in so many of the further cases is compiled.
SAMPLE = 16


def _size(case: Case) -> int:
    expected = case.expected if isinstance(case.expected, tuple) else (case.expected,)
    return sum(getattr(one, "size", 1) for one in (*case.arrays, *expected))


def _chosen(cases: list[Case]) -> Iterator[Case]:
    seen = set()
    for case in cases:
        kind = (case.op, case.arrays[0].dtype if case.arrays else None, isinstance(case.expected, type))
        if kind not in seen or zlib.crc32(str(case).encode()) % SAMPLE == 0:
            seen.add(kind)
            yield case


def check_kernels(case: Case, run: Executor) -> None:
    """The case under strict; what falls into a declared gap is refused there, and right without."""
    gap = declared(case.op, case.arrays)
    if gap is None or isinstance(case.expected, type):
        check(case, run)
    else:
        check(case, lambda function, arrays: refused_then_run(gap, lambda: run(function, arrays)))


@pytest.mark.parametrize("case", [case for case in CASES if _size(case) <= MODERATE], ids=str)
def test_uncompiled(case: Case) -> None:
    check_kernels(case, run_uncompiled)


@pytest.mark.parametrize("case", list(_chosen(CASES)), ids=str)
def test_compiled(case: Case) -> None:
    check_kernels(case, run_serial)
    check_kernels(case, run_parallel)
