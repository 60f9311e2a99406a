# SPDX-License-Identifier: Apache-2.0
"""What a program tells by tprof.h: pools, start and stop, scopes in C++. Exact, and nothing without the collector."""
import pytest

from conftest import BUILD, HEAP_KEYS, LAUNCHER, LIBRARY, PYTHON, WORKLOADS, analyze, covers, heap_of, nothing_lost, report, sites


def truth_of(run):
    return {key: run.truth()[key] for key in HEAP_KEYS}


@pytest.mark.parametrize("rounds", [1, 60])
def test_pools(tprof, rounds):
    """Blocks of pools count as if malloc had made them; what pools are made of does not, not even for the peak."""
    run, summary = tprof.summary([WORKLOADS / "pools", rounds])
    nothing_lost(summary)
    assert heap_of(summary) == truth_of(run)
    assert summary["heap"]["unmatched_frees"] == 0
    pools = summary["heap"]["pools"]
    assert (pools["pools"], pools["allocated_bytes"]) == (1 + rounds, 65536 * (1 + rounds))
    assert (pools["end_pools"], pools["end_bytes"], pools["peak_bytes"]) == (1, 65536, 2 * 65536)
    assert pools["block_allocations"] == run.truth()["allocations"] - rounds - 2
    assert summary["heap"]["peak_bytes"] < 3 * 65536
    unfreed = {site["bytes"]: site["blocks"] for site in sites(run.traces()[0], "leaks")}
    assert unfreed == {77: 1, 99: 1, 16: 1, 64: 1}
    assert {site["stack"][site["own"]]["function"] for site in sites(run.traces()[0], "leaks")} == {"take", "heap", "main"}
    assert "are not counted themselves" in analyze("summary", "--full", run.traces()[0]).stdout


def test_pools_sampled(tprof):
    """The estimate of the peak and of what was allocated holds the truth, pools left out."""
    run = tprof.run([WORKLOADS / "pools", 200], [LIBRARY], {"TPROF_ALLOC": "sample:2000"})
    summary, truth = report(run.traces()[0]), run.truth()
    heap = summary["heap"]
    assert covers(heap["allocated_bytes_ci95"], truth["allocated_bytes"])
    assert heap["peak_bytes"] < 2 * 65536 + 40000  # without the arenas, of 65536 each


@pytest.mark.parametrize("off", [False, True])
def test_pauses(tprof, off):
    """Blocks that were recorded are followed through pauses; what began in one is in no number."""
    run, summary = tprof.summary([WORKLOADS / "pauses", 50] + ["off"] * off, env={"TPROF_START": "off" if off else "on"})
    nothing_lost(summary)
    heap = heap_of(summary)
    truth = truth_of(run)
    if off:
        assert heap["frees"] == truth["frees"]
    assert heap == truth
    assert summary["heap"]["unmatched_frees"] > 0
    assert summary["heap"]["mapped_end_bytes"] < 1 << 20
    pauses = summary["capture"]["pauses"]
    assert pauses["count"] == 50 * 3 + 2 and pauses["off_at_start"] is off
    assert 0 < pauses["duration_ns"] < summary["process"]["duration_ns"]
    ops = {op["name"]: (op["calls"], op.get("open", 0)) for op in summary["ops"]}
    assert ops == {"outer": (50, 0), "inner": (50, 0)}
    assert summary["op_ends_unmatched"] == 0 and summary["steps"]["count"] == 50
    assert "recording was paused" in analyze(run.traces()[0]).stdout


def test_never_started(tprof):
    run, summary = tprof.summary([WORKLOADS / "steady", 100], env={"TPROF_START": "off"})
    assert summary["heap"]["allocations"] == 0 and summary["process"]["end"] == "exit"
    assert any("never switched on" in note for note in summary["notes"])
    assert "never switched on" in analyze(run.traces()[0]).stdout


def test_children_wait_too(tprof):
    """A forked child of a program that has not started records nothing either."""
    run = tprof.run([WORKLOADS / "fork", "nested"], [LIBRARY], {"TPROF_START": "off"})
    assert run.status == 0
    assert all(report(trace)["heap"]["allocations"] == 0 for trace in run.traces())


def test_cxx(tprof):
    run, summary = tprof.summary([WORKLOADS / "annotate", 30], env={"TPROF_START": "off"})
    assert run.stdout == b"15 caught\n"
    ops = {op["name"]: op for op in summary["ops"]}
    assert (ops["step"]["calls"], ops["inner"]["calls"]) == (30, 30)
    assert (ops["step"]["flop"], ops["step"]["bytes"]) == (30 * 120, 30 * 64)
    assert ops["step"]["self_allocated_bytes"] == 30 * 1000
    assert summary["steps"]["items"] == 60 and summary["op_ends_unmatched"] == 0
    # Recording ended with main's block: what was printed after it is not there, the scopes in it are.
    assert all(not op.get("open") for op in summary["ops"])


PYTHON_SCRIPT = '''
import collections, sys, types
sys.path.insert(0, sys.argv[1])
import tprof

class Module:
    """As torch.nn.Module."""
    def __init__(self, **children):
        self.children, self._forward_hooks = children, collections.OrderedDict()
    def named_modules(self, prefix=""):
        yield prefix, self
        for name, child in self.children.items():
            yield from child.named_modules(prefix + "." * bool(prefix) + name)
    def __call__(self, fail=None):
        for child in self.children.values():
            child(fail)
        if fail is self:
            raise KeyboardInterrupt

"""As torch without gradients, as far as watch() goes."""
sys.modules["torch"] = types.SimpleNamespace(is_grad_enabled=lambda: False, Tensor=type("Tensor", (), {}),
                                             nn=types.SimpleNamespace(Module=Module))

@tprof.op("decorated", "pass", shape="2x2", flop=8)
def work():
    pass

for i in range(10):
    with tprof.op("forward"):
        work()
    try:
        with tprof.op("raises"):
            raise KeyError
    except KeyError:
        pass
    tprof.step(items=3)
tprof.mark("here")
tprof.thread_name("mine")
inner = Module()
model = Module(encoder=Module(linear=inner), decoder=Module())
bare = Module.__call__
watch = tprof.watch(model)
assert (Module.__call__ is bare) is not tprof.active()
model()
try:
    model(inner)
except KeyboardInterrupt:
    with tprof.op("behind"):
        pass
model()
watch.remove()
assert Module.__call__ is bare
model()
tprof.stop()
work()
tprof.start()
print("active" if tprof.active() else "idle")
'''


def test_python(tprof):
    command = [PYTHON, "-I", "-c", PYTHON_SCRIPT, BUILD / "share/tprof"]
    bare = tprof.run(command)
    assert (bare.status, bare.stdout, bare.stderr) == (0, b"idle\n", b"")
    run = tprof.run(command, [LIBRARY])
    assert (run.status, run.stdout, run.stderr) == (0, b"active\n", b"")
    summary = report(run.traces()[0])
    ops = {op["name"]: (op["calls"], op["category"]) for op in summary["ops"]}
    assert ops == {"forward": (10, ""), "decorated": (10, "pass"), "raises": (10, ""), "behind": (1, ""), "Module": (3, "layer"),
                   "encoder": (3, "layer"), "encoder.linear": (3, "layer"), "decoder": (2, "layer")}
    assert summary["op_ends_unmatched"] == 0
    tree = report(run.traces()[0], command="ops", options=["--tree", "--top", "0"])["tree"]
    assert [node["parent"] for node in tree if node["name"] in ("behind", "Module")] == [None, None]
    assert (summary["steps"]["count"], summary["steps"]["items"]) == (10, 30)
    assert {op["flop"] for op in summary["ops"]} == {0, 80}


NAMES = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import tprof

def fill():  # chunks
    for i in range(40000):
        b"x" * (1000 + i % 100)

tprof.thread_name("the loader")
fill()
again = threading.Thread(target=fill)
again.start()
again.join()
"""


def test_python_generators_and_coroutines(tprof):
    """They are what they were, and in the op whenever they run: no other's op is within, and none of another's time."""
    command = [PYTHON, "-I", WORKLOADS.parents[1] / "tests/workloads/python_steps.py", BUILD / "share/tprof"]
    bare = tprof.run(command)
    run, summary = tprof.summary(command)
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr) and run.status == 0
    assert run.stdout.endswith(b"True True True\n")
    tree = report(run.traces()[0], command="ops", options=["--tree", "--top", "0"])["tree"]
    assert {(node["name"], node["depth"]): node["calls"] for node in tree} == {
        ("generator", 0): 16, ("coroutine", 0): 12, ("last", 1): 4, ("awaited", 0): 4,
        ("asynchronous", 0): 20}
    assert summary["op_ends_unmatched"] == 0 and not any(op["open"] for op in summary["ops"])


PAUSED_SCRIPT = '''
import sys
sys.path.insert(0, sys.argv[1])
import tprof

with tprof.op("outer", shape="1x1", flop=10):
    tprof.stop()
    tprof.op_begin("paused")
    tprof.start()
    tprof.op_detail("100x100", 1000, 1000)
    with tprof.op("inner"):
        tprof.op_detail("2x2", 2)
    tprof.op_end()
    tprof.op_detail(bytes=3)
'''


METHODS_SCRIPT = '''
import sys
sys.path.insert(0, sys.argv[1])
import tprof

class Model:
    @tprof.op("static")
    @staticmethod
    def static(number):
        return number

    @tprof.op("class")
    @classmethod
    def name(cls, number):
        return cls.__name__ * number

    @tprof.op("async")
    @staticmethod
    async def wait():
        return 7

print(Model.static(1), Model().static(2), Model.name(1), Model().name(2), type(vars(Model)["static"]).__name__)
try:
    Model().wait().send(None)
except StopIteration as end:
    print(end.value)
'''


def test_python_methods(tprof):
    """Static methods and those of a class stay what they are, as without the collector."""
    command = [PYTHON, "-I", "-c", METHODS_SCRIPT, BUILD / "share/tprof"]
    bare = tprof.run(command)
    run, summary = tprof.summary(command)
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr) == (
        0, b"1 2 Model ModelModel staticmethod\n7\n", b"")
    assert {op["name"]: op["calls"] for op in summary["ops"]} == {"static": 2, "class": 2, "async": 1}


def test_what_python_decorates_stays_what_it_is(tprof):
    """Properties, cached functions, classes, bound and partial ones, descriptors, callables: the program prints what it asks
    them, and its output is the same as without the collector. Calls that a cache answers are calls too."""
    command = [PYTHON, "-I", WORKLOADS.parents[1] / "tests/workloads/python_decorated.py", BUILD / "share/tprof"]
    bare = tprof.run(command)
    run, summary = tprof.summary(command)
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr) and run.status == 0, run.stderr
    assert {op["name"]: op["calls"] for op in summary["ops"]} == {
        "property": 2, "both": 1, "cached property": 1, "cached method": 3, "partialmethod": 1, "dispatch": 2, "builtin": 1,
        "cached": 19, "sqrt": 1, "partial": 1, "callable": 1, "class": 3, "dataclass": 3, "new": 3, "generator": 2,
        "coroutine": 2, "partial coroutine": 1, "async callable": 1, "singledispatch": 2, "bound": 1, "closure": 1}
    assert summary["op_ends_unmatched"] == 0 and not any(op["open"] for op in summary["ops"])


@pytest.mark.real
def test_what_torch_compiles_stays_what_it_is(tprof):
    """torch.jit.script() and trace() of decorated functions, of methods that use globals and enclosing functions' variables, of
    classes, and of what calls these; a decorated module, which is copied and pickled, records its calls."""
    command = [PYTHON, "-I", WORKLOADS.parents[1] / "tests/workloads/torch_decorated.py", BUILD / "share/tprof"]
    bare = tprof.run(command)
    run, summary = tprof.summary(command)
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr) and run.status == 0, run.stderr
    calls = {op["name"]: op["calls"] for op in report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]}
    wanted = {"forward": 1, "more": 1, "inner module": 1, "whole": 1, "f": 4}  # three of them by torch.jit.trace()
    assert {name: calls.get(name) for name in wanted} == wanted and "script" not in calls
    assert summary["op_ends_unmatched"] == 0


RECURSION_SCRIPT = '''
import sys
sys.path.insert(0, sys.argv[1])
import tprof

def deeper():
    with tprof.op("deeper"):
        deeper()

def down(levels):
    down(levels - 1) if levels else deeper()

for levels in range(40):  # which call is the first that is too deep depends on how many there are
    try:
        down(levels)
    except RecursionError:
        pass
with tprof.op("after"):
    tprof.op_detail("1", 1)
'''


def test_python_recursion(tprof):
    """What is too deep is a RecursionError, as without the collector, and what it was to begin is not taken to be open."""
    run, summary = tprof.summary([PYTHON, "-I", "-c", RECURSION_SCRIPT, BUILD / "share/tprof"])
    assert (run.status, run.stderr) == (0, b"")
    ops = {op["name"]: op for op in summary["ops"]}
    assert (ops["after"]["calls"], ops["after"]["self_flop"]) == (1, 1) and not any(op["open"] for op in ops.values())
    assert summary["op_ends_unmatched"] == 0


def test_details_of_an_op_that_a_pause_passed_over(tprof):
    """They are not those of the op around it."""
    _, summary = tprof.summary([PYTHON, "-I", "-c", PAUSED_SCRIPT, BUILD / "share/tprof"])
    assert {op["name"]: (op["calls"], op["self_flop"], op["self_bytes"], [s["shape"] for s in op["shapes"]])
            for op in summary["ops"]} == {"outer": (1, 8, 3, ["1x1"]), "inner": (1, 2, 0, ["2x2"])}


def test_a_name_stays(tprof):
    """Though the kernel, which is asked with each chunk, has another one; and it is of that thread alone."""
    run = tprof.run([PYTHON, "-I", "-c", NAMES, BUILD / "share/tprof"], [LIBRARY])
    info = report(run.traces()[0], command="info")
    assert info["trace"]["chunks"] > 4
    first, second = (thread["name"] for thread in info["threads"])
    assert first == "the loader" and second not in ("", "the loader")


def test_an_op_without_a_name(tprof):
    """Has a row that can be read, and is found by, in every report."""
    script = "import sys; sys.path.insert(0, sys.argv[1]); import tprof\nfor _ in range(20):\n  with tprof.op(''): bytes(1000)"
    run = tprof.run([PYTHON, "-I", "-c", script, BUILD / "share/tprof"], [LIBRARY])
    trace = run.traces()[0]
    assert [(op["name"], op["calls"]) for op in report(trace)["ops"]] == [("(unnamed)", 20)]
    for command in (["ops"], ["ops", "--tree"], ["hotspots", "--by", "op"], ["export", "--format", "chrome"]):
        assert "(unnamed)" in analyze(*command, trace).stdout


def test_more_names_than_a_trace_has_room_for(tprof):
    """All calls are counted, and it is said that not all have their names."""
    script = ("import sys; sys.path.insert(0, sys.argv[1]); import tprof\n"
              "for i in range(50000):\n  tprof.op_begin(f'request {i}'); tprof.op_end()")
    run, summary = tprof.summary([PYTHON, "-I", "-c", script, BUILD / "share/tprof"], env={"TPROF_ALLOC": "off"})
    assert (summary["ops_total"], summary["op_calls_nameless"]) == (49152 + 1, 50000 - 49152)
    assert "note: the names of the ops of 848 calls are not in the trace, which has room for 49,152 names" in analyze(
        "summary", run.traces()[0]).stdout


def test_where_python_finds_it(tprof):
    found = tprof.run([LAUNCHER, "--python"])
    assert found.stdout.decode().strip() == str(BUILD / "share/tprof")


@pytest.mark.real
def test_torch_layers(tprof):
    script = f'''
import sys
sys.path.insert(0, {str(BUILD / "share/tprof")!r})
import torch, tprof
model = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 2))
tprof.watch(model)
for _ in range(5):
    model(torch.ones(4, 20)).sum().backward()
    tprof.step(4)
'''
    run = tprof.run([PYTHON, "-c", script], [LIBRARY])
    assert (run.status, run.stderr) == (0, b"")
    ops = {op["name"]: op for op in report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]}
    assert [ops[name]["calls"] for name in ("Sequential", "0", "1", "2")] == [5] * 4
    assert ops["0"]["allocated_bytes"] >= 5 * 4 * 30 * 4


def test_without_the_collector(tprof):
    for name in ("pools", "pauses", "annotate"):
        bare = tprof.run([WORKLOADS / name, 2])
        assert (bare.status, bare.stderr, bare.traces()) == (0, b"", [])
