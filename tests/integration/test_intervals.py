# SPDX-License-Identifier: Apache-2.0
"""
Of 100 runs of a program that works for times drawn from known distributions, the intervals of how many hold the true mean?

The truth is the mean of the distribution, and the program's own clock. A machine that others use makes calls longer than
they were drawn: by how much, that clock says, and the interval is held against the true mean and that. So no load decides
this test: the seeds are fixed, and what is left to the machine is the nanoseconds between two clocks.
"""
import json
import statistics

from conftest import LIBRARY, WORKLOADS, report

RUNS = 100
STEPS = 300
# Covered 95 times in 100, 87 or more hold the truth in 99.96% of all sets of seeds.
FEWEST = 87


def later(drawn, measured, left_out):
    """By how much the calls took longer than they were to, on average, without the first ones."""
    return statistics.fmean(m - d for m, d in zip(measured[left_out:], drawn[left_out:]))


def holds(interval, truth):
    return interval[0] <= truth <= interval[1]


def check_clock(op, said):
    """What was recorded of all calls lies between what was measured within them and around them, but for a clock's drift."""
    recorded = op["total_ns"] + op["total_overhead_ns"]
    assert sum(said["inside"]) * 0.9999 <= recorded <= sum(said["around"]) * 1.0001


def test_real_times_are_covered(tprof):
    covered = {"independent": 0, "alike": 0, "steps": 0}
    for seed in range(1, RUNS + 1):
        run = tprof.run([WORKLOADS / "drawn", seed, STEPS], [LIBRARY], {"TPROF_CPU": "0"})
        said = json.loads(run.stdout)
        answer = report(run.traces()[0])
        assert answer["capture"]["overhead_ns"] < answer["process"]["duration_ns"]
        ops = {op["name"]: op for op in answer["ops"]}
        for name in ("independent", "alike"):
            op = ops[name]
            assert op["calls"] == STEPS
            check_clock(op, said[name])
            truth = said["mean_ns"] + later(said[name]["drawn"], said[name]["inside"], op["warmup_calls"])
            covered[name] += holds(op["ci95_ns"], truth)
        steps = answer["steps"]
        assert steps["count"] == STEPS
        drawn = [a + b for a, b in zip(said["independent"]["drawn"], said["alike"]["drawn"])]
        truth = 2 * said["mean_ns"] + later(drawn, said["steps"], steps["warmup_steps"])
        covered["steps"] += holds(steps["ci95_ns"], truth)
    print(f"of {RUNS} runs the interval holds the truth in: {covered}")
    assert min(covered["independent"], covered["alike"], covered["steps"]) >= FEWEST, covered
