"""The limits on the threads of BLAS that are in force, as LLVM assembly.

A step of a compiled program makes the limit of its thread known with ``blas_begin`` and takes it back with
``blas_end``.  The first of the steps that run at once keeps the number of threads that the library had, each lowers
it to its own limit, and the last puts it back.  None of it is Python, whose signal handlers might raise halfway.

*Element* is a word of the step: 0, or the generation of limits that its own belongs to.  ``blas_begin`` fills it, and
``blas_end`` does nothing for one that is empty, so a step ends exactly what it began wherever it is interrupted.  A
forked child begins another generation: the limits of the parent's threads are none of its own.
"""

from __future__ import annotations

LIMITS_TEXT = r"""
; ---- set from Python
@blas_get_threads = global ptr null     ; int32 (): the number of threads that the library may use
@blas_set_threads = global ptr null     ; void (int32)

; ---- under the lock
@limits_count      = internal global i64 0      ; limits in force
@limits_before     = internal global i32 0      ; the number of threads without them
@limits_generation = internal global i64 1

define internal i32 @threads() {
  %get = load ptr, ptr @blas_get_threads
  %threads = call i32 %get()
  ret i32 %threads
}

define internal void @set_threads(i32 %threads) {
  %set = load ptr, ptr @blas_set_threads
  call void %set(i32 %threads)
  ret void
}

; From here on the library uses no more than %limit threads.
define void @blas_begin(i64 %limit, ptr %held) {
entry:
  call void @lock()
  %now = call i32 @threads()
  %count = load i64, ptr @limits_count
  %first = icmp eq i64 %count, 0
  br i1 %first, label %keep, label %lower
keep:
  store i32 %now, ptr @limits_before
  br label %lower
lower:
  %more = add i64 %count, 1
  store i64 %more, ptr @limits_count
  %now64 = sext i32 %now to i64
  %above = icmp sgt i64 %now64, %limit
  %limit32 = trunc i64 %limit to i32
  %threads = select i1 %above, i32 %limit32, i32 %now
  call void @set_threads(i32 %threads)
  %generation = load i64, ptr @limits_generation
  store i64 %generation, ptr %held
  call void @unlock()
  ret void
}

; Up to here, for a limit that began in this process.
define void @blas_end(ptr %held) {
entry:
  %began = load i64, ptr %held
  %empty = icmp eq i64 %began, 0
  br i1 %empty, label %done, label %look
look:
  store i64 0, ptr %held
  call void @lock()
  %generation = load i64, ptr @limits_generation
  %own = icmp eq i64 %began, %generation
  br i1 %own, label %take, label %leave
take:
  %count = load i64, ptr @limits_count
  %less = sub i64 %count, 1
  %last = icmp eq i64 %less, 0
  br i1 %last, label %put_back, label %store
put_back:
  %before = load i32, ptr @limits_before
  call void @set_threads(i32 %before)
  br label %store
store:
  store i64 %less, ptr @limits_count
  br label %leave
leave:
  call void @unlock()
  br label %done
done:
  ret void
}

; Start afresh in a forked child, where the steps of other threads do not go on and one of them may hold the lock.
define void @blas_forget() {
entry:
  %generation = load i64, ptr @limits_generation
  %next = add i64 %generation, 1
  store i64 %next, ptr @limits_generation
  %count = load i64, ptr @limits_count
  %none = icmp eq i64 %count, 0
  br i1 %none, label %free, label %put_back
put_back:
  %before = load i32, ptr @limits_before
  call void @set_threads(i32 %before)
  store i64 0, ptr @limits_count
  br label %free
free:
  call void @unlock()
  ret void
}
"""
