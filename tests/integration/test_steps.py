# SPDX-License-Identifier: Apache-2.0
"""Steps that nobody marked: found in the calls of a real trainer, or not at all."""
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
    assert report(trace)["steps"]["source"] is None  # a summary does not look for them


def test_marked_by_the_program(tprof):
    trace = tprof.run([WORKLOADS / "ops", 30], [LIBRARY]).traces()[0]
    steps = steps_of(trace)
    assert steps["source"] == "marked" and steps["count"] == 30 and steps["confidence"] is None
    assert steps["items_per_s"] == pytest.approx(32e9 / steps["mean_ns"], rel=0.001)
    assert steps["warmup_steps"] >= 1
    assert {op["name"] for op in steps["ops"]} >= {"layer", "backward", "forward"}


def test_admitted_where_there_are_none(tprof):
    trace = tprof.run([WORKLOADS / "steady", 1000], [LIBRARY]).traces()[0]
    steps = steps_of(trace)
    assert (steps["source"], steps["count"], steps["ends_with_op"]) == (None, 0, None)
    assert "no step is in the trace" in analyze("steps", trace).stdout


@pytest.mark.real
def test_a_backward_pass_ends_a_step(tprof):
    run = tprof.run([PYTHON, ROOT / "tests/workloads/torch_train.py"], [LIBRARY], timeout=300)
    steps = steps_of(run.traces()[0])
    assert steps["source"] == "autograd" and steps["count"] == 80
    assert steps["ends_with_op"] == "torch::autograd::Engine::execute"
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
    late = 80_000_000
    trace = tprof.run([WORKLOADS / "outliers"], [LIBRARY], {"TPROF_CPU": "0"}).traces()[0]
    slow = {step["step"]: step for step in steps_of(trace)["outliers"]}
    op, faults, other, sleep, memory = (slow[step] for step in (30, 45, 60, 75, 90))
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
    said = {int(line.split()[0]): line for line in text.splitlines() if line.split() and line.split()[0] in "30 45 60 75 90".split()}
    assert set(said) == {30, 45, 60, 75, 90}
    for step, words in {30: "seldom +", 60: "CPU time of other threads +", 75: "not running +", 90: "live memory +"}.items():
        assert words in said[step], said[step]
    # Page faults are named if they explain a part of the time that the step ran: on a busy machine it may have waited more.
    # What the words are asks a unit test, and of which step that would be, the JSON.
    late_ns, waited = faults["time_ns"] - steps_of(trace)["mean_ns"], max(faults["more_waited_ns"], 0)
    assert ("page faults +" in said[45]) == (faults["more_minor_faults"] > (late_ns / 10 - waited / 10) / 500)
