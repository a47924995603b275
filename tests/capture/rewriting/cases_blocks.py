"""Loops and jumps in and around ``try``, ``with`` and ``match``; imports and assertions."""

# ruff: noqa: B018
from __future__ import annotations

from typing import Any

from tests.capture.rewriting.case_table import case

Note = Any


@case([0, 1, 2, 3])
def try_in_loop(items: list[int], note: Note) -> Any:
    for item in items:
        try:
            if item == 1:
                continue
            if item == 3:
                break
            note(1 // item)
        except ZeroDivisionError as error:
            note(str(error))
        else:
            note("else", item)
        finally:
            note("finally", item)
    return item


@case(0, 1, 2)
def return_in_try(n: int, note: Note) -> Any:
    try:
        if n == 0:
            return "zero"
        note(1 // (n - 1))
    except ZeroDivisionError:
        if n == 1:
            return "one"
    else:
        note("else")
        return "two"
    finally:
        note("finally")


@case([1, 2], [])
def return_in_loop_in_try(items: list[int], note: Note) -> Any:
    try:
        for item in items:
            if item > 1:
                return item
    finally:
        note("finally")
    return None


@case(3)
def loop_in_finally(n: int, note: Note) -> Any:
    try:
        note("try")
    finally:
        for k in range(n):
            if k == 1:
                break
            note(k)
    return k


@case(2)
def raise_in_loop(n: int, note: Note) -> Any:
    for k in range(n):
        note(k)
        if k:
            raise KeyError(k)


@case(2)
def bare_raise_in_branch(n: int, note: Note) -> Any:
    try:
        raise KeyError(n)
    except KeyError:
        if n:
            raise


@case(2)
def raise_from(n: int, note: Note) -> Any:
    while n:
        try:
            n.missing
        except AttributeError as error:
            raise ValueError("wrapped") from error


@case(2)
def exception_name_is_deleted(n: int, note: Note) -> Any:
    error = 1
    for k in range(n):
        try:
            raise KeyError(k)
        except KeyError as error:
            note(repr(error))
    return error


class Manager:
    """A context manager with effects."""

    def __init__(self, note: Note, swallows: bool = False) -> None:
        self.note = note
        self.swallows = swallows

    def __enter__(self) -> Manager:
        self.note("enter")
        return self

    def __exit__(self, kind: Any, *_: Any) -> bool:
        self.note("exit", kind and kind.__name__)
        return self.swallows


@case(4)
def with_in_loop(n: int, note: Note) -> Any:
    for k in range(n):
        with Manager(note) as manager, Manager(note):
            if k == 1:
                continue
            if k == 2:
                break
            note(manager.swallows, k)
        note("behind")
    return k


@case(0, 1)
def return_in_with(n: int, note: Note) -> Any:
    with Manager(note):
        if n:
            return note("value")
        note("rest")
    return "behind"


@case(3)
def loop_in_with_that_swallows(n: int, note: Note) -> Any:
    with Manager(note, True):
        for k in range(n):
            if k == 1:
                raise KeyError(k)
            x = k
    return x


@case(1, (1, 2), (1, [2, 3]), {"a": 4, "b": 5}, "text")
def match_in_loop(value: Any, note: Note) -> Any:
    for _ in range(2):
        match value:
            case int():
                value = (1, 2)
                continue
            case (a, int(b)) if a and b:
                note(a, b)
                break
            case (_, [*rest]):
                return rest
            case {"a": x, **others}:
                note(x, others)
            case _:
                return "other"
    return value


@case(3)
def imports_in_loop(n: int, note: Note) -> Any:
    for _ in range(n):
        import math
        from operator import add as plus
    return math.floor(2.5), plus(1, 2)


@case(3)
def assert_in_loop(n: int, note: Note) -> Any:
    for k in range(n):
        assert k < 2, ("too large", k)
        note(k)


@case(0, 1)
def assert_without_message(n: int, note: Note) -> Any:
    assert n and note is not None
    return n


@case(1)
def assert_message_is_lazy(n: int, note: Note) -> Any:
    assert n, note("never")


@case(0, 1, 2, 3)
def error_cancels_return(n: int, note: Note) -> Any:
    with Manager(note, True):
        try:
            if n:
                return "never"
        finally:
            note(1 // (n - 1))
        note("rest")
    try:
        with Manager(note):
            try:
                if n == 2:
                    return "two"
            finally:
                note(1 // (n - 3))
    except ZeroDivisionError:
        note("caught")
    return "end"


@case(3)
def error_cancels_break(n: int, note: Note) -> Any:
    class Fails(Manager):
        def __exit__(self, *_: Any) -> bool:
            raise KeyError("exit")

    for k in range(n):
        with Manager(note, True), Fails(note):
            break
        try:
            with Fails(note):
                if k == 1:
                    continue
                note("in with")
        except KeyError:
            note("caught")
        while k:
            try:
                with Fails(note):
                    return "never"
            except KeyError:
                note("again")
                break
        note("end", k)
    return k


@case(0, 1, 2.0, "a", None, True, [1], (1, 2))
def match_as_branches(value: Any, note: Note) -> Any:
    match value:
        case 0 | "a" if note("guard"):
            note("zero")
        case 1:
            note("one")
        case None:
            return "none"
        case 2 as two if note(two) or two > 1:
            note(two)
        case other if isinstance(other, list):
            note(other)
        case _:
            return value
    for _ in range(3):
        match (value, note("second")):
            case (0, None):
                value = 5
                continue
            case (5 as x, y):
                note(x, y)
                break
            case (x, _):
                note(x)
    return value, x


@case(1, 2)
def match_that_binds_nothing(value: int, note: Note) -> Any:
    match value:
        case 1:
            found = 3
    note("behind")
    return found


@case({}, {1: 2}, [5, 6], None)
def missing_keys(found: Any, note: Note) -> Any:
    total = 0
    for k in (1, 2, 1):
        try:
            total += found[k] + note(k)
        except KeyError:
            found[k] = k
            note("new")
        try:
            found[k + 1] += 1
        except KeyError:
            found[k + 1] = k = 7
        else:
            note("there", k)
    try:
        return found[9], total
    except KeyError:
        return next((key for key in found if note(key) or key > 1), None), found.get(3), found.get(4, None)
