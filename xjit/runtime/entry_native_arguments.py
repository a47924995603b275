"""The first half of the native entry: checking the arguments of a call, as LLVM assembly.

Also defines the words that Python binds and the helpers of the other half (:mod:`xjit.runtime.entry_native`).
"""

from __future__ import annotations

ARGUMENTS_TEXT = r"""
; ---- objects and functions of this process, stored by Python before the first call
@array_type      = global i64 0
@float_type      = global i64 0
@int_type        = global i64 0
@true_object     = global i64 0
@false_object    = global i64 0
@miss_object     = global i64 0
@increment       = global i64 0     ; Py_IncRef
@decrement       = global i64 0     ; Py_DecRef
@int_value       = global i64 0     ; PyLong_AsLongLongAndOverflow
@tuple_new       = global i64 0     ; PyTuple_New
@tuple_set       = global i64 0     ; PyTuple_SetItem
@no_memory       = global i64 0     ; PyErr_NoMemory
@save_thread     = global i64 0     ; PyEval_SaveThread
@restore_thread  = global i64 0     ; PyEval_RestoreThread
@temps_allocate  = global i64 0     ; void *(size_t)
@temps_release   = global i64 0     ; void (void *)
@array_new       = global i64 0     ; PyArray_NewFromDescr
@set_handler     = global i64 0     ; PyDataMem_SetHandler
@large_handler   = global i64 0     ; memory handler for large outputs, 0 for NumPy's own
@launcher        = global i64 0     ; the pool's launch(kernel, extent, chunk, table, watch)

define internal i64 @word(ptr %words, i64 %index) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  %value = load i64, ptr %place
  ret i64 %value
}

define internal ptr @next(ptr %words) alwaysinline {
  %length = load i64, ptr %words
  %place = getelementptr i64, ptr %words, i64 %length
  ret ptr %place
}

define internal i64 @field(ptr %object, i64 %offset) alwaysinline {
  %place = getelementptr i8, ptr %object, i64 %offset
  %value = load i64, ptr %place
  ret i64 %value
}

; ---------------------------------------------------------------------------------------------- arguments
; Whether two runs of %count words are equal.
define internal i1 @same_words(ptr %a, ptr %b, i64 %count) {
entry:
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i1, %compare ]
  %left = icmp slt i64 %i, %count
  br i1 %left, label %compare, label %equal
compare:
  %x = call i64 @word(ptr %a, i64 %i)
  %y = call i64 @word(ptr %b, i64 %i)
  %i1 = add i64 %i, 1
  %same = icmp eq i64 %x, %y
  br i1 %same, label %look, label %different
equal:
  ret i1 true
different:
  ret i1 false
}

; Whether a descriptor that is another object still means the same native builtin type (arrays that were
; unpickled or copied deeply carry descriptors of their own).
define internal i1 @same_type(i64 %descriptor_word, i64 %type_number) {
entry:
  %comparable = icmp sge i64 %type_number, 0
  br i1 %comparable, label %look, label %different
look:
  %descriptor = inttoptr i64 %descriptor_word to ptr
  %number_place = getelementptr i8, ptr %descriptor, i64 $DESCRIPTOR_TYPE_NUMBER
  %number32 = load i32, ptr %number_place
  %number = sext i32 %number32 to i64
  %same_number = icmp eq i64 %number, %type_number
  %order_place = getelementptr i8, ptr %descriptor, i64 $DESCRIPTOR_BYTE_ORDER
  %order = load i8, ptr %order_place
  %native = icmp eq i8 %order, 61                       ; '='
  %no_order = icmp eq i8 %order, 124                    ; '|'
  %readable = or i1 %native, %no_order
  %same = and i1 %same_number, %readable
  ret i1 %same
different:
  ret i1 false
}

; The data address of an array that matches its specification exactly, or 0.
define internal i64 @match_array(ptr %array, ptr %spec) {
entry:
  %type = call i64 @field(ptr %array, i64 $OBJECT_TYPE)
  %wanted_type = load i64, ptr @array_type
  %is_array = icmp eq i64 %type, %wanted_type
  br i1 %is_array, label %descriptor, label %miss
descriptor:
  %descr = call i64 @field(ptr %array, i64 $ARRAY_DESCRIPTOR)
  %wanted_descr = call i64 @word(ptr %spec, i64 2)
  %identical = icmp eq i64 %descr, %wanted_descr
  br i1 %identical, label %shape, label %second_chance
second_chance:
  %type_number = call i64 @word(ptr %spec, i64 3)
  %equivalent = call i1 @same_type(i64 %descr, i64 %type_number)
  br i1 %equivalent, label %shape, label %miss
shape:
  %ndim_place = getelementptr i8, ptr %array, i64 $ARRAY_NDIM
  %ndim32 = load i32, ptr %ndim_place
  %ndim = sext i32 %ndim32 to i64
  %wanted_ndim = call i64 @word(ptr %spec, i64 4)
  %same_ndim = icmp eq i64 %ndim, %wanted_ndim
  %flags_place = getelementptr i8, ptr %array, i64 $ARRAY_FLAGS
  %flags = load i32, ptr %flags_place
  %aligned_bit = and i32 %flags, $ARRAY_ALIGNED
  %aligned = icmp ne i32 %aligned_bit, 0
  %plausible = and i1 %same_ndim, %aligned
  br i1 %plausible, label %check_dims, label %miss
check_dims:
  %dims_word = call i64 @field(ptr %array, i64 $ARRAY_DIMS)
  %dims = inttoptr i64 %dims_word to ptr
  %wanted_dims = getelementptr i64, ptr %spec, i64 5
  %same_dims = call i1 @same_words(ptr %dims, ptr %wanted_dims, i64 %ndim)
  br i1 %same_dims, label %check_strides, label %miss
check_strides:
  %strides_word = call i64 @field(ptr %array, i64 $ARRAY_STRIDES)
  %strides = inttoptr i64 %strides_word to ptr
  %wanted_strides = getelementptr i64, ptr %wanted_dims, i64 %ndim
  %same_strides = call i1 @same_words(ptr %strides, ptr %wanted_strides, i64 %ndim)
  br i1 %same_strides, label %hit, label %miss
hit:
  %data = call i64 @field(ptr %array, i64 $ARRAY_DATA)
  ret i64 %data
miss:
  ret i64 0
}

; Store a Python scalar of exactly the wanted type in %place; whether it was one.
define internal i1 @match_scalar(ptr %object, i64 %kind, ptr %place) {
entry:
  %overflow = alloca i32
  %type = call i64 @field(ptr %object, i64 $OBJECT_TYPE)
  switch i64 %kind, label %truth [ i64 1, label %float
                                   i64 2, label %integer ]
float:
  %float_type = load i64, ptr @float_type
  %is_float = icmp eq i64 %type, %float_type
  br i1 %is_float, label %take_float, label %miss
take_float:
  %bits = call i64 @field(ptr %object, i64 $FLOAT_VALUE)
  store i64 %bits, ptr %place
  ret i1 true
integer:
  %int_type = load i64, ptr @int_type
  %is_int = icmp eq i64 %type, %int_type
  br i1 %is_int, label %take_int, label %miss
take_int:
  %convert_word = load i64, ptr @int_value
  %convert = inttoptr i64 %convert_word to ptr
  %value = call i64 %convert(ptr %object, ptr %overflow)
  store i64 %value, ptr %place
  %beyond = load i32, ptr %overflow
  %fits = icmp eq i32 %beyond, 0
  ret i1 %fits
truth:
  %address = ptrtoint ptr %object to i64
  %true = load i64, ptr @true_object
  %is_true = icmp eq i64 %address, %true
  %false = load i64, ptr @false_object
  %is_false = icmp eq i64 %address, %false
  %truth_word = zext i1 %is_true to i64
  store i64 %truth_word, ptr %place
  %is_bool = or i1 %is_true, %is_false
  ret i1 %is_bool
miss:
  ret i1 false
}

; Check all arguments and note their addresses.  Returns the end of the input section, null on a mismatch.
define internal ptr @match_inputs(ptr %section, i64 %count, ptr %arguments, ptr %buffers, ptr %scalars) {
entry:
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i1, %hit ]
  %spec = phi ptr [ %section, %entry ], [ %after, %hit ]
  %left = icmp slt i64 %i, %count
  br i1 %left, label %one, label %all
one:
  %argument_word = call i64 @word(ptr %arguments, i64 %i)
  %argument = inttoptr i64 %argument_word to ptr
  %kind = call i64 @word(ptr %spec, i64 1)
  %is_array = icmp eq i64 %kind, 0
  br i1 %is_array, label %array, label %scalar
array:
  %data = call i64 @match_array(ptr %argument, ptr %spec)
  br label %decide
scalar:
  %scalar_place = getelementptr i64, ptr %scalars, i64 %i
  %matched = call i1 @match_scalar(ptr %argument, i64 %kind, ptr %scalar_place)
  %scalar_word = ptrtoint ptr %scalar_place to i64
  %scalar_address = select i1 %matched, i64 %scalar_word, i64 0
  br label %decide
decide:
  %address = phi i64 [ %data, %array ], [ %scalar_address, %scalar ]
  %missed = icmp eq i64 %address, 0
  br i1 %missed, label %miss, label %hit
hit:
  %place = getelementptr i64, ptr %buffers, i64 %i
  store i64 %address, ptr %place
  %i1 = add i64 %i, 1
  %after = call ptr @next(ptr %spec)
  br label %look
all:
  ret ptr %spec
miss:
  ret ptr null
}
"""
