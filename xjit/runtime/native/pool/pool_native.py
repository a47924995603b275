"""The native half of the thread pool, as LLVM assembly.

One job at a time lives in global words.  The *gate* says whether it may be joined:

    bits 0-15    workers inside the job right now
    bits 16-31   seats left (how many more workers may join)
    bit  32      open

A worker joins by one compare-and-swap on the gate, so it can never touch a job that is closed: a worker that
wakes late costs nothing, and the launching thread finishes all chunks by itself if nobody comes.  The launching
thread closes the gate when the chunks are used up and waits only for workers that are inside.

``pool_generation`` counts jobs; idle workers watch it, first spinning, then asleep: on Linux each in its berth
(:mod:`xjit.runtime.native.pool.pool_berths_native`), elsewhere in Python, for which ``pool_worker`` returns.

The launching thread may *watch* for a reason to give the launch up: after each of its chunks it asks a function of
the caller. Then no further chunk is begun, and the launch returns when the ones under way are done.

That function may run signal handlers, which may fork. A fork between two chunks of the forking thread's own job
waits until the workers have finished theirs (``pool_hold``): what they compute would be missing in the child, which
has no workers and takes the chunks that are left alone.

Nothing else that a launch calls evaluates Python code on the launching thread: a signal handler that raised there
could not be heard. Workers are started and woken through builtin objects, which native code calls.

Memory order: the words of a job are written before the gate is opened (release) and read after joining
(acquire); a worker leaves with release and the launching thread waits with acquire, so it sees all results.
"""

from __future__ import annotations

from xjit.runtime.native.native_parts import GIVEN_UP_TEXT, OWN_LIMIT_TEXT
from xjit.runtime.native.pool.pool_berths_native import BERTHS_TEXT
from xjit.runtime.native.pool.pool_launch_native import LAUNCH_TEXT

_WORK_TEXT = r"""
$PAUSE_DECLARATION

; ---- words shared by all threads, one cache line each where they are contended
@pool_lock       = global i32 0, align 128      ; 1 while some thread is launching
@pool_gate       = global i64 0, align 128
@pool_next       = global i64 0, align 128      ; next chunk number of the job
@pool_generation = global i32 0, align 128
@pool_sleepers   = global i32 0, align 128

; ---- the job
@job_kernel    = global ptr null, align 128
@job_extent    = global i64 0
@job_chunk     = global i64 0
@job_table     = global ptr null
@job_chunks    = global i64 0                  ; how many there are
@job_helpers   = global i64 0                  ; how many workers may join it
@job_owner     = global i64 0                  ; the launching thread, 0 while nobody launches
@job_processor = global i32 -1                 ; where that thread runs, -1 where nobody knows

; ---- between the begin of a fork and its end in both processes
@held_job  = global i32 0                       ; 1 when it is the owner who forks
@held_next = global i64 0                       ; the next chunk of its job

; ---- set from Python
@pool_workers       = global i64 0, align 128   ; worker threads that exist
@pool_maximum       = global i64 0              ; worker threads that may exist
@pool_default_limit = global i64 1              ; threads of a launch, the caller included
@pool_spin          = global i64 1000           ; pauses in one spinning phase
@pool_futex_call    = global ptr null          ; libc's syscall(), null where there is no futex
@pool_futex_number  = global i64 0
@pool_yield         = global ptr null          ; sched_yield or the like, null when absent
@pool_thread        = global ptr null          ; PyThread_get_thread_ident
@pool_start_object  = global ptr null          ; starts a worker when it is called
@pool_wake_object   = global ptr null          ; wakes one, used where there is no futex
@python_ensure      = global ptr null          ; PyGILState_Ensure, PyGILState_Release
@python_leave       = global ptr null
@python_call        = global ptr null          ; PyObject_CallObject, Py_DecRef, PyErr_Clear
@python_drop        = global ptr null
@python_clear       = global ptr null

; ---------------------------------------------------------------------------------------------- waiting
define i64 @pool_pause_loop(i64 %count) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  $PAUSE
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %count
  br i1 %more, label %loop, label %done
done:
  ret i64 %i1
}

define internal void @yield() {
  %function = load ptr, ptr @pool_yield
  %absent = icmp eq ptr %function, null
  br i1 %absent, label %done, label %call
call:
  %ignored = call i32 %function()
  br label %done
done:
  ret void
}

; Wait until no worker is inside the (closed) job.
define internal void @wait_until_empty() {
entry:
  %spin = load i64, ptr @pool_spin
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i1, %again ]
  %gate = load atomic i64, ptr @pool_gate acquire, align 8
  %empty = icmp eq i64 %gate, 0
  br i1 %empty, label %done, label %wait
wait:
  $PAUSE
  %i1 = add i64 %i, 1
  %patient = icmp ult i64 %i1, %spin
  br i1 %patient, label %again, label %give_way
give_way:
  call void @yield()
  br label %again
again:
  br label %look
done:
  ret void
}

; ---------------------------------------------------------------------------------------------- working
; The chunk that begins at %low; returns where the next one begins.
define internal i64 @run_chunk(ptr %kernel, i64 %low, i64 %extent, i64 %chunk, ptr %table) alwaysinline {
  %end = add i64 %low, %chunk
  %inside = icmp slt i64 %end, %extent
  %high = select i1 %inside, i64 %end, i64 %extent
  call void %kernel(i64 %low, i64 %high, ptr %table)
  ret i64 %end
}

; Take chunks of a job until none is left (false) or the launch is given up (true).
define internal i1 @run_chunks(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch) {
entry:
  br label %take
take:
  %k = atomicrmw add ptr @pool_next, i64 1 monotonic
  %low = mul i64 %k, %chunk
  %left = icmp slt i64 %low, %extent
  br i1 %left, label %run, label %done
run:
  %end = call i64 @run_chunk(ptr %kernel, i64 %low, i64 %extent, i64 %chunk, ptr %table)
  %stop = call i1 @given_up(ptr %watch)
  br i1 %stop, label %done, label %take
done:
  %stopped = phi i1 [ false, %take ], [ true, %run ]
  ret i1 %stopped
}

; The same ranges in order, on this thread only.
define internal i1 @run_serially(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch) {
entry:
  br label %look
look:
  %low = phi i64 [ 0, %entry ], [ %end, %run ]
  %left = icmp slt i64 %low, %extent
  br i1 %left, label %run, label %done
run:
  %end = call i64 @run_chunk(ptr %kernel, i64 %low, i64 %extent, i64 %chunk, ptr %table)
  %stop = call i1 @given_up(ptr %watch)
  br i1 %stop, label %done, label %look
done:
  %stopped = phi i1 [ false, %look ], [ true, %run ]
  ret i1 %stopped
}

define internal i1 @no_futex() alwaysinline {
  %call = load ptr, ptr @pool_futex_call
  %absent = icmp eq ptr %call, null
  ret i1 %absent
}

; Having joined a job with %seats left, wake two more workers if there are any asleep.
define internal void @pass_on(i64 %seats) {
entry:
  %full = icmp eq i64 %seats, 0
  br i1 %full, label %done, label %look
look:
  %sleepers = load atomic i32, ptr @pool_sleepers seq_cst, align 4
  %nobody = icmp eq i32 %sleepers, 0
  %no_futex = call i1 @no_futex()
  %idle = or i1 %nobody, %no_futex
  br i1 %idle, label %done, label %wake
wake:
  call void @rouse(i64 2)
  br label %done
done:
  ret void
}

; Join the current job if it is open and has a seat left, and work on it.
define internal void @join_job() {
entry:
  %first = load atomic i64, ptr @pool_gate acquire, align 8
  br label %look
look:
  %gate = phi i64 [ %first, %entry ], [ %seen, %try ]
  %open_bits = and i64 %gate, 4294967296
  %open = icmp ne i64 %open_bits, 0
  %seat_bits = and i64 %gate, 4294901760
  %seats = icmp ne i64 %seat_bits, 0
  %welcome = and i1 %open, %seats
  br i1 %welcome, label %try, label %done
try:                                                    ; one seat less (2^16), one worker more
  %joined = sub i64 %gate, 65535
  %swap = cmpxchg ptr @pool_gate, i64 %gate, i64 %joined acq_rel acquire
  %seen = extractvalue { i64, i1 } %swap, 0
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %work, label %look
work:
  %seats_left = and i64 %joined, 4294901760
  call void @pass_on(i64 %seats_left)
  %kernel = load ptr, ptr @job_kernel
  %extent = load i64, ptr @job_extent
  %chunk = load i64, ptr @job_chunk
  %table = load ptr, ptr @job_table
  %stop = call i1 @run_chunks(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr null)
  %left = atomicrmw sub ptr @pool_gate, i64 1 release
  br label %done
done:
  ret void
}

; Life of worker %number, the thread %thread of the system, who has not looked at any job yet.  Returns (with the
; generation handled last) only where there is no futex to sleep on.
define i32 @pool_worker(i32 %number, i32 %thread) {
entry:
  %berth = call ptr @berth(i32 %number)
  store i32 %thread, ptr %berth
  br label %work
idle:
  %spin = load i64, ptr @pool_spin
  br label %look
look:
  %i = phi i64 [ 0, %idle ], [ %i1, %pause ]
  %now = load atomic i32, ptr @pool_generation acquire, align 4
  %new = icmp ne i32 %now, %handled
  br i1 %new, label %work, label %pause
pause:
  $PAUSE
  %i1 = add i64 %i, 1
  %patient = icmp ult i64 %i1, %spin
  br i1 %patient, label %look, label %park
work:
  %handled = load atomic i32, ptr @pool_generation acquire, align 4
  call void @join_job()
  br label %idle
park:
  %no_futex = call i1 @no_futex()
  br i1 %no_futex, label %leave, label %sleep
sleep:
  call void @sleep(ptr %berth, i32 %handled)
  br label %look_again
look_again:
  %later = load atomic i32, ptr @pool_generation acquire, align 4
  %woken = icmp ne i32 %later, %handled
  br i1 %woken, label %work, label %idle
leave:
  ret i32 %handled
}
"""

POOL_TEXT = OWN_LIMIT_TEXT + GIVEN_UP_TEXT + _WORK_TEXT + BERTHS_TEXT + LAUNCH_TEXT
