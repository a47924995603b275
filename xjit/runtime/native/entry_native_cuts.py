"""Results of a length that the run has found: they are cut to it in native code, where the entry ends.

Kernels fill an array as long as the result can be, and a word of the entry's frame with the rows that it has. What is
left of a long array is copied where it is a small part, else the array's memory is made shorter, as ``resize`` does.
"""

from __future__ import annotations

CUTS_TEXT = r"""
; ---- set from Python
@array_resize = global ptr null   ; PyArray_Resize

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; The extents of an array with so many rows.
define internal void @extents_with(ptr %extents, ptr %array, i64 %rows) {
entry:
  %ndim32 = call i32 @small_field(ptr %array, i64 $ARRAY_NDIM)
  %ndim = zext i32 %ndim32 to i64
  %dims = call ptr @field(ptr %array, i64 $ARRAY_DIMS)
  for %i below %ndim
    %extent = call ptr @pointer(ptr %dims, i64 %i)
    call void @put(ptr %extents, i64 %i, ptr %extent)
  end %i
  store i64 %rows, ptr %extents
  ret void
}

; A new array of the first rows of another one, whose extents these are; null with a Python exception on failure.
define internal ptr @copy_rows(ptr %array, ptr %extents, i64 %bytes) {
entry:
  %ndim = call i32 @small_field(ptr %array, i64 $ARRAY_NDIM)
  %descriptor = call ptr @field(ptr %array, i64 $ARRAY_DESCRIPTOR)
  %type = load ptr, ptr @array_type
  %increment = load ptr, ptr @increment
  call void %increment(ptr %descriptor)                 ; the constructor takes one reference over
  %new = load ptr, ptr @array_new
  %copy = call ptr %new(ptr %type, ptr %descriptor, i32 %ndim, ptr %extents, ptr null, ptr null, i32 0, ptr null)
  %failed = icmp eq ptr %copy, null
  br i1 %failed, label %done, label %fill
fill:
  %to = call ptr @field(ptr %copy, i64 $ARRAY_DATA)
  %data = call ptr @field(ptr %array, i64 $ARRAY_DATA)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %data, i64 %bytes, i1 false)
  br label %done
done:
  ret ptr %copy
}

; Cut the result at a place to so many rows. True with a Python exception on failure.
define internal i1 @cut_result(ptr %result, i64 %found, i64 %bound, i64 %row_bytes) {
entry:
  %extents = alloca [64 x i64]
  %shape = alloca { ptr, i32 }
  %beyond = icmp ugt i64 %found, %bound
  %rows = select i1 %beyond, i64 %bound, i64 %found
  %whole = icmp eq i64 %rows, %bound
  br i1 %whole, label %fine, label %shorten
shorten:
  %array = load ptr, ptr %result
  call void @extents_with(ptr %extents, ptr %array, i64 %rows)
  %many = mul i64 %rows, $SMALL_PART
  %small = icmp ule i64 %many, %bound
  br i1 %small, label %copy, label %resize
copy:
  %bytes = mul i64 %rows, %row_bytes
  %made = call ptr @copy_rows(ptr %array, ptr %extents, i64 %bytes)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %error, label %exchange
exchange:
  store ptr %made, ptr %result
  call void @release(ptr %array)
  ret i1 false
resize:
  %ndim = call i32 @small_field(ptr %array, i64 $ARRAY_NDIM)
  store ptr %extents, ptr %shape
  %length_place = getelementptr { ptr, i32 }, ptr %shape, i32 0, i32 1
  store i32 %ndim, ptr %length_place
  %function = load ptr, ptr @array_resize
  %none = call ptr %function(ptr %array, ptr %shape, i32 0, i32 0)
  %stuck = icmp eq ptr %none, null
  br i1 %stuck, label %error, label %resized
resized:
  call void @release(ptr %none)
  br label %fine
fine:
  ret i1 false
error:
  ret i1 true
}

; Cut all results that are to be, to the rows that the words of %lengths say. True with a Python exception on failure.
define internal i1 @cut_results(ptr %section, i64 %count, ptr %results, ptr %lengths) {
entry:
  for %i below %count, ptr %cut = %section then %after
    %number = call i64 @word(ptr %cut, i64 0)
    %bound = call i64 @word(ptr %cut, i64 1)
    %row_bytes = call i64 @word(ptr %cut, i64 2)
    %found = call i64 @word(ptr %lengths, i64 %i)
    %result = call ptr @place(ptr %results, i64 %number)
    %raised = call i1 @cut_result(ptr %result, i64 %found, i64 %bound, i64 %row_bytes)
    br i1 %raised, label %error, label %so_far
so_far:
    %after = call ptr @place(ptr %cut, i64 3)
  end %i
  ret i1 false
error:
  ret i1 true
}
"""
