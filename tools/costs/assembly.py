"""The innermost loop of a kernel's assembly, and how many elements a turn of it writes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.accuracy.loops import LINUX, kernel_text
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.language.scalar_types import KINDS

FEATURES = "+avx,+avx2,+fma,+f16c,+avx512f,+avx512vl,+avx512dq,+avx512bw,+avx512cd,+avx512vbmi2"
BYTES = {"x": 16, "y": 32, "z": 64}

_LABEL = re.compile(r"(\.L\w+):")
_JUMP = re.compile(r"\tj\w+\t(\.L\w+)")
_STORE = re.compile(r"\tv?mov\w+\t%([xyz])mm\d+, [^%]*\((?!%rsp)")


@dataclass(frozen=True, slots=True)
class HotLoop:
    """The instructions of a loop's body, and the elements of its turns."""

    instructions: tuple[str, ...]
    elements: int


def assembly(name: str, cpu: str) -> str:
    """Machine code, as text, of a loop over a function for a processor with AVX-512."""
    function = lookup(name)
    assert function is not None
    text = kernel_text(
        f"{name}({', '.join('vw'[: len(function.arguments)])})",
        function.arguments[0],
        function.result,
        len(function.arguments),
    )
    target = llvm_pipeline.preferring("512", llvm_pipeline.Target(LINUX, cpu, FEATURES))
    module = compile_kernel(text, target=target, keep_ir=True)
    assert module.llvm_ir is not None
    return str(llvm_pipeline.target_machine(target).emit_assembly(llvm_pipeline.parse(module.llvm_ir, target)))


def hot_loop(name: str, cpu: str) -> HotLoop:
    """The innermost loop that writes most elements a turn."""
    function = lookup(name)
    assert function is not None
    size = KINDS[function.result].dtype.itemsize
    loops = [HotLoop(body, written(body) // size) for body in innermost(assembly(name, cpu).splitlines())]
    return max(loops, key=lambda loop: loop.elements)


def innermost(lines: list[str]) -> list[tuple[str, ...]]:
    """The bodies of all loops that have no loop inside."""
    labels: dict[str, int] = {}
    spans = []
    for at, line in enumerate(lines):
        if label := _LABEL.match(line):
            labels[label[1]] = at
        if (jump := _JUMP.match(line)) and jump[1] in labels:
            spans.append((labels[jump[1]], at))
    inner = [
        (start, end)
        for start, end in spans
        if not any(start <= first and last <= end for first, last in spans if (first, last) != (start, end))
    ]
    return [tuple(line for line in lines[start : end + 1] if re.match(r"\t[a-z]", line)) for start, end in inner]


def written(body: tuple[str, ...]) -> int:
    """The bytes that vector stores of a loop write, those to the stack left out."""
    return sum(BYTES[store[1]] for line in body if (store := _STORE.match(line)))
