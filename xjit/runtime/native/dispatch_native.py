"""The native half of calling a compiled function: its entries one after another, as LLVM assembly.

``dispatch`` has the signature of a METH_FASTCALL | METH_KEYWORDS method.  The tuple of entries lies in its ``self``,
``entries_offset`` bytes behind the beginning, and one of names of parameters at ``names_offset``.  Each entry either
answers a call or misses it.  Arguments whose names are those of the next parameters are taken like others.  Calls
with further names, and those that all entries miss, go to a method in Python, ``python_call``.  What an entry raises
is handed to another one, ``after_failure``: it returns None to have it raised, or what does the call instead.
"""

from __future__ import annotations

DISPATCH_TEXT = r"""
@entries_offset  = global i64 0
@names_offset    = global i64 0
@python_call     = global ptr null  ; function of self and the arguments of a call
@after_failure   = global ptr null  ; function of self and an exception
@none_object     = global ptr null
@method_new      = global ptr null  ; PyMethod_New
@vectorcall      = global ptr null  ; PyObject_Vectorcall
@error_fetch     = global ptr null  ; PyErr_Fetch
@error_normalize = global ptr null  ; PyErr_NormalizeException
@error_restore   = global ptr null  ; PyErr_Restore
@set_traceback   = global ptr null  ; PyException_SetTraceback
@get_traceback   = global ptr null  ; PyException_GetTraceback

; The result of a function with %self before its other arguments.
define internal ptr @call_method(ptr %function, ptr %self, ptr %arguments, i64 %count, ptr %names) {
entry:
  %bind = load ptr, ptr @method_new
  %method = call ptr %bind(ptr %function, ptr %self)
  %failed = icmp eq ptr %method, null
  br i1 %failed, label %error, label %run
run:
  %function_call = load ptr, ptr @vectorcall
  %result = call ptr %function_call(ptr %method, ptr %arguments, i64 %count, ptr %names)
  call void @release(ptr %method)
  ret ptr %result
error:
  ret ptr null
}

; What does the call instead after the Python exception that is set; null where that exception is to be raised, or
; another one.
define internal ptr @after_error(ptr %self) {
entry:
  %places = alloca [3 x ptr]
  %value_place = call ptr @place(ptr %places, i64 1)
  %trace_place = call ptr @place(ptr %places, i64 2)
  %fetch = load ptr, ptr @error_fetch
  call void %fetch(ptr %places, ptr %value_place, ptr %trace_place)
  %normalize = load ptr, ptr @error_normalize
  call void %normalize(ptr %places, ptr %value_place, ptr %trace_place)
  %type = load ptr, ptr %places
  %value = load ptr, ptr %value_place
  %trace = load ptr, ptr %trace_place
  %no_trace = icmp eq ptr %trace, null
  br i1 %no_trace, label %ask, label %keep_trace
keep_trace:
  %set = load ptr, ptr @set_traceback
  %ignored = call i32 %set(ptr %value, ptr %trace)
  call void @release(ptr %trace)
  br label %ask
ask:
  %after = load ptr, ptr @after_failure
  %next = call ptr @call_method(ptr %after, ptr %self, ptr %value_place, i64 1, ptr null)
  %none = load ptr, ptr @none_object
  %raised = icmp eq ptr %next, %none
  br i1 %raised, label %raise, label %forget
raise:
  call void @release(ptr %next)
  %get = load ptr, ptr @get_traceback
  %trace_now = call ptr %get(ptr %value)
  %restore = load ptr, ptr @error_restore
  call void %restore(ptr %type, ptr %value, ptr %trace_now)
  ret ptr null
forget:
  call void @release(ptr %type)
  call void @release(ptr %value)
  ret ptr %next
}

; ---------------------------------------------------------------------------------------------- entries
; The number of items of a tuple.
define internal i64 @size(ptr %tuple) {
  %place = getelementptr i8, ptr %tuple, i64 $TUPLE_SIZE
  %size = load i64, ptr %place
  ret i64 %size
}

; How many arguments there are if those with names are the next parameters, in their order; -1 if they are not.
define internal i64 @all_arguments(ptr %self, i64 %count, ptr %names) {
entry:
  %none_named = icmp eq ptr %names, null
  br i1 %none_named, label %plain, label %look
plain:
  ret i64 %count
look:
  %offset = load i64, ptr @names_offset
  %parameters = call ptr @field(ptr %self, i64 %offset)
  %none_known = icmp eq ptr %parameters, null
  br i1 %none_known, label %others, label %compare
compare:
  %named = call i64 @size(ptr %names)
  %all = add i64 %count, %named
  %known = call i64 @size(ptr %parameters)
  %fit = icmp sle i64 %all, %known
  br i1 %fit, label %one_by_one, label %others
one_by_one:
  %own = getelementptr i8, ptr %names, i64 $TUPLE_ITEMS
  %items = getelementptr i8, ptr %parameters, i64 $TUPLE_ITEMS
  %next = call ptr @place(ptr %items, i64 %count)
  %in_order = call i1 @same_words(ptr %own, ptr %next, i64 %named)
  br i1 %in_order, label %found, label %others
found:
  ret i64 %all
others:
  ret i64 -1
}

define ptr @dispatch(ptr %self, ptr %arguments, i64 %positional, ptr %names) {
entry:
  %offset = load i64, ptr @entries_offset
  %entries = call ptr @field(ptr %self, i64 %offset)
  %none_made = icmp eq ptr %entries, null
  %count = call i64 @all_arguments(ptr %self, i64 %positional, ptr %names)
  %other_names = icmp slt i64 %count, 0
  %special = or i1 %none_made, %other_names
  br i1 %special, label %in_python, label %look
look:
  %increment = load ptr, ptr @increment
  call void %increment(ptr %entries)                    ; a call may exchange the tuple
  %size = call i64 @size(ptr %entries)
  %items = getelementptr i8, ptr %entries, i64 $TUPLE_ITEMS
  %function_call = load ptr, ptr @vectorcall
  %miss = load ptr, ptr @miss_object
  for %i below %size
    %one = call ptr @pointer(ptr %items, i64 %i)
    %result = call ptr %function_call(ptr %one, ptr %arguments, i64 %count, ptr null)
    %missed = icmp eq ptr %result, %miss
    br i1 %missed, label %next_one, label %answered
next_one:
    call void @release(ptr %result)
  end %i
  call void @release(ptr %entries)
  br label %in_python
answered:
  call void @release(ptr %entries)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %recover, label %done
done:
  ret ptr %result
recover:
  %instead = call ptr @after_error(ptr %self)
  %none_instead = icmp eq ptr %instead, null
  br i1 %none_instead, label %error, label %again
again:
  %other_call = load ptr, ptr @vectorcall
  %other_result = call ptr %other_call(ptr %instead, ptr %arguments, i64 %count, ptr null)
  call void @release(ptr %instead)
  ret ptr %other_result
error:
  ret ptr null
in_python:
  %python = load ptr, ptr @python_call
  %made = call ptr @call_method(ptr %python, ptr %self, ptr %arguments, i64 %positional, ptr %names)
  ret ptr %made
}
"""
