"""From LLVM IR text to an object file: target, passes, linking of inline functions, external symbols.

Uses llvmlite alone.  The passes are LLVM's own for speed, with loop vectorisation and interleaving and
without unrolling, which costs compile time and code size and gains nothing on most loops; those that it helps are
marked (`emit_loops.shape_loops`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm

from xjit.llvm.objects import ALLOWED_EXTERNALS as ALLOWED_EXTERNALS
from xjit.llvm.objects import UnresolvedSymbolError as UnresolvedSymbolError
from xjit.llvm.objects import check_externals as check_externals
from xjit.llvm.objects import declared_symbols as declared_symbols
from xjit.llvm.objects import emit_object as emit_object
from xjit.llvm.objects import run_passes as run_passes
from xjit.llvm.targets import SPEED_LEVEL as SPEED_LEVEL
from xjit.llvm.targets import Target as Target
from xjit.llvm.targets import data_layout as data_layout
from xjit.llvm.targets import host as host
from xjit.llvm.targets import initialize as initialize
from xjit.llvm.targets import new_target_machine as new_target_machine
from xjit.llvm.targets import parsed as parsed
from xjit.llvm.targets import preferring as preferring
from xjit.llvm.targets import target_machine as target_machine

FLAGS = f"O{SPEED_LEVEL} vectorize interleave slp unroll-marked static"
"""The options of the passes; part of an object's key."""


def optimise(module: Any, target: Target, *, vectorise: bool = True, pairs: bool = True) -> None:
    """Runs the passes over a parsed module, in place; ``pairs`` lets them join equal neighbours outside of loops."""
    options = llvm.create_pipeline_tuning_options(SPEED_LEVEL)
    options.loop_vectorization = vectorise
    options.slp_vectorization = vectorise and pairs
    options.loop_interleaving = vectorise
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(target_machine(target), options)
    run_passes(builder.getModulePassManager(), module, builder)


def parse(text: str, target: Target) -> Any:
    """A module from its IR text."""
    module = parsed(text)
    module.triple = target.triple
    module.data_layout = data_layout(target)
    return module


_FUSABLE = re.compile(r"= (fadd|fsub|fmul) ")


def allow_contraction(text: str) -> str:
    """Lets multiplications and additions of unoptimised IR text become fused operations.

    >>> allow_contraction("%x = fmul double %a, %b")
    '%x = fmul contract double %a, %b'
    """
    return _FUSABLE.sub(r"= \1 contract ", text)


def link(module: Any, texts: Sequence[str]) -> None:
    """Links the IR of inline functions into a module; nothing outside it sees them."""
    if not texts:
        return
    public = {function.name for function in module.functions if not function.is_declaration}
    for text in texts:
        module.link_in(parsed(text))
    for function in module.functions:
        if not function.is_declaration and function.name not in public:
            function.linkage = "internal"


def link_as_is(module: Any, text: str) -> None:
    """Links IR into a module with the linkage that it states."""
    module.link_in(parsed(text))


def inline_calls(module: Any, target: Target) -> None:
    """Inlines the functions that are marked so, and runs no other pass."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    options = llvm.create_pipeline_tuning_options(SPEED_LEVEL)
    run_passes(passes, module, llvm.create_pass_builder(target_machine(target), options))


_DEFINITION = re.compile(r'^(define [^\n]*?@"?([^\s"(]+)"?\([^\n]*?)( #\d+)? \{$', re.MULTILINE)


def text_to_link(module: Any, symbol: str, *, out_of_line: bool = False) -> str:
    """The text of an optimised module for linking into others, its function marked to be inlined or never to be."""
    attribute = "noinline" if out_of_line else "alwaysinline"
    text = str(module)
    # In the text, since some versions of llvmlite add the attribute to the result instead of the function.
    found = next(one for one in _DEFINITION.finditer(text) if one[2] == symbol)
    return f"{text[: found.end(1)]} {attribute}{text[found.end(1) :]}"
