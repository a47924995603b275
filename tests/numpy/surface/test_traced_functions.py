"""The table of NumPy's functions by name: every row leads to a function, and a program loads what it uses."""

from __future__ import annotations

import subprocess
import sys
from types import FunctionType

import numpy as np
import pytest

import xjit.numpy as xnp
from xjit.numpy.traced_functions import _MODULES, traced_functions

TRACED = traced_functions()


def test_every_row_leads_to_a_function_of_its_module() -> None:
    for function, own in TRACED.items():
        assert isinstance(own, FunctionType), function
        assert own.__module__ in _MODULES, function
    assert len(TRACED) == sum(len(text.split()) for text in _MODULES.values()) > 200


def test_functions_under_several_names_are_one_row_each() -> None:
    assert TRACED[np.amax] is TRACED[np.max]
    assert TRACED[np.linalg.matrix_transpose] is TRACED[np.matrix_transpose]


def test_what_is_not_traced() -> None:
    assert np.save not in TRACED
    assert TRACED.get(np.save) is None
    with pytest.raises(KeyError):
        TRACED[np.save]


def test_names_of_the_namespace() -> None:
    names = dir(xnp)
    assert {"sum", "add", "linalg", "pi", "float64"} <= set(names)
    assert xnp.sum is TRACED[np.sum]
    assert xnp.linalg.norm is TRACED[np.linalg.norm]
    assert xnp.add is xnp.add
    assert xnp.pi == np.pi
    assert not hasattr(xnp, "save")


def test_a_program_loads_what_it_uses() -> None:
    code = (
        "import numpy as np, sys\nfrom xjit import xjit\n"
        "xjit(lambda x: np.median(x * 2.0))(np.ones(3))\n"
        "print(*(name for name in sys.modules if name.startswith('xjit.numpy.')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "xjit.numpy.reducing.order_statistics" in loaded
    assert (
        not {"xjit.numpy.algebra.transforms", "xjit.numpy.arrays.padding", "xjit.numpy.analysis.polynomials"} & loaded
    )
