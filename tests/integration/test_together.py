# SPDX-License-Identifier: Apache-2.0
"""What processes held together: at each moment those that live then, and none that has ended."""
import time

import pytest
from conftest import WORKLOADS, analyze, report
from test_diff import diff, sides

MB = 1000000
PEAKS = {"turns": 10, "overlap": 45, "orphan": 30, "killed": 30, "together": 50, "exec": 30}
TRIFLES = MB // 2  # what libc and the program's start hold beside


def profiled(tprof, how):
    run = tprof.profile([WORKLOADS / "shifts", how])
    while how == "orphan" and not (run.directory / "orphan").exists():
        time.sleep(0.01)  # the child outlives what was waited for
    return run.traces()


def held_at(points, time_ns):
    """A point's values hold until the next one."""
    return next((p["live_bytes"] for p in reversed(points) if p["time_ns"] <= time_ns), 0)


@pytest.mark.parametrize("how", PEAKS)
def test_an_ended_process_holds_nothing(tprof, how):
    traces, most = profiled(tprof, how), PEAKS[how] * MB
    together = report(*traces, command="timeline")["combined"]
    points = together["timeline"]["points"]
    assert most <= together["peak_bytes"] <= most + TRIFLES
    assert sum(p["bytes"] for p in together["peak_processes"]) == together["peak_bytes"]
    assert max(p["live_bytes"] for p in points) == together["peak_bytes"]
    assert held_at(points, together["peak_time_ns"]) == together["peak_bytes"]
    analyze("check", "--max-peak", most + TRIFLES, *traces)
    analyze("check", "--max-peak", most - 1, *traces, status=1)
    totals = {total["name"]: total for total in diff(*sides(traces, traces))["totals"]}
    assert totals["peak"]["old"] == together["peak_bytes"]


def test_mapped_and_resident_memory_end_with_the_process(tprof):
    """The parent, alone at the end, has little; ten workers' values must not be among it."""
    together = report(*profiled(tprof, "turns"), command="timeline")["combined"]
    points = together["timeline"]["points"]
    assert points[-1]["live_bytes"] < TRIFLES
    assert points[-1]["rss_bytes"] < 2 * max(p["rss_bytes"] for p in points) / 3
    assert points[-1]["mapped_bytes"] <= max(p["mapped_bytes"] for p in points)


def test_a_peak_does_not_last_through_quiet_time(tprof):
    run = tprof.profile([WORKLOADS / "spike"])
    whole = report(*run.traces(), command="timeline")
    points, marks = whole["timeline"]["points"], {m["text"]: m["time_ns"] for m in whole["timeline"]["marks"]}
    peak = whole["heap"]["peak_time_ns"]
    assert held_at(points, peak) == whole["heap"]["peak_bytes"] >= 100 * MB
    begin, end = marks["quiet"] + whole["process"]["duration_ns"] // 20, marks["over"]
    assert begin < end
    assert held_at(points, begin) < MB
    assert all(p["live_bytes"] < MB for p in points if begin <= p["time_ns"])
