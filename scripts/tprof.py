# SPDX-License-Identifier: Apache-2.0
"""Names a Python program's operators, layers, training steps and moments for tprof.

    with tprof.op("forward", "pass"):
        ...
    tprof.step(items=32)
    tprof.mark("warm")
    tprof.thread_name("loader")
    tprof.watch(model)              # the modules of a torch.nn.Module as layers, by their names
    tprof.stop(); tprof.start()     # recording off and on

One file without dependencies. Where libtprof.so is not in the process everything here does nothing.
"""
import ctypes
import functools
import threading

__all__ = ["active", "op", "op_begin", "op_end", "op_detail", "step", "mark", "thread_name", "value", "start", "stop", "watch"]

_FIELDS = (("op_begin", (ctypes.c_char_p, ctypes.c_char_p)), ("op_end", ()),
           ("op_detail", (ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64)), ("step", (ctypes.c_uint64,)),
           ("mark", (ctypes.c_char_p,)), ("thread_name", (ctypes.c_char_p,)),
           ("value", (ctypes.c_char_p, ctypes.c_uint64)), ("pool_alloc", None), ("pool_free", None),
           ("pool_reset", None), ("start", ()), ("stop", ()))


def _load():
    """The functions that libtprof.so offers, by name (struct tprof_api of tprof.h); {} without it."""
    try:
        table = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(None), "tprof_api_1"))
    except (ValueError, OSError):
        return {}
    size = ctypes.c_uint64.from_address(table).value
    found = {}
    for number, (name, arguments) in enumerate(_FIELDS, 1):
        if arguments is not None and 8 * number + 8 <= size:
            pointer = ctypes.c_void_p.from_address(table + 8 * number).value
            # PYFUNCTYPE: the interpreter's lock is kept, as these return at once.
            found[name] = ctypes.PYFUNCTYPE(None, *arguments)(pointer)
    return found


_API = _load()


def _nothing(*_):
    pass


_op_begin, _op_end, _op_detail, _step, _mark, _thread_name, _value, start, stop = (
    _API.get(name, _nothing)
    for name in ("op_begin", "op_end", "op_detail", "step", "mark", "thread_name", "value", "start", "stop"))


def active():
    """Whether libtprof.so is in this process."""
    return bool(_API)


if _API:
    def _bytes(text):
        return None if text is None else str(text).encode("utf-8", "replace")
else:
    _bytes = _nothing


def op_begin(name, category=None):
    """Begins an op; it ends on the same thread."""
    _op_begin(_bytes(name), _bytes(category))


def op_end():
    """Ends the thread's innermost op."""
    _op_end()


def op_detail(shape=None, flop=0, bytes=0):  # pylint: disable=redefined-builtin
    """What the thread's innermost op works on: its shape as text, floating-point operations, bytes that it moves."""
    _op_detail(_bytes(shape), int(flop), int(bytes))


class op:  # pylint: disable=invalid-name
    """An op for as long as a `with` block, or a decorated function, runs; however it is left."""

    def __init__(self, name, category=None, shape=None, flop=0, bytes=0):  # pylint: disable=redefined-builtin
        self.name, self.category, self.detail = name, category, (shape, flop, bytes) if shape or flop or bytes else None

    def __enter__(self):
        op_begin(self.name, self.category)
        if self.detail:
            op_detail(*self.detail)
        return self

    def __exit__(self, *_):
        op_end()

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*arguments, **keywords):
            with self:
                return function(*arguments, **keywords)
        return wrapper


def step(items=0):
    """Ends a training step, a batch, a request, in which that many items were processed."""
    _step(int(items))


def mark(text):
    """A moment to be seen on the timeline."""
    _mark(_bytes(text))


def thread_name(name):
    """Names the calling thread in the reports."""
    _thread_name(_bytes(name))


def value(name, number):
    """Something that the reports should know of the program: its model's "parameters". The last value of a name counts."""
    _value(_bytes(name), int(number))


class _Watch:
    """Forward hooks of a model's modules. A module that an exception left has no end: the next of its callers gives it one."""

    def __init__(self, model, category):
        self.category, self.open, self.handles = category, threading.local(), []
        if not _API:
            return
        for name, module in model.named_modules():
            name = name or type(module).__name__
            self.handles.append(module.register_forward_pre_hook(functools.partial(self._begin, name)))
            self.handles.append(module.register_forward_hook(self._end))
        self.root = model

    def _stack(self):
        if not hasattr(self.open, "modules"):
            self.open.modules = []
        return self.open.modules

    def _begin(self, name, module, _inputs):
        stack = self._stack()
        if module is self.root:
            while stack:
                self._pop(stack)
        stack.append(module)
        op_begin(name, self.category)

    def _end(self, module, _inputs, _output):
        stack = self._stack()
        if any(open_one is module for open_one in stack):
            while self._pop(stack) is not module:
                pass

    @staticmethod
    def _pop(stack):
        op_end()
        return stack.pop()

    def remove(self):
        """Takes the hooks out again."""
        for handle in self.handles:
            handle.remove()
        self.handles = []


def watch(model, category="layer"):
    """Makes each call of each module of a torch.nn.Module an op of the module's name. `.remove()` of what is returned ends
    that. Only forward passes: what autograd does has no module."""
    return _Watch(model, category)
