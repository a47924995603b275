"""Element types that operations admit: each of them has a case, and the others are refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.case_values import ALL
from tests.helpers.harness import Case, array
from tests.test_complete import OPERATIONS, TESTED_APART, cases_of, names
from xjit import jit, ops
from xjit.types import DTYPES, NAMES, in_classes

# Elementwise operations: the number of operands and the classes of element types, all operands of one type.
ELEMENTWISE = {
    (2, "PIFC"): names("add mul eq ne"),
    (2, "IFC"): names("sub div pow"),
    (2, "IF"): names("rem"),
    (2, "PIF"): names("""
        max min ge gt le lt
        eq_total_order ne_total_order ge_total_order gt_total_order le_total_order lt_total_order
    """),
    (2, "PI"): names("and_ or_ xor logical_and logical_or"),
    (2, "I"): names("shift_left shift_right_logical shift_right_arithmetic"),
    (2, "F"): names("atan2 nextafter"),
    (2, "f32 f64"): names("complex"),
    (1, "IFC"): names("abs neg sign square"),
    (1, "FC"): names("""
        cos exp imag log logistic real rsqrt sqrt tanh sin tan asin acos atan sinh cosh asinh acosh atanh expm1 log1p
        conj reciprocal
    """),
    (1, "F"): names("""
        ceil floor is_finite cbrt round round_nearest_even erf erfc erf_inv lgamma digamma
        is_nan is_inf is_pos_inf is_neg_inf is_neg_zero
    """),
    (1, "PI"): names("not_ logical_not"),
    (1, "I"): names("population_count popcnt clz"),
}
# The classes of one operand of the others, or of their results.
OTHERS = {
    "PIFC": names("""
        bitcast_convert_type broadcast broadcast_in_dim call collapse concatenate conditional convert_element_type
        dot dot_general dynamic_slice dynamic_update_slice gather get_dimension_size set_dimension_size
        get_tuple_element map pad reduce reduce_window reshape rev scatter select slice sort transpose make_tuple
        while_loop associative_scan reduce_all constant zeros full
    """),
    "IFC": names("conv conv_general_padding conv_general_dilated iota cumsum cumprod select_and_scatter"),
    "PIF": names("clamp"),
    "IF": names("argmax argmin top_k cummax cummin"),
    "FC": names("cholesky triangular_solve"),
    "F": names("batch_norm_grad batch_norm_inference batch_norm_training reduce_precision"),
    "f32 f64 C": names("fft"),
    "I": names("rng_bit_generator"),
    "P s32 s64 u32 u64 f16 bf16 f32 f64": names("rng_uniform"),
    "f16 bf16 f32 f64": names("rng_normal rng_seed"),
    "u32": names("replica_id partition_id"),
}
CLASSES = {name: classes for (_, classes), listed in ELEMENTWISE.items() for name in listed}
CLASSES |= {name: classes for classes, listed in OTHERS.items() for name in listed}


def types_of(case: Case) -> set[str]:
    """The element types of a case's operands and results."""
    results = case.expected if isinstance(case.expected, tuple) else (case.expected,)
    return {NAMES[one.dtype] for one in map(np.asarray, (*case.arrays, *results)) if one.dtype in NAMES}


def test_every_operation_has_its_classes() -> None:
    assert set(CLASSES) == set(OPERATIONS) - set(TESTED_APART)


@pytest.mark.parametrize("name", CLASSES)
def test_every_admitted_type_has_a_case(name: str) -> None:
    cases = [case for case in cases_of(name) if not isinstance(case.expected, type)]
    found = set().union(*map(types_of, cases))
    assert {dtype for dtype in ALL if in_classes(DTYPES[dtype], CLASSES[name])} <= found


@pytest.mark.parametrize(
    ("name", "arity", "classes"),
    [(name, *key) for key, listed in ELEMENTWISE.items() for name in listed],
    ids=[name for listed in ELEMENTWISE.values() for name in listed],
)
def test_other_types_are_refused(name: str, arity: int, classes: str) -> None:
    function = getattr(ops, name)
    for dtype in ALL:
        if not in_classes(DTYPES[dtype], classes):
            operands = [array(dtype, [1, 0])] * arity
            for call in (function, jit(function, strict=True)):
                with pytest.raises(ops.DTypeError):
                    call(*operands)
