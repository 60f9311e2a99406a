# SPDX-License-Identifier: Apache-2.0
"""The presets of TPROF_OPS: which calls of which libraries are ops, and what they are called. Each count is the program's."""
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ANALYZE, LIBRARY, WORKLOADS, analyze, report

TIMES = 30


def profile(tprof, command, preset="auto", status=0, env=None):
    """The same output with and without; the operators by name."""
    bare = tprof.run(command, env={name: value for name, value in (env or {}).items() if name.startswith("MOCK_")})
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": preset, **(env or {})})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    if run.status == 77:
        pytest.skip(run.stdout.decode())
    assert run.status == status
    done = subprocess.run([ANALYZE, "ops", "--json", "--top", "0", run.traces()[0]], capture_output=True, check=True)
    return run, {op["name"]: op for op in json.loads(done.stdout)["ops"]}


def calls(ops, *names):
    return {name: ops[name]["calls"] for name in names or ops}


@pytest.mark.parametrize("program", ["regions", "regions-clang"])
def test_openmp_regions(tprof, program):
    """Named by the function that the compiler made of the region, which no dynamic symbol names; and by its line."""
    _, ops = profile(tprof, [WORKLOADS / program, TIMES], "openmp")
    parts = {name: op for name, op in ops.items() if op["category"] == "openmp part"}
    ops = {name: op for name, op in ops.items() if name not in parts}
    assert {op["category"] for op in ops.values()} == {"openmp"} and {op["calls"] for op in ops.values()} == {TIMES}
    assert len(ops) == 3
    lines = {int(name.rsplit(":", 1)[1]) for name in ops}
    assert lines == {10, 21, 26} and all(" at regions.c:" in name for name in ops)
    if program == "regions":
        assert sum("sum_squares._omp_fn" in name for name in ops) == 1
        assert sum("two_regions._omp_fn" in name for name in ops) == 2
    # One of the two blocks is the calling thread's own.
    [region] = [op for name, op in ops.items() if name.endswith(":21")]
    assert region["allocated_bytes"] >= 1000 * TIMES
    if program == "regions":  # two threads each; what they allocate is theirs
        assert {name.removesuffix(", a thread's part") for name in parts} == set(ops)
        assert {op["calls"] for op in parts.values()} == {2 * TIMES}
        assert parts[f"{region['name']}, a thread's part"]["allocated_bytes"] == 2 * 1000 * TIMES
        assert all(parts[f"{name}, a thread's part"]["total_ns"] > 0 for name in ops)
    else:
        assert parts == {}


SCALE = """
void scale(float *a) {
#pragma omp parallel for
	for (int i = 0; i < 100; i++) a[i] *= 2;
}
"""
SHIFT = """
void scale(float *);
int main(void) {
	static float a[100];
	for (int i = 0; i < 10; i++) {
		scale(a), scale(a);
#pragma omp parallel for
		for (int k = 0; k < 100; k++) a[k] += 2;
	}
	return 0;
}
"""


def test_openmp_regions_without_lines(tprof, tmp_path):
    """clang before 17 calls all regions .omp_outlined., in each file anew: without debug information the address tells them
    apart. Later ones have the function's name."""
    if not shutil.which("clang") or not Path("/usr/lib/x86_64-linux-gnu/libomp.so.5").exists():
        pytest.skip("clang's OpenMP is not installed")
    for name, text in (("scale.c", SCALE), ("shift.c", SHIFT)):
        (tmp_path / name).write_text(text)
    subprocess.run(["clang", "-O1", "-fopenmp", "-o", "regions", "scale.c", "shift.c"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", tmp_path / "regions"], capture_output=True, text=True, check=True).stdout
    regions = {int(line.split()[0], 16): line.split()[2] for line in symbols.splitlines() if "omp_outlined" in line}
    _, ops = profile(tprof, [tmp_path / "regions"], "openmp")
    if any(name.startswith(".omp") for name in regions.values()):
        assert {int(name.rsplit("+", 1)[1], 16) for name in ops} == set(regions) and len(regions) == 2
        assert all(".omp_outlined" in name and " at regions+" in name for name in ops)
    else:
        assert set(ops) == set(regions.values()) == {"scale.omp_outlined", "main.omp_outlined"}
    assert sorted(op["calls"] for op in ops.values()) == [10, 20]


def test_onednn(tprof):
    """Kind, implementation, dimensions and FLOP; creation is an op of its own."""
    _, ops = profile(tprof, [WORKLOADS / "onednn", TIMES], "onednn")
    by_kind = {name.split(" ")[0]: op for name, op in ops.items()}
    assert calls(by_kind) == {"matmul": TIMES, "convolution": TIMES, "convolution_backward_data": TIMES,
                              "inner_product": TIMES, "dnnl_primitive_create": 4}
    assert all("[" in name and name.endswith("]") for name in ops if name != "dnnl_primitive_create")
    flop = {name: op["flop"] // TIMES for name, op in by_kind.items()}
    convolution = 2 * (2 * 4 * 10 * 10) * (3 * 3 * 3)
    assert flop == {"matmul": 2 * 16 * 8 * 32, "convolution": convolution, "convolution_backward_data": convolution,
                    "inner_product": 2 * 5 * 30 * 20, "dnnl_primitive_create": 0}
    [shape] = by_kind["convolution"]["shapes"]
    assert "batch=2 groups=1 ic=3 oc=4" in shape["shape"] and "kh=3 kw=3" in shape["shape"]
    [shape] = by_kind["convolution_backward_data"]["shapes"]
    assert "backward" in shape["shape"]


def test_onednn_int8(tprof):
    """Bytes multiplied, sums of 32 bits: each tensor's elements are counted with their own size."""
    _, ops = profile(tprof, [WORKLOADS / "onednn", TIMES, "int8"], "onednn")
    by_kind = {name.split(" ")[0]: op for name, op in ops.items()}
    assert calls(by_kind) == {"matmul": TIMES, "reorder": TIMES, "dnnl_primitive_create": 2}
    assert by_kind["matmul"]["bytes"] == TIMES * (16 * 32 + 32 * 8 + 4 * 16 * 8)
    assert by_kind["reorder"]["bytes"] == TIMES * (4 + 1) * 16 * 32
    assert by_kind["matmul"]["flop_in"] == {"int8": TIMES * 2 * 16 * 8 * 32}
    assert [shape["shape"] for shape in by_kind["matmul"]["shapes"]] == ["batch=1 m=16 n=8 k=32 u8 s8 -> s32"]
    assert [shape["shape"] for shape in by_kind["reorder"]["shapes"]] == ["n=512 f32 -> u8"]


def test_onednn_mixed(tprof):
    """Of the same kind and dimensions, but of other types: rows of their own, each with its bytes."""
    _, ops = profile(tprof, [WORKLOADS / "onednn3", TIMES, "mixed"], "onednn")
    product = "batch=1 m=16 n=8 k=32 "
    sizes = "batch=2 groups=2 ic=4 oc=6 id=1 ih=10 iw=10 od=1 oh=8 ow=8 kd=1 kh=3 kw=3 "
    assert {name.split(" ")[0]: sorted(shape["shape"] for shape in op["shapes"]) for name, op in ops.items()} == {
        "matmul": [product + types for types in ("bf16 -> f32", "u8 s8", "u8 s8 -> f32", "u8 s8 -> s32")],
        "convolution": [sizes + "u8 s8 -> s32"], "reorder": ["n=100 f32 -> bf16"], "dnnl_primitive_create": [],
        "batch_normalization": ["n=150 channels=3 bf16 f32"]}
    first, second, result = 16 * 32, 32 * 8, 16 * 8
    assert {name.split(" ")[0]: op["bytes"] / TIMES for name, op in ops.items()} == {
        "matmul": 3 * (first + second) + (4 + 4 + 1) * result + 2 * (first + second) + 4 * result,
        "convolution": 2 * 4 * 100 + 2 * 3 * 2 * 9 + 4 * 2 * 6 * 64, "reorder": 4 * 100 + 2 * 100,
        "batch_normalization": 2 * 2 * 150 + 4 * 2 * 3, "dnnl_primitive_create": 0}


def test_onednn_3(tprof):
    """Version 3 hides its structures: the same is known of its primitives, by what it answers."""
    _, ops = profile(tprof, [WORKLOADS / "onednn3", TIMES], "onednn")
    kinds = ["matmul", "convolution", "convolution_backward_data", "inner_product", "pooling", "eltwise", "sum", "rnn"]
    assert calls(ops) == {**{f"{kind} [mock:any]": TIMES for kind in kinds}, "eltwise [mock:any]": 3 * TIMES,
                          "dnnl_primitive_create": 10}
    by_kind = {name.split(" ")[0]: op for name, op in ops.items()}
    convolution = 2 * (2 * 6 * 8 * 8) * (2 * 3 * 3)
    flop = {kind: by_kind[kind]["flop"] / TIMES for kind in kinds}
    assert flop == {"matmul": 7 * 2 * 16 * 8 * 32, "convolution": convolution, "convolution_backward_data": convolution,
                    "inner_product": 2 * 5 * 20 * 30, "pooling": 3 * 4 * 4 * 2 * 2, "eltwise": 100 + 2 * 25, "sum": 40,
                    "rnn": 0}
    shape = {kind: [shape["shape"] for shape in by_kind[kind]["shapes"]] for kind in kinds}
    [name] = shape["convolution"]
    assert "batch=2 groups=2 ic=4 oc=6" in name and "kh=3 kw=3" in name
    assert "backward" in shape["convolution_backward_data"][0]
    assert len(shape["eltwise"]) == 3 and shape["rnn"] == []
    # Nobody counts what a tanh takes.
    assert by_kind["eltwise"]["flop_uncounted_calls"] == TIMES
    assert by_kind["inner_product"]["flop_in"] == {"double": 2 * 5 * 20 * 30 * TIMES}


def test_onednn_by_itt(tprof):
    """As a library speaks that is linked statically. Where its calls are hooked it is not told twice."""
    itt = {"INTEL_LIBITTNOTIFY64": str(LIBRARY), "OMP_NUM_THREADS": "1"}
    _, ops = profile(tprof, [WORKLOADS / "onednn", TIMES], "itt", env=itt)
    assert calls(ops) == {"matmul": TIMES, "convolution": 2 * TIMES, "inner_product": TIMES}
    assert {op["category"] for op in ops.values()} == {"dnnl::primitive::execute"}
    _, ops = profile(tprof, [WORKLOADS / "onednn", TIMES], "itt,onednn", env=itt)
    assert {op["category"] for op in ops.values()} == {"onednn"}


def test_instrumented_functions(tprof):
    run, ops = profile(tprof, [WORKLOADS / "instrumented", TIMES], "instrument")
    assert calls(ops) == {"main": 1, "leaf": TIMES, "fibonacci": 15 * TIMES, "guarded": TIMES, "jumps": 3 * TIMES}
    assert ops["jumps"]["unwound"] == 3 * TIMES and ops["guarded"]["unwound"] == 0
    assert ops["leaf"]["allocated_bytes"] == 100 * TIMES
    assert report(run.traces()[0])["op_ends_unmatched"] == 0
    _, ops = profile(tprof, [WORKLOADS / "instrumented", TIMES], "blas")
    assert ops == {}


def test_instrumented_functions_in_a_child(tprof):
    """What its parent had begun ends in it too, and is no call of its own."""
    run, _ = profile(tprof, [WORKLOADS / "instrumented", TIMES, "fork"], "instrument")
    summaries = [report(trace) for trace in run.traces()]
    both = {"leaf": TIMES, "fibonacci": 15 * TIMES, "guarded": TIMES, "jumps": 3 * TIMES}
    assert sorted(({op["name"]: op["calls"] for op in summary["ops"]} for summary in summaries), key=len) == \
        [both, {"main": 1, **both}]
    assert [summary["op_ends_unmatched"] for summary in summaries] == [0, 0]


LEFT = WORKLOADS.parents[1] / "tests/workloads/instrumented_left.c"
BUILDS = ["gcc -O0", "gcc -O2", "gcc -O3 -fno-asynchronous-unwind-tables", "clang -O2"]


@pytest.mark.parametrize("build", BUILDS)
def test_instrumented_functions_that_are_left(tprof, tmp_path, build):
    """By longjmp, from any depth; with calls put inline and hooks jumped to: all are counted, and who was left is known."""
    subprocess.run([*build.split(), "-g", "-finstrument-functions", LEFT, "-o", tmp_path / "left"], check=True)
    run, ops = profile(tprof, [tmp_path / "left", 500, 300], "instrument")
    names = ["early", "small", "large", "inlined", "down", "step", "handler", "guard"]
    counted, left = ([int(number) for number in line.split()] for line in run.stdout.decode().splitlines())
    assert [ops[name]["calls"] for name in names] == counted
    assert [ops[name]["unwound"] for name in names] == left and sum(left) > 100
    assert ops["step"]["calls"] == 301 and ops["early"]["calls"] == 1 and ops["main"]["calls"] == 1
    summary = report(run.traces()[0])
    assert summary["op_ends_unmatched"] == summary["capture"]["lost"]["op_depth"] == 0


def test_instrumented_functions_too_deep(tprof, tmp_path):
    """What is not recorded is counted, and what comes behind it is."""
    subprocess.run(["gcc", "-g", "-finstrument-functions", LEFT, "-o", tmp_path / "left"], check=True)
    run, ops = profile(tprof, [tmp_path / "left", 10, 3000], "instrument")
    summary = report(run.traces()[0])
    assert ops["step"]["calls"] < 3001
    assert ops["step"]["calls"] + summary["capture"]["lost"]["op_depth"] == 3001
    assert ops["main"]["calls"] == 1 and summary["op_ends_unmatched"] == 0
    assert "nested deeper" in analyze("summary", run.traces()[0]).stdout


CALLS = """
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static volatile int sink;
APART int c(void) { return sink + getpid(); }
APART int b(void) { return c() + 1; }
APART int a(void) { return b() + 1; }
APART int forks(void) { int child = fork(); if (child) wait(NULL); return child; }
int main(void) { a(); forks(); a(); return 0; }
"""


def test_instrumented_functions_and_hooked_ones(tprof, tmp_path):
    """What tells of functions is none of them; and a child ends none that its parent began."""
    (tmp_path / "calls.c").write_text(CALLS)
    subprocess.run(["gcc", "-O1", "-g", "-finstrument-functions", tmp_path / "calls.c", "-o", tmp_path / "calls"],
                   check=True)
    run, _ = profile(tprof, [tmp_path / "calls"], "instrument,*")
    trees = []
    for trace in run.traces():
        summary = report(trace)
        assert summary["op_ends_unmatched"] == 0
        tree = report(trace, command="ops", options=["--tree", "--top", "0"])["tree"]
        names = {node["id"]: node["name"] for node in tree}
        trees.append({node["name"]: (node["calls"], names.get(node["parent"])) for node in tree})
    inner = {"b": "a", "c": "b", "getpid": "c"}
    assert trees[0] == {"main": (1, None), "a": (2, "main"), **{name: (2, outer) for name, outer in inner.items()},
                        "forks": (1, "main"), "fork": (1, "forks"), "wait": (1, "forks")}
    assert trees[1] == {"a": (1, None), **{name: (1, outer) for name, outer in inner.items()}}


def test_instrumented_functions_with_annotations(tprof):
    """What tprof.h does is no function of the program's: an op lasts as long as its scope does."""
    run, ops = profile(tprof, [WORKLOADS / "annotate-traced", TIMES], "instrument")
    assert calls(ops) == {"main": 1, "step(int)": TIMES, "step": TIMES, "inner": TIMES}
    assert ops["step"]["flop"] == 120 * TIMES and ops["step"]["self_allocated_bytes"] == 1000 * TIMES
    tree = report(run.traces()[0], command="ops", options=["--tree", "--top", "0"])["tree"]
    assert [node["name"] for node in tree] == ["main", "step(int)", "step", "inner"]
    assert [node["parent"] for node in tree] == [None, *(node["id"] for node in tree[:3])]


def test_fftw(tprof):
    _, ops = profile(tprof, [WORKLOADS / "fourier", TIMES], "fftw")
    wanted = {"fftw_execute": TIMES, "fftwf_execute": 1, "fftw_plan_dft_1d": 1, "fftwf_plan_dft_2d": 1}
    assert calls(ops, *wanted) == wanted
    assert all(name.startswith(("fftw_plan", "fftwf_plan")) for name in set(ops) - set(wanted))  # one makes another


def test_xnnpack(tprof):
    _, ops = profile(tprof, [WORKLOADS / "xnnpack", TIMES], "xnnpack")
    assert calls(ops) == {"xnn_run_operator": TIMES, "xnn_create_softmax_nc_f32": 1}


def test_by_name_and_by_table(tprof):
    """MPI, ggml and ONNX Runtime: a library that has their names, signatures and, of the last, its table."""
    _, ops = profile(tprof, [WORKLOADS / "libraries", TIMES])
    assert calls(ops) == {"MPI_Allreduce": TIMES, "MPI_Barrier": TIMES, "ggml_graph_compute": TIMES,
                          "ggml_compute_forward_mul_mat": TIMES, "OrtApi::CreateSession": 1, "OrtApi::Run": TIMES}
    assert ops["OrtApi::CreateSession"]["allocated_bytes"] == 5000
    assert ops["OrtApi::Run"]["allocated_bytes"] == 300 * TIMES and ops["OrtApi::Run"]["category"] == "onnxruntime"
    _, ops = profile(tprof, [WORKLOADS / "libraries", TIMES], "mpi,-MPI_Barrier")
    assert calls(ops) == {"MPI_Allreduce": TIMES}


def test_cuda(tprof):
    """A library that has the names and signatures of CUDA's runtime, driver and libraries, and is content with its arguments,
    up to eight of them on the stack; what only asks for a state is no op."""
    _, ops = profile(tprof, [WORKLOADS / "cuda", TIMES])
    assert calls(ops) == {"cudaMalloc": 1, "cudaFree": 1, "cudaLaunchKernel": 3 * TIMES, "cuLaunchKernel": 3 * TIMES,
                          "cublasSgemm_v2": TIMES, "cudnnConvolutionForward": TIMES, "ncclAllReduce": TIMES,
                          "cudaMemcpyAsync": TIMES, "cudaStreamSynchronize": TIMES}
    assert {op["category"] for op in ops.values()} == {"cuda"}
    assert ops["cublasSgemm_v2"]["self_ns"] < ops["cublasSgemm_v2"]["total_ns"]  # the launch is within
    _, ops = profile(tprof, [WORKLOADS / "cuda", TIMES], "cuda,-cu*Launch*,-nccl*")
    assert set(ops) == {"cudaMalloc", "cudaFree", "cublasSgemm_v2", "cudnnConvolutionForward", "cudaMemcpyAsync",
                        "cudaStreamSynchronize"}


def test_onnxruntime_of_an_older_version(tprof):
    """Its table is shorter: what lies behind it is left alone (the program says what)."""
    run, ops = profile(tprof, [WORKLOADS / "libraries", TIMES], "onnxruntime", env={"MOCK_VERSION": "1.4.1"})
    assert b"behind the table" in run.stdout
    assert calls(ops) == {"OrtApi::CreateSession": 1, "OrtApi::Run": TIMES}


def test_ops_by_address_in_the_dump(tprof):
    run, _ = profile(tprof, [WORKLOADS / "regions", 2], "openmp")
    names = {event["name"] for event in json.loads(analyze("dump", "--json", run.traces()[0]).stdout)["events"]
             if event["kind"] == "op"}
    assert any("_omp_fn" in name for name in names)


@pytest.mark.real
def test_onednn_under_torch(tprof):
    """Every convolution of torch is one of oneDNN's, forward, and two backward, but the first layer's, whose input needs no
    gradient."""
    script = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3))
for i in range(10):
    net(torch.randn(8, 3, 32, 32)).sum().backward()
print(float(sum(p.grad.sum() for p in net.parameters())))
"""
    _, ops = profile(tprof, ["/usr/bin/python3", "-c", script])
    by_kind = {}
    for name, op in ops.items():
        by_kind[name.split(" ")[0]] = by_kind.get(name.split(" ")[0], 0) + op["calls"]
    assert by_kind["aten::mkldnn_convolution"] == by_kind["convolution"] == 20
    assert by_kind["convolution_backward_weights"] == 20 and by_kind["convolution_backward_data"] == 10
    forward = [op for name, op in ops.items() if name.startswith("convolution [")]
    assert sum(op["flop"] for op in forward) == 10 * 2 * 8 * (16 * 32 * 32 * 27 + 32 * 30 * 30 * 16 * 9)
