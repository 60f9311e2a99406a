# SPDX-License-Identifier: Apache-2.0
"""Annotated ops and steps: counts, nesting and bytes are exact, times are those of the program's own clock."""
import json

from conftest import LIBRARY, ROOT, WORKLOADS, analyze, nothing_lost, report, sites

STEPS = 40


def profile(tprof):
    run, summary = tprof.summary([WORKLOADS / "ops", STEPS])
    nothing_lost(summary)
    return run, summary, {op["name"]: op for op in summary["ops"]}


def test_counts_and_memory(tprof):
    _, summary, ops = profile(tprof)
    calls = {name: op["calls"] for name, op in ops.items()}
    assert calls == {"forward": STEPS, "layer": 2 * STEPS, "backward": 3 * STEPS, "load": STEPS, "errno": 1,
                     "shutdown": 0}
    assert ops["shutdown"]["open"] == 1
    assert summary["op_ends_unmatched"] == 1
    assert summary["capture"]["op_events"] == 2 * sum(calls.values()) + 2
    assert {op["unwound"] for op in ops.values()} == {0}
    assert ops["layer"]["category"] == "layer"

    allocated = {name: (op["allocated_bytes"], op["self_allocated_bytes"], op["net_bytes"], op["peak_bytes"])
                 for name, op in ops.items()}
    assert allocated["layer"] == (200000 * STEPS, 200000 * STEPS, 0, 100000)
    assert allocated["forward"] == (201000 * STEPS, 1000 * STEPS, 1000 * STEPS, 101000)
    assert allocated["backward"] == (30 * STEPS, 30 * STEPS, 0, 30)
    assert allocated["load"] == (50000 * STEPS, 50000 * STEPS, 0, 50000)
    assert (ops["layer"]["flop"], ops["layer"]["bytes"]) == (240 * STEPS, 128 * STEPS)
    shapes = {shape["shape"]: (shape["calls"], shape["flop"]) for shape in ops["layer"]["shapes"]}
    assert shapes == {"2x3": (STEPS, 120 * STEPS), "4x5": (STEPS, 120 * STEPS)}


def test_times(tprof):
    run, summary, ops = profile(tprof)
    truth = run.truth()
    forward, layer, backward = ops["forward"], ops["layer"], ops["backward"]
    # The program reads its clock outside of the annotations, so what it saw is more; how much, the machine decides.
    assert 0.5 * truth["forward_ns"] < forward["total_ns"] <= 1.01 * truth["forward_ns"]
    assert forward["total_ns"] == forward["self_ns"] + layer["total_ns"]
    assert layer["min_ns"] >= 495000 and layer["total_ns"] == layer["self_ns"]
    assert backward["total_ns"] == backward["self_ns"] >= 297000 * STEPS
    for op in (forward, layer, backward):
        assert op["min_ns"] <= op["p50_ns"] <= op["p90_ns"] <= op["p99_ns"] <= op["max_ns"]
        assert op["ci95_ns"][0] <= op["mean_ns"] <= op["ci95_ns"][1]
    steps = summary["steps"]
    assert steps["count"] == STEPS and steps["items"] == 32 * STEPS and [site["bytes_per_step"] for site in steps["growth"]] == [1000]
    assert steps["mean_ns"] * (STEPS - 1) <= 1.01 * truth["steps_ns"]
    assert steps["mean_ns"] > 1290000


def test_steps_one_by_one(tprof):
    run, _, _ = profile(tprof)
    steps = report(run.traces()[0], command="steps")["steps"]["list"]
    assert [step["step"] for step in steps] == list(range(1, STEPS + 1))
    assert sum(step["time_ns"] for step in steps[1:]) > 1290000 * (STEPS - 1)
    assert all(step["high_bytes"] >= 100000 for step in steps)
    assert "steps of" in analyze("steps", run.traces()[0]).stdout


def test_sites_know_their_op(tprof):
    run, summary, _ = profile(tprof)
    trace = run.traces()[0]
    by_op = {site["op"]: site["bytes"] for site in sites(trace, "leaks", "--by", "op")}
    assert by_op["forward"] == 1000 * STEPS
    assert not {"layer", "load", "backward"} & set(by_op)
    by_op = {site["op"]: site["allocations"] for site in sites(trace, "hotspots", "--by", "op")}
    assert (by_op["layer"], by_op["backward"], by_op["load"]) == (2 * STEPS, 3 * STEPS, STEPS)
    by_step = {site["step"]: site["blocks"] for site in sites(trace, "leaks", "--by", "step")}
    assert set(by_step) == set(range(1, STEPS + 1))
    assert {by_step[step] for step in range(2, STEPS + 1)} == {1}
    unfreed = summary["heap"]["unfreed_sites"]
    assert (unfreed[0]["step"], unfreed[0]["first_step"], unfreed[0]["last_step"]) == (None, 1, STEPS)
    calloc = next(s for s in unfreed if s["bytes"] == 8 * (STEPS + 1))
    assert calloc["step"] == 1  # made before the first step ended
    assert unfreed[0]["op"] == "forward" and unfreed[0]["bytes"] == 1000 * STEPS


def test_tree_of_calls(tprof):
    run, _, ops = profile(tprof)
    tree = report(run.traces()[0], command="ops", options=["--tree", "--top", "0"])["tree"]
    by_id = {node["id"]: node for node in tree}

    def path(node):
        above = path(by_id[node["parent"]]) if node["parent"] is not None else ()
        return (*above, node["name"])

    nodes = {path(node): node for node in tree}
    calls = {names: node["calls"] for names, node in nodes.items()}
    assert calls == {("forward",): STEPS, ("forward", "layer"): 2 * STEPS, ("backward",): STEPS,
                     ("backward",) * 2: STEPS, ("backward",) * 3: STEPS, ("load",): STEPS, ("errno",): 1}
    assert nodes[("forward",)]["total_ns"] == ops["forward"]["total_ns"]
    assert nodes[("forward", "layer")]["flop"] == nodes[("forward",)]["flop"] == 240 * STEPS
    assert nodes[("forward",)]["self_flop"] == 0 and ops["forward"]["flop"] == 240 * STEPS
    assert nodes[("forward", "layer")]["self_allocated_bytes"] == 200000 * STEPS
    assert sum(node["self_ns"] for node in tree) == sum(op["self_ns"] for op in ops.values())
    text = analyze("ops", "--tree", run.traces()[0]).stdout
    assert "  forward\n" in text and "    layer\n" in text


def test_layers(tprof):
    run, _, ops = profile(tprof)
    layers = {row["layer"]: row for row in
              report(run.traces()[0], command="ops", options=["--by", "layer"])["layers"]}
    assert set(layers) == {"layer", None}
    assert layers["layer"]["own_ns"] == layers["layer"]["total_ns"] == ops["layer"]["total_ns"]
    assert layers["layer"]["own_flop"] == 240 * STEPS
    assert layers["layer"]["own_allocated_bytes"] == 200000 * STEPS
    assert layers[None]["own_allocated_bytes"] == (1000 + 30 + 50000) * STEPS
    assert "(ops in no layer)" in analyze("ops", "--by", "layer", run.traces()[0]).stdout


def test_cost_is_shown(tprof):
    """What recording cost is taken out, and said: op times and cost together are what the clock said."""
    _, summary, ops = profile(tprof)
    for op in ("forward", "layer", "backward"):
        assert 0 < ops[op]["self_overhead_ns"] <= ops[op]["total_overhead_ns"] < summary["capture"]["overhead_ns"] * 10
        assert ops[op]["warmup_calls"] >= 1
    assert ops["layer"]["freed_bytes"] == ops["layer"]["allocated_bytes"]
    assert ops["layer"]["self_allocations"] == 2 * STEPS


def test_reports_in_text(tprof):
    run, _, _ = profile(tprof)
    trace = run.traces()[0]
    text = analyze("ops", "--shapes", "--sort", "calls", trace).stdout
    assert "Shapes of layer" in text and "ends of ops have no begin" in text
    assert text.index("backward") < text.index("forward")
    assert "Which operators took the time" in analyze("summary", "--full", trace).stdout
    dump = json.loads(analyze("dump", "--json", trace).stdout)["events"]
    kinds = [event["kind"] for event in dump]
    assert kinds.count("op") == 7 * STEPS + 2 and kinds.count("step") == STEPS
    assert [event["text"] for event in dump if event["kind"] == "mark"] == ["done"]


def test_without_the_collector(tprof):
    """The header costs nothing to link, and changes nothing: profile() compares with a bare run; TPROF_ALLOC=off too."""
    bare = tprof.run([WORKLOADS / "ops", 3])
    assert (bare.status, bare.stdout, bare.stderr, bare.traces()) == (0, b"done\n", b"", [])
    quiet = tprof.run([WORKLOADS / "ops", 3], [LIBRARY], {"TPROF_ALLOC": "off"})
    assert quiet.status == 0
    ops = {op["name"]: op for op in report(quiet.traces()[0])["ops"]}
    assert ops["layer"]["calls"] == 6 and ops["layer"]["allocated_bytes"] == 0


def test_processes_together(tprof):
    run = tprof.run(["sh", "-c", f"{WORKLOADS}/ops 5 & {WORKLOADS}/ops 7; wait"], [LIBRARY])
    for command in ("ops", "steps", "summary"):
        answer = report(*run.traces(), command=command)
        together = {op["name"]: op for op in answer["combined"]["ops"]}
        apart = [{op["name"]: op for op in process["ops"]} for process in answer["processes"]]
        for key in ("calls", "total_ns", "self_ns", "allocated_bytes", "flop", "self_overhead_ns"):
            for name in ("forward", "layer", "backward", "load"):
                assert together[name][key] == sum(ops[name][key] for ops in apart if name in ops)
        assert together["forward"]["calls"] == 12
        assert together["layer"]["max_ns"] == max(ops["layer"]["max_ns"] for ops in apart if "layer" in ops)
        assert {s["shape"]: s["calls"] for s in together["layer"]["shapes"]} == {"2x3": 12 - 2, "4x5": 12 + 2}
        steps = answer["combined"]["steps"]
        assert (steps["processes"], steps["count"], steps["items"]) == (2, 12, 12 * 32)
    text = analyze("ops", *run.traces()).stdout
    assert "processes together" in text and "Steps of all processes together" in text


def test_hooks_are_in_no_stack(tprof):
    """What an op allocates, and where the CPU was in it: below the op stands who called it, not what it is called through."""
    run = tprof.run([WORKLOADS / "digits", ROOT / "tests/workloads/data/digits.csv"], [LIBRARY], {"OPENBLAS_NUM_THREADS": "2"})
    trace = run.traces()[0]
    assert report(trace)["capture"]["hooks"]["slots"] > 0
    stacks = [[frame["function"] for frame in site["stack"]]
              for command in ("peak", "hotspots") for site in sites(trace, command)]
    of_sgemm = [stack for stack in stacks if "cblas_sgemm" in stack[:-1]]
    assert of_sgemm and {stack[stack.index("cblas_sgemm") + 1] for stack in of_sgemm} <= {"layer_forward", "train_step"}
    assert not [stack for stack in stacks if any((name or "").startswith("tpc_") for name in stack)]
