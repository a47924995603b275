"""The command that compares the bits of results between machines and widths of vectors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tools import bits
from xjit.codegen.cpu import llvm_pipeline

HAS_WIDTHS = llvm_pipeline.host().triple.startswith("x86_64")
# Parts of names: every reduction and scan of rows that fill lanes and leave some, some of all else.
CHOSEN = (
    "32 rows of 100",
    "64 rows of 31",
    "float32 all of a view",
    "complex64 columns",
    "tanh",
    "power float64",
    "nearest",
)


@pytest.mark.skipif(not HAS_WIDTHS, reason="vectors of this processor have one width")
@pytest.mark.parametrize("only", CHOSEN)
def test_the_width_of_vectors_changes_no_bits(only: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = []
    for width in ("128", "256", "512"):
        monkeypatch.setenv("XJIT_VECTOR_BITS", width)
        tables.append(bits.table(only))
    assert tables[0] and not bits.differences(tables[0], tables[1]) and not bits.differences(tables[1], tables[2])


def test_every_difference_is_seen() -> None:
    one = np.array([0.0, 1.0, np.nan])
    assert bits.hashed(one) == bits.hashed(np.copysign(one, [1, 1, -1]))  # signs of NaN are the processor's
    for number in (np.complex64(complex(np.nan, 1)), np.float32(np.nan)):
        assert bits.hashed(number) == bits.hashed(np.conj(-number))
    for other in (np.array([-0.0, 1.0, np.nan]), np.array([0.0, 1.0, 2.0]), one[:2], one.astype(np.float32)):
        assert bits.hashed(one) != bits.hashed(other)
    assert bits.differences({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == ["b", "c"]


def test_what_libraries_compute_is_left_out() -> None:
    assert bits.table("vector with vector float32") and not bits.table("vector with vector complex64")
    assert bits.table("tanh complex128") and not bits.table("psi complex128")


def test_the_command_compares_with_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bits.json"
    monkeypatch.setattr(sys, "argv", ["bits", "--only", "hypot float32", "--save", str(file)])
    assert bits.main() == 0
    monkeypatch.setattr(sys, "argv", ["bits", "--only", "hypot float32", "--compare", str(file)])
    assert bits.main() == 0 and "the same bits" in capsys.readouterr().out
    file.write_text(json.dumps(dict.fromkeys(json.loads(file.read_text()), "other")))
    assert bits.main() == 1 and "hypot float32" in capsys.readouterr().out


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    file = tmp_path / "bits.json"
    monkeypatch.setattr(bits, "PIECE", 1)
    monkeypatch.setattr(bits, "results", lambda: iter([("first", lambda: 1.0), ("second", stopped)]))
    monkeypatch.setattr(sys, "argv", ["bits", "--save", str(file)])
    with pytest.raises(KeyboardInterrupt):
        bits.main()
    assert list(json.loads(file.read_text())) == ["first"]
    monkeypatch.setattr(bits, "results", lambda: iter([("first", stopped), ("second", lambda: 2.0)]))
    monkeypatch.setattr(sys, "argv", ["bits", "--save", str(file), "--resume"])
    assert bits.main() == 0
    assert json.loads(file.read_text()) == {"first": bits.hashed(1.0), "second": bits.hashed(2.0)}
