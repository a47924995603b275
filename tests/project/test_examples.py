"""The examples run and say what they should."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run one example with words on its command line; return what it prints."""
    monkeypatch.setattr("sys.argv", [name, *words])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def numbers(text: str, of: str) -> list[float]:
    """Return the first number after `of` in every line that has it."""
    return [float(line.split(of)[1].split()[0]) for line in text.splitlines() if of in line]


def test_hillshade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "hillshade.png"
    text = run("hillshade.py", monkeypatch, capsys, "--size", "450", "--output", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    differences = numbers(text, "largest difference")
    assert len(differences) == 2
    assert max(differences) < 1e-12


def test_k_means(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    text = run("kmeans.py", monkeypatch, capsys, "--clusters", "10")
    assert numbers(text, "labels that differ:") == [0.0]
    assert numbers(text, "difference of inertia:")[0] < 1e-12
    inertia = numbers(text, "  inertia")
    assert len(inertia) == 4
    assert max(inertia) == pytest.approx(min(inertia), rel=1e-9)


def test_black_scholes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "surface.png"
    text = run("black_scholes.py", monkeypatch, capsys, "--size", "90", "--output", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    differences = [numbers(text, f"difference of {name}")[0] for name in ("price", "delta", "gamma", "vega")]
    assert max(differences) < 1e-11


def test_photograph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    picture = tmp_path / "photograph.png"
    text = run("photograph.py", monkeypatch, capsys, "--tiles", "1", "--output", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert max(numbers(text, "largest difference")) <= 1.0
    assert max(numbers(text, "bytes that differ:")) <= 1e-3 * 427 * 640 * 3
