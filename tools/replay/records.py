"""Recordings: what became of each graph, a JSON line each, and how they are kept."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Record:
    """Record of what one graph became.

    key      digest of the graph and of the layouts of its arguments: equal in every revision that captures alike
    program  who had it compiled first: a program of ``perf/``, a golden text, a test
    steps    the plan, a line for each kernel, library call and view
    reasons  why values are stored and kernels stay apart
    kernels  the text of each kernel, without comments
    """

    key: str
    program: str
    steps: tuple[str, ...]
    reasons: tuple[str, ...]
    kernels: tuple[str, ...]


def to_line(record: Record) -> str:
    """Return a record as one line of text."""
    return json.dumps(asdict(record), separators=(",", ":"), ensure_ascii=False)


def from_line(line: str) -> Record:
    """Return the record of a line."""
    found = json.loads(line)
    lists = {name: tuple(found[name]) for name in ("steps", "reasons", "kernels")}
    return Record(found["key"], found["program"], **lists)


def save(file: Path, records: Iterable[Record]) -> int:
    """Write a recording, the first record of every key in the order of keys; return how many there are."""
    chosen: dict[str, Record] = {}
    for record in records:
        chosen.setdefault(record.key, record)
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.writelines(f"{to_line(chosen[key])}\n" for key in sorted(chosen))
    return len(chosen)


def load(file: Path) -> Mapping[str, Record]:
    """Return the records of a recording by their keys."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        records = map(from_line, stream)
        return {record.key: record for record in records}
