"""The native half of the recycling allocator, as LLVM assembly.

A block of memory is a 64-byte header followed by the data, which starts at a multiple of 64:

    word 0   what the system allocator returned
    word 1   capacity: bytes of data

Blocks given back are *held* in a small table of (data, capacity, stamp) entries under a spin lock that is only
ever held for one walk over the table.  A request takes the smallest held block that fits without wasting more than
a quarter; an array that shrinks to no less than a third of its block stays where it is.  When the table or the byte
limit is full, the blocks held longest go back to the system first, so a program that changes its sizes never gets
stuck with useless blocks.

Nothing here needs the interpreter lock.
"""

from __future__ import annotations

SLOTS = 64
"""Number of blocks that may be held."""

ALLOCATOR_TEXT = r"""
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

@slots        = internal global [$SLOT_WORDS x i64] zeroinitializer, align 64
@clock        = internal global i64 0               ; stamp of the block given back last
@held_bytes   = global i64 0
@held_limit   = global i64 0
@raw_allocate = global ptr null                     ; void *(size_t)
@raw_free     = global ptr null                     ; void (void *)
@advise       = global ptr null                     ; madvise, null when absent

; NumPy's PyDataMem_Handler: name, version, then context and the four functions.
@handler = global { [127 x i8], i8, ptr, ptr, ptr, ptr, ptr } {
  [127 x i8] c"$HANDLER_NAME", i8 1, ptr null,
  ptr @handler_malloc, ptr @handler_calloc, ptr @handler_realloc, ptr @handler_free }, align 8

define i64 @handler_address() {
  ret i64 ptrtoint (ptr @handler to i64)
}

; ---------------------------------------------------------------------------------------------- the table
define internal ptr @slot(i64 %i) alwaysinline {
  %first_word = mul i64 %i, 3
  %place = getelementptr i64, ptr @slots, i64 %first_word
  ret ptr %place
}

define internal i64 @slot_word(i64 %i, i64 %word) alwaysinline {
  %slot = call ptr @slot(i64 %i)
  %place = getelementptr i64, ptr %slot, i64 %word
  %value = load i64, ptr %place
  ret i64 %value
}

; Empty slot %i and return its data; the lock is held.
define internal ptr @empty_slot(i64 %i) {
  %slot = call ptr @slot(i64 %i)
  %data_word = load i64, ptr %slot
  %capacity = call i64 @slot_word(i64 %i, i64 1)
  store i64 0, ptr %slot
  %held = load i64, ptr @held_bytes
  %less = sub i64 %held, %capacity
  store i64 %less, ptr @held_bytes
  %data = inttoptr i64 %data_word to ptr
  ret ptr %data
}

; The slot of the smallest held block of %low to %high bytes, -1 without one; the lock is held.
define internal i64 @find_fit(i64 %low, i64 %high) {
entry:
  for %i below $SLOTS,
      i64 %best = -1 then %best1,
      i64 %best_capacity = %high then %best_capacity1,
      i64 %best_stamp = 0 then %best_stamp1
    %data = call i64 @slot_word(i64 %i, i64 0)
    %capacity = call i64 @slot_word(i64 %i, i64 1)
    %stamp = call i64 @slot_word(i64 %i, i64 2)
    %present = icmp ne i64 %data, 0
    %enough = icmp uge i64 %capacity, %low
    %candidate = and i1 %present, %enough
    %smaller = icmp ult i64 %capacity, %best_capacity
    %equal = icmp eq i64 %capacity, %best_capacity
    %later = icmp ugt i64 %stamp, %best_stamp             ; what was given back last is still in the cache
    %equal_later = and i1 %equal, %later
    %preferred = or i1 %smaller, %equal_later
    %better = and i1 %candidate, %preferred
    %best1 = select i1 %better, i64 %i, i64 %best
    %best_capacity1 = select i1 %better, i64 %capacity, i64 %best_capacity
    %best_stamp1 = select i1 %better, i64 %stamp, i64 %best_stamp
  end %i
  ret i64 %best
}

; The slot to fill next and the slot held longest, -1 where there is none; the lock is held.
define internal { i64, i64 } @survey() {
entry:
  for %i below $SLOTS,
      i64 %free = -1 then %free1,
      i64 %oldest = -1 then %oldest1,
      i64 %oldest_stamp = -1 then %oldest_stamp1
    %data = call i64 @slot_word(i64 %i, i64 0)
    %stamp = call i64 @slot_word(i64 %i, i64 2)
    %empty = icmp eq i64 %data, 0
    %earlier = icmp ult i64 %stamp, %oldest_stamp
    %full = xor i1 %empty, true
    %older = and i1 %full, %earlier
    %free1 = select i1 %empty, i64 %i, i64 %free
    %oldest1 = select i1 %older, i64 %i, i64 %oldest
    %oldest_stamp1 = select i1 %older, i64 %stamp, i64 %oldest_stamp
  end %i
  %r0 = insertvalue { i64, i64 } poison, i64 %free, 0
  %r1 = insertvalue { i64, i64 } %r0, i64 %oldest, 1
  ret { i64, i64 } %r1
}

; ---------------------------------------------------------------------------------------------- the system
define internal i64 @capacity(ptr %data) alwaysinline {
  %place = getelementptr i64, ptr %data, i64 -7
  %value = load i64, ptr %place
  ret i64 %value
}

define internal void @return_to_system(ptr %data) {
  %place = getelementptr i64, ptr %data, i64 -8
  %raw = load ptr, ptr %place
  %free = load ptr, ptr @raw_free
  call void %free(ptr %raw)
  ret void
}

; Ask for huge pages where a block is large enough to have some.
define internal void @advise_huge(ptr %data, i64 %capacity) {
entry:
  %advise = load ptr, ptr @advise
  %known = icmp ne ptr %advise, null
  %worthwhile = icmp uge i64 %capacity, $HUGE_BYTES
  %wanted = and i1 %known, %worthwhile
  br i1 %wanted, label %call, label %done
call:
  %start = ptrtoint ptr %data to i64
  %page = and i64 %start, -4096                         ; the data of such a block starts 64 bytes into a page
  %page_pointer = inttoptr i64 %page to ptr
  %ignored = call i32 %advise(ptr %page_pointer, i64 %capacity, i32 14)
  br label %done
done:
  ret void
}

; A new block of exactly this capacity, null without memory.  Large ones start at a huge page.
define internal ptr @new_block(i64 %capacity) {
entry:
  %large = icmp uge i64 %capacity, $HUGE_BYTES
  %alignment = select i1 %large, i64 $HUGE_PAGE, i64 64
  %room = add i64 %alignment, 64
  %total = add i64 %capacity, %room
  %wrapped = icmp ult i64 %total, %capacity
  br i1 %wrapped, label %fail, label %allocate
allocate:
  %allocate_function = load ptr, ptr @raw_allocate
  %raw = call ptr %allocate_function(i64 %total)
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %fail, label %place
place:
  %raw_word = ptrtoint ptr %raw to i64
  %below = sub i64 %alignment, 1
  %up = add i64 %raw_word, %below
  %mask = sub i64 0, %alignment
  %start = and i64 %up, %mask
  %data_word = add i64 %start, 64
  %data = inttoptr i64 %data_word to ptr
  call void @advise_huge(ptr %data, i64 %capacity)
  %raw_place = getelementptr i64, ptr %data, i64 -8
  store ptr %raw, ptr %raw_place
  %capacity_place = getelementptr i64, ptr %data, i64 -7
  store i64 %capacity, ptr %capacity_place
  ret ptr %data
fail:
  ret ptr null
}

; ---------------------------------------------------------------------------------------------- take and give
; %size bytes at a multiple of 64, held before or new; null without memory.
define ptr @take(i64 %size) {
entry:
  %small = icmp ult i64 %size, $SMALLEST
  br i1 %small, label %fresh, label %search
search:
  %quarter = lshr i64 %size, 2
  %most = add i64 %size, %quarter
  call void @lock()
  %found = call i64 @find_fit(i64 %size, i64 %most)
  %none = icmp slt i64 %found, 0
  br i1 %none, label %not_held, label %held
held:
  %data = call ptr @empty_slot(i64 %found)
  call void @unlock()
  ret ptr %data
not_held:
  call void @unlock()
  br label %fresh
fresh:
  %new = call ptr @new_block(i64 %size)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %give_way, label %done
give_way:                                               ; what is held may be what is missing
  call void @drop_all()
  %second = call ptr @new_block(i64 %size)
  ret ptr %second
done:
  ret ptr %new
}

; Hold a block for later, or return it to the system.
define void @give(ptr %data) {
entry:
  %capacity = call i64 @capacity(ptr %data)
  %limit = load i64, ptr @held_limit
  %small = icmp ult i64 %capacity, $SMALLEST
  %huge = icmp ugt i64 %capacity, %limit
  %unwanted = or i1 %small, %huge
  br i1 %unwanted, label %return, label %again
again:
  call void @lock()
  %both = call { i64, i64 } @survey()
  %free = extractvalue { i64, i64 } %both, 0
  %oldest = extractvalue { i64, i64 } %both, 1
  %held = load i64, ptr @held_bytes
  %would = add i64 %held, %capacity
  %fits = icmp ule i64 %would, %limit
  %has_slot = icmp sge i64 %free, 0
  %good = and i1 %fits, %has_slot
  br i1 %good, label %hold, label %evict
hold:
  %slot = call ptr @slot(i64 %free)
  %data_word = ptrtoint ptr %data to i64
  store i64 %data_word, ptr %slot
  %capacity_place = getelementptr i64, ptr %slot, i64 1
  store i64 %capacity, ptr %capacity_place
  %clock = load i64, ptr @clock
  %clock1 = add i64 %clock, 1
  store i64 %clock1, ptr @clock
  %stamp_place = getelementptr i64, ptr %slot, i64 2
  store i64 %clock1, ptr %stamp_place
  store i64 %would, ptr @held_bytes
  call void @unlock()
  ret void
evict:
  %nothing = icmp slt i64 %oldest, 0
  br i1 %nothing, label %give_up, label %evict_one
evict_one:
  %victim = call ptr @empty_slot(i64 %oldest)
  call void @unlock()
  call void @return_to_system(ptr %victim)
  br label %again
give_up:
  call void @unlock()
  br label %return
return:
  call void @return_to_system(ptr %data)
  ret void
}

; Return everything held to the system.
define void @drop_all() {
entry:
  br label %again
again:
  call void @lock()
  %both = call { i64, i64 } @survey()
  %oldest = extractvalue { i64, i64 } %both, 1
  %nothing = icmp slt i64 %oldest, 0
  br i1 %nothing, label %done, label %one
one:
  %victim = call ptr @empty_slot(i64 %oldest)
  call void @unlock()
  call void @return_to_system(ptr %victim)
  br label %again
done:
  call void @unlock()
  ret void
}

; ---------------------------------------------------------------------------------------------- NumPy's handler
define ptr @handler_malloc(ptr %context, i64 %size) {
  %data = call ptr @take(i64 %size)
  ret ptr %data
}

define ptr @handler_calloc(ptr %context, i64 %count, i64 %size) {
entry:
  %product = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %count, i64 %size)
  %bytes = extractvalue { i64, i1 } %product, 0
  %overflow = extractvalue { i64, i1 } %product, 1
  br i1 %overflow, label %fail, label %allocate
allocate:
  %data = call ptr @take(i64 %bytes)
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %fail, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  ret ptr %data
fail:
  ret ptr null
}

define ptr @handler_realloc(ptr %context, ptr %old, i64 %size) {
entry:
  %fresh = icmp eq ptr %old, null
  br i1 %fresh, label %move, label %look
look:
  %room = call i64 @capacity(ptr %old)
  %fits = icmp ule i64 %size, %room
  %tripled = mul i64 %size, 3
  %dense = icmp uge i64 %tripled, %room
  %stays = and i1 %fits, %dense
  br i1 %stays, label %same, label %move
same:
  ret ptr %old
move:
  %data = call ptr @take(i64 %size)
  %failed = icmp eq ptr %data, null
  %no_copy = or i1 %failed, %fresh
  br i1 %no_copy, label %done, label %copy
copy:
  %capacity = call i64 @capacity(ptr %old)
  %shrinks = icmp ult i64 %size, %capacity
  %bytes = select i1 %shrinks, i64 %size, i64 %capacity
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %old, i64 %bytes, i1 false)
  call void @give(ptr %old)
  br label %done
done:
  ret ptr %data
}

define void @handler_free(ptr %context, ptr %data, i64 %size) {
entry:
  %absent = icmp eq ptr %data, null
  br i1 %absent, label %done, label %free
free:
  call void @give(ptr %data)
  br label %done
done:
  ret void
}
"""
