"""The shape of the code base: file sizes, who may import whom, ambient state, how text is made.

Each rule is a function from a parsed file to the lines that break it, so that it can be tried on a bad example: the
second half of this file breaks every rule once.
"""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 500

# Every layer imports only from itself and from the layers before it.
LAYERS = (
    ("dataclass", "lazy"),
    ("errors",),
    ("config",),
    ("watch",),
    ("alignment", "showing", "types"),
    ("numerics",),
    ("machine",),
    ("target",),
    ("tree",),
    ("ir",),
    ("jobs",),
    ("llvm",),
    ("ops",),
    ("passes",),
    ("numpy",),
    ("capture",),
    ("fusion",),
    ("codegen",),
    ("runtime",),
    ("replicas",),
    ("programs",),
    ("compile",),
    ("inspect",),
    ("api",),
    ("cache", "__main__", "__init__"),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# The one ambient value of the project lives here.
CONTEXT = "xjit/ir/current.py"
# No code of the user, no library and no compiled program runs under a lock, and forks know of these.
LOCKS = (
    "xjit/jobs.py",
    "xjit/ops/effects/waiting.py",
    "xjit/runtime/parallel/blas_limits.py",
    "xjit/runtime/parallel/pool.py",
    "xjit/runtime/parallel/stand_ins.py",
)
LOCKING = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "allocate_lock", "cached_property"}
# The number of threads is a setting of the calling thread.
THREAD_LOCAL = ("xjit/runtime/parallel/threads.py",)


COMPILER_USERS = {"numba": ("codegen",), "llvmlite": ("llvm", "codegen", "runtime")}


@dataclass(frozen=True)
class Source:
    """A parsed file; `path` is relative to the repository, with slashes."""

    path: str
    text: str = field(repr=False)

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def module(self) -> list[str]:
        """The dotted name in parts, `__init__` included."""
        return self.path.removesuffix(".py").split("/")


def sources(*folders: str) -> list[Source]:
    """Return all Python files below the folders."""
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


Rule = Callable[[Source], Iterator[str]]


def broken(rule: Rule, files: list[Source]) -> list[str]:
    """Return `path: what` for every violation."""
    return [f"{file.path}: {what}" for file in files for what in rule(file)]


# Rules


def too_long(file: Source) -> Iterator[str]:
    count = len(file.text.splitlines())
    if count > MOST_LINES:
        yield f"{count} lines"


def imported(file: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield line and dotted parts of everything of the package that the file imports, wherever it does."""
    package = file.module[:-1]
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.split(".")
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            for alias in node.names:
                yield node.lineno, [*base, alias.name]
        elif isinstance(node, ast.Call) and called_name(node) in ("import_module", "__import__"):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node.lineno, argument.value.split(".")


def layer_of(parts: list[str]) -> str:
    """Return the layer of a dotted name inside the package; the package itself is its `__init__`."""
    return parts[1] if len(parts) > 1 and parts[1] in RANK else "__init__"


def upward_imports(file: Source) -> Iterator[str]:
    own = file.module[1]
    if own not in RANK:
        yield f"`{own}` belongs to no layer"
        return
    for line, parts in imported(file):
        if parts[0] == "xjit" and RANK[layer_of(parts)] > RANK[own]:
            yield f"line {line} imports {'.'.join(parts)} from a later layer"


def called_name(node: ast.Call) -> str | None:
    """Return the last part of the name of what is called."""
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else None


def context_variables(file: Source) -> Iterator[str]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and called_name(node) == "ContextVar" and file.path != CONTEXT:
            yield f"line {node.lineno} makes a ContextVar"


def thread_locals(file: Source) -> Iterator[str]:
    if file.path in THREAD_LOCAL:
        return
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ImportFrom):
            found = node.module == "threading" and any(alias.name == "local" for alias in node.names)
        else:
            found = isinstance(node, ast.Attribute) and ast.unparse(node) == "threading.local"
        if found:
            yield f"line {node.lineno} uses threading.local"


def locks(file: Source) -> Iterator[str]:
    """Locks, which outlive in a forked child the threads that hold them; and the garbage collector of all threads."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
        else:
            names = {node.attr} if isinstance(node, ast.Attribute) else set()
        of_users = file.path == "xjit/capture/recording/user_objects.py" and names == {"cached_property"}
        if names & LOCKING and file.path not in LOCKS and not of_users:
            yield f"line {node.lineno} uses {names & LOCKING}"
    yield from (f"line {line} imports gc" for line, parts in imported(file) if parts[0] == "gc")


TEXT_MAKERS = ("str", "repr", "hex", "format", "join")


def makes_text(node: ast.AST) -> bool:
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.Call):
        return called_name(node) in TEXT_MAKERS
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        return is_text(node.left) or is_text(node.right)
    return False


def is_text(node: ast.AST) -> bool:
    """Return whether an expression is text for certain."""
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or is_text(node.right)
    return isinstance(node, ast.Call) and called_name(node) in TEXT_MAKERS


def names_from_addresses(file: Source) -> Iterator[str]:
    for outer in ast.walk(file.tree):
        if makes_text(outer):
            for node in ast.walk(outer):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id":
                    yield f"line {node.lineno} makes text from id()"


def text_by_increments(file: Source) -> Iterator[str]:
    for function in ast.walk(file.tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            continue
        text_names = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and is_text(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
                target = node.target.id if isinstance(node.target, ast.Name) else None
                if is_text(node.value) or target in text_names:
                    yield f"line {node.lineno} builds text with +="


def hushed(file: Source) -> Iterator[str]:
    for number, line in enumerate(file.text.splitlines(), 1):
        if re.search(r"#\s*type:\s*ignore", line):
            yield f"line {number} silences the type checker"
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield f"line {node.lineno} is a bare except"


def compiler_imports(file: Source) -> Iterator[str]:
    """Numba and llvmlite are known to few layers, so that another compiler could take their place."""
    for line, parts in imported(file):
        if parts[0] in COMPILER_USERS and file.module[1] not in COMPILER_USERS[parts[0]]:
            yield f"line {line} imports {parts[0]}"


# Walls inside of the order: who does not know whom, although it lies further down.
WALLS = {"runtime": ("fusion", "codegen")}


def over_walls(file: Source) -> Iterator[str]:
    """Imports over a wall: a runtime takes plain data, so that another one may take its place."""
    for line, parts in imported(file):
        if parts[0] == "xjit" and layer_of(parts) in WALLS.get(file.module[1], ()):
            yield f"line {line} imports {'.'.join(parts)} over a wall"


# What planning hands to lowering.
OF_PLANS = ("plan", "statements")
# What is made of groups and yet speaks of primitives, which have the names of operations.
OF_PRIMITIVES = ("elements", "reductions", "running")


def lowers_groups(file: Source) -> bool:
    """Return whether a file of the code generator makes loops of what the planner has decided."""
    of_plans = any(parts[:2] == ["xjit", "fusion"] and parts[2] in OF_PLANS for _, parts in imported(file))
    return of_plans and file.module[-1] not in OF_PRIMITIVES


def named_operations(file: Source, names: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names:
            yield f"line {node.lineno} names the operation {node.value!r}"


# On every machine the same: where memory begins, on which kernels, programs and their entries agree; and which
# numbers of a program stay in the text.
OF_NO_MACHINE = {
    "xjit/codegen/lowering/elements.py": {"SMALL"},
    "xjit/passes/turns/carried_spans.py": {"_DEEPEST", "_MOST_TRIALS"},
    "xjit/passes/turns/written_first.py": {"MOST_TOUCHES"},
}


def numbers_of_machines(file: Source) -> Iterator[str]:
    """Numbers that stand as constants where plans and loops are made; they belong to the machine or to numerics."""
    for node in file.tree.body:
        if isinstance(node, ast.Assign) and is_number(node.value):
            names = {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
            found = sorted(names - OF_NO_MACHINE.get(file.path, set()))
            yield from (f"line {node.lineno} makes {name} a constant" for name in found)


def makes_loops(file: Source) -> bool:
    """Return whether a file of the code generator makes loops."""
    return any(parts[:3] == ["xjit", "codegen", "scopes"] for _, parts in imported(file)) or lowers_groups(file)


def is_number(node: ast.AST) -> bool:
    """Return whether an expression is one number for certain, or several."""
    if isinstance(node, ast.Tuple):
        return all(map(is_number, node.elts)) and bool(node.elts)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


# The code base keeps the rules


EVERYWHERE = ("xjit", "tests", "perf", "examples")


def test_files_are_short() -> None:
    assert not broken(too_long, sources(*EVERYWHERE))


def test_layers_import_downward() -> None:
    assert not broken(upward_imports, sources("xjit"))


def test_runtime_takes_plain_data() -> None:
    assert not broken(over_walls, sources("xjit"))


def test_one_ambient_value() -> None:
    assert not broken(context_variables, sources("xjit"))
    (context,) = (file for file in sources("xjit/ir") if file.path == CONTEXT)
    made = [node for node in ast.walk(context.tree) if isinstance(node, ast.Call)]
    assert [called_name(node) for node in made].count("ContextVar") == 1


def test_thread_state_in_one_place() -> None:
    assert not broken(thread_locals, sources("xjit"))


def test_locks_in_few_places() -> None:
    assert not broken(locks, sources("xjit"))


def test_no_names_from_addresses() -> None:
    assert not broken(names_from_addresses, sources("xjit/fusion", "xjit/codegen"))


def test_text_is_written_not_added_up() -> None:
    assert not broken(text_by_increments, sources("xjit/codegen"))


def test_nothing_is_hushed() -> None:
    assert not broken(hushed, sources(*EVERYWHERE))


def test_compiler_is_known_to_few() -> None:
    assert not broken(compiler_imports, sources("xjit"))


def test_planning_and_lowering_name_no_operation() -> None:
    importlib.import_module("xjit")
    registry = importlib.import_module("xjit.ops.define.core").registry
    elementwise = frozenset(name for name, op in registry.items() if op.kind.name == "ELEMENTWISE")
    assert len(elementwise) > 20
    lowering = [file for file in sources("xjit/codegen") if lowers_groups(file)]
    assert len(lowering) > 20
    files = sources("xjit/fusion") + lowering
    assert not broken(lambda file: named_operations(file, elementwise), files)


def test_numbers_of_machines_are_handed_down() -> None:
    lowering = [file for file in sources("xjit/codegen") if makes_loops(file)]
    assert len(lowering) > 20
    assert not broken(numbers_of_machines, sources("xjit/fusion", "xjit/passes") + lowering)


def test_import_loads_no_compiler() -> None:
    code = "import sys, xjit; print(*({'numba', 'llvmlite'} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "\n"


def test_version_is_the_packages() -> None:
    import xjit

    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert xjit.__version__ == metadata["project"]["version"]


# Every rule finds what it is for

BAD = {
    "long": (too_long, "xjit/errors.py", "a = 1\n" * 501),
    "absolute": (upward_imports, "xjit/ops/a.py", "from xjit.fusion import plan"),
    "plain": (upward_imports, "xjit/ops/a.py", "import xjit.codegen.lowering.lower"),
    "relative": (upward_imports, "xjit/ops/a.py", "from ..capture.trace import x"),
    "from the package": (upward_imports, "xjit/ops/a.py", "from xjit import xjit"),
    "sibling layer": (upward_imports, "xjit/ops/a.py", "from .. import capture"),
    "in a function": (upward_imports, "xjit/ir/a.py", "def f():\n    from xjit import ops"),
    "for types": (
        upward_imports,
        "xjit/ir/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from xjit.ops import x",
    ),
    "by text": (upward_imports, "xjit/ir/a.py", "import_module('xjit.api')"),
    "no layer": (upward_imports, "xjit/misc.py", ""),
    "context variable": (context_variables, "xjit/api.py", "a = contextvars.ContextVar('a')"),
    "thread local": (thread_locals, "xjit/api.py", "import threading\na = threading.local()"),
    "thread local class": (thread_locals, "xjit/api.py", "class A(threading.local): pass"),
    "thread local import": (thread_locals, "xjit/api.py", "from threading import local"),
    "lock": (locks, "xjit/api.py", "import threading\na = threading.RLock()"),
    "imported lock": (locks, "xjit/api.py", "from threading import Lock"),
    "property with a lock": (locks, "xjit/api.py", "import functools\na = functools.cached_property"),
    "garbage collector": (locks, "xjit/api.py", "import gc"),
    "id in f-string": (names_from_addresses, "xjit/codegen/a.py", "f'k{id(x)}'"),
    "id in str": (names_from_addresses, "xjit/codegen/a.py", "'k' + str(id(x))"),
    "id by percent": (names_from_addresses, "xjit/codegen/a.py", "'k%d' % id(x)"),
    "id by format": (names_from_addresses, "xjit/codegen/a.py", "'k{}'.format(id(x))"),
    "added text": (text_by_increments, "xjit/codegen/a.py", "s += 'x'"),
    "added to text": (text_by_increments, "xjit/codegen/a.py", "def f(t):\n    s = ''\n    s += t"),
    "added f-string": (text_by_increments, "xjit/codegen/a.py", "s += f'{t}' + t"),
    "ignored type": (hushed, "xjit/api.py", "a = 1  # type: " + "ignore"),
    "bare except": (hushed, "xjit/api.py", "try:\n    f()\nexcept:\n    pass"),
    "numba": (compiler_imports, "xjit/api.py", "import numba"),
    "numba's part": (compiler_imports, "xjit/runtime/a.py", "from numba.core import types"),
    "constant": (numbers_of_machines, "xjit/fusion/a.py", "BLOCK_BYTES = 1 << 16"),
    "two constants": (numbers_of_machines, "xjit/fusion/a.py", "ROWS, COLUMNS = 16, 32"),
    "plan": (over_walls, "xjit/runtime/a.py", "from xjit.fusion.plan import Plan"),
    "loops": (over_walls, "xjit/runtime/a.py", "def f():\n    from xjit.codegen.lowering import nests"),
    "operation": (lambda file: named_operations(file, frozenset({"sin"})), "xjit/fusion/a.py", "n == 'sin'"),
}


@pytest.mark.parametrize("name", BAD)
def test_rule_finds(name: str) -> None:
    rule, path, text = BAD[name]
    assert list(rule(Source(path, text)))


GOOD = {
    "downward": (upward_imports, "xjit/fusion/a.py", "from xjit.ops import x\nfrom ..ir.node import Node"),
    "same layer": (upward_imports, "xjit/fusion/a.py", "from .plan import x\nfrom xjit.fusion import y"),
    "others": (upward_imports, "xjit/ir/a.py", "import numpy\nfrom typing import Any"),
    "id as key": (names_from_addresses, "xjit/fusion/a.py", "seen[id(x)] = f'{x}'"),
    "plan made above": (over_walls, "xjit/programs/a.py", "from xjit.fusion.plan import Plan"),
    "numbers": (text_by_increments, "xjit/codegen/a.py", "n = 0\nn += 1\nlines += [f'{x}']"),
    "no constant": (numbers_of_machines, "xjit/fusion/a.py", "def f():\n    n = 3\nX = 'x'"),
    "other text": (lambda file: named_operations(file, frozenset({"sin"})), "xjit/fusion/a.py", "'a sin'"),
}


@pytest.mark.parametrize("name", GOOD)
def test_rule_lets_pass(name: str) -> None:
    rule, path, text = GOOD[name]
    assert not list(rule(Source(path, text)))
