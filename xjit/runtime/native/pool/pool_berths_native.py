"""Berths of the pool's workers on Linux, from which they are woken away from their waker, as LLVM assembly.

Each worker has a *berth* with a word to sleep on (a futex):

    0    it is awake, or may wake up
    1    it is asleep, or about to be
    2    somebody is about to wake it

A sleeping worker tends to be woken on the processor of the thread that wakes it, where the two then take turns for
many milliseconds: the scheduler of a virtual machine does not count sleeping processors as idle. So the waker takes
two processors out of the affinity of a worker before it wakes it: its own, and that of the launching thread. The
worker puts its affinity back as soon as it runs, before it does anything else. Nothing is taken out when no other
processor would be left, and nothing put back when somebody else has set the affinity meanwhile. The affinity of the
threads that launch is never touched, nor is that of a worker that is awake.

Where the system knows no affinity, refuses to set it, or has more than 1024 processors, workers are just woken.
"""

from __future__ import annotations

BERTHS_TEXT = r"""
; The thread of the worker, its word, whether its affinity was changed, what it was before and what it became.
%berth = type { i32, i32, i32, [16 x i64], [16 x i64], [52 x i8] }

@berths = internal global [$WORKERS x %berth] zeroinitializer, align 64

; ---- set from Python
@pool_get_processor = global ptr null          ; sched_getcpu, null when absent
@pool_get_affinity  = global ptr null          ; sched_getaffinity, sched_setaffinity, null when absent
@pool_set_affinity  = global ptr null

define internal ptr @berth(i32 %number) alwaysinline {
  %index = zext i32 %number to i64
  %berth = getelementptr %berth, ptr @berths, i64 %index
  ret ptr %berth
}

; The processor that this thread runs on, -1 where nobody knows.
define internal i32 @this_processor() {
entry:
  %function = load ptr, ptr @pool_get_processor
  %absent = icmp eq ptr %function, null
  br i1 %absent, label %done, label %ask
ask:
  %number = call i32 %function()
  br label %done
done:
  %processor = phi i32 [ -1, %entry ], [ %number, %ask ]
  ret i32 %processor
}

; ---------------------------------------------------------------------------------------------- affinity
; The bits of a word of an affinity that stand for a processor.
define internal i64 @bit_in_word(i64 %word, i32 %processor) alwaysinline {
  %number = sext i32 %processor to i64
  %place = ashr i64 %number, 6
  %here = icmp eq i64 %place, %word
  %inside = and i64 %number, 63
  %bit = shl i64 1, %inside
  %bits = select i1 %here, i64 %bit, i64 0
  ret i64 %bits
}

; Copy an affinity without two processors; true when that changes it and leaves any.
define internal i1 @without(ptr %before, ptr %after, i32 %one, i32 %other) {
entry:
  for %i below 16, i64 %left = 0 then %left1, i64 %gone = 0 then %gone1
    %from = getelementptr i64, ptr %before, i64 %i
    %to = getelementptr i64, ptr %after, i64 %i
    %word = load i64, ptr %from
    %bit1 = call i64 @bit_in_word(i64 %i, i32 %one)
    %bit2 = call i64 @bit_in_word(i64 %i, i32 %other)
    %bits = or i64 %bit1, %bit2
    %taken = and i64 %word, %bits
    %kept = xor i64 %word, %taken
    store i64 %kept, ptr %to
    %left1 = or i64 %left, %kept
    %gone1 = or i64 %gone, %taken
  end %i
  %some = icmp ne i64 %left, 0
  %changed = icmp ne i64 %gone, 0
  %answer = and i1 %some, %changed
  ret i1 %answer
}

define internal i1 @same_affinity(ptr %one, ptr %other) {
entry:
  for %i below 16, i64 %differ = 0 then %differ1
    %first = getelementptr i64, ptr %one, i64 %i
    %second = getelementptr i64, ptr %other, i64 %i
    %a = load i64, ptr %first
    %b = load i64, ptr %second
    %bits = xor i64 %a, %b
    %differ1 = or i64 %differ, %bits
  end %i
  %same = icmp eq i64 %differ, 0
  ret i1 %same
}

; Keep a sleeping worker off two processors.
define internal void @keep_off(ptr %berth, i32 %one, i32 %other) {
entry:
  %set = load ptr, ptr @pool_set_affinity
  %absent = icmp eq ptr %set, null
  br i1 %absent, label %done, label %read
read:
  %thread = load i32, ptr %berth
  %before = getelementptr %berth, ptr %berth, i64 0, i32 3
  %after = getelementptr %berth, ptr %berth, i64 0, i32 4
  %get = load ptr, ptr @pool_get_affinity
  %refused = call i32 %get(i32 %thread, i64 128, ptr %before)
  %unread = icmp ne i32 %refused, 0
  br i1 %unread, label %done, label %choose
choose:
  %useful = call i1 @without(ptr %before, ptr %after, i32 %one, i32 %other)
  br i1 %useful, label %write, label %done
write:
  %denied = call i32 %set(i32 %thread, i64 128, ptr %after)
  %unwritten = icmp ne i32 %denied, 0
  br i1 %unwritten, label %done, label %note
note:
  %flag = getelementptr %berth, ptr %berth, i64 0, i32 2
  store i32 1, ptr %flag
  br label %done
done:
  ret void
}

; The worker of this berth, awake again, may run where it could before.
define internal void @let_go(ptr %berth) {
entry:
  %now = alloca [16 x i64]
  %flag = getelementptr %berth, ptr %berth, i64 0, i32 2
  %kept_off = load i32, ptr %flag
  %free = icmp eq i32 %kept_off, 0
  br i1 %free, label %done, label %read
read:
  store i32 0, ptr %flag
  %before = getelementptr %berth, ptr %berth, i64 0, i32 3
  %after = getelementptr %berth, ptr %berth, i64 0, i32 4
  %get = load ptr, ptr @pool_get_affinity
  %refused = call i32 %get(i32 0, i64 128, ptr %now)
  %same = call i1 @same_affinity(ptr %now, ptr %after)
  br i1 %same, label %write, label %done
write:
  %set = load ptr, ptr @pool_set_affinity
  %denied = call i32 %set(i32 0, i64 128, ptr %before)
  br label %done
done:
  ret void
}

; ---------------------------------------------------------------------------------------------- sleeping
; FUTEX_WAIT | FUTEX_PRIVATE_FLAG = 128: sleep while the word is %value.
; FUTEX_WAKE | FUTEX_PRIVATE_FLAG = 129: wake %value sleepers.
define internal void @futex(ptr %word, i32 %operation, i32 %value) {
  %call = load ptr, ptr @pool_futex_call
  %number = load i64, ptr @pool_futex_number
  %r = call i64 (i64, ...) %call(i64 %number, ptr %word, i32 %operation, i32 %value, ptr null, ptr null, i32 0)
  ret void
}

; Sleep until somebody wakes this worker, but not when there is a job after %handled.
define internal void @sleep(ptr %berth, i32 %handled) {
entry:
  %word = getelementptr %berth, ptr %berth, i64 0, i32 1
  store atomic i32 1, ptr %word seq_cst, align 4
  %s0 = atomicrmw add ptr @pool_sleepers, i32 1 seq_cst
  %generation = load atomic i32, ptr @pool_generation seq_cst, align 4
  %new = icmp ne i32 %generation, %handled
  br i1 %new, label %get_up, label %look
get_up:                                                 ; unless somebody is about to wake it
  %swap = cmpxchg ptr %word, i32 1, i32 0 seq_cst seq_cst
  br label %look
look:
  %value = load atomic i32, ptr %word acquire, align 4
  %awake = icmp eq i32 %value, 0
  br i1 %awake, label %done, label %wait
wait:
  call void @futex(ptr %word, i32 128, i32 %value)
  br label %look
done:
  %s1 = atomicrmw sub ptr @pool_sleepers, i32 1 seq_cst
  call void @let_go(ptr %berth)
  ret void
}

; Wake the worker of a berth if it sleeps there; returns how many that are.
define internal i64 @rouse_one(ptr %berth, i32 %one, i32 %other) {
entry:
  %word = getelementptr %berth, ptr %berth, i64 0, i32 1
  %seen = load atomic i32, ptr %word seq_cst, align 4
  %sleeps = icmp eq i32 %seen, 1
  br i1 %sleeps, label %claim, label %no
claim:
  %swap = cmpxchg ptr %word, i32 1, i32 2 seq_cst seq_cst
  %won = extractvalue { i32, i1 } %swap, 1
  br i1 %won, label %wake, label %no
wake:
  call void @keep_off(ptr %berth, i32 %one, i32 %other)
  store atomic i32 0, ptr %word release, align 4
  call void @futex(ptr %word, i32 129, i32 1)
  ret i64 1
no:
  ret i64 0
}

; Wake up to %count sleeping workers, away from here and from the launching thread.
define internal void @rouse(i64 %count) {
entry:
  %workers = load i64, ptr @pool_workers
  %launching = load i32, ptr @job_processor
  %here = call i32 @this_processor()
  for %i below %workers, i64 %left = %count then %left1
    %enough = icmp sle i64 %left, 0
    br i1 %enough, label %done, label %next
next:
    %berth = getelementptr %berth, ptr @berths, i64 %i
    %woken = call i64 @rouse_one(ptr %berth, i32 %launching, i32 %here)
    %left1 = sub i64 %left, %woken
  end %i
  ret void
done:
  ret void
}

; In a forked child nobody sleeps.
define internal void @clear_berths() {
entry:
  for %i below $WORKERS
    %berth = getelementptr %berth, ptr @berths, i64 %i
    %word = getelementptr %berth, ptr %berth, i64 0, i32 1
    %flag = getelementptr %berth, ptr %berth, i64 0, i32 2
    store i32 0, ptr %word
    store i32 0, ptr %flag
  end %i
  ret void
}
"""
