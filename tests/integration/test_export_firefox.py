# SPDX-License-Identifier: Apache-2.0
"""export --format firefox: the tables of a processed profile of version 48, as the profiler's own types describe them, and the numbers
of the reports."""
import collections
import json

import pytest
from conftest import LIBRARY, WORKLOADS, report
from exported import build, by_stack, check_memory, digits_trace, export, hostile_trace

COLUMNS = {
    "samples": {"stack", "time", "weight"},
    "markers": {"data", "name", "startTime", "endTime", "phase", "category"},
    "stackTable": {"frame", "category", "subcategory", "prefix"},
    "frameTable": {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "implementation",
                   "line", "column"},
    "funcTable": {"name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"},
    "resourceTable": {"lib", "name", "host", "type"},
    "nativeSymbols": {"libIndex", "address", "name", "functionSize"},
    "nativeAllocations": {"time", "weight", "stack", "memoryAddress", "threadId"},
}
OTHERS = {"samples": {"weightType"}, "nativeAllocations": {"weightType"}}
LEAKS = "memory that leaks or may leak"


def check_indices(values, table, none=(None,)):
    assert all(value in none or 0 <= value < table for value in values)


def check_thread(thread, profile):
    tables = [name for name in COLUMNS if name in thread]
    assert set(COLUMNS) - set(tables) <= {"nativeAllocations"}
    for name in tables:
        assert set(thread[name]) == COLUMNS[name] | OTHERS.get(name, set()) | {"length"}
        assert {len(thread[name][column]) for column in COLUMNS[name]} == {thread[name]["length"]}, name
    strings = len(thread["stringArray"])
    assert len(set(thread["stringArray"])) == strings
    stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]
    check_indices(stacks["frame"], frames["length"], ())
    assert all(prefix is None or prefix < row for row, prefix in enumerate(stacks["prefix"])), "callers come first"
    check_indices(frames["func"], functions["length"], ())
    check_indices(functions["name"] + thread["markers"]["name"] + thread["resourceTable"]["name"], strings, ())
    check_indices(functions["fileName"], strings)
    check_indices(functions["resource"], thread["resourceTable"]["length"], (-1,))
    check_indices(thread["resourceTable"]["lib"], len(profile["libs"]))
    check_indices(stacks["category"] + frames["category"] + thread["markers"]["category"], len(profile["meta"]["categories"]), ())
    check_indices(thread["samples"]["stack"] + thread.get("nativeAllocations", {"stack": []})["stack"], stacks["length"])
    assert thread["samples"]["time"] == sorted(thread["samples"]["time"])
    schemas = {schema["name"] for schema in profile["meta"]["markerSchema"]}
    for data, phase, begin, end in zip(*(thread["markers"][name] for name in ("data", "phase", "startTime", "endTime"))):
        assert data["type"] in schemas and (phase, end is None) in ((0, True), (1, False))
        assert end is None or begin <= end
    assert isinstance(thread["pid"], str) and isinstance(thread["tid"], (int, str)) and isinstance(thread["isMainThread"], bool)


def check(profile):
    assert set(profile) == {"meta", "libs", "counters", "threads"}
    meta = profile["meta"]
    assert meta["preprocessedProfileVersion"] == 48 and meta["symbolicated"] is True and meta["categories"][0]["color"] == "grey"
    check_indices(meta["initialSelectedThreads"], len(profile["threads"]), ())
    for lib in profile["libs"]:
        assert set(lib) == {"arch", "name", "path", "debugName", "debugPath", "breakpadId", "codeId"} and len(lib["breakpadId"]) == 33
    for thread in profile["threads"]:
        check_thread(thread, profile)
    ids = [(thread["pid"], thread["tid"]) for thread in profile["threads"]]
    assert len(set(ids)) == len(ids)
    for counter in profile["counters"]:
        assert counter["category"] == "Memory" and len(counter["samples"]["time"]) == len(counter["samples"]["count"])
        assert counter["samples"]["time"] == sorted(counter["samples"]["time"])
        assert profile["threads"][counter["mainThreadIndex"]]["isMainThread"]
        assert profile["threads"][counter["mainThreadIndex"]]["pid"] == counter["pid"]
    return profile


def exported(trace, tmp_path, *options):
    return check(json.loads(export("firefox", trace, tmp_path / "profile.json", *options).read_text(encoding="utf-8")))


def functions(thread, stack):
    """Of a stack: names, innermost first."""
    names = []
    while stack is not None:
        function = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
        names.append(thread["stringArray"][thread["funcTable"]["name"][function]])
        stack = thread["stackTable"]["prefix"][stack]
    return tuple(names)


def sums(thread, table="samples", wanted=lambda weight: True):
    found = collections.Counter()
    for stack, weight in zip(thread[table]["stack"], thread[table]["weight"]):
        if wanted(weight):
            found[functions(thread, stack)] += weight
    return dict(found)


def named(profile, name):
    (thread,) = (thread for thread in profile["threads"] if thread["name"] == name)
    return thread


def main_of(profile):
    (thread,) = (thread for thread in profile["threads"] if thread["isMainThread"])
    return thread


def test_memory_and_samples(tprof, tmp_path):
    trace = digits_trace(tprof)
    profile, summary = exported(trace, tmp_path), report(trace, command="leaks", options=["--top", "0"])
    heap = summary["heap"]
    assert sums(named(profile, "memory at the peak")) == by_stack(trace, "peak")
    assert sums(named(profile, "memory allocated")) == by_stack(trace, "allocated")
    assert sum(sums(named(profile, "memory unfreed")).values()) == heap["end_bytes"]
    leaks = {stack[0]: weight for stack, weight in sums(named(profile, LEAKS)).items()}
    assert leaks == {site["stack"][site["own"]]["function"]: site["grown_bytes"] for site in summary["growth"]["sites"]
                     if site["verdict"] in ("leak", "may leak")}
    main = main_of(profile)
    assert sums(main, "nativeAllocations", lambda weight: weight > 0) == by_stack(trace, "allocated")
    assert sum(main["nativeAllocations"]["weight"]) == heap["end_bytes"]
    freed = {address for address, weight in zip(main["nativeAllocations"]["memoryAddress"], main["nativeAllocations"]["weight"])
             if weight < 0}
    kept = [(address, weight) for address, weight in zip(main["nativeAllocations"]["memoryAddress"], main["nativeAllocations"]["weight"])
            if weight > 0 and address not in freed]
    assert sum(weight for _, weight in kept) == heap["end_bytes"], "what is retained is what is unfreed"
    period = summary["capture"]["cpu_period_ns"]
    assert {stack: weight * period for stack, weight in sums(main).items()} == by_stack(trace, "cpu")
    steps = [data["number"] for _, data, *_ in markers(main, "Step")]
    assert steps == list(range(1, report(trace, command="steps")["steps"]["count"] + 1)) and len(steps) > 1000
    libraries = {lib["path"]: lib["codeId"] for lib in profile["libs"]}
    assert libraries.items() <= {module["path"]: module["build_id"] for module in report(trace, command="info")["modules"]}.items()
    (counter,) = profile["counters"]
    live, most = 0, 0
    for change in counter["samples"]["count"]:
        live += change
        most = max(most, live)
    assert (most, live) == (heap["peak_bytes"], heap["end_bytes"])
    shown = exported(trace, tmp_path, "--what", "unfreed")
    assert [shown["threads"][index]["name"] for index in shown["meta"]["initialSelectedThreads"]] == ["memory unfreed"]


def markers(thread, kind):
    return [(thread["stringArray"][name], data, begin, end) for name, data, begin, end in
            zip(*(thread["markers"][column] for column in ("name", "data", "startTime", "endTime"))) if data["type"] == kind]


def test_markers(tprof, tmp_path):
    trace = tprof.run([WORKLOADS / "ops", 20], [LIBRARY]).traces()[0]
    profile = exported(trace, tmp_path)
    ops = {op["name"]: op for op in report(trace, command="ops", options=["--top", "0"])["ops"]}
    told = [marker for thread in profile["threads"] for marker in markers(thread, "Op")]
    assert collections.Counter(name for name, *_ in told) == {name: op["calls"] + op["open"] for name, op in ops.items()}
    layers = [marker for marker in told if marker[0] == "layer"]
    assert all(data["flop"] == 120 and data["bytes"] == 64 for _, data, *_ in layers)
    assert collections.Counter(data["shape"] for _, data, *_ in layers) == {"2x3": 20, "4x5": 20}
    took = sum(end - begin for *_, begin, end in layers) * 1e6
    assert took == pytest.approx(ops["layer"]["total_ns"] + ops["layer"]["total_overhead_ns"], abs=100)
    main = main_of(profile)
    steps = markers(main, "Step")
    assert [data["number"] for _, data, *_ in steps] == list(range(1, 21))
    assert [name for name, *_ in markers(main, "Mark")] == ["done"]
    assert any(thread["name"].startswith("loader (tid ") for thread in profile["threads"])
    part = exported(trace, tmp_path, "--from", "5ms", "--to", "20ms")
    times = [time for thread in part["threads"] for *_, begin, end in markers(thread, "Op") for time in (begin, end)]
    assert min(times) >= 5 and max(times) <= 20


def test_folded_calls(tprof, tmp_path):
    trace = tprof.run([WORKLOADS / "hot", "plain", 30000, 10], [LIBRARY], {"TPROF_OPS": "cblas_saxpy", "TPROF_CPU": "0"}).traces()[0]
    (op,) = report(trace, command="ops", options=["--top", "0"])["ops"]
    told = [data.get("calls", 1) for _, data, *_ in markers(main_of(exported(trace, tmp_path)), "Op")]
    assert sum(told) == op["calls"] and len(told) < op["calls"]


def test_several_processes(tprof, tmp_path):
    run = tprof.run(["sh", "-c", f"{WORKLOADS}/ops 3; {WORKLOADS}/ops 4; exec {WORKLOADS}/ops 5"], [LIBRARY])
    profile = exported(run.traces(), tmp_path)
    names = collections.Counter(thread["processName"] for thread in profile["threads"] if thread["isMainThread"])
    assert names == {"sh": 1, "ops": 3}
    assert len({thread["pid"] for thread in profile["threads"]}) == 4, "the program after an exec is another process"


def test_many_stacks_are_merged(tprof, tmp_path):
    trace = tprof.run([build("many", tmp_path)], [LIBRARY], {"TPROF_CPU": "0"}).traces()[0]
    profile, heap = exported(trace, tmp_path), report(trace)["heap"]
    allocated, native = named(profile, "memory allocated"), main_of(profile)["nativeAllocations"]
    assert sum(allocated["samples"]["weight"]) == heap["allocated_bytes"] and allocated["samples"]["length"] < 20000
    assert sum(weight for weight in native["weight"] if weight > 0) == heap["allocated_bytes"] and native["length"] < 20000
    assert sum(native["weight"]) == heap["end_bytes"]


def test_hostile_names(tprof, tmp_path):
    profile = exported(hostile_trace(tprof, tmp_path), tmp_path)
    shown = 'a"\\;<b>????????? \u20ac'
    assert [name for name, *_ in markers(main_of(profile), "Op")] == [shown]
    assert [name for name, *_ in markers(main_of(profile), "Mark")] == [shown]


def test_memory_does_not_grow_with_the_trace(tprof, tmp_path):
    check_memory("firefox", tprof, tmp_path)
