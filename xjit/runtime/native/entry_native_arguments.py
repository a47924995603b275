"""The first half of the native entry: checking the arguments of a call, as LLVM assembly.

Also defines the words that Python binds, for the other parts too (:mod:`xjit.runtime.native.entry_native`).
"""

from __future__ import annotations

ARGUMENTS_TEXT = r"""
; ---- objects and functions of this process, stored by Python before the first call
@array_type      = global ptr null
@float_type      = global ptr null
@int_type        = global ptr null
@true_object     = global ptr null
@false_object    = global ptr null
@miss_object     = global ptr null
@increment       = global ptr null  ; Py_IncRef
@decrement       = global ptr null  ; Py_DecRef
@int_value       = global ptr null  ; PyLong_AsLongLongAndOverflow
@tuple_new       = global ptr null  ; PyTuple_New
@tuple_set       = global ptr null  ; PyTuple_SetItem
@no_memory       = global ptr null  ; PyErr_NoMemory
@call_object     = global ptr null  ; PyObject_CallObject
@raise_object    = global ptr null  ; PyErr_SetObject
@save_thread     = global ptr null  ; PyEval_SaveThread
@restore_thread  = global ptr null  ; PyEval_RestoreThread
@temps_allocate  = global ptr null  ; void *(size_t)
@temps_release   = global ptr null  ; void (void *)
@array_new       = global ptr null  ; PyArray_NewFromDescr
@set_handler     = global ptr null  ; PyDataMem_SetHandler
@large_handler   = global ptr null  ; memory handler for large outputs, null for NumPy's own
@launcher        = global ptr null  ; the pool's launch(kernel, extent, chunk, table, watch)
@lone_launcher   = global ptr null  ; the same on the calling thread only
@instructions_runner = global ptr null  ; run_instructions(section, buffers, tables, watch)

define internal ptr @next(ptr %words) alwaysinline {
  %length = load i64, ptr %words
  %place = getelementptr i64, ptr %words, i64 %length
  ret ptr %place
}

define internal ptr @field(ptr %object, i64 %offset) alwaysinline {
  %place = getelementptr i8, ptr %object, i64 %offset
  %value = load ptr, ptr %place
  ret ptr %value
}

define internal i32 @small_field(ptr %object, i64 %offset) alwaysinline {
  %place = getelementptr i8, ptr %object, i64 %offset
  %value = load i32, ptr %place
  ret i32 %value
}

; ---------------------------------------------------------------------------------------------- arguments
; Whether two runs of %count words are equal.
define internal i1 @same_words(ptr %a, ptr %b, i64 %count) {
entry:
  for %i below %count
    %x = call i64 @word(ptr %a, i64 %i)
    %y = call i64 @word(ptr %b, i64 %i)
    %same = icmp eq i64 %x, %y
    br i1 %same, label %so_far, label %different
so_far:
  end %i
  ret i1 true
different:
  ret i1 false
}

; Whether the strides of all axes of more than one element are equal: others move nothing.
define internal i1 @same_steps(ptr %dims, ptr %a, ptr %b, i64 %count) {
entry:
  for %i below %count
    %extent = call i64 @word(ptr %dims, i64 %i)
    %long = icmp sgt i64 %extent, 1
    %x = call i64 @word(ptr %a, i64 %i)
    %y = call i64 @word(ptr %b, i64 %i)
    %other = icmp ne i64 %x, %y
    %moves = and i1 %long, %other
    br i1 %moves, label %different, label %so_far
so_far:
  end %i
  ret i1 true
different:
  ret i1 false
}

; Whether a descriptor that is another object still means the same native builtin type: arrays that were unpickled
; or copied deeply carry descriptors of their own, and C has two names for integers of one size. %type_numbers has the
; bits of all numbers of the type.
define internal i1 @same_type(ptr %descriptor, i64 %type_numbers) {
entry:
  %number32 = call i32 @small_field(ptr %descriptor, i64 $DESCRIPTOR_TYPE_NUMBER)
  %comparable = icmp ult i32 %number32, 64
  br i1 %comparable, label %look, label %different
look:
  %number = zext i32 %number32 to i64
  %shifted = lshr i64 %type_numbers, %number
  %same_number = trunc i64 %shifted to i1
  %order_place = getelementptr i8, ptr %descriptor, i64 $DESCRIPTOR_BYTE_ORDER
  %order = load i8, ptr %order_place
  %native = icmp eq i8 %order, 61                       ; '='
  %no_order = icmp eq i8 %order, 124                    ; '|'
  %machine = icmp eq i8 %order, $MACHINE_BYTE_ORDER     ; '<' or '>': ctypes spells it out
  %plain = or i1 %native, %no_order
  %readable = or i1 %plain, %machine
  %same = and i1 %same_number, %readable
  ret i1 %same
different:
  ret i1 false
}

; The data address of an array that matches its specification exactly, or null.
define internal ptr @match_array(ptr %array, ptr %spec) {
entry:
  %type = call ptr @field(ptr %array, i64 $OBJECT_TYPE)
  %wanted_type = load ptr, ptr @array_type
  %is_array = icmp eq ptr %type, %wanted_type
  br i1 %is_array, label %descriptor, label %miss
descriptor:
  %descr = call ptr @field(ptr %array, i64 $ARRAY_DESCRIPTOR)
  %wanted_descr = call ptr @pointer(ptr %spec, i64 2)
  %identical = icmp eq ptr %descr, %wanted_descr
  br i1 %identical, label %shape, label %second_chance
second_chance:
  %type_numbers = call i64 @word(ptr %spec, i64 3)
  %equivalent = call i1 @same_type(ptr %descr, i64 %type_numbers)
  br i1 %equivalent, label %shape, label %miss
shape:
  %ndim32 = call i32 @small_field(ptr %array, i64 $ARRAY_NDIM)
  %ndim = sext i32 %ndim32 to i64
  %wanted_ndim = call i64 @word(ptr %spec, i64 5)
  %same_ndim = icmp eq i64 %ndim, %wanted_ndim
  %flags32 = call i32 @small_field(ptr %array, i64 $ARRAY_FLAGS)
  %flags = zext i32 %flags32 to i64
  %wanted_flags = call i64 @word(ptr %spec, i64 4)
  %flags_there = and i64 %flags, %wanted_flags
  %aligned = icmp eq i64 %flags_there, %wanted_flags
  %plausible = and i1 %same_ndim, %aligned
  br i1 %plausible, label %check_dims, label %miss
check_dims:
  %dims = call ptr @field(ptr %array, i64 $ARRAY_DIMS)
  %wanted_dims = call ptr @place(ptr %spec, i64 6)
  %same_dims = call i1 @same_words(ptr %dims, ptr %wanted_dims, i64 %ndim)
  br i1 %same_dims, label %check_strides, label %miss
check_strides:
  %strides = call ptr @field(ptr %array, i64 $ARRAY_STRIDES)
  %wanted_strides = call ptr @place(ptr %wanted_dims, i64 %ndim)
  %same_strides = call i1 @same_words(ptr %strides, ptr %wanted_strides, i64 %ndim)
  br i1 %same_strides, label %hit, label %check_long_axes
check_long_axes:
  %as_good = call i1 @same_steps(ptr %dims, ptr %strides, ptr %wanted_strides, i64 %ndim)
  br i1 %as_good, label %hit, label %miss
hit:
  %data = call ptr @field(ptr %array, i64 $ARRAY_DATA)
  ret ptr %data
miss:
  ret ptr null
}

; Store a Python scalar of exactly the wanted type in %place; whether it was one.
define internal i1 @match_scalar(ptr %object, i64 %kind, ptr %place) {
entry:
  %overflow = alloca i32
  %type = call ptr @field(ptr %object, i64 $OBJECT_TYPE)
  switch i64 %kind, label %truth [ i64 1, label %float
                                   i64 2, label %integer ]
float:
  %float_type = load ptr, ptr @float_type
  %is_float = icmp eq ptr %type, %float_type
  br i1 %is_float, label %take_float, label %miss
take_float:
  %bits_place = getelementptr i8, ptr %object, i64 $FLOAT_VALUE
  %bits = load i64, ptr %bits_place
  store i64 %bits, ptr %place
  ret i1 true
integer:
  %int_type = load ptr, ptr @int_type
  %is_int = icmp eq ptr %type, %int_type
  br i1 %is_int, label %take_int, label %miss
take_int:
  %convert = load ptr, ptr @int_value
  %value = call i64 %convert(ptr %object, ptr %overflow)
  store i64 %value, ptr %place
  %beyond = load i32, ptr %overflow
  %fits = icmp eq i32 %beyond, 0
  ret i1 %fits
truth:
  %true = load ptr, ptr @true_object
  %is_true = icmp eq ptr %object, %true
  %false = load ptr, ptr @false_object
  %is_false = icmp eq ptr %object, %false
  %truth_word = zext i1 %is_true to i64
  store i64 %truth_word, ptr %place
  %is_bool = or i1 %is_true, %is_false
  ret i1 %is_bool
miss:
  ret i1 false
}

; Check what has to be so besides the arguments.  Returns the end of the condition section, null where it is not.
define internal ptr @check_conditions(ptr %record, ptr %section, ptr %arguments) {
entry:
  %pairs = call i64 @word(ptr %record, i64 9)
  %codes = call i64 @word(ptr %record, i64 10)
  for %p below %pairs, ptr %pair = %section then %next_pair
    %one_place = call i64 @word(ptr %pair, i64 0)
    %other_place = call i64 @word(ptr %pair, i64 1)
    %one = call ptr @pointer(ptr %arguments, i64 %one_place)
    %other = call ptr @pointer(ptr %arguments, i64 %other_place)
    %same = icmp eq ptr %one, %other
    br i1 %same, label %miss, label %apart
apart:
    %next_pair = call ptr @place(ptr %pair, i64 2)
  end %p
  for %c below %codes, ptr %entry_of_code = %pair then %next_code
    %function = call ptr @pointer(ptr %entry_of_code, i64 0)
    %wanted = call ptr @pointer(ptr %entry_of_code, i64 1)
    %code = call ptr @field(ptr %function, i64 $FUNCTION_CODE)
    %kept = icmp eq ptr %code, %wanted
    br i1 %kept, label %unchanged, label %miss
unchanged:
    %next_code = call ptr @place(ptr %entry_of_code, i64 2)
  end %c
  ret ptr %entry_of_code
miss:
  ret ptr null
}

; Check all arguments and note their addresses.  Returns the end of the input section, null on a mismatch.
define internal ptr @match_inputs(ptr %section, i64 %count, ptr %arguments, ptr %buffers, ptr %scalars) {
entry:
  for %i below %count, ptr %spec = %section then %after
    %argument = call ptr @pointer(ptr %arguments, i64 %i)
    %kind = call i64 @word(ptr %spec, i64 1)
    %is_array = icmp eq i64 %kind, 0
    br i1 %is_array, label %array, label %scalar
array:
    %data = call ptr @match_array(ptr %argument, ptr %spec)
    br label %decide
scalar:
    %scalar_place = call ptr @place(ptr %scalars, i64 %i)
    %matched = call i1 @match_scalar(ptr %argument, i64 %kind, ptr %scalar_place)
    %scalar_address = select i1 %matched, ptr %scalar_place, ptr null
    br label %decide
decide:
    %address = phi ptr [ %data, %array ], [ %scalar_address, %scalar ]
    %missed = icmp eq ptr %address, null
    br i1 %missed, label %miss, label %hit
hit:
    call void @put(ptr %buffers, i64 %i, ptr %address)
    %after = call ptr @next(ptr %spec)
  end %i
  ret ptr %spec
miss:
  ret ptr null
}

; Check that arrays that are written lie apart from others: pairs of inputs, and the distances at which they do not.
; Returns the end of the section, null where two meet.
define internal ptr @check_apart(ptr %record, ptr %section, ptr %buffers) {
entry:
  %count = call i64 @word(ptr %record, i64 14)
  for %p below %count, ptr %pair = %section then %next_pair
    %one_place = call i64 @word(ptr %pair, i64 0)
    %other_place = call i64 @word(ptr %pair, i64 1)
    %first = call i64 @word(ptr %pair, i64 2)
    %many = call i64 @word(ptr %pair, i64 3)
    %one = call i64 @word(ptr %buffers, i64 %one_place)
    %other = call i64 @word(ptr %buffers, i64 %other_place)
    %distance = sub i64 %other, %one
    %further = sub i64 %distance, %first
    %meet = icmp ult i64 %further, %many
    br i1 %meet, label %miss, label %clear
clear:
    %next_pair = call ptr @place(ptr %pair, i64 4)
  end %p
  ret ptr %pair
miss:
  ret ptr null
}
"""
