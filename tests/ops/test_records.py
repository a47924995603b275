"""Every registered operation is complete: cases, a doc line, code or a declared gap, errors of the agreed form."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import xjit.ops
from tests.helpers.element_executor import KNOWN_PRIMITIVES, primitives
from tests.helpers.harness import run_eager
from tests.ops.test_ops import CASES
from xjit import ops
from xjit.errors import XjitError
from xjit.ir.opdef import Kind, OpDef
from xjit.ops.define.core import registry
from xjit.types import DTYPES, DType, array_type, scalar_type

# Operations whose kind says who computes them: accumulators of kernels, library steps, steps with effects.
COMPUTED_BY_KIND = (Kind.REDUCE, Kind.SCAN, Kind.STRUCTURED, Kind.CONTROL, Kind.EFFECT)
TWO_TYPES = {
    "select",
    "complex",
    "ldexp",
}  # operations whose operands or result have another type than the first operand
EXTRA_PARAMS: dict[str, dict[str, Any]] = {
    "convert_element_type": {"dtype": DTYPES["f32"]},
    "bitcast_convert_type": {},
    "reduce_precision": {"exponent_bits": 4, "mantissa_bits": 2},
    "pack": {"order": (0,)},
    "iota": {"dims": (2,), "axis": 0},
}


def records() -> list[OpDef]:
    """All records, those of modules that only the compiler uses included."""
    for module in modules():
        importlib.import_module(module.__name__)
    return list(registry.values())


def is_tested_apart(op: OpDef) -> bool:
    """Return whether an operation whose effect is not its result has tests of its own."""
    files = (
        "test_transfers.py",
        "test_barriers.py",
        "test_custom_calls.py",
        "test_random_numbers.py",
        "test_python_calls.py",
        "drawing/test_generator_draws.py",
    )
    texts = [(Path(__file__).parent / file).read_text(encoding="utf-8") for file in files]
    has_effects = op.has_effects or op.alone is not None
    return has_effects and any(f"ops.{op.name}(" in text or f'registry["{op.name}"]' in text for text in texts)


def modules() -> list[ModuleType]:
    """The modules of operations; imported by name, since ``xjit.ops.reduce`` is the function."""
    names = [info.name for info in pkgutil.walk_packages(xjit.ops.__path__, "xjit.ops.")]
    return [importlib.import_module(name) for name in names]


def operand_count(op: OpDef) -> int:
    """Return the number of operands that the cases call an elementwise record with."""
    return {"clamp": 3, "select": 3, "iota": 0, "ldexp": 2}.get(op.name, 2 if "lhs" in public(op) else 1)


def public(op: OpDef) -> str:
    """The signature of the public function that goes by the record's name."""
    return str(inspect.signature(getattr(ops, op.name, lambda operand: operand)))


def signature(op: OpDef, dtype: DType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Operand types and params with which to try an elementwise record on an element type."""
    types = [array_type(dtype, (2,))] * operand_count(op)
    params = dict(EXTRA_PARAMS.get(op.name, {}))
    if op.name == "select":
        types[0] = array_type("pred", (2,))
    if op.name == "ldexp":
        types[1] = array_type("s32", (2,))
    if op.name in ("bitcast_convert_type", "iota"):
        params["dtype"] = dtype
    return tuple(types), params


@pytest.mark.parametrize("op", records(), ids=lambda op: op.name)
def test_record(op: OpDef) -> None:
    assert op.doc.endswith("."), "one sentence says what it does"
    apart = is_tested_apart(op) or op.unread  # nobody may tell what is in memory that is not read
    assert apart or any(case.op == op.name for case in CASES), "no case"
    steps = (op.element, op.access, op.pieces)
    assert any(steps) or op.flat or op.kind in COMPUTED_BY_KIND or op.gaps, "neither code, a step nor a declared gap"
    assert op.kind is not Kind.ELEMENTWISE or op.element is not None
    assert all(gap.target in ("cpu", "cuda") and gap.reason for gap in op.gaps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [op for op in records() if op.kind is Kind.ELEMENTWISE], ids=lambda op: op.name)
def test_element(op: OpDef, dtype: str) -> None:
    """Each accepted element type has a scalar expression of the right type, or a gap: declared is actual."""
    assert op.element is not None
    types, params = signature(op, DTYPES[dtype])
    try:
        out = op.infer(types, params)
    except XjitError:
        return
    if op.gap("cpu", tuple(type.dtype for type in types), "") is not None:
        with pytest.raises(TypeError):
            op.element(types, params, out)
        return
    expr = op.element(types, params, out)
    assert expr.dtype == out.dtype
    assert primitives(expr) <= KNOWN_PRIMITIVES


def test_public_names() -> None:
    """Records of XLA operations have a public function, with a docstring."""
    internal = {"bitcast_width"}
    for op in records():
        if op.xla_name is not None and op.name not in internal:
            function = getattr(ops, op.name)
            assert function.__name__ == op.name
            assert len(function.__doc__) > 40
    for name in ("Shape", "DotDimensionNumbers", "XjitError", "ShapeError", "DTypeError", "ArgumentError"):
        assert inspect.isclass(getattr(ops, name))


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_examples(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_examples_of_functions() -> None:
    """Functions that are made from rows are not found by their module: their docstrings are run here."""
    runner, parser = doctest.DocTestRunner(), doctest.DocTestParser()
    for op in records():
        function = getattr(ops, op.name, None)
        if op.kind is Kind.ELEMENTWISE and function is not None and ">>> print(ops." in (function.__doc__ or ""):
            runner.run(parser.get_doctest(function.__doc__, {"ops": ops, "np": np}, op.name, None, 0))
    assert runner.summarize().failed == 0
    assert runner.tries > 50


def messages() -> list[tuple[str, str]]:
    """The name and the message of each error case, from an eager call."""
    found = []
    for case in CASES:
        if isinstance(case.expected, type) and issubclass(case.expected, Exception):
            with pytest.raises(case.expected) as caught:
                run_eager(case.function, case.arrays)
            assert isinstance(caught.value, XjitError)
            found.append((str(case), caught.value.message))
    return found


def rule_of(message: str) -> str:
    """The wording of the rule alone: without operation, operand and numbers."""
    rule = message.split(": ", 2)[2].rpartition("; got ")[0]
    return re.sub(r"-?\d+", "#", rule)


def test_error_wording() -> None:
    """``ops.<name>: <operand or argument>: <rule>; got <values>`` on one line, equal mistakes in equal words."""
    rules: dict[str, set[str]] = {}
    for case, message in messages():
        assert re.fullmatch(r"ops\.\w+: [^\n]+: [^\n]+; got [^\n]+", message), f"{case}: {message}"
        rules.setdefault(rule_of(message), set()).add(case)
    shared = {rule for rule, cases in rules.items() if len({case.split(".")[0] for case in cases}) > 1}
    for expected in (
        "element types differ",
        "sizes differ in dimension #",
        "ranks # and # differ",
        "rank # is required",
        "a dimension of rank # is required",
        "strictly increasing dimensions of rank # are required",
        "distinct dimensions of rank # are required",
        "a permutation of # dimensions is required",
        "# values are required",
    ):
        assert expected in rules, f"no case for: {expected}"
    assert "element types differ" in shared


def test_first_broken_rule() -> None:
    """Element types come before static arguments, and these before shapes."""
    x, y = np.zeros((2, 3), np.float32), np.zeros(4, np.float64)
    with pytest.raises(ops.DTypeError):
        ops.add(x, y, broadcast_dimensions=(5,))
    with pytest.raises(ops.ArgumentError):
        ops.add(x, y.astype(np.float32), broadcast_dimensions=(5,))
    with pytest.raises(ops.DTypeError):
        ops.pad(x, y, ((0, 0, -1),))
    with pytest.raises(ops.ArgumentError):
        ops.pad(x, y.astype(np.float32), ((0, 0, -1), (0, 0, 0)))
    with pytest.raises(ops.DTypeError):
        ops.reduce(x, y, ops.add, (7,))
    with pytest.raises(ops.ArgumentError):
        ops.reduce(x, y.astype(np.float32), ops.add, (7,))


def test_case_names_are_records_or_public() -> None:
    public_names = {name for name, value in vars(ops).items() if inspect.isfunction(value)}
    assert {case.op for case in CASES} <= {op.name for op in records()} | public_names


def test_scalars_know_their_type() -> None:
    """A record's rule also holds for rank 0."""
    for op in records():
        if op.kind is Kind.ELEMENTWISE and op.name not in ("iota", *TWO_TYPES):
            types, params = signature(op, DTYPES["f32"])
            try:
                out = op.infer(tuple(scalar_type(type.dtype) for type in types), params)
            except XjitError:
                continue
            assert out.dims == ()
