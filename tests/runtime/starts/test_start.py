"""The first call of a second process: by a program from the disk, unless anything that it depends on has changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.second_process import run
from xjit.api.start import program_record
from xjit.runtime import record_text
from xjit.runtime.loading import cache_entry

PROGRAM = """
import sys
import numpy as np
from xjit import xjit

SCALE = 2.0
TABLE = np.arange(4.0)
NAMES = ("a", "b")


def shifted(a, by=1.0):
    return a + by * SCALE


def make(power):
    def raised(a):
        return a ** power
    return raised


squared = make(2)


class Settings:
    offset = 3.0

    def __init__(self, factor):
        self.factor = factor

    def apply(self, a):
        return a * self.factor + self.offset


settings = Settings(0.5)


@xjit
def f(x, more, n=2):
    y = more["y"]
    made = squared(shifted(x)) + TABLE + settings.apply(y)
    return {"sum": made.sum(), "all": [made, np.sin(x) * n], "names": NAMES}


if "helper" in sys.argv:
    def shifted(a, by=1.0):
        return a - by * SCALE
if "code" in sys.argv:
    shifted.__code__ = (lambda a, by: a + by).__code__
if "global" in sys.argv:
    SCALE = 4.0
if "global type" in sys.argv:
    SCALE = np.float32(2.0)
if "names" in sys.argv:
    NAMES = ("a", "c")
if "default" in sys.argv:
    shifted.__defaults__ = (5.0,)
if "own default" in sys.argv:
    f.__wrapped__.__defaults__ = (7,)
if "cell" in sys.argv:
    squared.__closure__[0].cell_contents = 3
if "attribute" in sys.argv:
    Settings.offset = 30.0
if "instance" in sys.argv:
    settings.factor = 1.5
if "method" in sys.argv:
    Settings.apply = lambda self, a: a - self.factor
if "instance method" in sys.argv:
    settings.apply = lambda a: a - 1.0
if "class" in sys.argv:
    class Other(Settings):
        def apply(self, a):
            return a
    settings = Other(0.5)
if "getattribute" in sys.argv:
    Settings.__getattribute__ = lambda self, name: 1.0 if name == "factor" else object.__getattribute__(self, name)
if "values" in sys.argv:
    TABLE[:] = 9.0
if "rank" in sys.argv:
    TABLE = np.ones((1, 4))

kinds = {"dtype": np.float32, "integers": np.int64}
kind = next((kinds[name] for name in kinds if name in sys.argv), np.float64)
x, y = np.arange(12.0).reshape(3, 4).astype(kind), np.ones((3, 4))
if "shape" in sys.argv:
    x, y = x[:2], y[:2]
if "order" in sys.argv:
    x = np.asfortranarray(x)
if "strides" in sys.argv:
    x = np.repeat(x, 2, axis=1)[:, ::2]
if "alignment" in sys.argv:
    x = np.frombuffer(b"." + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
if "swapped" in sys.argv:
    x = x.astype(x.dtype.newbyteorder())
if "one object" in sys.argv:
    y = x
more = {"y": y, "none": (None,)}
if "structure" in sys.argv:
    more = {"none": (None,), "y": y}
arguments = (x, more, 5) if "number" in sys.argv else (x, more)
if "options" in sys.argv:
    f = xjit(f.__wrapped__, strict=True)
if "progress" in sys.argv:
    f = xjit(f.__wrapped__, progress=lambda found: None)
if "clear" in sys.argv:
    f(*arguments)
    f.clear()

for _ in range(2):
    found, wanted = f(*arguments), f.__wrapped__(*arguments)
np.testing.assert_allclose(found["sum"], wanted["sum"], rtol=1e-6)
for one, other in zip(found["all"], wanted["all"], strict=True):
    np.testing.assert_allclose(one, other, rtol=1e-6)
    assert one.dtype == other.dtype and one.flags.writeable
assert type(found["sum"]) is type(wanted["sum"]) and found["names"] == wanted["names"]
if "later" in sys.argv:
    SCALE = 8.0
    found, wanted = f(*arguments), f.__wrapped__(*arguments)
    np.testing.assert_allclose(found["sum"], wanted["sum"], rtol=1e-6)
traced = "xjit.api.dispatcher" in sys.modules
assert traced or sys.platform != "linux" or not {"llvmlite", "numba"} & sys.modules.keys()
print("traced" if traced else "started", sum(name.split(".")[0] == "xjit" for name in sys.modules))
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, and with a cache that has its record."""
    folder = tmp_path_factory.mktemp("start")
    assert run(folder, folder / "cache", text=PROGRAM)[0] == "traced"
    return folder


def again(kept: Path, tmp_path: Path, *words: str, text: str = PROGRAM, **environment: str) -> str:
    """Return how the first call goes in another process, on a copy of the cache."""
    shutil.copytree(kept / "cache", tmp_path / "cache")
    return run(kept, tmp_path / "cache", *words, text=text, **environment)[0]


MOST_MODULES = 86


def test_a_second_process_loads_neither_tracer_nor_compiler(kept: Path) -> None:
    how, modules = run(kept, kept / "cache", text=PROGRAM)
    assert how == "started"
    assert modules < MOST_MODULES


CHANGES = (
    *("helper", "code", "global", "global type", "names", "default", "own default", "cell"),
    *("attribute", "instance", "method", "instance method", "class", "getattribute", "rank"),
    *("dtype", "integers", "shape", "order", "strides", "alignment", "swapped", "structure", "number", "options"),
)


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_another_thing_is_traced(kept: Path, tmp_path: Path, change: str) -> None:
    assert f'"{change}"' in PROGRAM
    assert again(kept, tmp_path, change) == "traced"


def test_elements_of_arrays_are_no_part_of_the_program(kept: Path, tmp_path: Path) -> None:
    assert again(kept, tmp_path, "values") == "started"


def test_one_object_twice_is_another_program_only_where_it_is_looked_at(kept: Path, tmp_path: Path) -> None:
    assert again(kept, tmp_path, "one object") == "started"


def test_who_hears_of_progress_decides_nothing(kept: Path, tmp_path: Path) -> None:
    assert again(kept, tmp_path, "progress") == "started"


def test_what_changes_later_is_noticed(kept: Path, tmp_path: Path) -> None:
    assert again(kept, tmp_path, "later") == "traced"


def test_a_function_that_was_cleared_starts_again(kept: Path, tmp_path: Path) -> None:
    assert again(kept, tmp_path, "clear") == "started"


EDITS = {
    "helper": ("return a + by * SCALE", "return a + by / SCALE"),
    "function": ("np.sin(x) * n", "np.cos(x) * n"),
    "default": (
        "by=1.0):\n    return a + by * SCALE\n\n\ndef make",
        "by=2.0):\n    return a + by * SCALE\n\n\ndef make",
    ),
    "global": ("SCALE = 2.0\nTABLE", "SCALE = 3.0\nTABLE"),
    "cell": ("make(2)", "make(3)"),
    "method": ("return a * self.factor + self.offset", "return a * self.factor - self.offset"),
    "class attribute": ("    offset = 3.0", "    offset = 4.0"),
    "base": ("class Settings:", "class Base:\n    pass\n\n\nclass Settings(Base):"),
    "property": ("    offset = 3.0", "    offset = property(lambda self: 4.0)"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_text_of_the_file_decides(kept: Path, tmp_path: Path, edit: str) -> None:
    before, after = EDITS[edit]
    assert PROGRAM.count(before) == 1
    edited = PROGRAM.replace(before, after)
    assert again(kept, tmp_path, text=edited) == "traced"
    assert run(kept, tmp_path / "cache", text=edited)[0] == "started"


ENVIRONMENTS = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "XJIT_VECTOR_BITS": "128",
    "NUMBA_OPT": "2",
    "XJIT_NO_FALLBACK": "1",
    "XJIT_DEBUG": "1",
    "XJIT_VERIFY": "1",
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_environment_decides(kept: Path, tmp_path: Path, name: str) -> None:
    assert again(kept, tmp_path, **{name: ENVIRONMENTS[name]}) == "traced"


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "XJIT_TRIALS"])
def test_limits_of_threads_and_trials_decide_nothing(kept: Path, tmp_path: Path, name: str) -> None:
    assert again(kept, tmp_path, **{name: "1"}) == "started"


BESIDE = """
import sys
import numpy as np
from xjit import xjit


def named(*, x):
    return x * 2.0 + 1.0


def plain(x):
    return np.sin(x) + 1.0


x = np.arange(3.0)
xjit(named)(x=x)
assert "xjit.api.dispatcher" in sys.modules
first, second = xjit(plain), xjit(plain)
for f in (first, second):
    np.testing.assert_allclose(f(x), plain(x), rtol=1e-14)
counts = first.stats().traces, second.stats().traces
print({(1, 1): "traced", (0, 0): "started"}[counts], 0)
"""


def test_programs_start_beside_those_that_are_traced(tmp_path: Path) -> None:
    """Each function of a process is traced whose program the process itself has made."""
    for how in ("traced", "started"):
        assert run(tmp_path, tmp_path / "cache", text=BESIDE)[0] == how


@pytest.mark.parametrize("name", ["xjit.__version__", "numpy.__version__", "sys.version"])
def test_other_versions_are_traced(kept: Path, tmp_path: Path, name: str) -> None:
    """The lines of the program stay where they are, as its code says where it stands."""
    assert PROGRAM.startswith("\nimport sys\n")
    module = name.partition(".")[0]
    text = PROGRAM.replace("\nimport sys\n", f"import {module}; {name} += ' another'\nimport sys\n", 1)
    assert again(kept, tmp_path, text=text) == "traced"


STEPS = """
import sys
import numpy as np
from xjit import ops, xjit


def product(a, b):
    return np.tanh(a @ b) + 1.0


def ordered(a, b):
    return np.sort(a)[::2] * 2.0


def in_lines(a, b):
    return ops.sort(a - 8.0) * 2.0


def gathered(a, b):
    return a[np.argmax(b, axis=0)] * 2.0 + np.array([1.0, 2.0, 3.0, 4.0])


def shown(a, b):
    return a.T, b[1:], "text", None


def between(a, b):
    known = a[a > 3.0]
    return np.interp(a[0], known, known * 2.0)


def parallel(a, b):
    return np.exp(-np.add.outer(a.ravel(), np.ones(50_000))).sum(axis=1)


for function in (product, ordered, in_lines, gathered, shown, between, parallel):
    compiled = xjit(function)
    a, b = np.arange(16.0).reshape(4, 4), np.ones((4, 4))
    for _ in range(2):
        found, wanted = compiled(a, b), function(a, b)
        if function is shown:
            assert np.shares_memory(found[0], a) and found[2:] == wanted[2:]
            found, wanted = found[0], wanted[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
print("traced" if "xjit.api.dispatcher" in sys.modules else "started", 0)
"""


def test_products_libraries_views_and_threads(tmp_path: Path) -> None:
    assert run(tmp_path, tmp_path / "cache", text=STEPS)[0] == "traced"
    assert run(tmp_path, tmp_path / "cache", text=STEPS)[0] == "started"


LARGE = """
import sys
import numpy as np
from xjit import xjit


@xjit
def f(x):
    count = np.zeros(400_000)
    place = np.linspace(0.0, 1.0, 1000) + np.zeros((60, 1))
    count[:3] = x
    place[0, 0] = 5.0
    return count + 1.0, place * x[0]


x = np.ones(3)
for _ in range(2):
    for found, wanted in zip(f(x), f.__wrapped__(x), strict=True):
        np.testing.assert_array_equal(found, wanted)
print("traced" if "xjit.api.dispatcher" in sys.modules else "started", 0)
"""


def test_large_arrays_that_the_program_makes_are_kept(tmp_path: Path) -> None:
    assert run(tmp_path, tmp_path / "cache", text=LARGE)[0] == "traced"
    assert run(tmp_path, tmp_path / "cache", text=LARGE)[0] == "started"
    assert max(file.stat().st_size for file in (tmp_path / "cache").iterdir()) < 400_000


def test_counts_of_what_was_started(kept: Path, tmp_path: Path) -> None:
    counts = "assert (f.stats().traces, f.stats().compiles) == (0, 0) and f.stats().cache_hits > 0\n"
    assert (
        again(kept, tmp_path, text=PROGRAM + "if 'xjit.api.dispatcher' not in sys.modules:\n    " + counts)
        == "started"
    )


# Records on disk


def record_of(folder: Path) -> Path:
    (found,) = (file for file in (folder / "cache").glob("*.xjc") if b'"ProgramRecord"' in file.read_bytes())
    return found


def content(file: Path) -> bytes:
    text = file.read_bytes()
    return text[text.index(b'["r"') :]


def truncated(file: Path) -> bytes:
    return file.read_bytes()[:-100]


def flipped(file: Path) -> bytes:
    text = bytearray(file.read_bytes())
    text[-50] ^= 1
    return bytes(text)


def foreign(file: Path) -> bytes:
    return cache_entry.seal(program_record.KIND, "00" * 32, content(file))


def of_another_kind(file: Path) -> bytes:
    return cache_entry.seal("kernel", file.stem, content(file))


def without_an_object(file: Path) -> bytes:
    """A whole record of machine code that nobody has any more."""
    text = content(file)
    start = text.index(b'"StoredObject","') + len(b'"StoredObject","')
    return cache_entry.seal(program_record.KIND, file.stem, text[:start] + b"0" * 64 + text[start + 64 :])


def with_another_slot(file: Path) -> bytes:
    """A whole record of a program that reads what nothing has filled."""
    text = content(file).replace(b'["r","RunStep",["t",0', b'["r","RunStep",["t",90', 1)
    assert text != content(file)
    return cache_entry.seal(program_record.KIND, file.stem, text)


DAMAGES = (truncated, flipped, foreign, of_another_kind, without_an_object, with_another_slot)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_records_are_ignored(kept: Path, tmp_path: Path, damage: Any) -> None:
    """There is one warning that the file was damaged, which is not an error even where warnings are."""
    shutil.copytree(kept / "cache", tmp_path / "cache")
    file = record_of(tmp_path)
    file.write_bytes(damage(file))
    assert run(kept, tmp_path / "cache", text=PROGRAM)[0] == "traced"


def changed(record: Any, *path: int, to: Any) -> bytes:
    inner = record
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return json.dumps(record).encode()


NO_RECORDS = (b"", b"[]", b"1", b'["x", 1]', b'["r", "Path", 1]', b'["f", "a"]', b"[" * 10_000)


def test_long_bytes_are_compressed() -> None:
    data = np.arange(10_000).tobytes()
    text = record_text.written(data, {})
    assert len(text) < len(data) // 2 and record_text.read(text, {}, {}) == data
    for damaged in (text[:-4] + b'"]', text[:-2] + b'00"]', b'["z", "0000"]'):
        with pytest.raises(record_text.UnknownValueError):
            record_text.read(damaged, {}, {})


@pytest.mark.parametrize("data", NO_RECORDS)
def test_text_that_is_no_record(data: bytes) -> None:
    with pytest.raises(ValueError, match="record"):
        program_record.from_bytes(data)


def test_fields_of_other_types_are_no_record(kept: Path) -> None:
    data = content(record_of(kept))
    program_record.from_bytes(data)
    record = json.loads(data)
    assert record[:2] == ["r", "ProgramRecord"]
    for place in range(2, len(record)):
        for other in (1.5, {}, ["t", ["t"]], "text", ["r", "TreeRecord", "leaf"]):
            with pytest.raises(ValueError, match="record"):
                program_record.from_bytes(changed(json.loads(data), place, to=other))
    with pytest.raises(ValueError, match="record"):
        program_record.from_bytes(json.dumps(record[:-1]).encode())


def test_records_are_data() -> None:
    """Reading names no way to run anything: no pickles, no marshalled code, no evaluation."""
    names = "program_record", "first_call", "guard_records", "call_records", "tree_records", "bind_calls"
    for name in ("xjit/runtime/record_text.py", *(f"xjit/api/start/{name}.py" for name in names)):
        text = (Path(__file__).resolve().parents[3] / name).read_text(encoding="utf-8")
        for word in ("pickle", "marshal", "eval(", "exec(", "compile(", "__import__"):
            assert word not in text, (name, word)
