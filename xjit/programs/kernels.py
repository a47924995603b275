"""Kernels by content: equal source is compiled once per process and once per cache directory."""

from __future__ import annotations

import contextlib
import functools
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias
from weakref import WeakValueDictionary

from xjit import config, jobs
from xjit.codegen.front_end import numba_compat
from xjit.codegen.front_end.numba_compat import CompiledModule
from xjit.codegen.text.source import without_comments
from xjit.dataclass import dataclass, field
from xjit.runtime.configured_cache import configured_cache, from_disk
from xjit.runtime.loading.disk_cache import Shelf
from xjit.runtime.loading.loader import LoadedKernel, StoredObject, linked, load_object, pack
from xjit.runtime.tally import KernelTally
from xjit.watch import Watch

Variant: TypeAlias = tuple[str, bool, str]
Ahead: TypeAlias = Mapping[str, CompiledModule]

NONE_AHEAD: Ahead = MappingProxyType({})


RECENT = 64
"""Number of kernels that stay loaded although no program has them any more: functions are often made anew."""


@dataclass(eq=False)
class KernelStore:
    """Loaded kernels of one process. Threads that want the same kernel first share one compilation, a job.

    Kernels live as long as the programs that have them, the last ones asked for a while longer.
    """

    _loaded: WeakValueDictionary[Variant, LoadedKernel] = field(default_factory=WeakValueDictionary)
    _recent: OrderedDict[Variant, LoadedKernel] = field(default_factory=OrderedDict)

    def load(
        self, source: str, tally: KernelTally, *, contract: bool = False, ahead: Ahead = NONE_AHEAD
    ) -> LoadedKernel:
        """The kernel of this source text: from memory, from disk, compiled ahead, or compiled now."""
        return jobs.run(lambda: self._load(without_comments(source), tally, contract, ahead))

    def ahead(self, sources: Iterable[str], *, contract: bool, threads: int, watch: Watch) -> Ahead:
        """Those of the texts that are to be compiled, compiled by several threads; none for too few of them.

        One that is refused is left out, and refused again where it is asked for.
        """
        found: dict[str, CompiledModule] = {}
        texts = [text for text in dict.fromkeys(map(without_comments, sources)) if self._is_new(text, contract)]

        def compile_one(text: str) -> None:
            watch.check()
            with contextlib.suppress(Exception):
                found[text] = numba_compat.compile_kernel(text, contract=contract)
            watch.step()

        if threads > 1 and len(texts) > 1:
            compiling = [functools.partial(compile_one, text) for text in texts]
            jobs.run(lambda: jobs.in_turns(compiling, min(threads, len(texts))))
        return found

    def _is_new(self, text: str, contract: bool) -> bool:
        if _variant(text, contract) in self._loaded:
            return False
        return _kept().get(numba_compat.object_key(text, contract=contract)) is None

    def clear(self) -> None:
        """Forgets all kernels; programs that are alive keep theirs."""
        jobs.run(self._clear)

    def _load(self, text: str, tally: KernelTally, contract: bool, ahead: Ahead) -> LoadedKernel:
        variant = _variant(text, contract)
        found = self._loaded.get(variant)
        if found is not None:
            tally.cache_hits += 1
        else:
            found = self._loaded[variant] = _find(text, tally, contract, ahead)
        self._keep(variant, found)
        return found

    def _keep(self, variant: Variant, kernel: LoadedKernel) -> None:
        self._recent[variant] = kernel
        self._recent.move_to_end(variant)
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)

    def _clear(self) -> None:
        self._loaded.clear()
        self._recent.clear()


def _variant(text: str, contract: bool) -> Variant:
    return text, contract, config.text("XJIT_VECTOR_BITS")


def _kept() -> Shelf:
    """The kernels on disk; those of inline functions are beside them."""
    cache = configured_cache()
    numba_compat.use_store(cache.shelf("inline"))
    return cache.shelf("kernel")


def _find(text: str, tally: KernelTally, contract: bool, ahead: Ahead) -> LoadedKernel:
    disk = _kept()
    key = numba_compat.object_key(text, contract=contract)
    kernel = from_disk(disk, key)
    if kernel is not None:
        tally.cache_hits += 1
        return kernel
    module = ahead.get(text) or numba_compat.compile_kernel(text, contract=contract)
    tally.compiles += 1
    tally.seconds += module.seconds
    code = linked(module.object_code, (module.symbol,), module.externals)
    disk.put(key, pack(StoredObject(code, module.symbol, module.externals)))
    return load_object(code, module.symbol, externals=module.externals)


@functools.cache
def shared_kernels() -> KernelStore:
    """The kernels of this process."""
    return KernelStore()


def kernel_key(source: str, *, contract: bool = False) -> str:
    """The key under which the machine code of a kernel lies in the cache on disk."""
    return numba_compat.object_key(without_comments(source), contract=contract)
