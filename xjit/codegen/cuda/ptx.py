"""Kernel text to PTX, on any machine: LLVM has a back end for it, and needs no processor to be there."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import Any

import llvmlite.binding as llvm

from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.cpu.llvm_pipeline import Target
from xjit.codegen.cuda import words
from xjit.codegen.front_end import numba_compat
from xjit.codegen.language import inline_functions, intrinsics

TRIPLE = "nvptx64-nvidia-cuda"
_DEFINITION = re.compile(r"^define (?:dso_local )?void @\"?kernel\"?\(", re.MULTILINE)


def target(architecture: str = "sm_90") -> Target:
    """The graphics processor that code is made for.

    >>> target("sm_80").cpu
    'sm_80'
    """
    _initialize()
    return Target(TRIPLE, architecture, "+ptx80")


def ptx(source: str, architecture: str = "sm_90") -> str:
    """The PTX of a kernel ``kernel(lo, hi, table)``, an entry that a grid can be started at.

    Raises KernelTypeError when the text does not follow the kernel language.
    """
    chosen = target(architecture)
    machine = llvm_pipeline.target_machine(chosen)
    return str(machine.emit_assembly(_module(source, chosen)))


def _module(source: str, chosen: Target) -> Any:
    from xjit.codegen.front_end.numba_frontend import Frontend

    used = inline_functions.used_in(source)
    scope = intrinsics.namespace() | words.namespace() | {function.name: function for function in used}
    exec(compile(source, "<kernel>", "exec"), scope)
    frontend = Frontend(replace(chosen.traits, fma=True))
    for name, operation in words.operations().items():
        frontend.typing.add(name, operation)
    result, arguments = inline_functions.parse_signature(numba_compat.KERNEL_SIGNATURE)
    text = frontend.translate(scope[numba_compat.KERNEL], arguments, result, numba_compat.KERNEL, used, source)
    module = llvm_pipeline.parse(_DEFINITION.sub("define ptx_kernel void @kernel(", text), chosen)
    llvm_pipeline.link(module, [numba_compat.inline_function_ir(one.name, target=chosen) for one in used])
    llvm_pipeline.optimise(module, chosen, vectorise=False)
    return module


@functools.cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
