# SPDX-License-Identifier: Apache-2.0
"""Memory by layer: each byte belongs to the innermost layer that its thread was in, and counts for those around it too."""
import collections
import json
import re
import subprocess

import pytest
from conftest import BUILD, LIBRARY, PYTHON, ROOT, analyze, report, sites

PROGRAMS = ROOT / "tests/workloads"
PROGRAM = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <tprof.h>
#include <unistd.h>

static void *kept[16];
static int count;

static void keep(size_t size)
{
	kept[count++] = malloc(size);
}

static void attention(size_t size)
{
	tprof_op_begin("attention", "layer");
	keep(size);
	tprof_op_end();
}

static void encoder(void)
{
	tprof_op_begin("encoder", "layer");
	keep(20000);
	free(malloc(12345));
	tprof_op_begin("product", "kernel"); /* no layer: what it allocates is the encoder's */
	keep(5000);
	tprof_op_end();
	attention(400000);
	tprof_op_begin("encoder", "layer"); /* in itself */
	keep(60000);
	tprof_op_end();
	tprof_op_end();
}

static void model(size_t size)
{
	tprof_op_begin("pass", ""); /* no layer */
	keep(70);
	tprof_op_begin("model", "layer");
	keep(1000);
	encoder();
	tprof_op_begin("decoder", "layer");
	keep(size);
	attention(8000000);
	tprof_op_end();
	tprof_op_end();
	tprof_op_end();
}

int main(void)
{
	keep(7);
	if (fork() == 0) {
		model(500);
		_exit(0);
	}
	wait(NULL);
	model(3000000);
	for (int i = 1; i < count; i++)
		free(kept[i]);
	return 0;
}
"""
# By hand: their own bytes at the peak, and with the layers within.
MODEL = {None: (77, 77), "model": (1000, 11486000), "encoder": (85000, 485000), "attention": (8400000, 8400000),
         "decoder": (3000000, 11000000)}


@pytest.fixture(name="traces")
def fixture_traces(tprof):
    program = tprof.directory / "layers.c"
    program.write_text(PROGRAM)
    subprocess.run(["gcc", f"-I{ROOT}/include", program, "-o", tprof.directory / "layers"], check=True)
    traces = tprof.run([tprof.directory / "layers"], [LIBRARY]).traces()
    assert len(traces) == 2
    return sorted(traces, key=lambda trace: report(trace)["process"]["end"] != "exit")


def test_peak_by_layer(traces):
    peak = report(traces[0], command="peak", options=["--by", "layer"])
    rows = {row["layer"]: (row["bytes"], row["total_bytes"]) for row in peak["peak"]["sites"]}
    assert rows == MODEL
    assert peak["peak"]["by"] == "layer" and peak["heap"]["peak_bytes"] == 11486077
    blocks = {row["layer"]: (row["blocks"], row["total_blocks"]) for row in peak["peak"]["sites"]}
    assert blocks == {None: (2, 2), "model": (1, 7), "encoder": (3, 4), "attention": (2, 2), "decoder": (1, 2)}
    text = analyze("peak", "--by", "layer", "--exact", traces[0]).stdout
    table = re.findall(r"^ +([0-9,]+) B +[0-9.<]+% +[0-9]+ +([0-9,]+) B +[0-9.<]+%  (.*)$", text, re.M)
    assert {name: tuple(int(cell.replace(",", "")) for cell in cells) for *cells, name in table} == \
        {name or "(in no layer)": numbers for name, numbers in MODEL.items()}


def test_other_questions(traces):
    rows = {row["layer"]: (row["allocations"], row["temporary"], row["total_allocations"])
            for row in sites(traces[0], "hotspots", "--by", "layer")}
    assert rows == {None: (2, 0, 2), "model": (1, 0, 8), "encoder": (4, 1, 5), "attention": (2, 0, 2), "decoder": (1, 0, 2)}
    rows = {row["layer"]: (row["bytes"], row["total_bytes"])
            for row in sites(traces[0], "peak", "--by", "layer", "--filter", "^attention$")}
    assert rows == {"attention": (8400000, 8400000), "encoder": (0, 400000), "decoder": (0, 8000000), "model": (0, 8400000)}
    assert [(row["layer"], row["bytes"]) for row in sites(traces[0], "leaks", "--by", "layer")] == [(None, 7)]


def test_processes(traces):
    """Unfreed in both: the child freed nothing, and ended in no layer."""
    both = json.loads(analyze("leaks", "--by", "layer", "--json", *traces).stdout)
    child = dict(MODEL, decoder=(500, 8000500), model=(1000, 8486500))
    child[None] = (70 + 7, 70 + 7)  # the seven are the parent's
    rows = {row["layer"]: (row["bytes"], row["total_bytes"]) for row in both["combined"]["unfreed"]["sites"]}
    assert rows == child
    peaks = json.loads(analyze("peak", "--by", "layer", "--json", *traces).stdout)["processes"]
    for process in peaks:
        assert sum(row["bytes"] for row in process["peak"]["sites"]) == process["heap"]["peak_bytes"] > 8000000


TORCH = """
import sys
sys.path.insert(0, sys.argv[1])
import torch, tprof
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(20, 3000), torch.nn.ReLU(), torch.nn.Linear(3000, 2))
tprof.watch(model)
with torch.no_grad():
    for _ in range(3):
        model(torch.ones(1000, 20))
"""


@pytest.mark.real
def test_torch(tprof):
    run = tprof.run([PYTHON, "-c", TORCH, BUILD / "share/tprof"], [LIBRARY])
    assert (run.status, run.stderr) == (0, b"")
    peak = report(run.traces()[0], command="peak", options=["--by", "layer", "--top", "0"])
    rows = {row["layer"]: row for row in peak["peak"]["sites"]}
    assert {None, "Sequential", "0", "1"} <= set(rows) <= {None, "Sequential", "0", "1", "2"}
    assert sum(row["bytes"] for row in rows.values()) == peak["heap"]["peak_bytes"] == peak["peak"]["bytes"]
    assert sum(row["blocks"] for row in rows.values()) == peak["heap"]["peak_blocks"] == peak["peak"]["blocks"]
    assert rows["Sequential"]["total_bytes"] == sum(row["bytes"] for name, row in rows.items() if name)
    # What goes in and what comes out of the ReLU, both of floats, are both there at the peak.
    for name in ("0", "1"):
        assert 12000000 <= rows[name]["bytes"] < 13000000, (name, rows[name])


def tree_of(trace):
    ops = report(trace, command="ops", options=["--tree", "--top", "0"])
    assert ops["op_ends_unmatched"] == 0
    return {node["id"]: node for node in ops["tree"]}


def layer_of(tree, node):
    """The innermost layer's name that a node of the tree is in."""
    while node and node["category"] != "layer":
        node = tree.get(node["parent"])
    return node and node["name"]


def layers_program(tprof, what):
    run = tprof.run([PYTHON, PROGRAMS / "torch_layers.py", what, BUILD / "share/tprof"], [LIBRARY], timeout=600)
    assert (run.status, run.stdout) == (0, b"good\n"), run.stderr
    return run.traces()[0]


@pytest.mark.real
@pytest.mark.parametrize("what, least", [("random_models", 8000), ("other_hooks", 8000), ("threads", 500)])
def test_backward_is_in_the_layer_that_made_it(tprof, what, least):
    """Modules in modules, in rows, beside each other, around themselves, called twice, in checkpoints, in place; what they
    return in tuples, lists, dictionaries, dataclasses; a graph that runs twice. The gradients are the same to the bit."""
    tree = tree_of(layers_program(tprof, what))
    calls = {}
    for node in tree.values():
        if node["name"].startswith("in "):
            right = layer_of(tree, node) == node["name"][3:] + " (backward)"
            calls[right] = calls.get(right, 0) + node["calls"]
    assert list(calls) == [True] and calls[True] > least, calls


@pytest.mark.real
def test_work_of_backward(tprof, monkeypatch):
    """Products of m x k by k x n: 2mkn forward, as much for the weights' gradient, and for the input's, where it has one."""
    trace = layers_program(tprof, "flops")
    layers = {row["layer"]: row for row in report(trace, command="ops", options=["--by", "layer", "--top", "0"])["layers"]}
    tree, products = tree_of(trace), collections.Counter()
    for node in tree.values():
        products[layer_of(tree, node)] += node["self_flop"] * (node["category"] == "blas")
    for name, inner, outer, backward in (("first", 30, 50, 1), ("inner.second", 50, 70, 2), ("inner.third", 70, 110, 2),
                                         ("last", 110, 20, 2)):
        once = 3 * 2 * 17 * inner * outer
        assert (products[name], products[name + " (backward)"]) == (once, backward * once), name
        assert layers[name]["own_flop"] == products[name]
        # The second and the third gradients of weights and bias are added to what is there.
        assert layers[name + " (backward)"]["own_flop"] - products[name + " (backward)"] == 2 * (inner + 1) * outer, name
    for name, row in layers.items():
        assert not name or row["calls"] == 3, row
    assert layers["inner (backward)"]["flop"] == sum(layers[f"inner.{name} (backward)"]["flop"] for name in ("second", "third", "two"))
    assert layers["inner.third (backward)"]["own_allocated_bytes"] >= 3 * 4 * 70 * 110  # its weight's gradient
    monkeypatch.setenv("COLUMNS", "150")
    text = analyze("ops", "--by", "layer", "--top", "0", trace).stdout
    assert re.search(r"  inner\.third \(backward\)$", text, re.M)


@pytest.mark.real
def test_exceptions_in_layers(tprof):
    """Behind one, in a backward pass or a forward one, no layer is left open."""
    tree = tree_of(layers_program(tprof, "failures"))
    seen = {}
    for node in tree.values():
        if node["name"].split()[0] in ("try", "behind", "in", "after"):
            assert layer_of(tree, node) is None, node["name"]
            seen[node["name"]] = seen.get(node["name"], 0) + node["calls"]
    assert seen == {f"{what} {where}": 3 for what in ("try", "behind", "in except", "after") for where in ("backward", "forward")}


@pytest.mark.real
@pytest.mark.parametrize("what", ["others", "memory", "several"])
def test_programs_do_not_notice_watch(tprof, what):
    """What the program itself checks: results, its own hooks, copies and files of models and tensors, scripts; what lives how
    long; watches that end in any order."""
    trace = layers_program(tprof, what)
    if what == "several":
        tree = tree_of(trace)
        assert [layer_of(tree, node) for node in tree.values() if node["name"] == "after several"] == [None]


ENDING = """
import sys
sys.path.insert(0, sys.argv[1])
import torch, tprof
class Negative(torch.nn.Module):
    def forward(self, x):
        return -x
model = torch.nn.Sequential(Negative(), Negative())
watch = tprof.watch(model)
loss = model(torch.ones(4, requires_grad=True)).sum()
loss.backward()
"""


@pytest.mark.real
def test_models_that_go_with_the_interpreter(tprof):
    """A class of the program's own is in a circle with its module, and taken down after torch."""
    run = tprof.run([PYTHON, "-c", ENDING, BUILD / "share/tprof"], [LIBRARY])
    assert (run.status, run.stdout, run.stderr) == (0, b"", b"")


@pytest.mark.real
def test_watch_without_the_collector(tprof):
    run = tprof.run([PYTHON, PROGRAMS / "torch_layers.py", "idle", BUILD / "share/tprof"], timeout=600)
    assert (run.status, run.stdout, run.stderr, run.traces()) == (0, b"good\n", b"", [])


PLAIN = """
import sys
sys.path.insert(0, sys.argv[1])
import tprof

class Block:
    def forward(self):
        with tprof.op("work"):
            return [bytes(1000) for _ in range(100)]

for _ in range(10):
    Block().forward()
"""


def test_how_to_get_layers(tprof):
    """Where a trace has none, it is said; a command that is named for the time without works as it stands there."""
    trace = tprof.run([PYTHON, "-I", "-c", PLAIN, BUILD / "share/tprof"], [LIBRARY]).traces()[0]
    text = analyze("ops", "--by", "layer", trace).stdout
    assert "(ops in no layer)" in text and "No layer is in the trace" in text and "tprof.watch(model)" in text
    [command] = [line.split() for line in text.splitlines() if line.lstrip().startswith("tprof-analyze hotspots")]
    assert "Block.forward" in analyze(*(word.strip("'") for word in command[1:])).stdout
    native = tprof.profile([BUILD.parents[0] / "workloads/ops"]).traces()[0]
    layers = {row["layer"] for row in report(native, command="ops", options=["--by", "layer"])["layers"]}
    assert ("No layer is in the trace" in analyze("ops", "--by", "layer", native).stdout) == (layers == {None})
