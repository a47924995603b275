import types
def rebuild(function, runtime):
    cells = tuple(types.CellType(runtime) if n == "__xjit__" else c for n, c in zip(function.__code__.co_freevars, function.__closure__ or ()))
    return types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
