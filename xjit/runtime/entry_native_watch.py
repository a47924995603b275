"""The part of the native entry that lets signals interrupt long programs, as LLVM assembly.

While a program runs with the interpreter lock released, Ctrl-C only leaves a note in the interpreter. The main thread
is where Python's signal handlers run; it therefore looks every 50 ms whether there is a note, between two chunks: it
takes the lock, lets the interpreter call its handlers, and gives the program up if one raises. In programs shorter
than that each chunk reads the clock, no more.

A watch is three words: the function to ask, the time of the last look in nanoseconds, the thread's state.
"""

from __future__ import annotations

WATCH_TEXT = r"""
; ---------------------------------------------------------------------------------------------- signals
@clock           = global i64 0     ; int clock_gettime(int, struct timespec *), 0 where there is none
@clock_number    = global i64 0     ; CLOCK_MONOTONIC
@main_thread     = global i64 0     ; its identifier
@thread_ident    = global i64 0     ; PyThread_get_thread_ident
@check_signals   = global i64 0     ; PyErr_CheckSignals

define internal i64 @now() {
  %time = alloca [2 x i64]
  %clock_word = load i64, ptr @clock
  %clock = inttoptr i64 %clock_word to ptr
  %number = load i64, ptr @clock_number
  %number32 = trunc i64 %number to i32
  %ignored = call i32 %clock(i32 %number32, ptr %time)
  %seconds = call i64 @word(ptr %time, i64 0)
  %rest = call i64 @word(ptr %time, i64 1)
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}

; A watch for the calling thread, null unless it is the main one; the interpreter lock is not held.
define internal ptr @start_watch(ptr %watch, ptr %state) {
entry:
  %clock = load i64, ptr @clock
  %timeless = icmp eq i64 %clock, 0
  br i1 %timeless, label %none, label %ask
ask:
  %ident_word = load i64, ptr @thread_ident
  %ident = inttoptr i64 %ident_word to ptr
  %thread = call i64 %ident()
  %main = load i64, ptr @main_thread
  %here = icmp eq i64 %thread, %main
  br i1 %here, label %start, label %none
start:
  store ptr @interrupted, ptr %watch
  %time = call i64 @now()
  %time_place = getelementptr i64, ptr %watch, i64 1
  store i64 %time, ptr %time_place
  %state_place = getelementptr i64, ptr %watch, i64 2
  store ptr %state, ptr %state_place
  ret ptr %watch
none:
  ret ptr null
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
  %state_word = call i64 @word(ptr %watch, i64 2)
  %state = inttoptr i64 %state_word to ptr
  %restore_word = load i64, ptr @restore_thread
  %restore = inttoptr i64 %restore_word to ptr
  call void %restore(ptr %state)
  %check_word = load i64, ptr @check_signals
  %check = inttoptr i64 %check_word to ptr
  %answer = call i32 %check()
  %save_word = load i64, ptr @save_thread
  %save = inttoptr i64 %save_word to ptr
  %same_state = call ptr %save()
  %later = call i64 @now()
  %time_place = getelementptr i64, ptr %watch, i64 1
  store i64 %later, ptr %time_place
  %raised = icmp ne i32 %answer, 0
  %raised32 = zext i1 %raised to i32
  ret i32 %raised32
no:
  ret i32 0
}
"""
