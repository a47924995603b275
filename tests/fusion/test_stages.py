"""The pipeline as a list of stages, and a program after each of them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import numpy as np
import pytest

import xjit
from xjit import compile, passes
from xjit.inspect.stages import Stages
from xjit.ir.node import Graph


def rewrites() -> Iterator[str]:
    """The module of every function that needs a graph, and what is written to, and makes another graph."""
    for module in pkgutil.walk_packages(passes.__path__, "xjit.passes."):
        for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            if function.__module__ != module.name or name.startswith("_"):
                continue
            types = inspect.get_annotations(function, eval_str=True)
            needed = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
            names = [one.name for one in needed if one.name != "written"]  # what is known of the arguments
            if names == ["graph"] and types["return"] == types["graph"] == Graph:
                yield module.name


def test_every_graph_pass_is_a_stage() -> None:
    found = list(rewrites())
    assert len(found) > 5
    assert sorted(found) == sorted(stage.module for stage in compile.STAGES if stage.makes == "graph")


def test_the_docstring_is_made_from_the_stages() -> None:
    assert compile.__doc__ is not None
    lines = [line.split() for line in compile.__doc__.splitlines()]
    for stage in compile.STAGES:
        assert [stage.name, *stage.does.split(), stage.module] in lines
    assert "{" not in compile.__doc__


def test_stages_name_what_is_there() -> None:
    assert len({stage.name for stage in compile.STAGES}) == len(compile.STAGES)
    for stage in compile.STAGES:
        importlib.import_module(stage.module)
        assert not stage.does.endswith(".") and stage.does[0].islower()


def stages_of(*arguments: object) -> Stages:
    def centred(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x - x.mean(axis=1, keepdims=True), (-x) * (-y)

    return xjit.jit(centred).stages(*arguments)


def test_each_stage_shows_what_it_changed() -> None:
    found = stages_of(np.ones((30, 40)), np.ones((30, 40)))
    assert [report.name for report in found.reports] == ["trace", *(stage.name for stage in compile.STAGES)]
    assert "neg" in found["trace"] and "neg" not in found["signs"]
    assert found["split"] == ""
    assert "loops over 30x40 reducing axes (1,)" in found["plan"]
    assert "parallel i0 in lo .. hi:" in found["lower"] and "o0[i0, j0] = " in found["lower"]
    assert found["source"].startswith("def kernel(lo, hi, table):")


def test_the_text_of_all_stages() -> None:
    text = str(stages_of(np.ones((30, 40)), np.ones((30, 40))))
    for stage in compile.STAGES:
        assert f"\n\n{stage.name}: {stage.does} ({stage.module})\n" in text
    assert "nothing to do" in text


def test_sources_are_those_of_a_call() -> None:
    arguments = np.ones((30, 40)), np.ones((30, 40))
    function = xjit.jit(lambda x, y: np.exp(x).sum(axis=1) + y[:, 0])
    assert function.stages(*arguments)["source"] == function.source(*arguments)
    assert function.stats().compiles == 0


def test_a_stage_that_is_not_there() -> None:
    with pytest.raises(KeyError, match="no stage is called splitt; the stages are trace, simplify"):
        stages_of(np.ones((3, 4)), np.ones((3, 4)))["splitt"]
