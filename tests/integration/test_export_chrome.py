# SPDX-License-Identifier: Apache-2.0
"""export --format chrome: what a strict reader of the trace event format wants, and the numbers of the other reports."""
import collections
import json
import subprocess

from conftest import ANALYZE, LIBRARY, ROOT, WORKLOADS, analyze, peak_rss, report

STEPS = 20


def export(*arguments):
    return json.loads(analyze("export", "--format", "chrome", *arguments).stdout)


def nest(events):
    """Of one row: (event, path of names). As viewers do it: by time, the longer one first, with sums in floating point."""
    stack, nested = [], []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while stack and stack[-1]["ts"] + stack[-1]["dur"] <= event["ts"]:
            stack.pop()
        assert not stack or event["ts"] + event["dur"] <= stack[-1]["ts"] + stack[-1]["dur"], "ops overlap"
        stack.append(event)
        nested.append((event, tuple(outer["name"] for outer in stack)))
    return nested


def check(trace):
    """The rules of the format: keys, types, what nests does not overlap, no time that runs backwards on a counter. Each op is one
    complete event, so that no viewer can miss its begin or its end. Returns the ops as (pid, thread, path of names, begin, end,
    arguments)."""
    assert set(trace) == {"displayTimeUnit", "traceEvents", "otherData"} and trace["displayTimeUnit"] == "ns"
    spans, counted = collections.defaultdict(list), {}
    threads, processes = set(), set()
    for event in trace["traceEvents"]:
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and event["ts"] >= 0
        key = (event["pid"], event["tid"])
        if event["ph"] == "M":
            (threads if event["name"] == "thread_name" else processes).add(
                key if event["name"] == "thread_name" else event["pid"])
            assert set(event["args"]) <= {"name", "sort_index"}
        elif event["ph"] == "C":
            assert list(event["args"]) == ["bytes"] and event["args"]["bytes"] >= 0
            counter = (event["pid"], event["name"])
            assert event["ts"] >= counted.get(counter, 0), "time runs backwards on a counter"
            counted[counter] = event["ts"]
        elif event["ph"] == "X":
            assert isinstance(event["name"], str) and isinstance(event["cat"], str) and event["dur"] >= 0
            assert key in threads and event["pid"] in processes, "a row without a name"
            spans[key].append(event)
        else:
            assert event["ph"] == "i" and (event["cat"], event["s"]) in (("mark", "p"), ("folded", "t"))
            assert event["cat"] == "mark" or key in threads, "a row without a name"
    nested = [(key, event, path) for key, events in spans.items() for event, path in nest(events)]
    assert all(len(path) == 1 for (_, tid), _, path in nested if tid == 0), "steps overlap"
    return [(*key, path, event["ts"], event["ts"] + event["dur"], event.get("args", {}))
            for key, event, path in nested if key[1] != 0]


def of(trace, phase):
    return [event for event in trace["traceEvents"] if event["ph"] == phase]


def ops_of(trace):
    return [event for event in of(trace, "X") if event["tid"] != 0]


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
    shown = [event for event in of(trace, "X") if event["tid"] == 0]
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
    whole = export(file)
    begins = sorted(op["ts"] for op in ops_of(whole))
    low, high = (int(begins[len(begins) * third // 3]) for third in (1, 2))  # microseconds
    trace = export("--from", f"{low}us", "--to", f"{high}us", file)
    ops = check(trace)
    assert ops and len(ops) < 7 * STEPS
    times = [time for event in trace["traceEvents"] if event["ph"] in "XC" for time in (event["ts"], event["ts"] + event.get("dur", 0))]
    assert min(times) >= low and max(times) <= high + 0.001
    inside = [e for e in ops_of(whole) if low <= e["ts"] <= high]
    cut = sum(1 for e in ops_of(whole) if e["ts"] < low < e["ts"] + e["dur"])
    assert len(ops_of(trace)) == len(inside) + cut
    assert {op[1] for op in check(export("--thread", "2", file))} == {2}


QUIET = """
#include <stdlib.h>
#include <time.h>
#include <tprof.h>
int main(void)
{
	struct timespec pause = { 0, 200000000 };
	void *volatile block = malloc(123457);

	tprof_op_begin("outer", "layer");
	tprof_mark("asleep");
	nanosleep(&pause, NULL);
	free(block);
	tprof_op_end();
	return 0;
}
"""


def counters_of(trace, name="live bytes"):
    return [(event["ts"], event["args"]["bytes"]) for event in of(trace, "C") if event["name"] == name]


def test_a_part_begins_and_ends_with_what_is(tprof):
    """Counters and open ops stand at both ends, with what the state at that time is."""
    file = run_ops(tprof)
    counters = counters_of(export("--from", "10ms", "--to", "20ms", file))
    live = [report(file, options=["--to", at])["heap"]["end_bytes"] for at in ("10ms", "20ms")]
    assert counters[0] == (10000.0, live[0]) and counters[-1] == (20000.0, live[1])
    assert counters_of(export("--to", "10ms", file))[-1] == (10000.0, live[0])


def test_a_part_without_an_event(tprof, tmp_path):
    (tmp_path / "quiet.c").write_text(QUIET)
    subprocess.run(["gcc", "-fno-builtin", f"-I{ROOT}/include", tmp_path / "quiet.c", "-o", tmp_path / "quiet"], check=True)
    file = tprof.run([tmp_path / "quiet"], [LIBRARY], {"TPROF_CPU": "0"}).traces()[0]
    (mark,) = report(file, command="timeline")["timeline"]["marks"]
    begin, end = mark["time_ns"] + 50_000_000, mark["time_ns"] + 150_000_000
    trace = export("--from", f"{begin}ns", "--to", f"{end}ns", file)
    (op,) = check(trace)
    assert op[2] == ("outer",) and op[5]["still open"]
    assert abs(op[3] * 1000 - begin) < 1 and abs(op[4] * 1000 - end) < 1
    live = report(file, options=["--to", f"{end}ns"])["heap"]["end_bytes"]
    assert live >= 123457
    assert counters_of(trace) == [(begin / 1000, live), (end / 1000, live)]
    late = export("--from", "1h", file)
    assert not of(late, "C") and not of(late, "X"), "the process had ended"


def test_limit(tprof):
    file = run_ops(tprof)
    done = analyze("export", "--format", "chrome", "--limit", "25", file)
    trace = json.loads(done.stdout)
    check(trace)
    assert len(ops_of(trace)) == 25 and trace["otherData"]["truncated"] is True
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
    return peak_rss([ANALYZE, "export", "--format", "chrome", "-o", output, file])


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


OPEN = """
#include <time.h>
#include <tprof.h>
int main(void)
{
	struct timespec pause = { 0, 1000003 };
	int i;
	for (i = 0; i < 100; i++) {
		tprof_op_begin("outer", "layer");
		nanosleep(&pause, NULL);
	}
	return 0;
}
"""


def test_ends_at_one_instant_stay_nested(tprof, tmp_path):
    (tmp_path / "open.c").write_text(OPEN)
    subprocess.run(["gcc", "-O1", f"-I{ROOT}/include", tmp_path / "open.c", "-o", tmp_path / "open"], check=True)
    ops = check(export(tprof.run([tmp_path / "open"], [LIBRARY]).traces()[0]))
    assert [len(op[2]) for op in ops] == list(range(1, 101))
    assert all(abs(op[4] - ops[0][4]) < 0.0011 for op in ops), "they end together, to a hundredth of a nanosecond a level"


def test_folded_calls(tprof):
    """Of those nobody knows when each was: no call is missing, and their times are those of the report."""
    file = tprof.run([WORKLOADS / "hot", "plain", 30000, 10], [LIBRARY], {"TPROF_OPS": "cblas_saxpy", "TPROF_CPU": "0"}).traces()[0]
    (op,) = report(file, command="ops", options=["--top", "0"])["ops"]
    trace = export(file)
    single = [op for op in check(trace) if op[2][-1] == "cblas_saxpy"]
    records = [event for event in of(trace, "i") if event["cat"] == "folded"]
    assert {event["name"] for event in records} == {"cblas_saxpy"}
    told = [event["args"] for event in records]
    assert sum(args["calls"] for args in told) == trace["otherData"]["folded_calls"] == op["folded"] > 20000
    assert sum(args["calls"] - args["timed"] for args in told) == op["untimed"]
    assert len(single) + op["folded"] == op["calls"] == 30000
    assert all(args["min_ns"] * args["timed"] <= args["timed_ns"] <= args["max_ns"] * args["timed"]
               for args in told if args["timed"])
    assert export("--to", "1us", file)["otherData"]["folded_calls"] == 0
