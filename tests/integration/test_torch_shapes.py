# SPDX-License-Identifier: Apache-2.0
"""Shapes of torch's operators, read from their tensors without torch's headers: those that its own profiler records."""
import collections
import re
import subprocess

import pytest

from conftest import ANALYZE, LIBRARY, PYTHON, ROOT, nothing_lost, report

pytestmark = pytest.mark.real
BETWEEN = ["--top", "0", "--from", "mark:begin", "--to", "mark:end"]
# Not read: a symbol does not tell where the tensor is that comes behind an optional list of sizes.
UNREAD = {"aten::sum.IntList_out"}


def traced(tprof, script, *arguments, **env):
    run = tprof.run([PYTHON, ROOT / "tests/workloads" / script, *arguments], [LIBRARY],
                    {"TPROF_OPS": "torch", "OMP_WAIT_POLICY": "passive", **env}, timeout=600)
    assert run.status == 0, run.stderr.decode(errors="replace")
    nothing_lost(report(run.traces()[0]))
    return run


def sizes_of(shape):
    """What the profiler has of "64x32, (2x3, 2x3), (), - f32": of no list, of a tensor without dimensions nothing."""
    plain = re.sub(r" (?:[a-z]+[0-9]*)(?=,|$|\))", "", re.sub(r"\([^()]+\)", "", shape))
    return tuple(tuple(int(size) for size in part.strip().split("x")) for part in plain.split(",")
                 if part.strip() not in ("", "()", "-"))


@pytest.mark.parametrize("model", ["mlp", "cnn", "transformer"])
def test_shapes_are_those_of_torchs_profiler(tprof, model):
    """The same calls with the same sizes, forward and backward. The profiler has an empty list for what is no tensor, for a
    tensor without dimensions and for a list of tensors: these are compared in the test below."""
    run = traced(tprof, "torch_ops.py", model)
    truth = run.truth()
    unread = {truth["schemas"][name] for name in UNREAD}
    expected, found = collections.Counter(), collections.Counter()
    for name, sizes, calls in truth["shapes"]:
        expected[name, tuple(tuple(size) for size in sizes if size)] += calls
    for op in report(run.traces()[0], command="ops", options=BETWEEN)["ops"]:
        if not op["name"].startswith("aten::"):
            continue
        name, left = truth["schemas"][op["name"]], op["calls"]
        for shape in op.get("shapes", ()):
            found[name, sizes_of(shape["shape"])] += shape["calls"]
            left -= shape["calls"]
        found[name, ()] += left
        assert op["name"] not in UNREAD or left == op["calls"]
    differing = {key: (expected[key], found[key]) for key in expected | found if expected[key] != found[key]}
    assert {name for name, _ in differing} <= unread, differing
    with_sizes = sum(calls for (_, sizes), calls in found.items() if sizes)
    assert with_sizes > 0.6 * sum(found.values())


def test_tensors_of_all_kinds(tprof):
    run = traced(tprof, "torch_shapes.py")
    ops = {op["name"]: {shape["shape"]: shape["calls"] for shape in op.get("shapes", ())}
           for op in report(run.traces()[0], command="ops", options=BETWEEN)["ops"]}
    assert ops["aten::exp"] == {"6x4 f32": 4, "2x3 f32": 4, "7x4 f32": 4, "() f32": 4, "2x1x3x1x2x5 f32": 4,
                                "1x2x3x2x5 f32": 4, "0x3 f64": 4, "2 bf16": 4}
    assert ops["aten::mul.Tensor"] == {"4x6 f32, 6 s64": 4}
    assert ops["aten::index_select"]["4x6 f32, 2 s64"] == 4
    assert ops["aten::cat"] == {"(4x6, 2x6) f32": 4, "(2x1x3x1x2x5, 2x1x3x1x2x5, 2x1x3x1x2x5) f32": 4}
    assert ops["aten::stack"] == {"(2x1x3x1x2x5, 2x1x3x1x2x5, 2x1x3x1x2x5) f32": 4}
    assert ops["aten::linear"] == {"4x6, 3x6, - f32": 4, "4x6, 3x6, 3 f32": 4}
    assert ops["aten::batch_norm"] == {"4x6, -, -, 6, 6 f32": 4}
    assert ops["aten::maximum.out"] == {"4x6, 4x6, 4x6 f32": 4}
    assert ops["aten::relu_"] == {"4x6 f32": 4}
    assert ops["aten::equal"] == {"4x6, 4x6 f32": 3}  # of its first call it was learned that it returns no tensor
    assert ops["aten::_sparse_mm"] == {"-, 4x6 f32": 4}


def test_more_shapes_than_the_first_tables_hold(tprof):
    """Each with all its calls, though several threads meet it first at once, while the table that keeps them grows."""
    threads, sizes = 4, 3000
    run = traced(tprof, "torch_many_shapes.py", threads, sizes, TPROF_ALLOC="off", TPROF_PYTHON="0")
    dump = subprocess.run([ANALYZE, "dump", run.traces()[0]], capture_output=True, check=True, text=True).stdout
    calls = collections.Counter(re.findall(r"op begins +aten::neg +(\d+) f32$", dump, re.M))
    missing = {size: 2 * threads - calls[str(size)] for size in range(2, sizes) if calls[str(size)] != 2 * threads}
    # Those that were under way when it was learned where the tensor is have none.
    assert sum(missing.values()) <= threads and all(0 < count < threads for count in missing.values()), missing
