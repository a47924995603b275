"""Names of processors: equal where LLVM makes the same code, and LLVM's own where the system says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from xjit.llvm import processor, targets

X86 = "cpu:type:x86,ven0002fam0019mod0011:feature:,0000,0001,0025,0139\n"
ARM = """processor\t: 0
BogoMIPS\t: 50.00
Features\t: fp asimd atomics sve
CPU implementer\t: 0x41
CPU part\t: 0xd0c

processor\t: 1
BogoMIPS\t: 51.00
Features\t: fp asimd atomics sve
CPU implementer\t: 0x41
CPU part\t: 0xd0c
"""


def identity(monkeypatch: pytest.MonkeyPatch, folder: Path, family: str, text: str) -> tuple[str, ...]:
    file = folder / "system"
    file.write_text(text)
    monkeypatch.setattr(processor, "machine", lambda: family)
    monkeypatch.setattr(processor, "_KNOWN", {family: str(file)})
    return processor.identity()


@pytest.mark.parametrize(
    ("family", "text", "change"),
    [
        ("x86_64", X86, ("0139", "0138")),
        ("x86_64", X86, ("mod0011", "mod0012")),
        ("aarch64", ARM, ("atomics sve", "atomics")),
        ("aarch64", ARM, ("0xd0c", "0xd40")),
    ],
)
def test_other_processors_have_other_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, family: str, text: str, change: tuple[str, str]
) -> None:
    before = identity(monkeypatch, tmp_path, family, text)
    assert before[0] == family
    assert before == identity(monkeypatch, tmp_path, family, text)
    assert before != identity(monkeypatch, tmp_path, family, text.replace(*change, 1))


def test_what_tells_equal_processors_apart_is_no_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = identity(monkeypatch, tmp_path, "aarch64", ARM)
    assert identity(monkeypatch, tmp_path, "aarch64", ARM.replace("51.00", "52.00")) == before
    assert identity(monkeypatch, tmp_path, "aarch64", ARM + ARM.replace(": 0\n", ": 3\n")) == before


def by_llvm() -> tuple[str, ...]:
    target = targets.host()
    return target.triple, target.cpu, target.features


@pytest.mark.parametrize("text", ["", "cpu:type:other", X86])
def test_llvm_is_asked_where_the_system_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    """The file of an emulated machine may be the one of another processor."""
    assert identity(monkeypatch, tmp_path, "aarch64", text) == by_llvm()


def test_llvm_is_asked_where_there_is_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(processor, "_KNOWN", {processor.machine(): str(tmp_path / "missing")})
    assert processor.identity() == by_llvm()
    monkeypatch.setattr(processor, "_KNOWN", {})
    assert processor.identity() == by_llvm()
