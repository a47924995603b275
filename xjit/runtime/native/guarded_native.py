"""Programs behind conditions on arguments and names, with results in the form of a function's, as LLVM assembly.

``guarded`` has the signature of a METH_FASTCALL method.  Its ``self`` is a bytes object with a record of words, which
:mod:`xjit.runtime.calls.guarded` packs in this order:

    header     arguments, conditions, inputs, forms, program, whether it returns a tuple, the result's form (0 what
               the program returns, 1 the only form, 2 a tuple of all)
    condition  kind, a, b, c: 0 argument a is a float whose comparison of number c / 2 (<, <=, >, >=, ==, !=) with the
               float of the bits b is true if c is odd, else false; 1 is an integer from b to c; 2 is an integer, but
               not b; 3 is the object b; 4 is of the class b; 5 is a float of the bits b; 6 dict a has under b the
               object c, or nothing (0); 7 has there the first of the pair c, or what its second, a function, finds
               equal; 8 and 9 the same of cell a
    input      number of the argument
    form       kind, a, b, c: 0 output a; 1 the NumPy scalar in it; 2 the float, 3 the integer, 4 the truth value in
               it if b has the bit of its type's number, else as 5; 5 what the function c makes of output a; 6 what c
               makes of all that the program returns; 7 the object c; 8 argument a
"""

from __future__ import annotations

GUARDED_TEXT = r"""
@dict_get        = global ptr null  ; PyDict_GetItemWithError
@error_occurred  = global ptr null  ; PyErr_Occurred
@float_new       = global ptr null  ; PyFloat_FromDouble
@int_new         = global ptr null  ; PyLong_FromLongLong
@array_return    = global ptr null  ; PyArray_Return

; Whether an object is one, or no object where %wanted is null; not so with a Python exception set.
define internal i1 @is_it(ptr %found, ptr %wanted) {
entry:
  %same = icmp eq ptr %found, %wanted
  %nothing = icmp eq ptr %found, null
  %doubtful = and i1 %same, %nothing
  br i1 %doubtful, label %ask, label %known
known:
  ret i1 %same
ask:
  %occurred = load ptr, ptr @error_occurred
  %error = call ptr %occurred()
  %fine = icmp eq ptr %error, null
  ret i1 %fine
}

; Whether an object is the first of a pair, or the second, a function of it, returns True.
define internal i1 @is_equal(ptr %found, ptr %pair) {
entry:
  %argument = alloca ptr
  %items = getelementptr i8, ptr %pair, i64 $TUPLE_ITEMS
  %wanted = call ptr @pointer(ptr %items, i64 0)
  %same = icmp eq ptr %found, %wanted
  br i1 %same, label %yes, label %look
yes:
  ret i1 true
look:
  %nothing = icmp eq ptr %found, null
  br i1 %nothing, label %no, label %ask
no:
  ret i1 false
ask:
  %function = call ptr @pointer(ptr %items, i64 1)
  %function_call = load ptr, ptr @vectorcall
  %increment = load ptr, ptr @increment
  call void %increment(ptr %found)                      ; the comparison may replace it
  store ptr %found, ptr %argument
  %answer = call ptr %function_call(ptr %function, ptr %argument, i64 1, ptr null)
  call void @release(ptr %found)
  call void @release(ptr %answer)
  %true = load ptr, ptr @true_object
  %equal = icmp eq ptr %answer, %true
  ret i1 %equal
}

; What a name or a cell holds, a borrowed reference or null.
define internal ptr @held(ptr %condition, i64 %kind) {
entry:
  %holder = call ptr @pointer(ptr %condition, i64 1)
  %in_cell = icmp sge i64 %kind, 8
  br i1 %in_cell, label %cell, label %name
cell:
  %contents = call ptr @field(ptr %holder, i64 $CELL_CONTENTS)
  ret ptr %contents
name:
  %get = load ptr, ptr @dict_get
  %key = call ptr @pointer(ptr %condition, i64 2)
  %found = call ptr %get(ptr %holder, ptr %key)
  ret ptr %found
}

; Whether an object is an integer of the interpreter, of 64 bits, between two others or, if %outside, not.
define internal i1 @is_within(ptr %object, i64 %low, i64 %high, i1 %outside) {
entry:
  %overflow = alloca i32
  %type = call ptr @field(ptr %object, i64 $OBJECT_TYPE)
  %int_type = load ptr, ptr @int_type
  %is_int = icmp eq ptr %type, %int_type
  br i1 %is_int, label %take, label %miss
take:
  %convert = load ptr, ptr @int_value
  %value = call i64 %convert(ptr %object, ptr %overflow)
  %beyond = load i32, ptr %overflow
  %fits = icmp eq i32 %beyond, 0
  %from_low = icmp sge i64 %value, %low
  %to_high = icmp sle i64 %value, %high
  %between = and i1 %from_low, %to_high
  %wanted = xor i1 %between, %outside
  %both = and i1 %fits, %wanted
  ret i1 %both
miss:
  ret i1 false
}

define internal i1 @is_float_of(ptr %object, i64 %bits) {
entry:
  %type = call ptr @field(ptr %object, i64 $OBJECT_TYPE)
  %float_type = load ptr, ptr @float_type
  %is_float = icmp eq ptr %type, %float_type
  br i1 %is_float, label %compare, label %miss
compare:
  %place = getelementptr i8, ptr %object, i64 $FLOAT_VALUE
  %own = load i64, ptr %place
  %same = icmp eq i64 %own, %bits
  ret i1 %same
miss:
  ret i1 false
}

; Whether an object is a float of the interpreter whose comparison with another one, that of number %code / 2, is true
; if %code is odd, and false if it is even.
define internal i1 @compares(ptr %object, i64 %bits, i64 %code) {
entry:
  %type = call ptr @field(ptr %object, i64 $OBJECT_TYPE)
  %float_type = load ptr, ptr @float_type
  %is_float = icmp eq ptr %type, %float_type
  br i1 %is_float, label %compare, label %miss
compare:
  %place = getelementptr i8, ptr %object, i64 $FLOAT_VALUE
  %own = load double, ptr %place
  %other = bitcast i64 %bits to double
  %sign = lshr i64 %code, 1
  switch i64 %sign, label %unequal [ i64 0, label %less
                                     i64 1, label %at_most
                                     i64 2, label %greater
                                     i64 3, label %at_least
                                     i64 4, label %equal ]
less:
  %is_less = fcmp olt double %own, %other
  br label %decide
at_most:
  %is_at_most = fcmp ole double %own, %other
  br label %decide
greater:
  %is_greater = fcmp ogt double %own, %other
  br label %decide
at_least:
  %is_at_least = fcmp oge double %own, %other
  br label %decide
equal:
  %is_equal = fcmp oeq double %own, %other
  br label %decide
unequal:
  %is_unequal = fcmp une double %own, %other
  br label %decide
decide:
  %outcome = phi i1 [ %is_less, %less ], [ %is_at_most, %at_most ], [ %is_greater, %greater ],
      [ %is_at_least, %at_least ], [ %is_equal, %equal ], [ %is_unequal, %unequal ]
  %wanted = trunc i64 %code to i1
  %kept = icmp eq i1 %outcome, %wanted
  ret i1 %kept
miss:
  ret i1 false
}

define internal i1 @holds(ptr %condition, ptr %arguments) {
entry:
  %kind = call i64 @word(ptr %condition, i64 0)
  %b = call i64 @word(ptr %condition, i64 2)
  %c = call i64 @word(ptr %condition, i64 3)
  %b_object = inttoptr i64 %b to ptr
  %named = icmp sge i64 %kind, 6
  br i1 %named, label %name, label %about_argument
name:
  %found = call ptr @held(ptr %condition, i64 %kind)
  %wanted = inttoptr i64 %c to ptr
  %by_value = trunc i64 %kind to i1
  br i1 %by_value, label %value, label %identity
identity:
  %kept = call i1 @is_it(ptr %found, ptr %wanted)
  ret i1 %kept
value:
  %equal = call i1 @is_equal(ptr %found, ptr %wanted)
  ret i1 %equal
about_argument:
  %number = call i64 @word(ptr %condition, i64 1)
  %argument = call ptr @pointer(ptr %arguments, i64 %number)
  switch i64 %kind, label %bits [ i64 0, label %comparison
                                  i64 1, label %within
                                  i64 2, label %other
                                  i64 3, label %same
                                  i64 4, label %class ]
comparison:
  %compared = call i1 @compares(ptr %argument, i64 %b, i64 %c)
  ret i1 %compared
within:
  %between = call i1 @is_within(ptr %argument, i64 %b, i64 %c, i1 false)
  ret i1 %between
other:
  %is_other = call i1 @is_within(ptr %argument, i64 %b, i64 %b, i1 true)
  ret i1 %is_other
same:
  %is_same = icmp eq ptr %argument, %b_object
  ret i1 %is_same
class:
  %type = call ptr @field(ptr %argument, i64 $OBJECT_TYPE)
  %is_of = icmp eq ptr %type, %b_object
  ret i1 %is_of
bits:
  %is_float = call i1 @is_float_of(ptr %argument, i64 %b)
  ret i1 %is_float
}

define internal ptr @new_reference(ptr %object) {
  %increment = load ptr, ptr @increment
  call void %increment(ptr %object)
  ret ptr %object
}

; The Python number in an array of rank 0 of a type that the form is for, else what its function makes of the array.
define internal ptr @number_in(ptr %form, ptr %array) {
entry:
  %argument = alloca ptr
  %kind = call i64 @word(ptr %form, i64 0)
  %types = call i64 @word(ptr %form, i64 2)
  %descriptor = call ptr @field(ptr %array, i64 $ARRAY_DESCRIPTOR)
  %known = call i1 @same_type(ptr %descriptor, i64 %types)
  br i1 %known, label %read, label %ask
read:
  %data = call ptr @field(ptr %array, i64 $ARRAY_DATA)
  switch i64 %kind, label %truth [ i64 2, label %float
                                   i64 3, label %integer ]
float:
  %make_float = load ptr, ptr @float_new
  %float_value = load double, ptr %data
  %new_float = call ptr %make_float(double %float_value)
  ret ptr %new_float
integer:
  %make_int = load ptr, ptr @int_new
  %int_value_there = load i64, ptr %data
  %new_int = call ptr %make_int(i64 %int_value_there)
  ret ptr %new_int
truth:
  %byte = load i8, ptr %data
  %is_true = icmp ne i8 %byte, 0
  %true = load ptr, ptr @true_object
  %false = load ptr, ptr @false_object
  %bool = select i1 %is_true, ptr %true, ptr %false
  %new_bool = call ptr @new_reference(ptr %bool)
  ret ptr %new_bool
ask:
  %function = call ptr @pointer(ptr %form, i64 3)
  store ptr %array, ptr %argument
  %function_call = load ptr, ptr @vectorcall
  %made = call ptr %function_call(ptr %function, ptr %argument, i64 1, ptr null)
  ret ptr %made
}

; One leaf of the result, null with a Python exception.
define internal ptr @finished(ptr %form, ptr %made, i64 %returns_tuple, ptr %arguments) {
entry:
  %whole_place = alloca ptr
  %kind = call i64 @word(ptr %form, i64 0)
  %index = call i64 @word(ptr %form, i64 1)
  %object = call ptr @pointer(ptr %form, i64 3)
  switch i64 %kind, label %output [ i64 6, label %whole
                                    i64 7, label %static
                                    i64 8, label %argument ]
whole:
  store ptr %made, ptr %whole_place
  %function_call = load ptr, ptr @vectorcall
  %of_all = call ptr %function_call(ptr %object, ptr %whole_place, i64 1, ptr null)
  ret ptr %of_all
static:
  %the_object = call ptr @new_reference(ptr %object)
  ret ptr %the_object
argument:
  %given = call ptr @pointer(ptr %arguments, i64 %index)
  %the_argument = call ptr @new_reference(ptr %given)
  ret ptr %the_argument
output:
  %alone = icmp eq i64 %returns_tuple, 0
  br i1 %alone, label %take, label %pick
pick:
  %items = getelementptr i8, ptr %made, i64 $TUPLE_ITEMS
  %item = call ptr @pointer(ptr %items, i64 %index)
  br label %take
take:
  %array = phi ptr [ %made, %output ], [ %item, %pick ]
  switch i64 %kind, label %number [ i64 0, label %as_it_is
                                    i64 1, label %scalar ]
as_it_is:
  %the_array = call ptr @new_reference(ptr %array)
  ret ptr %the_array
scalar:
  %taken = call ptr @new_reference(ptr %array)
  %as_scalar = load ptr, ptr @array_return
  %numpy_scalar = call ptr %as_scalar(ptr %taken)
  ret ptr %numpy_scalar
number:
  %python_number = call ptr @number_in(ptr %form, ptr %array)
  ret ptr %python_number
}

; The result in its form; takes over the reference to what the program has made.
define internal ptr @result_of(ptr %record, ptr %forms, ptr %made, ptr %arguments) {
entry:
  %count = call i64 @word(ptr %record, i64 3)
  %returns_tuple = call i64 @word(ptr %record, i64 5)
  %shape = call i64 @word(ptr %record, i64 6)
  switch i64 %shape, label %tuple [ i64 0, label %as_it_is
                                    i64 1, label %one ]
as_it_is:
  ret ptr %made
one:
  %result = call ptr @finished(ptr %forms, ptr %made, i64 %returns_tuple, ptr %arguments)
  call void @release(ptr %made)
  ret ptr %result
tuple:
  %new = load ptr, ptr @tuple_new
  %results = call ptr %new(i64 %count)
  %no_room = icmp eq ptr %results, null
  br i1 %no_room, label %error, label %fill
fill:
  %set = load ptr, ptr @tuple_set
  for %i below %count, ptr %form = %forms then %next_form
    %leaf = call ptr @finished(ptr %form, ptr %made, i64 %returns_tuple, ptr %arguments)
    %failed = icmp eq ptr %leaf, null
    br i1 %failed, label %undo, label %put
put:
    %ignored = call i32 %set(ptr %results, i64 %i, ptr %leaf)
    %next_form = call ptr @place(ptr %form, i64 4)
  end %i
  call void @release(ptr %made)
  ret ptr %results
undo:
  call void @release(ptr %results)
  br label %error
error:
  call void @release(ptr %made)
  ret ptr null
}

define ptr @guarded(ptr %self, ptr %arguments, i64 %count) {
entry:
  %record = getelementptr i8, ptr %self, i64 $BYTES_PAYLOAD
  %wanted = call i64 @word(ptr %record, i64 0)
  %right_count = icmp eq i64 %wanted, %count
  br i1 %right_count, label %check, label %miss
check:
  %condition_count = call i64 @word(ptr %record, i64 1)
  %conditions = call ptr @place(ptr %record, i64 7)
  for %c below %condition_count, ptr %condition = %conditions then %next_condition
    %kept = call i1 @holds(ptr %condition, ptr %arguments)
    br i1 %kept, label %so_far, label %changed
so_far:
    %next_condition = call ptr @place(ptr %condition, i64 4)
  end %c
  %input_count = call i64 @word(ptr %record, i64 2)
  %inputs = alloca i64, i64 %input_count
  for %i below %input_count
    %number = call i64 @word(ptr %condition, i64 %i)
    %input = call ptr @pointer(ptr %arguments, i64 %number)
    call void @put(ptr %inputs, i64 %i, ptr %input)
  end %i
  %forms = call ptr @place(ptr %condition, i64 %input_count)
  %program = call ptr @pointer(ptr %record, i64 4)
  %function_call = load ptr, ptr @vectorcall
  %made = call ptr %function_call(ptr %program, ptr %inputs, i64 %input_count, ptr null)
  %failed = icmp eq ptr %made, null
  %miss_object = load ptr, ptr @miss_object
  %missed = icmp eq ptr %made, %miss_object
  %no_result = or i1 %failed, %missed
  br i1 %no_result, label %hand_on, label %finish
hand_on:
  ret ptr %made
finish:
  %result = call ptr @result_of(ptr %record, ptr %forms, ptr %made, ptr %arguments)
  ret ptr %result
changed:
  %occurred = load ptr, ptr @error_occurred
  %error = call ptr %occurred()
  %is_error = icmp ne ptr %error, null
  br i1 %is_error, label %raise, label %miss
raise:
  ret ptr null
miss:
  %the_miss = load ptr, ptr @miss_object
  %answer = call ptr @new_reference(ptr %the_miss)
  ret ptr %answer
}
"""
