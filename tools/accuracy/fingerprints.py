"""Fingerprints of the text of vector functions, so that a figure measured of an older text shows as stale.

They cover what a function computes: its own text without comments, the numbers it reads, the functions it calls.
Unlike the keys of compiled code they are the same under every version of Python.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
from typing import Any

from xjit.codegen.language.inline_functions import InlineFunction, free_values, lookup

LENGTH = 16


@functools.cache
def fingerprint(name: str) -> str:
    """The fingerprint of a vector function, its variants included."""
    texts = []
    for variant in (name, f"{name}_near", f"{name}_is_far"):
        function = lookup(variant)
        if function is not None:
            texts.append(_digest(function))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:LENGTH]


@functools.cache
def _digest(function: InlineFunction) -> str:
    values = sorted(free_values(function.function).items())
    parts = [function.signature, _text(function.function), *(f"{name}={_value(value)}" for name, value in values)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _value(value: Any) -> str:
    if isinstance(value, InlineFunction):
        return _digest(value)
    return getattr(value, "__name__", None) or repr(value)


@functools.cache
def _text(function: Any) -> str:
    """The body and the arguments of a function without comments, documentation and decorators."""
    code = function.__code__
    if code.co_filename.startswith("<"):  # a polynomial made from its coefficients: they are all there is to it
        return repr((code.co_varnames, code.co_names, [value for value in code.co_consts if type(value) is float]))
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef):  # a lambda, in the statement that it stands in
        return ast.unparse(tree)
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    return "\n".join([ast.unparse(tree.args), *(ast.unparse(line) for line in body)])
