"""Faults put into code on purpose: each is one edit that leaves a program, and what the tests say of it is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.mutate import trial
from tools.mutate.layers import LAYERS
from tools.mutate.mutants import is_fault, mutants, sample
from tools.mutate.reach import reach_of

ROOT = Path(__file__).resolve().parents[2]

# Kind of fault, a line, and what becomes of it.
EDITS = [
    ("comparison", "a < b", "a <= b"),
    ("comparison", "a is not b", "a is b"),
    ("comparison", "isin in notin", "isin not in notin"),
    ("comparison", "a <= b < c", "a < b < c"),
    ("arithmetic", "(a) + (b)", "(a) - (b)"),
    ("arithmetic", "a // b", "a * b"),
    ("operands", "a - f(b)", "f(b) - a"),
    ("arguments", "f(a, b, c)", "f(b, a, c)"),
    ("constant", "f(7)", "f(8)"),
    ("constant", "f(7)", "f(6)"),
    ("constant", "f(0.5)", "f((0.5 * 1.001))"),
    ("constant", "f(True)", "f(False)"),
    ("statement", "a += 1", "pass"),
    ("statement", "a.b = 1", "pass"),
    ("statement", "f(a)", "pass"),
    ("statement", "raise f(a)", "pass"),
    ("condition", "a if b and c else d", "a if not (b and c) else d"),
    ("condition", "[a for a in b if a]", "[a for a in b if not (a)]"),
    ("negation", "not a", "a"),
    ("negation", "-a", "a"),
    ("connective", "a and b and c", "a or b and c"),
    ("connective", "a or b", "a and b"),
    ("keyword", "f(a, key=b)", "f(a)"),
    ("keyword", "f(key=b, other=c)", "f(other=c)"),
    ("keyword", "f(key=b)", "f()"),
    ("branch", "a if b else c", "(a)"),
    ("branch", "a if b else c", "(c)"),
    ("comparison", "'ä' < b", "'ä' <= b"),
]


@pytest.mark.parametrize(("kind", "line", "expected"), EDITS)
def test_edits(kind: str, line: str, expected: str) -> None:
    source = f"def f():\n    {line}\n".encode()
    found = [mutant for mutant in mutants("a.py", source) if mutant.kind == kind]
    assert f"    {expected}" in [mutant.applied(source).decode().splitlines()[1] for mutant in found]
    assert all(mutant.line == 2 and mutant.within == 1 for mutant in found)


@pytest.mark.parametrize(
    "line",
    [
        "raise ValueError(f'{a + 1}' + b)",
        "text: Literal[1] = b",
        "f'{a + 1}'",
        "assert a < 1",
        "if TYPE_CHECKING:\n    a = 1",
        "zip(a, b, strict=True)",
    ],
)
def test_what_no_test_should_see_is_left_alone(line: str) -> None:
    kinds = {mutant.kind for mutant in mutants("a.py", line.encode())}
    assert kinds <= {"statement", "arguments"}


def test_edits_that_change_nothing_are_no_faults() -> None:
    source = b"a - a\n"
    assert [mutant.kind for mutant in mutants("a.py", source) if not is_fault(mutant, source)] == ["operands"]


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    files = LAYERS["inspect"].sources(ROOT)
    first = sample(files, 12, 3)
    assert first == sample(files, 12, 3) != sample(files, 12, 4)
    assert len({(mutant.path, mutant.line) for mutant in first}) == 12
    assert len({mutant.kind for mutant in first}) > 4


def test_every_file_is_in_one_layer_and_every_layer_has_tests() -> None:
    placed = [path for layer in LAYERS.values() for path in layer.sources(ROOT)]
    assert len(placed) == len(set(placed))
    packages = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("xjit/*/**/*.py")}
    assert {path.split("/")[1] for path in packages - set(placed)} <= {"replicas"}
    for layer in LAYERS.values():
        assert all(sorted(ROOT.glob(f"tests/**/test_{word}.py")) for word in layer.tests.split())


def test_tests_that_enter_the_function_come_first_then_those_of_the_file() -> None:
    line = {"seconds": 1.0, "places": []}
    lines = [
        {**line, "test": "tests/b.py::elsewhere"},
        {**line, "test": "tests/b.py::file", "places": [("m.py", 9)]},
        {**line, "test": "tests/b.py::slow", "places": [("m.py", 5)], "seconds": 3.0},
        {**line, "test": "tests/b.py::quick", "places": [("m.py", 5)]},
        {**line, "test": "tests/a.py::first", "places": [("m.py", 5)]},
    ]
    reach = reach_of(lines)
    order = ["tests/a.py", "tests/b.py"]
    found = reach.tests_for("m.py", 5, order, 100.0)
    assert [name.split("::")[1] for name in found] == ["first", "quick", "slow", "file"]
    assert reach.tests_for("m.py", 5, order, 2.0) == found[:2]
    assert reach.tests_for("other.py", 5, order, 2.0) == ["tests/a.py::first", "tests/b.py::elsewhere"]


MODULE = """\
def larger(a, b):
    return a if a > b else b


def counted(n):
    total = 0
    while n > 0:
        total += 1
        n -= 1
    return total
"""
TESTS = """\
from small.parts import counted, larger


def test_larger():
    assert larger(2, 1) == 2 and larger(1, 2) == 2


def test_counted():
    assert counted(3) == 3
"""
SCRIPT = """\
import json, sys
from pathlib import Path
from tools.mutate import trial
from tools.mutate.layers import Layer
from tools.mutate.mutants import mutants

trial.START = 600.0
tree = Path(sys.argv[1])
layer = Layer("small/parts.py", "parts")
yard = trial.Yard(tree, tree / "folder", tree / "state", ("small", "tests"))
reach = yard.record(layer.test_files(yard.root))
found = {}
(path, source), = layer.sources(tree).items()
for mutant in mutants(path, source):
    if mutant.kind in ("comparison", "return"):
        outcome = yard.attempt(mutant, layer, reach, 30.0)
        found[mutant.applied(source).decode().splitlines()[mutant.line - 1].strip()] = outcome.verdict, outcome.by
assert (yard.root / path).read_bytes() == source
print(json.dumps([sorted(reach.functions), found]))
"""


def test_faults_are_caught_or_survive(tmp_path: Path) -> None:
    for name, text in (("small/__init__.py", ""), ("small/parts.py", MODULE), ("tests/test_parts.py", TESTS)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
    entered, found = json.loads(run.stdout)
    lines = [line for path, line in entered if path == "small/parts.py"]
    assert lines == [1, 5]
    verdicts = {line: verdict for line, (verdict, _) in found.items()}
    assert verdicts == {
        "return a if a >= b else b": "survived",  # the same function
        "return None": "caught",
        "while n >= 0:": "caught",
    }
    assert found["while n >= 0:"][1] == "tests/test_parts.py::test_counted"


def test_a_run_that_hangs_is_ended_with_its_children() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000)'])"
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE)
    assert trial._wait(child.pid, 0.5) is None
    assert child.stdout is not None and child.stdout.read() == b""  # nobody holds the other end
    child.returncode = -9  # it has been waited for
    child.stdout.close()
