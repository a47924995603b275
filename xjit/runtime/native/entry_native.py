"""The native half of the call path: one builtin function that serves every program, as LLVM assembly.

``entry`` has the signature of a METH_FASTCALL method.  Its ``self`` is a bytes object whose payload is a
*record* of 64-bit words describing one program; :mod:`xjit.runtime.calls.entry_words` packs it in this order:

    header   inputs, arrays, temps, calls, table words, single, heavy, bytes of temps and tables, failures, pairs,
             codes, spares, instructions, bytes of temps, apart, cuts
    failure  function that makes an error
    cut      number of an output, rows that it has room for, bytes of a row
    pair     two inputs that have to be two objects
    code     Python function, the code that it has to run
    input    words, kind (0 array, 1 float, 2 int, 3 bool), descriptor, type numbers as bits, flags, ndim, dims,
             strides
    apart    two inputs, the first distance between them at which they meet, number of such distances
    array    words, large, descriptor, ndim, strides given, dims, strides; spares behind the outputs
    temp     byte offset in the block of temps
    call     words, kernel, extent, chunk, how (1 in turn, 2 resumed; 4 more: never given up), table words, patches,
             table, patches (slot, buffer, byte offset)

Programs with loops and branches have instructions instead of calls, which
:mod:`xjit.runtime.native.instructions_native` runs, and their tables behind the temps.

``words`` is the length of its own entry, so that each step walks to the next one.  Nothing in the record is
written at run time: tables, scalars, statuses, lengths of results and buffer addresses live in the frame of the call,
so the same program may run in many threads and recursively.

The constants of the text are the field offsets of the interpreter's and NumPy's objects; its loops are those of
:mod:`xjit.runtime.native.native_text`.
"""

from __future__ import annotations

from xjit.runtime.native.entry_native_arguments import ARGUMENTS_TEXT
from xjit.runtime.native.entry_native_cuts import CUTS_TEXT
from xjit.runtime.native.entry_native_watch import WATCH_TEXT
from xjit.runtime.native.native_parts import GIVEN_UP_TEXT, TURNS_TEXT, WORDS_TEXT

_CALL_TEXT = r"""
; ---------------------------------------------------------------------------------------------- outputs
define internal void @release(ptr %object) {
  %function = load ptr, ptr @decrement
  call void %function(ptr %object)
  ret void
}

; A new array by its specification, null with a Python exception on failure.
define internal ptr @new_array(ptr %spec) {
  %descriptor = call ptr @pointer(ptr %spec, i64 2)
  %ndim = call i64 @word(ptr %spec, i64 3)
  %ndim32 = trunc i64 %ndim to i32
  %strided_word = call i64 @word(ptr %spec, i64 4)
  %strided = icmp ne i64 %strided_word, 0
  %dims = call ptr @place(ptr %spec, i64 5)
  %strides_place = call ptr @place(ptr %dims, i64 %ndim)
  %strides = select i1 %strided, ptr %strides_place, ptr null
  %type = load ptr, ptr @array_type
  %increment = load ptr, ptr @increment
  call void %increment(ptr %descriptor)                 ; the constructor takes one reference over
  %new = load ptr, ptr @array_new
  %array = call ptr %new(ptr %type, ptr %descriptor, i32 %ndim32, ptr %dims, ptr %strides,
      ptr null, i32 0, ptr null)
  ret ptr %array
}

; The same with its memory from %handler; the handler in use before is put back.
define internal ptr @new_array_handled(ptr %spec, ptr %handler) {
entry:
  %set = load ptr, ptr @set_handler
  %before = call ptr %set(ptr %handler)
  %failed = icmp eq ptr %before, null
  br i1 %failed, label %error, label %create
create:
  %array = call ptr @new_array(ptr %spec)
  %ours = call ptr %set(ptr %before)
  call void @release(ptr %before)
  %stuck = icmp eq ptr %ours, null
  br i1 %stuck, label %done, label %release_ours
release_ours:
  call void @release(ptr %ours)
  br label %done
done:
  ret ptr %array
error:
  ret ptr null
}

; Drop the arrays made so far.
define internal void @release_all(ptr %results, i64 %count) {
entry:
  for %i below %count
    %object = call ptr @pointer(ptr %results, i64 %i)
    call void @release(ptr %object)
  end %i
  ret void
}

; Allocate all outputs.  Returns the end of the output section, null with a Python exception on failure.
define internal ptr @make_outputs(ptr %section, i64 %count, ptr %results, ptr %buffers) {
entry:
  for %i below %count, ptr %spec = %section then %after
    %large_word = call i64 @word(ptr %spec, i64 1)
    %large = icmp ne i64 %large_word, 0
    %handler = load ptr, ptr @large_handler
    %handled = icmp ne ptr %handler, null
    %special = and i1 %large, %handled
    br i1 %special, label %by_handler, label %plain
by_handler:
    %array1 = call ptr @new_array_handled(ptr %spec, ptr %handler)
    br label %check
plain:
    %array0 = call ptr @new_array(ptr %spec)
    br label %check
check:
    %array = phi ptr [ %array0, %plain ], [ %array1, %by_handler ]
    %failed = icmp eq ptr %array, null
    br i1 %failed, label %undo, label %made
made:
    call void @put(ptr %results, i64 %i, ptr %array)
    %data = call ptr @field(ptr %array, i64 $ARRAY_DATA)
    call void @put(ptr %buffers, i64 %i, ptr %data)
    %after = call ptr @next(ptr %spec)
  end %i
  ret ptr %spec
undo:
  call void @release_all(ptr %results, i64 %i)
  ret ptr null
}

; The outputs as a tuple that owns them, null with a Python exception on failure.
define internal ptr @as_tuple(ptr %results, i64 %count) {
entry:
  %new = load ptr, ptr @tuple_new
  %tuple = call ptr %new(i64 %count)
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %undo, label %fill
fill:
  %set = load ptr, ptr @tuple_set
  for %i below %count
    %object = call ptr @pointer(ptr %results, i64 %i)
    %ignored = call i32 %set(ptr %tuple, i64 %i, ptr %object)
  end %i
  ret ptr %tuple
undo:
  call void @release_all(ptr %results, i64 %count)
  ret ptr null
}

; ---------------------------------------------------------------------------------------------- running
; Addresses of the temps inside their block.  Returns the end of the temp section.
define internal ptr @place_temps(ptr %section, i64 %count, ptr %block, ptr %buffers) {
entry:
  for %i below %count
    %offset = call i64 @word(ptr %section, i64 %i)
    %address = getelementptr i8, ptr %block, i64 %offset
    call void @put(ptr %buffers, i64 %i, ptr %address)
  end %i
  %end = call ptr @place(ptr %section, i64 %count)
  ret ptr %end
}

; Copy the table of a call into the frame and store the buffer addresses in it.
define internal void @fill_table(ptr %call, ptr %table, ptr %buffers) {
entry:
  %table_words = call i64 @word(ptr %call, i64 5)
  %patches = call i64 @word(ptr %call, i64 6)
  %template = call ptr @place(ptr %call, i64 7)
  %first_patch = call ptr @place(ptr %template, i64 %table_words)
  for %i below %table_words
    %value = call ptr @pointer(ptr %template, i64 %i)
    call void @put(ptr %table, i64 %i, ptr %value)
  end %i
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

; Run the kernels in order, each on this thread or through the pool, until %watch has it given up (true).
define internal i1 @run_calls(ptr %section, i64 %count, ptr %buffers, ptr %table, ptr %watch_of_all) {
entry:
  for %i below %count, ptr %call = %section then %next
    call void @fill_table(ptr %call, ptr %table, ptr %buffers)
    %how = call i64 @word(ptr %call, i64 4)
    %watch = call ptr @watch_over(i64 %how, ptr %watch_of_all)
    %kernel = call ptr @pointer(ptr %call, i64 1)
    %extent = call i64 @word(ptr %call, i64 2)
    %chunk = call i64 @word(ptr %call, i64 3)
    %divided = icmp slt i64 %chunk, %extent
    br i1 %divided, label %share, label %whole
share:
    %in_turn_word = and i64 %how, 3
    %resumed = icmp eq i64 %in_turn_word, 2
    br i1 %resumed, label %turns, label %chunks
turns:
    %ended = call i1 @run_turns(ptr %kernel, i64 %chunk, ptr %table, ptr %watch)
    br i1 %ended, label %stopped, label %after
chunks:
    %in_turn = icmp ne i64 %in_turn_word, 0
    %lone = load ptr, ptr @lone_launcher
    %shared = load ptr, ptr @launcher
    %launch = select i1 %in_turn, ptr %lone, ptr %shared
    %answer = call i32 %launch(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch)
    %stop = icmp ne i32 %answer, 0
    br i1 %stop, label %stopped, label %after
whole:
    %nonempty = icmp sgt i64 %extent, 0
    br i1 %nonempty, label %direct, label %after
direct:
    call void %kernel(i64 0, i64 %extent, ptr %table)
    %enough = call i1 @given_up(ptr %watch)
    br i1 %enough, label %stopped, label %after
after:
    %next = call ptr @next(ptr %call)
  end %i
  ret i1 false
stopped:
  ret i1 true
}

; The instructions of the program if it has some, else its calls; until %watch has them given up (true).
define internal i1 @run_section(ptr %record, ptr %section, ptr %buffers, ptr %table, ptr %watch) {
entry:
  %instructions = call i64 @word(ptr %record, i64 12)
  %straight = icmp eq i64 %instructions, 0
  br i1 %straight, label %calls, label %code
calls:
  %count = call i64 @word(ptr %record, i64 3)
  %stopped = call i1 @run_calls(ptr %section, i64 %count, ptr %buffers, ptr %table, ptr %watch)
  ret i1 %stopped
code:
  %run = load ptr, ptr @instructions_runner
  %answer = call i32 %run(ptr %section, ptr %buffers, ptr %table, ptr %watch)
  %given_up = icmp ne i32 %answer, 0
  ret i1 %given_up
}

; The same with the interpreter lock released when the program is heavy.  True with a Python exception when it was
; given up.
define internal i1 @run_program(ptr %record, ptr %section, ptr %buffers, ptr %table) {
entry:
  %watch_place = alloca [3 x i64]
  %heavy_word = call i64 @word(ptr %record, i64 6)
  %heavy = icmp ne i64 %heavy_word, 0
  br i1 %heavy, label %unlocked, label %locked
unlocked:
  %save = load ptr, ptr @save_thread
  %state = call ptr %save()
  %watch = call ptr @start_watch(ptr %watch_place, ptr %state)
  %raised = call i1 @run_section(ptr %record, ptr %section, ptr %buffers, ptr %table, ptr %watch)
  %restore = load ptr, ptr @restore_thread
  call void %restore(ptr %state)
  ret i1 %raised
locked:
  %never = call i1 @run_section(ptr %record, ptr %section, ptr %buffers, ptr %table, ptr null)
  ret i1 false
}

; With a block for the temps around it, and for the tables of instructions.  True with a Python exception, also when
; there is no memory for the block.
define internal i1 @run_with_block(ptr %record, ptr %section, ptr %buffers, ptr %temp_buffers, ptr %own_table) {
entry:
  %bytes = call i64 @word(ptr %record, i64 7)
  %allocate = load ptr, ptr @temps_allocate             ; both now: they may be replaced while the kernels run
  %free = load ptr, ptr @temps_release
  %room = add i64 %bytes, 64
  %block = call ptr %allocate(i64 %room)
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %error, label %run
run:
  %block_word = ptrtoint ptr %block to i64
  %up = add i64 %block_word, 63
  %aligned_word = and i64 %up, -64
  %aligned = inttoptr i64 %aligned_word to ptr
  %count = call i64 @word(ptr %record, i64 2)
  %calls = call ptr @place_temps(ptr %section, i64 %count, ptr %aligned, ptr %temp_buffers)
  %instructions = call i64 @word(ptr %record, i64 12)
  %straight = icmp eq i64 %instructions, 0
  %temp_bytes = call i64 @word(ptr %record, i64 13)
  %tables = getelementptr i8, ptr %aligned, i64 %temp_bytes
  %table = select i1 %straight, ptr %own_table, ptr %tables
  %raised = call i1 @run_program(ptr %record, ptr %calls, ptr %buffers, ptr %table)
  call void %free(ptr %block)
  ret i1 %raised
error:
  %raise = load ptr, ptr @no_memory
  %null = call ptr %raise()
  ret i1 true
}

; ---------------------------------------------------------------------------------------------- results
; Put the array that owns the memory of a result in its place; memory may have been exchanged.
define internal void @put_in_place(ptr %results, i64 %count, i64 %index, ptr %data) {
entry:
  for %k from %index below %count
    %array = call ptr @pointer(ptr %results, i64 %k)
    %own = call ptr @field(ptr %array, i64 $ARRAY_DATA)
    %found = icmp eq ptr %own, %data
    br i1 %found, label %exchange, label %other
exchange:
    %lost = call ptr @pointer(ptr %results, i64 %index)
    call void @put(ptr %results, i64 %index, ptr %array)
    call void @put(ptr %results, i64 %k, ptr %lost)
    ret void
other:
  end %k
  ret void
}

; The same for all results; the arrays behind them are dropped.
define internal void @drop_spares(ptr %results, i64 %count, i64 %spares, ptr %buffers) {
entry:
  %handed_out = sub i64 %count, %spares
  for %i below %handed_out
    %data = call ptr @pointer(ptr %buffers, i64 %i)
    call void @put_in_place(ptr %results, i64 %count, i64 %i, ptr %data)
  end %i
  %behind = call ptr @place(ptr %results, i64 %handed_out)
  call void @release_all(ptr %behind, i64 %spares)
  ret void
}

; ---------------------------------------------------------------------------------------------- statuses
; Zero the statuses, and the lengths of results behind them, and note where they are.
define internal void @clear_statuses(ptr %statuses, i64 %count, ptr %buffers) {
entry:
  for %i below %count
    %status = call ptr @place(ptr %statuses, i64 %i)
    call void @put(ptr %buffers, i64 %i, ptr %status)
    store i64 0, ptr %status
  end %i
  ret void
}

; Raise the error that %make makes.
define internal void @fail(ptr %make) {
entry:
  %call = load ptr, ptr @call_object
  %error = call ptr %call(ptr %make, ptr null)
  %failed = icmp eq ptr %error, null
  br i1 %failed, label %done, label %raise
raise:
  %type = call ptr @field(ptr %error, i64 $OBJECT_TYPE)
  %set = load ptr, ptr @raise_object
  call void %set(ptr %type, ptr %error)
  call void @release(ptr %error)
  br label %done
done:
  ret void
}

; True with a Python exception when some status is set: that of the first.
define internal i1 @look_at_statuses(ptr %failures, ptr %statuses, i64 %count) {
entry:
  for %i below %count
    %status = call i64 @word(ptr %statuses, i64 %i)
    %fine = icmp eq i64 %status, 0
    br i1 %fine, label %so_far, label %raise
so_far:
  end %i
  ret i1 false
raise:
  %make = call ptr @pointer(ptr %failures, i64 %i)
  call void @fail(ptr %make)
  ret i1 true
}

; ---------------------------------------------------------------------------------------------- the builtin
define ptr @entry(ptr %self, ptr %arguments, i64 %count) {
entry:
  %record = getelementptr i8, ptr %self, i64 $BYTES_PAYLOAD
  %inputs = call i64 @word(ptr %record, i64 0)
  %right_count = icmp eq i64 %inputs, %count
  br i1 %right_count, label %frame, label %miss
frame:                                         ; table, buffers, scalars, results, statuses, lengths in one block
  %outputs = call i64 @word(ptr %record, i64 1)
  %temps = call i64 @word(ptr %record, i64 2)
  %table_words = call i64 @word(ptr %record, i64 4)
  %failures = call i64 @word(ptr %record, i64 8)
  %cuts = call i64 @word(ptr %record, i64 15)
  %noted = add i64 %failures, %cuts
  %w0 = add i64 %inputs, %outputs
  %w1 = add i64 %w0, %temps
  %w2 = add i64 %w1, %noted
  %w3 = add i64 %w2, %w0
  %w4 = add i64 %w3, %noted
  %frame_words = add i64 %w4, %table_words
  %table = alloca i64, i64 %frame_words, align 64
  %buffers = call ptr @place(ptr %table, i64 %table_words)
  %scalars = call ptr @place(ptr %buffers, i64 %w2)
  %results = call ptr @place(ptr %scalars, i64 %inputs)
  %statuses = call ptr @place(ptr %results, i64 %outputs)
  %failure_section = call ptr @place(ptr %record, i64 16)
  %cut_section = call ptr @place(ptr %failure_section, i64 %failures)
  %cut_words = mul i64 %cuts, 3
  %condition_section = call ptr @place(ptr %cut_section, i64 %cut_words)
  %input_section = call ptr @check_conditions(ptr %record, ptr %condition_section, ptr %arguments)
  %changed = icmp eq ptr %input_section, null
  br i1 %changed, label %miss, label %match
match:
  %apart_section = call ptr @match_inputs(ptr %input_section, i64 %inputs, ptr %arguments,
      ptr %buffers, ptr %scalars)
  %missed = icmp eq ptr %apart_section, null
  br i1 %missed, label %miss, label %look_apart
look_apart:
  %output_section = call ptr @check_apart(ptr %record, ptr %apart_section, ptr %buffers)
  %meet = icmp eq ptr %output_section, null
  br i1 %meet, label %miss, label %allocate
allocate:
  %output_buffers = call ptr @place(ptr %buffers, i64 %inputs)
  %temp_section = call ptr @make_outputs(ptr %output_section, i64 %outputs, ptr %results,
      ptr %output_buffers)
  %no_outputs = icmp eq ptr %temp_section, null
  br i1 %no_outputs, label %error, label %run
run:
  %status_buffers = call ptr @place(ptr %buffers, i64 %w1)
  call void @clear_statuses(ptr %statuses, i64 %noted, ptr %status_buffers)
  %instructions = call i64 @word(ptr %record, i64 12)
  %in_block = or i64 %temps, %instructions
  %has_block = icmp ne i64 %in_block, 0
  br i1 %has_block, label %run_block, label %run_plain
run_block:
  %temp_buffers = call ptr @place(ptr %buffers, i64 %w0)
  %raised1 = call i1 @run_with_block(ptr %record, ptr %temp_section, ptr %buffers, ptr %temp_buffers,
      ptr %table)
  br i1 %raised1, label %undo, label %look
run_plain:
  %raised0 = call i1 @run_program(ptr %record, ptr %temp_section, ptr %buffers, ptr %table)
  br i1 %raised0, label %undo, label %look
look:
  %unfit = call i1 @look_at_statuses(ptr %failure_section, ptr %statuses, i64 %failures)
  br i1 %unfit, label %undo, label %finish
finish:
  %spares = call i64 @word(ptr %record, i64 11)
  %exchanged = icmp ne i64 %instructions, 0
  br i1 %exchanged, label %sort_out, label %cut
sort_out:
  call void @drop_spares(ptr %results, i64 %outputs, i64 %spares, ptr %output_buffers)
  br label %cut
cut:
  %handed_out = sub i64 %outputs, %spares
  %lengths = call ptr @place(ptr %statuses, i64 %failures)
  %uncut = call i1 @cut_results(ptr %cut_section, i64 %cuts, ptr %results, ptr %lengths)
  br i1 %uncut, label %undo_rest, label %hand_out
hand_out:
  %single_word = call i64 @word(ptr %record, i64 5)
  %single = icmp ne i64 %single_word, 0
  br i1 %single, label %one, label %several
one:
  %result = load ptr, ptr %results
  ret ptr %result
several:
  %tuple = call ptr @as_tuple(ptr %results, i64 %handed_out)
  ret ptr %tuple
undo:
  call void @release_all(ptr %results, i64 %outputs)
  ret ptr null
undo_rest:
  call void @release_all(ptr %results, i64 %handed_out)
  ret ptr null
miss:
  %miss_object = load ptr, ptr @miss_object
  %increment = load ptr, ptr @increment
  call void %increment(ptr %miss_object)
  ret ptr %miss_object
error:
  ret ptr null
}
"""

ENTRY_TEXT = WORDS_TEXT + GIVEN_UP_TEXT + TURNS_TEXT + ARGUMENTS_TEXT + WATCH_TEXT + _CALL_TEXT + CUTS_TEXT
