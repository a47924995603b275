"""Every operation of the specification is there: with a record or what it is composed of, a reference, code, cases,
and an entry in docs/ops.md.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.harness import Case, traced
from tests.ops.test_ops import CASES
from tools import ops_page
from xjit import ops
from xjit.compile import lower_graph
from xjit.fusion.plan import HostStep, LibraryStep
from xjit.ir.opdef import Kind
from xjit.ops.define.core import registry
from xjit.target import cpu


def names(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


# The operations of XLA's list, by our names, in its order.
LISTED = names("""
    after_all batch_norm_grad batch_norm_inference batch_norm_training bitcast_convert_type broadcast
    broadcast_in_dim call cholesky clamp collapse concatenate conditional conv conv_general_padding
    convert_element_type custom_call dot dot_general dynamic_slice dynamic_update_slice
    add sub mul div rem max min logical_and logical_or
    eq ne ge gt le lt eq_total_order ne_total_order ge_total_order gt_total_order le_total_order lt_total_order
    abs ceil cos exp floor imag is_finite log logical_not logistic population_count neg real rsqrt sign sqrt cbrt
    tanh round round_nearest_even fft gather get_dimension_size set_dimension_size get_tuple_element infeed iota map
    optimization_barrier pad recv recv_start recv_done reduce reduce_precision reduce_window replica_id reshape rev
    rng_normal rng_uniform rng_bit_generator scatter select select_and_scatter send send_start send_done slice sort
    transpose triangular_solve make_tuple while_loop
""")

# Those of XlaBuilder that the list lacks, and the parts of the process outside of compiled functions.
FURTHER = names("""
    sin tan asin acos atan sinh cosh asinh acosh atanh expm1 log1p erf erfc erf_inv lgamma digamma pow atan2 xor
    and_ or_ not_ shift_left shift_right_logical shift_right_arithmetic clz popcnt nextafter complex conj
    is_nan is_inf is_pos_inf is_neg_inf is_neg_zero square reciprocal top_k argmax argmin
    cumsum cumprod cummax cummin associative_scan reduce_all constant zeros full
    outfeed outfeed_dequeue infeed_enqueue create_token partition_id rng_seed register_custom_call
    conv_general_dilated
""")

# Operations between replicas, of which there is one so far.
OF_REPLICAS = names("""
    all_gather all_reduce cross_replica_sum all_to_all collective_permute reduce_scatter collective_broadcast
""")

OPERATIONS = [*LISTED, *FURTHER]

# Operations that a library may compute, and the step by which results whose size only the run knows leave a program.
OF_LIBRARIES = {"dot_general", "cholesky", "triangular_solve", "fft", "sort", "trim"}

# Operations whose effect is not their result: the tests that take the place of cases.
TESTED_APART = {
    "after_all": "test_transfers",
    "create_token": "test_transfers",
    "infeed": "test_transfers",
    "infeed_enqueue": "test_transfers",
    "outfeed": "test_transfers",
    "outfeed_dequeue": "test_transfers",
    "recv": "test_transfers",
    "recv_start": "test_transfers",
    "recv_done": "test_transfers",
    "send": "test_transfers",
    "send_start": "test_transfers",
    "send_done": "test_transfers",
    "optimization_barrier": "test_barriers",
    "custom_call": "test_custom_calls",
    "register_custom_call": "test_custom_calls",
}
# Operations without operands, of one value.
OF_ONE_VALUE = {"replica_id", "partition_id"}
# Operations that go by another name in the cases, as several go by one.
CASES_OF = {
    "logical_and": "and_",
    "logical_or": "or_",
    "logical_not": "not_",
    "popcnt": "population_count",
    "broadcast": "broadcast_in_dim",
    "collapse": "reshape",
    "rng_uniform": "next_random_blocks",
    "rng_normal": "next_random_blocks",
    "dot": "dot_general",
    "cumsum": "scan",
    "cumprod": "scan",
    "cummax": "scan",
    "cummin": "scan",
    "conv": "conv_general_dilated",
    "conv_general_padding": "conv_general_dilated",
    "top_k": "sort",
}
PAGE = ops_page.PAGE.read_text(encoding="utf-8")


def cases_of(name: str) -> list[Case]:
    """The cases of an operation, those that are mistakes included."""
    wanted = CASES_OF.get(name, name)
    return [case for case in CASES if case.op == wanted or not {name, wanted}.isdisjoint(code_names(case.function))]


def code_names(function: Any) -> tuple[str, ...]:
    """The names that a function's code asks for."""
    code = getattr(function, "__code__", None)
    return () if code is None else tuple(code.co_names)


def test_the_list_is_complete() -> None:
    """No operation is listed twice, and what is public is listed or belongs to NumPy's rules."""
    assert [name for name, count in Counter((*OPERATIONS, *OF_REPLICAS)).items() if count > 1] == []
    assert not set(OF_REPLICAS) & set(vars(ops)), "those of replicas are there: they belong into the list"


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name: str) -> None:
    """The operation is public and documented by an example; what its example is made of has references."""
    function = getattr(ops, name, None)
    assert function is not None, "there is no such operation"
    assert ">>>" in (function.__doc__ or ""), "no example"
    assert re.search(rf"^### `{name}\(", PAGE, re.MULTILINE), "no entry in docs/ops.md"
    entry = ops_page.entry(name, ops_page.functions()[name])
    assert entry.word != "outside" or name in TESTED_APART or name == "register_custom_call"
    for record in entry.records:
        assert callable(record.reference) and registry.get(record.name, record) is record
        assert record.doc.endswith(".")


@pytest.mark.parametrize("name", OPERATIONS)
def test_cases(name: str) -> None:
    """There are a dozen cases of it, elements where it is elementwise, but for the simplest, or tests of its own."""
    if name in TESTED_APART:
        text = (Path(__file__).parent / "ops" / f"{TESTED_APART[name]}.py").read_text(encoding="utf-8")
        assert f"ops.{name}" in text
        return
    cases, record = cases_of(name), registry.get(CASES_OF.get(name, name))
    count = len(cases)
    if record is not None and record.kind is Kind.ELEMENTWISE:
        count = sum(max(np.size(array) for array in (*case.arrays, 0)) for case in cases)
    assert count >= 12 or name in OF_ONE_VALUE, "too few cases"


def chosen(name: str) -> list[Case]:
    """A case for each element type of the first operand."""
    found: dict[Any, Case] = {}
    for case in cases_of(name):
        if not isinstance(case.expected, type):
            found.setdefault(np.asarray(case.arrays[0]).dtype if case.arrays else None, case)
    return list(found.values())


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in TESTED_APART])
def test_code(name: str) -> None:
    """Kernels compute it in every element type that it has cases of, a library only where that is allowed."""
    for case in chosen(name):
        graph, _ = traced(case.function, case.arrays)
        lowered = lower_graph(graph, case.arrays, [False] * len(graph.outputs), target=cpu())
        for part in lowered.all():
            for step in part.plan.steps:
                assert not isinstance(step, HostStep), f"{case}: NumPy runs {step.node.op.name}: {step.reason}"
                if isinstance(step, LibraryStep) and not step.node.op.has_effects:
                    assert step.node.op.name in OF_LIBRARIES, f"{case}: a library computes {step.node.op.name}"
