# SPDX-License-Identifier: Apache-2.0
"""Ops of torch models, forward and backward: as many calls of each as torch's own profiler counts in the same run."""
import json
import re

import pytest

from conftest import LIBRARY, PYTHON, ROOT, analyze, installed, nothing_lost, report

pytestmark = pytest.mark.real
BETWEEN = ["--top", "0", "--from", "mark:begin", "--to", "mark:end"]


def profile(tprof, model, **env):
    run = tprof.run([PYTHON, ROOT / "tests/workloads/torch_ops.py", model], [LIBRARY],
                    {"TPROF_OPS": "torch", "OMP_WAIT_POLICY": "passive", **env}, timeout=600)
    assert run.status == 0, run.stderr.decode(errors="replace")
    nothing_lost(report(run.traces()[0]))
    return run


@pytest.mark.parametrize("model,least,least_of_2", [("mlp", 400, 390), ("cnn", 400, 400), ("transformer", 5000, 3000)])
def test_calls_are_those_of_torchs_profiler(tprof, model, least, least_of_2):
    """Every single one: these models run no TorchScript, whose top-level ops go past all PLTs, and tensors are made by
    calls within libtorch that its PLT sees. The profiler knows ops without their overloads, torch's own
    registry with them: each op's name is that of a schema."""
    run = profile(tprof, model)
    truth = run.truth()
    counts = {}
    for op in report(run.traces()[0], command="ops", options=BETWEEN)["ops"]:
        if op["name"].startswith("aten::"):
            name = truth["schemas"][op["name"]]
            counts[name] = counts.get(name, 0) + op["calls"]
    assert counts == truth["counts"]
    assert sum(counts.values()) > (least if installed("torch") < (2,) else least_of_2)


def test_names_are_the_same_everywhere(tprof):
    """In reports, in what is exported, by rules, and against a trace that is read where libtorch is not."""
    trace = profile(tprof, "mlp", TPROF_ALLOC="off", TPROF_CPU="0").traces()[0]
    ops = {op["name"]: op["calls"] for op in report(trace, command="ops", options=["--top", "0"])["ops"]}
    assert {"aten::addmm", "aten::add_.Tensor", "aten::sum.dim_IntList", "aten::randint.low"} <= set(ops), sorted(ops)
    assert "aten::randint_low" not in ops
    one = report(trace, command="ops", options=["--filter", r"^aten::randint\.low$"])["ops"]
    assert [op["name"] for op in one] == ["aten::randint.low"]
    events = json.loads(analyze("export", "--format", "chrome", trace).stdout)["traceEvents"]
    assert {event["name"] for event in events if event.get("cat") == "torch"} == set(ops)
    elsewhere = trace.with_name("elsewhere.bin")
    elsewhere.write_bytes(re.sub(rb"/[!-~](?=[!-~]+/libtorch_cpu\.so)", b"/?", trace.read_bytes()))
    others = {op["name"]: op["calls"] for op in report(elsewhere, command="ops", options=["--top", "0"])["ops"]}
    assert "aten::randint_low" in others and "aten::addmm" in others
    assert sorted(others.values()) == sorted(ops.values())
    both = report(trace, command="diff", options=["--top", "0", "--baseline", elsewhere])["ops"]
    assert all(op["verdict"] not in ("new", "gone") for op in both) and len(both) == len(ops)
    second = profile(tprof, "mlp", TPROF_ALLOC="off", TPROF_CPU="0").traces()[0]
    variant, = report(second, elsewhere, command="compare", options=["--top", "0"])["variants"]
    assert {op["name"]: op["calls"] for op in variant["ops"]} == {name: 2 * calls for name, calls in ops.items()}
    for name in "aten::randint.low", "aten::randint_low":
        analyze("check", "--baseline", elsewhere, "--max-regress", f"op:{name}=50%", trace)


def test_a_backward_is_one_execution_of_the_engine(tprof):
    run = profile(tprof, "mlp", TPROF_STEP="torch::autograd::Engine::execute")
    ops = {op["name"]: op for op in report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]}
    assert ops["torch::autograd::Engine::execute"]["calls"] == 4  # one to warm up
    assert report(run.traces()[0])["steps"]["count"] == 4


def test_work_of_the_kernels(tprof):
    """What BLAS was asked for below torch: each linear layer's products, forward and backward (2 m n k)."""
    run = profile(tprof, "mlp", TPROF_OPS="torch,blas")
    ops = {op["name"]: op for op in report(run.traces()[0], command="ops", options=BETWEEN)["ops"]}
    layers = 64 * 32 + 32 * 10
    forward = 3 * 2 * 16 * layers
    assert ops["aten::linear"]["flop"] == forward
    # Backward: both layers' weights, and the gradient of the second one's input; the first one's has none.
    assert ops["sgemm"]["flop"] == forward + forward + 3 * 2 * 16 * 32 * 10


RAISES = """
import torch
a, model = torch.zeros(3, 4), torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
for _ in range(20):
    try:
        torch.mm(a, a)
    except RuntimeError:
        pass
    model(a)
"""


def test_operators_that_raise(tprof):
    """What comes after an exception is within none of the operators that it left, however deep in Python that is called."""
    run = tprof.run([PYTHON, "-c", RAISES], [LIBRARY], {"TPROF_OPS": "torch"})
    assert run.status == 0, run.stderr.decode(errors="replace")
    tree = report(run.traces()[0], command="ops", options=["--tree", "--top", "0"])["tree"]
    left = next(node for node in tree if node["name"] == "aten::mm")
    assert (left["calls"], left["parent"]) == (20, None)
    assert not [node["name"] for node in tree if node["parent"] == left["id"]]
    assert {node["name"]: (node["calls"], node["parent"]) for node in tree}["aten::linear"] == (40, None)
    ops = report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]
    assert {op["name"]: op["unwound"] for op in ops if op["unwound"]} == {"aten::mm": 20}
