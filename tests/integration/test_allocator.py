# SPDX-License-Identifier: Apache-2.0
"""What jemalloc says of itself, held against what the program heard from it at the same moments."""
import pytest
from conftest import LIBRARY, WORKLOADS, allocator_library, analyze, report

NUMBERS = ("allocated", "active", "metadata", "resident", "mapped", "retained")
QUIET = {"TPROF_CPU": "0"}


def told(run):
    """By step, the program's own."""
    lines = [[int(word) for word in line.split()] for line in run.stdout.decode().splitlines()]
    return [dict(zip(NUMBERS, line[1:])) for line in lines]


def recorded(trace):
    """What the trace has right before a step's end, by step; and behind the last step."""
    events = [e for e in report(trace, command="dump")["events"] if e["kind"] not in ("memory", "usage", "region", "name")]
    ends, before, steps = {}, None, 0
    for event in events:
        if event["kind"] == "step":
            if before and before["kind"] == "allocator":
                ends[steps] = {key: before[key] for key in NUMBERS}
            steps += 1
        before = event
    assert before["kind"] == "allocator"
    return ends, {key: before[key] for key in NUMBERS}, [e for e in events if e["kind"] == "allocator"]


@pytest.mark.parametrize("holes", [1, 8])
def test_numbers_are_the_programs_own(tprof, holes):
    run = tprof.run([WORKLOADS / "jemalloc_stats", 200, holes], [LIBRARY], QUIET)
    assert run.status == 0, run.stderr
    truth, trace = told(run), run.traces()[0]
    ends, last, all_of_them = recorded(trace)
    assert len(ends) >= 3
    for step, numbers in ends.items():
        assert numbers == truth[step], step
    assert last == truth[-1]

    heap = report(trace)["heap"]["allocator"]
    assert heap["name"] == "jemalloc" and heap["samples"] == len(all_of_them)
    assert {key: heap["end"][f"{key}_bytes"] for key in NUMBERS} == last
    assert heap["most"] == {f"{key}_bytes": max(e[key] for e in all_of_them) for key in NUMBERS}
    points = report(trace, command="timeline")["timeline"]["allocator"]
    assert [{key: p[f"{key}_bytes"] for key in NUMBERS} for p in points] == [{k: e[k] for k in NUMBERS} for e in all_of_them]

    result = report(trace, command="leaks")["growth"]
    lines = result["allocator"]
    for end in ("first_bytes", "last_bytes"):
        parts = [lines[part][end] for part in ("live", "rounding", "fragmentation", "free_pages", "metadata")]
        assert sum(parts) == lines["resident"][end]
    at_last = [e for e in all_of_them if e["resident"] == lines["resident"]["last_bytes"]]
    assert lines["fragmentation"]["last_bytes"] in [e["active"] - e["allocated"] for e in at_last]
    assert lines["retained"]["last_bytes"] in [e["retained"] for e in at_last]
    # What is kept of each step's blocks keeps their pages, in which the next step's, of another size, find no place.
    assert (lines["fragmentation"]["last_bytes"] > lines["live"]["last_bytes"] / 2) == (holes == 8)
    text = analyze("leaks", "--exact", trace).stdout
    assert "What jemalloc says that it holds" in text
    assert f"{lines['fragmentation']['last_bytes']:,} B" in text
    assert f"jemalloc: active {heap['most']['active_bytes']:,} B".replace(" ", "") in \
        analyze("timeline", "--exact", trace).stdout.replace(" ", "")


def test_preloaded_and_without_steps(tprof):
    """A program that knows nothing of jemalloc, nor of steps: asked now and then, and at the end."""
    jemalloc = allocator_library("jemalloc")
    run = tprof.run([WORKLOADS / "growth", "fragments", 400, 1], [LIBRARY, jemalloc], QUIET)
    assert run.status == 0, run.stderr
    summary = report(run.traces()[0])
    end = summary["heap"]["allocator"]["end"]
    assert summary["heap"]["allocator"]["samples"] >= 3
    assert summary["heap"]["end_bytes"] <= end["allocated_bytes"] <= end["active_bytes"] <= end["resident_bytes"]
    assert end["resident_bytes"] <= end["mapped_bytes"]


def test_libc_says_nothing(tprof):
    run = tprof.run([WORKLOADS / "growth", "none", 50, 1], [LIBRARY], QUIET)
    trace = run.traces()[0]
    assert report(trace)["heap"]["allocator"] is None
    assert report(trace, command="leaks")["growth"]["allocator"] is None
    assert report(trace, command="timeline")["timeline"]["allocator"] == []


@pytest.mark.parametrize("what", ["hook", "handler"])
def test_not_asked_where_its_locks_may_be_held(tprof, what):
    """The thread has the lock of mallctl(): who asked there would wait for ever."""
    run = tprof.run([WORKLOADS / "jemalloc_locks", what], [LIBRARY], QUIET, timeout=30)
    assert run.status == 0, run.stderr
    assert report(run.traces()[0])["heap"]["allocator"]["samples"] >= 1  # before, or at the end


@pytest.mark.parametrize("what, asked", [("fork", True), ("clone", False)])
def test_children(tprof, what, asked):
    """Of a child that libc did not make nobody gave the locks back that another thread may have held."""
    run = tprof.run([WORKLOADS / "jemalloc_locks", what], [LIBRARY], QUIET, timeout=30)
    assert run.status == 0, run.stderr
    parent, child = [report(trace)["heap"] for trace in sorted(run.traces(), key=lambda t: len(t.name))]
    assert parent["allocator"] is not None and child["allocations"] > 100
    assert (child["allocator"] is not None) == asked
