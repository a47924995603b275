"""The public names of ``xjit.ops``: written by a tool, up to date, one for each operation."""

from __future__ import annotations

import ast
import doctest
from pathlib import Path

import pytest

from tools import exports
from xjit import ops


def test_the_file_is_up_to_date() -> None:
    """After an operation has come or gone: ``python -m tools.exports``."""
    assert exports.FILE.read_text(encoding="utf-8") == exports.text()


def test_a_row_is_exported_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xjit" / "ops" / "more").mkdir(parents=True)
    (tmp_path / "xjit" / "ops" / "more" / "waves.py").write_text(
        'sine2 = function("sine2")\nsine10 = unary("sine10")\n'
    )
    (tmp_path / "xjit" / "ops" / "shapes.py").write_text('__all__ = ["Shape", "bend"]\n_hidden = unary("hidden")\n')
    for name, path in {"ROOT": tmp_path, "PACKAGE": tmp_path / "xjit" / "ops"}.items():
        monkeypatch.setattr(exports, name, path)
    monkeypatch.setattr(exports, "FILE", exports.PACKAGE / "__init__.py")
    exports.FILE.write_text("")
    assert exports.main(["--check"]) == 1
    assert exports.main([]) == exports.main(["--check"]) == 0
    found = [node for node in ast.parse(exports.FILE.read_text()).body if isinstance(node, ast.ImportFrom)]
    modules = [f"{node.module}.{node.names[0].name}" for node in found if node.module != "xjit.errors"]
    assert modules == [
        "xjit.ir.boundary.expose",
        "xjit.ops.more.waves.sine2",
        "xjit.ops.more.waves.sine10",
        "xjit.ops.shapes.Shape",
        "xjit.ops.shapes.bend",
    ]


def test_names_that_are_exported_are_there() -> None:
    for path in exports.PACKAGE.rglob("*.py"):
        for name in exports.exported(ast.parse(path.read_text(encoding="utf-8"))):
            assert callable(getattr(ops, name)), name


def test_examples() -> None:
    assert doctest.testmod(exports).failed == 0
