# SPDX-License-Identifier: Apache-2.0
"""export --format speedscope: the rules of its file format, and the numbers of the reports. tests/browser opens it in Speedscope."""
import collections
import json

from conftest import LIBRARY, WORKLOADS, report
from exported import build, by_stack, check_memory, digits_trace, export, hostile_trace

MEMORY = {"peak": "memory at the peak", "allocated": "memory allocated", "unfreed": "memory unfreed"}


def check(data):
    """What its schema and its reader want: types, units, frames that exist, weights for samples, events in order and nested."""
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert 0 <= data["activeProfileIndex"] < len(data["profiles"])
    frames = data["shared"]["frames"]
    for frame in frames:
        assert isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line"}
    for profile in data["profiles"]:
        assert profile["unit"] in ("bytes", "nanoseconds") and profile["startValue"] <= profile["endValue"]
        if profile["type"] == "sampled":
            assert len(profile["samples"]) == len(profile["weights"]) and sum(profile["weights"]) == profile["endValue"]
            assert all(0 <= frame < len(frames) for stack in profile["samples"] for frame in stack)
            continue
        assert profile["type"] == "evented"
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert event["type"] == "C" and stack.pop() == event["frame"]
        assert stack == []
    return data


def exported(trace, tmp_path, *options):
    return check(json.loads(export("speedscope", trace, tmp_path / "out.json", *options).read_text(encoding="utf-8")))


def stacks(data, name):
    """Of all sampled profiles whose name begins so: functions, innermost first -> weight."""
    sums = collections.Counter()
    for profile in data["profiles"]:
        if profile["type"] == "sampled" and profile["name"].startswith(name):
            for stack, weight in zip(profile["samples"], profile["weights"]):
                sums[tuple(data["shared"]["frames"][frame]["name"] for frame in reversed(stack))] += weight
    return dict(sums)


def test_samples_are_those_of_the_reports(tprof, tmp_path):
    trace = digits_trace(tprof)
    data, summary = exported(trace, tmp_path), report(trace, command="leaks", options=["--top", "0"])
    assert stacks(data, MEMORY["peak"]) == by_stack(trace, "peak")
    assert stacks(data, MEMORY["allocated"]) == by_stack(trace, "allocated")
    assert sum(stacks(data, MEMORY["unfreed"]).values()) == summary["heap"]["end_bytes"]
    assert stacks(data, "CPU time of digits") == by_stack(trace, "cpu")
    grown = {stack[0]: weight for stack, weight in stacks(data, "memory that leaks or may leak").items()}
    assert grown == {site["stack"][site["own"]]["function"]: site["grown_bytes"] for site in summary["growth"]["sites"]
                     if site["verdict"] in ("leak", "may leak")}
    lines = [frame["line"] for frame in data["shared"]["frames"] if frame["name"] == "remember_loss"]
    assert lines and min(lines) > 0
    assert data["activeProfileIndex"] == 0 and data["profiles"][0]["name"].startswith(MEMORY["peak"])
    shown = exported(trace, tmp_path, "--what", "cpu")
    assert shown["profiles"][shown["activeProfileIndex"]]["name"].startswith("CPU time of digits")


def test_ops(tprof, tmp_path):
    trace = tprof.run([WORKLOADS / "ops", 20], [LIBRARY]).traces()[0]
    data = exported(trace, tmp_path)
    calls, took = collections.Counter(), collections.Counter()
    evented = [profile for profile in data["profiles"] if profile["type"] == "evented"]
    for profile in evented:
        open_ = []
        for event in profile["events"]:
            name = data["shared"]["frames"][event["frame"]]["name"]
            if event["type"] == "O":
                open_.append(event["at"])
                calls[name] += 1
            else:
                took[name] += event["at"] - open_.pop()
    ops = {op["name"]: op for op in report(trace, command="ops", options=["--top", "0"])["ops"]}
    assert calls == {name: op["calls"] + op["open"] for name, op in ops.items()}
    assert abs(took["layer"] - ops["layer"]["total_ns"] - ops["layer"]["total_overhead_ns"]) < 100
    assert len(evented) == 2 and any("loader (tid" in profile["name"] for profile in evented)
    part = exported(trace, tmp_path, "--thread", "2")
    assert len([profile for profile in part["profiles"] if profile["type"] == "evented"]) == 1
    part = exported(trace, tmp_path, "--from", "5ms", "--to", "20ms")
    assert all(5_000_000 <= profile["startValue"] and profile["endValue"] <= 20_000_000
               for profile in part["profiles"] if profile["type"] == "evented")
    assert sum(stacks(part, MEMORY["allocated"]).values()) == \
        report(trace, options=["--from", "5ms", "--to", "20ms"])["heap"]["allocated_bytes"]


def test_folded_calls_are_told(tprof, tmp_path):
    trace = tprof.run([WORKLOADS / "hot", "plain", 30000, 10], [LIBRARY], {"TPROF_OPS": "cblas_saxpy", "TPROF_CPU": "0"}).traces()[0]
    (op,) = report(trace, command="ops", options=["--top", "0"])["ops"]
    (profile,) = (profile for profile in exported(trace, tmp_path)["profiles"] if profile["type"] == "evented")
    assert profile["name"].endswith(f", without {op['folded']} short calls")
    assert len(profile["events"]) == 2 * (op["calls"] - op["folded"])


def test_many_stacks_are_merged(tprof, tmp_path):
    """Into their callers, so that each function's total stays, and not one byte is lost."""
    trace = tprof.run([build("many", tmp_path)], [LIBRARY], {"TPROF_CPU": "0"}).traces()[0]
    data = exported(trace, tmp_path)
    (profile,) = (profile for profile in data["profiles"] if profile["name"].startswith(MEMORY["allocated"]))
    assert profile["name"].endswith("(stacks below 0.001% end at a caller)") and len(profile["samples"]) < 20000
    found = stacks(data, MEMORY["allocated"])
    assert sum(found.values()) == report(trace)["heap"]["allocated_bytes"] == 10000000 + (8 << 15)
    assert found[("main",)] == 10000000
    assert sum(weight for stack, weight in found.items() if "branch" in stack) == 8 << 15


def test_several_processes(tprof, tmp_path):
    run = tprof.run(["sh", "-c", f"{WORKLOADS}/ops 3; {WORKLOADS}/ops 4"], [LIBRARY])
    names = [profile["name"] for profile in exported(run.traces(), tmp_path)["profiles"]]
    assert len({name for name in names if name.startswith("memory allocated, ops (pid")}) == 2


def test_hostile_names(tprof, tmp_path):
    data = exported(hostile_trace(tprof, tmp_path), tmp_path)
    text = 'a"\\;<b>\x01\n'
    assert any(frame["name"].startswith(text) for frame in data["shared"]["frames"])
    assert any(profile["name"].startswith("ops of " + text[:4]) for profile in data["profiles"])


def test_memory_does_not_grow_with_the_trace(tprof, tmp_path):
    check_memory("speedscope", tprof, tmp_path)
