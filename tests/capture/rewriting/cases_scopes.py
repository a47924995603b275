"""Names: cells, classes, private names, globals, defaults, nested functions, and functions that call themselves."""

# ruff: noqa: B007, B020, B023, F821, F823
from __future__ import annotations

from typing import Any

from tests.capture.rewriting.case_table import case

Note = Any
COUNTER = 0
__private = "of the module"


@case(3)
def assigns_global(n: int, note: Note) -> Any:
    global COUNTER
    COUNTER = 0
    for k in range(n):
        COUNTER += k
        if k == 1:
            COUNTER *= 10
    return COUNTER


@case(3)
def declares_global_in_loop(n: int, note: Note) -> Any:
    for k in range(n):
        global COUNTER
        COUNTER = k
    return COUNTER


@case(3)
def deletes_global(n: int, note: Note) -> Any:
    global SHORT_LIVED
    for k in range(n):
        SHORT_LIVED = k
        del SHORT_LIVED
    return SHORT_LIVED


@case(3)
def reads_unknown_global(n: int, note: Note) -> Any:
    while n:
        note(unknown_name)


@case(5, 0)
def recursive(n: int, note: Note) -> Any:
    if n <= 1:
        return 1
    return n * recursive(n - 1, note)


@case(3)
def defines_functions_in_loop(n: int, note: Note) -> Any:
    found = []
    for k in range(n):

        def power(x: int, by: int = k) -> int:
            return x**by + k

        found.append(power)
    return [f(2) for f in found], power.__name__, power.__qualname__


@case(3)
def inner_function_assigns(n: int, note: Note) -> Any:
    total = 0

    def add(k: int) -> None:
        nonlocal total
        total += k

    for k in range(n):
        add(k)
        if total > 2:
            total = -1
    return total


@case(3)
def inner_function_unbinds(n: int, note: Note) -> Any:
    total = 0

    def forget() -> None:
        nonlocal total
        del total

    for k in range(n):
        note(total)
        forget()
    return total


@case(3)
def inner_function_reads_late(n: int, note: Note) -> Any:
    def show() -> Any:
        return late

    for k in range(n):
        late = k
        note(show())
        late = -1
    return show()


@case(1)
def inner_function_reads_unbound(n: int, note: Note) -> Any:
    def show() -> Any:
        return late

    while n:
        note(show())
        late = 1


@case(2)
def inner_recursion(n: int, note: Note) -> Any:
    while n:
        n -= 1

        def depth(k: int) -> int:
            return 0 if k == 0 else 1 + depth(k - 1)

        note(depth(n))
    return depth(5)


@case(2)
def inner_generator(n: int, note: Note) -> Any:
    def count(k: int) -> Any:
        while k:
            yield k
            k -= 1

    for k in count(n):
        note(k)
    return list(count(n))


@case(2)
def inner_class(n: int, note: Note) -> Any:
    for k in range(n):

        class Inner:
            value = k
            double = value * 2 if value else "none"

            def show(self) -> Any:
                return self.value, k

    return Inner().show(), Inner.double, Inner.__qualname__


@case(3)
def decorated_inner_function(n: int, note: Note) -> Any:
    def twice(function: Any) -> Any:
        return lambda x: function(function(x))

    for k in range(n):

        @twice
        def step(x: int) -> int:
            return x + k

        note(step(1))
    return step(0)


def make_counter(note: Note, start: int) -> Any:
    count = start

    def step(n: int, note: Note) -> Any:
        """Step."""
        nonlocal count
        for _ in range(n):
            count += 1
            if count > 3:
                break
        else:
            return count, "else"
        return count

    return step, lambda: count


@case((0, 1), (2, 3), (5, 1))
def assigns_cells(pair: Any, note: Note) -> Any:
    step, count = make_counter(note, pair[0])
    return step(pair[1], note), count(), step.__doc__


class Base:
    """The class above."""

    def step(self, n: int, note: Note) -> Any:
        return "base", n

    @classmethod
    def named(cls, n: int) -> Any:
        return cls.__name__, n


class Derived(Base):
    """Methods that need their class."""

    __limit = 3

    def step(self, n: int, note: Note) -> Any:
        found = []
        while n:
            n -= 1
            found.append(super().step(n, note))
            if n == 1:
                return found, __class__
        return found or super().step(0, note)

    def private(self, n: int, note: Note) -> Any:
        __own = 0
        for __k in range(n):
            __own += self.__limit
            if __own > 4:
                break
        return __own, __k

    def private_unbound(self, n: int, note: Note) -> Any:
        if n:
            __own = 1
        while True:
            return __own

    @staticmethod
    def fixed(n: int, note: Note) -> Any:
        return [Derived.__limit for _ in range(n) if n] if n > 1 else Derived

    @classmethod
    def named(cls, n: int, note: Note = None) -> Any:
        return super().named(n) if n else "zero"

    @property
    def sign(self) -> Any:
        return "plus" if self.__limit > 0 else "minus"

    def inner(self, n: int, note: Note) -> Any:
        for _ in range(n):

            def show() -> Any:
                return self.__limit, super(Derived, self).step(n, note)

            note(show())
        return show.__qualname__


@case(0, 1, 3)
def calls_methods(n: int, note: Note) -> Any:
    one = Derived()
    return one.step(n, note), one.private(n + 1, note), one.sign, Derived.named(n), Derived.fixed(n, note)


@case(1)
def keyword_only_defaults(n: int, note: Note, *rest: Any, scale: int = 3, **others: Any) -> Any:
    for _ in range(n):
        n += scale if scale else 0
        rest = (*rest, n)
        others[str(n)] = n
    return n, rest, others


@case((1, 2, 3))
def positional_only(items: Any, note: Note, /, start: int = 0) -> Any:
    for start in items:
        if start > 1:
            break
    return start


@case([1, 2])
def parameter_is_deleted(items: Any, note: Note) -> Any:
    for _ in range(2):
        del items
    return items


@case([1, 2])
def parameter_is_target(items: Any, note: Note) -> Any:
    for items in items:
        note(items)
    return items


@case(2)
def shadows_builtins(n: int, note: Note) -> Any:
    for range in range(n):
        note(range)
    return range


@case(2)
def shadows_nothing(n: int, note: Note) -> Any:
    for len in [n]:
        note(len)
    return len


@case(2)
def docstring_only(n: int, note: Note) -> Any:
    """Documentation."""


@case(2)
def docstring_and_loop(n: int, note: Note) -> Any:
    """Documentation."""
    for k in range(n):
        if k:
            return docstring_and_loop.__doc__


@case(4)
def lambda_in_loop(n: int, note: Note) -> Any:
    shifted = []
    for k in range(n):
        shifted.append(lambda x: x + k if x else k)
    return [f(1) for f in shifted], [f(0) for f in shifted]


@case(2)
def star_arguments(n: int, note: Note) -> Any:
    def several(*values: Any, **named: Any) -> Any:
        return values, named

    for k in range(n):
        note(several(*range(k if k else 1), **({"a": k} if k else {})))


@case(2)
def globals_are_real(n: int, note: Note) -> Any:
    while n:
        n -= 1
        note(globals()["COUNTER"] is COUNTER, vars(note) is not None, dir(n)[:0])
    return __name__, __private


@case(3)
def undoes_and_redoes(n: int, note: Note) -> Any:
    for k in range(n):
        x = k
        note(x)
        del x
    try:
        return x
    except NameError as error:
        return type(error).__name__, str(error)


@case(2)
def swaps(n: int, note: Note) -> Any:
    a, b = 1, 2
    for _ in range(n):
        a, b = b, a + b
        (c, d), e = (a, b), [a]
    return a, b, c, d, e


@case(3)
def lambda_case(n: int, note: Note) -> Any:
    return (lambda k: k and (m := k + 1) and m)(n)


case(0, 3)(lambda n, note: n and (m := note(n) + 1) and [m for _ in range(n) if m])
case(0, 3)(lambda n, note: "zero" if not n else [note(k) for k in range(n)])


@case(150)
def many_branches(n: int, note: Note) -> Any:
    if n < 1:
        return 0
    if n < 2:
        return 1
    if n < 4:
        return 2
    if n < 8:
        return 3
    if n < 16:
        return 4
    if n < 32:
        return 5
    if n < 64:
        return 6
    if n < 128:
        return 7
    return 8
