"""Turns of a loop in tiles of time, as LLVM assembly: noting calls of kernels, and running what was noted.

A record is a buffer of words:

    0  entries so far, 1 first free word, 2 turns so far, 3 phase, 4 first word behind the entries
    5  first row, rows of a tile, tiles, rows of a band, turns at most, 10 skew of a turn, how much later it begins
    16 entries: kernel, table, first and last iteration, iterations of a row, first row, skew, rows it begins later
       tables, each with the words that are copied behind it

An entry is a nest of a call in one turn. In the first phase each tile does of every entry the rows that need none of
other tiles: they begin so many rows later, and end as many rows earlier as it is skewed. In the second phase what is
left between two tiles is done, which reaches further to both sides from entry to entry. A tile goes through bands of
rows, each entry as many rows behind the band as it is skewed, so that rows stay in the cache from turn to turn.
"""

from __future__ import annotations

_TEXT = r"""
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)

define internal void @set(ptr %words, i64 %index, i64 %value) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  store i64 %value, ptr %place
  ret void
}

define internal ptr @record_of(ptr %at, ptr %buffers) alwaysinline {
  %number = call i64 @word(ptr %at, i64 3)
  %record = call ptr @pointer(ptr %buffers, i64 %number)
  ret ptr %record
}

; ---------------------------------------------------------------------------------------------- noting
define internal void @begin_tiles(ptr %at, ptr %buffers) {
entry:
  %record = call ptr @record_of(ptr %at, ptr %buffers)
  %words = call ptr @place(ptr %at, i64 4)
  for %i below 12
    %value = call i64 @word(ptr %words, i64 %i)
    call void @set(ptr %record, i64 %i, i64 %value)
  end %i
  ret void
}

; Note a call: its table with the addresses of its buffers, and an entry for each of its nests.
define internal void @note(ptr %at, ptr %buffers) {
entry:
  %record = call ptr @record_of(ptr %at, ptr %buffers)
  %free = call i64 @word(ptr %record, i64 1)
  %table = call ptr @place(ptr %record, i64 %free)
  %table_words = call i64 @word(ptr %at, i64 9)
  %patches = call i64 @word(ptr %at, i64 10)
  %template = call ptr @place(ptr %at, i64 11)
  for %i below %table_words
    %value = call i64 @word(ptr %template, i64 %i)
    call void @set(ptr %table, i64 %i, i64 %value)
  end %i
  call void @point(ptr %at, ptr %table, ptr %buffers)
  %patch_words = mul i64 %patches, 3
  %call_words = add i64 %table_words, %patch_words
  %nests_place = call ptr @place(ptr %template, i64 %call_words)
  %nests = call i64 @word(ptr %nests_place, i64 0)
  %first_nest = call ptr @place(ptr %nests_place, i64 1)
  %kernel = call ptr @pointer(ptr %at, i64 5)
  for %n below %nests, ptr %nest = %first_nest then %next_nest
    call void @note_nest(ptr %record, ptr %kernel, ptr %table, ptr %nest)
    %next_nest = call ptr @place(ptr %nest, i64 6)
  end %n
  %copies = call i64 @word(ptr %nest, i64 0)
  %slots = call ptr @place(ptr %nest, i64 1)
  for %c below %copies
    %slot = call i64 @word(ptr %slots, i64 %c)
    %behind_place = add i64 %table_words, %c
    %source = call ptr @pointer(ptr %table, i64 %slot)
    %number = load i64, ptr %source, align 1
    call void @set(ptr %table, i64 %behind_place, i64 %number)
    %copy = call ptr @place(ptr %table, i64 %behind_place)
    call void @put(ptr %table, i64 %slot, ptr %copy)
  end %c
  %used = add i64 %table_words, %copies
  %free_after = add i64 %free, %used
  call void @set(ptr %record, i64 1, i64 %free_after)
  ret void
}

define internal void @note_nest(ptr %record, ptr %kernel, ptr %table, ptr %nest) {
  %count = call i64 @word(ptr %record, i64 0)
  %turn = call i64 @word(ptr %record, i64 2)
  %entries = call ptr @place(ptr %record, i64 16)
  %distance = mul i64 %count, 8
  %item = call ptr @place(ptr %entries, i64 %distance)
  call void @put(ptr %item, i64 0, ptr %kernel)
  call void @put(ptr %item, i64 1, ptr %table)
  %first = call i64 @word(ptr %nest, i64 0)
  call void @set(ptr %item, i64 2, i64 %first)
  %stop = call i64 @word(ptr %nest, i64 1)
  call void @set(ptr %item, i64 3, i64 %stop)
  %steps = call i64 @word(ptr %nest, i64 2)
  call void @set(ptr %item, i64 4, i64 %steps)
  %begin = call i64 @word(ptr %nest, i64 3)
  call void @set(ptr %item, i64 5, i64 %begin)
  %skew_of_turn = call i64 @word(ptr %record, i64 10)
  %skew_of_nest = call i64 @word(ptr %nest, i64 4)
  %skew_of_turns = mul i64 %turn, %skew_of_turn
  %skew = add i64 %skew_of_turns, %skew_of_nest
  call void @set(ptr %item, i64 6, i64 %skew)
  %later_of_turn = call i64 @word(ptr %record, i64 11)
  %later_of_nest = call i64 @word(ptr %nest, i64 5)
  %later_of_turns = mul i64 %turn, %later_of_turn
  %later = add i64 %later_of_turns, %later_of_nest
  call void @set(ptr %item, i64 7, i64 %later)
  %count_after = add i64 %count, 1
  call void @set(ptr %record, i64 0, i64 %count_after)
  ret void
}

; The end of a turn: run what was noted, if the record is full, or that was the last turn; whether the loop was given
; up behind it. That is not between two tiles, whose rows are those of other turns, in memory of the caller's too.
define internal i1 @end_turn(ptr %at, ptr %buffers, ptr %watch) {
entry:
  %record = call ptr @record_of(ptr %at, ptr %buffers)
  %last_word = call i64 @word(ptr %at, i64 4)
  %last = icmp ne i64 %last_word, 0
  %turn = call i64 @word(ptr %record, i64 2)
  %turn_after = add i64 %turn, 1
  call void @set(ptr %record, i64 2, i64 %turn_after)
  %most = call i64 @word(ptr %record, i64 9)
  %full = icmp sge i64 %turn_after, %most
  %due = or i1 %last, %full
  %count = call i64 @word(ptr %record, i64 0)
  %any = icmp sgt i64 %count, 0
  %now = and i1 %due, %any
  br i1 %now, label %first_phase, label %done
first_phase:
  %tiles = call i64 @word(ptr %record, i64 7)
  call void @set(ptr %record, i64 3, i64 0)
  %launch = load ptr, ptr @launcher
  call i32 %launch(ptr @run_tiles, i64 %tiles, i64 1, ptr %record, ptr null)
  call void @set(ptr %record, i64 3, i64 1)
  %between = sub i64 %tiles, 1
  call i32 %launch(ptr @run_tiles, i64 %between, i64 1, ptr %record, ptr null)
  %free = call i64 @word(ptr %record, i64 4)
  call void @set(ptr %record, i64 0, i64 0)
  call void @set(ptr %record, i64 1, i64 %free)
  call void @set(ptr %record, i64 2, i64 0)
  %stop = call i1 @given_up(ptr %watch)
  ret i1 %stop
done:
  ret i1 false
}

; ---------------------------------------------------------------------------------------------- running
define internal void @run_tiles(i64 %lo, i64 %hi, ptr %record) {
entry:
  for %tile from %lo below %hi
    call void @run_tile(ptr %record, i64 %tile)
  end %tile
  ret void
}

; Where a tile begins and ends in a phase, before entries are taken into account.
define internal { i64, i64 } @edges(ptr %record, i64 %tile) {
entry:
  %phase = call i64 @word(ptr %record, i64 3)
  %begin = call i64 @word(ptr %record, i64 5)
  %width = call i64 @word(ptr %record, i64 6)
  %tiles = call i64 @word(ptr %record, i64 7)
  %before = mul i64 %tile, %width
  %low_edge = add i64 %begin, %before
  %high_edge = add i64 %low_edge, %width
  %next = add i64 %tile, 1
  %is_first = icmp eq i64 %tile, 0
  %is_last = icmp eq i64 %next, %tiles
  %low = select i1 %is_first, i64 -1099511627776, i64 %low_edge
  %high = select i1 %is_last, i64 1099511627776, i64 %high_edge
  %between = icmp ne i64 %phase, 0
  %from = select i1 %between, i64 %high_edge, i64 %low
  %to = select i1 %between, i64 %high_edge, i64 %high
  %r0 = insertvalue { i64, i64 } undef, i64 %from, 0
  %r1 = insertvalue { i64, i64 } %r0, i64 %to, 1
  ret { i64, i64 } %r1
}

; The rows of an entry in a tile with these edges.
define internal { i64, i64 } @rows(ptr %item, i64 %from, i64 %to, i64 %phase) {
entry:
  %first = call i64 @word(ptr %item, i64 2)
  %stop = call i64 @word(ptr %item, i64 3)
  %steps = call i64 @word(ptr %item, i64 4)
  %begin = call i64 @word(ptr %item, i64 5)
  %skew = call i64 @word(ptr %item, i64 6)
  %later = call i64 @word(ptr %item, i64 7)
  %iterations = sub i64 %stop, %first
  %rounded = add i64 %iterations, %steps
  %rounded1 = sub i64 %rounded, 1
  %count = sdiv i64 %rounded1, %steps
  %end = add i64 %begin, %count
  %between = icmp ne i64 %phase, 0
  %low0 = add i64 %from, %later
  %low1 = sub i64 %from, %skew
  %low = select i1 %between, i64 %low1, i64 %low0
  %high0 = sub i64 %to, %skew
  %high1 = add i64 %to, %later
  %high = select i1 %between, i64 %high1, i64 %high0
  %lower = call i64 @llvm.smax.i64(i64 %low, i64 %begin)
  %upper = call i64 @llvm.smin.i64(i64 %high, i64 %end)
  %r0 = insertvalue { i64, i64 } undef, i64 %lower, 0
  %r1 = insertvalue { i64, i64 } %r0, i64 %upper, 1
  ret { i64, i64 } %r1
}

define internal void @run_tile(ptr %record, i64 %tile) {
entry:
  %phase = call i64 @word(ptr %record, i64 3)
  %band = call i64 @word(ptr %record, i64 8)
  %count = call i64 @word(ptr %record, i64 0)
  %entries = call ptr @place(ptr %record, i64 16)
  %edges = call { i64, i64 } @edges(ptr %record, i64 %tile)
  %from = extractvalue { i64, i64 } %edges, 0
  %to = extractvalue { i64, i64 } %edges, 1
  for %k below %count, ptr %one = %entries then %one_after, i64 %start = 1099511627776 then %start_after,
      i64 %end = -1099511627776 then %end_after
    %own = call { i64, i64 } @rows(ptr %one, i64 %from, i64 %to, i64 %phase)
    %own_lower = extractvalue { i64, i64 } %own, 0
    %own_upper = extractvalue { i64, i64 } %own, 1
    %own_skew = call i64 @word(ptr %one, i64 6)
    %own_start = add i64 %own_lower, %own_skew
    %own_end = add i64 %own_upper, %own_skew
    %own_any = icmp slt i64 %own_lower, %own_upper
    %less = call i64 @llvm.smin.i64(i64 %start, i64 %own_start)
    %more = call i64 @llvm.smax.i64(i64 %end, i64 %own_end)
    %start_after = select i1 %own_any, i64 %less, i64 %start
    %end_after = select i1 %own_any, i64 %more, i64 %end
    %one_after = call ptr @place(ptr %one, i64 8)
  end %k
  br label %look
look:
  %at = phi i64 [ %start, %k.end ], [ %at_after, %e.end ]
  %at_after = add i64 %at, %band
  %left = icmp slt i64 %at, %end
  br i1 %left, label %entries_of_band, label %done
entries_of_band:
  for %e below %count, ptr %entry_at = %entries then %entry_after
    %rows = call { i64, i64 } @rows(ptr %entry_at, i64 %from, i64 %to, i64 %phase)
    %row_lower = extractvalue { i64, i64 } %rows, 0
    %row_upper = extractvalue { i64, i64 } %rows, 1
    %skew = call i64 @word(ptr %entry_at, i64 6)
    %band_lower = sub i64 %at, %skew
    %band_upper = sub i64 %at_after, %skew
    %lower = call i64 @llvm.smax.i64(i64 %row_lower, i64 %band_lower)
    %upper = call i64 @llvm.smin.i64(i64 %row_upper, i64 %band_upper)
    %any = icmp slt i64 %lower, %upper
    br i1 %any, label %run, label %after
run:
    call void @run_rows(ptr %entry_at, i64 %lower, i64 %upper)
    br label %after
after:
    %entry_after = call ptr @place(ptr %entry_at, i64 8)
  end %e
  br label %look
done:
  ret void
}

; Run the iterations of an entry that some rows are.
define internal void @run_rows(ptr %item, i64 %lower, i64 %upper) alwaysinline {
  %kernel = call ptr @pointer(ptr %item, i64 0)
  %table = call ptr @pointer(ptr %item, i64 1)
  %first = call i64 @word(ptr %item, i64 2)
  %stop = call i64 @word(ptr %item, i64 3)
  %steps = call i64 @word(ptr %item, i64 4)
  %begin = call i64 @word(ptr %item, i64 5)
  %lower_row = sub i64 %lower, %begin
  %upper_row = sub i64 %upper, %begin
  %lower_step = mul i64 %lower_row, %steps
  %upper_step = mul i64 %upper_row, %steps
  %lo = add i64 %first, %lower_step
  %hi0 = add i64 %first, %upper_step
  %hi = call i64 @llvm.smin.i64(i64 %hi0, i64 %stop)
  call void %kernel(i64 %lo, i64 %hi, ptr %table)
  ret void
}
"""

TILED_TURNS_TEXT = _TEXT
