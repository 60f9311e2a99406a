# SPDX-License-Identifier: Apache-2.0
"""
A real ONNX Runtime, where there is one (make check-real and check-onnxruntime fetch it): its table of functions, reached
by dlsym from C, and through Node.js's addon, which is linked with it. The counts are the programs'.
"""
import random
import shutil
import struct

import pytest

from conftest import BUILD, ROOT, WORKLOADS, nothing_lost, report, sites

TIMES = 6
PACKAGE = BUILD.parent / "onnxruntime/node_modules/onnxruntime-node"
RUNTIME = PACKAGE / "bin/napi-v6/linux/x64/libonnxruntime.so.1"

pytestmark = [pytest.mark.real,
              pytest.mark.skipif(not RUNTIME.exists(), reason="no ONNX Runtime is here: make check-onnxruntime")]


# ---- a model, in the encoding of protocol buffers that ONNX has ----

def number(field, value):
    return varint(field << 3) + varint(value)


def varint(value):
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def data(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def value_info(name, *shape):
    dimensions = b"".join(data(1, number(1, size)) for size in shape)
    return data(1, name) + data(2, data(1, number(1, 1) + data(2, dimensions)))


def weights(name, rows, columns, numbers):
    raw = b"".join(struct.pack("<f", numbers.uniform(-1, 1)) for _ in range(rows * columns))
    return number(1, rows) + number(1, columns) + number(2, 1) + data(8, name) + data(9, raw)


def node(kind, inputs, output):
    return b"".join(data(1, name) for name in inputs) + data(2, output) + data(4, kind)


def write_model(path):
    """y = tanh(x w1) w2"""
    numbers = random.Random(4)
    nodes = [node("MatMul", ["x", "w1"], "a"), node("Tanh", ["a"], "b"), node("MatMul", ["b", "w2"], "y")]
    graph = b"".join(data(1, one) for one in nodes) + data(2, "two layers")
    graph += data(5, weights("w1", 256, 512, numbers)) + data(5, weights("w2", 512, 10, numbers))
    graph += data(11, value_info("x", 256, 256)) + data(12, value_info("y", 256, 10))
    path.write_bytes(number(1, 8) + data(7, graph) + data(8, data(1, "") + number(2, 13)))


@pytest.fixture
def model(tmp_path):
    write_model(tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def profile(tprof, command):
    """The same output with and without; the run, its summary, and the operators by name."""
    run, summary = tprof.summary(command, env={"TPROF_OPS": "onnxruntime"})
    nothing_lost(summary)
    ops = report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]
    return run, summary, {op["name"]: op for op in ops}


def test_the_table(tprof, model):
    run, summary, ops = profile(tprof, [WORKLOADS / "onnxruntime", RUNTIME, model, TIMES])
    assert len(run.stdout.split()) == TIMES
    assert {name: op["calls"] for name, op in ops.items()} == {
        "OrtApi::CreateSession": 1, "OrtApi::Run": TIMES, "OrtApi::RunWithBinding": TIMES, "OrtApi::RunAsync (enqueueing)": TIMES,
        "OrtApi::CreateAllocator": 1, "OrtApi::CreateTensorAsOrtValue": 1,
        "OrtApi::AllocatorAlloc": 2 * TIMES, "OrtApi::AllocatorFree": 2 * TIMES}
    assert {op["category"] for op in ops.values()} == {"onnxruntime"}
    assert summary["heap"]["unmatched_frees"] == 0
    (hooked,) = summary["capture"]["hooks"]["modules"]
    assert hooked["module"].endswith("/libonnxruntime.so.1")
    assert hooked["pointers"] == summary["capture"]["hooks"]["slots"] == len(ops) + 3  # other ways to make a session
    # The default allocator's blocks are malloc's, and count once: those asked for by the table are the op's.
    mine = [site for site in sites(run.traces()[0], "hotspots", "--by", "op") if site["op"] == "OrtApi::AllocatorAlloc"]
    assert 10000 * TIMES <= sum(site["bytes"] for site in mine) < 10000 * TIMES * 1.1
    assert ops["OrtApi::CreateSession"]["allocated_bytes"] > 4 * 512 * (256 + 10)  # the weights, at least


def test_a_session_without_an_arena(tprof, model):
    """As tprof(1) says: each run has its tensors, which an arena's blocks hide once they are there."""
    command, tensors = [WORKLOADS / "onnxruntime", RUNTIME, model, TIMES], 4 * 256 * (512 + 10)
    arena, _, within = profile(tprof, command)
    run, _, ops = profile(tprof, [*command, "apart"])
    assert run.stdout == arena.stdout
    for name in ("OrtApi::Run", "OrtApi::RunWithBinding"):
        assert tensors <= ops[name]["peak_bytes"] < 1.1 * tensors, name
        assert 0.95 * TIMES * tensors < ops[name]["allocated_bytes"] < 1.1 * TIMES * tensors, name  # a bound output stays
    assert within["OrtApi::RunWithBinding"]["allocated_bytes"] < tensors / 10


@pytest.mark.skipif(not shutil.which("node"), reason="no Node.js is here")
def test_node(tprof, model):
    run, _, ops = profile(tprof, ["node", ROOT / "tests/workloads/onnxruntime.js", PACKAGE, model, TIMES])
    assert len(run.stdout.split()) == TIMES
    assert {name: op["calls"] for name, op in ops.items()} == {"OrtApi::CreateSession": 1, "OrtApi::Run": TIMES}
