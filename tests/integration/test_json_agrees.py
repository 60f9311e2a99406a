# SPDX-License-Identifier: Apache-2.0
"""The figures of JSON against each other: sums, orders, bounds, intervals; of whole runs, parts of them and threads."""
import itertools
import json
import os
import subprocess

import pytest

from conftest import ANALYZE, LIBRARY, PYTHON, ROOT, WORKLOADS, nothing_lost, peak_rss, report, sites

IMPORTS = "import asyncio, unittest.mock, xml.dom.minidom, http.server, multiprocessing.pool, email.mime.text, ctypes, decimal"


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    directory = tmp_path_factory.mktemp("agrees")
    environment = {"LD_PRELOAD": str(LIBRARY), "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2", "PATH": "/usr/bin:/bin"}
    subprocess.run([PYTHON, ROOT / "tests/workloads/torch_train.py"], cwd=directory, env=environment, check=True,
                   stdout=subprocess.DEVNULL, timeout=300)
    return directory / "trace.bin"


def total(rows, key):
    return sum(row[key] for row in rows)


def falls(values):
    return all(a >= b for a, b in itertools.pairwise(values))


def check_sites(heap):
    assert total(heap["peak_sites"], "bytes") == heap["peak_bytes"]
    assert total(heap["peak_sites"], "blocks") == heap["peak_blocks"]
    assert total(heap["unfreed_sites"], "bytes") + heap["suppressed"]["bytes"] == heap["end_bytes"] <= heap["peak_bytes"]
    assert total(heap["unfreed_sites"], "blocks") + heap["suppressed"]["blocks"] == heap["end_blocks"]
    for key, of in (("allocations", "allocations"), ("bytes", "allocated_bytes"), ("temporary", "temporary_allocations"),
                    ("short_lived", "short_lived_allocations")):
        assert total(heap["hot_sites"], key) == heap[of], key
    for name, key in ("peak_sites", "bytes"), ("hot_sites", "allocations"):
        assert falls([site[key] for site in heap[name]])
        assert all(0 < site["largest_bytes"] <= site["bytes"] for site in heap[name])
    for moment in "allocated", "peak", "end":
        assert heap[f"{moment}_usable_bytes"] >= heap[f"{moment}_bytes"]


def check_op(op):
    assert 0 <= op["self_ns"] <= op["total_ns"], op
    assert op["min_ns"] <= op["p50_ns"] <= op["p90_ns"] <= op["p99_ns"] <= op["max_ns"], op
    assert op["min_ns"] <= op["mean_ns"] <= op["max_ns"], op
    if op["ci95_ns"]:
        assert op["ci95_ns"][0] <= op["mean_ns"] <= op["ci95_ns"][1], op
    assert op["net_bytes"] == op["allocated_bytes"] - op["freed_bytes"], op
    assert op["peak_bytes"] <= op["allocated_bytes"] >= op["self_allocated_bytes"], op
    assert op["flop"] >= op["self_flop"] and op["bytes"] >= op["self_bytes"], op
    assert op["unwound"] <= op["calls"] > op["warmup_calls"] or op["calls"] == op["warmup_calls"], op
    # What the mean leaves out stands beside it: together they are all calls. Rounded are each call and each mean to
    # half a nanosecond, and the calls of each chain together to one.
    others = op["calls"] - op["warmup_calls"]
    if others and not op["folded"] and not op["open"]:
        assert abs(op["warmup_ns"] + others * op["mean_ns"] - op["total_ns"]) <= 2 * op["calls"], op


def check_cpu(summary, capture):
    assert total(summary["cpu"], "self_samples") == capture["cpu_samples"]
    assert total(summary["cpu"], "self_ns") == capture["cpu_ns"]
    for row in summary["cpu"]:
        assert row["self_samples"] <= row["total_samples"] <= capture["cpu_samples"]
        for key in "self", "total":
            low, high = row[f"{key}_share_ci95"]
            assert 0 <= low <= row[f"{key}_share"] <= high <= 1, row


@pytest.mark.parametrize("program", ["threads", "mlp"])
def test_of_c(tprof, program):
    words = {"threads": [3], "mlp": ["--data", ROOT / "tests/workloads/data/digits.csv", "--steps", 20]}[program]
    run, _ = tprof.summary([WORKLOADS / program, *words])
    summary = report(run.traces()[0], options=["--top", "0"])
    check_sites(summary["heap"])
    check_cpu(summary, summary["capture"])
    assert bool(summary["ops"]) == (program == "mlp")
    for op in summary["ops"]:
        check_op(op)


@pytest.mark.real
@pytest.mark.parametrize("part", [[], ["--from", "step:3"], ["--from", "step:3", "--to", "step:60"], ["--thread", "2"]],
                         ids=" ".join)
def test_of_torch(trace, part):
    summary = report(trace, options=part)
    heap, capture = summary["heap"], summary["capture"]
    nothing_lost(summary)
    assert capture["lost_events"] == sum(capture["lost"].values())
    assert capture["trace_bytes"] <= capture["file_bytes"] == os.path.getsize(trace)
    ops = report(trace, command="ops", options=["--top", "0", *part])["ops"]
    for op in ops:
        check_op(op)
    assert falls([op["total_ns"] for op in ops])
    assert len({(op["name"], op["category"]) for op in ops}) == len(ops) == summary["ops_total"]
    assert total(ops, "self_ns") <= summary["process"]["duration_ns"] * capture["threads"]
    assert total(ops, "self_allocated_bytes") <= heap["allocated_bytes"]
    answer = report(trace, command="hotspots", options=["--by", "function", "--top", "0", *part])
    check_cpu(answer, capture)
    assert total(answer["hotspots"]["sites"], "allocations") == heap["allocations"]
    assert total(answer["hotspots"]["sites"], "bytes") == heap["allocated_bytes"]
    assert total(answer["hotspots"]["sites"], "temporary") == heap["temporary_allocations"]
    assert total(sites(trace, "peak", "--by", "op", *part), "bytes") == heap["peak_bytes"]
    lines = sites(trace, "peak", "--by", "line", *part)
    assert total(lines, "bytes") == heap["peak_bytes"]
    assert all(line["largest_bytes"] * line["blocks"] >= line["bytes"] for line in lines)


@pytest.mark.real
@pytest.mark.parametrize("part", [[], ["--from", "step:3", "--to", "step:60"]], ids=["all", "part"])
def test_of_threads_and_steps(trace, part):
    options = ["--top", "0", *part]
    answer = report(trace, command="threads", options=options)
    heap, threads, capture = answer["heap"], answer["threads"], answer["capture"]
    for key, whole in (("allocations", heap["allocations"]), ("frees", heap["frees"]), ("bytes", heap["allocated_bytes"]),
                       ("peak_bytes", heap["peak_bytes"]), ("peak_blocks", heap["peak_blocks"]),
                       ("unfreed_bytes", heap["end_bytes"]), ("unfreed_blocks", heap["end_blocks"]),
                       ("cpu_samples", capture["cpu_samples"]), ("cpu_ns", capture["cpu_ns"])):
        assert total(threads, key) == whole, key
    steps = report(trace, command="steps", options=options)["steps"]
    assert steps["count"] == total(steps["list"], "steps") == (58 if part else 80)
    assert steps["ci95_ns"][0] <= steps["mean_ns"] <= steps["ci95_ns"][1]
    assert steps["min_ns"] <= steps["p50_ns"] <= steps["p99_ns"] <= steps["max_ns"]
    assert max(step["high_bytes"] for step in steps["list"]) <= heap["peak_bytes"]
    for one, next_one in itertools.pairwise(steps["list"]):
        assert abs(one["begin_ns"] + one["time_ns"] - next_one["begin_ns"]) <= 2
    whole = sum(step["time_ns"] for step in steps["list"])
    assert abs(steps["warmup_ns"] + (steps["count"] - steps["warmup_steps"]) * steps["mean_ns"] - whole) <= 2 * steps["count"]


def test_memory_of_all_rows(tprof):
    """Frames that stacks have in common take memory once, not once a stack: all rows of an `import torch` would take 20 GB."""
    run = tprof.run([PYTHON, "-c", IMPORTS], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == 0
    trace = run.traces()[0]

    def needs(top):
        output = trace.with_name(f"rows-{top}.json")
        return peak_rss([ANALYZE, "hotspots", "--json", "--top", top, "-o", output, trace]), output

    one, _ = needs("1")
    all_rows, output = needs("0")
    found = json.loads(output.read_text())["hotspots"]["sites"]
    assert len(found) > 1000 and output.stat().st_size > 10e6
    assert all_rows - one < output.stat().st_size


@pytest.mark.parametrize("alloc", ("trace", "sample:16KiB"))
def test_info_and_summary(tprof, alloc):
    """info replays without stacks: the totals are those of a replay with them."""
    trace = tprof.run([WORKLOADS / "steady", "200000"], [LIBRARY], {"TPROF_ALLOC": alloc}).traces()[0]
    totals = report(trace, command="info")["heap"]
    assert totals["allocations"] > 1000 and totals.items() <= report(trace)["heap"].items()
