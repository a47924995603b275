"""Draws of random numbers in kernels: calls of NumPy's routines, in the order of the statements."""

from __future__ import annotations

import numpy as np

from xjit.codegen.lowering.control.places import Places, packed_view
from xjit.ir.context import CONSTANT
from xjit.ir.loops.nodes import Const, Prim, Statement, Value
from xjit.ir.node import Node
from xjit.ir.opdef import Drawing
from xjit.ir.scalar_expr import Literal

_OF_INTEGERS = {"each": "draw_s64", "one": "draw_bounded", "bounded": "draw_bounded", "trials": "draw_trials"}


def drawn(node: Node, drawing: Drawing, places: Places) -> Statement:
    """Gives a value the numbers that are drawn, one after the other.

    As the primitive moves the state on, the statement stays where it is, and happens once.
    """
    words, *operands = node.inputs
    called = (places.loaded(words, drawing.single), places.loaded(words, drawing.own))
    dtype = node.aval.dtype
    name = "draw_f64" if dtype.kind == "f" else _OF_INTEGERS[drawing.way]
    setup = (Const(Literal.of(np.asarray(8 * drawing.setup, np.int64))),) if drawing.way == "trials" else ()
    number = Prim(name, (*called, *(_value(one, places) for one in operands), *setup), dtype)
    return places.filled(packed_view(node), number) if node.aval.rank else places.stored(node, number)


def _value(node: Node, places: Places) -> Value:
    return Const(node.param("value")) if node.op is CONSTANT else places.loaded(node)
