"""The native half of the call path: one builtin function that serves every program, as LLVM assembly.

``entry`` has the signature of a METH_FASTCALL method.  Its ``self`` is a bytes object whose payload is a
*record* of 64-bit words describing one program; :mod:`xjit.runtime.entry` packs it in this order:

    header   inputs, outputs, temps, calls, table words, single, heavy, bytes of temps
    input    words, kind (0 array, 1 float, 2 int, 3 bool), descriptor, type number or -1, ndim, dims, strides
    output   words, large, descriptor, ndim, strides given, dims, strides
    temp     byte offset in the block of temps
    call     words, kernel, extent, chunk, table words, patches, table, patches (slot, buffer, byte offset)

``words`` is the length of its own entry, so that each step walks to the next one.  Nothing in the record is
written at run time: tables, scalars and buffer addresses live in the frame of the call, so the same program
may run in many threads and recursively.

The constants of the text are the field offsets of the interpreter's and NumPy's objects.
"""

from __future__ import annotations

from xjit.runtime.entry_native_arguments import ARGUMENTS_TEXT
from xjit.runtime.entry_native_watch import WATCH_TEXT

_CALL_TEXT = r"""
; ---------------------------------------------------------------------------------------------- outputs
define internal void @release(ptr %object) {
  %function_word = load i64, ptr @decrement
  %function = inttoptr i64 %function_word to ptr
  call void %function(ptr %object)
  ret void
}

; A new array by its specification, null with a Python exception on failure.
define internal ptr @new_array(ptr %spec) {
  %descriptor_word = call i64 @word(ptr %spec, i64 2)
  %descriptor = inttoptr i64 %descriptor_word to ptr
  %ndim = call i64 @word(ptr %spec, i64 3)
  %ndim32 = trunc i64 %ndim to i32
  %strided_word = call i64 @word(ptr %spec, i64 4)
  %strided = icmp ne i64 %strided_word, 0
  %dims = getelementptr i64, ptr %spec, i64 5
  %strides_place = getelementptr i64, ptr %dims, i64 %ndim
  %strides = select i1 %strided, ptr %strides_place, ptr null
  %type_word = load i64, ptr @array_type
  %type = inttoptr i64 %type_word to ptr
  %increment_word = load i64, ptr @increment
  %increment = inttoptr i64 %increment_word to ptr
  call void %increment(ptr %descriptor)                 ; the constructor takes one reference over
  %new_word = load i64, ptr @array_new
  %new = inttoptr i64 %new_word to ptr
  %array = call ptr %new(ptr %type, ptr %descriptor, i32 %ndim32, ptr %dims, ptr %strides,
      ptr null, i32 0, ptr null)
  ret ptr %array
}

; The same with its memory from %handler; the handler in use before is put back.
define internal ptr @new_array_handled(ptr %spec, i64 %handler_word) {
entry:
  %set_word = load i64, ptr @set_handler
  %set = inttoptr i64 %set_word to ptr
  %handler = inttoptr i64 %handler_word to ptr
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
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i1, %one ]
  %left = icmp slt i64 %i, %count
  br i1 %left, label %one, label %done
one:
  %object_word = call i64 @word(ptr %results, i64 %i)
  %object = inttoptr i64 %object_word to ptr
  call void @release(ptr %object)
  %i1 = add i64 %i, 1
  br label %look
done:
  ret void
}

; Allocate all outputs.  Returns the end of the output section, null with a Python exception on failure.
define internal ptr @make_outputs(ptr %section, i64 %count, ptr %results, ptr %buffers) {
entry:
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i1, %made ]
  %spec = phi ptr [ %section, %entry ], [ %after, %made ]
  %left = icmp slt i64 %i, %count
  br i1 %left, label %one, label %all
one:
  %large_word = call i64 @word(ptr %spec, i64 1)
  %large = icmp ne i64 %large_word, 0
  %handler = load i64, ptr @large_handler
  %handled = icmp ne i64 %handler, 0
  %special = and i1 %large, %handled
  br i1 %special, label %by_handler, label %plain
by_handler:
  %array1 = call ptr @new_array_handled(ptr %spec, i64 %handler)
  br label %check
plain:
  %array0 = call ptr @new_array(ptr %spec)
  br label %check
check:
  %array = phi ptr [ %array0, %plain ], [ %array1, %by_handler ]
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %undo, label %made
made:
  %result_place = getelementptr ptr, ptr %results, i64 %i
  store ptr %array, ptr %result_place
  %data = call i64 @field(ptr %array, i64 $ARRAY_DATA)
  %place = getelementptr i64, ptr %buffers, i64 %i
  store i64 %data, ptr %place
  %i1 = add i64 %i, 1
  %after = call ptr @next(ptr %spec)
  br label %look
undo:
  call void @release_all(ptr %results, i64 %i)
  ret ptr null
all:
  ret ptr %spec
}

; The outputs as a tuple that owns them, null with a Python exception on failure.
define internal ptr @as_tuple(ptr %results, i64 %count) {
entry:
  %new_word = load i64, ptr @tuple_new
  %new = inttoptr i64 %new_word to ptr
  %tuple = call ptr %new(i64 %count)
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %undo, label %fill
fill:
  %set_word = load i64, ptr @tuple_set
  %set = inttoptr i64 %set_word to ptr
  br label %look
look:
  %i = phi i64 [ 0, %fill ], [ %i1, %one ]
  %left = icmp slt i64 %i, %count
  br i1 %left, label %one, label %done
one:
  %object_word = call i64 @word(ptr %results, i64 %i)
  %object = inttoptr i64 %object_word to ptr
  %ignored = call i32 %set(ptr %tuple, i64 %i, ptr %object)
  %i1 = add i64 %i, 1
  br label %look
undo:
  call void @release_all(ptr %results, i64 %count)
  ret ptr null
done:
  ret ptr %tuple
}

; ---------------------------------------------------------------------------------------------- running
; Addresses of the temps inside their block.  Returns the end of the temp section.
define internal ptr @place_temps(ptr %section, i64 %count, i64 %block, ptr %buffers) {
entry:
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i1, %one ]
  %left = icmp slt i64 %i, %count
  br i1 %left, label %one, label %done
one:
  %offset = call i64 @word(ptr %section, i64 %i)
  %address = add i64 %block, %offset
  %place = getelementptr i64, ptr %buffers, i64 %i
  store i64 %address, ptr %place
  %i1 = add i64 %i, 1
  br label %look
done:
  %end = getelementptr i64, ptr %section, i64 %count
  ret ptr %end
}

; Copy the table of a call into the frame and store the buffer addresses in it.
define internal void @fill_table(ptr %call, ptr %table, ptr %buffers) {
entry:
  %table_words = call i64 @word(ptr %call, i64 4)
  %patches = call i64 @word(ptr %call, i64 5)
  %template = getelementptr i64, ptr %call, i64 6
  %first_patch = getelementptr i64, ptr %template, i64 %table_words
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i1, %copy ]
  %left = icmp slt i64 %i, %table_words
  br i1 %left, label %copy, label %patch_look
copy:
  %value = call i64 @word(ptr %template, i64 %i)
  %place = getelementptr i64, ptr %table, i64 %i
  store i64 %value, ptr %place
  %i1 = add i64 %i, 1
  br label %look
patch_look:
  %p = phi i64 [ 0, %look ], [ %p1, %patch ]
  %patch_place = phi ptr [ %first_patch, %look ], [ %patch_next, %patch ]
  %patch_left = icmp slt i64 %p, %patches
  br i1 %patch_left, label %patch, label %done
patch:
  %slot = call i64 @word(ptr %patch_place, i64 0)
  %buffer = call i64 @word(ptr %patch_place, i64 1)
  %offset = call i64 @word(ptr %patch_place, i64 2)
  %base = call i64 @word(ptr %buffers, i64 %buffer)
  %address = add i64 %base, %offset
  %slot_place = getelementptr i64, ptr %table, i64 %slot
  store i64 %address, ptr %slot_place
  %p1 = add i64 %p, 1
  %patch_next = getelementptr i64, ptr %patch_place, i64 3
  br label %patch_look
done:
  ret void
}

; Run the kernels in order, each serially or through the pool, until %watch has it given up (true).
define internal i1 @run_calls(ptr %section, i64 %count, ptr %buffers, ptr %table, ptr %watch) {
entry:
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i1, %after ]
  %call = phi ptr [ %section, %entry ], [ %next, %after ]
  %left = icmp slt i64 %i, %count
  br i1 %left, label %one, label %done
one:
  call void @fill_table(ptr %call, ptr %table, ptr %buffers)
  %kernel_word = call i64 @word(ptr %call, i64 1)
  %kernel = inttoptr i64 %kernel_word to ptr
  %extent = call i64 @word(ptr %call, i64 2)
  %chunk = call i64 @word(ptr %call, i64 3)
  %divided = icmp slt i64 %chunk, %extent
  br i1 %divided, label %share, label %whole
share:
  %launch_word = load i64, ptr @launcher
  %launch = inttoptr i64 %launch_word to ptr
  %answer = call i32 %launch(ptr %kernel, i64 %extent, i64 %chunk, ptr %table, ptr %watch)
  %stop = icmp ne i32 %answer, 0
  br i1 %stop, label %stopped, label %after
whole:
  %nonempty = icmp sgt i64 %extent, 0
  br i1 %nonempty, label %direct, label %after
direct:
  call void %kernel(i64 0, i64 %extent, ptr %table)
  br label %after
after:
  %i1 = add i64 %i, 1
  %next = call ptr @next(ptr %call)
  br label %look
done:
  ret i1 false
stopped:
  ret i1 true
}

; The same with the interpreter lock released when the program is heavy.  True with a Python exception when a signal
; handler raised it.
define internal i1 @run_program(ptr %record, ptr %section, ptr %buffers, ptr %table) {
entry:
  %watch_place = alloca [3 x i64]
  %count = call i64 @word(ptr %record, i64 3)
  %heavy_word = call i64 @word(ptr %record, i64 6)
  %heavy = icmp ne i64 %heavy_word, 0
  br i1 %heavy, label %unlocked, label %locked
unlocked:
  %save_word = load i64, ptr @save_thread
  %save = inttoptr i64 %save_word to ptr
  %state = call ptr %save()
  %watch = call ptr @start_watch(ptr %watch_place, ptr %state)
  %raised = call i1 @run_calls(ptr %section, i64 %count, ptr %buffers, ptr %table, ptr %watch)
  %restore_word = load i64, ptr @restore_thread
  %restore = inttoptr i64 %restore_word to ptr
  call void %restore(ptr %state)
  ret i1 %raised
locked:
  %never = call i1 @run_calls(ptr %section, i64 %count, ptr %buffers, ptr %table, ptr null)
  ret i1 false
}

; With a block for the temps around it.  True with a Python exception, also when there is no memory for the block.
define internal i1 @run_with_temps(ptr %record, ptr %section, ptr %buffers, ptr %temp_buffers, ptr %table) {
entry:
  %bytes = call i64 @word(ptr %record, i64 7)
  %allocate_word = load i64, ptr @temps_allocate        ; both now: they may be replaced while the kernels run
  %free_word = load i64, ptr @temps_release
  %allocate = inttoptr i64 %allocate_word to ptr
  %room = add i64 %bytes, 64
  %block = call ptr %allocate(i64 %room)
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %error, label %run
run:
  %block_word = ptrtoint ptr %block to i64
  %up = add i64 %block_word, 63
  %aligned = and i64 %up, -64
  %count = call i64 @word(ptr %record, i64 2)
  %calls = call ptr @place_temps(ptr %section, i64 %count, i64 %aligned, ptr %temp_buffers)
  %raised = call i1 @run_program(ptr %record, ptr %calls, ptr %buffers, ptr %table)
  %free = inttoptr i64 %free_word to ptr
  call void %free(ptr %block)
  ret i1 %raised
error:
  %raise_word = load i64, ptr @no_memory
  %raise = inttoptr i64 %raise_word to ptr
  %null = call ptr %raise()
  ret i1 true
}

; ---------------------------------------------------------------------------------------------- the builtin
define ptr @entry(ptr %self, ptr %arguments, i64 %count) {
entry:
  %record = getelementptr i8, ptr %self, i64 $BYTES_PAYLOAD
  %inputs = call i64 @word(ptr %record, i64 0)
  %right_count = icmp eq i64 %inputs, %count
  br i1 %right_count, label %frame, label %miss
frame:                                                  ; table, buffers, scalars, results in one block
  %outputs = call i64 @word(ptr %record, i64 1)
  %temps = call i64 @word(ptr %record, i64 2)
  %table_words = call i64 @word(ptr %record, i64 4)
  %w0 = add i64 %inputs, %outputs
  %w1 = add i64 %w0, %temps
  %w2 = add i64 %w1, %w0
  %frame_words = add i64 %w2, %table_words
  %table = alloca i64, i64 %frame_words, align 64
  %buffers = getelementptr i64, ptr %table, i64 %table_words
  %scalars = getelementptr i64, ptr %buffers, i64 %w1
  %results = getelementptr i64, ptr %scalars, i64 %inputs
  %input_section = getelementptr i64, ptr %record, i64 8
  %output_section = call ptr @match_inputs(ptr %input_section, i64 %inputs, ptr %arguments,
      ptr %buffers, ptr %scalars)
  %missed = icmp eq ptr %output_section, null
  br i1 %missed, label %miss, label %allocate
allocate:
  %output_buffers = getelementptr i64, ptr %buffers, i64 %inputs
  %temp_section = call ptr @make_outputs(ptr %output_section, i64 %outputs, ptr %results,
      ptr %output_buffers)
  %no_outputs = icmp eq ptr %temp_section, null
  br i1 %no_outputs, label %error, label %run
run:
  %has_temps = icmp ne i64 %temps, 0
  br i1 %has_temps, label %run_temps, label %run_plain
run_temps:
  %temp_buffers = getelementptr i64, ptr %buffers, i64 %w0
  %raised1 = call i1 @run_with_temps(ptr %record, ptr %temp_section, ptr %buffers, ptr %temp_buffers,
      ptr %table)
  br i1 %raised1, label %undo, label %finish
run_plain:
  %raised0 = call i1 @run_program(ptr %record, ptr %temp_section, ptr %buffers, ptr %table)
  br i1 %raised0, label %undo, label %finish
finish:
  %single_word = call i64 @word(ptr %record, i64 5)
  %single = icmp ne i64 %single_word, 0
  br i1 %single, label %one, label %several
one:
  %result = load ptr, ptr %results
  ret ptr %result
several:
  %tuple = call ptr @as_tuple(ptr %results, i64 %outputs)
  ret ptr %tuple
undo:
  call void @release_all(ptr %results, i64 %outputs)
  ret ptr null
miss:
  %miss_word = load i64, ptr @miss_object
  %miss_pointer = inttoptr i64 %miss_word to ptr
  %increment_word = load i64, ptr @increment
  %increment = inttoptr i64 %increment_word to ptr
  call void %increment(ptr %miss_pointer)
  ret ptr %miss_pointer
error:
  ret ptr null
}
"""

ENTRY_TEXT = ARGUMENTS_TEXT + WATCH_TEXT + _CALL_TEXT
