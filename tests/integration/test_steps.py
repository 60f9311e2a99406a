# SPDX-License-Identifier: Apache-2.0
"""Steps that nobody marked: found in the calls of a real trainer, or not at all."""
import re

import pytest

from conftest import LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, report

DIGITS = ROOT / "tests/workloads/data/digits.csv"


def steps_of(trace):
    return report(trace, command="steps")["steps"]


def test_found_by_the_period_of_the_ops(tprof):
    """The demo trains 3,000 steps, and evaluates a few times in between: its BLAS calls say so."""
    trace = tprof.run([WORKLOADS / "digits", DIGITS], [LIBRARY], {"TPROF_OPS": "blas"}).traces()[0]
    steps = steps_of(trace)
    assert steps["source"] == "period" and abs(steps["count"] - 3000) <= 2
    assert steps["ends_with_op"] == "cblas_sgemm" and 0.9 < steps["confidence"] <= 1
    assert {op["name"] for op in steps["ops"]} >= {"cblas_sgemm"}
    text = analyze("steps", trace).stdout
    assert "found by the period of its ops" in text and "Time in a step, by op" in text
    assert report(trace)["steps"]["source"] == "period"  # so that the first page tells leaks by the step
    middle = report(trace, command="steps", options=["--from", "step:1001", "--to", "step:2000"])["steps"]
    assert (middle["source"], middle["count"]) == ("period", 1000)
    wrong = analyze("ops", "--to", "step:9000", trace, status=2).stderr
    assert wrong.strip() == (f"tprof-analyze: --to step:9000: the trace has {steps['count']} steps, "
                             "found by the period of its ops")


def test_marked_by_the_program(tprof):
    trace = tprof.run([WORKLOADS / "ops", 30], [LIBRARY]).traces()[0]
    steps = steps_of(trace)
    assert steps["source"] == "marked" and steps["count"] == 30 and steps["confidence"] is None
    assert steps["items_per_s"] == pytest.approx(32e9 / steps["mean_ns"], rel=0.001)
    assert steps["warmup_steps"] >= 1
    assert {op["name"] for op in steps["ops"]} >= {"layer", "backward", "forward"}


def test_order_and_number_in_json(tprof):
    """--sort and --top mean in JSON what they mean in text; without them all steps stand there, one after another."""
    trace = tprof.run([WORKLOADS / "ops", 30], [LIBRARY]).traces()[0]

    def listed(*options):
        return report(trace, command="steps", options=options)["steps"]["list"]

    steps = listed()
    assert [step["step"] for step in steps] == list(range(1, 31))
    for sort, key in (("time", "time_ns"), ("high", "high_bytes"), ("growth", "net_bytes")):
        found = listed("--sort", sort)
        assert [step[key] for step in found] == sorted((step[key] for step in steps), reverse=True)
        assert sorted(found, key=lambda step: step["step"]) == steps
        assert listed("--sort", sort, "--top", "4") == found[:4]
    assert listed("--sort", "step") == steps and listed("--top", "0") == steps and listed("--top", "3") == steps[:3]


def test_admitted_where_there_are_none(tprof):
    trace = tprof.run([WORKLOADS / "steady", 1000], [LIBRARY]).traces()[0]
    steps = steps_of(trace)
    assert (steps["source"], steps["count"], steps["ends_with_op"]) == (None, 0, None)
    assert "no step is in the trace" in analyze("steps", trace).stdout


@pytest.mark.parametrize("count", [40, 9000])
def test_from_and_to_a_step(tprof, count):
    """At a step's end is live what the program says, also where the list of steps puts neighbours together."""
    run = tprof.run([WORKLOADS / "step_ends", count], [LIBRARY], {"TPROF_CPU": "0"})
    trace, ends = run.traces()[0], run.truth()
    assert len(ends) == count and len(set(map(tuple, ends))) > count / 2
    for step in (1, 2, 17, count // 2, count - 1, count):
        heap = report(trace, options=["--to", f"step:{step}"])["heap"]
        assert [heap["allocations"], heap["end_bytes"]] == ends[step - 1], step
    listed, live = report(trace, command="steps")["steps"]["list"], 0
    for step in listed:  # of many steps an element stands for several
        end = ends[step["step"] + step["steps"] - 2][1]
        assert step["net_bytes"] == end - live and step["high_bytes"] >= end
        live = end
    assert sum(step["steps"] for step in listed) == count
    for first, last in ((1, 1), (2, 2), (5, 30), (count - 3, count)):
        part = report(trace, options=["--from", f"step:{first}", "--to", f"step:{last}"])
        before = ends[first - 2][0] if first > 1 else 0
        assert part["heap"]["allocations"] == ends[last - 1][0] - before, (first, last)
        assert part["steps"]["count"] == last - first + 1
    whole = report(trace)["heap"]["allocations"]
    after = report(trace, options=["--from", f"step:{count + 1}"])  # it began, and did not end
    assert after["heap"]["allocations"] == whole - ends[-1][0] and after["steps"]["count"] == 0


def test_from_and_to_in_every_command(tprof):
    trace = tprof.run([WORKLOADS / "step_ends", 40], [LIBRARY]).traces()[0]
    part = ["--from", "step:10", "--to", "step:12"]
    for command in ("summary", "peak", "leaks", "hotspots", "ops", "steps", "threads", "timeline", "lines", "flamegraph", "export",
                    "dump"):
        assert analyze(command, *part, trace).stdout != analyze(command, trace).stdout, command
    assert report(trace, command="steps", options=part)["steps"]["count"] == 3
    events = report(trace, command="dump", options=["--top", "0", *part])["events"]
    assert [event["kind"] for event in events].count("step") == 3 and events[-1]["kind"] == "step"


def test_steps_that_are_not_there(tprof):
    trace = tprof.run([WORKLOADS / "step_ends", 40], [LIBRARY]).traces()[0]
    bare = tprof.run([WORKLOADS / "steady", 100], [LIBRARY]).traces()[0]

    def wrong(trace, *options):
        return analyze("peak", *options, trace, status=2).stderr.strip().removeprefix("tprof-analyze: ")

    assert wrong(trace, "--to", "step:41") == "--to step:41: the trace has 40 steps"
    assert wrong(trace, "--from", "step:900", "--to", "step:3") == "--from step:900: the trace has 40 steps"
    assert wrong(trace, "--from", "step:4", "--to", "step:3") == "--to must be later than --from"
    for value in ("step:0", "step:", "step:two", "step:-1"):
        assert wrong(trace, "--from", value) == f"--from {value}: the number of a step is wanted, 1 or more"
    for option in ("--from", "--to"):
        assert wrong(bare, option, "step:1") == (f"{option} step:1: no step is in the trace, and its ops have no period: "
                                                 "mark their ends with tprof_step()")
    assert "none of the traces" in wrong(trace, "--process", "1", "--to", "step:3")


def test_the_first_process_to_get_there(tprof):
    """One after the other: what the first says, but for steps that only the second has, or with --process."""
    one_run = {"TPROF_CPU": "0", "TPROF_RUN": "00000000000000aa"}
    runs = [tprof.run([WORKLOADS / "step_ends", count], [LIBRARY], one_run) for count in (40, 80)]
    traces, ends = [run.traces()[0] for run in runs], [run.truth() for run in runs]
    pids = [report(trace)["process"]["pid"] for trace in traces]

    def at(*options):
        answer = report(*traces[::-1], options=options)
        return {one["process"]["pid"]: one["heap"]["allocations"] for one in answer["processes"]}

    assert at("--to", "step:10") == {pids[0]: ends[0][9][0], pids[1]: 0}
    assert at("--to", "step:60")[pids[1]] == ends[1][59][0]
    own = report(*traces, options=["--process", pids[1], "--to", "step:10"])["heap"]
    assert [own["allocations"], own["end_bytes"]] == ends[1][9]
    assert "has 80 steps" in analyze("peak", "--to", "step:81", *traces, status=2).stderr
    assert "has 40 steps" in analyze("peak", "--process", pids[0], "--to", "step:60", *traces, status=2).stderr


@pytest.mark.real
def test_a_backward_pass_ends_a_step(tprof):
    run = tprof.run([PYTHON, ROOT / "tests/workloads/torch_train.py"], [LIBRARY], timeout=300)
    steps = steps_of(run.traces()[0])
    assert steps["source"] == "autograd" and steps["count"] == 80
    assert steps["ends_with_op"] == "torch::autograd::Engine::execute"
    half = report(run.traces()[0], command="steps", options=["--from", "step:41"])["steps"]
    assert (half["source"], half["count"]) == ("autograd", 40)
    tree = report(run.traces()[0], command="ops", options=["--tree", "--top", "0"])["tree"]
    ids = {node["id"]: node for node in tree}
    linear = [node for node in tree if node["name"] == "aten::linear" and node["parent"] is None][0]
    addmm = [node for node in tree if node["parent"] == linear["id"] and node["name"] == "aten::addmm"][0]
    sgemm = [node for node in tree if node["parent"] == addmm["id"] and node["name"].startswith("sgemm")]
    assert sgemm and ids[sgemm[0]["id"]]["calls"] == linear["calls"] == 162
    # Work is done in the gemm, and shown by all that called it: 80 batches of 64 and the last of 512 rows, two layers.
    flop = 2 * (80 * 64 + 512) * (32 * 64 + 64 * 2)
    assert sgemm[0]["flop"] == addmm["flop"] == linear["flop"] == flop and linear["self_flop"] == 0


def test_what_was_different_in_slow_steps(tprof):
    """Five steps take long, each for a reason of its own: an op, page faults, another thread, sleep, memory that is kept."""
    run = tprof.run([WORKLOADS / "outliers"], [LIBRARY], {"TPROF_CPU": "0"}, timeout=600)
    trace, late = run.traces()[0], run.truth()["late_ns"]
    slow = {step["step"]: step for step in steps_of(trace)["outliers"]}
    op, faults, other, sleep, memory = (slow[step] for step in (380, 384, 388, 392, 396))
    for step in (op, faults, other, sleep, memory):
        assert step["time_ns"] >= late
        # Differences are against the mean of 400 steps, the five among them: little is missing of what was planted.
        assert (step["more_minor_faults"] > 19_000) == (step is faults)
        assert (step["more_other_threads_cpu_ns"] > late * 0.9) == (step is other)
        assert (step["more_waited_ns"] > late * 0.9 and step["more_process_cpu_ns"] < late * 0.5) == (step is sleep)
        assert (step["more_allocations"] > 4_900) == (step is memory)
        assert (step["more_live_bytes"] > 4_900 * 8192) == (step is memory)
        assert any(more["name"] == "seldom" and more["self_ns"] > late * 0.9 for more in step["more_in_ops"]) == (step is op)
    assert other["more_waits"] >= 1 and sleep["more_waits"] >= 1
    text = analyze("steps", trace).stdout.partition("what was different")[2]
    rows = [(int(line.split()[0]), line) for line in text.splitlines() if re.match(r" *(380|384|388|392|396) ", line)]
    said = dict(reversed(rows))  # the first of each: a later table may have a row of 392 us
    assert set(said) == {380, 384, 388, 392, 396}
    for step, words in {380: "seldom +", 388: "CPU time of other threads +", 392: "not running +", 396: "live memory +"}.items():
        assert words in said[step], said[step]
    # Page faults are named if they explain a part of the time that the step ran: on a busy machine it may have waited more.
    # What the words are asks a unit test, and of which step that would be, the JSON.
    late_ns, waited = faults["time_ns"] - steps_of(trace)["mean_ns"], max(faults["more_waited_ns"], 0)
    assert ("page faults +" in said[384]) == (faults["more_minor_faults"] > (late_ns / 10 - waited / 10) / 500)
