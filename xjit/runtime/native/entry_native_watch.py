"""The part of the native entry that lets signals interrupt long programs, as LLVM assembly.

While a program runs with the interpreter lock released, Ctrl-C only leaves a note in the interpreter. The main thread
is where Python's signal handlers run; it therefore looks every 50 ms whether there is a note, between two chunks or
two kernels: it takes the lock, lets the interpreter call its handlers, and gives the program up if one raises. In
programs shorter than that each chunk reads the clock, no more.

A thread that stands in for the main one (:mod:`xjit.runtime.parallel.stand_ins`) looks at a flag instead, which says
that nobody waits for the program any more.

A watch is three words: the function to ask, the time of the last look in nanoseconds or the address of the flag, the
thread's state.
"""

from __future__ import annotations

WATCH_TEXT = r"""
; ---------------------------------------------------------------------------------------------- signals
@clock           = global ptr null  ; int clock_gettime(int, struct timespec *), null where there is none
@clock_number    = global i64 0     ; CLOCK_MONOTONIC
@main_thread     = global i64 0     ; its identifier
@thread_ident    = global ptr null  ; PyThread_get_thread_ident
@check_signals   = global ptr null  ; PyErr_CheckSignals
@flag_key        = global ptr null  ; Py_tss_t that holds the address of the flag of a thread that stands in
@flag_get        = global ptr null  ; PyThread_tss_get
@raise_none      = global ptr null  ; PyErr_SetNone
@interrupt_type  = global ptr null  ; KeyboardInterrupt

define internal i64 @now() {
  %time = alloca [2 x i64]
  %clock = load ptr, ptr @clock
  %number = load i64, ptr @clock_number
  %number32 = trunc i64 %number to i32
  %ignored = call i32 %clock(i32 %number32, ptr %time)
  %seconds = call i64 @word(ptr %time, i64 0)
  %rest = call i64 @word(ptr %time, i64 1)
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}

; Note the time of a look.
define internal void @looked(ptr %watch) {
  %time = call i64 @now()
  %place = call ptr @place(ptr %watch, i64 1)
  store i64 %time, ptr %place
  ret void
}

; A watch for the calling thread, null unless it is the main one or stands in for it.
; The interpreter lock is not held.
define internal ptr @start_watch(ptr %watch, ptr %state) {
entry:
  %ident = load ptr, ptr @thread_ident
  %thread = call i64 %ident()
  %main = load i64, ptr @main_thread
  %here = icmp eq i64 %thread, %main
  br i1 %here, label %look, label %elsewhere
look:
  %clock = load ptr, ptr @clock
  %timeless = icmp eq ptr %clock, null
  br i1 %timeless, label %none, label %start
elsewhere:
  %key = load ptr, ptr @flag_key
  %keyless = icmp eq ptr %key, null
  br i1 %keyless, label %none, label %ask_flag
ask_flag:
  %get = load ptr, ptr @flag_get
  %flag = call ptr %get(ptr %key)
  %own = icmp eq ptr %flag, null
  br i1 %own, label %none, label %stand_in
stand_in:
  store ptr @abandoned, ptr %watch
  call void @put(ptr %watch, i64 1, ptr %flag)
  call void @put(ptr %watch, i64 2, ptr %state)
  ret ptr %watch
start:
  store ptr @interrupted, ptr %watch
  call void @looked(ptr %watch)
  call void @put(ptr %watch, i64 2, ptr %state)
  ret ptr %watch
none:
  ret ptr null
}

; 1 with a Python exception, which nobody will see, when nobody waits for the program any more.
define internal i32 @abandoned(ptr %watch) {
entry:
  %flag = call ptr @pointer(ptr %watch, i64 1)
  %value = load atomic i64, ptr %flag monotonic, align 8
  %wanted = icmp eq i64 %value, 0
  br i1 %wanted, label %no, label %raise
raise:
  %state = call ptr @pointer(ptr %watch, i64 2)
  %restore = load ptr, ptr @restore_thread
  call void %restore(ptr %state)
  %set = load ptr, ptr @raise_none
  %type = load ptr, ptr @interrupt_type
  call void %set(ptr %type)
  %save = load ptr, ptr @save_thread
  %same_state = call ptr %save()
  ret i32 1
no:
  ret i32 0
}

; 1 with a Python exception when a signal handler raised one.
define internal i32 @interrupted(ptr %watch) {
entry:
  %last = call i64 @word(ptr %watch, i64 1)
  %time = call i64 @now()
  %passed = sub i64 %time, %last
  %due = icmp sge i64 %passed, 50000000
  br i1 %due, label %look, label %no
look:
  %state = call ptr @pointer(ptr %watch, i64 2)
  %restore = load ptr, ptr @restore_thread
  call void %restore(ptr %state)
  %check = load ptr, ptr @check_signals
  %answer = call i32 %check()
  %save = load ptr, ptr @save_thread
  %same_state = call ptr %save()
  call void @looked(ptr %watch)
  %raised = icmp ne i32 %answer, 0
  %raised32 = zext i1 %raised to i32
  ret i32 %raised32
no:
  ret i32 0
}
"""
