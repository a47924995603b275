"""The launching side of the thread pool, as LLVM assembly: waking and starting workers, sharing a job, forking.

Its words are those of :mod:`xjit.runtime.native.pool.pool_native`, which says how they work together.
"""

from __future__ import annotations

LAUNCH_TEXT = r"""
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
  br i1 %no_futex, label %by_object, label %by_futex
by_futex:
  %many = icmp sgt i64 %missing, 4
  %count = select i1 %many, i64 4, i64 %missing
  call void @rouse(i64 %count)
  br label %done
by_object:
  %object = load ptr, ptr @pool_wake_object
  br label %once_more
once_more:
  %k = phi i64 [ 0, %by_object ], [ %k1, %once_more ]
  %heard = call i1 @call_builtin(ptr %object)
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %missing
  br i1 %more, label %once_more, label %done
done:
  ret void
}

; Call a builtin object of Python; false when it raised.
define internal i1 @call_builtin(ptr %object) {
entry:
  %ensure = load ptr, ptr @python_ensure
  %state = call i32 %ensure()
  %call = load ptr, ptr @python_call
  %result = call ptr %call(ptr %object, ptr null)
  %raised = icmp eq ptr %result, null
  br i1 %raised, label %clear, label %drop
clear:
  %forget = load ptr, ptr @python_clear
  call void %forget()
  br label %done
drop:
  %release = load ptr, ptr @python_drop
  call void %release(ptr %result)
  br label %done
done:
  %fine = xor i1 %raised, true
  %leave = load ptr, ptr @python_leave
  call void %leave(i32 %state)
  ret i1 %fine
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
  %have = phi i64 [ %workers, %entry ], [ %have1, %started ]
  %object = load ptr, ptr @pool_start_object
  %runs = call i1 @call_builtin(ptr %object)
  br i1 %runs, label %started, label %refused
started:
  %have1 = add i64 %have, 1
  store i64 %have1, ptr @pool_workers
  %missing = icmp slt i64 %have1, %wanted
  br i1 %missing, label %grow, label %done
refused:                                                ; no more threads to be had, or the interpreter ends
  store i64 %have, ptr @pool_maximum
  br label %done
done:
  %result = phi i64 [ %wanted, %entry ], [ %wanted, %started ], [ %have, %refused ]
  ret i64 %result
}

define internal i64 @this_thread() {
  %function = load ptr, ptr @pool_thread
  %thread = call i64 %function()
  ret i64 %thread
}

; Let workers join the job, and tell them.
define internal void @open() {
  %helpers = load i64, ptr @job_helpers
  %seats = shl i64 %helpers, 16
  %gate = or i64 %seats, 4294967296
  store atomic i64 %gate, ptr @pool_gate release, align 8
  %g = atomicrmw add ptr @pool_generation, i32 1 seq_cst
  call void @wake(i64 %helpers)
  ret void
}

; Let nobody join it any more, and wait for those inside.
define internal void @close() {
  %old = atomicrmw and ptr @pool_gate, i64 65535 acq_rel
  call void @wait_until_empty()
  ret void
}

; Run a job of %chunks chunks with %helpers workers; the lock is held. Returns whether it was given up.
define internal i1 @share(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch, i64 %chunks,
    i64 %helpers) {
entry:
  store ptr %kernel, ptr @job_kernel
  store i64 %extent, ptr @job_extent
  store i64 %chunk, ptr @job_chunk
  store ptr %table, ptr @job_table
  store i64 %chunks, ptr @job_chunks
  store i64 %helpers, ptr @job_helpers
  %own = call i64 @this_thread()
  store i64 %own, ptr @job_owner
  %processor = call i32 @this_processor()
  store i32 %processor, ptr @job_processor
  store atomic i64 0, ptr @pool_next monotonic, align 8
  call void @open()
  %stop = call i1 @run_chunks(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch)
  br i1 %stop, label %give_up, label %close
give_up:                                                ; workers find no chunk after the ones they are at
  store atomic i64 %chunks, ptr @pool_next monotonic, align 8
  br label %close
close:
  call void @close()
  store i64 0, ptr @job_owner
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

; Launch on this thread only.
define i32 @pool_launch_alone(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch) {
  %answer = call i32 @pool_launch_limited(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch, i64 1)
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

; ---------------------------------------------------------------------------------------------- forking
; Before this process forks: if the forking thread is between two chunks of its own job, let the workers finish
; theirs and begin no other.
define void @pool_hold() {
entry:
  %own = call i64 @this_thread()
  %owner = load i64, ptr @job_owner
  %here = icmp eq i64 %own, %owner
  br i1 %here, label %hold, label %done
hold:
  %chunks = load i64, ptr @job_chunks
  %next = atomicrmw xchg ptr @pool_next, i64 %chunks monotonic
  store i64 %next, ptr @held_next
  store i32 1, ptr @held_job
  call void @close()
  br label %done
done:
  ret void
}

; Go on with a job that is held; false when none is.
define internal i1 @take_up() {
entry:
  %held = load i32, ptr @held_job
  %none = icmp eq i32 %held, 0
  br i1 %none, label %done, label %go_on
go_on:
  %next = load i64, ptr @held_next
  store atomic i64 %next, ptr @pool_next monotonic, align 8
  store i32 0, ptr @held_job
  br label %done
done:
  %answer = xor i1 %none, true
  ret i1 %answer
}

; In the process that has forked.
define void @pool_resume() {
entry:
  %held = call i1 @take_up()
  br i1 %held, label %go_on, label %done
go_on:
  call void @open()
  br label %done
done:
  ret void
}

; In the child, which has no workers. A launch under way is the parent's, unless it is held.
define void @pool_forget() {
entry:
  store i64 0, ptr @pool_workers
  store i64 $WORKERS, ptr @pool_maximum
  store i32 0, ptr @pool_sleepers
  store i64 0, ptr @pool_gate
  call void @clear_berths()
  %held = call i1 @take_up()
  br i1 %held, label %done, label %free
free:
  store i64 0, ptr @job_owner
  store i32 0, ptr @pool_lock
  br label %done
done:
  ret void
}
"""
