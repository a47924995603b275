"""The native half of the thread pool, as LLVM assembly.

One job at a time lives in global words.  The *gate* says whether it may be joined:

    bits 0-15    workers inside the job right now
    bits 16-31   seats left (how many more workers may join)
    bit  32      open

A worker joins by one compare-and-swap on the gate, so it can never touch a job that is closed: a worker that
wakes late costs nothing, and the launching thread finishes all chunks by itself if nobody comes.  The launching
thread closes the gate when the chunks are used up and waits only for workers that are inside.

``pool_generation`` counts jobs; idle workers watch it, first spinning, then asleep on it (a futex on Linux, a
Python condition elsewhere, for which ``pool_worker`` returns to Python).

The launching thread may *watch* for a reason to give the launch up: after each of its chunks it asks a function of
the caller. Then no further chunk is begun, and the launch returns when the ones under way are done.

Memory order: the words of a job are written before the gate is opened (release) and read after joining
(acquire); a worker leaves with release and the launching thread waits with acquire, so it sees all results.
"""

from __future__ import annotations

POOL_TEXT = r"""
$PAUSE_DECLARATION

; ---- words shared by all threads, one cache line each where they are contended
@pool_lock       = global i32 0, align 128      ; 1 while some thread is launching
@pool_gate       = global i64 0, align 128
@pool_next       = global i64 0, align 128      ; next chunk number of the job
@pool_generation = global i32 0, align 128
@pool_sleepers   = global i32 0, align 128

; ---- the job
@job_kernel = global ptr null, align 128
@job_extent = global i64 0
@job_chunk  = global i64 0
@job_table  = global ptr null

; ---- set from Python
@pool_workers       = global i64 0, align 128   ; worker threads that exist
@pool_maximum       = global i64 0              ; worker threads that may exist
@pool_default_limit = global i64 1              ; threads of a launch, the caller included
@pool_spin          = global i64 1000           ; pauses in one spinning phase
@pool_futex_call    = global ptr null          ; libc's syscall(), null where there is no futex
@pool_futex_number  = global i64 0
@pool_yield         = global ptr null          ; sched_yield or the like, null when absent
@pool_wake_callback = global ptr null          ; void (i64 count), used where there is no futex
@pool_grow_callback = global ptr null          ; void (i64 wanted): start workers

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

; Whether the launch is to be given up. %watch is null, or begins with the address of the function to ask.
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

; FUTEX_WAIT | FUTEX_PRIVATE_FLAG = 128: sleep while the generation is %value.
; FUTEX_WAKE | FUTEX_PRIVATE_FLAG = 129: wake %value sleepers.
define internal void @futex(i32 %operation, i32 %value) {
  %call = load ptr, ptr @pool_futex_call
  %number = load i64, ptr @pool_futex_number
  %r = call i64 (i64, ...) %call(i64 %number, ptr @pool_generation, i32 %operation, i32 %value,
      ptr null, ptr null, i32 0)
  ret void
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
  call void @futex(i32 129, i32 2)
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

; Life of a worker that has handled all jobs up to generation %start.  Returns (with the generation handled
; last) only where there is no futex to sleep on.
define i32 @pool_worker(i32 %start) {
entry:
  br label %idle
idle:
  %handled = phi i32 [ %start, %entry ], [ %now, %work ], [ %handled, %sleep ]
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
  call void @join_job()
  br label %idle
park:
  %no_futex = call i1 @no_futex()
  br i1 %no_futex, label %leave, label %sleep
sleep:
  %s0 = atomicrmw add ptr @pool_sleepers, i32 1 seq_cst
  call void @futex(i32 128, i32 %handled)
  %s1 = atomicrmw sub ptr @pool_sleepers, i32 1 seq_cst
  br label %idle
leave:
  ret i32 %handled
}

; ---------------------------------------------------------------------------------------------- launching
; Wake sleeping workers for a job that can use %wanted: as many as are missing beside those that are awake, but at
; most four, because waking takes time; those that join wake others.
define internal void @wake(i64 %wanted) {
entry:
  %sleepers32 = load atomic i32, ptr @pool_sleepers seq_cst, align 4
  %sleepers = zext i32 %sleepers32 to i64
  %workers = load i64, ptr @pool_workers
  %awake = sub i64 %workers, %sleepers
  %missing = sub i64 %wanted, %awake
  %any = icmp sgt i64 %missing, 0
  %some = icmp ne i32 %sleepers32, 0
  %needed = and i1 %any, %some
  br i1 %needed, label %choose, label %done
choose:
  %no_futex = call i1 @no_futex()
  br i1 %no_futex, label %by_callback, label %by_futex
by_futex:
  %many = icmp sgt i64 %missing, 4
  %count = select i1 %many, i64 4, i64 %missing
  %count32 = trunc i64 %count to i32
  call void @futex(i32 129, i32 %count32)
  br label %done
by_callback:
  %callback = load ptr, ptr @pool_wake_callback
  call void %callback(i64 %missing)
  br label %done
done:
  ret void
}

; How many workers a job of %chunks chunks under %limit threads asks for; starts missing ones.
define internal i64 @workers_for(i64 %chunks, i64 %limit) {
entry:
  %by_limit = sub i64 %limit, 1
  %by_chunks = sub i64 %chunks, 1
  %c0 = icmp slt i64 %by_limit, %by_chunks
  %w0 = select i1 %c0, i64 %by_limit, i64 %by_chunks
  %maximum = load i64, ptr @pool_maximum
  %c1 = icmp slt i64 %w0, %maximum
  %wanted = select i1 %c1, i64 %w0, i64 %maximum
  %workers = load i64, ptr @pool_workers
  %enough = icmp sle i64 %wanted, %workers
  br i1 %enough, label %done, label %grow
grow:
  %callback = load ptr, ptr @pool_grow_callback
  call void %callback(i64 %wanted)
  %now = load i64, ptr @pool_workers
  %c2 = icmp slt i64 %now, %wanted
  %got = select i1 %c2, i64 %now, i64 %wanted
  br label %done
done:
  %result = phi i64 [ %wanted, %entry ], [ %got, %grow ]
  ret i64 %result
}

; Run a job of %chunks chunks with %helpers workers; the lock is held. Returns whether it was given up.
define internal i1 @share(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch, i64 %chunks,
    i64 %helpers) {
entry:
  store ptr %kernel, ptr @job_kernel
  store i64 %extent, ptr @job_extent
  store i64 %chunk, ptr @job_chunk
  store ptr %table, ptr @job_table
  store atomic i64 0, ptr @pool_next monotonic, align 8
  %seats = shl i64 %helpers, 16
  %gate = or i64 %seats, 4294967296
  store atomic i64 %gate, ptr @pool_gate release, align 8
  %g = atomicrmw add ptr @pool_generation, i32 1 seq_cst
  call void @wake(i64 %helpers)
  %stop = call i1 @run_chunks(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch)
  br i1 %stop, label %give_up, label %close
give_up:                                                ; workers find no chunk after the ones they are at
  store atomic i64 %chunks, ptr @pool_next monotonic, align 8
  br label %close
close:
  %old = atomicrmw and ptr @pool_gate, i64 65535 acq_rel
  call void @wait_until_empty()
  ret i1 %stop
}

; Launch with at most %limit threads; the busy pool, or a limit of one, means serially on this thread.
; Returns 1 when %watch gave it up, else 0.
define i32 @pool_launch_limited(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch, i64 %limit) {
entry:
  %empty = icmp sle i64 %extent, 0
  br i1 %empty, label %done, label %not_empty
not_empty:
  %whole = icmp sle i64 %extent, %chunk
  br i1 %whole, label %once, label %several
once:
  call void %kernel(i64 0, i64 %extent, ptr %table)
  br label %done
several:
  %alone = icmp sle i64 %limit, 1
  br i1 %alone, label %serial, label %acquire
acquire:
  %swap = cmpxchg ptr @pool_lock, i32 0, i32 1 acquire monotonic
  %won = extractvalue { i32, i1 } %swap, 1
  br i1 %won, label %locked, label %serial
locked:
  %up = add i64 %extent, %chunk
  %up1 = sub i64 %up, 1
  %chunks = sdiv i64 %up1, %chunk
  %helpers = call i64 @workers_for(i64 %chunks, i64 %limit)
  %nobody = icmp sle i64 %helpers, 0
  br i1 %nobody, label %unlock_serial, label %shared
shared:
  %stop1 = call i1 @share(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch, i64 %chunks,
      i64 %helpers)
  store atomic i32 0, ptr @pool_lock release, align 4
  br label %done
unlock_serial:
  store atomic i32 0, ptr @pool_lock release, align 4
  br label %serial
serial:
  %stop2 = call i1 @run_serially(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch)
  br label %done
done:
  %stop = phi i1 [ false, %entry ], [ false, %once ], [ %stop1, %shared ], [ %stop2, %serial ]
  %answer = zext i1 %stop to i32
  ret i32 %answer
}

; The calling thread's own limit, or the default.
define i64 @pool_limit() {
  %default = load i64, ptr @pool_default_limit
  %own = call i64 @own_limit()
  %unset = icmp eq i64 %own, 0
  %limit = select i1 %unset, i64 %default, i64 %own
  ret i64 %limit
}

define i32 @pool_launch(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch) {
  %parallel = icmp sgt i64 %extent, %chunk
  br i1 %parallel, label %ask, label %go
ask:
  %limit = call i64 @pool_limit()
  br label %go
go:
  %threads = phi i64 [ 1, %0 ], [ %limit, %ask ]
  %answer = call i32 @pool_launch_limited(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch,
      i64 %threads)
  ret i32 %answer
}
"""
