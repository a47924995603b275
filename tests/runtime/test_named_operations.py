"""Records by name: in a process that has traced nothing every one is found."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import xjit.ops
from xjit.ir.context import PROJECT
from xjit.ops.define.core import registry
from xjit.ops.define.named import operation
from xjit.ops.for_numpy.numpy_ufunc import fold_of, pieces_of, record_of


def test_every_record_is_found_in_a_new_process() -> None:
    for module in pkgutil.iter_modules(xjit.ops.__path__, "xjit.ops."):
        importlib.import_module(module.name)
    names = [name for name, record in registry.items() if record.reference.__module__.startswith("xjit.")]
    assert len(names) > 100
    code = (
        f"from xjit.ops.define.named import operation\nfor name in {names}:\n    assert operation(name).name == name"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_records_that_are_made_on_demand() -> None:
    assert operation("numpy_gcd") is record_of(np.gcd)
    assert operation("numpy_gcd_reduce") is fold_of(np.gcd, "reduce")
    assert operation("numpy_add_reduceat") is pieces_of(np.add)
    assert operation("project") is PROJECT


@pytest.mark.parametrize("name", ["no_such_operation", "numpy_save", "numpy_sum_reduce"])
def test_names_of_nothing(name: str) -> None:
    with pytest.raises(KeyError):
        operation(name)
