"""Which files belong to a layer, and which tests are about it, the most likely ones first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Programs as users write them: a fault of any layer may show there.
CORE = ("api", "adversarial", "capture", "random_programs", "complex_programs")


@dataclass(frozen=True, slots=True)
class Layer:
    """The files that match, less those that match `but`; the words name the files of its tests.

    `cold`: kernels are compiled anew for each fault, since their names on disk do not tell of it.
    """

    files: str
    tests: str
    but: str = ""
    cold: bool = False

    def sources(self, root: Path) -> dict[str, bytes]:
        """The texts of the layer's files, by their paths from the root."""
        without = set(root.glob(self.but)) if self.but else set()
        found = sorted(set(root.glob(self.files)) - without)
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}

    def test_files(self, root: Path) -> list[str]:
        """The tests to try, in order; those of the core come last."""
        names = dict.fromkeys((*self.tests.split(), *CORE))
        return list(dict.fromkeys(path for name in names for path in _matching(root, name)))


def _matching(root: Path, name: str) -> Iterator[str]:
    for path in sorted(root.glob(f"tests/**/test_{name}.py")):
        yield path.relative_to(root).as_posix()


LAYERS = {
    "api": Layer(
        "xjit/api/**/*.py",
        "api shortcut traces host_steps varying_numbers guards guards_objects bad_input capture_refusals memory_order"
        " numpy_data_dependent",
    ),
    "capture": Layer(
        "xjit/capture/**/*.py",
        "guards guards_objects capture capture_refusals varying_numbers array_namespace bad_input numpy_operands"
        " numpy_indexing shortcut",
    ),
    "runtime": Layer("xjit/runtime/**/*.py", "runtime_* disk_cache interrupts memory codegen_objects"),
    "codegen": Layer(
        "xjit/codegen/**/*.py",
        "codegen_* lowering walks tiles packed overlapped reduction_kernels numba_text golden step_loads searches"
        " extremes tables loop_rules loop_programs",
        but="xjit/codegen/vmath/**/*.py",
        cold=True,
    ),
    "vmath": Layer("xjit/codegen/vmath/**/*.py", "vmath_* vmath wide_forms"),
    "fusion": Layer(
        "xjit/fusion/**/*.py",
        "fusion statements golden explain overlapped in_place memory shared_sweeps tiny_axes kept_columns checks",
    ),
    "ir": Layer("xjit/ir/**/*.py", "ir passes fusion explain complete numpy_indexing intexpr loop_rules"),
    "numpy": Layer("xjit/numpy/**/*.py", "numpy_* array_namespace memory_order"),
    "ops": Layer("xjit/ops/**/*.py", "ops complete numpy_* checks"),
    "passes": Layer("xjit/passes/**/*.py", "passes products chunk_passes fusion ir"),
    "inspect": Layer("xjit/inspect/**/*.py", "explain fusion traces stages"),
    "programs": Layer("xjit/programs/**/*.py", "program_spec runtime_* products"),
    "llvm": Layer("xjit/llvm/**/*.py", "codegen_objects vector_width runtime_*", cold=True),
}
