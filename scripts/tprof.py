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
import copy
import ctypes
import functools
import inspect
import itertools
import operator
import sys
import threading
import types
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
            # PYFUNCTYPE: the interpreter's lock is kept, as these return at once. Texts need no type: bytes are a pointer,
            # None is NULL; and where recursion is too deep to ask one, the error would be ctypes's own.
            texts = all(argument is ctypes.c_char_p for argument in arguments)
            found[name] = ctypes.PYFUNCTYPE(None, *(() if texts else arguments))(pointer)
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


class _Thread:
    """What is open on the thread, outermost first: None for an op, for a layer its _Call. And its backward passes."""
    __slots__ = ("scopes", "passes", "carrier")

    def __init__(self):
        self.scopes, self.passes, self.carrier = [], [], None

    def push(self, scope, name, category):
        _op_begin(name, category)  # may find recursion too deep
        self.scopes.append(scope)

    def pop(self):
        _op_end()
        return self.scopes.pop()


class _Local(threading.local):
    def __init__(self):
        super().__init__()
        self.thread = _Thread()


_local = _Local()


def op_begin(name, category=None):
    """Begins an op; it ends on the same thread."""
    if _API:
        _local.thread.push(None, _bytes(name), _bytes(category))


def op_end():
    """Ends the thread's innermost op, and what an exception left open in it."""
    if not _API:
        return
    thread = _local.thread
    if None not in thread.scopes:  # begun in C
        _op_end()
        return
    while thread.pop() is not None:
        pass


def op_detail(shape=None, flop=0, bytes=0):  # pylint: disable=redefined-builtin
    """What the thread's innermost op works on: its shape as text, floating-point operations, bytes that it moves."""
    _op_detail(_bytes(shape), int(flop), int(bytes))


def _go_on_in(scope, steps):
    """A generator that goes on as `steps` does, a generator or a coroutine; each time in the op."""
    go_on, argument = steps.send, None
    while True:
        try:
            with scope:
                result = go_on(argument)
        except StopIteration as end:
            return end.value
        finally:
            argument = None  # an exception would hold this frame, which holds it
        try:
            argument, go_on = (yield result), steps.send
        except GeneratorExit:
            with scope:
                steps.close()
            raise
        except BaseException as error:  # pylint: disable=broad-exception-caught
            argument, go_on = error, steps.throw


class _Awaited:
    """A coroutine's steps, each in the op."""
    __slots__ = ("scope", "steps")

    def __init__(self, scope, steps):
        self.scope, self.steps = scope, steps

    def __await__(self):
        return _go_on_in(self.scope, self.steps)


def _asynchronous(scope, function):
    """As _go_on_in(), of asynchronous generators."""
    async def wrapper(*arguments, **keywords):
        steps = function(*arguments, **keywords)
        go_on, argument = steps.asend, None
        while True:
            try:
                result = await _Awaited(scope, go_on(argument))
            except StopAsyncIteration:
                return
            finally:
                argument = None
            try:
                argument, go_on = (yield result), steps.asend
            except GeneratorExit:
                await _Awaited(scope, steps.aclose())
                raise
            except BaseException as error:  # pylint: disable=broad-exception-caught
                argument, go_on = error, steps.athrow
    return wrapper


class op:  # pylint: disable=invalid-name
    """An op for as long as a `with` block, or a decorated function, runs; however it is left.

    What is decorated stays what it is: a property, a method, a cached function (also a call that the cache answers is one of
    the op), a class (to make an object by its own __init__() or __new__() is a call), any other callable.
    A generator or a coroutine runs from one `yield` or `await` to the next, and each such time is a call of the op. In between
    others run on the thread: so a `with` block is to have no `yield` and no `await` in it."""

    def __init__(self, name, category=None, shape=None, flop=0, bytes=0):  # pylint: disable=redefined-builtin
        self.name, self.category, self.detail = name, category, (shape, flop, bytes) if shape or flop or bytes else None
        if op.compiling is None and "torch" in sys.modules:
            asked = _of_torch("compiler.is_compiling")
            op.compiling = staticmethod(asked) if asked else False

    # Says whether torch.compile() reads this: a graph holds none of it. None: not looked for yet; False: there is none.
    compiling = None

    def __enter__(self):
        if self.compiling and self.compiling():
            return self
        op_begin(self.name, self.category)
        if self.detail:
            op_detail(*self.detail)
        return self

    def __exit__(self, *_):
        if not (self.compiling and self.compiling()):
            op_end()

    def __call__(self, function):
        return _decorated(self, function) if _API else function


# ---- what is decorated ----

def _of_torch(name):
    """What torch has by that name; None: nothing, or it is not loaded."""
    found = sys.modules.get("torch")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _decorated(scope, given):
    if isinstance(given, (staticmethod, classmethod)):
        return type(given)(scope(given.__func__))
    if isinstance(given, property):
        for change, function in (("getter", given.fget), ("setter", given.fset), ("deleter", given.fdel)):
            given = getattr(given, change)(scope(function)) if function else given
        return given
    if isinstance(given, functools.cached_property):
        given = copy.copy(given)
        given.func = scope(given.func)
        return given
    if isinstance(given, type):
        return _class(scope, given)
    if inspect.isfunction(given):
        function = functools.wraps(given)(_around(scope, given, given))
        function.__prepare_scriptable__ = lambda: given  # torch.jit.script() asks for what it is to compile
        return function
    if isinstance(given, _of_torch("nn.Module") or ()):
        _Watch([(scope.name, given)], scope.category)
        return given
    if isinstance(given, _of_torch("jit.ScriptFunction") or ()):
        return given  # other scripts take nothing else in its place
    return _proxy_class(type(given))(scope, given)


def _class(scope, given):
    """It is changed where it has a method of its own; one that it inherits may not be there yet (a dataclass's)."""
    for name in ("__init__", "__new__"):
        if name in given.__dict__:
            try:
                setattr(given, name, scope(given.__dict__[name]))
            except TypeError:  # a class of C's
                pass
            break
    return given


def _is_awaited(function):
    """Whether a generator function is types.coroutine()'s: what calls it awaits it, which is refused of other generators."""
    code = getattr(function, "__code__", None)  # a functools.partial() has none
    return bool(code and code.co_flags & inspect.CO_ITERABLE_COROUTINE)


def _around(scope, call, like):
    """A function that calls `call` in the op. What `like` is, a generator function or a coroutine function, it is too."""
    if inspect.isgeneratorfunction(like):
        def wrapper(*arguments, **keywords):
            return (yield from _go_on_in(scope, call(*arguments, **keywords)))
        if _is_awaited(like):
            wrapper = types.coroutine(wrapper)
    elif inspect.iscoroutinefunction(like):
        async def wrapper(*arguments, **keywords):
            return await _Awaited(scope, call(*arguments, **keywords))
    elif inspect.isasyncgenfunction(like):
        wrapper = _asynchronous(scope, call)
    else:
        wrapper = _plain(scope, call, like if inspect.isfunction(like) else _around)
    return wrapper


@functools.lru_cache(None)
def _plain_code(names):
    return compile(f"""
def make(tprof_scope, tprof_call{"".join(", " + name for name in names)}):
    def wrapper(*arguments, **keywords):
        if tprof_scope.compiling and tprof_scope.compiling():
            return tprof_call(*arguments, **keywords)
        with tprof_scope:
            return tprof_call(*arguments, **keywords)
        ({"".join(name + ", " for name in names)})
    return wrapper
""", "<tprof.op>", "exec")


def _plain(scope, call, like):
    """A function with the globals and the variables of the enclosing functions that `like` has: torch.jit.script() compiles a
    method by the source of what is wrapped, and looks its names up in what wraps it."""
    made = {}
    exec(_plain_code(like.__code__.co_freevars), like.__globals__, made)  # pylint: disable=exec-used
    wrapper = made["make"](scope, call, *like.__code__.co_freevars)
    cells = dict(zip(wrapper.__code__.co_freevars, wrapper.__closure__))
    cells.update(zip(like.__code__.co_freevars, like.__closure__ or ()))
    return types.FunctionType(wrapper.__code__, like.__globals__, like.__name__, None,
                              tuple(cells[name] for name in wrapper.__code__.co_freevars))


class _Proxy:
    """Stands for something that is neither a function nor a class, and is it as far as Python's means go."""
    __slots__ = ("__wrapped__", "_tprof", "__weakref__")

    def __init__(self, scope, given):
        call = type(given).__call__ if callable(given) else None
        kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        like = given if any(is_one(given) for is_one in kinds) else call
        object.__setattr__(self, "__wrapped__", given)
        object.__setattr__(self, "_tprof", (scope, _around(scope, given, like) if call else None))

    def __getattribute__(self, name):
        given = object.__getattribute__(self, "__wrapped__")
        if name in ("__wrapped__", "__reduce_ex__"):
            return object.__getattribute__(self, name)
        return getattr(given, name)

    def __setattr__(self, name, value):
        setattr(self.__wrapped__, name, value)

    def __delattr__(self, name):
        delattr(self.__wrapped__, name)

    def __reduce_ex__(self, protocol):
        """As what it stands for; by its name only where that is this one's."""
        given = self.__wrapped__
        how = given.__reduce_ex__(protocol)
        if isinstance(how, str):
            found = sys.modules.get(given.__module__)
            for part in how.split("."):
                found = getattr(found, part, None)
            if found is not self:
                return operator.itemgetter(0), ((given,),)
        return how


_PROXY_OWN = {"__class__", "__del__", "__dict__", "__weakref__", "__class_getitem__", "__init_subclass__", "__subclasshook__",
              "__new__", "__reduce__", *vars(_Proxy)}


@functools.lru_cache(None)
def _proxy_class(kind):
    """Python looks for these methods in the class alone."""
    def forwarded(name):
        return lambda self, *arguments, **keywords: getattr(self.__wrapped__, name)(*arguments, **keywords)

    def call(self, *arguments, **keywords):
        return object.__getattribute__(self, "_tprof")[1](*arguments, **keywords)

    def get(self, instance, owner=None):
        bound = self.__wrapped__.__get__(instance, owner)
        if bound is self.__wrapped__:
            return self
        return object.__getattribute__(self, "_tprof")[0](bound) if callable(bound) else bound

    members = {name: forwarded(name) for name in dir(kind) if name.startswith("__") and name.endswith("__") and
               name not in _PROXY_OWN and callable(getattr(kind, name))}
    own = {"__call__": call, "__get__": get}
    members.update((name, own[name]) for name in own if name in members)
    return type(kind.__name__, (_Proxy,), {"__slots__": (), **members})


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
# A layer's forward pass is an op of its module's name. While a model is watched a function of ours stands for
# torch.nn.Module.__call__: what were a module's own would be copied, pickled and compiled with it, and torch's hooks for all
# modules cost more than this, do not see every exception, and stop torch.compile. Its backward pass is an op too. Autograd
# runs the nodes of its graph in the reverse order of their making, so what was made in one call of a module runs in one go. A
# node that is first seen in what a module returns was made in it, one that is first seen in what goes into a module was made
# around it: a hook before the node says that the thread is there now. Nothing here keeps a tensor or a node, and no hook
# changes a gradient.

_ITEMS = 64  # of a list of tensors; longer ones hold something else


class _Layer:
    """A module's name, for both its passes. `alive` refers to what tells the module."""
    __slots__ = ("forward", "backward", "watch", "alive")

    def __init__(self, name, watch_, alive):
        self.forward, self.backward = _bytes(name), _bytes(name + " (backward)")
        self.watch, self.alive = watch_, alive


class _Call:
    """A call of a layer, in `depth` others; `made_in` is the backward pass that it was made in (a checkpoint's, again)."""
    __slots__ = ("layer", "parent", "depth", "made_in")

    def __init__(self, layer, parent, made_in):
        self.layer, self.parent, self.made_in = layer, parent, made_in
        self.depth = 0 if parent is None else parent.depth + 1

    def enter(self, *_):
        """Before a node that was made in this call, its backward pass: the layers of the thread are those of the call."""
        if self.layer.watch.is_removed:
            return
        thread = _local.thread
        pass_ = _pass_of(thread) if thread.passes else None
        if pass_ is None or len(thread.scopes) != pass_.base + pass_.count or self.made_in is pass_:
            pass_ = _begin_pass(thread)  # something else was begun in that one: an op, a layer's forward pass
        if pass_ is not None:
            pass_.go_to(thread, self)


def _leave(*_):
    """Before a node that was made outside of every layer."""
    thread = _local.thread
    pass_ = _pass_of(thread)
    if pass_ is not None and len(thread.scopes) == pass_.base + pass_.count:
        pass_.go_to(thread, None)


class _Pass:
    """A backward pass on a thread. The layers it is in are the thread's scopes from number `base` on, `count` of them."""
    __slots__ = ("base", "count", "is_over", "__weakref__")

    def __init__(self, base):
        self.base, self.count, self.is_over = base, 0, False

    def go_to(self, thread, call):
        """Leaves the layers that the call is not in, and enters those that it is in; None: in no layer."""
        scopes, base, entered = thread.scopes, self.base, []
        while call is not None and not (call.depth < self.count and scopes[base + call.depth] is call):
            entered.append(call)
            call = call.parent
        self.count = 0 if call is None else call.depth + 1
        for _ in range(len(scopes) - base - self.count):
            thread.pop()
        while entered:
            call = entered.pop()
            thread.push(call, call.layer.backward, call.layer.watch.category)
            self.count += 1

    def end(self):
        """On another thread than its own it is only marked: its own ends it when it begins the next."""
        self.is_over = True
        thread = _local.thread
        if self in thread.passes:
            while len(thread.scopes) > self.base:
                thread.pop()
            del thread.passes[thread.passes.index(self):]


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


def _tensors(value, plain, depth=3):
    """Those that a module takes or returns, themselves and in tuples, lists, dictionaries and dataclasses."""
    if type(value) is plain:  # those of a class of its own may run code of the program's
        yield value
    elif depth and (isinstance(value, (tuple, list, dict)) or hasattr(type(value), "__dataclass_fields__")):
        values = (value if isinstance(value, (tuple, list)) else dict.values(value) if isinstance(value, dict)
                  else getattr(value, "__dict__", {}).values())
        for item in itertools.islice(values, _ITEMS):
            yield from _tensors(item, plain, depth - 1)


def _claim(values, plain, call):
    """Where nobody did before: the nodes that made these tensors were made in that call; None: in none."""
    for tensor in (values,) if type(values) is plain else _tensors(values, plain):
        node = tensor.grad_fn if tensor.requires_grad else None
        if node is None:
            continue
        marks = node.metadata
        if "tprof" not in marks:
            marks["tprof"] = call
            _hook_before(node, _leave if call is None else call.enter)


def _hook_before(node, hook):
    """As a tensor's hook gets there, which every torch has: it costs half of what register_prehook() does. The tensor is
    ours, for one of the program's would be known by the hook ever after."""
    thread = _local.thread
    carrier = thread.carrier
    if carrier is None:
        carrier = thread.carrier = sys.modules["torch"].Tensor()
    carrier._backward_hooks = {0: hook}
    try:
        node._register_hook_dict(carrier)
    except AttributeError:
        node.register_prehook(hook)
    finally:
        carrier._backward_hooks = None


def _floor(pass_):
    """The number of the first scope that is in no backward pass, or was begun in the innermost."""
    return pass_.base + pass_.count if pass_ is not None else 0


def _begin_call(layer, thread):
    scopes, pass_ = thread.scopes, None
    if thread.passes or scopes and scopes[-1] is None:
        pass_ = _pass_of(thread)
        outer = next((scope for scope in reversed(scopes[_floor(pass_):]) if scope is not None), None)
    else:
        outer = scopes[-1] if scopes else None
    return _Call(layer, outer, pass_)


def _end_call(call, thread):
    """Ends it where it is open and no op is in it, and what layers are."""
    scopes, number = thread.scopes, len(thread.scopes)
    floor = _floor(_pass_of(thread))
    while number > floor and scopes[number - 1] is not None:
        number -= 1
        if scopes[number] is call:
            while len(scopes) > number:
                thread.pop()


def _stand_in(watch_, bare):
    """What stands for torch.nn.Module.__call__, as long as the watch does."""
    torch = sys.modules["torch"]
    layer_of, category, plain, has_grad = watch_.layers.get, watch_.category, torch.Tensor, torch.is_grad_enabled
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)  # a graph holds none of this

    @functools.wraps(bare)
    def call_module(self, *args, **kwargs):
        if is_compiling is not None and is_compiling():
            return watch_.bare(self, *args, **kwargs)
        layer = layer_of(id(self.__dict__.get("_forward_hooks")))
        if layer is None:
            return watch_.bare(self, *args, **kwargs)
        thread = _local.thread
        scopes, call = thread.scopes, _begin_call(layer, thread)
        if has_grad():
            _claim(args[0] if len(args) == 1 else args, plain, call.parent)
            if kwargs:
                _claim(kwargs, plain, call.parent)
        _op_begin(layer.forward, category)
        scopes.append(call)
        try:
            output = watch_.bare(self, *args, **kwargs)
        except BaseException:
            _end_call(call, thread)
            raise
        if scopes and scopes[-1] is call:
            _op_end()
            scopes.pop()
        else:
            _end_call(call, thread)
        if has_grad():
            _claim(output, plain, call)
        return output
    return call_module


_watches = []  # the last one's function is torch.nn.Module.__call__, which calls that of the one before
_watches_lock = threading.Lock()


def _sweep():
    """Takes the functions of removed watches out. What somebody else's function calls stays, and only passes calls on."""
    if not _watches_lock.acquire(blocking=False):  # perhaps in a garbage collection, by this very thread
        return
    try:
        base = sys.modules["torch"].nn.Module
        for number in reversed(range(len(_watches))):
            gone, outer = _watches[number], _watches[number + 1] if number + 1 < len(_watches) else None
            if not gone.is_removed:
                continue
            if outer is not None and outer.bare is gone.call:
                outer.bare = gone.bare
            elif outer is None and base.__call__ is gone.call:
                base.__call__ = gone.bare
            else:
                continue
            del _watches[number]
    finally:
        _watches_lock.release()


class _Watch:
    """A model's layers. Without libtprof.so it does nothing, and nothing is done."""

    def __init__(self, modules, category):
        """By their names; they may be looked at while recording only."""
        self.category, self.layers, self.is_removed, self.bare, self.call = _bytes(category), {}, not _API, None, None
        if not _API:
            return
        for name, module in modules:
            self._add(module, name or type(module).__name__)
        with _watches_lock:
            base = sys.modules["torch"].nn.Module
            self.bare = base.__call__
            self.call = base.__call__ = _stand_in(self, self.bare)
            _watches.append(self)

    def _add(self, module, name):
        """By its dictionary of hooks, which a replica (DataParallel) shares and a copy does not; no module is kept alive."""
        hooks = module._forward_hooks
        key = id(hooks)
        is_ending = sys.is_finalizing  # then modules are taken down, torch and this one too
        self.layers[key] = _Layer(name, self, weakref.ref(hooks, lambda _: is_ending() or self._drop(key)))

    def _drop(self, key):
        self.layers.pop(key, None)
        if not self.layers:
            self.remove()

    def remove(self):
        """Calls are as before. A graph that was made before runs on without layers."""
        if self.is_removed:
            return
        self.is_removed = True
        self.layers.clear()
        _sweep()
        thread = _local.thread
        while thread.scopes and thread.scopes[-1] is not None and thread.scopes[-1].layer.watch is self:
            thread.pop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def watch(model, category="layer"):
    """Makes each call of each module of a torch.nn.Module an op of the module's name, and what autograd then does for it
    another, "NAME (backward)". Ends with `.remove()` of what is returned, or with its `with` block."""
    return _Watch(model.named_modules() if _API else (), category)
