"""The examples run and say what they should."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def test_hillshade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "hillshade.png"
    monkeypatch.setattr("sys.argv", ["hillshade.py", "--size", "450", "--output", str(picture)])
    runpy.run_path(str(EXAMPLES / "hillshade.py"), run_name="__main__")
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = capsys.readouterr().out
    assert text.count("largest difference") == 2
    differences = [float(line.split()[-1]) for line in text.splitlines() if "largest difference" in line]
    assert max(differences) < 1e-12
