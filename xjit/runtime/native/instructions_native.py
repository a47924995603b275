"""The native half of programs with loops and branches: what runs their instructions, as LLVM assembly.

``run_instructions`` walks over the instructions of a record (:mod:`xjit.runtime.native.entry_native`), each of which
is a run of words that begins with their number, its kind, and its weight:

    0  call     place of its table, then a call as other programs have it
    1  jump     where to
    2  unless   buffer, where to when its first byte is zero
    3  choose   buffer, number of targets, bytes of an integer, targets: the one that it says, else the last
    4  rotate   number of buffers, buffers: each gets the address of the next one, the last that of the first
    5  copy     buffer to write, buffer to read or -1, byte of it to begin at or address of a constant, bytes
    6  end if   first status, number of statuses
    7  end
    8  note     record, then a call as above, number of nests, nests (first and last iteration, iterations of a row,
                first row, skew, rows it begins later), number of slots, slots whose words are copied
    9  tiles    record, its first words: nothing is noted yet
    10 end turn record, whether it is the last one: runs what is noted (:mod:`xjit.runtime.native.tiled_turns_native`)

A target is a distance in words from the first instruction. The tables of all calls lie side by side: their words are
copied there once, and before each call the addresses of its buffers are stored in its table.

The pool asks itself whether to give up. Besides it is asked when the weights of the instructions since the last time
come to ``$PATIENCE``: what takes some time weighs as much by itself.
"""

from __future__ import annotations

from xjit.runtime.native.native_parts import GIVEN_UP_TEXT, TURNS_TEXT, WORDS_TEXT
from xjit.runtime.native.tiled_turns_native import TILED_TURNS_TEXT

_TEXT = r"""
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

; ---- set from Python
@launcher      = global ptr null  ; the pool's launch(kernel, extent, chunk, table, watch)
@lone_launcher = global ptr null  ; the same on the calling thread only

define internal ptr @behind(ptr %words) alwaysinline {
  %length = load i64, ptr %words
  %place = getelementptr i64, ptr %words, i64 %length
  ret ptr %place
}

; ---------------------------------------------------------------------------------------------- calls
; The table of a call.
define internal ptr @table_of(ptr %at, ptr %tables) alwaysinline {
  %number = call i64 @word(ptr %at, i64 3)
  %table = call ptr @place(ptr %tables, i64 %number)
  ret ptr %table
}

; Copy the words of a call to its table.
define internal void @begin_table(ptr %at, ptr %tables) {
entry:
  %table = call ptr @table_of(ptr %at, ptr %tables)
  %table_words = call i64 @word(ptr %at, i64 9)
  %template = call ptr @place(ptr %at, i64 11)
  for %i below %table_words
    %value = call ptr @pointer(ptr %template, i64 %i)
    call void @put(ptr %table, i64 %i, ptr %value)
  end %i
  ret void
}

; The same for all calls.
define internal void @begin_tables(ptr %section, ptr %tables) {
entry:
  br label %look
look:
  %at = phi ptr [ %section, %entry ], [ %next, %after ]
  %kind = call i64 @word(ptr %at, i64 1)
  switch i64 %kind, label %after [ i64 0, label %call
                                   i64 7, label %done ]
call:
  call void @begin_table(ptr %at, ptr %tables)
  br label %after
after:
  %next = call ptr @behind(ptr %at)
  br label %look
done:
  ret void
}

; Store the addresses of its buffers in the table of a call.
define internal void @point(ptr %at, ptr %table, ptr %buffers) alwaysinline {
entry:
  %table_words = call i64 @word(ptr %at, i64 9)
  %patches = call i64 @word(ptr %at, i64 10)
  %template = call ptr @place(ptr %at, i64 11)
  %first_patch = call ptr @place(ptr %template, i64 %table_words)
  for %p below %patches, ptr %patch = %first_patch then %next_patch
    %slot = call i64 @word(ptr %patch, i64 0)
    %buffer = call i64 @word(ptr %patch, i64 1)
    %offset = call i64 @word(ptr %patch, i64 2)
    %base = call ptr @pointer(ptr %buffers, i64 %buffer)
    %address = getelementptr i8, ptr %base, i64 %offset
    call void @put(ptr %table, i64 %slot, ptr %address)
    %next_patch = call ptr @place(ptr %patch, i64 3)
  end %p
  ret void
}

; Run the kernel of a call; whether it was given up.
define internal i1 @run_kernel(ptr %at, ptr %buffers, ptr %tables, ptr %watch_of_all) {
entry:
  %how = call i64 @word(ptr %at, i64 8)
  %watch = call ptr @watch_over(i64 %how, ptr %watch_of_all)
  %table = call ptr @table_of(ptr %at, ptr %tables)
  call void @point(ptr %at, ptr %table, ptr %buffers)
  %kernel = call ptr @pointer(ptr %at, i64 5)
  %extent = call i64 @word(ptr %at, i64 6)
  %chunk = call i64 @word(ptr %at, i64 7)
  %divided = icmp slt i64 %chunk, %extent
  br i1 %divided, label %share, label %whole
share:
  %in_turn_word = and i64 %how, 3
  %resumed = icmp eq i64 %in_turn_word, 2
  br i1 %resumed, label %turns, label %chunks
turns:
  %ended = call i1 @run_turns(ptr %kernel, i64 %chunk, ptr %table, ptr %watch)
  ret i1 %ended
chunks:
  %in_turn = icmp ne i64 %in_turn_word, 0
  %lone = load ptr, ptr @lone_launcher
  %shared = load ptr, ptr @launcher
  %launch = select i1 %in_turn, ptr %lone, ptr %shared
  %answer = call i32 %launch(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch)
  %stop = icmp ne i32 %answer, 0
  ret i1 %stop
whole:
  %nonempty = icmp sgt i64 %extent, 0
  br i1 %nonempty, label %direct, label %done
direct:
  call void %kernel(i64 0, i64 %extent, ptr %table)
  br label %done
done:
  ret i1 false
}

; ---------------------------------------------------------------------------------------------- the others
define internal void @rotate(ptr %at, ptr %buffers) {
entry:
  %count = call i64 @word(ptr %at, i64 3)
  %list = call ptr @place(ptr %at, i64 4)
  %first = call i64 @word(ptr %list, i64 0)
  %lost = call ptr @pointer(ptr %buffers, i64 %first)
  %last_place = sub i64 %count, 1
  for %i below %last_place
    %after = add i64 %i, 1
    %to = call i64 @word(ptr %list, i64 %i)
    %from = call i64 @word(ptr %list, i64 %after)
    %address = call ptr @pointer(ptr %buffers, i64 %from)
    call void @put(ptr %buffers, i64 %to, ptr %address)
  end %i
  %last = call i64 @word(ptr %list, i64 %last_place)
  call void @put(ptr %buffers, i64 %last, ptr %lost)
  ret void
}

define internal void @copy(ptr %at, ptr %buffers) {
entry:
  %to_number = call i64 @word(ptr %at, i64 3)
  %from_number = call i64 @word(ptr %at, i64 4)
  %start = call i64 @word(ptr %at, i64 5)
  %bytes = call i64 @word(ptr %at, i64 6)
  %to = call ptr @pointer(ptr %buffers, i64 %to_number)
  %outside = icmp slt i64 %from_number, 0
  br i1 %outside, label %move, label %buffer
buffer:
  %place = call ptr @pointer(ptr %buffers, i64 %from_number)
  br label %move
move:
  %base = phi ptr [ null, %entry ], [ %place, %buffer ]
  %from = getelementptr i8, ptr %base, i64 %start
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret void
}

; Whether a status of an instruction is set.
define internal i1 @has_failed(ptr %at, ptr %buffers) {
entry:
  %first_number = call i64 @word(ptr %at, i64 3)
  %count = call i64 @word(ptr %at, i64 4)
  %first = call ptr @place(ptr %buffers, i64 %first_number)
  for %i below %count
    %place = call ptr @pointer(ptr %first, i64 %i)
    %status = load i64, ptr %place
    %fine = icmp eq i64 %status, 0
    br i1 %fine, label %so_far, label %failed
so_far:
  end %i
  ret i1 false
failed:
  ret i1 true
}

; The number in a buffer, of which it has so many bytes: 1, 4 or 8.
define internal i64 @number_in(ptr %place, i64 %bytes) {
entry:
  switch i64 %bytes, label %long [ i64 1, label %byte
                                   i64 4, label %short ]
byte:
  %value_of_byte = load i8, ptr %place
  %byte_number = zext i8 %value_of_byte to i64
  ret i64 %byte_number
short:
  %value_of_short = load i32, ptr %place
  %short_number = sext i32 %value_of_short to i64
  ret i64 %short_number
long:
  %number = load i64, ptr %place
  ret i64 %number
}

; The distance at which a choice goes on.
define internal i64 @chosen(ptr %at, ptr %buffers) {
  %buffer = call i64 @word(ptr %at, i64 3)
  %place = call ptr @pointer(ptr %buffers, i64 %buffer)
  %bytes = call i64 @word(ptr %at, i64 5)
  %wanted = call i64 @number_in(ptr %place, i64 %bytes)
  %count = call i64 @word(ptr %at, i64 4)
  %last = sub i64 %count, 1
  %known = icmp ult i64 %wanted, %count
  %index = select i1 %known, i64 %wanted, i64 %last
  %slot = add i64 %index, 6
  %distance = call i64 @word(ptr %at, i64 %slot)
  ret i64 %distance
}

; ---------------------------------------------------------------------------------------------- running
; Run the instructions until their end (0), or until %watch has them given up (1).
define i32 @run_instructions(ptr %section, ptr %buffers, ptr %tables, ptr %watch) {
entry:
  call void @begin_tables(ptr %section, ptr %tables)
  br label %fetch
fetch:
  %at = phi ptr [ %section, %entry ], [ %after, %go_on ], [ %after, %ask ]
  %left = phi i64 [ $PATIENCE, %entry ], [ %left_after, %go_on ], [ $PATIENCE, %ask ]
  %next = call ptr @behind(ptr %at)
  %kind = call i64 @word(ptr %at, i64 1)
  switch i64 %kind, label %end [ i64 0, label %call
                                 i64 1, label %jump
                                 i64 2, label %unless
                                 i64 3, label %choose
                                 i64 4, label %rotate
                                 i64 5, label %copy
                                 i64 6, label %end_if
                                 i64 8, label %note
                                 i64 9, label %begin_tiles
                                 i64 10, label %end_turn ]
call:
  %stop = call i1 @run_kernel(ptr %at, ptr %buffers, ptr %tables, ptr %watch)
  br i1 %stop, label %stopped, label %go_on
jump:
  %distance_of_jump = call i64 @word(ptr %at, i64 3)
  %jumped = call ptr @place(ptr %section, i64 %distance_of_jump)
  br label %go_on
unless:
  %buffer = call i64 @word(ptr %at, i64 3)
  %byte_place = call ptr @pointer(ptr %buffers, i64 %buffer)
  %byte = load i8, ptr %byte_place
  %holds = icmp ne i8 %byte, 0
  %distance_of_unless = call i64 @word(ptr %at, i64 4)
  %elsewhere = call ptr @place(ptr %section, i64 %distance_of_unless)
  %after_unless = select i1 %holds, ptr %next, ptr %elsewhere
  br label %go_on
choose:
  %distance_of_choice = call i64 @chosen(ptr %at, ptr %buffers)
  %after_choice = call ptr @place(ptr %section, i64 %distance_of_choice)
  br label %go_on
rotate:
  call void @rotate(ptr %at, ptr %buffers)
  br label %go_on
copy:
  call void @copy(ptr %at, ptr %buffers)
  br label %go_on
end_if:
  %failed = call i1 @has_failed(ptr %at, ptr %buffers)
  br i1 %failed, label %end, label %go_on
note:
  call void @note(ptr %at, ptr %buffers)
  br label %go_on
begin_tiles:
  call void @begin_tiles(ptr %at, ptr %buffers)
  br label %go_on
end_turn:
  %stop_in_turn = call i1 @end_turn(ptr %at, ptr %buffers, ptr %watch)
  br i1 %stop_in_turn, label %stopped, label %go_on
go_on:
  %after = phi ptr [ %next, %call ], [ %jumped, %jump ], [ %after_unless, %unless ], [ %after_choice, %choose ],
      [ %next, %rotate ], [ %next, %copy ], [ %next, %end_if ], [ %next, %note ], [ %next, %begin_tiles ],
      [ %next, %end_turn ]
  %weight = call i64 @word(ptr %at, i64 2)
  %left_after = sub i64 %left, %weight
  %due = icmp sle i64 %left_after, 0
  br i1 %due, label %ask, label %fetch
ask:
  %enough = call i1 @given_up(ptr %watch)
  br i1 %enough, label %stopped, label %fetch
end:
  ret i32 0
stopped:
  ret i32 1
}
"""

INSTRUCTIONS_TEXT = WORDS_TEXT + GIVEN_UP_TEXT + TURNS_TEXT + TILED_TURNS_TEXT + _TEXT
