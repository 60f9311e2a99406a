# SPDX-License-Identifier: Apache-2.0
"""export --format chrome: what a strict reader of the trace event format wants, and the numbers of the other reports."""
import collections
import json
import os
import subprocess

from conftest import ANALYZE, LIBRARY, ROOT, WORKLOADS, analyze, report

STEPS = 20


def export(*arguments):
    return json.loads(analyze("export", "--format", "chrome", *arguments).stdout)


def check(trace):
    """The rules of the format: keys, types, ends that match begins, no time that runs backwards on a thread or a counter. Returns
    the ops as (pid, thread, path of names, begin, end, arguments of the end)."""
    assert set(trace) == {"displayTimeUnit", "traceEvents", "otherData"} and trace["displayTimeUnit"] == "ns"
    stacks, last, ops, shown, counted = collections.defaultdict(list), {}, [], {}, {}
    threads, processes = set(), set()
    for event in trace["traceEvents"]:
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and event["ts"] >= 0
        key = (event["pid"], event["tid"])
        if event["ph"] in "BE":
            assert event["ts"] >= last.get(key, 0), "time runs backwards"
            last[key] = event["ts"]
        if event["ph"] == "B":
            assert isinstance(event["name"], str) and isinstance(event["cat"], str)
            assert key in threads and event["pid"] in processes, "a row without a name"
            stacks[key].append((event["name"], event["ts"]))
        elif event["ph"] == "E":
            path = tuple(name for name, _ in stacks[key])
            assert event["name"] == path[-1], "viewers that go by names would end another op"
            ops.append((*key, path, stacks[key].pop()[1], event["ts"], event.get("args", {})))
        elif event["ph"] == "M":
            (threads if event["name"] == "thread_name" else processes).add(
                key if event["name"] == "thread_name" else event["pid"])
            assert set(event["args"]) <= {"name", "sort_index"}
        elif event["ph"] == "C":
            assert list(event["args"]) == ["bytes"] and event["args"]["bytes"] >= 0
            counter = (event["pid"], event["name"])
            assert event["ts"] >= counted.get(counter, 0), "time runs backwards on a counter"
            counted[counter] = event["ts"]
        elif event["ph"] == "X":
            assert event["dur"] >= 0 and event["tid"] == 0
            assert event["ts"] >= shown.get(key, 0), "steps overlap, as a viewer adds them up"
            shown[key] = event["ts"] + event["dur"]
        else:
            assert event["ph"] == "i" and event["s"] == "p"
    assert not any(stacks.values()), "an op without an end"
    return ops


def of(trace, phase):
    return [event for event in trace["traceEvents"] if event["ph"] == phase]


def run_ops(tprof, steps=STEPS):
    return tprof.run([WORKLOADS / "ops", steps], [LIBRARY]).traces()[0]


def test_ops_steps_marks(tprof):
    file = run_ops(tprof)
    trace, summary = export(file), report(file)
    ops = check(trace)
    calls = collections.Counter(path for _, _, path, *_ in ops)
    assert calls[("forward",)] == STEPS and calls[("forward", "layer")] == 2 * STEPS
    assert calls[("backward",) * 3] == STEPS and calls[("load",)] == STEPS
    layers = [op for op in ops if op[2][-1] == "layer"]
    assert collections.Counter(op[5]["shape"] for op in layers) == {"2x3": STEPS, "4x5": STEPS}
    assert all(op[5]["flop"] == 120 and op[5]["bytes"] == 64 for op in layers)
    assert [op[2] for op in ops if op[5].get("still open")] == [("shutdown",)]
    # Times are the clock's: what the report took out is in them.
    took = sum(op[4] - op[3] for op in layers) * 1000
    layer = next(op for op in summary["ops"] if op["name"] == "layer")
    assert abs(took - layer["total_ns"] - layer["total_overhead_ns"]) < 2 * STEPS * 2 + 1

    steps = report(file, command="steps")["steps"]["list"]
    shown = of(trace, "X")
    assert [(s["name"], s["args"]["items"]) for s in shown] == [(f"step {i + 1}", 32) for i in range(STEPS)]
    assert all(abs(s["dur"] * 1000 - t["time_ns"]) < 2 for s, t in zip(shown, steps))
    assert [mark["name"] for mark in of(trace, "i")] == ["done"]
    names = {event["args"]["name"] for event in of(trace, "M") if event["name"] == "thread_name"}
    assert any(name.startswith("loader ") for name in names) and "steps" in names


def test_memory_counters(tprof):
    file = run_ops(tprof)
    trace, summary = export(file), report(file)
    live = [event["args"]["bytes"] for event in of(trace, "C") if event["name"] == "live bytes"]
    assert max(live) == summary["heap"]["peak_bytes"] and live[-1] == summary["heap"]["end_bytes"]
    assert any(event["name"] == "RSS" and event["args"]["bytes"] > 0 for event in of(trace, "C"))


def test_part_of_the_run(tprof):
    file = run_ops(tprof)
    trace = export("--from", "10ms", "--to", "20ms", file)
    ops = check(trace)
    assert ops and len(ops) < 7 * STEPS
    times = [event["ts"] for event in trace["traceEvents"] if event["ph"] in "BEC"]
    assert min(times) >= 10000 and max(times) <= 20000
    whole = export(file)
    inside = [e for e in of(whole, "B") if 10000 <= e["ts"] <= 20000]
    cut = sum(1 for e in of(trace, "B") if e["ts"] == 10000.0)
    assert len(of(trace, "B")) == len(inside) + cut
    assert {op[1] for op in check(export("--thread", "2", file))} == {2}


def test_limit(tprof):
    file = run_ops(tprof)
    done = analyze("export", "--format", "chrome", "--limit", "25", file)
    trace = json.loads(done.stdout)
    check(trace)
    assert len(of(trace, "B")) == 25 and trace["otherData"]["truncated"] is True
    assert "--limit" in done.stderr
    assert export(file)["otherData"]["truncated"] is False


def test_several_processes(tprof):
    run = tprof.run(["sh", "-c", f"{WORKLOADS}/ops 3; {WORKLOADS}/ops 4"], [LIBRARY])
    trace = export(*run.traces())
    ops = check(trace)
    by_pid = collections.Counter(op[0] for op in ops if op[2] == ("forward",))
    assert sorted(by_pid.values()) == [3, 4]
    assert len({event["pid"] for event in of(trace, "M") if event["name"] == "process_name"}) == len(run.traces())


def peak_memory(file, output):
    process = subprocess.Popen([ANALYZE, "export", "--format", "chrome", "-o", output, file])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return usage.ru_maxrss * 1024


MANY = """
#include <stdlib.h>
#include <tprof.h>
int main(int argc, char **argv)
{
	long i, n = argc > 1 ? atol(argv[1]) : 0;
	for (i = 0; i < n; i++) {
		tprof_op_begin(i % 2 ? "odd" : "even", "layer");
		tprof_op_detail("2x2", 8, 16);
		tprof_op_end();
	}
	return 0;
}
"""


def test_memory_does_not_grow_with_the_trace(tprof, tmp_path):
    (tmp_path / "many.c").write_text(MANY)
    subprocess.run(["gcc", "-O1", f"-I{ROOT}/include", tmp_path / "many.c", "-o", tmp_path / "many"], check=True)
    small = tprof.run([tmp_path / "many", 100], [LIBRARY]).traces()[0]
    large = tprof.run([tmp_path / "many", 200000], [LIBRARY]).traces()[0]
    assert large.stat().st_size > 10 * small.stat().st_size
    before, after = peak_memory(small, tmp_path / "small"), peak_memory(large, tmp_path / "large")
    assert (tmp_path / "large").stat().st_size > 10 << 20
    assert after < before + (1 << 20)
    check(json.loads((tmp_path / "large").read_text()))
