"""The table of vector functions says what their modules say, and asking it loads none of them."""

from __future__ import annotations

import subprocess
import sys

from xjit.codegen.lowering import variants
from xjit.codegen.vmath import COMPLEX_FUNCTIONS, VECTOR_FUNCTIONS

FUNCTIONS = {**VECTOR_FUNCTIONS, **COMPLEX_FUNCTIONS}


def test_table_of_the_modules() -> None:
    assert frozenset(FUNCTIONS) == variants.NAMES
    assert {name for name, function in FUNCTIONS.items() if function.varied} == variants.VARIED
    assert {name for name, function in FUNCTIONS.items() if function.frequent} == variants.FREQUENT


def loaded(code: str) -> set[str]:
    text = f"import sys\n{code}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


PLAIN = "def kernel(lo, hi, table):\\n    x = ptr_f64(table, 0)\\n    st(x, lo, f64(1.0))"


def test_plain_kernels_load_no_vector_functions() -> None:
    names = loaded(
        f"from xjit.codegen.language import inline_functions\nassert inline_functions.used_in('{PLAIN}') == ()"
    )
    assert not any(name.startswith("xjit.codegen.vmath") for name in names)


def test_kernels_that_call_vector_functions_load_them() -> None:
    text = PLAIN.replace("f64(1.0)", "exp_f64(f64(1.0))")
    check = f"(used,) = inline_functions.used_in('{text}')\nassert used.name == 'exp_f64'"
    assert "xjit.codegen.vmath.exponentials.exp" in loaded(
        f"from xjit.codegen.language import inline_functions\n{check}"
    )


def test_lowering_loads_no_vector_functions() -> None:
    code = (
        "import numpy as np\nfrom xjit import xjit\nx = np.ones((3, 4))\n"
        "xjit(lambda x: np.sin(x) + x.mean(axis=1, keepdims=True)).source(x)"
    )
    assert not any(name.startswith("xjit.codegen.vmath") for name in loaded(code))
