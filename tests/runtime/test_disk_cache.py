"""The disk cache gives back what was put, or nothing, and never raises."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
import threading
import warnings
from pathlib import Path

import pytest

from xjit import config
from xjit.errors import CacheWarning
from xjit.llvm import digests
from xjit.runtime.loading import cache_folder, disk_cache
from xjit.runtime.loading.disk_cache import DiskCache

KIND = "kernel"
KEY = "0123456789abcdef"
DATA = bytes(range(256)) * 8


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "cache"


def entry(directory: Path) -> Path:
    (path,) = directory.glob("*.xjc")
    return path


def test_round_trip_in_a_private_directory(directory):
    DiskCache(directory).put(KIND, KEY, DATA)
    assert DiskCache(directory).get(KIND, KEY) == DATA
    assert DiskCache(directory).get(KIND, "ff" * 8) is None
    assert directory.stat().st_mode & 0o777 == 0o700
    assert entry(directory).stat().st_mode & 0o077 == 0
    assert [path.suffix for path in directory.iterdir()] == [".xjc"]


def test_empty_entry(directory):
    DiskCache(directory).put(KIND, KEY, b"")
    assert DiskCache(directory).get(KIND, KEY) == b""


@pytest.mark.parametrize("size", [0, 1, 12, 13, 14, 44, 45, 46, 1000, 45 + len(DATA) - 1])
def test_truncated_entry_is_a_miss_and_is_removed(directory, size):
    DiskCache(directory).put(KIND, KEY, DATA)
    path = entry(directory)
    path.write_bytes(path.read_bytes()[:size])
    assert DiskCache(directory).get(KIND, KEY) is None
    assert not path.exists()


@pytest.mark.parametrize("position", [0, 12, 13, 44, 45, 1000, 45 + len(DATA) - 1])
def test_flipped_bit_is_a_miss_and_the_entry_can_be_written_again(directory, position):
    DiskCache(directory).put(KIND, KEY, DATA)
    path = entry(directory)
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    cache = DiskCache(directory)
    assert cache.get(KIND, KEY) is None
    cache.put(KIND, KEY, DATA)
    assert DiskCache(directory).get(KIND, KEY) == DATA


def test_appended_bytes_are_a_miss(directory):
    DiskCache(directory).put(KIND, KEY, DATA)
    with entry(directory).open("ab") as file:
        file.write(b"x")
    assert DiskCache(directory).get(KIND, KEY) is None


def test_an_entry_under_another_name_is_a_miss_and_is_removed(directory):
    DiskCache(directory).put(KIND, KEY, DATA)
    other = directory / ("ff" * 8 + ".xjc")
    shutil.copy(entry(directory), other)
    with pytest.warns(CacheWarning, match="entry of another kernel"):
        assert DiskCache(directory).get(KIND, "ff" * 8) is None
    assert not other.exists()
    assert DiskCache(directory).get(KIND, KEY) == DATA


def test_an_entry_of_another_kind_is_a_miss_and_is_removed(directory):
    DiskCache(directory).put(KIND, KEY, DATA)
    with pytest.warns(CacheWarning):
        assert DiskCache(directory).get("runtime", KEY) is None
    assert list(directory.iterdir()) == []


def test_an_entry_of_other_versions_is_a_miss(directory, monkeypatch):
    DiskCache(directory).put(KIND, KEY, DATA)
    monkeypatch.setattr(digests, "versions", lambda: "another Numba")
    with pytest.warns(CacheWarning):
        assert DiskCache(directory).get(KIND, KEY) is None


def test_a_rejected_entry_is_removed_with_a_warning(directory):
    shelf = DiskCache(directory).shelf(KIND)
    shelf.put(KEY, DATA)
    with pytest.warns(CacheWarning, match="damaged"):
        shelf.reject(KEY)
    assert shelf.get(KEY) is None
    assert list(directory.iterdir()) == []


def works_in_memory_with_one_warning(cache: DiskCache, reason: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert cache.get(KIND, KEY) is None
        cache.put(KIND, KEY, DATA)
        assert cache.get(KIND, KEY) == DATA
        cache.put(KIND, "ff" * 8, b"")
        assert cache.get(KIND, KEY) == DATA
        cache.trim(0)
    assert [warning.category for warning in caught] == [CacheWarning]
    assert reason in str(caught[0].message)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702])
def test_directory_that_others_may_write_is_refused(directory, mode):
    directory.mkdir(parents=True)
    directory.chmod(mode)
    works_in_memory_with_one_warning(DiskCache(directory), "can be written by other users")
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("depth", [1, 2])
def test_folder_that_others_may_exchange_is_refused(directory, depth):
    directory.mkdir(parents=True, mode=0o700)
    parent = directory.parents[depth - 1]
    parent.chmod(0o777)
    works_in_memory_with_one_warning(DiskCache(directory), f"who may write to {parent}")
    assert list(directory.iterdir()) == []
    parent.chmod(0o1777)  # with the sticky bit only owners rename, as in /tmp
    DiskCache(directory).put(KIND, KEY, DATA)
    assert DiskCache(directory).get(KIND, KEY) == DATA


def test_link_into_a_folder_that_others_may_exchange_is_refused(tmp_path):
    target, link = tmp_path / "open" / "target", tmp_path / "link"
    target.mkdir(parents=True, mode=0o700)
    target.parent.chmod(0o777)
    link.symlink_to(target)
    works_in_memory_with_one_warning(DiskCache(link), "can be exchanged by other users")


def belongs_to_the_installer(monkeypatch) -> None:
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    monkeypatch.setattr(cache_folder, "_installers", lambda: {own})


def test_folder_of_the_installer_is_read_and_never_written(directory, monkeypatch):
    DiskCache(directory).put(KIND, KEY, DATA)
    before = entry(directory).stat()
    belongs_to_the_installer(monkeypatch)
    cache = DiskCache(directory)
    assert cache.get(KIND, KEY) == DATA
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cache.put(KIND, "ff" * 8, b"new")
        cache.put(KIND, "ee" * 8, b"newer")
        cache.clear()
        cache.put(KIND, "ff" * 8, b"new")
    assert [str(one.message) for one in caught] == [
        f"compiled kernels are kept for this process only: {directory} is not written to: it belongs to another user"
    ]
    assert cache.get(KIND, "ff" * 8) == b"new"
    assert cache.get(KIND, KEY) == DATA
    assert entry(directory).stat() == before


def test_damaged_entry_of_the_installer_is_passed_over(directory, monkeypatch):
    DiskCache(directory).put(KIND, KEY, DATA)
    entry(directory).write_bytes(b"damaged")
    belongs_to_the_installer(monkeypatch)
    with pytest.warns(CacheWarning, match="passed over"):
        assert DiskCache(directory).get(KIND, KEY) is None
    assert entry(directory).exists()


def test_shipped_folders_are_read_behind_the_own_one(tmp_path):
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    DiskCache(shipped).put(KIND, KEY, DATA)
    DiskCache(shipped).put(KIND, "ff" * 8, b"shipped")
    os.utime(shipped / f"{KEY}.xjc", (1, 1))
    cache = DiskCache(own, (tmp_path / "missing", shipped))
    assert cache.get(KIND, KEY) == DATA
    cache.put(KIND, "ff" * 8, b"own")
    assert cache.get(KIND, "ff" * 8) == b"own"
    assert cache.get(KIND, "ee" * 8) is None
    cache.clear()
    assert cache.get(KIND, "ff" * 8) == b"shipped"
    assert (shipped / f"{KEY}.xjc").stat().st_mtime == 1
    assert len(list(shipped.iterdir())) == 2
    assert not (tmp_path / "missing").exists()


def test_shipped_folder_that_others_may_write_is_told_and_not_read(tmp_path):
    shipped = tmp_path / "shipped"
    DiskCache(shipped).put(KIND, KEY, DATA)
    shipped.chmod(0o777)
    cache = DiskCache(tmp_path / "own", (shipped,))
    with pytest.warns(CacheWarning, match="shipped kernels are not used: .* can be written by other users"):
        assert cache.get(KIND, KEY) is None
    cache.put(KIND, KEY, b"own")
    assert cache.get(KIND, KEY) == b"own"


def test_folders_of_the_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("XJIT_SHIPPED_DIR", os.pathsep.join(("one", "", "two")))
    assert config.shipped_directories() == (Path("one"), Path("two"))
    monkeypatch.delenv("XJIT_SHIPPED_DIR")
    assert config.shipped_directories() == (Path(config.__file__).with_name("shipped"),)


def test_planted_entry_in_a_writable_directory_is_not_read(directory):
    DiskCache(directory).put(KIND, KEY, DATA)
    directory.chmod(0o777)
    with pytest.warns(CacheWarning):
        assert DiskCache(directory).get(KIND, KEY) is None


def test_directory_of_another_user_is_refused(directory, monkeypatch):
    DiskCache(directory).put(KIND, KEY, DATA)
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    monkeypatch.setattr(cache_folder, "_installers", lambda: {own + 2})
    works_in_memory_with_one_warning(DiskCache(directory), "belongs to another user")


def test_link_of_another_user_is_refused(tmp_path, monkeypatch):
    target, link = tmp_path / "target", tmp_path / "link"
    DiskCache(target).put(KIND, KEY, DATA)
    link.symlink_to(target)
    assert DiskCache(link).get(KIND, KEY) == DATA
    genuine = os.lstat

    def foreign(path):
        status = genuine(path)
        fields = list(status)
        fields[4] = status.st_uid + 1
        return os.stat_result(fields)

    monkeypatch.setattr(os, "lstat", foreign)
    works_in_memory_with_one_warning(DiskCache(link), "belongs to another user")


def test_path_that_is_a_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    works_in_memory_with_one_warning(DiskCache(path), "cannot be created")


def test_path_below_a_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    works_in_memory_with_one_warning(DiskCache(path / "below"), "cannot be created")


@pytest.mark.parametrize("failing", ["open", "replace"])
def test_directory_that_cannot_be_written(directory, monkeypatch, failing):
    def refuse(*arguments, **options):
        raise PermissionError(13, "not allowed")

    cache = DiskCache(directory)
    cache.put(KIND, "ff" * 8, DATA)
    monkeypatch.setattr(disk_cache.os, failing, refuse)
    works_in_memory_with_one_warning(cache, "cannot be written")
    assert len(list(directory.iterdir())) == 1


def test_directory_removed_by_somebody(directory):
    cache = DiskCache(directory)
    cache.put(KIND, KEY, DATA)
    shutil.rmtree(directory)
    assert cache.get(KIND, KEY) is None
    cache.put(KIND, KEY, DATA)
    assert DiskCache(directory).get(KIND, KEY) == DATA


def test_entry_that_cannot_be_read(directory):
    directory.mkdir(parents=True, mode=0o700)
    (directory / f"{KEY}.xjc").mkdir()
    works_in_memory_with_one_warning(DiskCache(directory), "cannot be read")


def test_warning_turned_into_an_error_does_not_escape(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache = DiskCache(path)
        cache.put(KIND, KEY, DATA)
        assert cache.get(KIND, KEY) == DATA


def test_no_directory_keeps_entries_in_memory():
    cache = DiskCache(None)
    cache.put(KIND, KEY, DATA)
    assert cache.get(KIND, KEY) == DATA
    cache.clear()
    assert cache.get(KIND, KEY) is None


def test_directory_of_the_settings_without_a_home(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    for name in ("HOME", "XDG_CACHE_HOME", "XJIT_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    DiskCache(config.cache_directory()).put(KIND, KEY, DATA)
    assert DiskCache(config.cache_directory()).get(KIND, KEY) == DATA
    assert list(tmp_path.rglob("*.xjc"))


def test_trim_removes_what_was_unused_for_longest(directory):
    cache = DiskCache(directory)
    for number in range(4):
        cache.put(KIND, f"{number:016x}", DATA)
        os.utime(directory / f"{number:016x}.xjc", (number, number))
    (directory / "half.1.0.tmp").write_bytes(b"x")
    os.utime(directory / "half.1.0.tmp", (0, 0))
    (directory / "not ours").write_bytes(b"x")
    assert cache.get(KIND, f"{0:016x}") == DATA  # reading counts as use
    cache.trim(2 * len(DATA) + 200)
    left = sorted(path.name for path in directory.iterdir())
    assert left == [f"{0:016x}.xjc", f"{3:016x}.xjc", "not ours"]
    cache.clear()
    assert [path.name for path in directory.iterdir()] == ["not ours"]


def test_first_write_of_a_process_trims(directory, monkeypatch):
    DiskCache(directory).put(KIND, KEY, DATA)
    os.utime(entry(directory), (1, 1))
    monkeypatch.setattr(disk_cache, "MAXIMUM_BYTES", len(DATA) + 100)
    DiskCache(directory).put(KIND, "ff" * 8, DATA)
    assert entry(directory).name == "ff" * 8 + ".xjc"


def test_a_process_that_goes_on_writing_trims_again(directory, monkeypatch):
    monkeypatch.setattr(disk_cache, "MAXIMUM_BYTES", 10 * len(DATA))
    monkeypatch.setattr(disk_cache, "TRIM_EVERY", 5 * len(DATA))
    cache = DiskCache(directory)
    for number in range(100):
        cache.put(KIND, f"{number:016x}", DATA)
        assert len(list(directory.iterdir())) <= 15
    assert cache.get(KIND, f"{99:016x}") == DATA


def test_what_is_kept_in_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(disk_cache, "MEMORY_BYTES", 3 * len(DATA))
    cache = DiskCache(None)
    for number in range(10):
        cache.put(KIND, f"{number:016x}", DATA)
    kept = [number for number in range(10) if cache.get(KIND, f"{number:016x}") is not None]
    assert kept == [7, 8, 9]


def test_many_threads(directory):
    cache = DiskCache(directory)
    wrong: list[int] = []

    def work(seed: int) -> None:
        for number in range(40):
            key = f"{(seed + number) % 7:016x}"
            cache.put(KIND, key, key.encode() * 500)
            if cache.get(KIND, key) != key.encode() * 500:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert not list(directory.glob("*.tmp"))


def write_many(directory: Path, seed: int) -> None:
    cache = DiskCache(directory)
    for number in range(30):
        cache.put(KIND, f"{number % 5:016x}", f"{number % 5:016x}".encode() * 2000)


def test_many_processes(directory):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(directory, seed)) for seed in range(2)]
    for writer in writers:
        writer.start()
    cache = DiskCache(directory)
    while any(writer.is_alive() for writer in writers):
        for number in range(5):
            key = f"{number:016x}"
            assert cache.get(KIND, key) in (None, key.encode() * 2000)
    assert [writer.exitcode for writer in writers] == [0, 0]
    for number in range(5):
        assert cache.get(KIND, f"{number:016x}") == f"{number:016x}".encode() * 2000


def test_damage_is_told_once(directory):
    cache = DiskCache(directory)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            cache.put(KIND, KEY, DATA)
            entry(directory).write_bytes(b"damaged")
            assert cache.get(KIND, KEY) is None
    assert [warning.category for warning in caught] == [CacheWarning]
    assert "damaged" in str(caught[0].message)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_the_place_of_an_entry_is_not_waited_for(directory):
    DiskCache(directory).put(KIND, KEY, DATA)
    path = entry(directory)
    path.unlink()
    os.mkfifo(path)
    cache = DiskCache(directory)
    assert cache.get(KIND, KEY) is None
    cache.put(KIND, KEY, DATA)
    assert cache.get(KIND, KEY) == DATA
