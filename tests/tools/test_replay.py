"""The recorder of what the compiler makes, and the comparison of recordings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xjit
from tools.replay import __main__ as command
from tools.replay import objects, records, revisions
from tools.replay.differences import compared
from tools.replay.recorder import recording
from tools.replay.records import Record

ROOT = Path(__file__).resolve().parents[2]
ROWS = np.ones((20, 30))


def record(function: Any, *arguments: Any, name: str = "program") -> Record:
    found: list[Record] = []
    with recording(found.append, lambda: name):
        xjit.jit(function).source(*arguments)
    return found[0]


def centred(x: Any) -> Any:
    return x - x.mean(axis=1, keepdims=True)


def also_centred(x: Any) -> Any:
    # The same formula some lines further down.
    means = x.mean(axis=1, keepdims=True)
    return x - means


def texts_themselves(texts: Sequence[str]) -> Mapping[str, str]:
    """Take every text for machine code of its own."""
    return {text: text for text in texts}


def without_names(texts: Sequence[str]) -> Mapping[str, str]:
    """Take texts for equal that differ by the name of one variable."""
    return {text: text.replace("other", "a0") for text in texts}


def by_key(*found: Record) -> dict[str, Record]:
    return {one.key: one for one in found}


# ---- recording


def test_a_record_has_the_plan_and_the_text() -> None:
    found = record(centred, ROWS)
    assert found.program == "program"
    assert len(found.steps) == len(found.kernels) == 1
    assert found.steps[0].startswith("kernel over 20x30")
    assert found.kernels[0].startswith("def kernel(lo, hi, table):")
    assert "#" not in found.kernels[0]


def test_the_key_is_of_the_graph_and_the_layouts_only() -> None:
    key = record(centred, ROWS).key
    assert record(centred, ROWS, name="another").key == key
    assert record(centred, ROWS[:, ::2]).key != key
    assert record(centred, ROWS.T.copy().T).key != key
    assert record(centred, ROWS.astype(np.float32)).key != key
    assert record(lambda x: x - x.sum(axis=1, keepdims=True), ROWS).key != key


def test_places_in_the_users_files_do_not_count() -> None:
    one, other = record(centred, ROWS), record(also_centred, ROWS)
    assert (one.steps, one.reasons, one.kernels) == (other.steps, other.reasons, other.kernels)
    texts = ["def f(x):\n    return x + 1\n", "\n\ndef f(x):\n    return x + 1\n"]
    scopes: list[dict[str, Any]] = [{}, {}]
    for name, text, scope in zip(("<a program>", "another.py"), texts, scopes, strict=True):
        exec(compile(text, name, "exec"), scope)
    assert record(scopes[0]["f"], ROWS).key == record(scopes[1]["f"], ROWS).key


def test_what_is_hidden_in_the_text_of_a_graph_counts() -> None:
    one = record(lambda a: np.linalg.eigh(a)[0] + 1, ROWS[:, :20])
    other = record(lambda a: np.linalg.eigh(a)[1] + 1, ROWS[:, :20])
    assert one.key != other.key


def test_recordings_are_kept(tmp_path: Path) -> None:
    found = record(centred, ROWS)
    again = Record(found.key, "later", found.steps, found.reasons, found.kernels)
    assert records.save(tmp_path / "file", [found, again]) == 1
    assert records.load(tmp_path / "file") == {found.key: found}


def test_what_tests_compile_is_recorded(tmp_path: Path) -> None:
    test = "def test_sums():\n    assert xjit.jit(lambda x: x.sum())(np.ones(9)) == 9\n"
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "test_one.py").write_text(f"import numpy as np\nimport xjit\n\n\n{test}")
    words = ["-p", "tools.replay.plugin", "--replay-folder", str(tmp_path), "-p", "no:cacheprovider", "-q"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", str(tmp_path), *words, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (lines,) = (file.read_text().splitlines() for file in tmp_path.glob("*.lines"))
    assert [records.from_line(line).program for line in lines] == ["test_one.py::test_sums"]


# ---- comparing


def test_equal_recordings() -> None:
    found = by_key(record(centred, ROWS))
    result = compared(found, found, texts_themselves, texts_themselves)
    assert (result.compared, result.differences, result.renamed, result.gone, result.added) == (1, (), 0, (), ())


def changed(found: Record, **fields: Any) -> Record:
    values = {"key": found.key, "program": found.program, "steps": found.steps, "reasons": found.reasons}
    return Record(**{**values, "kernels": found.kernels, **fields})


def test_another_text_of_the_same_machine_code_is_a_new_name() -> None:
    found = record(centred, ROWS)
    other = changed(found, kernels=(found.kernels[0].replace("a0", "other"),))
    result = compared(by_key(found), by_key(other), without_names, without_names)
    assert (result.differences, result.renamed) == ((), 1)


def test_other_machine_code_is_shown_by_its_first_line() -> None:
    found = record(centred, ROWS)
    other = changed(found, kernels=(found.kernels[0].replace("a0", "other"),))
    (difference,) = compared(by_key(found), by_key(other), texts_themselves, texts_themselves).differences
    assert difference.what == "kernel 1"
    assert difference.old.startswith("a0 = ptr_f64") and difference.new.startswith("other = ptr_f64")


def test_another_plan_comes_before_texts() -> None:
    found = record(centred, ROWS)
    other = changed(found, steps=(*found.steps, "no work"), kernels=())
    (difference,) = compared(by_key(found), by_key(other), texts_themselves, texts_themselves).differences
    assert (difference.what, difference.old, difference.new) == ("plan", "(nothing)", "no work")
    (difference,) = compared(by_key(found), by_key(changed(found, reasons=("because",))), dict, dict).differences
    assert difference.what == "reasons"


def test_kernels_that_are_missing_are_differences() -> None:
    found = record(centred, ROWS)
    (difference,) = compared(by_key(found), by_key(changed(found, kernels=())), dict, dict).differences
    assert (difference.what, difference.new) == ("kernel 1", "(nothing)")


def test_programs_of_one_side_are_named() -> None:
    found = record(centred, ROWS)
    result = compared(by_key(found), by_key(changed(found, key="another", program="new one")), dict, dict)
    assert (result.compared, result.gone, result.added) == (0, ("program",), ("new one",))
    assert command.report(result, 5)[-2:] == [
        "1 programs not captured so any more: program",
        "1 programs new: new one",
    ]


def test_digests_are_of_machine_code() -> None:
    text = record(centred, ROWS).kernels[0]
    renamed, other = text.replace("a0", "other"), text.replace(" - ", " + ")
    digests = {name: objects.digest(one) for name, one in (("text", text), ("renamed", renamed), ("other", other))}
    assert renamed != text != other
    assert digests["text"] == digests["renamed"] != digests["other"]
    assert objects.digest("def kernel(lo, hi, table):\n    unknown(lo)\n").startswith("refused: ")


def test_the_command_compares_files(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = revisions.tree
    monkeypatch.setattr(revisions, "tree", lambda revision: here(None))
    found = record(centred, ROWS)
    other = changed(found, kernels=(found.kernels[0].replace(" - ", " + "),))
    for name, one in (("old", found), ("new", other)):
        records.save(tmp_path / name, [one])
    files = ["--old-file", str(tmp_path / "old"), "--new-file"]
    assert command.main(["compare", "HEAD", *files, str(tmp_path / "old")]) == 0
    assert command.main(["compare", "HEAD", *files, str(tmp_path / "new")]) == 1
    assert "1 programs compared: 1 differ" in capsys.readouterr().out


def test_the_standard_input_of_digests_is_json() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tools.replay.objects"],
        cwd=ROOT,
        input=json.dumps([]),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert json.loads(run.stdout) == {}
