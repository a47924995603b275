"""Parts that several texts of the runtime share.

Texts that read records of words share :data:`WORDS_TEXT`, those that obey the limit of the calling thread
:data:`OWN_LIMIT_TEXT`, those that ask whether anybody still waits for what they do :data:`GIVEN_UP_TEXT`.
"""

from __future__ import annotations

WORDS_TEXT = r"""
define internal ptr @place(ptr %words, i64 %index) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  ret ptr %place
}

define internal i64 @word(ptr %words, i64 %index) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  %value = load i64, ptr %place
  ret i64 %value
}

define internal ptr @pointer(ptr %words, i64 %index) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  %value = load ptr, ptr %place
  ret ptr %value
}

define internal void @put(ptr %words, i64 %index, ptr %value) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  store ptr %value, ptr %place
  ret void
}
"""
"""Words of 64 bits by their number: their address, their value as an integer or as a pointer, storing a pointer."""

SPIN_LOCK_TEXT = r"""
$PAUSE_DECLARATION

@spin_lock = global i32 0, align 64

define internal void @lock() {
entry:
  br label %try
try:
  %swap = cmpxchg ptr @spin_lock, i32 0, i32 1 acquire monotonic
  %won = extractvalue { i32, i1 } %swap, 1
  br i1 %won, label %done, label %wait
wait:
  $PAUSE
  br label %try
done:
  ret void
}

define internal void @unlock() {
  store atomic i32 0, ptr @spin_lock release, align 4
  ret void
}
"""
"""The lock of a module, for a few instructions at a time."""

GIVEN_UP_TEXT = r"""
; Whether what runs is to be given up. %watch is null, or begins with the address of the function to ask.
define internal i1 @given_up(ptr %watch) alwaysinline {
entry:
  %unwatched = icmp eq ptr %watch, null
  br i1 %unwatched, label %no, label %ask
ask:
  %function = load ptr, ptr %watch
  %answer = call i32 %function(ptr %watch)
  %yes = icmp ne i32 %answer, 0
  ret i1 %yes
no:
  ret i1 false
}
"""

TURNS_TEXT = r"""
; The watch over a call: none over those that are final, or over at once.
define internal ptr @watch_over(i64 %how, ptr %watch) alwaysinline {
  %final = icmp uge i64 %how, 4
  %found = select i1 %final, ptr null, ptr %watch
  ret ptr %found
}

; Run a kernel %chunk turns of its loop at a time until the word that its first slot points to says that there are no
; more, or %watch has it given up (true).
define internal i1 @run_turns(ptr %kernel, i64 %chunk, ptr %table, ptr %watch) {
entry:
  %flag = call ptr @pointer(ptr %table, i64 0)
  br label %run
run:
  %lo = phi i64 [ 0, %entry ], [ %hi, %look ]
  %hi = add i64 %lo, %chunk
  call void %kernel(i64 %lo, i64 %hi, ptr %table)
  %stop = call i1 @given_up(ptr %watch)
  br i1 %stop, label %done, label %look
look:
  %more = load i64, ptr %flag
  %ended = icmp eq i64 %more, 0
  br i1 %ended, label %done, label %run
done:
  ret i1 %stop
}
"""
"""Text by which native code runs kernels that are resumed; needs those two."""

OWN_LIMIT_TEXT = r"""
; ---- set from Python
@limit_key = global ptr null    ; Py_tss_t that holds the calling thread's own limit
@tss_get   = global ptr null    ; PyThread_tss_get, null when absent

; The calling thread's own limit on threads, 0 where it has none.
define internal i64 @own_limit() {
entry:
  %get = load ptr, ptr @tss_get
  %absent = icmp eq ptr %get, null
  br i1 %absent, label %done, label %ask
ask:
  %key = load ptr, ptr @limit_key
  %value = call ptr %get(ptr %key)
  %own = ptrtoint ptr %value to i64
  br label %done
done:
  %limit = phi i64 [ 0, %entry ], [ %own, %ask ]
  ret i64 %limit
}
"""
"""Text by which native code reads the limit of :mod:`xjit.runtime.parallel.threads`, which says what to bind."""
