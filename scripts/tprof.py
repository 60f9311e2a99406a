# SPDX-License-Identifier: Apache-2.0
"""Names a Python program's operators, layers, training steps and moments for tprof.

    with tprof.op("forward", "pass"):
        ...
    tprof.step(items=32)
    tprof.mark("warm")
    tprof.thread_name("loader")
    tprof.watch(model)              # the modules of a torch.nn.Module as layers, by their names, forward and backward
    tprof.stop(); tprof.start()     # recording off and on

One file without dependencies. Where libtprof.so is not in the process everything here does nothing.
"""
import ctypes
import functools
import itertools
import sys
import threading
import weakref

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


class _Thread(threading.local):
    """What is open on the thread, outermost first: None for an op, for a layer its _Call. And its backward passes."""

    def __init__(self):
        super().__init__()
        self.scopes, self.passes = [], []

    def push(self, scope, name, category):
        self.scopes.append(scope)
        _op_begin(name, category)

    def pop(self):
        _op_end()
        return self.scopes.pop()


_thread = _Thread()


def op_begin(name, category=None):
    """Begins an op; it ends on the same thread."""
    if _API:
        _thread.push(None, _bytes(name), _bytes(category))


def op_end():
    """Ends the thread's innermost op, and what an exception left open in it."""
    if not _API:
        return
    if None not in _thread.scopes:  # begun in C
        _op_end()
        return
    while _thread.pop() is not None:
        pass


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


# ---- layers ----
#
# A layer's forward pass is an op of its module's name, by torch's hooks for all modules: hooks of a module's own would be
# copied, pickled and compiled with it. Its backward pass is an op too. Autograd runs the nodes of its graph in the reverse
# order of their making, so what was made in one call of a module runs in one go. A node that is first seen in what a module
# returns was made in it, one that is first seen in what goes into a module was made around it: a hook before the node says
# that the thread is there now. Nothing here keeps a tensor or a node, and no hook changes a gradient.

_ITEMS = 64  # of a list of tensors; longer ones hold something else


class _Layer:
    """A module's name, for both its passes."""
    __slots__ = ("forward", "backward", "is_root", "watch")

    def __init__(self, name, is_root, watch_):
        self.forward, self.backward = _bytes(name), _bytes(name + " (backward)")
        self.is_root, self.watch = is_root, watch_


class _Call:
    """A call of a layer, in another's or none; `made_in` is the backward pass that it was made in (a checkpoint's, again)."""
    __slots__ = ("layer", "parent", "made_in")

    def __init__(self, layer, parent, made_in):
        self.layer, self.parent, self.made_in = layer, parent, made_in

    def path(self):
        """The calls around it and itself, outermost first."""
        calls, call = [], self
        while call is not None:
            calls.append(call)
            call = call.parent
        return calls[::-1]

    def enter(self, *_):
        """Before a node that was made in this call, its backward pass: the layers of the thread are those of the call."""
        if self.layer.watch.is_removed:
            return
        thread = _thread
        pass_ = _pass_of(thread)
        if pass_ is None or not pass_.is_innermost(thread) or self.made_in is pass_:
            pass_ = _begin_pass(thread)
        if pass_ is not None:
            pass_.go_to(thread, self)


def _leave(*_):
    """Before a node that was made outside of every layer."""
    pass_ = _pass_of(_thread)
    if pass_ is not None and pass_.is_innermost(_thread):
        pass_.go_to(_thread, None)


class _Pass:
    """A backward pass on a thread. The layers it is in are the thread's scopes from number `base` on, `count` of them."""
    __slots__ = ("base", "count", "is_over", "__weakref__")

    def __init__(self, base):
        self.base, self.count, self.is_over = base, 0, False

    def is_innermost(self, thread):
        """Nothing else was begun in it: an op, a layer's forward pass, a backward pass."""
        return len(thread.scopes) == self.base + self.count

    def go_to(self, thread, call):
        """Leaves the layers that the call is not in, and enters those that it is in; None: in no layer."""
        scopes = thread.scopes
        if call is not None and self.count and scopes[-1] is call:
            return
        path, same = call.path() if call is not None else [], 0
        while same < min(self.count, len(path)) and scopes[self.base + same] is path[same]:
            same += 1
        while len(scopes) > self.base + same:
            thread.pop()
        for outer in path[same:]:
            thread.push(outer, outer.layer.backward, outer.layer.watch.category)
        self.count = len(path)

    def end(self):
        """On another thread than its own it is only marked: its own ends it when it begins the next."""
        self.is_over = True
        if self in _thread.passes:
            while len(_thread.scopes) > self.base:
                _thread.pop()
            del _thread.passes[_thread.passes.index(self):]


class _PassEnd:
    """Autograd calls it at the end of a pass, and drops it where an exception ends the pass."""

    def __init__(self, pass_):
        self.pass_ = pass_

    def __call__(self):
        self.pass_.end()

    __del__ = __call__


def _pass_of(thread):
    while thread.passes and thread.passes[-1].is_over:
        thread.passes[-1].end()
    return thread.passes[-1] if thread.passes else None


def _begin_pass(thread):
    pass_ = _Pass(len(thread.scopes))
    try:
        sys.modules["torch"].autograd.Variable._execution_engine.queue_callback(_PassEnd(pass_))
    except (AttributeError, RuntimeError):  # autograd is not what calls
        return None
    thread.passes.append(pass_)
    return pass_


def _tensors(value, depth=3):
    """Those that a module takes or returns, themselves and in tuples, lists, dictionaries and dataclasses."""
    if type(value) is sys.modules["torch"].Tensor:  # those of a class of its own may run code of the program's
        yield value
    elif depth and (isinstance(value, (tuple, list, dict)) or hasattr(type(value), "__dataclass_fields__")):
        values = (value if isinstance(value, (tuple, list)) else dict.values(value) if isinstance(value, dict)
                  else getattr(value, "__dict__", {}).values())
        for item in itertools.islice(values, _ITEMS):
            yield from _tensors(item, depth - 1)


def _claim(values, call):
    """Where nobody did before: the nodes that made these tensors were made in that call; None: in none."""
    for tensor in _tensors(values):
        node = tensor.grad_fn if tensor.requires_grad else None
        if node is None:
            continue
        marks = node.metadata
        owner = marks.setdefault("tprof", call)
        hook = owner.enter if owner is not None else _leave
        if hasattr(node, "register_prehook"):  # torch 2
            if "tprof hook" not in marks:
                marks["tprof hook"] = node.register_prehook(hook)
        elif ("tprof hook", tensor.output_nr) not in marks:
            marks["tprof hook", tensor.output_nr] = True
            _hook_before(tensor, hook)


def _hook_before(tensor, hook):
    """torch 1 has no other hook before a node than a tensor's. The tensor itself has the same as ever: one that the
    program makes of it later, in place, would have ours for its own."""
    own = tensor._backward_hooks
    tensor._backward_hooks = {0: hook}
    try:
        tensor._register_hook_dict()
    finally:
        tensor._backward_hooks = own


class _Watch:
    """Hooks around the modules of a model. What an exception left open ends with the call around it, or before the next."""

    def __init__(self, model, category):
        self.category, self.layers, self.handles, self.is_removed = _bytes(category), {}, [], not _API
        if not _API:
            return
        for name, module in model.named_modules():
            self._add(module, name or type(module).__name__, module is model)
        modules = sys.modules["torch"].nn.modules.module
        self.handles = [modules.register_module_forward_pre_hook(self._begin)]
        try:
            self.handles.append(modules.register_module_forward_hook(self._end, always_call=True))
        except TypeError:  # torch 1: not where an exception leaves the module
            self.handles.append(modules.register_module_forward_hook(self._end))

    def _add(self, module, name, is_root):
        """By its dictionary of hooks, which a replica (DataParallel) shares and a copy does not; no module is kept alive."""
        hooks = module._forward_hooks
        key = id(hooks)
        self.layers[key] = _Layer(name, is_root, self), weakref.ref(hooks, lambda _: self._drop(key))

    def _drop(self, key):
        self.layers.pop(key, None)
        if not self.layers:
            self.remove()

    def _layer(self, module):
        return self.layers.get(id(module.__dict__.get("_forward_hooks")), (None,))[0]

    def _begin(self, module, inputs):
        layer = self._layer(module)
        if layer is None:
            return
        thread = _thread
        if layer.is_root:
            self._end_call(thread, layer)
        pass_ = _pass_of(thread)
        outer = next((scope for scope in reversed(thread.scopes[_floor(pass_):]) if scope is not None), None)
        if sys.modules["torch"].is_grad_enabled():
            _claim(inputs, outer)
        thread.push(_Call(layer, outer, pass_), layer.forward, self.category)

    def _end(self, module, _inputs, output):
        layer = self._layer(module)
        call = layer and self._end_call(_thread, layer)
        if call and sys.modules["torch"].is_grad_enabled():
            _claim(output, call)

    @staticmethod
    def _end_call(thread, layer):
        """The layer's innermost forward pass that is open, and what is open in it; None: there is none."""
        scopes, number = thread.scopes, len(thread.scopes)
        floor = _floor(_pass_of(thread))
        while number > floor and scopes[number - 1] is not None:
            number -= 1
            call = scopes[number]
            if call.layer is layer:
                while len(scopes) > number:
                    thread.pop()
                return call
        return None

    def remove(self):
        """Takes the hooks out again. A graph that was made before runs on without layers."""
        self.is_removed, self.layers = True, {}
        for handle in self.handles:
            handle.remove()
        self.handles = []
        while _thread.scopes and _thread.scopes[-1] is not None and _thread.scopes[-1].layer.watch is self:
            _thread.pop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def _floor(pass_):
    """The number of the first scope that is in no backward pass, or was begun in the innermost."""
    return pass_.base + pass_.count if pass_ is not None else 0


def watch(model, category="layer"):
    """Makes each call of each module of a torch.nn.Module an op of the module's name, and what autograd then does for it
    another, "NAME (backward)". Ends with `.remove()` of what is returned, or with its `with` block."""
    return _Watch(model, category)
